"""Sweeps: a grid over any parameters, one point per combination, its loss and margins forecast, and a run where runs are asked for."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.decide.parameter_words import parameter_words
from phexplore.errors import CancelledError, PhexploreError, UnknownNameError
from phexplore.figures.axis import Axis
from phexplore.figures.figure import Figure, KeyEntry, nothing, row_figure
from phexplore.figures.marks import Dot, Part, Points, Row, shape_of
from phexplore.figures.marks import Path as Line
from phexplore.figures.stated_origin import with_origin, with_origin_column
from phexplore.figures.table import AtMost, Table, Value
from phexplore.figures.table import shown as shown_text
from phexplore.figures.wording import CONVERTED, capital
from phexplore.files.json_text import plain_values
from phexplore.metrics.errors import figure_title
from phexplore.model.diff import value_text
from phexplore.model.edits import rename
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.paths import parameters, with_parameters
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.provenance import Provenance, together
from phexplore.model.scenario import Scenario
from phexplore.runs.store import load_spec
from phexplore.systems.registry import loss_of, margins_of_entries, system_of

MOST_POINTS = 100_000
_LOSS_COLUMNS = {"total": "whole loss", "epsilon": "whole epsilon"}
"""Columns of every sweep beside its parameters: the whole loss and ε; what they are called where a parameter has the name."""
_LOSS_TITLES = {"total": "Privacy loss", "whole loss": "Privacy loss", "epsilon": "ε", "whole epsilon": "ε"}
_FOLDER = 16
"""Characters that name the folder of a run."""
ALL = "*"


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the grid.

    Attributes:
        values: given to the parameters, by path, as the scenario holds them.
        scenario: with them; its name says which point it is.
        total: whole loss, exact; None without a bound.
        epsilon: at the δ of the conventions; None without a bound.
        margins: asked for, in people, by place; None when not published.
    """

    values: Mapping[str, Any]
    scenario: Scenario
    total: Fraction | None
    epsilon: float | None
    margins: Mapping[str, float | None]

    @property
    def folder(self) -> str:
        """Name of its run: equal for equal parameters and conventions."""
        content = f"{fingerprint(self.scenario)} {self.scenario.conventions}"
        return hashlib.sha256(content.encode()).hexdigest()[:_FOLDER]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a grid gives.

    Attributes:
        scenario: where it starts.
        points: in the order of the grid, the last parameter fastest.
        measured: figures of the runs by point, empty where nothing was run.
        provenance: of the data of the runs, None where nothing was run.
    """

    scenario: Scenario
    points: tuple[Point, ...]
    measured: tuple[Mapping[str, float | None], ...] = ()
    provenance: Provenance | None = None

    def table(self) -> Table:
        """Return a row per point: its parameters, total, ε, margins, and the figures of its run."""
        first = self.points[0]
        runs = tuple(dict.fromkeys(name for row in self.measured for name in row))
        losses = (apart if name in first.values else name for name, apart in _LOSS_COLUMNS.items())
        header = (*first.values, *losses, *first.margins, *runs)
        rows: list[tuple[Value, ...]] = []
        for number, point in enumerate(self.points):
            figures = self.measured[number] if self.measured else {}
            given = [
                value if isinstance(value, int | Fraction) else value_text(value) for value in point.values.values()
            ]
            margins = point.margins.values()
            rows.append(
                (
                    *given,
                    point.total,
                    None if point.epsilon is None else AtMost(point.epsilon),
                    *margins,
                    *(figures.get(name) for name in runs),
                )
            )
        return Table(header, tuple(rows))


def read_grid(content: str, name: str) -> dict[str, list[Any]]:
    """Read a grid: ``{"parameter path": [values…]}``; exact numbers as text or as JSON numbers.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        InputProblemsError: it cannot be understood.
    """
    value = plain_values(content, name, 'Write {"parameter path": [values…]}.', real=str)
    remedy = "Write a list of values after every parameter path."
    if not isinstance(value, dict) or not value:
        raise InputProblemsError(
            [Issue((name,), "A grid is an object of parameter paths with lists of values.", remedy)]
        )
    issues = [
        Issue((name, path), "This is no list of values.", remedy)
        for path, values in value.items()
        if not isinstance(values, list) or not values or any(isinstance(each, list | dict) for each in values)
    ]
    if issues:
        raise InputProblemsError(issues)
    return value


def sweep(scenario: Scenario, grid: Mapping[str, Sequence[Any]], measure: Sequence[str] = ()) -> Sweep:
    """Return the loss and margins of every combination of a grid.

    Args:
        scenario: to start from.
        grid: values by parameter path.
        measure: places whose margins are asked for, e.g. ``PH3/state_A-G``; ``*`` for all.

    Raises:
        UnknownNameError: no such parameter or place.
        EditRefusedError: a combination is no scenario; the first is named.
        PhexploreError: too many points, or a combination has errors.
    """
    return Sweep(scenario, tuple(sweep_points(scenario, grid, measure)))


def sweep_points(scenario: Scenario, grid: Mapping[str, Sequence[Any]], measure: Sequence[str]) -> Iterator[Point]:
    """Yield the points of a sweep one after the other; see `sweep`."""
    count = prod(map(len, grid.values()))
    if not grid or not count:
        raise PhexploreError("A sweep needs at least one parameter with at least one value.", "Name one.")
    if count > MOST_POINTS:
        raise PhexploreError(f"The grid has {count:,} points; {MOST_POINTS:,} are the most.", "Leave values out.")
    known = margins_of_entries(scenario)
    places = list(known) if ALL in measure else list(measure)
    for place in places:
        if place not in known:
            raise UnknownNameError("place", place, list(known))
    for number, values in enumerate(product(*grid.values()), 1):
        changed = with_parameters(scenario, dict(zip(grid, values, strict=True)))
        named = rename(changed, f"{scenario.name} ({number} of {count})")
        held = parameters(changed)
        loss = loss_of(changed)
        margins = margins_of_entries(changed) if places else {}
        yield Point(
            {path: held[path] for path in grid},
            named,
            loss.bound,
            loss.epsilon_at(changed.conventions.delta),
            {place: margins.get(place) for place in places},
        )


def usual_column(figures: Sequence[str]) -> str:
    """Return the column of figures that is looked at first: of runs, then of margins, then ε."""
    return figures[-1]


def column_title(found: Sweep, column: str) -> str:
    """Return what a column is called: a margin, a figure of runs, the loss, ε of a zCDP release with how it was converted.

    Args:
        found: the sweep.
        column: of its table.
    """
    place_name = system_of(found.scenario).place_name
    if column in found.points[0].margins:
        return f"Margin of {place_name(column).title}"
    if column in {name for row in found.measured for name in row}:
        place, _, figure = column.rpartition("/")
        return f"{figure_title(figure)}, {place_name(place).title}"
    title = _LOSS_TITLES.get(column, column)
    is_converted = title == "ε" and loss_of(found.points[0].scenario).framework is PrivacyFramework.ZCDP
    return f"{title}, {CONVERTED}" if is_converted else title


def titled(found: Sweep) -> Table:
    """Return the table of a sweep with columns called as people do."""
    table, grid = found.table(), found.points[0].values
    own = (capital(parameter_words(system_of(found.scenario), path)) for path in grid)
    return replace(table, headers=(*own, *(column_title(found, column) for column in table.headers[len(grid) :])))


def stated_table(found: Sweep) -> Table:
    """Return the table of a sweep; with runs, the last column has the provenance of their data."""
    table = found.table()
    return table if found.provenance is None else with_origin_column(table, found.provenance.kind.value)


def sweep_figure(found: Sweep, column: str = "") -> Figure:
    """Return how one figure moves with the first parameter, and the provenance of the data of its runs.

    Args:
        found: the sweep.
        column: of its table; the figures of runs first, then margins, then ε, without it.

    Raises:
        UnknownNameError: there is no such column.
    """
    drawn = _drawn(found, column)
    return drawn if found.provenance is None else with_origin(drawn, found.provenance)


def _drawn(found: Sweep, column: str) -> Figure:
    """Return a line per combination of the other parameters."""
    table, grid = found.table(), list(found.points[0].values)
    figures = table.headers[len(grid) :]
    shown = column or usual_column(figures)
    if shown not in figures:
        raise UnknownNameError("column", shown, list(figures))
    y = [None if value is None or isinstance(value, str) else float(value) for value in table.column(shown)]
    x, others = table.column(grid[0]), [table.column(path) for path in grid[1:]]
    lines: dict[tuple[Value, ...], list[tuple[Value, float]]] = {}
    for number, value in enumerate(y):
        if value is not None:
            lines.setdefault(tuple(each[number] for each in others), []).append((x[number], value))
    what = column_title(found, shown)
    names_of = {path: parameter_words(system_of(found.scenario), path) for path in grid}
    known = [value for value in y if value is not None]
    if not known:
        return nothing("sweep", f"No point of the sweep has a number for {what}.")
    title = f"{what}: {min(known):,.6g} to {max(known):,.6g} over {names_of[grid[0]]}"
    without = len(y) - len(known)
    summary = f"{len(known)} of {len(y)} points" + (f"; {without} without such a number" if without else "")
    if not all(isinstance(value, int | Fraction | float) for value in x):
        rows = tuple(
            Row(
                (value, *names),
                ", ".join(map(shown_text, names)),
                shown_text(value),
                number,
                0.0,
                number,
                text=f"{number:,.6g}",
            )
            for names, line in lines.items()
            for value, number in line
        )
        return row_figure("sweep", rows, what, title, f"{summary}.", titled(found))
    over, points, key = list[Part](), list[Points](), list[KeyEntry]()
    for series, (names, line) in enumerate(lines.items()):
        # From left to right, in whatever order the values were given.
        ordered = sorted((float(at), value) for at, value in line if not isinstance(at, str) and at is not None)
        xs, ys = [at for at, _ in ordered], [value for _, value in ordered]
        name = (
            ", ".join(f"{names_of[path]} {shown_text(value)}" for path, value in zip(grid[1:], names, strict=True))
            or what
        )
        tips = tuple(f"{name}: {at:,.6g} gives {value:,.6g}" for at, value in zip(xs, ys, strict=True))
        over.append(Line(tuple(xs), tuple(ys), series))
        points.append(Points(name, np.array(xs), np.array(ys), tips, series=series))
        key.append(KeyEntry(Dot(0.5, ink=series, shape=shape_of(series)), name))
    each = "a line per combination of the other parameters; " if others else ""
    summary += f". Only the dots were computed: {each}what lies between two dots need not lie on a line."
    return Figure(
        "sweep", title, summary, Axis(names_of[grid[0]]), Axis(what), (), titled(found),
        points=tuple(points), over=tuple(over), key=tuple(key) if len(key) > 1 else (),
    )  # fmt: skip


RunPoint = Callable[[Scenario, Path, Callable[[object], None]], Mapping[str, Any] | None]
"""Runs a scenario into a directory, or finds it complete there, and returns its summary; gives every event to the third."""


def with_runs(found: Sweep, directory: Path, run: RunPoint, workers: int = 1) -> Sweep:
    """Return a sweep with a run per point; a point whose run is complete is not run again.

    Common random numbers: every point draws by the same seed, so differences are those of the parameters. When a run fails or
    somebody interrupts, those at work are ended and none is begun; finished trials are kept.

    Args:
        found: points forecast.
        directory: of the runs, one folder per point, named by its parameters: points added later keep what was run.
        run: see `RunPoint`.
        workers: points run at the same time, each in a process of its own.

    Raises:
        PhexploreError: a run failed; those before are kept.
        CancelledError: somebody interrupted.
    """
    from phexplore.decide.rule_evaluation import run_metrics  # noqa: PLC0415 - only sweeps with runs judge summaries

    ended, failures = threading.Event(), list[BaseException]()
    folders = {point.folder: point for point in found.points}  # equal points are one run

    def look(_event: object) -> None:
        if ended.is_set():  # leaves the worker, which ends it
            raise CancelledError("The sweep was cancelled; finished trials are kept.")

    def figures(folder: str) -> dict[str, float | None]:
        try:
            look(None)
            summary = run(folders[folder].scenario, directory / folder, look)
        except BaseException as failure:  # ends the others now, not when their turn to be read has come
            failures.append(failure)
            ended.set()
            raise
        return {f"{place}/{name}": value for (place, name), value in run_metrics(summary or {}).items()}

    if workers == 1:  # in this thread an interrupt cancels the run itself
        measured = {folder: figures(folder) for folder in folders}
    else:
        with ThreadPoolExecutor(workers) as pool:
            try:
                measured = dict(zip(folders, pool.map(figures, folders), strict=True))
            except CancelledError:
                raise failures[0] from None
            finally:
                ended.set()
    provenance = together(load_spec(directory / folder).provenance for folder in folders)
    return replace(found, measured=tuple(measured[point.folder] for point in found.points), provenance=provenance)
