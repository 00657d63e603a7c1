"""Full TopDown runs, measuring to microdata: a state of real size in the full schema, and a third of it to see the growth.

Usage: python benchmarks/bench_topdown_run.py [--blocks N] [--json FILE]

Block data are synthetic, or the public file of Rhode Island where the data folder is beside the checkout. The first run
compiles what is not cached yet and is not counted. The phases are seconds as the run reports them; the wall time is of the
whole command, start, reading and summary included.
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

PHASES = ("measure", "least_squares", "rounder", "failsafe", "microdata")
RHODE_ISLAND = Path(__file__).parents[2] / "shared" / "data" / "blocks" / "pl94_ri_2010_blocks.csv.gz"


def program(*arguments: str) -> None:
    """Run a command of the program to its end."""
    subprocess.run([sys.executable, "-m", "phexplore", *arguments], check=True, capture_output=True)


def run(data: Path, out: Path) -> dict[str, object]:
    """Return wall seconds, seconds from measuring to microdata, and what the run checked."""
    start = time.perf_counter()
    options = ("--expand", "3", "--trials", "1", "--seed", "1", "--microdata", "--out", str(out))
    program("run", "pl94-2020-persons-us", "--data", str(data), *options)
    wall = time.perf_counter() - start
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    phases = {phase: summary["seconds"][phase] for phase in PHASES}
    checks = all(value is True for value in summary["checks"].values())
    return {
        "command_wall_s": wall,
        "measuring_to_microdata_s": sum(phases.values()),
        "phases_s": phases,
        "checks_hold": checks,
        "failed_parents": summary["failsafe"],
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--blocks", type=int, default=250_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        inputs: dict[str, Path] = {}
        for name, blocks in (("warm", 2_000), ("third", options.blocks // 3), ("state", options.blocks)):
            inputs[name] = place / f"{name}.csv.gz"
            program("synth", "pl94", "--blocks", str(blocks), "--seed", "5", "--out", str(inputs[name]))
        if RHODE_ISLAND.exists():
            inputs["rhode_island"] = RHODE_ISLAND
        run(inputs.pop("warm"), place / "warm")
        for name, data in inputs.items():
            result[name] = run(data, place / name)
        seconds = [result[name]["measuring_to_microdata_s"] for name in ("third", "state")]
        result["growth_for_three_times_the_blocks"] = seconds[1] / seconds[0]
        result["peak_mb_any_process"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    for name, value in result.items():
        print(f"{name:<36} {value}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
