"""Write the results of a run to disk in a format: one file, or a folder where the format has several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.figures.look import FigureFormat, chart_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.report.exporter import Exporter
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_charts import run_charts
from phexplore.systems.phsafe.run_csv import run_csv_files
from phexplore.systems.phsafe.run_snapshot import RunSnapshot, run_snapshot

_FOLDER_FORMATS = {"csv", "png", "svg"}
"""Formats that fill a folder with several files when the output is not named like one file."""


def write_run_report(run: Path, exporter: Exporter[RunSnapshot], out: Path, now: datetime) -> list[Path]:
    """Write a report of a run and return the files.

    ``csv``, ``png`` and ``svg`` write one file if `out` ends like one (``figures.csv``), else a folder: ``metrics.csv``,
    ``truncation.csv`` and the measurements of every trial in production's layout; or one picture per figure. ``html``
    and ``pdf`` write one file, in a directory under the name ``report``. Existing files are replaced whole.

    Args:
        run: a run directory, complete or not.
        exporter: the format, from `known.RUN_EXPORTERS`.
        out: file or directory; it may exist.
        now: printed in the report, with its zone.

    Raises:
        PhexploreError: not a run, not counted yet, or the files cannot be written.
    """
    if not run.is_dir():
        raise PhexploreError(f"{run} is not a run directory.", "Name a directory that a run has written.")
    results = RunResults.open(run)
    snapshot = run_snapshot(results, now)
    if exporter.id in _FOLDER_FORMATS and (out.is_dir() or out.suffix != exporter.suffix):
        if exporter.id == "csv":
            return _write_all(out, run_csv_files(results, snapshot), private=snapshot.is_confidential)
        return _write_all(out, _pictures(snapshot, FigureFormat(exporter.id)))
    target = out / f"report{exporter.suffix}" if out.is_dir() else out
    write_atomically(target, exporter.write(snapshot))
    return [target]


def _pictures(snapshot: RunSnapshot, form: FigureFormat) -> Iterator[tuple[str, bytes]]:
    for chart in run_charts(snapshot):
        yield f"{chart.id}.{form.value}", chart_bytes(chart, form)


def _write_all(folder: Path, files: Iterable[tuple[str, bytes]], *, private: bool = False) -> list[Path]:
    written = []
    for name, content in files:
        write_atomically(folder / name, content, private=private)
        written.append(folder / name)
    if not written:
        raise PhexploreError(
            "There is nothing to draw: the run has no noise and truncates nothing.",
            "Choose csv or html, which hold its figures.",
        )
    return written
