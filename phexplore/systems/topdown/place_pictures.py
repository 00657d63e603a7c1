"""The pictures of one place of a TopDown run: true, measured and published, at its level and at every level above it. No Qt."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import place as name_of_place
from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people, with_unit
from phexplore.runs.store import RunUnreadableError
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.area_margins import predicted_margins
from phexplore.systems.topdown.error_pictures import answer_labels, trials_words
from phexplore.systems.topdown.estimate_pictures import Line, estimates_figure
from phexplore.systems.topdown.folds import AreaFold, PlaceFold
from phexplore.systems.topdown.measured_units import MeasuredUnit, MeasuredUnits
from phexplore.systems.topdown.open_run import TopDownRun, tabulated_noise, written_sigma
from phexplore.systems.topdown.run_choice import EVERY_QUERY, TopDownChoice
from phexplore.systems.topdown.summary import answers
from phexplore.systems.topdown.wording import heading, level_title, query_title
from phexplore.workload.queries import MarginalQuery, parse_query, total_query

SHOWN_TRIALS = 5
"""Trials whose noisy answers are read: their files are large."""
MOST_LINES = 4_000
_MOST_ROWS = 400
_OF_EACH = 4
"""Answers of each query that the picture of all queries shows; its table has the others."""
_OF_ONE = 40
_NORMAL_90 = 1.645
ERROR_WORDS = " The error is the root mean square over the trials."
_OTHER_CELLS = " Margins are predicted for the run's data, which have fewer cells than the scenario."
_MOST_STATES = 4
_NO_AREAS = "Towns, places and districts are not known here: the file of blocks has no codes of them, or was moved or altered since."

Integers = NDArray[np.int64]


def place_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per answer of one unit: the truth as a stroke, the published counts as dots, the noise as a band.

    Args:
        run: the one looked at.
        choice: level, unit and query.
    """
    query, measured, sigma = run.query(choice.query), None, None
    if not run.is_counted:
        return _estimates(run, choice, query)
    if choice.area:
        leaves = run.areas[choice.area].leaves(choice.unit)
        truth = answers(run.truth[-1].ordered(leaves), query).sum(axis=0)
        published = run.folded(AreaFold, choice.area, choice.unit, query).published
    else:
        unit = _unit(run, choice)
        if isinstance(unit, str):
            return nothing("place", unit)
        truth = answers(run.truth[run.place(choice.level)].part(unit, unit + 1), query)[0]
        published = run.folded(PlaceFold, choice.level, unit, query).published
        measured, sigma = _measured(run, choice.level, unit, query)
    before = predicted_margins(run, choice, query)
    labels = answer_labels(query)
    order = np.argsort(-np.maximum(truth, published.max(axis=0)), kind="stable")
    order = order[(truth[order] > 0) | (published[:, order].max(axis=0) > 0)]
    empty, small = len(labels) - len(order), max(0, len(order) - _MOST_ROWS)
    order = order[:_MOST_ROWS] if len(order) else np.arange(min(1, len(labels)))
    noise = sigma if measured is not None or before is None else None
    margins = before if noise is None else np.full(len(labels), _NORMAL_90 * noise)
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for answer in order.tolist():
        label, exact = labels[answer], int(truth[answer])
        noisy = () if measured is None else tuple(measured[:, answer].tolist())
        given = published[:, answer].tolist()
        mean = float(published[:, answer].mean())
        error = _error(published[:, answer] - exact)
        margin = None if margins is None else float(margins[answer])
        rows.append(
            Row(
                None,
                "",
                label,
                value=mean,
                low=None if margin is None else max(exact - margin, 0.0),
                high=None if margin is None else exact + margin,
                tick=float(exact),
                dots=tuple(map(float, given)),
                crosses=tuple(map(float, noisy)),
                text=" → ".join((f"{exact:,}", *(f"{each:,}" for each in noisy[:1]), people(mean))),
                tip="\n".join(
                    (
                        f"{label}: true {exact:,}, published {people(mean)} on average",
                        *(() if before is None else (_margin_words(float(before[answer]), error),)),
                        *((_measured_words(noisy, sigma),) if noisy or before is None else ()),
                    )
                ),
            )
        )
        table.append((label, exact, mean, *(() if before is None else (float(before[answer]),)), error, *noisy, *given))
    trials, kept = len(published), 0 if measured is None else len(measured)
    name = choice.name or f"{level_title(choice.level)} {choice.unit}".strip()
    is_whole = bool((query.cell_map() >= 0).all())
    whole = predicted_margins(run, choice, total_query(run.schema)) if is_whole and before is not None else None
    totals = published.sum(axis=1) - truth.sum()
    stands = "" if whole is None else _within_words(float(whole[0]), totals)
    on_average = " on average" if trials > 1 else ""
    return row_figure(
        "place",
        tuple(rows),
        Axis(run.unit, Scale.COUNT),
        f"{name[:1].upper()}{name[1:]}: {with_unit(int(truth.sum()), run.unit)} {'is' if truth.sum() == 1 else 'are'} published as "
        f"{people(float(published.sum(axis=1).mean()))}{on_average} (error {people(_error(totals))}){stands}",
        f"{heading(query_title(query.name))}, {trials_words(trials)}: strokes are true, dots published (large: their mean)"
        + (f", crosses measured in {trials_words(kept)}" if kept else "")
        + _whisker_words(noise, is_predicted=before is not None)
        + (_OTHER_CELLS if before is not None and run.schema.id != run.spec.scenario.topdown.schema else "")
        + (ERROR_WORDS if trials > 1 else "")
        + _left_out(empty, small),
        Table(
            (
                "Answer",
                "True",
                "Published, mean",
                *(() if before is None else ("Margin before",)),
                "Error after, root mean square",
                *(f"Measured, trial {number + 1}" for number in range(kept)),
                *(f"Published, trial {number + 1}" for number in range(trials)),
            ),
            tuple(table),
        ),
    )


def _estimates(run: TopDownRun, choice: TopDownChoice, query: MarginalQuery) -> Figure:
    """Return the estimates of one unit, the largest first, where the true counts are not known."""
    unit = _unit(run, choice)
    if isinstance(unit, str):
        return nothing("place", unit)
    published = run.folded(PlaceFold, choice.level, unit, query).published
    total = float(run.folded(PlaceFold, choice.level, unit, total_query(run.schema)).published.mean())
    order = np.argsort(-published.mean(axis=0), kind="stable")
    order = order[published[:, order].max(axis=0) > 0]
    labels, empty, small = answer_labels(query), query.answers - len(order), max(0, len(order) - _MOST_ROWS)
    order = order[:_MOST_ROWS] if len(order) else np.arange(min(1, query.answers))
    name = choice.name or f"{level_title(choice.level)} {choice.unit}".strip()
    where = (name, heading(query_title(query.name)), run.unit)
    figure = estimates_figure("place", [Line("", labels[each]) for each in order], published[:, order], total, where)
    return replace(figure, summary=f"{figure.summary}{_left_out(empty, small, 'in every trial')}")


def _left_out(empty: int, small: int, where: str = "in truth and in every trial") -> str:
    """Return how many answers have no row: those that are 0 in truth and in every trial, and the smallest ones of too many."""
    parts = (
        *((f"{empty:,} {'is' if empty == 1 else 'are'} 0 {where}",) if empty else ()),
        *((f"the {small:,} smallest are left out",) if small else ()),
    )
    return f" Of the answers, {' and '.join(parts)}." if parts else ""


def _error(errors: Integers) -> float:
    """Return the root mean square of the errors of all trials, ``int64[trials]``."""
    return float(np.sqrt(np.square(errors).mean()))


def _margin_words(margin: float, error: float) -> str:
    return f"margin ±{people(margin)} before, RMSE {people(error)} after"


def _within_words(margin: float, errors: Integers) -> str:
    """Return in how many trials the total was within its margin: a mean of errors is no figure to hold against a margin of 90 %."""
    held, trials = int((np.abs(errors) <= margin).sum()), len(errors)
    return f", within the predicted ±{people(margin)} in {held:,} of {trials_words(trials)}"


def _whisker_words(noise: float | None, *, is_predicted: bool) -> str:
    if noise is not None:
        return ", whiskers hold 90 % of the noisy answers."
    return ", whiskers are the margins predicted before the run." if is_predicted else "; not measured by itself here."


def _unit(run: TopDownRun, choice: TopDownChoice) -> int | str:
    """Return the number of the chosen unit, or why there is none."""
    codes = run.codes(choice.level)
    found = np.flatnonzero(codes == choice.unit)
    if not len(found):
        states = [name_of_place(code) for code in dict.fromkeys(str(code)[:2] for code in run.codes(run.levels[-1]))]
        where = f" ({', '.join(states)})" if all(states) and len(states) <= _MOST_STATES else ""
        more = "" if run.areas else f" {_NO_AREAS}"
        return f"Nothing in the data of this run{where} is called {choice.unit!r}. Type words of a name, or a code such as {codes[0]}.{more}"
    return int(found[0])


def _geoids(run: TopDownRun, level: str, unit: int) -> NDArray[np.str_]:
    first = run.tree.levels[run.place(level)].first_block
    return run.files.geoids[int(first[unit]) : int(first[unit + 1])]


def _measured(run: TopDownRun, level: str, unit: int, query: MarginalQuery) -> tuple[Integers | None, float | None]:
    """Return noisy answers, ``int64[trials, answers]``, where the spine measured exactly this unit and query, and their σ."""
    kept, sigma, geoids = run.measured, written_sigma(tabulated_noise(run, level, query)), _geoids(run, level, unit)
    if isinstance(kept, str):
        return None, sigma
    try:
        same = (each for each in kept.path(geoids) if len(each.leaves) == len(geoids) and each.level == level)
        own = next(same, None)
        variance = None if own is None else own.variances.get(query.name)
        if own is None or variance is None:
            return None, None
        noisy = [kept.answers(trial, own)[query.name] for trial in run.first_trials(SHOWN_TRIALS)]
    except RunUnreadableError:
        return None, sigma
    return np.stack(noisy), float(variance) ** 0.5


def _measured_words(noisy: tuple[int, ...], sigma: float | None) -> str:
    if noisy:
        return f"measured {', '.join(f'{count:,}' for count in noisy[:5])} (σ {people(sigma or 0.0)})"
    if sigma is None:
        return "Not measured by itself at this level."
    return f"A noisy answer has σ {people(sigma)}; the answers themselves were not kept."


class _Line(NamedTuple):
    """One noisy answer on the way from the root to a place: what was measured and published, per trial."""

    level: str
    unit: str
    blocks: int
    query: str
    answer: str
    sigma: float
    truth: int
    measured: tuple[int, ...]
    published: tuple[int, ...]


def path_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return the largest answers of every query at every level over a place: true, measured and published.

    Args:
        run: the one looked at.
        choice: level, unit or area, and a query or `EVERY_QUERY`.
    """
    kept, place = run.measured, choice.name or f"{level_title(choice.level).lower()} {choice.unit}".strip()
    if choice.area:  # no unit of the spine
        geoids = run.files.geoids[run.areas[choice.area].leaves(choice.unit)]
        lead = f"Every measurement of the units that hold all of {place} (it is not a unit of the spine itself)"
    else:
        unit = _unit(run, choice)
        if isinstance(unit, str):
            return nothing("path", unit)
        geoids, lead = _geoids(run, choice.level, unit), f"Every measurement on the way to {place}"
    if isinstance(kept, str):
        return nothing("path", kept)
    trials = run.first_trials(SHOWN_TRIALS)
    try:
        groups = _groups(run, kept, geoids, choice.query, trials)
    except RunUnreadableError as error:
        return nothing("path", error.full)
    listed = max(1, MOST_LINES // max(1, len(groups)))
    lines = [line for group in groups for line in group[:listed]]  # no level and no query is left out
    if not lines:
        return nothing("path", "No unit over this place was measured with this query.")
    more = sum(map(len, groups)) - len(lines)
    most = _OF_EACH if choice.query == EVERY_QUERY else _OF_ONE
    rows = [
        _path_row(line, run.unit)
        for _key, same in groupby(lines, key=lambda line: (line.level, line.query))
        for line in _largest(list(same), most)
    ]
    left_out = f" {more:,} further answers, the smallest ones, are not listed." if more else ""
    return row_figure(
        "path",
        tuple(rows[:_MOST_ROWS]),
        Axis(
            f"difference from the true count, {run.unit}",
            Scale.SIGNED_LOG,
            text=signed_text,
        ),
        _path_title(lines, run.unit),
        f"{lead}, {trials_words(len(trials))}: "
        f"crosses measured, dots published (large: their mean), whiskers hold 90 % of the noise; at the right true → measured → "
        f"published of the first trial. The {most} largest answers of a query "
        f"at a level; the table has {len(lines):,}.{left_out}"
        + (
            " Amber: the first trial's noise is over three standard deviations."
            if any(row.is_warned for row in rows[:_MOST_ROWS])
            else ""
        ),
        Table(
            (
                "Level",
                "Unit of the spine",
                "Blocks",
                "Query",
                "Answer",
                "σ",
                "True",
                *(f"Measured, trial {number + 1}" for number in range(len(trials))),
                *(f"Published, trial {number + 1}" for number in range(len(trials))),
            ),
            tuple(
                (
                    level_title(line.level),
                    line.unit,
                    line.blocks,
                    query_title(line.query),
                    line.answer,
                    line.sigma,
                    line.truth,
                    *line.measured,
                    *line.published,
                )
                for line in lines
            ),
        ),
        guide=0.0,
    )


def _groups(
    run: TopDownRun, kept: MeasuredUnits, geoids: NDArray[np.str_], wanted: str, trials: tuple[int, ...]
) -> list[list[_Line]]:
    """Return what every unit that holds some blocks was asked: per unit and query its answers, the largest first."""
    place_of = {geoid: number for number, geoid in enumerate(run.files.geoids.tolist())}
    leaves = [levels[-1] for trial in trials if (levels := run.trial(trial)) is not None]
    groups = []
    for unit in kept.path(geoids):
        inside = np.array([place_of[geoid] for geoid in kept.geoids[unit.leaves].tolist()])
        truth = _cells(run.truth[-1], inside, run.schema.cells)
        published = [_cells(each, inside, run.schema.cells) for each in leaves]
        noisy = [kept.answers(trial, unit) for trial in trials]
        for name, variance in unit.variances.items():
            if variance is not None and wanted in {EVERY_QUERY, name}:
                query = parse_query(run.schema, name)
                given = np.stack([_answers(each, query) for each in published])
                measured = np.stack([each[name] for each in noisy])
                groups.append(_lines(unit, query, name, variance**0.5, _answers(truth, query), given, measured))
    return groups


def _lines(
    unit: MeasuredUnit,
    query: MarginalQuery,
    name: str,
    sigma: float,
    exact: Integers,
    given: Integers,
    measured: Integers,
) -> list[_Line]:
    labels = answer_labels(query)
    return [
        _Line(
            unit.level,
            unit.code,
            len(unit.leaves),
            name,
            labels[answer],
            sigma,
            int(exact[answer]),
            tuple(measured[:, answer].tolist()),
            tuple(given[:, answer].tolist()),
        )
        for answer in np.argsort(-np.maximum(exact, given.max(axis=0)), kind="stable").tolist()
    ]


def _cells(leaves: Histograms, inside: Integers, cells: int) -> Integers:
    """Return the histogram of some leaves together, ``int64[cells]``."""
    part = leaves.ordered(inside)
    return np.bincount(part.cells, weights=part.counts, minlength=cells).astype(np.int64)


def _answers(cells: Integers, query: MarginalQuery) -> Integers:
    answer_of = query.cell_map()
    asked = answer_of >= 0
    return np.bincount(answer_of[asked], weights=cells[asked], minlength=query.answers).astype(np.int64)


def _largest(lines: list[_Line], most: int) -> list[_Line]:
    """Return the answers that count anybody, the first where none does."""
    filled = [line for line in lines if line.truth or any(line.published)]
    return (filled or lines[:1])[:most]


def _path_row(line: _Line, unit: str) -> Row:
    margin = _NORMAL_90 * line.sigma
    query = query_title(line.query)
    first, found = line.measured[0], line.published[0]
    off = (first - line.truth) / line.sigma
    return Row(
        None,
        level_title(line.level),
        query if line.answer == "all" else f"{query}: {line.answer}",
        value=float(np.mean(line.published)) - line.truth,
        low=-margin,
        high=margin,
        dots=tuple(float(each - line.truth) for each in line.published),
        crosses=tuple(float(each - line.truth) for each in line.measured),
        text=f"{line.truth:,} → {first:,} → {found:,}",
        tip=f"{level_title(line.level)} {line.unit}, {line.blocks:,} blocks\n{query}, {line.answer}: true {line.truth:,}, measured "
        f"{', '.join(f'{each:,}' for each in line.measured)} (σ {people(line.sigma)}), published "
        f"{', '.join(f'{each:,}' for each in line.published)} {unit}\nin the first trial the noise is {off:+.1f} σ",
        is_warned=abs(off) > 3,
    )


def _path_title(lines: list[_Line], unit: str) -> str:
    totals = [line for line in lines if line.query == "total"]
    line = (totals or lines)[-1]
    what = "" if line.query == "total" else f" of {query_title(line.query)}: {line.answer}"
    return (
        f"{level_title(line.level)}: {line.truth:,} {unit}{what} were measured as {line.measured[0]:,} and are published as "
        f"{line.published[0]:,}"
    )
