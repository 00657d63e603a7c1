"""One picture as a file of an office program: a slide with its finding, a workbook with its numbers."""

from __future__ import annotations

from phexplore.figures.figure import Figure
from phexplore.figures.style import FigureFormat
from phexplore.figures.table_files import table_xlsx
from phexplore.figures.to_matplotlib import chart_of, figure_bytes
from phexplore.report.slides import picture_pptx


def picture_slide(figure: Figure) -> bytes:
    """Return a figure as a slide."""
    return picture_pptx(chart_of(figure))


def picture_workbook(figure: Figure) -> bytes:
    """Return the numbers of a figure as a workbook, the picture on its second sheet."""
    return table_xlsx(figure.table, figure_bytes(figure, FigureFormat.PNG))
