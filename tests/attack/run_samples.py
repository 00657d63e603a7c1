"""Run directories of every system, and the readers of results, lists, reports and kept measurements that meet them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from group_size_runs import run_here as run_group_sizes
from group_size_runs import small_file
from pyarrow import parquet
from report.run_builder import made_run
from subspace_runs import TWO_RELEASES, counts_file
from subspace_runs import run_here as run_subspace
from subspace_runs import specification as subspace_spec
from topdown_runs import run as run_topdown
from topdown_runs import spec_of

from phexplore.cli.exporting import export_run
from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.errors import PhexploreError
from phexplore.runs.store import (
    SUMMARY_FILE,
    close_run,
    describe_run,
    load_events,
    load_spec,
    load_summary,
    state_of,
    verify_run,
)
from phexplore.runs.writing import write_json
from phexplore.systems.phsafe.results import NumberSelection, RunResults
from phexplore.systems.registry import preset
from phexplore.systems.topdown.measurements import KeptMeasurements, check_kept, kept_content, measurement_file
from phexplore.systems.topdown.results import TopDownResults
from phexplore.systems.topdown.run_options import TopDownOptions

Add = Callable[[str, str, tuple[str, ...], Callable[[Path], str]], None]
EVENT = '{"at": "2026-07-01T12:00:00+00:00", "event": "Note", "text": "x"}\n'


def looked_at(folder: Path) -> str:
    """Look at a run as lists, result pages and reports do; return their problems."""
    words = [describe_run(folder).problem]
    state_of(folder)
    for look in (_opened, _verified, _results, _reported):
        try:
            words.append(look(folder))
        except PhexploreError as error:
            words.append(str(error))
    return " ".join(word for word in words if word)


def _opened(folder: Path) -> str:
    load_events(folder)
    load_summary(folder)
    return ""


def _verified(folder: Path) -> str:
    return " ".join(f"{issue.place}: {issue.sentence}" for issue in verify_run(folder))


def _results(folder: Path) -> str:
    if "phsafe" not in folder.name:
        return ""
    results = RunResults.open(folder)
    results.refresh()
    results.errors(NumberSelection())
    return " ".join(f"{issue.place}: {issue.sentence}" for issue in results.problems)


def _reported(folder: Path) -> str:
    """Report as a table where pictures take seconds, and as a page elsewhere."""
    form = "html" if "group-sizes" in folder.name else "csv"
    out = folder.parent / f"report.{form}"
    shutil.rmtree(out, ignore_errors=True)
    export_run(folder, form, out)
    return ""


def measured_again(folder: Path, units: Mapping[str, int]) -> str:
    """Read kept answers as a run does that post-processes them again: so many units of every level."""
    kept_content(folder)
    results = TopDownResults.open(folder)
    words = ""
    try:
        check_kept(folder, 0, results.run.design, results.run.tree, results.spec.scenario.topdown.framework)
    except PhexploreError as error:
        words = str(error)
    for level in results.run.design.levels:
        kept = KeptMeasurements(measurement_file(folder, 0, level.name), units[level.name])
        kept.measure(level, SimpleNamespace(units=units[level.name]), 0, np.zeros(units[level.name], np.int8))
    return words


def add_runs(home: Path, add: Add) -> None:
    """Write a finished run of every system below `home`; its JSON, its tables and its measurements are damaged in turn."""
    data = home / "data-of-runs"
    data.mkdir()
    made_run(home / "run-phsafe", preset("sdhc-2020-us").scenario, trials=2)
    write_block_file(synthesize_blocks(60, 3).part(0, 20), data / "blocks.csv")
    spec = spec_of(data / "blocks.csv", trials=1, options=TopDownOptions(expand=5, keep_measurements=True))
    summary = {"trials": 1, "seconds": {"trials": 1.5}, **run_topdown(home / "run-topdown", spec)}
    write_json(home / "run-topdown" / SUMMARY_FILE, summary)
    run_subspace(home / "run-subspace", subspace_spec(TWO_RELEASES, counts_file(data), trials=1))
    run_group_sizes(home / "run-group-sizes", small_file(data, np.random.default_rng(3))[1], trials=1)
    for system in ("phsafe", "topdown", "subspace", "group-sizes"):
        folder = home / f"run-{system}"
        (folder / "events.jsonl").write_text(EVENT * 3, encoding="utf-8")
        close_run(folder, load_spec(folder).identity)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        tables = tuple(name for name in files if name.endswith(".parquet"))
        kept = tuple(name for name in tables if name.startswith("measurements/"))
        units = {Path(name).stem: parquet.read_metadata(folder / name).num_rows for name in kept}
        for kind, family, targets, read in (
            ("json", "json", tuple(name for name in files if name.endswith((".json", ".jsonl"))), looked_at),
            ("parquet", "parquet", tuple(name for name in tables if name not in kept), looked_at),
            ("measurements", "parquet", kept, partial(measured_again, units=units)),
        ):
            if targets:
                shutil.copytree(folder, home / f"run-{system}-{kind}")
                add(f"run-{system}-{kind}", family, targets, read)
