"""A full simulated PHSafe run of one million persons: wall time, memory, and the price of a further trial.

Usage: python benchmarks/bench_run.py [--persons N] [--json FILE]

The peer figure is quoted, not run: the production program needs 613 s wall, 232 CPU-seconds and 5.4 GB for an input of this
size on this kind of machine (two cores).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(data: Path, out: Path, trials: int) -> float:
    """Return the wall seconds of a run, the start of the program included."""
    command = [sys.executable, "-m", "phexplore", "run", "sdhc-2020-us", "--data", str(data), "--trials", str(trials)]
    start = time.perf_counter()
    subprocess.run([*command, "--seed", "1", "--out", str(out)], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--persons", type=int, default=1_000_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "population"
        make = [sys.executable, "-m", "phexplore", "synth", "sdhc", "--persons", str(options.persons)]
        subprocess.run([*make, "--seed", "1", "--out", str(data)], check=True, capture_output=True)
        for file in data.glob("*.csv"):
            file.unlink()
        run(data, Path(folder) / "warm", 1)
        one = min(run(data, Path(folder) / f"one-{i}", 1) for i in range(2))
        many = run(data, Path(folder) / "many", 41)
        summary = json.loads((Path(folder) / "many" / "summary.json").read_text(encoding="utf-8"))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    result = {
        "persons": options.persons,
        "one_trial_wall_s": one,
        "further_trial_s": (many - one) / 40,
        "peak_mb_any_process": peak,
        "phases_s": summary["seconds"],
        "production_wall_s_quoted": 613,
        "ratio_to_production_quoted": 613 / one,
    }
    for name, value in result.items():
        print(f"{name:<30} {value}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
