"""The results of a run written in a format: one file, or a folder where the format has several."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from phexplore.catalog.names import synthetic_areas
from phexplore.data.provenance import PROVENANCE_FILE
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.stated_origin import ORIGIN_COLUMN
from phexplore.figures.style import Chart, FigureFormat, chart_bytes, sheet_bytes
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.provenance import Provenance
from phexplore.report.document import Document, Part, Tile
from phexplore.report.document_files import SUFFIXES, document_bytes
from phexplore.report.export_formats import Tell
from phexplore.report.provenance import Section
from phexplore.report.run_sections import (
    check_entries,
    noise_caution,
    run_document_of,
    specification_section,
)
from phexplore.runs.confidentiality import is_confidential_run, spec_to_leave, summary_to_leave
from phexplore.runs.disclosure import LEFT_OUT
from phexplore.runs.store import confirm_counts, load_spec, present_trials, state_of

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
    if form not in FORMATS:
        raise UnknownNameError("format", form, list(FORMATS))
    if not run.is_dir():
        raise PhexploreError(f"{run} is not a run directory.", "Name a directory that a run has written.")
    confirm_counts(run)
    provenance = load_spec(run).provenance
    with synthetic_areas(is_synthetic=provenance.is_synthetic):
        report = report_without_errors(run, now) if is_confidential_run(run) else read(run, now)
        return _written(report, provenance, form, out, now, tell)


def _written(report: RunReport, provenance: Provenance, form: str, out: Path, now: datetime, tell: Tell) -> list[Path]:
    suffix = FORMATS[form]
    several = form in {"png", "svg"} or (form == "csv" and report.tables is not None)
    if several and (out.is_dir() or out.suffix != suffix):
        written = []
        for name, content in _files(report, form, provenance):
            write_atomically(out / name, content, private=report.private)
            written.append(out / name)
        return written
    target = out / f"report{suffix}" if out.is_dir() else out
    content = _content(report, form, now, tell)
    stated = stated_csv(content, provenance) if form == "csv" else content
    write_atomically(target, stated, private=report.private)
    return [target]


def report_without_errors(run: Path, now: datetime) -> RunReport:
    """Return the part of a run on confidential records that may be released, for any system: its specification.

    Args:
        run: a run directory.
        now: printed in the report, with its zone.

    Raises:
        PhexploreError: the run cannot be read, holds no trial, or has an identity without salt.
    """
    if not present_trials(run):
        raise PhexploreError("The run has no finished trial yet.", "Wait for the first one, or resume the run.")
    spec, state = spec_to_leave(run), state_of(run)
    checks = check_entries((summary_to_leave(run) or {}).get("checks", {}))
    table = csv_bytes([("CHECK", "OUTCOME"), *checks])
    sections = (
        Section("Checks", checks or (("Checks", "not yet: the run is not complete"),)),
        specification_section(spec, spec.trials),
    )
    document = run_document_of(
        spec,
        now,
        "Simulated run on confidential records",
        (Tile("Trials requested", f"{spec.trials:,}", state.value),),
        (Part("method", "Checks and specification", (noise_caution(spec),), sections=sections),),
        trials=spec.trials,
        warning=LEFT_OUT,
        keywords=("differential privacy",),
    )
    tables = (("checks.csv", table), ("left-out.txt", f"{LEFT_OUT}\n".encode()))
    return RunReport(lambda: document, tuple, lambda: table, lambda: tables, private=True)


def _files(report: RunReport, form: str, provenance: Provenance) -> Iterable[tuple[str, bytes]]:
    if form == "csv" and report.tables is not None:
        digests = {}
        for name, content in report.tables():
            stated = stated_csv(content, provenance) if name.endswith(".csv") else content
            digests[name] = hashlib.sha256(stated).hexdigest()
            yield name, stated
        yield PROVENANCE_FILE, provenance.listed(digests)
        return
    for chart in _charts(report):
        yield f"{chart.id}.{form}", chart_bytes(chart, FigureFormat(form))


def stated_csv(content: bytes, provenance: Provenance) -> bytes:
    """Return a CSV table with the provenance in a last column; tables in the layout of a publication stay as they are.

    Args:
        content: of the table, with a header.
        provenance: of the data behind it.
    """
    header = content.partition(b"\n")[0].decode()
    if "|" in header or not header or ORIGIN_COLUMN.lower() in header.lower():
        return content
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\r\n" if header.endswith("\r") else "\n")
    name = ORIGIN_COLUMN.upper() if header.isupper() else ORIGIN_COLUMN.lower()
    writer.writerows([*row, provenance.kind.value if number else name] for number, row in enumerate(rows))
    return made.getvalue().encode()


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
        "There is nothing to draw: the run has no errors, or they are confidential.",
        "Choose csv or html, which hold its figures.",
    )
