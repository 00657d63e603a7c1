"""Reports as one HTML file that needs nothing else: pictures inside, no script, no network."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from phexplore.catalog.names import worded
from phexplore.figures.style import Chart, FigureFormat, chart_bytes
from phexplore.report.document import Document
from phexplore.resources import resource
from phexplore.text.escapes import visible_lines
from phexplore.text.messages import TEXTS

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATE = "report.html.j2"
_STYLE = "report.css"

_CSS_PIXELS_PER_INCH = 96
_NOTHING: Mapping[str, bytes] = MappingProxyType({})


def document_html(
    document: Document, drawn: Mapping[str, bytes] = _NOTHING, narrow: Mapping[str, bytes] = _NOTHING
) -> bytes:
    """Return the report in UTF-8, with names where they are chosen; the same document gives the same bytes.

    All text is escaped by the template.

    Args:
        document: the report.
        drawn: SVG of its pictures by id, where they were drawn before.
        narrow: SVG of the same for telephones.
    """
    charts = [chart for part in document.parts for chart in part.charts]
    pictures = {
        chart.id: _picture(chart, drawn.get(chart.id) or chart_bytes(chart, FigureFormat.SVG, titled=False))
        for chart in charts
    }
    slim = {
        chart.id: _picture(chart.narrow, narrow[chart.id]) for chart in charts if chart.narrow and chart.id in narrow
    }
    text = (
        _environment().get_template(_TEMPLATE).render(document=document, pictures=pictures, narrow=slim, style=_style())
    )
    return text.encode()


def _picture(chart: Chart, svg: bytes) -> dict[str, Any]:
    # A picture of its own document: the ids inside one SVG cannot meet those of another.
    return {
        "source": "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii"),
        "width": round(chart.width * _CSS_PIXELS_PER_INCH),
        "height": round(chart.height * _CSS_PIXELS_PER_INCH),
    }


def _read(value: Any) -> Any:
    """Return a value of the template as it is read, control characters as escapes; markup and pictures stay."""
    is_text = type(value) is str or isinstance(value, TEXTS)
    return visible_lines(worded(value)) if is_text and not value.startswith("data:") else value


def _style() -> str:
    return resource(f"report/{_STYLE}").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only a report pays for it

    folder = resource(f"report/{_TEMPLATE}").parent
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_read,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
