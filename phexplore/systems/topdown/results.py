"""The figures of a TopDown run for its report, read as far as they are there: complete, cancelled, failed, or still running."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from phexplore.metrics.topdown.distribution import ErrorDistribution
from phexplore.metrics.topdown.worst import WorstBy, WorstUnit
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    MANIFEST_FILE,
    TRUTH_FILE,
    RunUnreadableError,
    load_spec,
    load_summary,
    present_trials,
    state_of,
)
from phexplore.systems.topdown.error_pictures import answer_labels
from phexplore.systems.topdown.folds import ErrorsFold, WorstFold
from phexplore.systems.topdown.open_run import UNCOUNTED, UNCOUNTED_REMEDY, TopDownRun
from phexplore.systems.topdown.run_files import MOST_COLUMNS
from phexplore.systems.topdown.summary import Tally, trial_errors
from phexplore.workload.queries import MarginalQuery, detailed_query, parse_query, total_query
from phexplore.workload.schema import Schema

_MOST_LEVELS = 100
"""Of an attribute whose values tell where units are off: they are kept for every unit of a level."""


class NamedUnit(NamedTuple):
    """A unit that was far off: its level, public code, how far and why, and the reason in words."""

    level: str
    code: str
    worst: WorstUnit
    sentence: str

    @property
    def title(self) -> str:
        """What it is called: five digits alone could be a count, so nothing names them as a county."""
        return _unit_title(self.level, self.code)


class TopDownResults:
    """One run directory; reads nothing until it is asked.

    Attributes:
        directory: of the run.
        spec: what it does.
    """

    def __init__(self, directory: Path, spec: RunSpec) -> None:
        """Use `open`."""
        self.directory = directory
        self.spec = spec

    @classmethod
    def open(cls, directory: Path) -> TopDownResults:
        """Return the results of a run directory.

        Raises:
            RunUnreadableError: it holds no run, or nothing is counted yet.
            RunSpecError, InputProblemsError: its specification cannot be read or was altered.
        """
        spec = load_spec(directory)
        if not (directory / TRUTH_FILE).exists() and (directory / MANIFEST_FILE).exists():
            raise RunUnreadableError(UNCOUNTED, UNCOUNTED_REMEDY)
        if not (directory / TRUTH_FILE).exists():
            raise RunUnreadableError(f"The run in {directory} has not counted yet.", "Wait for it, or resume it.")
        return cls(directory, spec)

    @property
    def state(self) -> RunState:
        """Where the run is in its life, as the disk tells it now."""
        return state_of(self.directory)

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials on disk, ascending."""
        return present_trials(self.directory)

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """The content of ``summary.json``, None while the run is not complete."""
        return load_summary(self.directory)

    @cached_property
    def run(self) -> TopDownRun:
        """The run with its trials, read whole.

        Raises:
            RunUnreadableError: the truth cannot be read.
        """
        run = TopDownRun(self.directory)
        run.patience = math.inf
        run.refresh()
        return run

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """The errors of all trials per level, the root first; none before the first trial.

        Raises:
            RunUnreadableError: a trial cannot be read.
        """
        run, levels = self.run, self.run.design.levels
        found = tuple(map(Tally, levels))
        for index in run.present:
            estimate = run.trial(index)
            for tally, errors in zip(
                found, trial_errors(levels, run.truth, estimate) if estimate else (), strict=False
            ):
                tally.add(errors)
        self.refuse_damage()
        return found if run.present else ()

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """The entries of ``metrics``: of the summary when the run is complete, else of the trials there are."""
        if self.summary is not None:
            return list(self.summary.get("metrics", ()))
        return [entry for tally in self.tallies for entry in tally.entries()]

    @cached_property
    def redistricting(self) -> list[dict[str, Any]]:
        """The redistricting criterion per level; empty where the schema has no groups."""
        if self.summary is not None:
            return list(self.summary.get("redistricting", ()))
        return [entry for tally in self.tallies if (entry := tally.redistricting())]

    def refuse_damage(self) -> None:
        """Refuse a run with a trial that cannot be read: files hold all of it.

        Raises:
            RunUnreadableError: there is one.
        """
        if self.run.problems:
            raise RunUnreadableError(self.run.problems[0], "Resume the run to make this part again.")

    def distributions(self) -> Iterator[tuple[str, str, ErrorDistribution]]:
        """Yield level, query and errors of all trials, of everything that was measured and the totals."""
        for level in self.run.design.levels:
            for query in dict.fromkeys((total_query(self.run.schema), *level.plan.measured)):
                errors = self.run.folded(ErrorsFold, level.name, query).errors
                if errors is not None:
                    yield level.name, query.name, errors

    def worst(self, count: int) -> tuple[NamedUnit, ...]:
        """Return the units of each level below the root whose totals are farthest off, on average over the trials."""
        run = self.run
        query = run.groups or _finest_that_fits(run.schema)
        labels, found = answer_labels(query), []
        for level in run.levels[1:]:
            codes = run.codes(level)
            for worst in run.folded(WorstFold, level, query, WorstBy.TOTAL).tally.units(count):
                code = str(codes[worst.unit])
                found.append(NamedUnit(level, code, worst, worst.sentence(_unit_title(level, code), labels, run.unit)))
        return tuple(found)


def _unit_title(level: str, code: str) -> str:
    return f"County {code}" if level == "County" and len(code) == 5 else code


def _finest_that_fits(schema: Schema) -> MarginalQuery:
    """Return the query whose answers name what was off: all cells, or where they are very many types of facility or one attribute."""
    if schema.cells <= MOST_COLUMNS:
        return detailed_query(schema)
    if schema.facility_bounds is not None:
        return parse_query(schema, schema.facility_bounds.query)
    few = [attribute for attribute in schema.attributes if attribute.levels <= _MOST_LEVELS]
    return parse_query(schema, max(few or schema.attributes, key=lambda attribute: attribute.levels).name)
