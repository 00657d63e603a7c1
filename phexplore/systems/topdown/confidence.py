"""Confidence in the program's figures: beside the Bureau's reruns, its GLS standard deviations, and the signed certificates.

A cell of the Bureau's reruns has a root mean square error around iteration 0. Ours is that of the same cell in runs: of the same area
where a run has it, else of the areas of the same level whose true count is within a factor of two. Without a run it is the expected error
after least squares on the spine of 2020; of cells of the DHC, that of what is measured at the level itself, which is an upper bound as
long as counts are large. The interval of the ratio is that of two independent variances of normal errors (F distribution,
90 %); expected errors have no Monte-Carlo error of their own. A comparison misses where the interval does not hold 1.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import exact_text
from phexplore.model.topdown import TopDown
from phexplore.published.door import recognise, values_of
from phexplore.published.forms import Published, ValueTable
from phexplore.published.reruns import Cell, known_cells
from phexplore.resources import resource
from phexplore.runs.confidentiality import refuse_confidential
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.uniform_spine import UniformSpine, uniform_spine
from phexplore.systems.topdown.wording import level_title
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import Schema, load_schema

SHIPPED = "published/amc_2010_cells.csv"
"""The seven cells of the Bureau's reruns that came with the program."""
LEVEL = 0.90
"""Of the intervals."""
MOST_AREAS = 20
"""Of a level that are compared one by one."""
_FACTOR = 2.0
_MOST_SUMMED = 100
_BESIDE = {"Tract": "Tract_Subset"}
"""Levels of the spine of the DHC that stand for those of tabulation."""
_NEAR = 1e-9
_PRINTED = Fraction(1, 200)
"""Certificates print two digits behind the point."""
_ROUNDED_UP = Fraction(1, 1 << 20)
"""By so much the fraction of a certificate may exceed what it was made of: its denominators go so far."""
_KINDS = {"amc-replicates": "Reruns (AMC)", "gls-estimates": "GLS"}
_REMEDY = "Name a summary of reruns (AMC) or GLS estimates."


_total_of_preset = lazy("phexplore.systems.registry", "total_of_preset")
"""Of any system: releases that the registry of deployments states are not all made by this one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of ours beside the published one.

    Attributes:
        kind: what is compared with: ``Certificate``, ``Reruns (AMC)`` or ``GLS``.
        place: scenario, or level and area.
        figure: what it is.
        ours: None where we have none.
        published: beside it.
        ratio: ours / published, None without ours.
        low: of the interval of the ratio; None where figures must be equal.
        high: the same.
        verdict: ``misses``, ``holds`` or ``not compared``.
        basis: what ours comes from, or why there is none.
    """

    kind: str
    place: str
    figure: str
    ours: float | None
    published: float
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    basis: str

    def json(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


NOTES = (
    "Reruns are those of 2010 data with the parameters of the DHC; iteration 0 stands for the truth and is a release itself.",
    "Without a run, ours is the expected error on the mean fan-outs of the spine of 2020: single areas have their own.",
    "Of cells of the DHC, ours without a run is the error of what is measured at their level alone; a tract is taken as its subset.",
    "A run of a small area errs more than its part of a whole state: the noise of each level goes to few units below. Its units are stated.",
    "The interval of a ratio is that of two independent variances of normal errors, 90 %; bias widens it.",
)
_ORDER = ("misses", "not compared", "holds")


def confidence(files: Sequence[Path] = (), runs: Sequence[Path] = ()) -> list[Comparison]:
    """Return all comparisons, misses first.

    Args:
        files: reruns or GLS estimates beside the shipped cells.
        runs: directories of TopDown runs whose errors are compared with reruns.

    Raises:
        InputProblemsError: a file is neither.
        RunUnreadableError: there is no such run.
    """
    return comparisons(files, [_open(run) for run in runs])


def comparisons(files: Sequence[Path], opened: Sequence[TopDownRun]) -> list[Comparison]:
    """Return all comparisons, misses first.

    Args:
        files: reruns or GLS estimates beside the shipped cells.
        opened: runs whose errors are compared with reruns.

    Raises:
        InputProblemsError: a file is neither.
    """
    read = []
    for path in (*files, resource(SHIPPED)):  # what may be refused first
        published = recognise(Path(path))
        if published is None or published.kind not in _KINDS:
            raise InputProblemsError(
                [Issue((Path(path).name,), "This is no file of reruns and no GLS estimates.", _REMEDY)]
            )
        read.append((published, values_of(published)))
    found = certificates()
    for published, table in read:
        found += list(_reruns(table, opened) if table.replicates is not None else _deviations(published, table))
    own = {
        (each.kind, each.place, each.figure): each for each in reversed(found)
    }  # what the user gave before what is shipped
    return sorted(own.values(), key=lambda each: (_ORDER.index(each.verdict), -_distance(each)))


def confidence_json(files: Sequence[Path] = (), runs: Sequence[Path] = ()) -> dict[str, Any]:
    """Return all comparisons as JSON values; arguments as for `confidence`."""
    found = confidence(files, runs)
    counts = {verdict: sum(each.verdict == verdict for each in found) for verdict in _ORDER}
    return {"comparisons": [each.json() for each in found], "counts": counts, "notes": list(NOTES)}


def _distance(each: Comparison) -> float:
    return abs(np.log(each.ratio)) if each.ratio else 0.0


def _open(directory: Path) -> TopDownRun:
    refuse_confidential(directory)
    run = TopDownRun(directory)
    run.patience = float("inf")
    run.refresh()
    return run


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(resource("published/confidence.toml").read_text("utf-8"))


def certificates() -> list[Comparison]:
    """Return every figure of the four signed certificates and of the registry beside the forecast: equal, or missed."""
    found = []
    presets = topdown_presets()
    for stated in _rules()["certificates"]:
        scenario = presets[stated["scenario"]].scenario
        forecast = forecast_topdown(scenario.topdown, scenario.conventions)
        found.append(
            _equal(stated["scenario"], "ρ", Fraction(scenario.topdown.total), Fraction(stated["rho"]), Fraction(0))
        )
        printed = {
            f"{name}: ε of the attribute": (value, forecast.attributes, name)
            for name, value in stated["attributes"].items()
        }
        printed |= {
            f"{name}: ε of the block within": (value, forecast.block_within, name)
            for name, value in stated["block_within"].items()
        }
        for figure, (value, entries, name) in printed.items():
            ours = next((Fraction(each.epsilon) for each in entries if each.name == name), None)
            found.append(_equal(stated["scenario"], figure, ours, Fraction(value), _PRINTED))
        found.append(
            _equal(stated["scenario"], "ε", Fraction(_headline(forecast)), Fraction(stated["epsilon"]), _PRINTED)
        )
        if fraction := stated.get("epsilon_fraction"):
            exact = Fraction(_headline(forecast))
            found.append(_equal(stated["scenario"], "ε as a fraction", exact, Fraction(fraction), _ROUNDED_UP))
    for stated in _rules()["releases"]:
        total = sum(map(_total_of_preset, stated["scenarios"]), Fraction(0))
        digits = len(stated["rho"].partition(".")[2])
        rounded = Fraction(1, 2 * 10**digits)
        found.append(
            _equal(stated["title"], "ρ in the registry of deployments", total, Fraction(stated["rho"]), rounded)
        )
    return found


def _headline(forecast: Any) -> float:
    """Return ε at 10⁻¹⁰ by the conversion of the certificates."""
    from phexplore.accounting.zcdp import epsilon  # noqa: PLC0415 - only here
    from phexplore.accuracy.privacy_loss import HEADLINE_DELTA  # noqa: PLC0415 - as above
    from phexplore.model.conventions import Conversion  # noqa: PLC0415 - as above

    return epsilon(forecast.total, HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA)


def _equal(place: str, figure: str, ours: Fraction | None, printed: Fraction, within: Fraction) -> Comparison:
    shown = None if ours is None else float(ours)
    holds = ours is not None and abs(ours - printed) <= within + Fraction(_NEAR if within else 0)
    ratio = None if shown is None else shown / float(printed)
    basis = "forecast, exact" if not within else f"forecast; printed {exact_text(printed)}"
    return Comparison(
        "Certificate", place, figure, shown, float(printed), ratio, None, None, "holds" if holds else "misses", basis
    )


def _reruns(table: ValueTable, runs: Sequence[TopDownRun]) -> list[Comparison]:
    """Return every cell of reruns beside ours; where a level has many areas, they are taken together."""
    if table.true is None or table.replicates is None:
        raise ValueError("the table has no reruns")
    squares = ((table.replicates[:, :, 0] - table.true[:, 0]) ** 2).mean(axis=0)
    number, found = len(table.replicates), []
    for level, name, rows in _together(table):
        cells = [cell for cell in known_cells() if cell.code in name.replace(":", " ").split()]
        one = len(rows) == 1
        place = f"{level_title(level)} {table.codes[rows[0]]}" if one else f"{level_title(level)}: {len(rows):,} areas"
        published = float(np.sqrt(squares[rows].mean()))
        ours, draws, basis = _ours(cells, level, table.codes[rows], table.true[rows, 0], runs)
        figure = f"{name.split(maxsplit=2)[-1] if one else name}: RMSE"
        found.append(_compared("Reruns (AMC)", place, figure, ours, published, draws, number * len(rows), basis))
    return found


def _together(table: ValueTable) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield level, name and rows of each comparison: one area, or all of a level that has more than `MOST_AREAS`."""
    found: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(table.levels.tolist(), table.names.tolist(), strict=True)):
        found.setdefault(key, []).append(row)
    for (level, name), rows in found.items():
        for part in [rows] if len(rows) > MOST_AREAS else [[row] for row in rows]:
            yield level, name, np.array(part)


def _deviations(published: Published, table: ValueTable) -> list[Comparison]:
    if table.deviation is None:
        raise published.refused("it has no standard deviations.", _REMEDY)
    found = []
    for column, query in enumerate(table.columns):
        cells = [cell for cell in known_cells() if cell.code == query]
        for row, code in enumerate(table.codes.tolist()):
            stated = float(table.deviation[row, column])
            if not np.isfinite(stated) or stated <= 0:
                continue
            level = str(table.levels[row])
            ours, _, basis = _ours(cells, level, table.codes[row : row + 1], table.published[row : row + 1, column], ())
            figure = f"{query} {table.titles[column]}: standard deviation"
            found.append(_compared("GLS", f"{level_title(level)} {code}", figure, ours, stated, 0, 0, basis))
    return found


def _ours(
    cells: Sequence[Cell], level: str, areas: NDArray[np.str_], true: NDArray[np.float64], runs: Sequence[TopDownRun]
) -> tuple[float | None, int, str]:
    """Return our root mean square error of a cell, from how many draws (0: expected), and what it comes from.

    Args:
        cells: those with the code of the published one.
        level: of the areas.
        areas: their codes, ``U[areas]``.
        true: ``true[areas]``.
        runs: that may have it.
    """
    for cell in cells:
        for run in runs:
            if run.schema.id == cell.schema and run.spec.scenario.topdown.schema == cell.schema and level in run.levels:
                found = _of_run(run, cell, level, areas, true)
                if found is not None:
                    return found
    if not cells:
        return None, 0, "No single count of a scenario is this number."
    return _without_run(cells[0].code, level)


@lru_cache(maxsize=64)
def _without_run(code: str, level: str) -> tuple[float | None, int, str]:
    """Return the expected error of a cell and what it comes from, None and why where none is expected."""
    cell = next(each for each in known_cells() if each.code == code)
    spine = _spine(cell.scenario) if cell.query else None
    if spine is not None and level in spine.levels:
        method: TopDown = topdown_presets()[cell.scenario].scenario.topdown
        query = parse_query(spine.decomposition.schema, cell.query)
        answer = int(query.cell_map()[cell.mask()][0])
        budgets = np.array([float(method.budget(key)) for key in spine.keys])
        variance = float(spine.variances(budgets, spine.answer(level, query, answer))[0][0])
        if 0 < variance < np.inf:
            return variance**0.5, 0, f"expected after least squares on the spine of 2020, {cell.scenario}"
        return None, 0, f"{cell.scenario} publishes it exactly at {level}, or does not measure it."
    own, precision = _direct(cell, level)
    if not precision:
        return None, 0, f"Its cells are too many for their noise to tell its error: only a run of {cell.scenario} does."
    return float(np.sqrt(1 / precision)), 0, f"expected from what {cell.scenario} measures at {own} alone"


@lru_cache(maxsize=8)
def _spine(name: str) -> UniformSpine:
    return uniform_spine(topdown_presets()[name].scenario.topdown)


def _direct(cell: Cell, level: str) -> tuple[str, float]:
    """Return the level of the spine that stands for one of tabulation, and the precision of what is measured there of a cell.

    Every measured query whose answers make up the cell gives an estimate with the variance of their sum; the estimates are
    independent. Sums of more than `_MOST_SUMMED` answers are left out: that counts are not negative tells more than their noise does.
    """
    method = topdown_presets()[cell.scenario].scenario
    own = level if level in method.topdown.levels else _BESIDE.get(level, "")
    counted = [(load_schema(schema), where) for schema, where in ((cell.schema, cell.where), *cell.beside.items())]
    precision = 0.0
    for entry in forecast_topdown(method.topdown, method.conventions).entries:
        if entry.key.level == own:
            numbers = [found for schema, where in counted if (found := _summed(schema, where, entry.key.query))]
            if numbers and numbers[0] <= _MOST_SUMMED and entry.sigma:
                precision += 1 / (numbers[0] * entry.sigma**2)
    return own, precision


def _summed(schema: Schema, where: Mapping[str, Sequence[int]], query: str) -> int:
    """Return how many answers of a query make up the records of some levels, 0 where none do or another schema is asked."""
    try:
        parsed = parse_query(schema, query)
    except PhexploreError:
        return 0
    if parsed.schema.id != schema.id:
        return 0
    answers, chosen = parsed.cell_map(), schema.selection(where)
    inside, outside = (
        np.bincount(answers[part & (answers >= 0)], minlength=parsed.answers) for part in (chosen, ~chosen)
    )
    return 0 if (inside * outside).any() or (answers[chosen] < 0).any() else int((inside > 0).sum())


def _of_run(
    run: TopDownRun, cell: Cell, level: str, areas: NDArray[np.str_], true: NDArray[np.float64]
) -> tuple[float, int, str] | None:
    answer_of = np.where(cell.mask(), 0, -1).astype(np.int32)
    place, codes = run.place(level), run.codes(level)
    exact = run.truth[place].answers(answer_of, 1)[:, 0]
    own = np.flatnonzero(np.isin(codes, areas))
    words = "the same area" if len(own) == 1 else f"{len(own):,} of the same areas"
    if not len(own):
        own = np.flatnonzero((exact >= true.min() / _FACTOR) & (exact <= true.max() * _FACTOR))
        words = f"{len(own):,} areas of the same level with about as many"
    errors: list[NDArray[np.float64]] = []
    for index in run.present:
        found = run.trial(index)
        if found is not None and len(own):
            errors.append((found[place].answers(answer_of, 1)[own, 0] - exact[own]).astype(np.float64))
    if not errors:
        return None
    together = np.concatenate(errors)
    rmse = float(np.sqrt((together**2).mean()))
    units = ", ".join(f"{len(run.codes(name)):,} {name.replace('_', ' ')}" for name in run.levels[: place + 1])
    kind = run.spec.provenance.words
    return rmse, len(together), f"{len(errors)} trials of {run.directory.name}, {kind} ({units}), {words}"


def _compared(
    kind: str, place: str, figure: str, ours: float | None, published: float, draws: int, reruns: int, basis: str
) -> Comparison:
    if ours is None or not published:
        return Comparison(kind, place, figure, ours, published, None, None, None, "not compared", basis)
    ratio = ours / published
    low, high = ratio_interval(ratio, draws, reruns)
    holds = low <= 1 <= high
    return Comparison(kind, place, figure, ours, published, ratio, low, high, "holds" if holds else "misses", basis)


def ratio_interval(ratio: float, draws: int, reruns: int) -> tuple[float, float]:
    """Return the interval of a ratio of root mean square errors, at `LEVEL`.

    Args:
        ratio: ours over theirs.
        draws: of ours, 0 where ours is expected and not drawn.
        reruns: of theirs, 0 for a stated standard deviation.
    """
    from scipy.special import chdtri, fdtri  # noqa: PLC0415 - only this page needs it

    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if draws and reruns:
        spread = fdtri(draws, reruns, tails)
    elif reruns:
        spread = reruns / chdtri(reruns, tails)  # of the upper tail
    elif draws:
        spread = chdtri(draws, tails[::-1]) / draws
    else:
        return ratio, ratio
    low, high = (ratio / float(np.sqrt(each)) for each in spread[::-1])
    return low, high
