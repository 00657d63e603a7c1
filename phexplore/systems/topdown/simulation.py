"""The TopDown run: read and add up once, then measure and estimate every trial from the same exact counts."""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from phexplore.accounting.composition import confirm_spent
from phexplore.data.blocks.population import BlockPopulation
from phexplore.model.topdown import TopDown
from phexplore.noise.distributions import Noise
from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.runs.cluster import Cluster
from phexplore.runs.events import INSIDE
from phexplore.runs.place import HERE, Place
from phexplore.runs.run_files import read_mark, read_trial_figures
from phexplore.runs.simulation import PreparedSimulation, TrialFigures, Watch
from phexplore.runs.spec import RunMode, RunSpec, RunSpecError
from phexplore.runs.store import FACILITIES_FILE, SPEC_FILE, TRUTH_FILE, present_trials, trial_file
from phexplore.runs.writing import writing
from phexplore.simulate.topdown.baseline import leaves_alone
from phexplore.simulate.topdown.design import Design, make_design
from phexplore.simulate.topdown.driver import (
    Descent,
    Mapper,
    Threads,
    TrialRecord,
    World,
    descend,
    in_order,
    make_world,
    spare_cores,
)
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms, histograms_of, sums_up
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, MeasurementSource, TrialKey, secret_key
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.simulate.topdown.pooling import lowest_pooled, pool, weight_of_leaves
from phexplore.simulate.topdown.run_checks import spent_on_noise, trial_checks
from phexplore.spine.tree import GeoTree, tree_of
from phexplore.systems.topdown.area_levels import NO_AREAS, AreaLevels, area_levels
from phexplore.systems.topdown.facilities import write_facilities
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.measured_units import write_units
from phexplore.systems.topdown.measurements import (
    KeptMeasurements,
    MeasurementWriter,
    check_kept,
    confirm_kept,
    measurement_file,
    measuring_run,
)
from phexplore.systems.topdown.outer_noise import announced_size, publish_outer_answers
from phexplore.systems.topdown.outer_run import (
    OuterRun,
    OuterTrial,
    confirm_options,
    outer_remarks,
    outer_run,
    outer_summary,
)
from phexplore.systems.topdown.published_noise import PublishedNoise
from phexplore.systems.topdown.published_writing import publish_answers, published_directory
from phexplore.systems.topdown.release import as_population, trial_directory, write_trial_release
from phexplore.systems.topdown.reported_levels import reported_design, reported_levels
from phexplore.systems.topdown.run_data import Input, check_input, read_input
from phexplore.systems.topdown.run_files import LeafFiles, read_units
from phexplore.systems.topdown.run_margins import margins_by_level, pooled_remark
from phexplore.systems.topdown.run_options import (
    KeptAnswers,
    Mechanism,
    PoolLeaves,
    RounderTarget,
    TopDownOptions,
    topdown_options,
)
from phexplore.systems.topdown.stop_metric import WatchedFigure, parse_watched
from phexplore.systems.topdown.streaming import StreamedSimulation, is_streamed
from phexplore.systems.topdown.summary import Levels, Tally, tallied, topdown_summary, trial_errors
from phexplore.workload.schema import load_schema


def make_simulation(spec: RunSpec, directory: Path, place: Place = HERE) -> TopDownSimulation | StreamedSimulation:
    """Return the simulation of a specification, estimated on this machine or on a cluster, as a whole or state by state.

    Args:
        spec: what the run does.
        directory: of the run.
        place: this machine, or the cluster that estimates.

    Raises:
        RunSpecError: the mode is one TopDown does not have.
    """
    if spec.mode is RunMode.NON_PRIVATE:
        raise RunSpecError(
            "TopDown has no non-private mode: its exact counts are the data themselves.",
            "Leave out --non-private; --no-noise estimates from exact measurements.",
        )
    if is_streamed(spec, directory, place):
        return StreamedSimulation(spec, directory, place)
    return TopDownSimulation(spec, directory, place)


_SPENT_ELSEWHERE = "The noise was drawn and published elsewhere: estimating from it spends nothing."
_NOT_COUNTED = "Estimated from published noisy measurements. The true counts are not known, so there are no errors: give --data to compare."


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What all trials share.

    Attributes:
        population: exact counts.
        full: the same at every level, with bounds.
        world: what is estimated: `full`, or the leaves alone.
        files: of the run.
        margins: per level and measured query, the scenario's margin, people.
        lowest: number of the lowest level whose answers are pooled, -1 where none are.
        published: noise that was drawn elsewhere, None where this run draws it or another one kept it.
        is_counted: whether the true counts are known.
        watched: the figure of the stop rule, None for the coverage.
        outer: how a scenario with outer passes is estimated, None for all others.
        areas: towns, places and districts whose errors are reported beside those of the levels.
    """

    population: BlockPopulation
    full: World
    world: World
    files: LeafFiles
    margins: tuple[tuple[int, ...], ...]
    lowest: int
    watched: WatchedFigure | None
    published: PublishedNoise | None = None
    is_counted: bool = True
    outer: OuterRun | None = None
    areas: AreaLevels = NO_AREAS


_STEPS = 1_000
"""Of the bar for the work of a level with one unit."""


class _Work:
    """How far all trials of a run are; pooled units are estimated twice.

    The fewer units a level has, the longer each of them takes, so a level counts by the square root of their number: by their
    number, a bar stood at 0 % until the blocks, and announced forty minutes of one.
    """

    def __init__(self, prepared: Prepared, directory: Path, trials: int, options: TopDownOptions) -> None:
        levels = prepared.world.tree.levels
        self._whole = sum(math.sqrt(level.units) for level in levels) * (2 if options.is_pooled else 1)
        self._earlier = len(present_trials(directory))
        self._trials = trials
        self._levels: dict[tuple[int, str], float] = {}
        self._by_trial = defaultdict[int, float](float)
        self._lock = threading.Lock()

    def moved(self, index: int, level: str, done: int, units: int) -> tuple[int, int]:
        """Return the work that is done and that of the whole run, after so many of the units of a trial's level are done."""
        with self._lock:
            reached = done / math.sqrt(units)
            self._by_trial[index] += reached - self._levels.get((index, level), 0.0)
            self._levels[index, level] = reached
            here = sum(min(each, self._whole) for each in self._by_trial.values())
        whole = self._whole * self._trials
        return round(_STEPS * min(self._earlier * self._whole + here, whole)), round(_STEPS * whole)


class TopDownSimulation(PreparedSimulation[Prepared]):
    """TopDown with noise or from exact measurements."""

    exact_label = "Exact measurements, not protected."

    def __init__(self, spec: RunSpec, directory: Path, place: Place = HERE) -> None:
        super().__init__(spec, directory, place)
        self._watch: Watch | None = None
        self._work: _Work | None = None
        self._lock = threading.Lock()
        self._seconds: dict[str, float] = {}
        self._tallies: dict[int, tuple[Tally, ...]] = {}
        self._released: set[int] = set()
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="truth")
        self._truth: Future[None] | None = None
        self._cluster: Cluster | None = None

    @property
    def options(self) -> TopDownOptions:
        """What is asked beyond the scenario."""
        return topdown_options(self._spec)

    @property
    def label(self) -> str:
        """What the trials are and what they are not fit for."""
        options = self.options
        is_published = bool(options.measurements and options.measured_content and not options.measured_identity)
        return _SPENT_ELSEWHERE if is_published else super().label

    @cached_property
    def _measured(self) -> Path:
        return measuring_run(self._directory, self.options.measurements, self.options.measured_identity)

    def prepare(self, watch: Watch) -> None:
        """Read, add up the tree, and write the exact counts; see `Simulation.prepare`."""
        spec, method = self._spec, self._spec.scenario.topdown
        self._watch = watch
        path = spec.data.place
        if self._place.scheduler:
            with watch.phase("connect"):
                self._cluster = Cluster(self._place.scheduler, watch, self._place.tls)
            watch.checkpoint()
        if self.options.measurements:
            confirm_kept(self._measured, self.options.measured_content)
        with watch.phase("read"):
            published, given = self._read_data()
            is_counted = published is None or given.remarks[-1:] != (_NOT_COUNTED,)
        watch.checkpoint()
        with watch.phase("prepare"):
            population = given.population
            levels = reported_levels(method.levels, population.layout)
            tree = tree_of(population.geocodes(), levels, population.layout)

            def noise(budget: Fraction) -> Noise:
                return noise_of(method.framework, budget)[0]

            design = _reported(method, population, tree, noise)
            if design.has_outer_passes:
                confirm_options(self.options, on_cluster=self._cluster is not None)
            if is_counted:
                check_input(path, population, design)
            full = make_world(design, tree, population)
            world, spine_remarks = self._estimated(full, population, noise, published)
            files = LeafFiles(population.schema, population.geoids)
            self._truth = self._beside.submit(self._write_exact, files, population, watch, is_counted=is_counted)
            kept_remarks = _units_kept(spec, self._directory, world, files)
            watched = None
            if spec.stop is not None and spec.stop.figure:
                watched = parse_watched(spec.stop.figure, full)
            margins = margins_by_level(spec.scenario.conventions, world.design)
            lowest, remarks = -1, (*given.remarks, *world.design.remarks, *spine_remarks, *kept_remarks)
            if self.options.is_pooled:
                asked = {PoolLeaves.AUTO: None, PoolLeaves.YES: True, PoolLeaves.NO: False}[self.options.pool_leaves]
                lowest = lowest_pooled(world, pools_leaves=asked)
                remarks = (*remarks, pooled_remark(world.design, lowest, weight_of_leaves(world)))
            outer = outer_run(spec, population, world, published) if design.has_outer_passes else None
            remarks = remarks if outer is None else (*remarks, *outer_remarks(spec, outer))
            self._shared = Prepared(
                population,
                full,
                world,
                files,
                margins,
                lowest,
                watched,
                published,
                is_counted,
                outer,
                NO_AREAS if outer is None else area_levels(population, full.design),
            )
        for text in dict.fromkeys((*remarks, self.label)):
            watch.note(text)

    def _estimated(
        self,
        full: World,
        population: BlockPopulation,
        noise: Callable[[Fraction], Noise],
        published: PublishedNoise | None,
    ) -> tuple[World, tuple[str, ...]]:
        """Return what is estimated, and what was assumed of its spine and noise."""
        method = self._spec.scenario.topdown
        if published is not None:
            return published.world(population)
        if self.options.mechanism is Mechanism.BLOCK_BY_BLOCK:
            return leaves_alone(full, method.total, noise), ()
        return world_on_spine(full, method, population, noise)

    def _read_data(self) -> tuple[PublishedNoise | None, Input]:
        """Return published noise where it is read, and the data: the true counts, or what published noise says of the blocks."""
        path, method = self._spec.data.place, self._spec.scenario.topdown
        if not self.options.measurements or (self._measured / SPEC_FILE).exists():
            return None, read_input(path, method, self.options)
        published = PublishedNoise(self._measured, method)
        if not path.samefile(self._measured):
            return published, read_input(path, method, self.options)
        population = published.population()
        return published, Input(population, (*population.remarks, _NOT_COUNTED))

    def _write_exact(self, files: LeafFiles, population: BlockPopulation, watch: Watch, *, is_counted: bool) -> None:
        if population.facilities is not None:
            with writing(self._directory / FACILITIES_FILE) as part:
                write_facilities(part, population.geoids, population.facilities, self._spec.provenance)
        if not is_counted:
            return
        mark = self._spec.data.provenance.mark_of_counts() | {"provenance": self._spec.provenance.json()}
        with writing(self._directory / TRUTH_FILE) as part:
            files.write(part, histograms_of(population), mark, watch.checkpoint)
        if population.facilities is not None:
            with writing(self._directory / FACILITIES_FILE) as part:
                write_facilities(part, population.geoids, population.facilities, self._spec.provenance)

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Measure and estimate one trial; see `Simulation.write_trial`.

        Args:
            index: number of the trial.
            path: file.
        """
        shared = self.prepared
        trial = None if shared.outer is None else self._outer_trial(shared.outer, index)
        descent = self.descend(index) if trial is None else trial.found.descent
        leaves = in_code_order(shared.world.tree, descent.leaves)
        levels = sums_up(leaves, shared.full.tree, shared.full.design.schema.cells)
        watched = None
        if shared.watched is not None:
            watched = shared.watched.value(shared.full, levels[shared.watched.level])
        figures = TrialFigures(descent.record.within, descent.record.numbers, watched)
        if trial is not None and shared.outer is not None and self.options.keep_measurements:
            publish_outer_answers(
                (published_directory(self._directory, index), self.mark),
                shared.outer.outer,
                trial.kept,
                shared.files.geoids,
                self._spec.scenario.topdown,
                trial.key,
                is_exact=self._spec.mode is RunMode.NO_NOISE,
                on_progress=(lambda *_: None) if self._watch is None else self._watch.progress,
            )
        elif self.options.keep_measurements is KeptAnswers.PUBLISHED:
            publish_answers(self._directory, index, shared.world, shared.files.geoids, self.mark)
        checked = _checked(shared, descent, trial)
        units = None if shared.outer is None or trial is None else shared.outer.units(trial)
        if self._truth is not None:
            self._truth.result()
        with ThreadPoolExecutor(1, thread_name_prefix="errors") as beside:
            folded = beside.submit(self._tallied, levels)
            shared.files.write(
                path,
                leaves,
                {
                    **self.mark,
                    "covered": figures.covered,
                    "numbers": figures.numbers,
                    "watched": figures.watched,
                    **checked,
                    "failsafe": descent.record.failed,
                    "relaxed": descent.record.relaxed,
                    "unfinished": descent.record.unfinished,
                    "families": descent.record.families,
                },
                self._checkpoint,
                units,
            )
            tallies = folded.result()
        self._release(index, leaves, units)
        with self._lock:
            self._tallies[index] = tallies
            for name, seconds in descent.record.seconds.items():
                self._seconds[name] = self._seconds.get(name, 0.0) + seconds
        return figures

    def _checkpoint(self) -> None:
        if self._watch is not None:
            self._watch.checkpoint()

    def _tallied(self, levels: Levels) -> tuple[Tally, ...]:
        """Return the errors of one trial, given its histograms at every level of the tabulation."""
        full, areas = self.prepared.full, self.prepared.areas
        designs = (*full.design.levels, *areas.designs)
        return tallied(designs, trial_errors(designs, (*full.truth, *areas.truth), (*levels, *areas.of(levels[-1]))))

    def _release(self, index: int, leaves: Histograms, units: Histograms | None = None) -> None:
        """Write microdata and tables of a trial where they are wanted."""
        if not self.options.microdata:
            return
        began = time.perf_counter()
        shown = as_population(self.prepared.population, leaves, units)
        write_trial_release(trial_directory(self._directory, index), self._spec, shown, index)
        with self._lock:
            self._released.add(index)
            self._seconds["microdata"] = self._seconds.get("microdata", 0.0) + time.perf_counter() - began

    def descend(self, index: int) -> Descent:
        """Return the estimates of one trial at every level."""
        shared = self.prepared
        target = Target.WHOLE if self.options.target is RounderTarget.WHOLE else Target.FRACTION
        keep, pooled = bool(self.options.keep_measurements), self.options.is_pooled
        stated = {"framework": self._spec.scenario.topdown.framework.value, **self.mark}
        sources: Sequence[MeasurementSource] = self._sources(index)
        elsewhere, on_progress = self._cluster is not None, self._progress(index)
        on_answers = MeasurementWriter(self._directory, index, shared.world, stated) if keep else None
        record = TrialRecord()
        with self._mapper() as mapper:
            if pooled:
                sources = pool(
                    shared.world,
                    sources,
                    record,
                    lowest=shared.lowest,
                    mapper=mapper,
                    elsewhere=elsewhere,
                    on_progress=on_progress,
                    on_answers=on_answers,
                )
            return descend(
                shared.world,
                sources,
                Estimation(rounder=RounderOptions(target=target), keep=keep, pooled=pooled),
                record=record,
                mapper=mapper,
                elsewhere=elsewhere,
                on_progress=on_progress,
                on_answers=on_answers,
            )

    def _outer_trial(self, outer: OuterRun, index: int) -> OuterTrial:
        with self._mapper() as mapper:
            return outer.trial(
                TrialKey(self._spec.seed, index),
                exact=self._spec.mode is RunMode.NO_NOISE,
                margins=self.prepared.margins,
                rounder=RounderOptions(Target.WHOLE if self.options.target is RounderTarget.WHOLE else Target.FRACTION),
                mapper=mapper,
                on_progress=self._progress(index),
            )

    def _sources(self, index: int) -> list[MeasurementSource]:
        if self.prepared.published is not None:
            return list(self.prepared.published.sources())
        if self.options.measurements:
            place = self._measured
            world, framework = self.prepared.world, self._spec.scenario.topdown.framework
            check_kept(place, index, world.design, world.tree, framework.value)
            return [
                KeptMeasurements(measurement_file(place, index, level.name), units.units)
                for level, units in zip(world.design.levels, world.tree.levels, strict=True)
            ]
        exact = self._spec.mode is RunMode.NO_NOISE
        # What is drawn twice has to come out the same: noise of the operating system gets a key, which nobody keeps.
        is_keyed = self._spec.seed is None and self.prepared.lowest == len(self.prepared.world.design.levels) - 1
        key = secret_key(index) if is_keyed else TrialKey(self._spec.seed, index)
        return [DrawnMeasurements(Draw(key, exact, margins)) for margins in self.prepared.margins]

    def _mapper(self) -> AbstractContextManager[Mapper]:
        """Return what works on several families at once: the cluster, or the cores that trials leave over."""
        if self._cluster is not None:
            return nullcontext(self._cluster)
        threads = max(self._spec.workers, spare_cores()) // min(self._spec.workers, self._spec.trials)
        return Threads(threads) if threads > 1 else nullcontext(in_order)

    def _progress(self, index: int) -> Callable[[str, int, int], None] | None:
        watch = self._watch
        if watch is None:
            return None
        with self._lock:
            work = self._work = self._work or _Work(self.prepared, self._directory, self._spec.trials, self.options)

        def report(level: str, done: int, total: int) -> None:
            watch.progress(INSIDE, *work.moved(index, level, done, total))

        return report

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its counts checked; see `Simulation.read_figures`."""
        self.prepared.files.read(path)
        return read_trial_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write microdata and tables where they are wanted, and sum up; see `Simulation.finish`.

        Args:
            trials: numbers of the trials.
            watch: hears of progress and stops.
        """
        shared, design = self.prepared, self.prepared.world.design
        if self._cluster is not None:
            self._cluster.close()
        if self._truth is not None:
            self._truth.result()
        if shared.published is None:
            confirm_spent(self._spec.scenario.topdown.total, [spent_on_noise(design), design.unspent])
        tallies = tuple(map(Tally, (*shared.full.design.levels, *shared.areas.designs)))
        for place, index in enumerate(trials):
            watch.progress("summary", place, len(trials))
            for tally, later in zip(tallies, self._errors_of(index), strict=True):
                tally.extend(later)
        for index in self._released - set(trials):
            shutil.rmtree(trial_directory(self._directory, index))
        for name, seconds in self._seconds.items():
            watch.phase_done(name, seconds)
        watch.progress("summary", len(trials), len(trials))
        marks = [read_mark(path) for path in self.paths(trials)]
        summary = topdown_summary(self._spec, design, tallies, marks, is_counted=shared.is_counted)
        if shared.outer is None:
            return summary
        told = {**summary, "data": {"remarks": list(shared.population.remarks)}}
        return {**told, **outer_summary(shared.outer, self._spec, marks, summary)}

    def _errors_of(self, index: int) -> tuple[Tally, ...]:
        """Return the errors of a finished trial; one of an earlier start is read again."""
        missing = self.options.microdata and index not in self._released
        if index in self._tallies and not missing:
            return self._tallies[index]
        path = self._directory / trial_file(index)
        leaves = self.prepared.files.read(path)
        if missing:
            companion = self.prepared.population.schema.companion
            units = None if companion is None else read_units(path, leaves.units, load_schema(companion).cells)
            self._release(index, leaves, units)
        full = self.prepared.full
        return self._tallied(sums_up(leaves, full.tree, full.design.schema.cells))


def _units_kept(spec: RunSpec, directory: Path, world: World, files: LeafFiles) -> tuple[str, ...]:
    """Write which units are measured where their answers are kept by unit; return what is said of kept answers."""
    if not topdown_options(spec).keep_measurements:
        return ()
    if world.design.has_outer_passes:
        return (announced_size(directory, world, spec.trials),)
    write_units(directory, world, files.geoids, spec.provenance)
    return ()


def _checked(shared: Prepared, descent: Descent, trial: OuterTrial | None) -> dict[str, Any]:
    """Return what a trial's file says of its checks."""
    if shared.outer is None or trial is None:
        return {"checks": trial_checks(shared.world, descent)}
    return {
        "checks": shared.outer.checks(trial),
        "facility_repair": shared.outer.repair_json(trial),
        "expected": descent.record.expected,
        "rescued": [asdict(each) for each in trial.found.rescued],
    }


def _reported(
    method: TopDown, population: BlockPopulation, tree: GeoTree, noise: Callable[[Fraction], Noise]
) -> Design:
    """Return the design over the levels that errors are reported for."""
    names = [level for level in method.levels if level not in tree.dropped]
    design = make_design(method, population.schema, names, noise, has_facilities=population.facilities is not None)
    return reported_design(design, [level.name for level in tree.levels]) if design.has_outer_passes else design
