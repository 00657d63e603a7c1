"""What a person asks of a sweep in the window, and what the process beside it answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.decide.sweeping import (
    MOST_POINTS,
    Sweep,
    column_title,
    stated_table,
    sweep_figure,
    sweep_points,
    usual_column,
    with_runs,
)
from phexplore.figures.figure import Figure
from phexplore.figures.table import Table
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.runs.run_settings import RunSettings
from phexplore.systems.running import run_quietly

_RANGE = re.compile(r"(\S+)\s+to\s+(\S+)\s+in\s+(\d{1,6})(?:\s+steps?)?", re.IGNORECASE)
_FOLDER = 12


def read_values(text: str) -> list[str]:
    """Read the values a person asks for: ``1; 2; 4``, ``1 2 4``, or ``0.5 to 4 in 8``, which are 8 values evenly apart.

    Raises:
        ValueError: it is neither.
    """
    if (found := _RANGE.fullmatch(text.strip())) is not None:
        first, last, steps = parse_exact(found[1]), parse_exact(found[2]), int(found[3])
        if not 2 <= steps <= MOST_POINTS:
            raise ValueError(f"a range has from 2 to {MOST_POINTS:,} values, got {steps:,}")
        return [exact_text(first + (last - first) * Fraction(step, steps - 1)) for step in range(steps)]
    values = [part for part in re.split(r"[;\s]+", text) if part]
    if not values:
        raise ValueError("no value is given; write e.g. 1; 2; 4 or 0.5 to 4 in 8")
    return values


@dataclass(frozen=True, slots=True)
class PointRuns:
    """How every point is run as well.

    Attributes:
        home: folder of the runs of sweeps.
        data: input of all; None for what came with the parameters.
        trials: releases per point.
        seed: of every run.
        workers: points run at the same time; they change no figure.
    """

    home: Path
    data: Path | None = None
    trials: int = 1
    seed: int = 1
    workers: int = 1

    @property
    def directory(self) -> Path:
        """Where the runs are: equal for equal data, trials and seeds, so that what was run is found again."""
        asked = f"{self.data} {self.trials} {self.seed}"
        return self.home / hashlib.sha256(asked.encode()).hexdigest()[:_FOLDER]


@dataclass(frozen=True, slots=True, eq=False)
class SweepRequest:
    """A grid over parameters of a scenario.

    Attributes:
        scenario: to start from.
        grid: values by parameter path.
        measure: places whose margins are asked for, ``*`` for all.
        runs: how every point is run; None for forecasts alone.
    """

    scenario: Scenario
    grid: Mapping[str, list[str]]
    measure: tuple[str, ...] = ()
    runs: PointRuns | None = None

    def reader(self) -> tuple[str, Callable[[Callable[[object], None]], Callable[[SweepRequest], SweepAnswer]]]:
        """Return what answers it in the process beside the window."""
        return "sweep", lambda tell: lambda request: answer(request, tell)


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """How far a sweep is: points forecast, or points run, of how many."""

    done: int
    count: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """What a grid gives, as tables and pictures.

    Attributes:
        table: a row per point.
        figures: how each figure moves, by its column of the table; the one to begin with first.
        titles: what each column of a figure is called.
    """

    table: Table
    figures: Mapping[str, Figure]
    titles: Mapping[str, str]


def answer(request: SweepRequest, tell: Callable[[object], None]) -> SweepAnswer:
    """Compute every point of a grid, and run it where that is asked for.

    Args:
        request: the grid.
        tell: takes `SweepProgress`.

    Raises:
        PhexploreError: a combination is no scenario, or a run failed; those before are kept.
    """
    points, count = [], 1
    for values in request.grid.values():
        count *= len(values)
    for number, point in enumerate(sweep_points(request.scenario, request.grid, request.measure), 1):
        points.append(point)
        tell(SweepProgress(number, count, is_running=False))
    found = Sweep(request.scenario, tuple(points))
    if (asked := request.runs) is not None:
        found = _run(found, asked, tell)
    table = found.table()
    columns = table.headers[len(request.grid) :]
    usual = usual_column(columns)
    moved = [column for column in (usual, *columns[2:]) if len(set(table.column(column))) > 1]
    ordered = dict.fromkeys((*moved[:1], usual, *columns))  # what does not move says nothing
    titles = {column: column_title(found, column) for column in ordered}
    return SweepAnswer(stated_table(found), {column: sweep_figure(found, column) for column in ordered}, titles)


def _run(found: Sweep, asked: PointRuns, tell: Callable[[object], None]) -> Sweep:
    one = run_quietly(asked.data, RunSettings(trials=asked.trials, seed=asked.seed))
    done, count = 0, len({point.folder for point in found.points})

    def run(scenario: Scenario, directory: Path, show: Callable[[object], None]) -> dict[str, Any] | None:
        nonlocal done
        tell(SweepProgress(done, count, is_running=True))
        summary = one(scenario, directory, show)
        done += 1
        return summary

    return with_runs(found, asked.directory, run, asked.workers)
