"""``phexplore tune``: the level-by-level procedure on block data, every probe stored, so that it can be stopped and gone on with."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phexplore import __version__
from phexplore.errors import UnknownNameError
from phexplore.files.atomic_files import WriteError, read_text, write_atomically
from phexplore.files.rules_json import encode_rule
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import parse_exact
from phexplore.model.rounded import Toward, percent
from phexplore.model.rules import REDISTRICTING, Rule
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.opening import refuse_irregular_target
from phexplore.published.door import read_population
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.runs.confidentiality import Answer, answer_about, warning_about
from phexplore.runs.spec import RunData, data_of
from phexplore.systems.topdown.tuning import Probe, Tuner, TuningError, TuningResult, starting_strategies
from phexplore.systems.topdown.tuning_runs import SimulatedCriterion


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a search, with its data.

    Attributes:
        result: of the procedure.
        data: the input of the simulations, identified by its content.
        answer: whether the data are treated as confidential.
        content: SHA-256 of the data. For confidential data, the salt of the probes precedes them, so it confirms no guess.
    """

    result: TuningResult
    data: RunData
    answer: Answer
    content: str


STAYS = (
    "Only the file of probes contains the shares of areas that met the criterion. Do not release this file. "
    "The budgets reveal which probes met the criterion."
)
_OUTDATING = ("data", "program")
"""What can change under the same question without anybody asking otherwise."""


def tune(  # noqa: PLR0913 - what a search is asked
    scenario: Scenario,
    data: Path,
    judged: str,
    probes: Path,
    strategy: str,
    seed: int,
    trials: int,
    rule: Rule = REDISTRICTING,
    *,
    is_pooled: bool = False,
    tell: Callable[[str], None] = say,
) -> Tuned:
    """Run the procedure and store every probe as one line of a file; probes that are there already are not simulated again.

    Probes of the same search on other data, or by another version of the program, are kept beside it under another name.

    Args:
        scenario: of TopDown.
        data: block data, or ``demo`` for the shipped ones.
        judged: levels whose areas are judged, with commas between.
        probes: the file.
        strategy: a starting strategy; "" for the scenario's own division of levels.
        seed: of the noise.
        trials: releases per setting.
        rule: the criterion.
        is_pooled: whether the pooled estimator estimates.
        tell: told of every probe, and of what should be known.

    Raises:
        TuningError: the scenario is none of TopDown, or the criterion cannot be met.
        PhexploreError: the data or the probes cannot be read.
    """
    if not isinstance(scenario.method, TopDown):
        raise TuningError(f"{scenario.name!r} is no TopDown scenario.", "Choose one, e.g. pl94-2020-persons-us.")
    method = scenario.method
    described = data_of(scenario, data)
    answer = answer_about(scenario, described)
    if (warning := warning_about(scenario, described)) is not None:
        tell(warning.sentence)
    if strategy:
        known = starting_strategies(method)
        if strategy not in known:
            raise UnknownNameError("starting strategy", strategy, list(known))
        method = known[strategy]
    names = [name.strip() for name in judged.split(",") if name.strip()]
    criterion = SimulatedCriterion(read_population(Path(described.path)), method, names, rule, trials, seed, is_pooled)
    described.verify()
    asked: dict[str, Any] = {
        "parameters": fingerprint(scenario),
        "data": described.sha256,
        "program": __version__,
        "judged": names,
        "strategy": strategy,
        "seed": seed,
        "trials": trials,
        "criterion": encode_rule(rule),
        **({"estimator": "pooled"} if is_pooled else {}),
    }
    _set_outdated_aside(probes, asked, tell)
    before = read_probes(probes, asked) if probes.exists() else []
    if probes.exists() and not (kept := read_text(probes)).endswith("\n"):
        # What an interruption cut off goes, so that the next probe begins a line.
        write_atomically(probes, kept[: kept.rfind("\n") + 1].encode())
    with _writing(probes), probes.open("a", encoding="utf-8") as file:
        if answer.confidential:
            probes.chmod(0o600)
        if not before and not probes.stat().st_size:
            own = {"salt": secrets.token_hex(16), "remark": STAYS} if answer.confidential else {}
            file.write(json.dumps({"asked": asked, "confidentiality": answer.json(), **own}) + "\n")
            file.flush()

        def store(probe: Probe) -> None:
            file.write(json.dumps(probe_json(probe)) + "\n")
            file.flush()
            share = f"{percent(probe.value, toward=Toward.DOWN)} {'meets' if probe.meets else 'misses'}  "
            tell(f"{'' if answer.confidential else share}{_budgets_text(probe)}")

        tuner = Tuner(criterion.levels, criterion, on_probe=store)
        tuner.resume(before)
        found, content = tuner.run(), described.sha256
        if answer.confidential:
            salt = json.loads(read_text(probes).partition("\n")[0]).get("salt") or secrets.token_hex(16)
            content = hashlib.sha256(f"{salt}{content}".encode()).hexdigest()
        return Tuned(found, described, answer, content)


@contextmanager
def _writing(probes: Path) -> Iterator[None]:
    """Append probes: a disk that is full or may not be written ends the search with a sentence; earlier probes are kept."""
    try:
        refuse_irregular_target(probes)
        yield
    except OSError as error:
        raise WriteError(
            f"{probes} could not be written: {error.strerror or error}.",
            "Free some space, or check that you may write there, then start the search again: it goes on after its last probe.",
        ) from error


def _set_outdated_aside(probes: Path, asked: Mapping[str, Any], tell: Callable[[str], None]) -> None:
    """Rename probes of the same question whose data or program were others: they answer nothing here, but stay."""
    earlier = _asked_of(probes)
    if earlier is None or earlier == asked:
        return
    if {**earlier, **{name: asked[name] for name in _OUTDATING}} != asked:
        return
    kept = probes.with_name(f"{probes.name}.{hashlib.sha256(json.dumps(earlier).encode()).hexdigest()[:12]}")
    try:
        probes.replace(kept)
    except OSError as error:
        raise WriteError(f"{kept} could not be written: {error.strerror or error}.", "Name another file.") from error
    tell(f"The probes in {probes} were made on other data or by another version; they are kept as {kept.name}.")


def _asked_of(probes: Path) -> dict[str, Any] | None:
    """Return what the probes of a file were asked, None when it holds none."""
    if not probes.exists():
        return None
    try:
        asked = json.loads(read_text(probes).partition("\n")[0])["asked"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return asked if isinstance(asked, dict) else None


def criterion_of(at_least: str, within: str, people: int) -> Rule:
    """Return the criterion that options state.

    Args:
        at_least: per cent of the areas.
        within: points of the largest group's share.
        people: of an area that counts.

    Raises:
        TuningError: a number cannot be read.
        RuleError: they state none.
    """
    try:
        share, points = parse_exact(at_least) / 100, parse_exact(within) / 100
    except ValueError as error:
        raise TuningError(f"The criterion cannot be read: {error}.", "Write e.g. --at-least 95 --within 5.") from error
    return replace(REDISTRICTING, limit=share, tolerance=points, least_people=people)


def _budgets_text(probe: Probe) -> str:
    return ", ".join(f"{level} {'∞' if budget is None else f'{float(budget):.4g}'}" for level, budget in probe.budgets)


def probe_json(probe: Probe) -> dict[str, Any]:
    """Return a probe as JSON, budgets exact."""
    return {
        "budgets": {level: None if budget is None else str(budget) for level, budget in probe.budgets},
        "value": probe.value,
        "meets": probe.meets,
    }


def read_probes(path: Path, asked: dict[str, Any]) -> list[Probe]:
    """Return the probes of an earlier search for the same thing; a last line that was cut off is left out.

    Args:
        path: file of probes.
        asked: what the probes were made for.

    Raises:
        InputProblemsError: the file holds no probes, or those of another search.
    """
    lines = read_text(path).split("\n")
    found: list[Probe] = []
    try:
        if lines[0] and json.loads(lines[0])["asked"] != asked:
            issue = Issue((path.name,), "These are the probes of another search.", "Name another file.", line=1)
            raise InputProblemsError([issue])
        for line in lines[1:-1]:
            value = json.loads(line)
            budgets = tuple(
                (level, None if text is None else parse_exact(text)) for level, text in value["budgets"].items()
            )
            found.append(Probe(budgets, float(value["value"]), bool(value["meets"])))
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        issue = Issue((path.name,), f"The line holds no probe: {error}.", "Name another file.", line=len(found) + 2)
        raise InputProblemsError([issue]) from error
    return found


def printed_tuning(tuned: Tuned) -> dict[str, Any]:
    """Return what was found, and what it was found on, as JSON; of confidential data no share of areas near the truth."""
    found, held = tuned.result, {"value", "meets"} if tuned.answer.confidential else set()
    return {
        "data": {"path": tuned.data.path, "sha256": tuned.content},
        "provenance": tuned.data.provenance.json(),
        "confidentiality": tuned.answer.json(),
        "alone": {level: str(budget) for level, budget in found.alone.items()},
        "budgets": {level: str(budget) for level, budget in found.budgets.items()},
        "total": str(found.total),
        "probes": len(found.probes),
        "smaller": [
            {
                name: value
                for name, value in {**probe_json(probe), "total": str(probe.total)}.items()
                if name not in held
            }
            for probe in found.smaller
        ],
    }


def print_tuning(tuned: Tuned, *, as_json: bool) -> None:
    """Print what was found, and what it was found on.

    Args:
        tuned: what was found.
        as_json: for programs; else for people.
    """
    found = tuned.result
    if as_json:
        print_json(printed_tuning(tuned))
        return
    rows = [(lv, f"{float(found.alone[lv]):.6g}", f"{float(found.budgets[lv]):.6g}") for lv in found.budgets]
    print_table(("level", "ρ alone", "ρ together"), rows, right=(1, 2))
    tell(f"total ρ {float(found.total):.6g} after {len(found.probes)} settings")
    for probe in found.smaller[:1]:
        tell(f"A smaller total of {float(probe.total or 0):.6g} met the same criterion: {_budgets_text(probe)}")
    tell(tuned.data.provenance.sentence)
    if tuned.answer.confidential:
        tell(f"{tuned.answer.sentence} {STAYS}")
