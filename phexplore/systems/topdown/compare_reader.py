"""Several TopDown runs side by side: one figure per run and group, and the differences trial by trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.metrics.topdown.shapes import mean_and_error
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.systems.topdown.folds import ErrorsFold, TrialError
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.run_contents import (
    ALL_SIZES,
    CompareBy,
    CompareContent,
    ComparedFigure,
    ComparedGroup,
    ComparedRun,
    CompareFigure,
    TopDownChoice,
)
from phexplore.systems.topdown.run_options import topdown_options

MOST_RUNS = 6
NOTHING_TO_COMPARE = (
    "Choose the runs to compare with this one at “Compare with…”. Runs with the same seed on the same data draw common random "
    "numbers, so that their difference shows the scenarios."
)

Open = Callable[[Path], TopDownRun]


def compared(directories: Sequence[Path], open_run: Open, choice: TopDownChoice) -> CompareContent:
    """Return the comparison of some runs.

    Args:
        directories: the run looked at first.
        open_run: returns a run with its present trials.
        choice: what is looked at; level, query and size are those of the first run.

    Raises:
        PhexploreError: a run cannot be read.
    """
    runs = [open_run(directory) for directory in directories[:MOST_RUNS]]
    kept = (choice.compare, choice.figure, choice.level, choice.query, choice.size)
    if len(runs) < 2:
        return CompareContent(*kept, (), (), reason=NOTHING_TO_COMPARE)
    groups = [(name, *_cell(choice, name)) for name in _groups(runs[0], choice)]
    folds = [[_fold(run, level, query, size) for run in runs] for _name, level, query, size in groups]
    first = runs[0].spec
    listed = tuple(
        ComparedRun(
            run.directory,
            run.spec,
            max((fold.trials for row in folds if (fold := row[place]) is not None), default=0),
            place > 0 and are_common(first, run.spec),
        )
        for place, run in enumerate(runs)
    )
    rows = tuple(
        ComparedGroup(name, tuple(_figure(fold, row[0], choice.figure) for fold in row))
        for (name, _level, _query, _size), row in zip(groups, folds, strict=True)
    )
    same = all(run.spec.data.sha256 == first.data.sha256 and run.schema.id == runs[0].schema.id for run in runs)
    return CompareContent(*kept, listed, rows, same)


def are_common(one: RunSpec, other: RunSpec) -> bool:
    """Return whether two runs share their noise: the same noisy answers, or seed, data, tree and what is measured agree."""
    mine, theirs = topdown_options(one), topdown_options(other)
    answers = {options.measured_identity or spec.identity for spec, options in ((one, mine), (other, theirs))}
    return len(answers) == 1 or (
        one.seed is not None
        and one.seed == other.seed
        and one.mode is other.mode is RunMode.PRIVATE
        and one.data.sha256 == other.data.sha256
        and (mine.expand, mine.mechanism) == (theirs.expand, theirs.mechanism)
        and one.scenario.topdown.spine == other.scenario.topdown.spine
        and one.scenario.topdown.schema == other.scenario.topdown.schema
        and one.scenario.topdown.framework is other.scenario.topdown.framework
    )


def _groups(run: TopDownRun, choice: TopDownChoice) -> tuple[str, ...]:
    match choice.compare:
        case CompareBy.LEVEL:
            return run.levels
        case CompareBy.QUERY:
            return tuple(query.name for query in run.queries())
        case CompareBy.SIZE:
            return run.sizes(choice.level)


def _cell(choice: TopDownChoice, name: str) -> tuple[str, str, str]:
    """Return level, query and size of a group."""
    match choice.compare:
        case CompareBy.LEVEL:
            return name, choice.query, choice.size
        case CompareBy.QUERY:
            return choice.level, name, choice.size
        case CompareBy.SIZE:
            return choice.level, choice.query, name


def _fold(run: TopDownRun, level: str, query: str, size: str) -> ErrorsFold | None:
    """Return the errors of a run in a group, None where it has no such level, query or size."""
    if level not in run.levels or (size != ALL_SIZES and size not in TENS.labels):
        return None
    try:
        asked = run.query(query)
    except PhexploreError:
        return None  # another schema, which cannot ask this
    return run.errors(level, asked, size)


def _figure(fold: ErrorsFold | None, first: ErrorsFold | None, figure: CompareFigure) -> ComparedFigure | None:
    if fold is None or not fold.figures:
        return None
    values = {index: _value(each, figure) for index, each in fold.figures.items()}
    mean, error = mean_and_error(np.array(list(values.values())))
    numbers = 0 if fold.errors is None else fold.errors.total // len(values)
    if first is None or first is fold or not first.figures:
        return ComparedFigure(mean, error, numbers)
    shared = sorted(set(values) & set(first.figures))
    if not shared or fold.units != first.units:
        return ComparedFigure(mean, error, numbers)
    pairs = np.array([values[index] - _value(first.figures[index], figure) for index in shared])
    return ComparedFigure(mean, error, numbers, *mean_and_error(pairs))


def _value(errors: TrialError, figure: CompareFigure) -> float:
    return {CompareFigure.SIZE: errors.size, CompareFigure.MEAN: errors.mean, CompareFigure.SQUARE: errors.square}[
        figure
    ]
