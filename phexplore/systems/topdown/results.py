"""The results of a TopDown run, read as far as they are there: complete, cancelled, failed, or still running."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.data.blocks.geocodes import layout_of
from phexplore.data.blocks.population import BlockPopulation
from phexplore.metrics.topdown.worst import WorstBy, WorstUnit, worst_units
from phexplore.noise.distributions import Noise
from phexplore.runs.run_folder import RunFolder
from phexplore.runs.store import (
    TRUTH_FILE,
    RunUnreadableError,
    load_spec,
    trial_file,
)
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import World, make_world
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.run_files import MOST_COLUMNS, LeafFiles, open_leaf_files, schema_of
from phexplore.systems.topdown.summary import Tally, criterion_query
from phexplore.workload.queries import MarginalQuery, detailed_query, parse_query
from phexplore.workload.schema import Schema

MOST_TRIALS = 20
"""Trials whose files are read; the summary of a complete run knows all of them."""


@dataclass(frozen=True, slots=True)
class NamedUnit:
    """A unit that was far off.

    Attributes:
        level: name.
        code: public code.
        worst: how far, and why.
        sentence: the reason in words.
    """

    level: str
    code: str
    worst: WorstUnit
    sentence: str


class TopDownResults(RunFolder):
    """One run directory."""

    @classmethod
    def open(cls, directory: Path) -> TopDownResults:
        """Return the results of a run directory.

        Raises:
            RunUnreadableError: it holds no run, or nothing is counted yet.
            RunSpecError, InputProblemsError: its specification cannot be read or was altered.
        """
        spec = load_spec(directory)
        if not (directory / TRUTH_FILE).exists():
            raise RunUnreadableError(f"The run in {directory} has not counted yet.", "Wait for it, or resume it.")
        return cls(directory, spec)

    @cached_property
    def files(self) -> LeafFiles:
        """The reader of the run's files.

        Raises:
            RunUnreadableError: the truth cannot be read.
        """
        path = self.directory / TRUTH_FILE
        return open_leaf_files(path, schema_of(path))

    @cached_property
    def world(self) -> World:
        """Exact counts of every level. Bounds are left out: nothing is estimated here."""
        files, method = self.files, self.spec.scenario.topdown
        truth = files.read(self.directory / TRUTH_FILE)
        population = BlockPopulation(
            files.schema,
            files.geoids,
            truth.starts,
            truth.cells,
            truth.counts.astype(np.int32),
            layout=layout_of(files.schema),
        )
        tree = tree_of(population.geocodes(), method.levels, population.layout)

        def noise(budget: Fraction) -> Noise:
            return noise_of(method.framework, budget)[0]

        names = [level.name for level in tree.levels]
        return make_world(make_design(method, files.schema, names, noise, has_facilities=False), tree, population)

    @cached_property
    def estimates(self) -> tuple[tuple[Histograms, ...], ...]:
        """The first trials, at every level."""
        world = self.world
        return tuple(
            sums_up(self.files.read(self.directory / trial_file(index)), world.tree, world.design.schema.cells)
            for index in self.trials[:MOST_TRIALS]
        )

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """The errors of the first trials per level, the root first."""
        found = tuple(Tally(self.world, number) for number in range(len(self.world.tree.levels)))
        for levels in self.estimates:
            for tally, estimate in zip(found, levels, strict=True):
                tally.add(estimate)
        return found

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """The entries of ``metrics``: of all trials when the run is complete, else of the first ones."""
        if self.summary is not None:
            return list(self.summary.get("metrics", ()))
        return [entry for tally in self.tallies for entry in tally.entries()] if self.estimates else []

    @cached_property
    def redistricting(self) -> list[dict[str, Any]]:
        """The redistricting criterion per level; empty where the schema has no groups."""
        if self.summary is not None:
            return list(self.summary.get("redistricting", ()))
        return [entry for tally in self.tallies if (entry := tally.redistricting())] if self.estimates else []

    def worst(self, count: int, *, by: WorstBy = WorstBy.TOTAL) -> tuple[NamedUnit, ...]:
        """Return the units of each level below the root that are farthest off on average over the first trials."""
        world = self.world
        query = criterion_query(world.design.schema) or _finest_that_fits(world.design.schema)
        labels = [" · ".join(query.answer_labels(answer)) for answer in range(query.answers)]
        found = []
        for number, (level, truth) in enumerate(zip(world.tree.levels, world.truth, strict=True)):
            if not number or not self.estimates:
                continue
            exact = truth.answers(query.cell_map(), query.answers)
            trials = np.stack([each[number].answers(query.cell_map(), query.answers) for each in self.estimates])
            codes = self.files.geoids if number == len(world.tree.levels) - 1 else level.codes
            for worst in worst_units(exact, trials, by=by, count=count):
                code = str(codes[worst.unit])
                found.append(NamedUnit(level.name, code, worst, worst.sentence(code, labels)))
        return tuple(found)


def _finest_that_fits(schema: Schema) -> MarginalQuery:
    """Return the query whose answers name what was off: all cells, or types of facility where the cells are very many."""
    if schema.cells <= MOST_COLUMNS or schema.facility_bounds is None:
        return detailed_query(schema)
    return parse_query(schema, schema.facility_bounds.query)
