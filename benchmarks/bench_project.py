"""Large projects: how long 5,000 edits of 200 scenarios take to open and to save, and how large the file is.

Usage: python benchmarks/bench_project.py [--edits 5000] [--scenarios 200] [--json FILE]

Every figure is the median of several repetitions of wall time and of processor time (the machine may be shared). Each
opening has a process of its own, in which nothing was computed before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from phexplore.document.project import Project
from phexplore.files.project_file import LoggedStep, ProjectContent, write_project
from phexplore.model.workbook import Workbook, activate, replace_active
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import preset

REPEATS = 5
LIMITS = {"open": 1.5, "save": 1.5}
AT = "2026-07-01T12:00:00+00:00"


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--edits", type=int, default=5_000)
    arguments.add_argument("--scenarios", type=int, default=200)
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--once", type=Path, help="only open and save this file, say how long both took")
    options = arguments.parse_args()
    if options.once:
        open_and_save(options.once)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.phx"
        file.write_bytes(write_project(edited(options.edits, options.scenarios)))
        found = [
            json.loads(
                subprocess.run([sys.executable, __file__, "--once", file], check=True, capture_output=True).stdout
            )
            for _ in range(REPEATS)
        ]
        size = file.stat().st_size
    medians = {key: statistics.median(each[key] for each in found) for key in found[0]}
    result = {"load": os.getloadavg()[0], "bytes": size, "limits_s": LIMITS, **medians}
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


def edited(edits: int, scenarios: int) -> ProjectContent:
    """Return a project in which every scenario was edited in its turn, a budget at a time."""
    start = preset("sdhc-2020-us").scenario
    queries = start.phsafe.published
    made = tuple(
        set_budget(replace(start, name=f"Scenario {n}"), queries[n % len(queries)], Fraction(n + 1, 1000))
        for n in range(scenarios)
    )
    steps = [LoggedStep("New project", AT, Workbook(made, made[0].name))]
    for n in range(edits):
        workbook = activate(steps[-1].workbook, f"Scenario {n % scenarios}")
        query = queries[n // 7 % len(queries)]
        workbook = replace_active(workbook, set_budget(workbook.scenario, query, Fraction(n + 1, 7001)))
        steps.append(LoggedStep(f"Set the budget of {query.title}", AT, workbook))
    return ProjectContent(tuple(steps), edits)


def open_and_save(file: Path) -> None:
    """Open a project, save it, and print the seconds of both."""
    found = {}
    wall, used = time.perf_counter(), time.process_time()
    project = Project.open(file)
    found |= {"open_s": time.perf_counter() - wall, "open_processor_s": time.process_time() - used}
    wall, used = time.perf_counter(), time.process_time()
    project.save()
    found |= {"save_s": time.perf_counter() - wall, "save_processor_s": time.process_time() - used}
    project.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
