"""The frame shared by figures with one line per query: tables and iterations down, nation left, states right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phexplore.figures.style import INK, MUTED
from phexplore.model.keys import Iteration, QueryKey, Region, TableId

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_ROW_INCHES = 0.163
_GROUP_GAP = 0.55
"""Rows left free between two tables."""

_FRAME_INCHES = 0.85
_TABLE_OFFSET_POINTS = -134
"""From the axis to the start of a table's name, left of the iteration names."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Where each query stands.

    Attributes:
        places: height of every line, from 0 downward.
        groups: height of the first line of every table.
    """

    places: Mapping[tuple[TableId, Iteration], float]
    groups: Mapping[TableId, float]

    def place(self, query: QueryKey) -> float:
        """Return the height of a query's line."""
        return self.places[query.table, query.level.iteration]

    @property
    def inches(self) -> float:
        """Height a figure of these rows needs."""
        return _ROW_INCHES * (len(self.places) + _GROUP_GAP * len(self.groups)) + _FRAME_INCHES


def row_places(queries: Iterable[QueryKey]) -> QueryRows:
    """Return the lines of these queries in their order; nation and state of an iteration share a line."""
    places: dict[tuple[TableId, Iteration], float] = {}
    groups: dict[TableId, float] = {}
    place = -1.0
    for query in queries:
        key = (query.table, query.level.iteration)
        if key in places:
            continue
        place += 1 if query.table in groups or not groups else 1 + _GROUP_GAP
        groups.setdefault(query.table, place)
        places[key] = place
    return QueryRows(places, groups)


def query_panels(figure: FigureBase, rows: QueryRows) -> dict[Region, Axes]:
    """Return the empty panels of both regions, sharing axes, with the names of tables and iterations at the left."""
    axes = figure.subplots(1, len(Region), sharex=True, sharey=True)
    panels = dict(zip(Region, axes, strict=True))
    for region, panel in panels.items():
        panel.set_title(region.title, fontsize=9, color=MUTED, pad=4)
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
    first = panels[Region.NATION]
    first.set_yticks(list(rows.places.values()), [iteration.title for _, iteration in rows.places], color=INK)
    first.set_ylim(max(rows.places.values(), default=0.0) + 0.8, -0.8)
    for table, place in rows.groups.items():
        first.annotate(
            table,
            (0, place),
            xycoords=("axes fraction", "data"),
            xytext=(_TABLE_OFFSET_POINTS, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold",
            annotation_clip=False,
        )
    return panels
