"""A picture of points as values: errors against true size, of one mechanism or of several on the same places."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScatterSeries:
    """The points of one mechanism.

    Attributes:
        name: of it.
        x: ``float64[points]``, > 0.
        y: ``float64[points]``.
        labels: of the points, empty for none.
        line: (slope, intercept) on ln x, None for none.
        line_name: what the line is.
    """

    name: str
    x: Floats
    y: Floats
    labels: tuple[str, ...] = ()
    line: tuple[float, float] | None = None
    line_name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ScatterContent:
    """A picture of points.

    Attributes:
        series: of one kind of mark each; several are told apart by shape and colour.
        x_axis: quantity and unit.
        y_axis: quantity and unit.
        title: the finding.
        summary: one sentence.
        numbers: the table twin.
        is_log: whether y is positive and drawn logarithmically; else linear around 0.
        points: how many there are where only some are drawn, 0 for all.
    """

    series: tuple[ScatterSeries, ...]
    x_axis: str
    y_axis: str
    title: str
    summary: str
    numbers: Table
    is_log: bool = False
    points: int = 0


SMALLEST = 0.5
"""A size of 0 is drawn here, half a person from 1."""


def log_place(value: float) -> float:
    """Return the place of a size on a logarithmic axis."""
    return math.log10(max(value, SMALLEST))


def ranges(content: ScatterContent) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what the axes show: places of x, and of y."""
    xs = np.concatenate([np.maximum(series.x, SMALLEST) for series in content.series])
    ys = np.concatenate([series.y for series in content.series])
    low, high = float(np.log10(xs.min())), float(np.log10(xs.max()))
    room = 0.04 * max(high - low, 0.5)
    if content.is_log:
        positive = ys[ys > 0]
        bottom, top = (
            (float(np.log10(positive.min())), float(np.log10(positive.max()))) if len(positive) else (0.0, 1.0)
        )
        slack = 0.06 * max(top - bottom, 0.3)
        return (low - room, high + room), (bottom - slack, top + slack)
    head = 1.08 if len(content.series) == 1 else 1.3  # several have their names at the top
    reach = max(float(np.abs(ys).max()), 1e-9)
    return (low - room, high + room), (0.0 if ys.min() >= 0 else -1.08 * reach, head * reach)
