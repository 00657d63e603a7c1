"""Proven ε: every preset without a cache, a curve of eleven δ, random edits, all pairs of paths; processor milliseconds.

Usage: python benchmarks/bench_proven.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from fractions import Fraction
from pathlib import Path

from phexplore.accounting import exact_curve
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.systems.registry import forecast, presets

EDITS, REPEATS = 200, 5
CURVE = [Fraction(1, 10**power) for power in range(5, 16)]
EDITED = ("pl94-2020-persons-us", "pl94-2020-units-us", "dhc-2020-persons-us", "dhc-2020-units-us", "sdhc-2020-us")


def taken(work) -> float:
    """Return the processor milliseconds of a piece of work without what was kept of earlier ones."""
    exact_curve._bracket.cache_clear()
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def edited(parts, rnd):
    """Return the parts with the variance of one of them changed by a factor of 1/3 to 3."""
    changed = list(parts)
    place = rnd.randrange(len(changed))
    factor = Fraction(round(1000 * 3 ** rnd.uniform(-1, 1)), 1000)
    changed[place] = changed[place]._replace(variance=changed[place].variance * factor)
    return changed


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    known = {name: forecast(each.scenario) for name, each in presets().items()}
    noises = {f"{name} {side.value}": parts for name, f in known.items() for side, parts in f.noise.items()}
    exact_curve.epsilon_bracket(next(iter(noises.values())), HEADLINE_DELTA)  # loads what it needs
    result = {"load": os.getloadavg()[0], "cold_ms": {}, "curve_ms": {}, "edits_ms": {}, "paths_ms": {}, "widest": 0.0}
    for name, parts in noises.items():
        found = [taken(lambda p=parts: exact_curve.epsilon_bracket(p, HEADLINE_DELTA)) for _ in range(REPEATS)]
        result["cold_ms"][name] = {"median": statistics.median(found), "most": max(found)}
        bracket = exact_curve.epsilon_bracket(parts, HEADLINE_DELTA)
        result["widest"] = max(result["widest"], bracket.high - bracket.low)
        result["curve_ms"][name] = taken(lambda p=parts: exact_curve.epsilon_curve(p, CURVE))
    rnd = random.Random(17)
    for name in EDITED:
        parts = known[name].noise[known[name].loss.neighbours]
        tried = [edited(parts, rnd) for _ in range(EDITS)]
        spent = sorted(taken(lambda p=each: exact_curve.epsilon_bracket(p, HEADLINE_DELTA)) for each in tried)
        result["edits_ms"][name] = {"p50": spent[EDITS // 2], "p95": spent[int(0.95 * EDITS)], "most": spent[-1]}
        if halves := known[name].halves():
            result["paths_ms"][name] = taken(lambda h=halves: exact_curve.largest_of_pairs(h, HEADLINE_DELTA))
    result["coldest_ms"] = max(each["most"] for each in result["cold_ms"].values())
    result["longest_curve_ms"] = max(result["curve_ms"].values())
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
