"""What can be exported, as explicit tables: one line per format. Importing this costs nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.scenario import Scenario
from phexplore.report.exporter import Exporter, Shown
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot, scenario_snapshot
from phexplore.systems.protocol import ExportFormat

if TYPE_CHECKING:
    from phexplore.systems.phsafe.run_snapshot import RunSnapshot


def _csv(snapshot: ScenarioSnapshot) -> bytes:
    from phexplore.systems.phsafe.table10 import table10_csv  # noqa: PLC0415 - each format loads what it needs

    return table10_csv(snapshot.scenario, snapshot.forecast)


def _xlsx(snapshot: ScenarioSnapshot) -> bytes:
    from phexplore.systems.phsafe.table10_xlsx import table10_xlsx  # noqa: PLC0415 - as above

    return table10_xlsx(snapshot)


def _html(snapshot: ScenarioSnapshot) -> bytes:
    from phexplore.report.html import document_html  # noqa: PLC0415 - as above
    from phexplore.systems.phsafe.scenario_document import scenario_document  # noqa: PLC0415 - as above

    return document_html(scenario_document(snapshot))


def _pdf(snapshot: ScenarioSnapshot) -> bytes:
    from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

    return pdf_from_html(_html(snapshot), snapshot.now)


def _charts(form: str) -> Callable[[ScenarioSnapshot], bytes]:
    def write(snapshot: ScenarioSnapshot) -> bytes:
        from phexplore.figures.look import FigureFormat, sheet_bytes  # noqa: PLC0415 - as above
        from phexplore.systems.phsafe.forecast_charts import scenario_charts  # noqa: PLC0415 - as above

        return sheet_bytes(scenario_charts(snapshot), FigureFormat(form))

    return write


def _table(*exporters: Exporter[Shown]) -> Mapping[str, Exporter[Shown]]:
    return MappingProxyType({exporter.id: exporter for exporter in exporters})


SCENARIO_EXPORTERS: Mapping[str, Exporter[ScenarioSnapshot]] = _table(
    Exporter("csv", ".csv", "Parameters and margins, CSV", _csv),
    Exporter("xlsx", ".xlsx", "Parameters and margins, workbook", _xlsx),
    Exporter("html", ".html", "Report of the scenario, HTML", _html),
    Exporter("pdf", ".pdf", "Report of the scenario, PDF", _pdf),
    Exporter("svg", ".svg", "Charts of the scenario, SVG", _charts("svg")),
    Exporter("png", ".png", "Charts of the scenario, PNG", _charts("png")),
    Exporter("charts-pdf", ".pdf", "Charts of the scenario, PDF", _charts("pdf")),
)
"""Formats of a scenario by id. A new one is a function and a line."""


def scenario_formats() -> Mapping[str, ExportFormat]:
    """Return the formats of an S-DHC scenario by id."""
    return MappingProxyType({name: _format(exporter) for name, exporter in SCENARIO_EXPORTERS.items()})


def _format(exporter: Exporter[ScenarioSnapshot]) -> ExportFormat:
    def write(scenario: Scenario, compared: Scenario | None, now: datetime) -> bytes:
        return exporter.write(scenario_snapshot(scenario, now, compared))

    return ExportFormat(exporter.id, exporter.suffix, exporter.title, write)


def scenario_exporter(exporter_id: str) -> Exporter[ScenarioSnapshot]:
    """Return a format of a scenario.

    Raises:
        UnknownNameError: no such format; the remedy names the nearest.
    """
    if (found := SCENARIO_EXPORTERS.get(exporter_id)) is None:
        raise UnknownNameError("export format", exporter_id, list(SCENARIO_EXPORTERS))
    return found


def _run_html(snapshot: RunSnapshot) -> bytes:
    from phexplore.report.html import document_html  # noqa: PLC0415 - as above
    from phexplore.systems.phsafe.run_document import run_document  # noqa: PLC0415 - as above

    return document_html(run_document(snapshot))


def _run_pdf(snapshot: RunSnapshot) -> bytes:
    from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

    return pdf_from_html(_run_html(snapshot), snapshot.now)


def _run_csv(snapshot: RunSnapshot) -> bytes:
    from phexplore.systems.phsafe.run_csv import run_metrics_csv  # noqa: PLC0415 - as above

    return run_metrics_csv(snapshot)


def _run_charts(form: str) -> Callable[[RunSnapshot], bytes]:
    def write(snapshot: RunSnapshot) -> bytes:
        from phexplore.figures.look import FigureFormat, sheet_bytes  # noqa: PLC0415 - as above
        from phexplore.systems.phsafe.run_charts import run_charts  # noqa: PLC0415 - as above

        charts = run_charts(snapshot)
        if not charts:
            raise PhexploreError(
                "There is nothing to draw: the run has no noise and truncates nothing.",
                "Choose csv or html, which hold its figures.",
            )
        return sheet_bytes(charts, FigureFormat(form))

    return write


RUN_EXPORTERS: Mapping[str, Exporter[RunSnapshot]] = _table(
    Exporter("html", ".html", "Report of the run, HTML", _run_html),
    Exporter("pdf", ".pdf", "Report of the run, PDF", _run_pdf),
    Exporter("csv", ".csv", "Figures of the run, CSV", _run_csv),
    Exporter("png", ".png", "Charts of the run, PNG", _run_charts("png")),
    Exporter("svg", ".svg", "Charts of the run, SVG", _run_charts("svg")),
)
"""Formats of the report of a run by id; `run_csv.run_csv_files` adds the measurements of every trial."""


def run_exporter(exporter_id: str) -> Exporter[RunSnapshot]:
    """Return a format of a run report.

    Raises:
        UnknownNameError: no such format; the remedy names the nearest.
    """
    if (found := RUN_EXPORTERS.get(exporter_id)) is None:
        raise UnknownNameError("report format", exporter_id, list(RUN_EXPORTERS))
    return found


@dataclass(frozen=True, slots=True)
class RunReportFormat:
    """A format of the report of a run, written to disk.

    Attributes:
        id: as ``phexplore report --format`` takes it.
        title: for people.
        write: run directory, output and time to the files written; see `run_files.write_run_report`.
    """

    id: str
    title: str
    write: Callable[[Path, Path, datetime], list[Path]]


def run_exporters() -> Mapping[str, RunReportFormat]:
    """Return all formats of a run report by id, ready to write to disk."""
    return MappingProxyType(
        {name: RunReportFormat(name, exporter.title, _run_writer(exporter)) for name, exporter in RUN_EXPORTERS.items()}
    )


def _run_writer(exporter: Exporter[RunSnapshot]) -> Callable[[Path, Path, datetime], list[Path]]:
    def write(run: Path, out: Path, now: datetime) -> list[Path]:
        from phexplore.systems.phsafe.run_files import write_run_report  # noqa: PLC0415 - as above

        return write_run_report(run, exporter, out, now)

    return write


def write_report(run: Path, form: str, out: Path, now: datetime) -> list[Path]:
    """Write the results of a run in a format and return the files.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: nothing is counted yet, or it cannot be written.
    """
    exporters = run_exporters()
    if (exporter := exporters.get(form)) is None:
        raise UnknownNameError("format", form, list(exporters))
    return exporter.write(run, out, now)
