"""A report as a file: every format shows the same values of one `Document`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from phexplore.figures.style import Chart, FigureFormat, chart_bytes
from phexplore.report.document import Document
from phexplore.report.export_formats import Tell

SUFFIXES: Mapping[str, str] = MappingProxyType({form: f".{form}" for form in ("html", "pdf", "docx", "pptx")})
"""Suffixes by the format's id."""
_PAGE, _HIGHEST, _LINE, _AROUND = 10.1, 8.35, 0.18, 1.2
"""Inches of a page, of its highest picture, and of a line; the room around a picture in lines."""
_HEAD, _SCALE = 0.6, 0.97
"""Inches of the head of a chapter, and the part of its size that a picture has on the page."""
_CAPTION, _AHEAD = 105, 4
"""Letters of a line of a caption, and how many pictures may change places."""


def document_bytes(
    document: Document, form: str, now: datetime, tell: Tell = lambda _number, _steps, _words: None
) -> bytes:
    """Return a report in a format; the same document and time give the same bytes on the same machine.

    Args:
        document: the report.
        form: ``html``, ``pdf``, ``docx`` or ``pptx``.
        now: written into files that hold a time.
        tell: called when a step begins, after one that was told before.

    Raises:
        PdfUnavailableError: the libraries that lay out a PDF are not installed.
    """
    if form in {"pdf", "docx"}:
        document = replace(document, parts=tuple(replace(part, charts=packed(part.charts)) for part in document.parts))
    charts = [chart for part in document.parts for chart in part.charts]
    if form == "pptx":
        from phexplore.report.slides import wide_charts  # noqa: PLC0415 - each format loads what it needs

        charts = wide_charts(charts)
    kind = FigureFormat.SVG if form in {"html", "pdf"} else FigureFormat.PNG
    steps = 1 + len(charts) + 1
    pictures, narrow = {}, {}
    for number, chart in enumerate(charts, start=1):
        tell(1 + number, steps, f"Drawing picture {number} of {len(charts)}")
        pictures[chart.id] = chart_bytes(chart, kind, titled=False)
        if form == "html" and chart.narrow is not None:
            narrow[chart.id] = chart_bytes(chart.narrow, kind, titled=False)
    tell(steps, steps, "Laying out the pages")
    match form:
        case "docx":
            from phexplore.report.word import document_docx  # noqa: PLC0415 - as above

            return document_docx(document, pictures, now)
        case "pptx":
            from phexplore.report.slides import document_pptx  # noqa: PLC0415 - as above

            return document_pptx(document, pictures, now)
    from phexplore.report.html import document_html  # noqa: PLC0415 - as above

    html = document_html(document, pictures, narrow)
    if form == "html":
        return html
    from phexplore.report.pdf import pdf_from_html  # noqa: PLC0415 - as above

    return pdf_from_html(html, now)


def packed(charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """Return pictures in an order that leaves few pages half empty: one that fits on the page goes before a near one that does not."""
    waiting, found, left = list(charts), [], _PAGE - _HEAD
    while waiting:
        chart = waiting.pop(next((n for n, each in enumerate(waiting[:_AHEAD]) if _on_page(each) <= left), 0))
        left = (left if _on_page(chart) <= left else _PAGE) - _on_page(chart)
        found.append(chart)
    return tuple(found)


def _on_page(chart: Chart) -> float:
    """Return about how many inches of a page a picture takes with its finding and its caption."""
    lines = 1 + chart.finding.count("\n") + 1 + len(chart.caption or chart.description) // _CAPTION + _AROUND
    return min(chart.height * _SCALE, _HIGHEST) + _LINE * lines
