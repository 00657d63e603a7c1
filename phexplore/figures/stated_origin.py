"""The provenance on a chart and its table: the title begins with it where no count is a real one, every row of the table names it.

A chart that compares several runs states the kinds of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def with_origin(chart: Shown, provenance: Provenance, *others: Provenance) -> Shown:
    """Return a chart that states the provenance of its data; anything else and empty charts stay as they are.

    Args:
        chart: of the results of a run.
        provenance: of its data.
        others: of the data of the runs that are compared with it.
    """
    if not isinstance(chart, Figure) or chart.is_empty:
        return chart
    stated = tuple({each.kind: each for each in (provenance, *others)}.values())
    words = " compared with ".join([stated[0].title, *(each.words for each in stated[1:])])
    is_in_title = any(each.kind in _IN_TITLE for each in stated)
    return replace(
        chart,
        title=f"{words}: {chart.title}" if is_in_title else chart.title,
        summary=chart.summary if is_in_title else f"{chart.summary} {words}.".strip(),
        numbers=partial(_with_column, chart, stated),
    )


def _with_column(chart: Figure, stated: Sequence[Provenance]) -> Table:
    is_synthetic, kinds = stated[0].is_synthetic, ", ".join(each.kind.value for each in stated)
    with synthetic_areas(is_synthetic=is_synthetic):
        table = chart.table
    rows = table.rows if not is_synthetic else tuple(tuple(map(synthetic_cell, row)) for row in table.rows)
    return with_origin_column(replace(table, rows=rows), kinds)


def with_origin_column(table: Table, kinds: str) -> Table:
    """Return a table with the kinds of its data in a last column.

    Args:
        table: without them.
        kinds: in words.
    """
    return replace(table, headers=(*table.headers, ORIGIN_COLUMN), rows=tuple((*row, kinds) for row in table.rows))
