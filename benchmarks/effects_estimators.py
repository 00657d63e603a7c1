"""The pooled estimator against TopDown on the same noise: errors of Rhode Island by level and town, prediction and time.

Usage: python benchmarks/effects_estimators.py [--trials N] [--full] [--spine] [--units] [--json FILE]

Errors are means over seed 1, trials 0 to N - 1: of totals and of the 16 cells (`--full`: seven races by ethnicity and voting age of the
2,016), in people. `--spine` takes the spine of 2020 instead of the standard one. `--units` takes housing units, vacant or occupied, instead of people. Seconds are processor time, both estimators in turn in
one process; ratios are pooled over top-down.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from effects_topdown import DATA, PERSONS, SEED, cells_of, noise_for, world_of

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.source import read_population
from phexplore.simulate.topdown.driver import Descent, World, descend
from phexplore.simulate.topdown.families import Estimation
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.simulate.topdown.measuring import Draw, DrawnMeasurements, TrialKey
from phexplore.simulate.topdown.on_spine import in_code_order, world_on_spine
from phexplore.simulate.topdown.pooling import lowest_pooled, pool
from phexplore.spine.variance import predict
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.run_data import units_of_persons
from phexplore.systems.topdown.solving_tree import with_level_shares
from phexplore.workload.queries import total_query

UNITS = topdown_presets()["pl94-2020-units-us"].scenario.method
_TOWN = 10
"""Characters of a code that name state, county and town."""


def estimated(world: World, trial: int, *, is_pooled: bool) -> tuple[Descent, float]:
    """Return one trial's estimates and the processor seconds they took."""
    start = time.process_time()
    sources = [DrawnMeasurements(Draw(TrialKey(SEED, trial))) for _ in world.design.levels]
    if is_pooled:
        sources = pool(world, sources, lowest=lowest_pooled(world))
    found = descend(world, sources, Estimation(pooled=is_pooled))
    return found, time.process_time() - start


def errors(full: World, leaves: Histograms, towns: np.ndarray) -> dict[str, np.ndarray]:
    """Return mean absolute errors of totals and cells, and mean squared errors of totals, by level and of towns."""
    cells, found = cells_of(full), {}
    levels = sums_up(leaves, full.tree, full.design.schema.cells)
    for level, estimate, truth in zip(full.tree.levels, levels, full.truth, strict=True):
        found[level.name] = _figures(estimate.answers(*cells) - truth.answers(*cells))
    difference = levels[-1].answers(*cells) - full.truth[-1].answers(*cells)
    names, place = np.unique(towns, return_inverse=True)
    sums = np.zeros((len(names), difference.shape[1]), np.int64)
    np.add.at(sums, place, difference)
    return found | {"Town": _figures(sums)}


def _figures(difference: np.ndarray) -> np.ndarray:
    totals = difference.sum(axis=1)
    return np.array([np.abs(totals).mean(), np.abs(difference).mean(), (totals.astype(float) ** 2).mean()])


def predicted(full: World) -> dict[str, float]:
    """Return the variance of totals by the best linear estimate, mean over the units, with 1/12 for rounding."""
    found = predict(with_level_shares(full.tree, PERSONS), PERSONS, full.design.schema)
    table = found.variances([found.kinds(total_query(full.design.schema))])
    return {
        level.name: float(found.at_level(number, table).mean()) + 1 / 12
        for number, level in enumerate(full.tree.levels)
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--trials", type=int, default=20)
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--spine", action="store_true")
    arguments.add_argument("--units", action="store_true")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    blocks = read_population(DATA)
    towns = np.array([str(code)[:_TOWN] for code in blocks.places["cousub"]])
    method = UNITS if options.units else PERSONS
    if options.units:
        blocks = units_of_persons(DATA, blocks)
    elif options.full:
        blocks = expand(blocks, 3)
    full = world_of(blocks, method)
    world = world_on_spine(full, method, blocks, noise_for(method))[0] if options.spine else full
    seconds, sums = np.zeros(2), [{}, {}]
    for trial in range(-1, options.trials):
        for place, is_pooled in enumerate((False, True)):
            found, taken = estimated(world, max(trial, 0), is_pooled=is_pooled)
            if trial < 0:
                continue  # loads the compiled code
            seconds[place] += taken
            for name, figures in errors(full, in_code_order(world.tree, found.leaves), towns).items():
                sums[place][name] = sums[place].get(name, 0) + figures / options.trials
    kinds = ("mae total", "mae cells", "mse total")
    result = {
        "ratio": {
            name: dict(zip(kinds, np.round(sums[1][name] / np.maximum(sums[0][name], 1e-12), 3).tolist(), strict=True))
            for name in sums[0]
        },
        "pooled": {name: dict(zip(kinds, figures.tolist(), strict=True)) for name, figures in sums[1].items()},
        "seconds ratio": round(float(seconds[1] / seconds[0]), 3),
    }
    if not (options.full or options.spine or options.units):
        result["predicted mse of totals, at once + 1/12"] = predicted(full)
    print(json.dumps(result, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
