"""A map as a figure: units coloured by how far they are off, or told from their neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, Tint
from phexplore.figures.marks import Patch
from phexplore.figures.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = 7
"""Colours on each side of 0."""
_SHOWN = 0.98
"""Part of the values that the scale of colours tells apart."""


def longitude_text(value: float) -> str:
    """Return a longitude as people write it."""
    return f"{abs(value):.3f}° {'W' if value < 0 else 'E'}"


def latitude_text(value: float) -> str:
    """Return a latitude as people write it."""
    return f"{abs(value):.3f}° {'N' if value > 0 else 'S'}"


def area_true(ring: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return a ring on a map where areas are true: degrees of longitude, and of the sine of the latitude.

    Lambert's cylindrical equal-area projection; the figure stretches it so that shapes in its middle are true too.

    Args:
        ring: ``ring[points, 2]``, degrees of longitude and latitude.
    """
    import numpy as np  # noqa: PLC0415 - the window starts without it

    upward = np.degrees(np.sin(np.radians(ring[:, 1].astype(np.float64))))
    return np.stack([ring[:, 0], upward], axis=1).astype(np.float32)


def stretch_at(upward: float) -> float:
    """Return how long a unit across is, in units upward, where `area_true` has this upward coordinate: shapes are true there."""
    return float(max(1 - math.radians(upward) ** 2, 0.05**2))


def map_figure(
    identity: str, patches: Sequence[Patch], unit: str, words: tuple[str, str], table: Table, *, is_signed: bool = False
) -> Figure:
    """Return a map.

    Args:
        identity: short name for files.
        patches: all polygons.
        unit: of the values; "" where they only tell neighbours apart: no scale, and a colour of its own for each.
        words: the finding, and one sentence.
        table: the same numbers.
        is_signed: below and above 0 mean different things.
    """
    import numpy as np  # noqa: PLC0415 - the window starts without it

    values = np.array([abs(patch.value) for patch in patches if math.isfinite(patch.value)])
    shown = (float(np.quantile(values, _SHOWN)), float(values.max())) if len(values) else ()
    limit = next(filter(None, shown), 1.0)
    left, right, bottom, top = bounds(tuple(patches))
    north = Axis("", Scale.LATITUDE)
    upward = replace(north, domain=(north.value(bottom), north.value(top)), text=latitude_text)
    return Figure(
        identity,
        *words,
        Axis(domain=(left, right), text=longitude_text),
        upward,
        (),
        table,
        patches=tuple(patches),
        tint=Tint(unit, limit, is_signed),
    )


@lru_cache(maxsize=8)
def bounds(patches: tuple[Patch, ...]) -> tuple[float, float, float, float]:
    """Return the smallest and largest coordinates across, then upward, of polygons; those of one point where there are none."""
    rings = [ring for patch in patches for ring in patch.rings if len(ring)]
    if not rings:
        return 0.0, 1.0, 0.0, 1.0
    import numpy as np  # noqa: PLC0415 - as above

    lows = np.min([ring.min(axis=0) for ring in rings], axis=0)
    highs = np.max([ring.max(axis=0) for ring in rings], axis=0)
    return float(lows[0]), float(highs[0]), float(lows[1]), float(highs[1])


def equal_degrees(figure: Figure, width: float, height: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ranges across and upward that show a map with equal lengths both ways in its middle, and true areas everywhere.

    Args:
        figure: of patches.
        width: of the plot area, in pixels.
        height: of the plot area, in pixels.
    """
    left, right, bottom, top = bounds(figure.patches)
    x, y = (left + right) / 2, (bottom + top) / 2
    aspect = stretch_at(y)
    degrees = 1.03 * max((right - left) * aspect / max(width, 1.0), (top - bottom) / max(height, 1.0), 1e-9)
    half, rise = degrees * width / aspect / 2, degrees * height / 2
    return (x - half, x + half), (y - rise, y + rise)


def outer_edges(rings: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the lines around polygons that lie side by side: of the blocks of a town its border, without those between blocks.

    A line that two polygons share lies between them; it is found where both have the same two corners.

    Args:
        rings: ``float32[points, 2]`` each, closed or not.

    Returns:
        ``float32[lines, 2, 2]``: both ends of each.
    """
    import numpy as np  # noqa: PLC0415 - the window starts without it

    kept = [np.ascontiguousarray(ring, np.float32) for ring in rings if len(ring)]
    if not kept:
        return np.zeros((0, 2, 2), np.float32)
    lines = np.stack([np.concatenate(kept), np.concatenate([np.roll(ring, -1, axis=0) for ring in kept])], axis=1)
    ends = np.sort(lines.view(np.uint64)[:, :, 0], axis=1)
    _, first, counts = np.unique(ends.view([("", np.uint64)] * 2), return_index=True, return_counts=True)
    found = first[counts % 2 == 1]
    border: NDArray[np.float32] = lines[found[ends[found, 0] != ends[found, 1]]]
    return border


def scale_words(tint: Tint) -> str:
    """Return what the ends of the scale of colours stand for: what is farther off has the last colour too."""
    most, unit = f"{tint.limit:,.3g}", tint.unit
    return f"−{most} or less to +{most} {unit} or more" if tint.is_signed else f"0 to {most} {unit} or more"


def tint_of(tint: Tint, value: float) -> tuple[int, float] | None:
    """Return the series whose colour a value has and how strong it is, 0 to 1; None for nothing known.

    Args:
        tint: scale of the map.
        value: to be coloured.
    """
    if not math.isfinite(value):
        return None
    if not tint.unit:
        return int(value), 0.5
    part = math.ceil(min(abs(value) / tint.limit, 1.0) * STEPS) / STEPS
    return (1 if tint.is_signed and value < 0 else 0), 0.9 * part
