"""The results of a run, read as far as they are there: complete, cancelled, failed, or still running.

Errors come in three kinds that are never mixed: noise (released − truncated), truncation bias (truncated −
untruncated), and the total against production's non-private count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.accuracy_report import Expectation, Integers, Truth
from phexplore.metrics.numbers import LevelGroup, NumberKeys, Rows, cell_groups, level_groups
from phexplore.model.issues import Issue, Severity
from phexplore.model.keys import PopulationGroupLevel, TableId
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import (
    TRUTH_FILE,
    RunUnreadableError,
    load_spec,
    load_summary,
    present_trials,
    state_of,
    trial_file,
)
from phexplore.systems.phsafe.expectation import expectation_of
from phexplore.systems.phsafe.number_files import NumberFiles, TruthFile, read_truth


@dataclass(frozen=True, slots=True)
class NumberSelection:
    """Which numbers are meant; None leaves a field open.

    Attributes:
        table: table id, derived tables included.
        level: population-group level.
        region_id: ``1`` or two digits of the state.
        iteration_code: ``*``, ``A`` … ``I``.
        cell: data-cell code.
    """

    table: TableId | None = None
    level: PopulationGroupLevel | None = None
    region_id: str | None = None
    iteration_code: str | None = None
    cell: int | None = None


EVERYTHING = NumberSelection()
"""All numbers of a run."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of some numbers in some trials, kinds apart. People, or units where the table counts units.

    Attributes:
        rows: ``intp[numbers]``, places of the numbers in the run's keys.
        trials: zero-based numbers of the trials, one per row of the matrices.
        noise: ``int64[trials, numbers]``, released − truncated.
        bias: ``int64[numbers]``, truncated − untruncated; the same in every trial.
        total: ``int64[trials, numbers]``, released − production's non-private count.
    """

    rows: Rows
    trials: tuple[int, ...]
    noise: Integers
    bias: Integers
    total: Integers


class RunResults:
    """One run directory, read lazily. Trials that appear later are found by `refresh`.

    Attributes:
        directory: of the run.
        spec: what it does.
        problems: parts that could not be read, with the reason; everything else is there.
    """

    def __init__(self, directory: Path, spec: RunSpec) -> None:
        """Use `open`; this reads nothing."""
        self.directory = directory
        self.spec = spec
        self.problems: list[Issue] = []
        self._released: dict[int, Integers] = {}
        self._unreadable: set[int] = set()
        self._present: tuple[int, ...] = ()

    @classmethod
    def open(cls, directory: Path) -> RunResults:
        """Return the results of a run directory.

        Raises:
            RunUnreadableError: the directory holds no run.
            RunSpecError, InputProblemsError: its specification cannot be read or was altered.
        """
        results = cls(directory, load_spec(directory))
        results.refresh()
        return results

    @property
    def state(self) -> RunState:
        """Where the run is in its life, as the disk tells it now."""
        return state_of(self.directory)

    @property
    def trials(self) -> tuple[int, ...]:
        """The readable trials that were there at the last `refresh`, ascending."""
        return tuple(index for index in self._present if index not in self._unreadable)

    def refresh(self) -> tuple[int, ...]:
        """Look for trials written since; return their numbers. What was read stays read."""
        before = set(self._present)
        try:
            self._present = present_trials(self.directory)
        except OSError as error:
            self._name_problem(self.directory.name, f"The directory cannot be read ({error.strerror or error}).")
            self._present = ()
        return tuple(index for index in self._present if index not in before)

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """The content of ``summary.json``; None while the run is not complete, or when it cannot be read."""
        try:
            return load_summary(self.directory)
        except RunUnreadableError as error:
            self._name_problem("summary.json", error.sentence)
            return None

    @cached_property
    def _truth_file(self) -> TruthFile:
        return read_truth(self.directory / TRUTH_FILE)

    @property
    def has_truth(self) -> bool:
        """Whether the exact counts are there and readable; without them no error can be told."""
        try:
            return bool(self._truth_file)
        except RunUnreadableError as error:
            if (self.directory / TRUTH_FILE).exists():
                self._name_problem(TRUTH_FILE, error.sentence)
            return False

    @property
    def keys(self) -> NumberKeys:
        """What each number is.

        Raises:
            RunUnreadableError: the run has not counted yet, or the file cannot be read.
        """
        return self._truth_file.keys

    def truth(self) -> Truth:
        """Return the exact counts behind each number: confidential unless the data is synthetic.

        Raises:
            RunUnreadableError: the run has not counted yet, or the file cannot be read.
        """
        return self._truth_file.truth

    @property
    def truncation(self) -> list[dict[str, Any]]:
        """Households by size and the persons cut, per truncated table; see `metrics.summary.truncation_by_size`."""
        found: list[dict[str, Any]] = self._truth_file.metadata.get("truncation", [])
        return found

    @cached_property
    def expectation(self) -> Expectation:
        """What the parameters promise for each number."""
        return expectation_of(self.spec, self.keys)

    @cached_property
    def level_groups(self) -> tuple[LevelGroup, ...]:
        """The numbers of each table and level."""
        return level_groups(cell_groups(self.keys))

    @cached_property
    def _files(self) -> NumberFiles:
        return NumberFiles(self.keys)

    def rows(self, selection: NumberSelection = EVERYTHING) -> Rows:
        """Return the places of the selected numbers, ascending."""
        keys = self.keys
        chosen = np.ones(len(keys), dtype=np.bool_)
        for column, wanted in (
            (keys.table, selection.table),
            (keys.region_id, selection.region_id),
            (keys.iteration_code, selection.iteration_code),
            (keys.cell, selection.cell),
        ):
            if wanted is not None:
                chosen &= column == wanted
        if selection.level is not None:
            at_level = np.zeros(len(keys), dtype=np.bool_)
            for group in self.level_groups:
                if group.query.level == selection.level:
                    at_level[group.rows] = True
            chosen &= at_level
        return np.flatnonzero(chosen)

    def released(self, trial: int) -> Integers:
        """Return the counts of a trial, ``int64[numbers]``.

        Raises:
            RunUnreadableError: there is no such trial, or its file cannot be read.
        """
        if trial not in self._released:
            counts = self._files.read_counts(self.directory / trial_file(trial))
            counts.flags.writeable = False
            self._released[trial] = counts
        return self._released[trial]

    def released_matrix(self, rows: Rows) -> Integers:
        """Return the counts of some numbers in all readable trials, ``int64[trials, rows]``, rows as in `trials`.

        A trial that cannot be read is left out and named in `problems`.
        """
        found = []
        for index in self.trials:
            try:
                found.append(self.released(index)[rows])
            except RunUnreadableError as error:
                self._unreadable.add(index)
                self._name_problem(trial_file(index), error.sentence)
        return np.stack(found) if found else np.empty((0, len(rows)), np.int64)

    def errors(self, selection: NumberSelection | Rows = EVERYTHING) -> Errors:
        """Return the errors of some numbers in all readable trials.

        Raises:
            RunUnreadableError: the run has not counted yet, or the truth cannot be read.
        """
        rows = self.rows(selection) if isinstance(selection, NumberSelection) else selection
        released, truth = self.released_matrix(rows), self.truth()
        return Errors(
            rows=rows,
            trials=self.trials,
            noise=released - truth.truncated[rows],
            bias=truth.truncated[rows] - truth.untruncated[rows],
            total=released - truth.non_private[rows],
        )

    def noise_columns(self, trial: int) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
        """Return NOISE_DISTRIBUTION and VARIANCE of a trial, ``str[numbers]`` and ``float64[numbers]``.

        Raises:
            RunUnreadableError: there is no such trial, or its file cannot be read.
        """
        return self._files.read_noise(self.directory / trial_file(trial))

    def _name_problem(self, part: str, sentence: str) -> None:
        issue = Issue(
            (str(self.directory), part),
            sentence,
            "Everything else of the run can be read. Resume the run to make this part again.",
            Severity.WARNING,
        )
        if issue not in self.problems:
            self.problems.append(issue)
