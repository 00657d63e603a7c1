"""What each choice of our TopDown, and each place where paper and production differ, changes in the results of Rhode Island.

Usage: python benchmarks/effects_topdown.py [--trials N] [--full] [--json FILE]

Every variant estimates the same blocks with the same random bits (seed 1, trials 0 to N - 1), so differences are those of the variant. Errors are
mean absolute errors of totals and of the 16 cells, in people, by level. `--full` adds the 2,016-cell schema.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.source import read_population
from phexplore.model.topdown import TopDown
from phexplore.noise.distributions import Noise
from phexplore.optimize.least_squares import LeastSquaresOptions
from phexplore.optimize.rounder import RounderOptions, Target
from phexplore.simulate.topdown.baseline import leaves_alone
from phexplore.simulate.topdown.design import make_design
from phexplore.simulate.topdown.driver import World, descend, make_world
from phexplore.simulate.topdown.families import Estimation, level_data
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.workload.queries import MarginalQuery, parse_query

DATA = Path(__file__).parents[2] / "shared" / "data" / "blocks" / "pl94_ri_2010_blocks.csv.gz"
PERSONS = topdown_presets()["pl94-2020-persons-us"].scenario.method
SEED = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a variant gave.

    Attributes:
        leaves: per trial, in the order of the codes.
        failed: parents the failsafe took over, all trials.
        seconds: processor time.
    """

    leaves: tuple[Histograms, ...]
    failed: int
    seconds: float


def world_of(population: BlockPopulation, method: TopDown) -> World:
    """Return the world of a scenario on the standard spine."""
    tree = tree_of(population.geocodes(), method.levels)
    names = [level.name for level in tree.levels]
    facilities = population.facilities is not None
    design = make_design(method, population.schema, names, noise_for(method), has_facilities=facilities)
    return make_world(design, tree, population)


def noise_for(method: TopDown) -> Callable[[Fraction], Noise]:
    """Return the noise of a budget."""
    return lambda budget: noise_of(method.framework, budget)[0]


def estimate(world: World, trials: int, options: Estimation | None = None, seed: int | None = SEED) -> Outcome:
    """Run some trials."""
    leaves, failed, start = [], 0, time.process_time()
    for trial in range(trials):
        sources = [DrawnMeasurements(Draw(TrialKey(seed, trial))) for _ in world.design.levels]
        found = descend(world, sources, options)
        leaves.append(in_code_order(world.tree, found.leaves))
        failed += found.record.failed
    return Outcome(tuple(leaves), failed, time.process_time() - start)


def errors(full: World, outcome: Outcome) -> dict[str, dict[str, float]]:
    """Return mean absolute errors per level of totals, and of the cells of eight groups by voting age."""
    found: dict[str, dict[str, list[float]]] = {}
    for leaves in outcome.leaves:
        levels = sums_up(leaves, full.tree, full.design.schema.cells)
        for level, estimated, truth in zip(full.tree.levels, levels, full.truth, strict=True):
            entry = found.setdefault(level.name, {"total": [], "cells": []})
            entry["total"].append(float(np.abs(estimated.totals() - truth.totals()).mean()))
            answers = [each.answers(*cells_of(full)) for each in (estimated, truth)]
            entry["cells"].append(float(np.abs(answers[0] - answers[1]).mean()))
    return {level: {name: float(np.mean(values)) for name, values in entry.items()} for level, entry in found.items()}


def cells_of(full: World) -> tuple[np.ndarray, int]:
    """Return the 16 cells of the reduced schema, or in the full one seven major races by ethnicity and voting age."""
    schema = full.design.schema
    name = "detailed" if schema.id in {"pl94_reduced16", "pl94_units"} else "votingage * hispanic * majorRaces"
    query: MarginalQuery = parse_query(schema, name)
    return query.cell_map(), query.answers


def changed(one: Outcome, other: Outcome) -> float:
    """Return the share of filled leaf cells that differ, averaged over trials."""
    shares = [
        a.differences(b) / max(1, len(np.union1d(_keys(a), _keys(b))))
        for a, b in zip(one.leaves, other.leaves, strict=True)
    ]
    return float(np.mean(shares))


def _keys(histograms: Histograms) -> np.ndarray:
    return np.repeat(np.arange(histograms.units), np.diff(histograms.starts)) * 2016 + histograms.cells


def without_passes(method: TopDown) -> TopDown:
    """Return a scenario whose queries are all fitted at once and rounded by cell."""
    return replace(method, passes={})


def variants(blocks: BlockPopulation, trials: int) -> list[dict[str, object]]:
    """Return the figures of every variant."""
    full = world_of(blocks, PERSONS)
    base = estimate(full, trials)
    rows = [_row("as shipped (fractional target, slack 0.01, standard spine)", full, base, base)]

    def add(name: str, world: World, options: Estimation | None = None, seed: int | None = SEED) -> Outcome:
        outcome = estimate(world, trials, options, seed)
        rows.append(_row(name, full, outcome, base))
        print(json.dumps(rows[-1]), flush=True)
        return outcome

    print(json.dumps(rows[-1]), flush=True)
    add("rounder target rounded (production)", full, Estimation(rounder=RounderOptions(target=Target.WHOLE)))
    for slack in (0.0, 0.1, 1.0):
        add(f"slack {slack:g} on held answers", full, Estimation(LeastSquaresOptions(slack=slack)))
    for accuracy in (1e-9, 1e-5, 1e-3):
        add(f"least squares to {accuracy:g} people", full, Estimation(LeastSquaresOptions(accuracy=accuracy)))
    add("all queries in one pass, rounded by cell", world_of(blocks, without_passes(PERSONS)))
    add("block by block", leaves_alone(full, PERSONS.total, noise_for(PERSONS)))
    add(
        "budget x 2: what unbounded neighbours would be charged",
        world_of(blocks, replace(PERSONS, total=2 * PERSONS.total)),
    )
    add("spine of 2020 (optimised, bypassing)", world_on_spine(full, PERSONS, blocks, noise_for(PERSONS))[0])
    add("noise from the operating system", full, None, None)
    add("other seed", full, None, SEED + 1)
    return rows


def _row(name: str, full: World, outcome: Outcome, base: Outcome) -> dict[str, object]:
    return {
        "variant": name,
        "mae": errors(full, outcome),
        "filled_leaf_cells_changed": changed(outcome, base),
        "failsafe": outcome.failed,
        "processor_s_per_trial": outcome.seconds / len(outcome.leaves),
    }


def ties(blocks: BlockPopulation) -> dict[str, float]:
    """Return the share of least squares values of blocks whose fraction lies within 1e-6, 1e-3 of one half, of 0."""
    from phexplore.optimize.least_squares import least_squares
    from phexplore.simulate.topdown.driver import family_ranges

    world = world_of(blocks, PERSONS)
    found = []
    for task in family_ranges(world, len(world.design.levels) - 1, world.truth[-2]):
        measured = DrawnMeasurements(Draw(TrialKey(SEED, 0))).measure(
            task.level, task.truth, task.first_child, task.classes
        )
        found.append(least_squares(task.level.plan, level_data(task, measured)).values)
    values = np.concatenate(found)
    fraction = values - np.floor(values)
    return {
        "values": len(values),
        "within 1e-6 of one half": float((np.abs(fraction - 0.5) < 1e-6).mean()),
        "within 1e-3 of one half": float((np.abs(fraction - 0.5) < 1e-3).mean()),
        "exactly whole": float((np.minimum(fraction, 1 - fraction) < 1e-9).mean()),
    }


def full_schema(blocks: BlockPopulation, reduced: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the figures in the full schema, by seed of the expansion."""
    found = list(reduced)
    for seed in (3, 4):
        world = world_of(expand(blocks, seed), PERSONS)
        outcome = estimate(world, 1)
        found.append(_row(f"full schema, expansion seed {seed}", world, outcome, outcome))
        print(json.dumps(found[-1]), flush=True)
    whole = estimate(world, 1, Estimation(rounder=RounderOptions(target=Target.WHOLE)))
    found.append(_row("full schema, rounded target", world, whole, outcome))
    print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--trials", type=int, default=3)
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    blocks = read_population(DATA)
    estimate(world_of(blocks.part(0, 500), PERSONS), 1)
    fractions = ties(blocks)
    print(json.dumps(fractions), flush=True)
    rows = variants(blocks, options.trials)
    if options.full:
        rows = full_schema(blocks, rows)
    if options.json is not None:
        options.json.write_text(json.dumps({"fractions": fractions, "variants": rows}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
