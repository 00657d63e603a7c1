"""Time from an edit to the whole new forecast, and of sweeps of 100 points with all margins.

Usage: python benchmarks/bench_forecast.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from fractions import Fraction
from pathlib import Path

from phexplore.catalog.tables import queries
from phexplore.decide.sweeping import sweep
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import check, preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.forecast import forecast_topdown

EDITS = 300


def timed(values, work):
    """Return milliseconds per value."""
    found = []
    for value in values:
        start = time.perf_counter()
        work(value)
        found.append(1e3 * (time.perf_counter() - start))
    return found


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    us, redistricting = preset("sdhc-2020-us").scenario, preset("pl94-2020-persons-us").scenario
    chosen = queries()
    edited = [set_budget(us, chosen[i % 46], Fraction(100_000 + 997 * i, 10**6)) for i in range(EDITS)]
    shares = [
        set_level_share(redistricting, "Block", Fraction(40_000 + 97 * i, 10**6)).topdown for i in range(EDITS // 3)
    ]
    forecast(us)
    forecast_topdown(redistricting.topdown, redistricting.conventions)
    rows = {
        "S-DHC: one budget edited, whole forecast": timed(edited, forecast),
        "S-DHC: nothing edited, whole forecast": timed([us] * 50, forecast),
        "S-DHC: all issues": timed(edited[:50], check),
        "S-DHC: budget solved from a margin": timed(
            [Fraction(20 + i) for i in range(100)], lambda margin: edit_margin(us, chosen[16], margin)
        ),
        "TopDown: one level share edited, whole forecast": timed(
            shares, lambda method: forecast_topdown(method, redistricting.conventions)
        ),
    }
    grids = {
        "S-DHC: sweep of 100 points, all margins": (us, "budget PH3/state_A-G"),
        "TopDown: sweep of 100 points, all margins": (redistricting, "total"),
    }
    for name, (scenario, path) in grids.items():
        # Values of their own in each: a sweep that was computed before would be looked up.
        values = [[str(Fraction(100 + start + 7 * step, 300)) for step in range(100)] for start in range(5)]
        rows[name] = timed(values, lambda each, on=(scenario, path): sweep(on[0], {on[1]: each}, ["*"]))
    result = {name: {"median_ms": statistics.median(v), "max_ms": max(v), "runs": len(v)} for name, v in rows.items()}
    for name, row in result.items():
        print(f"{name:<50} median {row['median_ms']:7.3f} ms   max {row['max_ms']:7.3f} ms   ({row['runs']} runs)")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
