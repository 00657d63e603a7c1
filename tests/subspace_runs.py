"""Runs of subspace scenarios in this process: a directory with specification, trials, summary and exact answers."""

from __future__ import annotations

from fractions import Fraction

from silent_watch import SilentWatch

from phexplore.model.scenario import Scenario
from phexplore.model.subspace import (
    Axis,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.runs.spec import RunMode, RunSpec, data_of, encode_spec
from phexplore.runs.store import SPEC_FILE, SUMMARY_FILE, trial_file
from phexplore.runs.writing import write_json, writing
from phexplore.simulate.subspace.cell_counts import shipped_table
from phexplore.systems.registry import preset
from phexplore.systems.subspace.simulation import make_simulation

COUNTIES = preset("counties-invariant-2010").scenario

_HALF = Fraction(1, 2)
TWO_RELEASES = Scenario(
    "two",
    Subspace(
        (Axis("county", 4, ("a", "b", "c", "d"), (Grouping("state", tuple("xxyy")),)), Axis("sex", 2)),
        {
            "cells": Release(Histogram(), (Totals(("state",)),), Mechanism.PROJECTED_LAPLACE, _HALF),
            "shares": Release(
                LinearQuery(
                    (
                        LinearCount("third", ((0, Fraction(1, 3)), (1, Fraction(1, 3)))),
                        LinearCount("half", ((2, _HALF), (3, Fraction(1)))),
                        LinearCount("rest", ((4, Fraction(1)), (7, Fraction(-1)))),
                    )
                ),
                (LinearCount("exact", ((0, Fraction(3)), (1, Fraction(2)))),),
                Mechanism.EXTENDED_GAUSSIAN,
                _HALF,
            ),
        },
        Fraction(2),
        Fraction(1, 10**6),
    ),
)


def counts_file(directory):
    """Write the counts of `TWO_RELEASES` and return the file."""
    rows = [
        f"{county},{sex},{100 + 17 * place},synthetic"
        for place, (county, sex) in enumerate((c, s) for c in "abcd" for s in (0, 1))
    ]
    path = directory / "counts.csv"
    path.write_text("county,sex,count,provenance\n" + "\n".join(rows) + "\n")
    return path


def specification(scenario=COUNTIES, data=None, trials=3, seed=1, mode=RunMode.PRIVATE):
    """Return what a run of this scenario does."""
    path = data or shipped_table(scenario.subspace)
    return RunSpec(scenario, data_of(scenario, path), trials, seed, mode)


def run_here(directory, spec):
    """Run all trials, write the summary and return it with the simulation."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / SPEC_FILE, encode_spec(spec))
    watch, simulation = SilentWatch(), make_simulation(spec, directory)
    simulation.prepare(watch)
    for index in range(spec.trials):
        with writing(directory / trial_file(index)) as part:
            simulation.write_trial(index, part)
    content = simulation.finish(tuple(range(spec.trials)), watch)
    write_json(directory / SUMMARY_FILE, dict(content))
    return content, simulation
