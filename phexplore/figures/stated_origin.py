"""The provenance on a chart and its table: the title begins with it where no count is a real one, every row of the table names it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

from phexplore.catalog.names import synthetic_areas
from phexplore.figures.figure import Figure
from phexplore.figures.naming import synthetic_cell
from phexplore.figures.table import Table
from phexplore.model.provenance import Provenance, ProvenanceKind

ORIGIN_COLUMN = "Provenance"
_IN_TITLE = {ProvenanceKind.SYNTHETIC, ProvenanceKind.IMPUTED}
Shown = TypeVar("Shown")


def with_origin(chart: Shown, provenance: Provenance) -> Shown:
    """Return a chart that states the provenance of its data; anything else and empty charts stay as they are.

    Args:
        chart: of the results of a run.
        provenance: of its data.
    """
    if not isinstance(chart, Figure) or chart.is_empty:
        return chart
    is_in_title = provenance.kind in _IN_TITLE
    return replace(
        chart,
        title=f"{provenance.title}: {chart.title}" if is_in_title else chart.title,
        summary=chart.summary if is_in_title else f"{chart.summary} {provenance.title}.".strip(),
        numbers=partial(_with_column, chart, provenance),
    )


def _with_column(chart: Figure, provenance: Provenance) -> Table:
    with synthetic_areas(is_synthetic=provenance.is_synthetic):
        table = chart.table
    cells = table.rows if not provenance.is_synthetic else [map(synthetic_cell, row) for row in table.rows]
    rows = tuple((*row, provenance.kind.value) for row in cells)
    return replace(table, headers=(*table.headers, ORIGIN_COLUMN), rows=rows)
