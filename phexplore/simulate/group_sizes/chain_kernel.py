"""Compiled: non-decreasing integers with the least weighted squared distance to given answers, exactly.

The real-valued optimum is constant on blocks, each at the weighted mean of its block (pool adjacent violators). The
integer optimum is that mean rounded to the nearest integer, ties upward, and clipped to the bounds: the places where the
optimum exceeds an integer k are those where the blocks' means reach k + 1/2.

The same fact gives a faster way where values hardly change, as at the end of a chain of cumulative counts: the places
with values up to k are the shortest prefix that maximises ``Σ weight (2k + 1) − 2 sum``, one addition and one comparison
a place. Stretches are split at such k until they have one value; short and steep stretches are pooled. All arithmetic
is of integers: means are compared as fractions, never as rounded quotients.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_SAFE = 1 << 31
"""Factors below it have products that an int64 holds."""

_SHORT = 1024
"""Stretches up to this length are pooled at once."""

_WINDOW = 512
"""Places whose mean tells about where a stretch begins, is in its middle, and ends."""

_STEEP = 16
"""A stretch is steep where its values rise by more than its length over this."""

_CHUNK = 64
"""Places whose gains are added up at once."""

_DEEPEST = 120
"""Stretches that wait at most; beyond, the rest is pooled."""

_MARGIN = 8
"""How far from a level half the value is at which it is cut off."""


@njit(cache=True, nogil=True)
def at_least(total: int, weight: int, other_total: int, other_weight: int) -> bool:
    """Return whether total / weight ≥ other_total / other_weight, exactly; weights are positive and below 2^31."""
    if -_SAFE < total < _SAFE and -_SAFE < other_total < _SAFE:
        return total * other_weight >= other_total * weight
    whole = total // weight
    other_whole = other_total // other_weight
    if whole != other_whole:
        return whole > other_whole
    return (total - whole * weight) * other_weight >= (other_total - other_whole * other_weight) * weight


@njit(cache=True, nogil=True)
def nearest(total: int, weight: int) -> int:
    """Return total / weight rounded to the nearest integer, ties upward."""
    return (2 * total + weight) // (2 * weight)


@njit(cache=True, nogil=True)
def pool(sums: Ints, weights: Ints, first: int, behind: int, lower: int, upper: int, out: Ints) -> None:
    """Pool adjacent violators of one stretch; arguments as in `fit_monotone`."""
    places = behind - first
    total = np.empty(places, np.int64)
    weight = np.empty(places, np.int64)
    end = np.empty(places, np.int64)
    blocks = 0
    for place in range(first, behind):
        block_total, block_weight = sums[place], weights[place]
        while blocks > 0 and at_least(total[blocks - 1], weight[blocks - 1], block_total, block_weight):
            blocks -= 1
            block_total += total[blocks]
            block_weight += weight[blocks]
        total[blocks] = block_total
        weight[blocks] = block_weight
        end[blocks] = place + 1
        blocks += 1
    place = first
    for block in range(blocks):
        value = min(max(nearest(total[block], weight[block]), lower), upper)
        while place < end[block]:
            out[place] = value
            place += 1


@njit(cache=True, nogil=True)
def mean_of(sums: Ints, weights: Ints, first: int, behind: int) -> int:
    """Return the weighted mean of a stretch, rounded."""
    total = 0
    weight = 0
    for place in range(first, behind):
        total += sums[place]
        weight += weights[place]
    return int(nearest(total, weight))


@njit(cache=True, nogil=True)
def sampled_mean(sums: Ints, weights: Ints, first: int, behind: int) -> int:
    """Return about the weighted mean of a long stretch, from an eighth of it."""
    total = 0
    weight = 0
    for begin in range(first, behind - _WINDOW // 8, _WINDOW):
        for place in range(begin, begin + _WINDOW // 8):
            total += sums[place]
            weight += weights[place]
    return int(nearest(total, weight))


@njit(cache=True, nogil=True)
def cuts_around(sums: Ints, weights: Ints, first: int, behind: int, value: int) -> tuple[int, int]:
    """Return the places behind the last one of a stretch with an optimum below `value`, and with one of at most `value`.

    A chunk is only looked into if its positive gains could lift one of the two sums above its largest so far.
    """
    below = up_to = 0
    best_below = best_up_to = 0
    found_below = found_up_to = first
    twice = 2 * value + 1
    for begin in range(first, behind, _CHUNK):
        end = min(begin + _CHUNK, behind)
        all_gains = all_weights = lift = 0
        chunk_sums, chunk_weights = sums[begin:end], weights[begin:end]
        for place in range(end - begin):  # from 0, so that it is vectorised
            weight = chunk_weights[place]
            gain = weight * twice - 2 * chunk_sums[place]
            all_gains += gain
            all_weights += int(weight)
            lift += max(gain, 0)
        if up_to + lift > best_up_to or below + lift > best_below:
            running_up_to, running_below = up_to, below
            for place in range(begin, end):
                weight = weights[place]
                gain = weight * twice - 2 * sums[place]
                running_up_to += gain
                running_below += gain - 2 * weight
                if running_up_to > best_up_to:
                    best_up_to = running_up_to
                    found_up_to = place + 1
                if running_below > best_below:
                    best_below = running_below
                    found_below = place + 1
        up_to += all_gains
        below += all_gains - 2 * all_weights
    return found_below, found_up_to


@njit(cache=True, nogil=True)
def splitting_value(sums: Ints, weights: Ints, first: int, behind: int) -> tuple[int, bool]:
    """Return a value at which to split a long stretch, and whether it is steep from end to end."""
    length = behind - first
    centre = first + (length - _WINDOW) // 2
    begin = mean_of(sums, weights, first, first + _WINDOW)
    middle = mean_of(sums, weights, centre, centre + _WINDOW)
    end = mean_of(sums, weights, behind - _WINDOW, behind)
    first_half, second_half = (middle - begin) * _STEEP > length, (end - middle) * _STEEP > length
    # A level half is cut off as a whole: just below its values, or just above.
    if first_half and not second_half:
        return middle - _MARGIN - 2 * (end - middle), False
    if second_half and not first_half:
        return middle + _MARGIN + 2 * (middle - begin), False
    return sampled_mean(sums, weights, first, behind), first_half and second_half


@njit(cache=True, nogil=True)
def fit_monotone(  # noqa: C901 - one loop over stretches, which compiled code does not split
    sums: Ints, weights: Ints, lower: int, upper: int, out: Ints
) -> None:
    """Write the non-decreasing integers nearest to the weighted means ``sums / weights``.

    Args:
        sums: ``int64[n]``, Σ weight × answer at every place; all together, with 2 × bounds × weights, inside an int64.
        weights: ``int64[n]``, Σ weight, positive; all together below 2^31.
        lower: least value.
        upper: largest value, at least `lower`.
        out: ``int64[n]``, written; not `sums`.
    """
    # Stretches with their bounds, and how often each could not be split.
    waiting = np.empty((_DEEPEST + 3, 5), np.int64)
    waiting[0] = (0, len(sums), lower, upper, 0)
    count = 1
    while count > 0:
        count -= 1
        first, behind, low, high, unsplit = waiting[count]
        if low == high:
            for place in range(first, behind):
                out[place] = low
            continue
        value, steep = low + (high - low) // 2, behind - first <= _SHORT or count > _DEEPEST
        if not steep and unsplit < 2:
            value, steep = splitting_value(sums, weights, first, behind)
            if unsplit == 1:
                value = mean_of(sums, weights, first, behind)
        if steep:
            pool(sums, weights, first, behind, low, high, out)
            continue
        value = min(max(value, low), high)
        below, up_to = cuts_around(sums, weights, first, behind, value)
        # What lies outside the bounds is clipped to them.
        if value == low:
            below = first
        if value == high:
            up_to = behind
        for place in range(below, up_to):
            out[place] = value
        again = 0 if first < below < behind or first < up_to < behind else unsplit + 1
        if up_to < behind:
            waiting[count] = (up_to, behind, value + 1, high, again)
            count += 1
        if below > first:
            waiting[count] = (first, below, low, value - 1, again)
            count += 1


@njit(cache=True, nogil=True)
def fit_rows(answers: Ints, lower: int, upper: int, out: Ints) -> None:
    """Write, row by row, the non-decreasing integers nearest to ``answers[rows, n]``."""
    weights = np.ones(answers.shape[1], np.int64)
    for row in range(answers.shape[0]):
        fit_monotone(answers[row], weights, lower, upper, out[row])
