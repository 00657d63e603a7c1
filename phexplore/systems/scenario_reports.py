"""The reports of parameters, which every system has: one document as a page, as PDF, in Word and on slides, and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import ExportFormat, Occasion, Write

if TYPE_CHECKING:
    from phexplore.figures.style import Chart
    from phexplore.report.document import Document

_with_comments = lazy("phexplore.report.comments", "with_comments")
_opening = lazy("phexplore.systems.report_opening", "opening")
_sheet = lazy("phexplore.figures.style", "sheet_bytes")
_written = lazy("phexplore.report.document_files", "document_bytes")
_QUIET = Occasion()


def report_formats(
    document: Callable[[Scenario, Scenario | None, datetime], Document],
    charts: Callable[[Scenario, Scenario | None, datetime], Sequence[Chart]],
) -> tuple[ExportFormat, ...]:
    """Return the formats of a scenario that has a report.

    Args:
        document: makes the report from what `Write` takes; its first page is made here.
        charts: makes its pictures from the same.
    """

    def report(form: str) -> Write:
        def write(scenario: Scenario, compared: Scenario | None, now: datetime, occasion: Occasion = _QUIET) -> bytes:
            occasion.tell(1, 1, "Computing the figures")
            made = _with_comments(document(scenario, compared, now), scenario)
            first = _opening(scenario, compared, occasion.decisions)
            parts = (first, *(part for part in made.parts if not part.is_bare))
            content: bytes = _written(replace(made, parts=parts), form, now, occasion.tell)
            return content

        return write

    def drawn(form: str) -> Write:
        def write(scenario: Scenario, compared: Scenario | None, now: datetime, _: Occasion = _QUIET) -> bytes:
            from phexplore.figures.style import FigureFormat  # noqa: PLC0415 - only a picture needs it

            if not (found := charts(scenario, compared, now)):
                raise PhexploreError(
                    "Nothing is published, so there is nothing to draw.",
                    "Give a query a budget, or choose csv or html.",
                )
            content: bytes = _sheet(found, FigureFormat(form))
            return content

        return write

    reports = (("html", "HTML"), ("pdf", "PDF"), ("docx", "Word"), ("pptx", "slides"))
    pictures = (("svg", "svg", "SVG"), ("png", "png", "PNG"), ("charts-pdf", "pdf", "PDF"))
    return (
        *(
            ExportFormat(id_, f".{id_}", f"Report of the scenario, {title}", report(id_), is_report=True)
            for id_, title in reports
        ),
        *(
            ExportFormat(id_, f".{form}", f"Charts of the scenario, {title}", drawn(form), is_report=True)
            for id_, form, title in pictures
        ),
    )


PLAIN_REPORTS = report_formats(
    lazy("phexplore.systems.plain", "scenario_document"), lazy("phexplore.systems.plain", "scenario_charts")
)
"""Reports of a system that has no document of its own."""
