"""TopDown runs in this process, without a worker."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from origins import SYNTHETIC
from silent_watch import SilentWatch
from topdown_worlds import PERSONS

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunData, RunSpec, describe_blocks
from phexplore.runs.store import TRUTH_FILE, RunStore, prepare_directory, trial_file
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.systems.registry import preset
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.simulation import make_simulation

SCENARIO = Scenario("persons", PERSONS)
EXPANDED = TopDownOptions(expand=5)


def run(directory, spec):
    """Run in this process, without a worker."""
    prepare_directory(directory, spec)
    simulation, watch = make_simulation(spec, directory), SilentWatch()
    simulation.prepare(watch)
    for index in range(spec.trials):
        simulation.write_trial(index, directory / trial_file(index))
    return simulation.finish(tuple(range(spec.trials)), watch)


def spec_of(path, scenario=SCENARIO, trials=2, seed=1, **changes):
    return RunSpec(scenario, describe_blocks(path), trials, seed, **changes)


BLOCKS = 400


class WrittenRun:
    """A run of synthetic blocks whose trials move one person in every seventh block."""

    def __init__(self, root):
        self.population = synthesize_blocks(BLOCKS, 5)
        scenario = preset("pl94-2020-persons-us").scenario
        spec = RunSpec(
            scenario,
            RunData("/no/blocks", "0" * 64, 1, provenance=SYNTHETIC, blocks=True),
            3,
            1,
            options=TopDownOptions(),
        )
        self.directory = RunStore(root).create(spec, datetime(2026, 5, 4, tzinfo=UTC))
        self.files = LeafFiles(self.population.schema, self.population.geoids)
        self.truth = histograms_of(self.population)
        self.files.write(self.directory / TRUTH_FILE, self.truth, {"confidential": False, "label": "synthetic"})
        self.trials = 0

    def add_trial(self, change=1):
        counts = self.truth.counts.copy()
        firsts = self.truth.starts[:-1][np.diff(self.truth.starts) > 0]
        counts[firsts[::7]] += change
        path = self.directory / trial_file(self.trials)
        self.files.write(
            path, Histograms(self.truth.starts, self.truth.cells, counts), {"failsafe": 0, "families": {"Block": 9}}
        )
        self.trials += 1
        return counts


def ask(directory, tab, reader=None, beside=(), **choices):
    """Return what the page of results would get."""
    return (reader or TopDownRunReader()).answer(RunRequest(directory, tab, choices, tuple(beside)))


def records(figure):
    """Return the data table of a figure as one dictionary per row."""
    return [dict(zip(figure.table.headers, row, strict=True)) for row in figure.table.rows]
