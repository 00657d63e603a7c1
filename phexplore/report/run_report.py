"""The results of a run written in a format: one file, or a folder where the format has several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.style import Chart, FigureFormat, chart_bytes, sheet_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.report.document import Document
from phexplore.report.document_files import SUFFIXES, document_bytes
from phexplore.report.export_formats import Tell
from phexplore.runs.store import confirm_counts

FORMATS = {**SUFFIXES, "csv": ".csv", "png": ".png", "svg": ".svg"}
"""Suffixes by the format's id."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What the results of a run are written from; each part is made when a format asks for it.

    Attributes:
        document: the report.
        charts: its pictures; none where nothing can be drawn.
        table: the figures as one CSV file.
        tables: all tables by file name; None where `table` is the only one.
        private: whether tables are readable by their owner alone.
    """

    document: Callable[[], Document]
    charts: Callable[[], Sequence[Chart]]
    table: Callable[[], bytes]
    tables: Callable[[], Iterable[tuple[str, bytes]]] | None = None
    private: bool = False


def write_run_report(
    read: Callable[[Path, datetime], RunReport],
    run: Path,
    form: str,
    out: Path,
    now: datetime,
    tell: Tell = lambda _number, _steps, _sentence: None,
) -> list[Path]:
    """Write the results of a run and return the files; existing ones are replaced whole.

    ``csv``, ``png`` and ``svg`` write one file if `out` ends like one (``figures.csv``), else a folder with every table or one
    picture per figure. ``html``, ``pdf``, ``docx`` and ``pptx`` are one file, in a directory under the name ``report``.

    Args:
        read: the system's reader of its runs.
        run: a run directory.
        form: id of the format.
        out: file or directory; it may exist.
        now: printed in the report, with its zone.
        tell: called when a step of a document begins.

    Raises:
        UnknownNameError: no such format.
        RunUnreadableError: exact counts or a trial were altered after the run was complete.
        PhexploreError: not a run, nothing is there yet or nothing can be drawn, or a file cannot be written.
    """
    if (suffix := FORMATS.get(form)) is None:
        raise UnknownNameError("format", form, list(FORMATS))
    if not run.is_dir():
        raise PhexploreError(f"{run} is not a run directory.", "Name a directory that a run has written.")
    confirm_counts(run)
    report = read(run, now)
    several = form in {"png", "svg"} or (form == "csv" and report.tables is not None)
    if several and (out.is_dir() or out.suffix != suffix):
        written = []
        for name, content in _files(report, form):
            write_atomically(out / name, content, private=report.private and form == "csv")
            written.append(out / name)
        return written
    target = out / f"report{suffix}" if out.is_dir() else out
    write_atomically(target, _content(report, form, now, tell))
    return [target]


def _files(report: RunReport, form: str) -> Iterable[tuple[str, bytes]]:
    if form == "csv" and report.tables is not None:
        return report.tables()
    return ((f"{chart.id}.{form}", chart_bytes(chart, FigureFormat(form))) for chart in _charts(report))


def _content(report: RunReport, form: str, now: datetime, tell: Tell) -> bytes:
    if form == "csv":
        return report.table()
    if form in {"png", "svg"}:
        return sheet_bytes(_charts(report), FigureFormat(form))
    tell(1, 1, "Reading the results")
    return document_bytes(report.document(), form, now, tell)


def _charts(report: RunReport) -> Sequence[Chart]:
    if charts := report.charts():
        return charts
    raise PhexploreError(
        "There is nothing to draw: the counts of this run have no errors.",
        "Choose csv or html, which hold its figures.",
    )
