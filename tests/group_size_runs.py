"""Runs of small group-size scenarios in this process: a directory with specification, trials, summary and exact counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from silent_watch import SilentWatch

from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.region_tree import tree_of_paths
from phexplore.data.regions.taxi_shaped import write_size_counts
from phexplore.model.group_sizes import GroupSizes, SizeMechanism, equal_shares
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunMode, RunSpec, data_of, encode_spec
from phexplore.runs.store import SPEC_FILE, SUMMARY_FILE, trial_file
from phexplore.runs.writing import write_json, writing
from phexplore.systems.group_sizes.simulation import make_simulation

LEVELS = ("Country", "State", "County")
SMALL = Scenario(
    "small", GroupSizes(LEVELS, (1, 2, 5), Fraction(3, 2), equal_shares(LEVELS), 12, SizeMechanism.CUMULATIVE_TREE)
)


def small_table(random):
    """Two states, five counties, sizes 1 to 12."""
    tree = tree_of_paths(LEVELS, [("A", "1"), ("A", "2"), ("B", "1"), ("B", "2"), ("B", "3")])
    counts = random.poisson([40, 60, 30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.1], (5, 12))
    return GroupSizeTable(tree, counts, "Households")


def small_file(directory, random):
    """Write the small table and return it with its path."""
    table = small_table(random)
    write_size_counts(table, directory / "groups.csv")
    return table, directory / "groups.csv"


def with_mechanism(mechanism, **fields):
    """The small scenario with another mechanism."""
    return replace(SMALL, method=replace(SMALL.method, mechanism=mechanism, **fields))


def run_here(directory, path, scenario=SMALL, trials=3, seed=5, mode=RunMode.PRIVATE):
    """Run without a worker; return the method's part of the summary and the notes."""
    directory.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(scenario, data_of(scenario, path), trials, seed, mode)
    write_json(directory / SPEC_FILE, encode_spec(spec))
    simulation, watch = make_simulation(spec, directory), SilentWatch()
    simulation.prepare(watch)
    for index in range(trials):
        with writing(directory / trial_file(index)) as part:
            simulation.write_trial(index, part)
    content = simulation.finish(tuple(range(trials)), watch)
    write_json(directory / SUMMARY_FILE, {"trials": trials, **content})
    return content, watch.notes
