"""The part of ``summary.json`` that runs of group sizes have: promises, privacy, errors by level and by size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.metrics.summary import conventions_json, overall_coverage
from phexplore.model.numbers import exact_text
from phexplore.runs.simulation import TrialFigures, Watch, outcome
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.simulate.group_sizes.release import consistency_checks_of
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.group_sizes.run_files import read_sizes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHOWN_SIZES = 20
"""Sizes whose errors are listed one by one; larger ones together."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a run is judged by.

    Attributes:
        spec: what was to be done.
        table: exact counts.
        figures: of every trial.
        paths: of every trial.
        watch: told of progress.
    """

    spec: RunSpec
    table: GroupSizeTable
    figures: Sequence[TrialFigures]
    paths: Sequence[Path]
    watch: Watch


@dataclass(slots=True)
class _LevelTally:
    """Sums over the trials of one level.

    Attributes:
        distances: L1 distance to the exact counts, per trial.
        moved: earth mover's distance: individuals to add or take away within regions, per trial.
        squared: Σ error².
        bias: Σ error.
        largest: |error|.
        by_size: ``float64[N]``, Σ |error| over regions.
        bias_by_size: ``float64[N]``, Σ error.
    """

    by_size: Floats
    bias_by_size: Floats
    distances: list[int] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    squared: float = 0.0
    bias: int = 0
    largest: int = 0

    def add(self, errors: Ints) -> None:
        """Count one trial."""
        absolute = np.abs(errors)
        self.distances.append(int(absolute.sum()))
        self.moved.append(int(np.abs(np.cumsum(errors, axis=1)).sum()))
        self.squared += float((errors.astype(np.float64) ** 2).sum())
        self.bias += int(errors.sum())
        self.largest = max(self.largest, int(absolute.max()))
        self.by_size += absolute.sum(axis=0)
        self.bias_by_size += errors.sum(axis=0)


def group_sizes_summary(run: Evidence) -> dict[str, Any]:
    """Return the summary.

    Raises:
        RunUnreadableError: a trial cannot be read.
        CancelledError: the run is to stop.
    """
    table, exact = run.table, run.table.by_level()
    tallies = [_LevelTally(np.zeros(table.largest), np.zeros(table.largest)) for _ in exact]
    broken, negative, totals = [], 0, 0
    for place, path in enumerate(run.paths):
        run.watch.progress("summary", place + 1, len(run.paths))
        levels = read_sizes(path, table.tree, table.largest)
        promises = consistency_checks_of(levels, table.tree, table.groups)
        broken.append(promises.consistency)
        negative, totals = negative + promises.validity, totals + promises.faithfulness
        for tally, values, truth in zip(tallies, levels, exact, strict=True):
            tally.add(values - truth)
    private = run.spec.mode is RunMode.PRIVATE
    conventions = run.spec.scenario.conventions
    return {
        "checks": {
            **({"budget_spent_equals_declared": True} if private else {}),
            "consistency": outcome(sum(broken)),
            "non_negative": outcome(negative),
            "groups_of_every_level": outcome(totals),
        },
        "failsafe": 0,
        **({"privacy": _privacy(run.spec)} if private else {}),
        "conventions": conventions_json(conventions),
        "data": _data(run),
        "numbers": sum(level.size for level in exact),
        **({"coverage": _coverage(run)} if private else {}),
        "violations": _moments(broken),
        "metrics": [_level_figures(table, number, tally, len(run.paths)) for number, tally in enumerate(tallies)],
    }


def _coverage(run: Evidence) -> dict[str, Any]:
    held = [each.covered for each in run.figures]
    numbers = run.figures[0].numbers if run.figures else 0
    return overall_coverage(held, numbers, float(run.spec.scenario.conventions.confidence))


def _privacy(spec: RunSpec) -> dict[str, Any]:
    """Return what one released trial costs; every further one costs it again."""
    method = spec.scenario.group_sizes
    figures = forecast_group_sizes(method, spec.scenario.conventions)
    return {
        "framework": method.framework.value,
        "budget": exact_text(method.total),
        "neighbours": "unbounded",
        "levels": [
            {
                "level": level.level,
                "budget": exact_text(level.budget),
                "noise": level.noise.noise.name,
                "sigma": level.sigma,
            }
            for level in figures.levels
        ],
        "protected": list(figures.protected),
        "not_protected": list(figures.not_protected),
    }


def _data(run: Evidence) -> dict[str, Any]:
    table, method = run.table, run.spec.scenario.group_sizes
    remarks = list(table.remarks)
    if table.tree.widths != method.regions:
        remarks.append(
            f"The data have {_listed(table.tree.widths)} regions, the parameters name {_listed(method.regions)}; the data's count."
        )
    if table.open_ended:
        remarks.append(f"Size {table.largest:,} stands for {table.largest:,} or more.")
    return {
        "title": table.title,
        "groups": table.groups,
        "individuals": table.individuals,
        "largest": table.largest,
        "levels": [
            {"level": level, "regions": width}
            for level, width in zip(table.tree.levels, table.tree.widths, strict=True)
        ],
        "remarks": remarks,
    }


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(f"{count:,}" for count in counts)


def _level_figures(table: GroupSizeTable, number: int, tally: _LevelTally, trials: int) -> dict[str, Any]:
    regions = table.tree.widths[number]
    cells = regions * table.largest
    shown = min(SHOWN_SIZES, table.largest)
    per_size = [(str(size + 1), slice(size, size + 1)) for size in range(shown)]
    if table.largest > shown:
        per_size.append((f"{shown + 1}+", slice(shown, None)))
    distances = _moments(tally.distances)
    return {
        "level": table.tree.levels[number],
        "regions": regions,
        "trials": trials,
        "l1": distances,
        "mae": distances["mean"] / cells,
        "rmse": math.sqrt(tally.squared / trials / cells),
        "me": tally.bias / trials / cells,
        "largest": tally.largest,
        "individuals_moved": _moments(tally.moved),
        "sizes": [
            {
                "size": name,
                "l1": float(tally.by_size[part].sum() / trials),
                "me": float(tally.bias_by_size[part].sum() / trials),
            }
            for name, part in per_size
        ],
    }


def _moments(values: Sequence[int]) -> dict[str, Any]:
    """Return mean and standard deviation over trials; None where one trial has none."""
    return {
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }
