"""The states of a nation while a run estimates them: read once, put by on disk as arrays, taken up one at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.states import classes_in, populations_of
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.noise.distributions import Noise
from phexplore.runs.simulation import Watch
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import FACILITIES_FILE, TRUTH_FILE
from phexplore.runs.writing import writing
from phexplore.simulate.topdown.by_state import StateData, StateTop, leaf_weights, top_of
from phexplore.simulate.topdown.design import Design, make_design
from phexplore.simulate.topdown.driver import world_over
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.simulate.topdown.on_spine import unit_classes, with_measurings
from phexplore.spine.allocation import allocation_of_state, bypassed_units
from phexplore.spine.building import build_spine, confirm_one_root
from phexplore.spine.geography import geography_of
from phexplore.spine.settings import settings_for
from phexplore.spine.tree import GeoTree, TreeLevel, tree_of
from phexplore.systems.topdown.facilities import write_facilities
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.run_data import as_input, check_input
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import topdown_options
from phexplore.workload.schema import Schema

BASE_BYTES = 420 << 20
"""What a run takes beside its data: the interpreter, the libraries, the solver, the top of a nation's tree."""

READ_BYTES, HELD_BYTES, WHOLE_BYTES = 3000, 2400, 3200
"""Of a block of 2,016 cells while it is read, while its state is estimated, and in a tree that is in memory as a whole."""

_OUTER_BYTES = 30_000
"""Of a block of the DHC in a tree that is in memory as a whole, its records one by one while they are invented and written."""


class Room:
    """The memory for states that are worked at: who does not fit waits, unless nobody else is there."""

    def __init__(self, limit: int) -> None:
        self._limit, self._taken = limit, 0
        self._changed = threading.Condition()

    @contextmanager
    def of(self, size: int) -> Iterator[None]:
        """Hold room for so many bytes."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken or self._taken + size <= self._limit)
            self._taken += size
        try:
            yield
        finally:
            with self._changed:
                self._taken -= size
                self._changed.notify_all()


@dataclass(frozen=True, slots=True, eq=False)
class StateEntry:
    """What stays in memory of a state.

    Attributes:
        top: its parts and counties.
        blocks: how many it has.
        design: of its levels from the counties down.
        weight: see `leaf_weights`.
        bypassed: units that gave their budget away.
        remarks: what was assumed of it.
    """

    top: StateTop
    blocks: int
    design: Design
    weight: tuple[float, int]
    bypassed: int
    remarks: tuple[str, ...]

    @property
    def code(self) -> str:
        """The state's, two digits."""
        return self.top.code


class StateStore:
    """Reads states, writes their exact counts, and keeps what they are estimated from beside the run."""

    def __init__(self, directory: Path, place: Path, spec: RunSpec, room: Room, watch: Watch) -> None:
        """Prepare nothing yet.

        Args:
            directory: of the run.
            place: folder for what is needed while the run works.
            spec: what is to be done.
            room: memory for states.
            watch: hears of progress and stops.
        """
        self._directory, self._place, self._spec, self._room, self._watch = directory, place, spec, room, watch
        self._method = spec.scenario.topdown
        self._done = self._files = 0
        self.schema: Schema | None = None
        self.has_facilities = False

    def read(self, path: Path, files: tuple[Path, ...], workers: int) -> list[StateEntry]:
        """Read every state and return what stays of each, by their codes.

        Args:
            path: of the data.
            files: block files there.
            workers: threads.

        Raises:
            InputProblemsError: data that cannot be used.
            PhexploreError: states that are not below one root.
        """
        classes, self._files = classes_in(files), len(files)
        for folder in (self._place, self._directory / TRUTH_FILE, self._directory / FACILITIES_FILE):
            folder.mkdir(parents=True, exist_ok=True)
        sizes = sorted(files, key=lambda file: -file.stat().st_size)
        found: list[StateEntry] = []
        with ThreadPoolExecutor(workers, thread_name_prefix="reading") as pool:
            futures = [pool.submit(self._read_file, file, classes) for file in sizes]
            try:
                for future in futures:
                    found += future.result()
            finally:
                for future in futures:
                    future.cancel()
        found.sort(key=lambda entry: entry.code)
        codes = [entry.code for entry in found]
        if len(set(codes)) < len(codes):
            sentence = "The blocks of one state are in several files."
            raise InputProblemsError([Issue((path.name,), sentence, "Keep one file per state.")])
        confirm_one_root(map(int, codes))
        return found

    def _read_file(self, file: Path, classes: tuple[str, ...]) -> list[StateEntry]:
        found = []
        size = file.stat().st_size
        packed = file.suffix == ".gz"
        # A file may hold all states; what is read of it at once is one of them.
        with self._room.of(min(size * (READ_BYTES // 10 if packed else READ_BYTES // 80), self._room_of_state())):
            for population in populations_of(file, classes):
                self._watch.checkpoint()
                found.append(self._state(file, population))
                self._done += 1
                self._watch.progress("read", self._done, max(self._done, self._files))
        return found

    @staticmethod
    def _room_of_state() -> int:
        return READ_BYTES * 700_000

    def _state(self, file: Path, given: BlockPopulation) -> StateEntry:
        """Write what a run needs of a state, and return what stays."""
        method, options = self._method, topdown_options(self._spec)
        source = as_input(file, given, method, options, is_one_of_several=True)
        population = source.population
        code = population.states[0]
        has_facilities = population.facilities is not None
        design = self.design((method.levels), population.schema, has_facilities=has_facilities)
        check_input(file, population, design)
        tabulation = tree_of(population.geocodes(), method.levels, population.layout)
        tree, remarks, bypassed = self._spine(population, tabulation)
        own = [
            with_measurings(level, units, method.level_shares[level.name], self.noise)
            for level, units in zip(design.levels[1:], tree.levels, strict=True)
        ]
        leaves = histograms_of(population)
        world = world_over(replace(design, levels=tuple(own)), tree, leaves, population.facilities)
        classes = tuple(unit_classes(each, method.total) for each in zip(own, tree.levels, strict=True))
        parts = tree.levels[0].first_child
        if parts is None:
            raise ValueError("a state has counties")
        data = StateData(
            code,
            replace(design, levels=tuple(own[1:])),
            GeoTree(tree.levels[1:], (), tree.order),
            parts,
            np.zeros((tree.levels[0].units, len(own) - 1), np.int64),
            leaves,
            population.facilities,
            classes[1:],
            tuple(level.first_child for level in tabulation.levels if level.first_child is not None),
        )
        weight = leaf_weights(data) if options.is_pooled else (0.0, 0)
        whole = leaves.summed(np.array([0, leaves.units]), population.schema.cells)
        top = top_of(code, tree, world, whole, population.facilities)
        self._put_by(data, population)
        self.schema, self.has_facilities = population.schema, has_facilities
        return StateEntry(top, leaves.units, data.design, weight, bypassed, (*source.remarks, *remarks))

    def noise(self, budget: Fraction) -> Noise:
        """Return the distribution of one answer for a budget."""
        return noise_of(self._method.framework, budget)[0]

    def design(
        self, levels: tuple[str, ...], schema: Schema, *, has_facilities: bool, shared: tuple[str, ...] = ()
    ) -> Design:
        """Return what is measured and kept at every level, by the level's own budget.

        Args:
            levels: of the tree.
            schema: of the data.
            has_facilities: whether the data know how many facilities of each type a leaf has.
            shared: levels whose exact totals are kept of groups of units together.
        """
        return make_design(
            self._method, schema, levels, self.noise, has_facilities=has_facilities, shared_totals=shared
        )

    def _spine(self, population: BlockPopulation, tabulation: GeoTree) -> tuple[GeoTree, tuple[str, ...], int]:
        """Return the tree from the state's parts down, what was assumed, and how many units are bypassed."""
        settings = settings_for(self._method)
        if settings.kind == "standard" and settings.bypass == "none":
            return tabulation, (), 0
        spine = build_spine(geography_of(population), settings, is_one_of_several=True)
        allocation = allocation_of_state(spine, self._method)
        return allocation.tree, spine.remarks, bypassed_units(allocation.bypassed)

    def _put_by(self, data: StateData, population: BlockPopulation) -> None:
        files = LeafFiles(population.schema, population.geoids, is_listed=True)
        mark = self._spec.data.provenance.mark_of_counts() | {"provenance": self._spec.provenance.json()}
        with writing(self._directory / TRUTH_FILE / f"{data.code}.parquet") as part:
            files.write(part, data.leaves, mark, self._watch.checkpoint)
        if population.facilities is not None:
            with writing(self._directory / FACILITIES_FILE / f"{data.code}.parquet") as part:
                write_facilities(part, population.geoids, population.facilities, self._spec.provenance)
        arrays: dict[str, NDArray[Any]] = {
            "geoids": population.geoids.astype("S"),
            "parts": data.parts,
            "starts": data.leaves.starts,
            "cells": data.leaves.cells,
            "counts": data.leaves.counts,
        }
        if data.tree.order is not None:
            arrays["order"] = data.tree.order
        if data.facilities is not None:
            arrays["facilities"] = data.facilities
        for number, (level, classes) in enumerate(zip(data.tree.levels, data.classes, strict=True)):
            arrays |= {f"blocks{number}": level.first_block, f"classes{number}": classes}
            if level.first_child is not None:
                arrays[f"children{number}"] = level.first_child
        arrays |= {f"tabulated{number}": children for number, children in enumerate(data.tabulation)}
        with writing(self._file(data.code)) as part, part.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def _file(self, code: str) -> Path:
        return self._place / f"{code}.npz"

    def load(self, entry: StateEntry, first: NDArray[np.int64]) -> tuple[StateData, LeafFiles]:
        """Return what a state is estimated from, and the writer of its files.

        Args:
            entry: of the state.
            first: ``int64[parts, levels]``, see `StateData`.
        """
        if self.schema is None:
            raise RuntimeError("no state was read")
        with np.load(self._file(entry.code), allow_pickle=False) as held:
            levels = tuple(
                TreeLevel(
                    level.name,
                    np.zeros(len(held[f"classes{number}"]), "U1"),
                    held[f"blocks{number}"],
                    held.get(f"children{number}"),
                )
                for number, level in enumerate(entry.design.levels)
            )
            data = StateData(
                entry.code,
                entry.design,
                GeoTree(levels, (), held.get("order")),
                held["parts"],
                first,
                Histograms(held["starts"], held["cells"], held["counts"]),
                held.get("facilities"),
                tuple(held[f"classes{number}"] for number in range(len(levels))),
                tuple(held[f"tabulated{number}"] for number in range(len(levels))),
            )
            return data, LeafFiles(self.schema, held["geoids"].astype("U"), is_listed=True)


def whole_bytes(blocks: int, schema: Schema) -> int:
    """Return about how much memory a run takes that holds the whole tree.

    Args:
        blocks: how many.
        schema: of the scenario.
    """
    own = WHOLE_BYTES if schema.cells > 1 << 8 else WHOLE_BYTES // 2
    return BASE_BYTES + blocks * (_OUTER_BYTES if schema.links else own)


def held_bytes(entry: StateEntry) -> int:
    """Return about how much memory a state takes while it is estimated."""
    return HELD_BYTES * entry.blocks
