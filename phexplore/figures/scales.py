"""Positions on axes: ticks of logarithmic axes, round numbers, labels that do not overlap. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

FLOOR_PEOPLE = 0.05
"""Margins below it are drawn at the left edge of a logarithmic axis and labelled with their value: 0 has no logarithm."""


def log_people(people: float) -> float:
    """Return log10 of a number of people, of the floor for anything smaller."""
    return math.log10(max(people, FLOOR_PEOPLE))


def log_range(values: Sequence[float], *, least_decades: float = 1.0, padding: float = 0.08) -> tuple[float, float]:
    """Return a range of log10(people) that holds all values, at least `least_decades` wide.

    Args:
        values: numbers of people; those that are not positive and finite are held by the floor or left out.
        least_decades: smallest width, so that equal values do not fill the axis.
        padding: part of the width added on each side.
    """
    logs = [log_people(value) for value in values if math.isfinite(value)]
    low, high = (min(logs), max(logs)) if logs else (0.0, 3.0)
    missing = max(0.0, least_decades - (high - low)) / 2
    low, high = low - missing, high + missing
    return low - padding * (high - low), high + padding * (high - low)


def log_ticks(low: float, high: float, most: int = 12) -> list[float]:
    """Return the round numbers of people between 10**low and 10**high, ascending.

    1, 2, 5 per decade where at most `most` of them fit, else whole decades, else every n-th decade.

    Args:
        low: power of ten at the lower end.
        high: power of ten at the upper end.
        most: so many ticks at most.
    """
    decades = range(math.floor(low), math.ceil(high) + 1)
    inside = [
        factor * 10.0**decade
        for decade in decades
        for factor in (1, 2, 5)
        if low - 1e-9 <= math.log10(factor * 10.0**decade) <= high + 1e-9
    ]
    if len(inside) <= most:
        return inside
    powers = [10.0**decade for decade in decades if low - 1e-9 <= decade <= high + 1e-9]
    step = -(-len(powers) // most)
    return powers[::step]


def linear_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers between low and high, at most `most` of them, ascending.

    Args:
        low: lower end.
        high: upper end.
        most: so many ticks at most.
    """
    if not high > low:
        return [low]
    step = nice_at_least((high - low) / most)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def nice_at_least(value: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is not below `value` (> 0)."""
    power = 10.0 ** math.floor(math.log10(value))
    for factor in (1, 2, 5):
        if factor * power >= value * (1 - 1e-9):
            return factor * power
    return 10 * power


def nice_at_most(value: float) -> float:
    """Return the largest 1, 2 or 5 times a power of ten that is not above `value` (> 0)."""
    power = 10.0 ** math.floor(math.log10(value))
    for factor in (5, 2):
        if factor * power <= value * (1 + 1e-9):
            return factor * power
    return power


def whole_people_near(people: float, resolution: float) -> int:
    """Return the roundest whole number of people within half a pixel of where a dot was dragged.

    Args:
        people: where the pointer is, > 0.
        resolution: how many people one pixel is worth there, > 0.

    Returns:
        At least 1. Rounded to the coarsest step 1, 2 or 5 × 10ⁿ that is not above the resolution, at least 1 person.
    """
    step = max(1, round(nice_at_most(resolution)))
    return max(1, step * round(people / step))


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted ones that are at least `gap` apart and inside [low, high] where they fit.

    Order is kept. Neighbours that collide share the shift (blocks are placed at the mean of what they want).

    Args:
        wanted: positions asked for, in any order.
        gap: least distance between two.
        low: least position.
        high: largest position.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[float]] = []
    for index in order:
        blocks.append([wanted[index], 1.0])
        while len(blocks) > 1 and _overlap(blocks[-2], blocks[-1], gap):
            centre, count = blocks.pop()
            before = blocks[-1]
            before[0] = (before[0] * before[1] + centre * count) / (before[1] + count)
            before[1] += count
    for block in blocks:
        half = (block[1] - 1) * gap / 2
        block[0] = min(max(block[0], low + half), max(high - half, low + half))
    placed = [centre + (place - (count - 1) / 2) * gap for centre, count in blocks for place in range(int(count))]
    placed = _pushed(placed, gap, high)
    result = [0.0] * len(wanted)
    for index, position in zip(order, placed, strict=True):
        result[index] = position
    return result


def _overlap(first: list[float], second: list[float], gap: float) -> bool:
    return second[0] - first[0] < gap * (first[1] + second[1]) / 2 - 1e-9


def _pushed(placed: list[float], gap: float, high: float) -> list[float]:
    """Undo collisions that the limits caused: push up, then down from the upper limit."""
    for index in range(1, len(placed)):
        placed[index] = max(placed[index], placed[index - 1] + gap)
    if placed and placed[-1] > high:
        placed[-1] = high
        for index in range(len(placed) - 2, -1, -1):
            placed[index] = min(placed[index], placed[index + 1] - gap)
    return placed
