"""Time spines: building, distances, bypassing, and exact variances while a slider moves.

Usage: python benchmarks/bench_spine.py [--blocks 400000] [--entities 10000] [--nodes 100000] [--data DIR] [--json FILE]

One core: the libraries' threads are switched off. Every figure is the median of several repetitions of wall time and of processor
time (the machine may be shared); the first call, which compiles or loads kernels, is reported apart.
"""

# ruff: noqa: E402 - threads are switched off before the libraries load

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "ARROW_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import resource
import statistics
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from phexplore.data.blocks.generator import _clumps, _codes
from phexplore.model.topdown import TopDown
from phexplore.spine.allocation import allocation_of
from phexplore.spine.area_variance import area_variances
from phexplore.spine.building import build_spine
from phexplore.spine.distance import distances
from phexplore.spine.geography import AreaCodes, EntitySet, Geography, entity_set
from phexplore.spine.settings import spine_preset
from phexplore.spine.variance import refreshed, shape_of
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.workload.queries import total_query

REPEATS = 9
LIMITS = {
    "Rhode Island: all classes built and measured": 2.0,
    "400,000 blocks: spine of production": 30.0,
    "400,000 blocks: distance of 10,000 areas": 10.0,
    "standard: tree passes": 0.020,
    "standard: all eleven query groups": 0.100,
    "bypassed and exact totals: tree passes": 0.150,
    "bypassed and exact totals: all eleven query groups": 0.400,
}


def synthetic_geography(blocks, seed=1, *, places=True):
    """Return blocks shaped like Rhode Island's, with areas that follow tracts in part and cut them in part."""
    rng = np.random.default_rng(seed)
    group = _clumps(blocks, 31, 900, rng)
    tract = _clumps(int(group[-1]) + 1, 3.34, 9, rng)
    county = _clumps(int(tract[-1]) + 1, 49, 1000, rng)
    # The state's code does not matter to a spine but for which areas 2020 targets: 06 is no strong-MCD state.
    geoids = _codes("06", group, tract, county)
    tract_of_block = tract[group]
    areas = {}
    if places:
        for name, per_area, cut in (("place", 3.0, 0.25), ("cousub", 6.0, 0.02), ("school_dist", 7.0, 0.1)):
            of_tract = _clumps(int(tract[-1]) + 1, per_area, 200, rng)
            own = of_tract[tract_of_block]
            # In some tracts a run of blocks belongs to the next area, in others to none.
            shifted = np.where(rng.random(len(of_tract))[tract_of_block] < cut, own + (group % 2), own)
            shifted = np.where(rng.random(int(group[-1]) + 1)[group] < cut / 3, -1, shifted)
            areas[name] = coded(name, shifted)
        tribal = rng.random(int(tract[-1]) + 1) < 0.02
        some = tribal[tract_of_block] & (rng.random(blocks) < 0.5)
        areas["aiannh"] = AreaCodes(
            np.array([f"{i:04d}" for i in range(10, 60)]), np.where(some, tract_of_block % 50, -1).astype(np.int32)
        )
    quarters = np.where(rng.random(blocks) < 0.04, 1 << rng.integers(0, 7, blocks), 0).astype(np.int32)
    return Geography(geoids, areas, quarters)


def coded(name, numbers):
    named = numbers >= 0
    found, which = np.unique(numbers[named], return_inverse=True)
    of_block = np.full(len(numbers), -1, np.int32)
    of_block[named] = which
    return AreaCodes(np.array([f"{name}{n:06d}" for n in found]), of_block)


def many_areas(geography, count, seed=2):
    """Return areas that overlap: runs of neighbouring blocks with holes, of very different sizes."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.lognormal(4.5, 1.3, count).astype(np.int64) + 1, geography.blocks // 10)
    starts = rng.integers(0, geography.blocks - sizes.max(), count)
    members = []
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        blocks = np.arange(start, start + size)
        members.append(blocks[rng.random(size) < 0.8] if size > 5 else blocks)
    ends = np.cumsum([0, *(len(m) for m in members)])
    return EntitySet("runs", np.arange(count).astype(str), ends, np.concatenate(members))


def timed(work, repeats=REPEATS):
    """Return the result, the first call's seconds, and median seconds (wall, processor) of the others."""
    start = time.perf_counter()
    result = work()
    first = time.perf_counter() - start
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return result, first, statistics.median(walls), statistics.median(processors)


def shifted(method, step):
    """Return the parameters with a little share moved from blocks to tracts, as a slider does."""
    move = Fraction(step, 10**5)
    shares = dict(method.level_shares)
    shares["Block"], shares["Tract"] = shares["Block"] - move, shares["Tract"] + move
    return replace(method, level_shares=shares)


def measure_variance(rows, label, geography, settings, method: TopDown):
    spine = build_spine(geography, settings)
    allocation = allocation_of(spine, method)
    nodes = sum(level.units for level in allocation.tree.levels)
    shape, *_ = timed(lambda: shape_of(allocation.tree, method), 1)
    moved = [shifted(method, step) for step in range(1, REPEATS + 2)]
    trees = [allocation_of(spine, each).tree for each in moved]
    queue = iter([*zip(trees, moved, strict=True)] * 2)
    rows[f"{label}: classes and representatives (once per spine)"] = timed(
        lambda: shape_of(allocation.tree, method), 3
    )[1:]

    def passes():
        tree, each = next(queue)
        return refreshed(shape, tree, each)

    prediction, *times = timed(passes)
    rows[f"{label}: tree passes"] = times
    kinds = [
        prediction.kinds(query)
        for query in dict.fromkeys((total_query(shape.measured.schema), *shape.measured.queries))
    ]
    answers = sum(len(each.answers) for each in kinds)
    rows[f"{label}: all eleven query groups"] = timed(lambda: prediction.variances(kinds))[1:]
    rows[f"{label}: exact margins of all places"] = timed(
        lambda: area_variances(prediction, entity_set(geography, "place"), kinds[:1]), 3
    )[1:]
    print(
        f"{label}: {nodes:,} nodes, {shape.structure.classes:,} classes, {shape.structure.representatives:,} "
        f"representatives, {len(kinds)} query groups with {answers} kinds of answers"
    )


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--blocks", type=int, default=400_000)
    arguments.add_argument("--entities", type=int, default=10_000)
    arguments.add_argument("--nodes", type=int, default=100_000)
    arguments.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    rows: dict[str, tuple[float, float, float]] = {}
    production = spine_preset("pl94-2020").settings
    method = topdown_presets()["pl94-2020-persons-us"].scenario.method

    file = options.data / "blocks" / "pl94_ri_2010_blocks.csv.gz"
    if file.exists():
        from phexplore.spine.geography_reading import read_geography

        geography = read_geography(file)

        def rhode_island():
            spine = build_spine(geography, replace(production, targets=("place", "cousub", "aiannh", "school_dist")))
            return [distances(spine.tree, entity_set(geography, name)) for name in geography.classes]

        rows["Rhode Island: file read"] = timed(lambda: read_geography(file), 1)[1:]
        rows["Rhode Island: all classes built and measured"] = timed(rhode_island, 3)[1:]

    geography = synthetic_geography(options.blocks)
    spine, *times = timed(lambda: build_spine(geography, production), 1)
    rows[f"{options.blocks:,} blocks: spine of production"] = times
    rows[f"{options.blocks:,} blocks: with tract groups of Algorithm 2"] = timed(
        lambda: build_spine(geography, replace(production, tract_groups="paper")), 1
    )[1:]
    rows[f"{options.blocks:,} blocks: bypassed"] = timed(lambda: allocation_of(spine, method), 3)[1:]
    areas = many_areas(geography, options.entities)
    rows[f"{options.blocks:,} blocks: distance of {options.entities:,} areas"] = timed(
        lambda: distances(spine.tree, areas), 3
    )[1:]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    nodes = synthetic_geography(int(options.nodes * 0.958), seed=3)
    measure_variance(rows, "standard", nodes, spine_preset("standard").settings, replace(method, invariants={}))
    measure_variance(rows, "bypassed and exact totals", nodes, production, method)

    print(f"\n{'':<62} first    wall     processor  limit   [seconds]")
    for name, (first, wall, processor) in rows.items():
        limit = LIMITS.get(name)
        print(f"{name:<62} {first:8.3f} {wall:8.4f} {processor:8.4f}  {limit or ''}")
    print(
        f"\nMemory at most {memory:.2f} GB until the distances (limit 4); load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    if options.json:
        content = {
            name: dict(zip(("first_s", "wall_s", "processor_s"), row, strict=True)) for name, row in rows.items()
        }
        options.json.write_text(json.dumps({"seconds": content, "memory_gb": memory}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
