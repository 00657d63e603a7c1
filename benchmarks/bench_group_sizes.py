"""Time of the exact solvers of group sizes: the tree for N = 1,000 and 3,144 counties, the chain over 3.2 million leaves.

Usage: python benchmarks/bench_group_sizes.py [--json FILE]

The counties are synthetic, shaped like the census data of the paper. The chain is timed beside SciPy's isotonic regression on
the same answers in the same run: alone (one level, real numbers), and doing the same task (weights of three levels, whole
numbers, bounds). Times are of the processor; medians of warm calls in turn. The memory a process takes the first time is not
in them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression

from phexplore.data.regions.region_tree import tree_of_paths
from phexplore.simulate.group_sizes.chain_kernel import fit_monotone
from phexplore.simulate.group_sizes.cost_tables import fit_by_tables
from phexplore.simulate.group_sizes.fitting import fit_chain, fit_exactly, fit_level_by_level, fit_region_by_region
from phexplore.simulate.group_sizes.measuring import along_chain
from phexplore.simulate.group_sizes.release import ConsistencyChecks, consistency_checks_of
from phexplore.simulate.group_sizes.size_tree import size_tree

STATES, COUNTIES, SIZES, GROUPS = 51, 3144, 1000, 117_630_445
LEVELS = ("Nation", "State", "County")


def synthetic_counties(random):
    """Return a hierarchy and exact counts by level, most groups small, a few of every size."""
    sizes = random.multinomial(COUNTIES - STATES, np.full(STATES, 1 / STATES)) + 1
    paths = [(f"{state:02}", f"{county:03}") for state, count in enumerate(sizes) for county in range(count)]
    tree = tree_of_paths(LEVELS, paths)
    share = np.zeros(SIZES)
    share[:7] = [0.27, 0.33, 0.16, 0.13, 0.06, 0.03, 0.012]
    share[7:] = 0.008 * 0.6 * 0.4 ** np.arange(SIZES - 7)
    share += 2e-7
    weights = random.lognormal(0, 1.4, COUNTIES)
    counts = random.poisson(GROUPS * np.outer(weights / weights.sum(), share / share.sum())).astype(np.int64)
    return tree, tree.sums(counts)


def geometric(random, scale, shape):
    """Return double-geometric noise; a stand-in for the exact sampler, whose time is measured elsewhere."""
    rest = 1 - np.exp(-1 / scale)
    return random.geometric(rest, shape) - random.geometric(rest, shape)


def timed(work, repeats=7):
    """Return median processor and wall seconds of warm calls."""
    work()
    taken = []
    for _ in range(repeats):
        wall, own = time.perf_counter(), time.process_time()
        work()
        taken.append((time.process_time() - own, time.perf_counter() - wall))
    return {
        "seconds": statistics.median(own for own, _ in taken),
        "wall": statistics.median(wall for _, wall in taken),
    }


def bench_fits(tree, exact, epsilon, random):
    """Time every exact fit at one ε."""
    shape, groups = size_tree(tree, SIZES), int(exact[0].sum())
    direct = [level + geometric(random, 2 * 3 / epsilon, level.shape) for level in exact]
    cumulative = [np.cumsum(level, axis=1) + geometric(random, 3 / epsilon, level.shape) for level in exact]
    chains = [along_chain(level) for level in exact]
    chains = [chain + geometric(random, 3 / epsilon, chain.shape) for chain in chains]
    fits = {
        "tree": lambda: fit_exactly(direct, shape, groups),
        "top down": lambda: fit_level_by_level(direct, shape, groups),
        "cumulative, Algorithm 2": lambda: fit_region_by_region(cumulative, shape, groups),
        "chain": lambda: fit_chain(chains, tree, SIZES, groups, [1, 1, 1]),
    }
    for fit in fits.values():
        assert consistency_checks_of(fit(), tree, groups) == ConsistencyChecks(0, 0, 0)
    return {f"{name}, ε = {epsilon}": timed(fit) for name, fit in fits.items()}


def chain_steps(random, leaves):
    """Return three kinds of chains: no large groups at all, a few of every size, and many at every place."""
    small = np.zeros(leaves, np.int64)
    small[: COUNTIES * 12] = random.poisson(3000, COUNTIES * 12)
    yield "no groups above size 12", small
    yield "a group in 130 places", small + random.poisson(1 / 130, leaves)
    yield "36 groups in every place", random.poisson(36, leaves)


def bench_chain(random, steps):
    """Time the chain alone and SciPy beside it, on one chain of cumulative counts."""
    leaves = len(steps)
    exact = np.cumsum(steps)
    answers = exact + geometric(random, 30, leaves)
    weights = np.ones(leaves, np.int64)
    weights[61::62] += 1
    weights[COUNTIES - 1 :: COUNTIES] += 1
    sums, groups, out = answers * weights, int(exact[-1]), np.empty(leaves, np.int64)

    def ours():
        fit_monotone(sums, weights, 0, groups, out)

    def scipy_alone():
        return isotonic_regression(answers)

    def scipy_same():
        found = isotonic_regression(sums / weights, weights=weights)
        return np.clip(np.floor(found.x + 0.5), 0, groups).astype(np.int64)

    ours()
    assert (out == scipy_same()).all()
    found: dict[str, list[float]] = {"ours": [], "scipy": [], "scipy, same task": []}
    for _ in range(9):
        for name, work in (("ours", ours), ("scipy", scipy_alone), ("scipy, same task", scipy_same)):
            began = time.process_time()
            work()
            found[name].append(time.process_time() - began)
    seconds = {name: statistics.median(values[1:]) for name, values in found.items()}
    return {
        "leaves": leaves,
        "seconds": seconds,
        "ratio": seconds["scipy"] / seconds["ours"],
        "ratio, same task": seconds["scipy, same task"] / seconds["ours"],
    }


def bench_tables(random):
    """Time the paper's cost tables beside the fast solution on a tree both can do."""
    tree = tree_of_paths(("a", "b", "c"), [(f"{i}", f"{j}") for i in range(5) for j in range(8)])
    exact = tree.sums(random.poisson(2, (40, 10)))
    groups, shape = int(exact[0].sum()), size_tree(tree, 10)
    answers = [level + geometric(random, 6, level.shape) for level in exact]
    return {
        "nodes": int(shape.first[-1]),
        "groups": groups,
        "tables": timed(lambda: fit_by_tables(answers, shape, groups)),
        "fast": timed(lambda: fit_exactly(answers, shape, groups)),
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    random = np.random.default_rng(0)
    tree, exact = synthetic_counties(random)
    fits = {}
    for epsilon in (0.1, 1.0):
        fits |= bench_fits(tree, exact, epsilon, random)
    result = {"load": os.getloadavg()[0], "fits": fits, "tables": bench_tables(random)}
    result["chains"] = {name: bench_chain(random, steps) for name, steps in chain_steps(random, 3_200_000)}
    print(f"load {result['load']:.1f}; {COUNTIES:,} counties, {SIZES:,} sizes, {int(exact[0].sum()):,} groups")
    for name, taken in fits.items():
        print(f"{name:<36} {taken['seconds']:7.3f} s processor  {taken['wall']:7.3f} s wall")
    for name, chain in result["chains"].items():
        seconds = ", ".join(f"{n} {s:.4f} s" for n, s in chain["seconds"].items())
        print(f"chain over {chain['leaves']:,} leaves, {name}: {seconds}")
        print(f"  SciPy alone {chain['ratio']:.1f} times, the same task {chain['ratio, same task']:.1f} times ours")
    tables = result["tables"]
    print(
        f"cost tables, {tables['nodes']:,} nodes, {tables['groups']:,} groups: {tables['tables']['seconds']:.4f} s, "
        f"fast solution {tables['fast']['seconds']:.5f} s"
    )
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
