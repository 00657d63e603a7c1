"""TopDown runs in this process, without a worker."""

from __future__ import annotations

from silent_watch import SilentWatch
from topdown_worlds import PERSONS

from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import prepare_directory, trial_file
from phexplore.systems.topdown.run_options import TopDownOptions
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
