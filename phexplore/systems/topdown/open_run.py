"""A TopDown run opened for reading: what was counted, and its trials at every level, folded into what pictures need."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import layout_of
from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.noise.distributions import Noise
from phexplore.published.door import read_population
from phexplore.runs.run_files import read_mark
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError, load_spec, load_summary, present_trials, trial_file
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.spine.settings import settings_of
from phexplore.spine.tree import GeoTree, tree_of
from phexplore.systems.topdown.area_names import names_in
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.measured_units import MeasuredUnits
from phexplore.systems.topdown.measurements import measuring_run
from phexplore.systems.topdown.reported_levels import reported_design, reported_levels
from phexplore.systems.topdown.run_files import LeafFiles, StateFiles, open_leaf_files, schema_of, states_of
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.summary import answers, criterion_query
from phexplore.systems.topdown.wording import counted
from phexplore.workload.queries import MarginalQuery, catalogue, parse_query, total_query
from phexplore.workload.schema import Schema

Integers = NDArray[np.int64]
Levels = tuple[Histograms, ...]

if TYPE_CHECKING:
    from phexplore.simulate.topdown.design import Design

_make_design = lazy("phexplore.simulate.topdown.design", "make_design")  # it needs the compiler

SLICE_SECONDS = 0.8
"""A picture is drawn again after so much reading, with the trials that are in it."""
MOST_CACHED = 1 << 30
"""Bytes of histograms that are kept beside what was folded; trials beyond are read again for another picture."""
MOST_FOLDED = 1 << 29

UNCOUNTED = "The run estimates from published noisy measurements. The true counts are not known, so it has no errors."
UNCOUNTED_REMEDY = (
    "In the window, Tables and One place show the estimates; `phexplore published tables` writes them. To compare them with counts, "
    "start a run with the counts of the same blocks as data and with these measurements."
)
NOT_KEPT = (
    "The noisy answers of this run were not kept. Choose to keep the noisy answers of the trials in the form of a new run, and every measurement on "
    "the way from the root to a place is shown here beside the true and the published count."
)


class Fold(ABC):
    """Something that grows with every trial.

    Attributes:
        seen: the trials in it.
        bytes: about how much memory it takes.
    """

    def __init__(self, size: int = 0) -> None:
        self.seen: set[int] = set()
        self.bytes = size

    @property
    def trials(self) -> int:
        """How many trials are in it."""
        return len(self.seen)

    def add(self, index: int, levels: Levels) -> None:
        """Take a trial.

        Args:
            index: of the trial.
            levels: its histograms, the widest level first.
        """
        self._take(levels, index)
        self.seen.add(index)

    @abstractmethod
    def _take(self, levels: Levels, _index: int, /) -> None:
        """Add what is needed of a trial."""


F = TypeVar("F", bound=Fold)


@dataclass(frozen=True, slots=True, eq=False)
class Areas:
    """Areas of one class, which need not follow the tree.

    Attributes:
        codes: ``U[areas]``, ascending.
        of_leaf: ``int64[leaves]``, the number of each leaf's area, -1 in none.
    """

    codes: NDArray[np.str_]
    of_leaf: Integers

    def leaves(self, code: str) -> Integers:
        """Return the numbers of the leaves in an area, ``int64[leaves]``."""
        return np.flatnonzero(self.of_leaf == np.flatnonzero(self.codes == code)[0])

    def sums(self, leaves: Integers) -> Integers:
        """Return ``leaves[leaves, columns]`` added up, ``int64[areas, columns]``."""
        inside = self.of_leaf >= 0
        found = np.zeros((len(self.codes), leaves.shape[1]), np.int64)
        np.add.at(found, self.of_leaf[inside], leaves[inside])
        return found


class TrialCache:
    """Histograms of the trials looked at last, of all runs together; it forgets the oldest ones."""

    def __init__(self) -> None:
        self._bytes = 0
        self._held: OrderedDict[tuple[Path, int], Levels] = OrderedDict()

    def get(self, directory: Path, index: int) -> Levels | None:
        """Return a trial, None when it has to be read.

        Args:
            directory: of its run.
            index: of the trial.
        """
        found = self._held.get((directory, index))
        if found is not None:
            self._held.move_to_end((directory, index))
        return found

    def put(self, directory: Path, index: int, levels: Levels) -> None:
        """Keep a trial.

        Args:
            directory: of its run.
            index: of the trial.
            levels: its histograms.
        """
        before = self._held.pop((directory, index), None)
        self._held[directory, index] = levels
        self._bytes += _bytes_of(levels) - (0 if before is None else _bytes_of(before))
        while self._bytes > MOST_CACHED and len(self._held) > 1:
            self._bytes -= _bytes_of(self._held.popitem(last=False)[1])


def _bytes_of(levels: Levels) -> int:
    return sum(each.starts.nbytes + each.cells.nbytes + each.counts.nbytes for each in levels)


class TopDownRun:
    """One run directory, read lazily.

    Attributes:
        directory: of the run.
        spec: what it does.
        states: codes of the states of a run that was estimated by state, each with files of its own; none of another run.
        state: the only one that is looked at, "" for all.
        schema: of its data.
        files: reader of its histograms.
        tree: the units of every level.
        is_counted: whether the true counts are known; a run on published noisy measurements alone has only estimates.
        groups: the query whose answers are the groups of redistricting, None where the schema has none.
        metadata: what the files of the trials that were read say of themselves.
        problems: sentences about trials that cannot be read.
        present: the other trials.
        waiting: how many of them the newest pictures lack.
        patience: seconds of reading after which a picture is drawn with the trials that are in it.
        unit: what is counted, e.g. "people".
    """

    def __init__(self, directory: Path, cache: TrialCache | None = None, state: str = "") -> None:
        """Open a run whose data are counted.

        Args:
            directory: of the run.
            cache: of the trials of several runs.
            state: of a run that was estimated by state, the only one that is looked at; "" for all of them.

        Raises:
            RunUnreadableError: the exact counts or estimates do not exist yet, or cannot be read.
        """
        self.directory = directory
        self.spec: RunSpec = load_spec(directory)
        path = directory / TRUTH_FILE
        self.is_counted = path.exists() or not (estimated := present_trials(directory))
        if not self.is_counted:
            path = directory / trial_file(estimated[0])
        self.schema: Schema = schema_of(path)
        self.states = states_of(path)
        self.state = state if state in self.states else ""
        self.files: LeafFiles | StateFiles = open_leaf_files(path, self.schema, (self.state,) if self.state else ())
        leaves = self.files.read(path)
        layout = layout_of(self.schema)
        geocodes = layout.geocodes(self.files.geoids)
        levels = reported_levels(self.spec.scenario.topdown.levels, layout)
        self.tree: GeoTree = tree_of(geocodes, levels, layout)
        self._first: Levels = sums_up(leaves, self.tree, self.schema.cells)
        self.groups = criterion_query(self.schema)
        self.metadata: dict[int, dict[str, object]] = {}
        self.problems: list[str] = []
        self.present: tuple[int, ...] = ()
        self.waiting = 0
        self.patience: float = SLICE_SECONDS
        self._cache = cache or TrialCache()
        self._broken: set[int] = set()
        self._folds: OrderedDict[Hashable, Fold] = OrderedDict()
        self.unit = counted(self.spec.scenario.topdown.schema)
        self._summary: dict[str, Any] | None = None

    @property
    def summary(self) -> dict[str, Any] | None:
        """The content of ``summary.json``, checked once when it is there; None while the run is not complete."""
        if self._summary is None:
            self._summary = load_summary(self.directory)
        return self._summary

    @property
    def truth(self) -> Levels:
        """Exact histograms of every level, the widest first.

        Raises:
            RunUnreadableError: the run has only estimates.
        """
        if not self.is_counted:
            raise RunUnreadableError(UNCOUNTED, UNCOUNTED_REMEDY)
        return self._first

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels of the tree, widest first."""
        return tuple(level.name for level in self.tree.levels)

    @cached_property
    def design(self) -> Design:
        """What is measured at every level, in the schema of the data. Bounds are left out: nothing is estimated here."""
        method = self.spec.scenario.topdown

        def noise(budget: Fraction) -> Noise:
            return noise_of(method.framework, budget)[0]

        names = [level for level in method.levels if level not in self.tree.dropped]
        design: Design = _make_design(method, self.schema, names, noise, has_facilities=False)
        return reported_design(design, self.levels) if design.has_outer_passes else design

    @cached_property
    def areas(self) -> Mapping[str, Areas]:
        """The areas of the leaves by class (towns, places, districts); empty without the run's own block data."""
        try:
            self.spec.data.verify()
            population = read_population(self.spec.data.place)
        except (PhexploreError, OSError):
            return {}
        if not np.array_equal(population.geoids, self.files.geoids):
            return {}
        found: dict[str, Areas] = {}
        for name, codes in population.places.items():
            names, numbers = np.unique(codes, return_inverse=True)
            if len(names) > 1 or names[0]:
                none = int(names[0] == "")
                found[name] = Areas(names[none:], np.where(codes == "", -1, numbers - none))
        return found

    @cached_property
    def area_names(self) -> Mapping[str, str]:
        """Names of areas by code, as far as the run's own block data give them."""
        return names_in(self.spec.data.place) if self.areas else {}

    def refresh(self) -> None:
        """Look which trials there are."""
        self.present = tuple(index for index in present_trials(self.directory) if index not in self._broken)

    def trial(self, index: int) -> Levels | None:
        """Return a trial at every level; None where it cannot be read, and why among the problems."""
        if index in self._broken:
            return None
        found = self._cache.get(self.directory / self.state, index)
        if found is not None and index in self.metadata:
            return found
        path = self.directory / trial_file(index)
        try:
            leaves = self.files.read(path)
            self.metadata[index] = read_mark(path)
        except RunUnreadableError as error:
            self._broken.add(index)
            self.present = tuple(each for each in self.present if each != index)
            if error.sentence not in self.problems:
                self.problems.append(error.sentence)
            return None
        levels = sums_up(leaves, self.tree, self.schema.cells)
        self._cache.put(self.directory / self.state, index, levels)
        return levels

    def first_trials(self, count: int) -> tuple[int, ...]:
        """Return the first trials that can be read."""
        return tuple(index for index in self.present[:count] if self.trial(index) is not None)

    def folded(self, kind: Callable[..., F], *choice: Hashable) -> F:
        """Return a fold with as many trials as a slice of time allows; `waiting` says how many it lacks.

        Args:
            kind: makes it without trials from the run and the choice.
            choice: what is folded: the same kind and choice are the same fold.
        """
        fold = self._folds.get((kind, *choice))
        if fold is None:
            fold = self._folds[kind, *choice] = kind(self, *choice)
            self._forget()
        self._folds.move_to_end((kind, *choice))
        missing = [index for index in self.present if index not in fold.seen]
        end = time.monotonic() + self.patience
        for done, index in enumerate(missing):
            if done and time.monotonic() > end:
                self.waiting = max(self.waiting, len(missing) - done)
                break
            if (levels := self.trial(index)) is not None:
                fold.add(index, levels)
        return fold  # type: ignore[return-value]  # the key names the kind

    def _forget(self) -> None:
        while sum(fold.bytes for fold in self._folds.values()) > MOST_FOLDED and len(self._folds) > 1:
            self._folds.popitem(last=False)

    @cached_property
    def measured(self) -> MeasuredUnits | str:
        """The units whose noisy answers were kept, or why there are none."""
        return measured_units(self)

    def place(self, level: str) -> int:
        """Return the number of a level."""
        return self.levels.index(level)

    @cached_property
    def queries(self) -> tuple[MarginalQuery, ...]:
        """The query groups worth looking at: the total, what was measured, and the groups of redistricting."""
        found = [total_query(self.schema), *catalogue(self.schema)]
        if self.groups is not None:
            found.append(self.groups)
        return tuple(sorted(dict.fromkeys(found), key=lambda query: query.answers))

    def query(self, name: str) -> MarginalQuery:
        """Return a query group of the run's schema."""
        return parse_query(self.schema, name)

    def exact(self, level: str, query: MarginalQuery) -> Integers:
        """Return the true answers, ``int64[units, answers]``.

        Args:
            level: of the tree.
            query: of the run's schema.
        """
        return answers(self.truth[self.place(level)], query)

    def people(self, level: str) -> Integers:
        """Return the population of each unit, ``int64[units]``: true where it is known, else estimated in the first trial."""
        return self._first[self.place(level)].totals()

    def codes(self, level: str) -> NDArray[np.str_]:
        """Return the codes of the units, ``str[units]``; blocks have their public ones."""
        place = self.place(level)
        codes = self.tree.levels[place].codes
        if place == len(self.levels) - 1 and len(codes) == len(self.files.geoids):
            return self.files.geoids
        return codes

    def sizes(self, level: str) -> tuple[str, ...]:
        """Return the labels of the classes of population that have units."""
        return tuple(TENS.labels[place] for place in np.unique(TENS.class_of(self.people(level))).tolist())


def numbers_of(run: TopDownRun, level: str, query: MarginalQuery) -> int:
    """Return how many numbers a query of the run's schema has at a level of its tree."""
    return len(run.codes(level)) * query.answers


def written_sigma(noise: Noise | None) -> float | None:
    """Return σ as production writes it, None of no noise."""
    return None if noise is None else noise.reported_variance() ** 0.5


def measured_noise(run: TopDownRun, level: str, query: MarginalQuery) -> Noise | None:
    """Return the noise of one answer of a query as the run measures it at a level, None where it does not.

    Data of a smaller schema are asked the images of the scenario's queries, with the budgets of all that have the same image.

    Args:
        run: the one looked at.
        level: of its tree.
        query: of its schema.
    """
    method, is_baseline = run.spec.scenario.topdown, topdown_options(run.spec).mechanism is Mechanism.BLOCK_BY_BLOCK
    is_measured = level in method.levels and (level == run.levels[-1] or not is_baseline)
    if run.spec.mode is not RunMode.PRIVATE or not is_measured:
        return None
    design = next(each for each in run.design.levels if each.name == level)
    if query not in design.measured:
        return None
    place, measuring = design.measured.index(query), design.measuring
    noise = measuring.noises[place]
    if noise is None or not is_baseline:
        return noise
    return noise_of(method.framework, measuring.budgets[place] * method.total / measuring.spent)[0]


def tabulated_noise(run: TopDownRun, level: str, query: MarginalQuery) -> Noise | None:
    """Return the noise of one answer for the tabulated units of a level, None also where the spine measures others in their place.

    Args:
        run: the one looked at.
        level: of its tree.
        query: of its schema.
    """
    is_shaped = level == "Block_Group" and settings_of(run.spec.scenario.topdown.spine).shapes_block_groups
    return None if is_shaped else measured_noise(run, level, query)


def measured_units(run: TopDownRun) -> MeasuredUnits | str:
    """Return the units whose noisy answers a run kept or post-processes, or why there are none."""
    options = topdown_options(run.spec)
    if not (options.keep_measurements or options.measurements):
        return NOT_KEPT
    directory = run.directory
    if options.measurements:
        directory = measuring_run(run.directory, options.measurements, options.measured_identity)
    try:
        return MeasuredUnits(directory)
    except RunUnreadableError as error:
        return error.full
