"""One place of a TopDown run, read from its files: true, measured and published, at its level and at every level above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from phexplore.runs.store import RunUnreadableError
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.measured_units import MeasuredUnit, MeasuredUnits
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_contents import (
    EVERY_QUERY,
    MeasuredLine,
    PathContent,
    PlaceContent,
    TopDownChoice,
)
from phexplore.workload.queries import MarginalQuery, parse_query

MOST_NEIGHBOURS = 400
SHOWN_TRIALS = 5
"""Trials whose noisy answers are read: their files are large."""
MOST_LINES = 4_000

Integers = NDArray[np.int64]


def labels_of(query: MarginalQuery) -> tuple[str, ...]:
    """Return the words of a query's answers."""
    if not query.factors:
        return ("all",)
    return tuple(", ".join(query.answer_labels(answer)) for answer in range(query.answers))


def one_place(run: TopDownRun, choice: TopDownChoice) -> PlaceContent:
    """Return a unit's answers to one query: true, measured and published."""
    query = run.query(choice.query)
    found = _find_unit(run, choice)
    if isinstance(found, tuple):
        wanted, reason, listed = found
        empty = np.empty(0, np.int64)
        return PlaceContent(choice.level, wanted, query.name, (), empty, empty[None], None, None, reason, listed)
    unit, code, listed = found.unit, found.code, found.listed
    leaves = run.truth[run.place(choice.level)].part(unit, unit + 1)
    content = PlaceContent(
        choice.level,
        code,
        query.name,
        labels_of(query),
        leaves.answers(query.cell_map(), query.answers)[0],
        run.published(choice.level, unit, query),
        None,
        run.sigma(choice.level, query),
        neighbours=listed,
    )
    measured = run.measured
    if isinstance(measured, str):
        return content
    return _with_measured(run, measured, content, _geoids(run, choice.level, unit))


def place_path(run: TopDownRun, choice: TopDownChoice) -> PathContent:
    """Return every measurement of the units that hold a place, the widest first."""
    found = _find_unit(run, choice)
    if isinstance(found, tuple):
        wanted, reason, listed = found
        return PathContent(choice.level, wanted, choice.query, (), 0, 0, reason, listed)
    content = PathContent(choice.level, found.code, choice.query, (), 0, 0, "", found.listed)
    measured = run.measured
    if isinstance(measured, str):
        return replace(content, reason=measured)
    try:
        return _with_lines(run, measured, content, _geoids(run, choice.level, found.unit))
    except RunUnreadableError as error:
        return replace(content, reason=error.full)


class _Found:
    """A unit of the tabulation."""

    __slots__ = ("code", "listed", "unit")

    def __init__(self, unit: int, code: str, listed: tuple[str, ...]) -> None:
        self.unit, self.code, self.listed = unit, code, listed


def _find_unit(run: TopDownRun, choice: TopDownChoice) -> _Found | tuple[str, str, tuple[str, ...]]:
    """Return the unit that is wanted, the largest without a wish; or its code, why there is none, and some codes."""
    codes = run.codes(choice.level)
    listed = tuple(str(code) for code in codes[:MOST_NEIGHBOURS].tolist())
    wanted = choice.unit.strip() or (listed[0] if len(codes) == 1 else "")
    if not wanted and len(codes) > 1:
        wanted = str(codes[int(run.people(choice.level).argmax())])
    places = np.flatnonzero(codes == wanted)
    if not len(places):
        return wanted, f"There is no unit {wanted!r} at this level. Codes look like {listed[0]}.", listed
    return _Found(int(places[0]), wanted, listed)


def _geoids(run: TopDownRun, level: str, unit: int) -> NDArray[np.str_]:
    first = run.tree.levels[run.place(level)].first_block
    return run.files.geoids[int(first[unit]) : int(first[unit + 1])]


def _with_measured(
    run: TopDownRun, measured: MeasuredUnits, content: PlaceContent, geoids: NDArray[np.str_]
) -> PlaceContent:
    """Add the noisy answers, where the spine measured exactly this unit and this query."""
    try:
        own = [
            unit for unit in measured.path(geoids) if len(unit.leaves) == len(geoids) and unit.level == content.level
        ]
        if not own or own[0].variances.get(content.query) is None:
            return replace(content, sigma=None)
        answers = [measured.answers(trial, own[0])[content.query] for trial in run.first_trials(SHOWN_TRIALS)]
    except RunUnreadableError:
        return content
    sigma = float(own[0].variances[content.query] or 0.0) ** 0.5
    return replace(content, measured=np.stack(answers), sigma=sigma)


def _with_lines(
    run: TopDownRun, measured: MeasuredUnits, content: PathContent, geoids: NDArray[np.str_]
) -> PathContent:
    trials = run.first_trials(SHOWN_TRIALS)
    place_of = {geoid: number for number, geoid in enumerate(run.files.geoids.tolist())}
    groups: list[list[MeasuredLine]] = []
    for unit in measured.path(geoids):
        inside = np.array([place_of[geoid] for geoid in measured.geoids[unit.leaves].tolist()])
        truth = _cells(run.truth[-1], inside, run.schema.cells)
        published = [_cells(run.leaves(trial), inside, run.schema.cells) for trial in trials]
        noisy = [measured.answers(trial, unit) for trial in trials]
        groups += _lines_of(run, unit, content.query, truth, published, noisy)
    most = max(1, MOST_LINES // max(1, len(groups)))
    lines = tuple(line for group in groups for line in group[:most])  # no level and no query is left out
    left_out = sum(map(len, groups)) - len(lines)
    return replace(content, lines=lines, left_out=left_out, trials=len(trials))


def _lines_of(
    run: TopDownRun,
    unit: MeasuredUnit,
    wanted: str,
    truth: Integers,
    published: list[Integers],
    noisy: list[dict[str, Integers]],
) -> list[list[MeasuredLine]]:
    """Return the answers of every query that a unit was asked, the largest first."""
    found = []
    for name, variance in unit.variances.items():
        if variance is None or wanted not in {EVERY_QUERY, name}:
            continue
        query = parse_query(run.schema, name)
        exact = _answers(truth, query)
        given = np.stack([_answers(each, query) for each in published])
        measured = np.stack([each[name] for each in noisy])
        labels = labels_of(query)
        order = np.argsort(-np.maximum(exact, given.max(axis=0)), kind="stable")
        found.append(
            [
                MeasuredLine(
                    unit.level,
                    unit.code,
                    len(unit.leaves),
                    name,
                    labels[answer],
                    variance**0.5,
                    int(exact[answer]),
                    tuple(measured[:, answer].tolist()),
                    tuple(given[:, answer].tolist()),
                )
                for answer in order.tolist()
            ]
        )
    return found


def _cells(leaves: Histograms, inside: Integers, cells: int) -> Integers:
    """Return the histogram of some leaves together, ``int64[cells]``."""
    part = leaves.ordered(inside)
    return np.bincount(part.cells, weights=part.counts, minlength=cells).astype(np.int64)


def _answers(cells: Integers, query: MarginalQuery) -> Integers:
    answer_of = query.cell_map()
    asked = answer_of >= 0
    return np.bincount(answer_of[asked], weights=cells[asked], minlength=query.answers).astype(np.int64)
