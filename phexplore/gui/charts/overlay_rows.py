"""Several sets of figures over the same rows and the same scale, as values."""

from __future__ import annotations

from dataclasses import dataclass

from phexplore.figures.table import Table


@dataclass(frozen=True, slots=True)
class OverlayRow:
    """One row.

    Attributes:
        key: what a click selects.
        group: written once for neighbours that share it.
        name: of the row.
        values: one per series, in people; None where it has none.
        tip: while the pointer rests on it.
    """

    key: str
    group: str
    name: str
    values: tuple[float | None, ...]
    tip: str = ""


@dataclass(frozen=True, slots=True)
class OverlayContent:
    """A picture of several series.

    Attributes:
        series: their names, the one the others are compared with first.
        rows: from top to bottom.
        axis: quantity and unit.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
    """

    series: tuple[str, ...]
    rows: tuple[OverlayRow, ...]
    axis: str
    title: str
    summary: str
    numbers: Table
