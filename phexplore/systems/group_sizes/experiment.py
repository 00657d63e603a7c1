"""The paper's experiment on group sizes (section 11): every mechanism at several ε, many times, beside the published table.

Every draw is written to ``draws.jsonl`` as it ends; an experiment that was stopped goes on where it was.

Args:
    table: exact counts.
    mechanism: that is drawn.
    epsilon: of the whole release.
    path: of the file of draws.
    header: what must be equal.
    largest: size that stays.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from phexplore import __version__
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.files.atomic_files import read_text
from phexplore.model.group_sizes import GroupSizes, SizeMechanism, equal_shares
from phexplore.model.numbers import exact_text
from phexplore.noise.entropy import SeededEntropy
from phexplore.resources import resource
from phexplore.runs.writing import write_json
from phexplore.simulate.group_sizes.release import GroupSizeReleaser, consistency_checks_of

DRAWS_FILE = "draws.jsonl"
RESULT_FILE = "experiment.json"
TRIALS = 30
EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
UNIT = 1000
"""Groups in the unit of the published errors."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the experiment.

    Attributes:
        id: in files.
        label: for people.
        mechanism: what is drawn.
        as_published: the paper's own noise on the chain, which costs more than declared.
        published: id of its row in the published table, "" for none.
    """

    id: str
    label: str
    mechanism: SizeMechanism
    as_published: bool = False
    published: str = ""


VARIANTS = (
    Variant("relaxed", "H, relaxed and rounded", SizeMechanism.RELAXED, published="H relaxed"),
    Variant("tree", "H, exact tree", SizeMechanism.TREE, published="H exact tree"),
    Variant("cumulative-relaxed", "C, relaxed and rounded", SizeMechanism.CUMULATIVE_RELAXED, published="C relaxed"),
    Variant(
        "cumulative-tree", "C, approximate (Algorithm 2)", SizeMechanism.CUMULATIVE_TREE, published="C approximate"
    ),
    Variant(
        "chain-as-published",
        "C, exact chain, the paper's noise (costs more than ε)",
        SizeMechanism.CHAIN,
        as_published=True,
        published="C exact chain",
    ),
    Variant("chain", "C, exact chain, noise that costs ε", SizeMechanism.CHAIN),
    Variant("topdown", "TopDown", SizeMechanism.TOPDOWN, published="TopDown"),
)
"""In the order of the published table, the chain that keeps its budget added."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Data of the experiment.

    Attributes:
        id: ``census`` and ``taxi`` have published figures.
        table: exact counts.
        differences: from the paper's data, in sentences.
    """

    id: str
    table: GroupSizeTable
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn.

    Attributes:
        epsilons: ascending.
        trials: per variant and ε.
        seed: of everything.
        variants: rows.
        workers: draws at the same time.
    """

    epsilons: tuple[Fraction, ...] = EPSILONS
    trials: int = TRIALS
    seed: int = 1
    variants: tuple[Variant, ...] = VARIANTS
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Draw:
    """One release and what came of it.

    Attributes:
        subject: id of the data.
        epsilon: exact text.
        variant: id.
        trial: zero-based.
        l1: per level, groups.
        violations: sums that do not hold.
        seconds: of processor time, noise and fit.
    """

    subject: str
    epsilon: str
    variant: str
    trial: int
    l1: tuple[int, ...]
    violations: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells it from other draws."""
        return self.subject, self.epsilon, self.variant, self.trial


def method_for(table: GroupSizeTable, mechanism: SizeMechanism, epsilon: Fraction) -> GroupSizes:
    """Return the parameters of one row: ε / L per level (section 5).

    Args:
        table: the groups.
        mechanism: of the paper.
        epsilon: of the whole release.
    """
    tree = table.tree
    return GroupSizes(tree.levels, tree.widths, epsilon, equal_shares(tree.levels), table.largest, mechanism)


def draw(releaser: GroupSizeReleaser, variant: Variant, key: tuple[str, str, str, int], seed: int) -> Draw:
    """Draw one release and measure it.

    Args:
        releaser: of the data and parameters.
        variant: the row.
        key: of the draw; with the seed it alone decides the noise.
        seed: of the experiment.
    """
    entropy = SeededEntropy(seed, (int.from_bytes("/".join(map(str, key)).encode()),))
    began = time.thread_time()
    levels = releaser.release_published_chain(entropy) if variant.as_published else releaser.release(entropy)
    seconds = time.thread_time() - began
    errors = tuple(int(np.abs(a - b).sum()) for a, b in zip(levels, releaser.levels, strict=True))
    broken = consistency_checks_of(levels, releaser.table.tree, releaser.table.groups).consistency
    return Draw(*key, errors, broken, round(seconds, 4))


def run_experiment(
    subjects: Sequence[Subject], plan: Plan, directory: Path, on_progress: Callable[[int, int, Draw], None]
) -> dict[str, Any]:
    """Draw what is missing, and return and write the result.

    Args:
        subjects: the data.
        plan: what is drawn.
        directory: holds ``draws.jsonl`` and, at the end, ``experiment.json``; made if missing.
        on_progress: called after every draw with draws done and in all; may raise to stop.

    Raises:
        CancelledError: it was stopped; finished draws are kept.
        WriteError: the file system refuses.
    """
    directory.mkdir(parents=True, exist_ok=True)
    header = _header(subjects, plan)
    done = taken_over(directory / DRAWS_FILE, header)
    wanted = list(_wanted(subjects, plan))
    missing = iter([task for task in wanted if task[0] not in done])
    finished = sum(task[0] in done for task in wanted)
    with (
        (directory / DRAWS_FILE).open("a", encoding="utf-8") as file,
        ThreadPoolExecutor(plan.workers, thread_name_prefix="draw") as pool,
    ):
        running: set[Future[Draw]] = set()
        try:
            while True:
                while len(running) < plan.workers and (task := next(missing, None)) is not None:
                    running.add(pool.submit(_work, *task, plan.seed))
                if not running:
                    break
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    result = future.result()
                    done[result.key] = result
                    file.write(json.dumps(_encoded(result)) + "\n")
                    file.flush()
                    finished += 1
                    on_progress(finished, len(wanted), result)
        finally:
            for future in running:
                future.cancel()
    content = _result(subjects, plan, done)
    write_json(directory / RESULT_FILE, content)
    return content


Task = tuple[tuple[str, str, str, int], Callable[[], GroupSizeReleaser], Variant]


def _wanted(subjects: Sequence[Subject], plan: Plan) -> Iterator[Task]:
    """Yield the draws in an order in which all variants of one ε come together, so that few releasers are alive."""
    for subject in subjects:
        for epsilon in plan.epsilons:
            for variant in plan.variants:
                make = _once(subject.table, method_for(subject.table, variant.mechanism, epsilon))
                for trial in range(plan.trials):
                    yield (subject.id, exact_text(epsilon), variant.id, trial), make, variant


def _once(table: GroupSizeTable, method: GroupSizes) -> Callable[[], GroupSizeReleaser]:
    kept: list[GroupSizeReleaser] = []

    def make() -> GroupSizeReleaser:
        if not kept:
            kept.append(GroupSizeReleaser(table, method))
        return kept[0]

    return make


def _work(key: tuple[str, str, str, int], make: Callable[[], GroupSizeReleaser], variant: Variant, seed: int) -> Draw:
    return draw(make(), variant, key, seed)


def _header(subjects: Sequence[Subject], plan: Plan) -> dict[str, Any]:
    """Return what must be equal for draws to be taken over."""
    return {
        "program": __version__,
        "seed": plan.seed,
        "data": [[s.id, list(s.table.counts.shape), s.table.groups, s.table.individuals] for s in subjects],
    }


def taken_over(path: Path, header: Mapping[str, Any]) -> dict[tuple[str, str, str, int], Draw]:
    """Return the draws of an earlier start of the same experiment; start a new file for another one.

    A line that holds no draw is the last of a start that was killed, or damaged: that draw is made again.

    Args:
        path: of the experiment's file.
        header: what the experiment is.

    Raises:
        InputProblemsError: the file is there but cannot be read.
        OSError: a new one cannot be written.
    """
    found: dict[tuple[str, str, str, int], Draw] = {}
    first, *lines = read_text(path).split("\n") if path.exists() else ("",)
    try:
        same = json.loads(first) == header
    except (ValueError, RecursionError):
        same = False
    if not same:
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return found
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            result = _decoded(json.loads(line))
            found[result.key] = result
    return found


def _decoded(entry: Mapping[str, Any]) -> Draw:
    """Return a stored draw.

    Raises:
        ValueError, TypeError, KeyError: it is none.
    """
    counts = (entry["trial"], entry["violations"], *entry["l1"])
    if not all(type(count) is int and 0 <= count < 2**63 for count in counts):
        raise ValueError("counts are whole numbers")
    if not all(isinstance(entry[name], str) for name in ("subject", "epsilon", "variant")):
        raise TypeError("names are texts")
    seconds = entry["seconds"]
    if type(seconds) not in {int, float} or not 0 <= seconds < math.inf:
        raise ValueError("seconds are a number")
    return Draw(**{**entry, "l1": tuple(entry["l1"])})


def _encoded(result: Draw) -> dict[str, Any]:
    return {
        "subject": result.subject,
        "epsilon": result.epsilon,
        "variant": result.variant,
        "trial": result.trial,
        "l1": list(result.l1),
        "violations": result.violations,
        "seconds": result.seconds,
    }


def published_table() -> Mapping[str, Any]:
    """Return Table 7 of the paper: data, ε, row → errors at three levels in thousands, violations."""
    content: Mapping[str, Any] = json.loads(resource("tables/group_sizes_table_7.json").read_text(encoding="utf-8"))
    return content


def _result(subjects: Sequence[Subject], plan: Plan, done: Mapping[tuple[str, str, str, int], Draw]) -> dict[str, Any]:
    published = published_table()["errors"]
    rows = []
    for subject in subjects:
        for epsilon in map(exact_text, plan.epsilons):
            for variant in plan.variants:
                own = [done[subject.id, epsilon, variant.id, trial] for trial in range(plan.trials)]
                printed = published.get(subject.id, {}).get(epsilon, {}).get(variant.published)
                rows.append(_row(subject, epsilon, variant, own, printed))
    return {
        "program": __version__,
        "seed": plan.seed,
        "trials": plan.trials,
        "unit": UNIT,
        "data": [
            {
                "id": subject.id,
                "title": subject.table.title,
                "groups": subject.table.groups,
                "individuals": subject.table.individuals,
                "largest": subject.table.largest,
                "levels": [
                    {"level": level, "regions": width}
                    for level, width in zip(subject.table.tree.levels, subject.table.tree.widths, strict=True)
                ],
                "remarks": list(subject.table.remarks),
                "differences": list(subject.differences),
            }
            for subject in subjects
        ],
        "rows": rows,
    }


def _row(subject: Subject, epsilon: str, variant: Variant, draws: Sequence[Draw], printed: Any) -> dict[str, Any]:
    method = method_for(subject.table, variant.mechanism, Fraction(epsilon))
    cost = method.total
    if variant.as_published:
        places = zip(method.levels, method.published_chain_sensitivity, strict=True)
        cost = sum((reach * method.budget(level) for level, reach in places), Fraction(0))
    return {
        "data": subject.id,
        "epsilon": epsilon,
        "variant": variant.id,
        "label": variant.label,
        "spends": exact_text(cost),
        "keeps_budget": cost == method.total,
        "l1": [
            {"level": level, **_moments([each.l1[place] / UNIT for each in draws])}
            for place, level in enumerate(method.levels)
        ],
        "violations": _moments([each.violations for each in draws]),
        "seconds": _moments([each.seconds for each in draws]),
        "published": None if printed is None else {"l1": printed[:-1], "violations": printed[-1]},
    }


def _moments(values: Sequence[float]) -> dict[str, float | None]:
    return {
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }


def limited(table: GroupSizeTable, largest: int) -> GroupSizeTable:
    """Return the table without groups above a size, as the paper makes its synthetic data (section 11).

    Args:
        table: the groups.
        largest: size that stays.
    """
    return replace(table, counts=np.ascontiguousarray(table.counts[:, :largest]))


MOST_TABLE_ENTRIES = 20_000_000
"""Entries up to which the cost tables are worked out: nodes × (G + 1)."""


def measure_scaling(
    table: GroupSizeTable, sizes: Sequence[int], epsilon: Fraction, seed: int, on_progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the processor time of every mechanism and of the cost tables for several largest sizes (Figure 7).

    Args:
        table: groups with sizes up to the largest of `sizes` at least.
        sizes: ascending.
        epsilon: of all.
        seed: of the noise.
        on_progress: told what is done.
    """
    found = []
    for largest in sizes:
        part = limited(table, largest)
        times: dict[str, float] = {}
        for variant in VARIANTS:
            if variant.as_published:
                continue
            releaser = GroupSizeReleaser(part, method_for(part, variant.mechanism, epsilon))
            draws = [draw(releaser, variant, ("scaling", str(largest), variant.id, t), seed) for t in range(3)]
            times[variant.id] = float(np.median([each.seconds for each in draws]))
        if (seconds := _by_tables(part, epsilon, seed)) is not None:
            times["cost-tables"] = seconds
        on_progress(f"N = {largest:,}")
        found.append({"largest": largest, "groups": part.groups, "seconds": times})
    return found


def _by_tables(table: GroupSizeTable, epsilon: Fraction, seed: int) -> float | None:
    """Return the processor time of the paper's cost tables, None where they are too large."""
    from phexplore.simulate.group_sizes.cost_tables import fit_by_tables  # noqa: PLC0415 - only here
    from phexplore.simulate.group_sizes.measuring import noisy_sizes  # noqa: PLC0415 - as above
    from phexplore.simulate.group_sizes.size_tree import size_tree  # noqa: PLC0415 - as above

    tree = size_tree(table.tree, table.largest)
    if int(tree.first[-1]) * (table.groups + 1) > MOST_TABLE_ENTRIES:
        return None
    releaser = GroupSizeReleaser(table, method_for(table, SizeMechanism.TREE, epsilon))
    began = time.thread_time()
    fit_by_tables(noisy_sizes(releaser.levels, releaser.noises, SeededEntropy(seed)), tree, table.groups)
    return round(time.thread_time() - began, 4)
