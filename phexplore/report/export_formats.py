"""The formats that parameters and their figures are written in. Listing them loads nothing heavy; each loads what it needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.scenario import Scenario

if TYPE_CHECKING:
    from phexplore.figures.style import Chart
    from phexplore.report.document import Document

Write = Callable[[Scenario, Scenario | None, datetime], bytes]
"""Scenario, what it is compared with, and the time printed, to bytes; the same values give the same bytes."""

_html = lazy("phexplore.report.html", "document_html")
_pdf = lazy("phexplore.report.pdf", "pdf_from_html")
_sheet = lazy("phexplore.figures.style", "sheet_bytes")


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that parameters and their figures are written in.

    Attributes:
        id: as ``phexplore export --format`` takes it.
        suffix: of the file, with its dot.
        title: for people.
        write: see `Write`.
        file_name: proposed in dialogs; "" for ``parameters-``, the id and the suffix.
    """

    id: str
    suffix: str
    title: str
    write: Write
    file_name: str = ""


def formats_by_id(*formats: ExportFormat) -> Mapping[str, ExportFormat]:
    """Return formats by their id, in the order people see them."""
    return MappingProxyType({each.id: each for each in formats})


def parameters_json(form: str, file_name: str) -> ExportFormat:
    """Return the format of exact parameters that the program reads back.

    Args:
        form: its id.
        file_name: proposed in dialogs.
    """
    return ExportFormat(form, ".json", "Parameters, JSON", _exact_json, file_name)


def _exact_json(scenario: Scenario, _: Scenario | None, __: datetime) -> bytes:
    from phexplore.files.scenario_json import encode_scenario  # noqa: PLC0415 - listing the formats needs no codec

    return (json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False) + "\n").encode()


def report_formats(
    document: Callable[[Scenario, Scenario | None, datetime], Document],
    charts: Callable[[Scenario, Scenario | None, datetime], Sequence[Chart]],
) -> tuple[ExportFormat, ...]:
    """Return the formats of a scenario that has a report.

    Args:
        document: makes the report from what `Write` takes.
        charts: makes its pictures from the same.
    """

    def html(scenario: Scenario, compared: Scenario | None, now: datetime) -> bytes:
        content: bytes = _html(document(scenario, compared, now))
        return content

    def pdf(scenario: Scenario, compared: Scenario | None, now: datetime) -> bytes:
        content: bytes = _pdf(html(scenario, compared, now), now)
        return content

    def drawn(form: str) -> Write:
        def write(scenario: Scenario, compared: Scenario | None, now: datetime) -> bytes:
            from phexplore.figures.style import FigureFormat  # noqa: PLC0415 - only a picture needs it

            if not (found := charts(scenario, compared, now)):
                raise PhexploreError(
                    "Nothing is published, so there is nothing to draw.",
                    "Give a query a budget, or choose csv or html.",
                )
            content: bytes = _sheet(found, FigureFormat(form))
            return content

        return write

    return (
        ExportFormat("html", ".html", "Report of the scenario, HTML", html),
        ExportFormat("pdf", ".pdf", "Report of the scenario, PDF", pdf),
        ExportFormat("svg", ".svg", "Charts of the scenario, SVG", drawn("svg")),
        ExportFormat("png", ".png", "Charts of the scenario, PNG", drawn("png")),
        ExportFormat("charts-pdf", ".pdf", "Charts of the scenario, PDF", drawn("pdf")),
    )
