"""The TopDown run by state: the sums of every state are read once, the top is estimated, then every state on its own.

Trials have the counts they have when the whole tree is in memory. What differs is how they lie on disk: the exact counts, the facilities
and every trial are folders with a Parquet file per state, whose rows have lists of filled cells. A state whose file is whole is
not estimated again when a run is resumed.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.accounting.composition import confirm_spent
from phexplore.data.blocks.ages import TARGET as WITH_AGES
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.states import block_files, lines_and_states
from phexplore.errors import PhexploreError
from phexplore.runs.cluster import Cluster
from phexplore.runs.events import INSIDE
from phexplore.runs.place import HERE, USUAL_MEMORY, Place
from phexplore.runs.run_files import FOLDER_MARK, read_mark, read_trial_figures
from phexplore.runs.simulation import PreparedSimulation, TrialFigures, Watch
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import STATES_DIRECTORY, TRUTH_FILE, RunUnreadableError, present_trials
from phexplore.runs.writing import PART_SUFFIX, write_json, writing
from phexplore.simulate.topdown.by_state import (
    StateData,
    StateResult,
    StateTask,
    Top,
    errors_of_state,
    top_checks,
    top_of_nation,
)
from phexplore.simulate.topdown.design import Design
from phexplore.simulate.topdown.driver import TrialRecord, descend
from phexplore.simulate.topdown.error_folding import LevelErrors, errors_together, level_errors
from phexplore.simulate.topdown.histograms import Histograms, joined
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, MeasurementSource, TrialKey, secret_key
from phexplore.simulate.topdown.on_spine import state_of_part, unit_classes, with_measurings
from phexplore.simulate.topdown.pooling import WORTH_POOLING, pool
from phexplore.simulate.topdown.run_checks import CHECKS, spent_on_noise
from phexplore.spine.allocation import is_by_state
from phexplore.spine.settings import settings_for
from phexplore.spine.tree import ROOT_LEVELS, TreeLevel, UnitShares
from phexplore.systems.topdown.release import trial_directory, write_trial_release
from phexplore.systems.topdown.run_data import refuse_analytic
from phexplore.systems.topdown.run_files import LeafFiles, counts_digest
from phexplore.systems.topdown.run_margins import margins_by_level, pooled_remark
from phexplore.systems.topdown.run_options import Mechanism, PoolLeaves, TopDownOptions, topdown_options
from phexplore.systems.topdown.state_store import (
    BASE_BYTES,
    READ_BYTES,
    Room,
    StateEntry,
    StateStore,
    held_bytes,
    whole_bytes,
)
from phexplore.systems.topdown.state_workers import Nation, StateWorkers
from phexplore.systems.topdown.summary import Tally, criterion_query, measured_queries, tallied, topdown_summary
from phexplore.workload.schema import Schema, load_schema

TOP_FILE = "_top.npz"
"""The estimates of the counties, while states are missing: all states of a trial start from the same."""


WORTH_STATES = 250_000
"""Blocks of several states from which a run is estimated by state though it would fit: states are read, and their files
written, beside each other, in half the memory and with less work than one tree takes."""


def is_streamed(spec: RunSpec, directory: Path, place: Place) -> bool:
    """Return whether a run is estimated by state: its data hold several, and are many or would not fit the memory it may take.

    A scenario that stands on an earlier release is always estimated as a whole.

    Args:
        spec: what is to be done.
        directory: of the run; what an earlier start began goes on as it was.
        place: with the memory.

    Raises:
        PhexploreError: the memory is less than any run takes, or than what this one must estimate in one piece.
    """
    limit = place.memory or USUAL_MEMORY
    if limit < BASE_BYTES:
        raise PhexploreError(
            f"A run needs {BASE_BYTES >> 20} MB before it holds any data, and may take {limit >> 20} MB.",
            "Allow more with --memory.",
        )
    if (directory / TRUTH_FILE).exists():
        return (directory / TRUTH_FILE).is_dir()
    options, method = topdown_options(spec), spec.scenario.topdown
    schema = load_schema(method.schema)
    if schema.is_chained:
        _confirm_room(spec, schema, limit)
        return False
    if schema.id == WITH_AGES or not block_files(spec.data.place):
        return False
    blocks, states = _counted(spec)
    needed = whole_bytes(blocks, schema)
    if needed <= limit and blocks < WORTH_STATES:
        return False
    is_whole = options.keep_measurements or options.measurements or options.mechanism is not Mechanism.TOP_DOWN
    watches = spec.stop is not None and spec.stop.figure
    top = (method.levels[0] in ROOT_LEVELS, *method.levels[1:3])
    is_cut = not is_whole and not watches and top == (True, "State", "County") and len(states) > 1
    is_cut = is_cut and is_by_state(settings_for(method), method)
    if needed <= limit:
        return is_cut
    whose, most = "these data", blocks
    if is_cut:
        code, most = states.most_common(1)[0]
        whose, needed = f"state {code}", BASE_BYTES + READ_BYTES * most
    if place.memory and needed > limit:
        raise PhexploreError(
            f"The {most:,} blocks of {whose} are estimated in one piece, which takes about {needed >> 20:,} MB; the run may take "
            f"{limit >> 20:,} MB.",
            f"Allow {(needed >> 30) + 1}G with --memory, or give fewer blocks.",
        )
    return is_cut


def _confirm_room(spec: RunSpec, schema: Schema, limit: int) -> None:
    """Refuse data that would not fit, before any is read: the system ends programs that take more than there is.

    Raises:
        PhexploreError: they would not.
    """
    blocks, states = _counted(spec)
    needed = whole_bytes(blocks, schema)
    if needed > limit:
        raise PhexploreError(
            f"A DHC run of {blocks:,} blocks takes about {needed >> 20:,} MB, and may take {limit >> 20:,} MB: it holds all of "
            f"{'its states' if len(states) > 1 else 'its state'} at once.",
            f"Allow more with --memory {-(-needed >> 30)}G, or give fewer {'states' if len(states) > 1 else 'counties'}.",
        )


def _counted(spec: RunSpec) -> tuple[int, Counter[str]]:
    """Return how many blocks the data of a run have, and how many each state; none where they are no block files."""
    blocks, states = 0, Counter[str]()
    for file in block_files(spec.data.place):
        lines, found = lines_and_states(file)
        blocks += max(0, lines - 1)  # the first is the header
        states += found
    return blocks, states


class StreamedSimulation(PreparedSimulation[Nation]):
    """TopDown, state by state."""

    exact_label = "Exact measurements, not protected."

    def __init__(self, spec: RunSpec, directory: Path, place: Place = HERE) -> None:
        super().__init__(spec, directory, place)
        self._lock, self._one_trial = threading.Lock(), threading.Lock()
        self._seconds: dict[str, float] = {}
        self._tallies: dict[int, tuple[Tally, ...]] = {}
        self._cluster: Cluster | None = None
        self._watch: Watch | None = None
        self._states_done = 0
        self._work: StateWorkers

    @property
    def options(self) -> TopDownOptions:
        """What is asked beyond the scenario."""
        return topdown_options(self._spec)

    @property
    def _states_place(self) -> Path:
        return self._directory / f"{STATES_DIRECTORY}{PART_SUFFIX}"

    def prepare(self, watch: Watch) -> None:
        """Read every state and estimate from none yet; see `Simulation.prepare`."""
        self._watch, method = watch, self._spec.scenario.topdown
        refuse_analytic(method)
        if self._place.scheduler:
            with watch.phase("connect"):
                self._cluster = Cluster(self._place.scheduler, watch, self._place.tls)
        path = self._spec.data.place
        limit = self._place.memory or USUAL_MEMORY
        room = Room(limit - BASE_BYTES)
        store = StateStore(self._directory, self._states_place, self._spec, room, watch)
        with watch.phase("read"):
            states = store.read(path, block_files(path), self._spec.workers)
        largest = max(states, key=lambda state: state.blocks)
        if self._cluster is not None:
            self._cluster.confirm_memory(f"State {largest.code}", BASE_BYTES, held_bytes(largest))
        with watch.phase("prepare"):
            design, top = self._top(states, store)
            lowest, remarks = -1, [*design.remarks, *(remark for state in states for remark in state.remarks)]
            if self.options.is_pooled:
                weight = sum(state.weight[0] for state in states) / max(1, sum(state.weight[1] for state in states))
                asked = {PoolLeaves.AUTO: weight >= WORTH_POOLING, PoolLeaves.YES: True, PoolLeaves.NO: False}
                lowest = len(method.levels) - 3 - (not asked[self.options.pool_leaves])
                remarks.append(pooled_remark(design, lowest + 2, weight))
            margins = margins_by_level(self._spec.scenario.conventions, design)
            self._shared = nation = Nation(tuple(states), store, design, top, margins, lowest, room)
            self._states_done = len(present_trials(self._directory)) * len(states)
            self._work = StateWorkers(nation, self.options, self._spec.workers, self._cluster, watch)
        units = ", ".join(f"{count:,} {level.name}" for count, level in zip(self._units(), design.levels, strict=True))
        bypassed = sum(state.bypassed for state in states)
        kind = settings_for(method).kind
        for text in (
            *dict.fromkeys(remarks),
            f"Spine: {kind}, {units}; {bypassed:,} units bypassed.",
            f"Estimated state by state, {len(states)} states, within {max(limit, BASE_BYTES + READ_BYTES * largest.blocks) >> 20:,} MB.",
            self.label,
        ):
            watch.note(text)

    def _units(self) -> list[int]:
        states = self.prepared.states
        return [1, *np.sum([state.top.units.sum(axis=0) for state in states], axis=0).tolist()]

    def _top(self, states: Sequence[StateEntry], store: StateStore) -> tuple[Design, Top]:
        method = self._spec.scenario.topdown
        if store.schema is None:
            raise RuntimeError("no state was read")
        parts = sum(len(state.top.codes[0]) for state in states)
        design = store.design(
            method.levels,
            store.schema,
            has_facilities=store.has_facilities,
            shared=("State",) if parts > len(states) else (),
        )

        def measured(units: Sequence[TreeLevel]) -> Design:
            levels = (
                with_measurings(level, each, method.level_shares[level.name], store.noise)
                for level, each in zip(design.levels, units, strict=False)
            )
            return replace(design, levels=tuple(levels))

        root = TreeLevel(method.levels[0], np.array([""]), np.zeros(2, np.int64), None)
        if states[0].top.shares[0] is not None:
            own = UnitShares((method.level_shares[method.levels[0]],), np.zeros(1, np.int32))
            root = replace(root, shares=own)
        top = top_of_nation(
            [state.top for state in states],
            measured,
            lambda made, units: tuple(
                unit_classes(each, method.total) for each in zip(made.levels, units, strict=True)
            ),
            state_of_part if parts > len(states) else str,
            root,
        )
        return design, top

    # One trial

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Estimate the top and every state; see `Simulation.write_trial`. Trials take turns, their states do not.

        Args:
            index: number of the trial.
            path: folder.
        """
        with self._one_trial:
            return self._write_trial(index, path)

    def _write_trial(self, index: int, path: Path) -> TrialFigures:
        nation, is_keyed = self.prepared, self._spec.seed is None and self.prepared.lowest >= 0
        self._progress(0)
        if is_keyed and path.is_dir():
            shutil.rmtree(path)  # the key of what was drawn is gone with the process that had it
        path.mkdir(exist_ok=True)
        for unfinished in path.glob(f"*{PART_SUFFIX}"):
            unfinished.unlink()
        key = secret_key(index) if is_keyed else TrialKey(self._spec.seed, index)
        draw = [DrawnMeasurements(Draw(key, not self.is_private, margins)) for margins in nation.margins]
        levels, record, checks = self._estimate_top(path, draw)
        stamp = counts_digest(levels[-1])
        done = {state.code: mark for state in nation.states if (mark := self._finished(path, state, stamp))}
        missing = [state for state in nation.states if state.code not in done]
        tasks = partial(self._work.task, counties=levels[-1], sources=tuple(draw[2:]))
        errors: dict[str, tuple[LevelErrors, ...]] = {}
        wholes: dict[str, Histograms] = {}
        marks = dict(done)
        self._progress(len(done))
        for state in nation.states:
            if state.code in done:
                errors[state.code], wholes[state.code] = self._errors_on_disk(state, path)
        for result, mark in self._work.each(missing, tasks, partial(self._finish_state, index, path, stamp)):
            errors[result.code], wholes[result.code], marks[result.code] = result.errors, result.whole, mark
            self._progress(len(marks))
        for code in sorted(marks):
            counts = marks[code]["outcome"]
            record.failed += counts[0]
            record.relaxed += counts[1]
            record.unfinished += counts[2]
            record.within += counts[3]
            record.numbers += counts[4]
            checks = [one + other for one, other in zip(checks, marks[code]["failures"], strict=True)]
            for level, solved in marks[code]["families"]:
                record.families[level] = record.families.get(level, 0) + solved
        checks[CHECKS.index("non_negativity")] += record.negative
        self._tallies[index] = self._tallied(errors, wholes)
        figures = TrialFigures(record.within, record.numbers, None)
        write_json(
            path / FOLDER_MARK,
            {
                **self.mark,
                "covered": figures.covered,
                "numbers": figures.numbers,
                "watched": None,
                "checks": dict(zip(CHECKS, checks, strict=True)),
                "failsafe": record.failed,
                "relaxed": record.relaxed,
                "unfinished": record.unfinished,
                "families": record.families,
            },
        )
        self._states_done += len(nation.states)
        with suppress(FileNotFoundError):
            (path / TOP_FILE).unlink()
        self._count_seconds(record.seconds.items())
        return figures

    def _progress(self, done: int) -> None:
        """Tell how far all trials are, after so many states of one."""
        if self._watch is not None:
            self._watch.progress(INSIDE, self._states_done + done, self._spec.trials * len(self.prepared.states))

    def _count_seconds(self, seconds: Iterable[tuple[str, float]]) -> None:
        with self._lock:
            for name, spent in seconds:
                self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def _estimate_top(
        self, path: Path, draw: Sequence[DrawnMeasurements]
    ) -> tuple[tuple[Histograms, ...], TrialRecord, list[int]]:
        """Return the estimates of the US, the parts of states and their counties, how they went, and their failures.

        They are kept until the trial is whole: without a seed nobody could draw the same ones again.
        """
        top, record, kept = self.prepared.top, TrialRecord(), path / TOP_FILE
        with suppress(OSError, ValueError, LookupError):
            with np.load(kept, allow_pickle=False) as held:
                levels = tuple(
                    Histograms(*(held[f"{name}{n}"] for name in ("starts", "cells", "counts"))) for n in range(3)
                )
                record.within, record.numbers, record.negative, record.failed, record.relaxed, record.unfinished = held[
                    "record"
                ].tolist()
                record.families = dict(
                    zip((level.name for level in top.world.design.levels), held["families"].tolist(), strict=True)
                )
            if [each.units for each in levels] == [each.units for each in top.world.truth]:
                return levels, record, list(top_checks(top.world, levels))
        sources: Sequence[MeasurementSource] = draw[:3]
        with self._work.mapper() as mapper:
            elsewhere = self._cluster is not None
            if self.prepared.lowest >= 0:
                given = self._work.pooled_counties(draw)
                sources = pool(
                    top.world,
                    sources,
                    record,
                    lowest=2,
                    given=given,
                    mapper=mapper,
                    elsewhere=elsewhere,
                    on_progress=self._work.checkpoint,
                )
            found = descend(
                top.world,
                sources,
                self._work.estimation,
                record=record,
                mapper=mapper,
                elsewhere=elsewhere,
                on_progress=self._work.checkpoint,
            )
        arrays = {
            f"{name}{number}": getattr(each, name)
            for number, each in enumerate(found.levels)
            for name in ("starts", "cells", "counts")
        }
        counts = (record.within, record.numbers, record.negative, record.failed, record.relaxed, record.unfinished)
        families = [record.families.get(level.name, 0) for level in top.world.design.levels]
        with writing(kept) as part, part.open("wb") as file:
            np.savez(file, record=np.array(counts), families=np.array(families), **arrays)
        return found.levels, record, list(top_checks(top.world, found.levels))

    def _finish_state(
        self, index: int, path: Path, stamp: str, task: StateTask, files: LeafFiles, result: StateResult
    ) -> tuple[StateResult, Mapping[str, Any]]:
        """Write a state of a trial; return what the summary needs of it."""
        mark = {
            "top": stamp,
            "failures": list(result.checks),
            "outcome": list(result.counts),
            "families": [list(pair) for pair in result.families],
        }
        if self.options.microdata:
            self._release(index, task.data, files, result.leaves)
        with writing(path / f"{result.code}.parquet") as part:
            files.write(part, result.leaves, {**self.mark, **mark}, self._work.checkpoint)
        self._count_seconds(result.seconds)
        return replace(result, leaves=result.leaves.part(0, 0)), mark

    def _release(self, index: int, data: StateData, files: LeafFiles, leaves: Histograms) -> None:
        began = time.perf_counter()
        shown = BlockPopulation(
            files.schema,
            files.geoids,
            leaves.starts,
            leaves.cells,
            leaves.counts.astype(np.int32),
            facilities=data.facilities,
        )
        place = trial_directory(self._directory, index) / data.code
        write_trial_release(place, self._spec, shown, index, in_columns=not self.options.microdata_text)
        self._count_seconds([("microdata", time.perf_counter() - began)])

    # What is on disk already

    def _finished(self, path: Path, state: StateEntry, stamp: str) -> Mapping[str, Any] | None:
        """Return the mark of a state that an earlier start finished from the same top; None where it is to be estimated."""
        file = path / f"{state.code}.parquet"
        released = trial_directory(self._directory, 0).parent.is_dir() if self.options.microdata else True
        if not file.exists() or not released:
            return None
        with suppress(RunUnreadableError):
            mark = read_mark(file)
            numbers = [mark.get("outcome"), mark.get("failures")]
            lengths = [len(each) for each in numbers if isinstance(each, list)]
            if mark.get("top") == stamp and lengths == [5, len(CHECKS)]:
                _, files = self.prepared.store.load(state, self.prepared.top.first[state.code])
                files.read(file)
                return mark
        return None

    def _errors_on_disk(self, state: StateEntry, path: Path) -> tuple[tuple[LevelErrors, ...], Histograms]:
        nation = self.prepared
        data, files = nation.store.load(state, nation.top.first[state.code])
        queries = tuple(measured_queries(level) for level in nation.design.levels[1:])
        leaves = files.read(path / f"{state.code}.parquet")
        return errors_of_state(data, leaves, queries, criterion_query(nation.design.schema))

    def _tallied(
        self, errors: Mapping[str, tuple[LevelErrors, ...]], wholes: Mapping[str, Histograms]
    ) -> tuple[Tally, ...]:
        """Return the errors of a trial, put together in the order of the codes."""
        nation = self.prepared
        levels, width = nation.design.levels, nation.design.schema.cells
        states = np.array([0, len(nation.states)])
        truth = joined([state.top.exact for state in nation.states]).summed(states, width)
        estimate = joined([wholes[state.code] for state in nation.states]).summed(states, width)
        us = level_errors(truth, estimate, measured_queries(levels[0]), criterion_query(nation.design.schema))
        below = (errors_together(parts) for parts in zip(*(errors[state.code] for state in nation.states), strict=True))
        kept = [replace(level, exact_total=level.exact_total or level.shared_total) for level in levels]
        return tallied(kept, (us, *below))

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its counts checked; see `Simulation.read_figures`."""
        for state in self.prepared.states:
            _, files = self.prepared.store.load(state, self.prepared.top.first[state.code])
            files.read(path / f"{state.code}.parquet")
        return read_trial_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Sum up; see `Simulation.finish`.

        Args:
            trials: numbers of the trials.
            watch: hears of progress and stops.
        """
        nation = self.prepared
        if self._cluster is not None:
            self._cluster.close()
        for name, seconds in self._seconds.items():
            watch.phase_done(name, seconds)
        design = nation.design
        confirm_spent(self._spec.scenario.topdown.total, [spent_on_noise(design), design.unspent])
        levels = [replace(level, exact_total=level.exact_total or level.shared_total) for level in design.levels]
        tallies = tuple(map(Tally, levels))
        paths = self.paths(trials)
        for place, (index, path) in enumerate(zip(trials, paths, strict=True)):
            watch.progress("summary", place, len(trials))
            if index not in self._tallies:
                found = {state.code: self._errors_on_disk(state, path) for state in nation.states}
                self._tallies[index] = self._tallied(
                    {code: errors for code, (errors, _) in found.items()},
                    {code: whole for code, (_, whole) in found.items()},
                )
            for tally, later in zip(tallies, self._tallies[index], strict=True):
                tally.extend(later)
        shutil.rmtree(self._states_place)
        return topdown_summary(self._spec, design, tallies, [read_mark(path) for path in paths])
