"""Points against a logarithmic size as a figure: errors of one mechanism, or of several on the same places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Scale, number_text
from phexplore.figures.figure import Figure, KeyEntry
from phexplore.figures.marks import Dash, Dot, Part, Path, Points, Rule, shape_of
from phexplore.figures.table import Table, grouped
from phexplore.figures.wording import people, signed_people

Floats = NDArray[np.float64]

SMALLEST = 0.5
"""A size of 0 is drawn here, half a person from 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The points of one mechanism.

    Attributes:
        name: of it.
        x: ``float64[points]``, sizes.
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


def scatter_figure(
    identity: str,
    series: Sequence[Series],
    axes: tuple[str, str],
    title: str,
    summary: str,
    table: Table,
    *,
    is_log: bool = False,
) -> Figure:
    """Return points against a logarithmic size.

    Args:
        identity: short name for files.
        series: told apart by shape and colour.
        axes: quantity and unit of the sizes and of the values.
        title: the finding.
        summary: one sentence.
        table: the same numbers.
        is_log: whether values are positive and drawn logarithmically; else linearly around 0, from 0 up where none is negative.
    """
    smallest = min((float(each.x.min()) for each in series if len(each.x)), default=1.0)
    largest = max((float(each.x.max()) for each in series if len(each.x)), default=1.0)
    x = Axis(axes[0], Scale.LOG, text=number_text, floor=SMALLEST, most=12)
    values = np.concatenate([each.y for each in series]) if series else np.zeros(0)
    is_size = values.min(initial=0.0) >= 0
    under: list[Part] = []
    if is_log:
        positive = values[values > 0]
        y = Axis(axes[1], Scale.LOG, text=people, floor=float(positive.min()) if len(positive) else 1.0, most=12)
    else:
        reach = 1.08 * max(float(np.abs(values).max(initial=0.0)), 1e-9)
        low = 0.0 if is_size else -reach
        y = Axis(axes[1], domain=(low, reach), text=people if is_size else _signed)
        under.append(Rule(y=0.0, dash=Dash.DASHED))
    points, over, key = [], list[Part](), []
    for number, each in enumerate(series):
        points.append(
            Points(
                each.name, each.x, each.y, _tips(each, people if is_log or is_size else signed_people), series=number
            )
        )
        key.append(KeyEntry(Dot(0.5, ink=number, shape=shape_of(number)), each.name))
        if each.line is not None:
            ends = (max(smallest, SMALLEST), max(largest, 1.0))
            slope, intercept = each.line
            over.append(Path(ends, tuple(intercept + slope * math.log(end) for end in ends), number))
            key.append(KeyEntry(Path((0.0, 1.0), (0.0, 0.0), number), each.line_name))
    return Figure(
        identity,
        title,
        summary,
        x,
        y,
        (),
        table,
        points=tuple(points),
        under=tuple(under),
        over=tuple(over),
        key=tuple(key) if len(key) > 1 else (),
    )


def _signed(value: float) -> str:
    return signed_people(value) if value else "0"


def _tips(series: Series, write: Callable[[float], str]) -> tuple[str, ...]:
    labels = series.labels or ("",) * len(series.x)
    return tuple(
        f"{label}, {series.name}: {write(y)} at {grouped(round(x))}".removeprefix(", ")
        for label, x, y in zip(labels, series.x.tolist(), series.y.tolist(), strict=True)
    )
