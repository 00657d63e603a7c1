"""Work at the states of a nation: as many at once as there are workers and room for, or on a cluster, where a state is a piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.runs.cluster import Cluster
from phexplore.runs.simulation import Watch
from phexplore.simulate.topdown.by_state import StateTask, Top, estimate_state, pool_state
from phexplore.simulate.topdown.design import Design
from phexplore.simulate.topdown.driver import Mapper, Threads, in_order
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import DrawnMeasurements, MeasurementSource
from phexplore.simulate.topdown.pooling import PooledLevel
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import RounderTarget, TopDownOptions
from phexplore.systems.topdown.state_store import Room, StateEntry, StateStore, held_bytes
from phexplore.systems.topdown.summary import criterion_query, measured_queries

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Nation:
    """What all trials share.

    Attributes:
        states: by their codes.
        store: where they are put by.
        design: of all levels, by the levels' own budgets.
        top: the US, the parts of states and their counties.
        margins: per level and measured query, people.
        lowest: number of the lowest pooled level, counted from the counties; -1 where none is pooled.
        room: memory for states.
    """

    states: tuple[StateEntry, ...]
    store: StateStore
    design: Design
    top: Top
    margins: tuple[tuple[int, ...], ...]
    lowest: int
    room: Room


class StateWorkers:
    """Estimates states on this machine or on a cluster."""

    def __init__(
        self, nation: Nation, options: TopDownOptions, workers: int, cluster: Cluster | None, watch: Watch
    ) -> None:
        """Work at nothing yet.

        Args:
            nation: what all trials share.
            options: of the run.
            workers: threads of this machine.
            cluster: that estimates, None for this machine.
            watch: says when to stop.
        """
        self._nation, self._options, self._workers = nation, options, workers
        self._cluster, self._watch = cluster, watch

    def checkpoint(self, *_: object) -> None:
        """Stop where the run is to stop, rest where it rests; progress of any kind is not told."""
        self._watch.checkpoint()

    @property
    def estimation(self) -> Estimation:
        """How histograms are estimated."""
        target = Target.WHOLE if self._options.target is RounderTarget.WHOLE else Target.FRACTION
        return Estimation(rounder=RounderOptions(target=target), pooled=self._options.is_pooled)

    def mapper(self) -> AbstractContextManager[Mapper]:
        """Return what works on several families at once."""
        if self._cluster is not None:
            return nullcontext(self._cluster)
        return Threads(self._workers) if self._workers > 1 else nullcontext(in_order)

    def task(
        self, state: StateEntry, *, counties: Histograms | None, sources: tuple[MeasurementSource, ...]
    ) -> tuple[StateTask, LeafFiles]:
        """Return a state to be estimated, and the writer of its files.

        Args:
            state: which.
            counties: estimates of all counties, None where none are needed.
            sources: of the measurements, from the counties down.
        """
        nation = self._nation
        data, files = nation.store.load(state, nation.top.first[state.code])
        given = () if counties is None else tuple(counties.part(*span) for span in nation.top.counties[state.code])
        groups = criterion_query(nation.design.schema)
        queries = tuple(measured_queries(level) for level in nation.design.levels[1:])
        return StateTask(data, given, sources, self.estimation, queries, groups, nation.lowest), files

    def each(
        self,
        states: Sequence[StateEntry],
        make: Callable[[StateEntry], tuple[StateTask, LeafFiles]],
        end: Callable[[StateTask, LeafFiles, Any], Result],
        work: Callable[..., Any] = estimate_state,
    ) -> Iterator[Result]:
        """Yield what becomes of every state: the largest first, as many at once as there are workers and room for.

        Args:
            states: to be worked at.
            make: takes one up.
            end: writes what became of it.
            work: on this machine or on the cluster.
        """
        order = sorted(states, key=lambda state: -state.blocks)
        if self._cluster is not None:
            made: list[tuple[StateTask, LeafFiles]] = []

            def tasks() -> Iterator[StateTask]:
                for state in order:
                    made.append(make(state))
                    yield made[-1][0]

            for result in self._cluster(work, tasks()):
                task, files = made.pop(0)
                yield end(task, files, result)
            return

        def here(state: StateEntry) -> Result:
            with self._nation.room.of(held_bytes(state)):
                self.checkpoint()
                task, files = make(state)
                return end(task, files, work(task, on_progress=self.checkpoint))

        with ThreadPoolExecutor(self._workers, thread_name_prefix="states") as threads:
            futures = [threads.submit(here, state) for state in order]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()

    def pooled_counties(self, draw: Sequence[DrawnMeasurements]) -> PooledLevel:
        """Return the pooled answers of all counties in the order of the top."""
        nation = self._nation
        units, level = nation.top.world.truth[-1].units, nation.design.levels[2]
        found = PooledLevel(np.empty((units, level.plan.answers)), np.empty((units, len(level.plan.measured))))
        tasks = partial(self.task, counties=None, sources=tuple(draw[2:]))

        def put(task: StateTask, _files: LeafFiles, pooled: PooledLevel) -> tuple[str, PooledLevel]:
            return task.data.code, pooled

        for code, pooled in self.each(nation.states, tasks, put, pool_state):
            begin = 0
            for first, last in nation.top.counties[code]:
                end = begin + last - first
                found.answers[first:last], found.weights[first:last] = (
                    pooled.answers[begin:end],
                    pooled.weights[begin:end],
                )
                begin = end
        return found
