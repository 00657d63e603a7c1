"""Exact integer noise: samples a second per core against OpenDP, table building, margins and conversions.

    python benchmarks/bench_sampler.py [--samples 8000000] [--repeats 7] [--json FILE]

One thread. Random bits are part of the work: AES-256-CTR keyed by the operating system here, OpenDP's own there. Both
write 64-bit integers; the columns before are the narrow type the sampler offers. The engines take turns, and the ratio is
of their medians on the same clock: CPU seconds of the process, which other programs on the machine disturb less than wall
time (printed too). Every set of samples must have the variance of its distribution.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from fractions import Fraction
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from phexplore.accounting.zcdp import curve, epsilon, rho_for_epsilon
from phexplore.model.conventions import Conversion
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric
from phexplore.noise.entropy import OsEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.noise.sums import sum_margin
from phexplore.noise.tables import thresholds

NOISES: dict[str, Noise] = {
    "σ² = 0.4": DiscreteGaussian(Fraction(2, 5)),
    "σ² = 1": DiscreteGaussian(Fraction(1)),
    "σ² = 10": DiscreteGaussian(Fraction(10)),
    "σ² = 1000": DiscreteGaussian(Fraction(1000)),
    "σ² = 92401 (PH1 nation)": DiscreteGaussian.for_budget(22, Fraction("0.002619")),
    "σ² = 1e6": DiscreteGaussian(Fraction(10**6)),
    "σ² = 1e8": DiscreteGaussian(Fraction(10**8)),
    "b = 66.7 (toy, pure DP)": TwoSidedGeometric.for_budget(22, Fraction("0.33")),
}
GOAL = "at least 100 million samples/s per core and 5000 times OpenDP for σ² from 0.4 to 1000, 1000 times at 1e6"
PEER_SAMPLES = 20_000


def seconds(work) -> tuple[float, float]:
    """Return wall and CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def build_seconds(noise: Noise) -> float:
    """Return the time a sampler takes to build, the fastest of three: interruptions only ever add."""
    found = []
    for _ in range(3):
        sampler_for.cache_clear()
        thresholds.cache_clear()
        found.append(seconds(lambda: sampler_for(noise))[0])
    return min(found)


def peer_for(noise: Noise):
    """Return a function that draws n samples with OpenDP, or None when it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if isinstance(noise, DiscreteGaussian):
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=math.sqrt(noise.sigma2))
    else:
        measurement = dp.m.make_geometric(domain, dp.l1_distance(T="i64"), scale=float(noise.scale))
    return lambda size: measurement([0] * size)


def check(samples, noise: Noise, who: str) -> None:
    """Stop when the variance is off by more than seven standard errors of the widest of these distributions."""
    ratio = float(np.var(np.asarray(samples, dtype=np.float64))) / noise.variance()
    if abs(ratio - 1) > 7 * math.sqrt(5 / len(samples)):
        raise SystemExit(f"{who} drew {noise} with {ratio:.4f} times its variance")


def throughput(name: str, noise: Noise, samples: int, repeats: int) -> dict:
    build = build_seconds(noise)
    sampler, entropy, peer = sampler_for(noise), OsEntropy(), peer_for(noise)
    wide, narrow = np.empty(samples, dtype=np.int64), np.empty(samples, dtype=sampler.dtype)
    for out in (wide, narrow):
        sampler.fill(entropy, out)
        check(out, noise, "phexplore")
    if peer:
        check(peer(PEER_SAMPLES), noise, "OpenDP")
    zeros = None if peer is None else partial(peer, PEER_SAMPLES)
    clocks: dict[str, list[tuple[float, float]]] = {"wide": [], "narrow": [], "peer": []}
    for _ in range(repeats):
        clocks["wide"].append(seconds(lambda: sampler.fill(entropy, wide)))
        clocks["narrow"].append(seconds(lambda: sampler.fill(entropy, narrow)))
        if zeros:
            clocks["peer"].append(seconds(zeros))

    def rate(which: str, clock: int, count: int) -> float:
        return count / statistics.median(times[clock] for times in clocks[which])

    row = {
        "noise": name,
        "build_s": build,
        "narrow_type": sampler.dtype.name,
        "samples_per_cpu_s": rate("wide", 1, samples),
        "samples_per_wall_s": rate("wide", 0, samples),
        "narrow_samples_per_cpu_s": rate("narrow", 1, samples),
    }
    if zeros:
        row["opendp_per_cpu_s"] = rate("peer", 1, PEER_SAMPLES)
        row["ratio"] = row["samples_per_cpu_s"] / row["opendp_per_cpu_s"]
    return row


def microseconds(work, repeats: int = 300) -> float:
    """Return the median wall time of one call."""
    work()
    return 1e6 * statistics.median(seconds(work)[0] for _ in range(repeats))


def calls() -> list[dict]:
    """Time what the window calls at every edit."""
    ninety, delta = Fraction(9, 10), Fraction(1, 10**10)
    rho = Fraction(293764, 114921)
    deltas = [Fraction(1, 10**power) for power in range(1, 61)]
    nation = DiscreteGaussian.for_budget(22, Fraction("0.002619"))
    toy = TwoSidedGeometric.for_budget(22, Fraction("0.33"))
    table: dict[str, tuple] = {f"margin, {name}": (partial(noise.margin, ninety),) for name, noise in NOISES.items()}
    table["margin, σ² = 1e14"] = (partial(DiscreteGaussian(Fraction(10**14)).margin, ninety),)
    table["sum_margin, 16 cells, σ² = 92401"] = (partial(sum_margin, [nation] * 16, ninety),)
    table["sum_margin, 408 cells, σ² = 92401"] = (partial(sum_margin, [nation] * 408, ninety),)
    table["sum_margin, 16 cells, σ² = 1"] = (partial(sum_margin, [NOISES["σ² = 1"]] * 16, ninety),)
    table["sum_margin, 2 cells, b = 66.7"] = (partial(sum_margin, [toy] * 2, ninety),)
    table["sum_margin, 16 cells, b = 66.7"] = (partial(sum_margin, [toy] * 16, ninety),)
    for conversion in Conversion:
        table[f"epsilon, {conversion.value}"] = (partial(epsilon, rho, delta, conversion),)
        table[f"rho_for_epsilon, {conversion.value}"] = (partial(rho_for_epsilon, Fraction(17), delta, conversion),)
    table["ε–δ curve, 60 points × 3 conversions"] = (lambda: [curve(rho, kind, deltas) for kind in Conversion], 20)
    return [{"call": name, "median_us": microseconds(*work)} for name, work in table.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=8_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    try:
        peer = f"OpenDP {version('opendp')}"
    except PackageNotFoundError:
        peer = "OpenDP (not installed)"
    print(f"one thread, {options.samples:,} samples, median of {options.repeats}; peer: {peer}")
    print(f"{'noise':<26}{'M/s CPU':>9}{'M/s wall':>9}{'narrow':>9}{'peer k/s':>10}{'ratio':>8}{'build ms':>10}")
    rows = []
    for name, noise in NOISES.items():
        row = throughput(name, noise, options.samples, options.repeats)
        rows.append(row)
        print(
            f"{name:<26}{row['samples_per_cpu_s'] / 1e6:>9.0f}{row['samples_per_wall_s'] / 1e6:>9.0f}"
            f"{row['narrow_samples_per_cpu_s'] / 1e6:>9.0f}{row.get('opendp_per_cpu_s', math.nan) / 1e3:>10.1f}"
            f"{row.get('ratio', math.nan):>8.0f}{1e3 * row['build_s']:>10.1f}"
        )
    timed = calls()
    for row in timed:
        print(f"{row['call']:<44}{row['median_us']:>10.1f} µs")
    if options.json:
        with Path(options.json).open("w", encoding="utf-8") as file:
            json.dump(
                {"benchmark": "sampler", "goal": GOAL, "peer": peer, "rows": rows, "calls": timed}, file, indent=1
            )


if __name__ == "__main__":
    main()
