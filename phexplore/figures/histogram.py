"""Histograms as figures: errors with the noise of one answer over them, and whole numbers before and after."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Tick, whole_text
from phexplore.figures.figure import Figure, KeyEntry
from phexplore.figures.marks import Box, Fill, Mark, Part, Path, Role, Rule
from phexplore.figures.table import Table, grouped, signed_tick
from phexplore.noise.distributions import Noise

Floats = NDArray[np.float64]

_ALONE = "one noisy answer alone"
_CURVE_POINTS = 161
"""Odd: one of them is 0, where the curve is highest."""
_STEPS_OF_SIGMA, _TAIL = 200, 12
"""Points of a wide distribution per standard deviation, and so many standard deviations on each side: beyond lies less than 1e-6."""


def percent_tick(value: float) -> str:
    """Return a tick of an axis in percent."""
    return f"{value:g} %"


@dataclass(frozen=True, slots=True)
class NoiseCurve:
    """The distribution of the noise of an answer, to be drawn over its errors.

    Attributes:
        sigma: standard deviation.
        share: how many percent fall into a bin, by its middle and width.
        words: whose noise it is.
    """

    sigma: float
    share: Callable[[float, float], float]
    words: str = _ALONE


def normal_curve(sigma: float, words: str) -> NoiseCurve:
    """Return the normal curve of a spread, for noise whose distribution has no short form.

    Args:
        sigma: standard deviation.
        words: what the curve is.
    """
    return NoiseCurve(sigma, lambda value, width: noise_share(value, sigma, width), words)


def curve_of(noise: Noise, count: int = 1, words: str = _ALONE) -> NoiseCurve:
    """Return the true distribution of noise: of whole numbers, added up where an answer has several of them.

    Args:
        noise: of one measurement.
        count: how many independent ones an answer is made of.
        words: whose noise it is.
    """
    sigma = math.sqrt(noise.variance())
    step = max(1, round(sigma / _STEPS_OF_SIGMA))  # every whole number, unless there are more than one sees
    half = math.ceil(_TAIL * sigma / step) + 1
    one = np.exp([noise.log_pmf(step * n) for n in range(half + 1)])
    one = np.concatenate((one[:0:-1], one))
    one /= one.sum()
    whole = one
    for _ in range(count - 1):
        whole = np.convolve(whole, one)
    last = len(whole) // 2
    ends = step * (np.arange(-last, last + 1) + 0.5)
    below = np.cumsum(whole)

    def share(value: float, width: float) -> float:
        low, high = np.interp((value - width / 2, value + width / 2), ends, below, left=0.0)
        return 100 * float(high - low)

    return NoiseCurve(sigma * math.sqrt(count), share, words)


def beyond(count: int) -> str:
    """Return how a sentence goes on where some errors lie beyond the bins, "" where all are drawn."""
    if not count:
        return ""
    return "; the one farthest off is not drawn" if count == 1 else f"; the {count:,} farthest off are not drawn"


def error_histogram(
    identity: str,
    bins: tuple[Floats, Floats],
    noise: NoiseCurve | None,
    unit: str,
    words: tuple[str, str],
    table: Table,
) -> Figure:
    """Return a histogram of errors with the curve of the noise before post-processing.

    Args:
        identity: short name for files.
        bins: edges ``float64[bins + 1]`` and shares ``float64[bins]``, percent of all errors.
        noise: of one answer, None where the query is not measured: no curve.
        unit: of the errors.
        words: the finding, and one sentence.
        table: the same numbers.
    """
    edges, shares = bins
    reach = max(abs(float(edges[0])), abs(float(edges[-1])))
    top = float(shares.max())
    over: tuple[Part, ...] = ()
    key: tuple[KeyEntry, ...] = ()
    if noise is not None:
        reach = max(reach, min(3 * noise.sigma, 3 * reach))
        values = np.linspace(-1.04 * reach, 1.04 * reach, _CURVE_POINTS)
        heights = [noise.share(value, float(edges[1] - edges[0])) for value in values.tolist()]
        top = max(top, *heights)
        over = (Path(tuple(values.tolist()), tuple(heights), 1),)
        line = KeyEntry(Path((0.0, 1.0), (0.0, 0.0), 1), f"{noise.words}, σ = {noise.sigma:,.1f}")
        key = (KeyEntry(Box(0, 1, -0.4, 0.4, 0, Fill.SOFT), "errors"), line)
    marks = tuple(
        Mark(
            parts=(Box(low, high, 0.0, share, 0, Fill.SOFT),),
            tip=f"{signed_tick(low)} to {signed_tick(high)}: {share:.3g} %",
        )
        for low, high, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
    )
    return Figure(
        identity,
        *words,
        Axis(f"published − true, {unit}", domain=(-1.04 * reach, 1.04 * reach), text=signed_tick),
        Axis("share of the numbers", domain=(0.0, max(1.08 * top, 1e-6)), text=percent_tick),
        marks,
        table,
        under=(Rule(x=0.0),),
        over=over,
        key=key,
    )


def noise_share(value: float, sigma: float, width: float) -> float:
    """Return how many percent of normal noise fall into a bin around a value, at most 100.

    Args:
        value: middle of the bin.
        sigma: of the noise.
        width: of the bin.
    """
    if sigma <= 0:
        return 0.0
    high, low = (math.erf((value + side * width / 2) / (sigma * math.sqrt(2))) for side in (1, -1))
    return 50 * (high - low)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many fall into each bin.

    Attributes:
        title: of what is counted.
        counts: ``int64[bins]``.
        mean: of the numbers themselves.
    """

    title: str
    counts: NDArray[np.int64]
    mean: float


def paired_histograms(
    identity: str,
    edges: NDArray[np.int64],
    this: Counts,
    other: Counts | None,
    axes: tuple[str, str],
    words: tuple[str, str],
    table: Table,
) -> Figure:
    """Return two histograms of whole numbers on one scale: hollow before, filled after.

    Args:
        identity: short name for files.
        edges: ``int64[bins + 1]``: bin i holds the numbers from ``edges[i]`` to ``edges[i + 1] - 1``.
        this: what is shown.
        other: what it is compared with, None for nothing.
        axes: quantity and unit of the numbers, and what is counted, plural.
        words: the finding, and one sentence.
        table: the same numbers.
    """
    marks, ticks = [], []
    for number, count in enumerate(this.counts.tolist()):
        low, high = int(edges[number]), int(edges[number + 1]) - 1
        name = grouped(low) if low == high else f"{grouped(low)}–{grouped(high)}"
        ticks.append(Tick(number + 0.5, name))
        tip = f"{this.title}: {grouped(count)} {axes[1]}"
        parts: tuple[Part, ...] = (Box(number + 0.15, number + 0.85, 0.0, count),)
        if other is not None:
            was = int(other.counts[number])
            tip = f"{other.title}: {grouped(was)}; {tip}"
            before = Box(number + 0.1, number + 0.48, 0.0, was, Role.REFERENCE, Fill.HOLLOW)
            parts = (before, Box(number + 0.52, number + 0.9, 0.0, count))
        marks.append(Mark(parts=parts, tip=f"{name}: {tip}"))
    key = [KeyEntry(Box(0, 1, -0.4, 0.4), f"{this.title}, mean {this.mean:,.2f}")]
    top = float(this.counts.max(initial=1))
    if other is not None:
        sign = Box(0, 1, -0.4, 0.4, Role.REFERENCE, Fill.HOLLOW)
        key.insert(0, KeyEntry(sign, f"{other.title}, mean {other.mean:,.2f}"))
        top = max(top, float(other.counts.max(initial=1)))
    return Figure(
        identity,
        *words,
        Axis(axes[0], domain=(0.0, float(max(len(marks), 1))), ticks=tuple(ticks)),
        Axis(axes[1], domain=(0.0, 1.08 * top), text=whole_text),
        tuple(marks),
        table,
        key=tuple(key),
    )
