"""Compiled: non-decreasing integers with the least weighted squared distance to given answers, exactly.

The real-valued optimum is constant on blocks, each at the weighted mean of its block (pool adjacent violators, Ayer et
al. 1955). It is what the group-size paper's chain asks for (section 9.2). The
integer optimum is that mean rounded to the nearest integer, ties upward, and clipped to the bounds: the places where
the optimum exceeds an integer k are those where the blocks' means reach k + 1/2.

The same fact gives a faster way where values hardly change, as at the end of a chain of cumulative counts: the places
with values up to k are the shortest prefix that maximises ``Σ weight (2k + 1) − 2 sum``, one addition and one
comparison a place. Stretches are split at such k until they have one value; short and steep stretches are pooled. All
arithmetic is of integers: means are compared as fractions, never as rounded quotients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel

Ints = NDArray[np.int64]

_SAFE = 1 << 31
"""Factors below it have products that an int64 holds."""

CHUNK = 64
"""Places that are added up at once."""

_FEWEST = 8
"""Whole chunks of a stretch that is split by their sums; a shorter one is pooled, or split place by place."""

_NARROW = 16
"""Range of values up to which a short stretch is split."""

_STEEP = 16
"""A stretch is steep where its values rise by more than its length over this; it is pooled."""

_TOGETHER = 64
"""Regions written at a time."""

_DEEPEST = 120
"""Stretches that wait at most; beyond, the rest is pooled."""


@kernel
def at_least(total: int, weight: int, other_total: int, other_weight: int) -> bool:
    """Return whether total / weight ≥ other_total / other_weight, exactly; weights are positive and below 2^31.

    Args:
        total: numerator of the first mean, within int64.
        weight: its denominator, at least 1.
        other_total: numerator of the second mean, within int64.
        other_weight: its denominator, at least 1.
    """
    if -_SAFE < total < _SAFE and -_SAFE < other_total < _SAFE:
        return total * other_weight >= other_total * weight
    whole = total // weight
    other_whole = other_total // other_weight
    if whole != other_whole:
        return whole > other_whole
    return (total - whole * weight) * other_weight >= (other_total - other_whole * other_weight) * weight


@kernel
def nearest(total: int, weight: int) -> int:
    """Return total / weight rounded to the nearest integer, ties upward.

    Args:
        total: numerator.
        weight: denominator, at least 1.
    """
    return (2 * total + weight) // (2 * weight)


@kernel
def pool(sums: Ints, weights: Ints, first: int, behind: int, lower: int, upper: int, out: Ints) -> None:
    """Pool adjacent violators of one stretch.

    One pass forward: the last block stays at hand, those before it wait in `out`, which their values overwrite from the
    end, so that half as much memory is touched.

    Args:
        sums: ``sums[n]``, Σ weight × answer.
        weights: ``weights[n]``, Σ weight, positive.
        first: start of the stretch.
        behind: one past its end, more than `first`.
        lower: least value.
        upper: largest value.
        out: ``out[n]``, receives the values of the stretch.
    """
    total = out[first:behind]
    weight = np.empty(behind - first, np.int64)
    end = np.empty(behind - first, np.int32)
    last = 0
    last_total, last_weight = sums[first], weights[first]
    for place in range(first + 1, behind):
        place_total, place_weight = sums[place], weights[place]
        if not at_least(last_total, last_weight, place_total, place_weight):
            total[last], weight[last], end[last] = last_total, last_weight, place
            last += 1
            last_total, last_weight = place_total, place_weight
            continue
        last_total += place_total
        last_weight += place_weight
        while last > 0:
            before_total, before_weight = total[last - 1], weight[last - 1]
            if not at_least(before_total, before_weight, last_total, last_weight):
                break
            last_total += before_total
            last_weight += before_weight
            last -= 1
    total[last], weight[last] = last_total, last_weight
    place = behind - 1
    for block in range(last, -1, -1):
        value = min(max(nearest(total[block], weight[block]), lower), upper)
        # A block's number is at most its first place: what waits before it is not overwritten.
        begin = end[block - 1] if block > 0 else first
        out[place] = value
        place -= 1
        while place >= begin:
            out[place] = value
            place -= 1


@kernel
def sum_chunk(sums: Ints, weights: Ints, chunk: int, out: Ints) -> None:
    """Write Σ sum, Σ weight, the mean m below, and the most that Σ (weight × m − sum) reaches, of `CHUNK` places.

    Args:
        sums: ``sums[n]``, Σ weight × answer.
        weights: ``weights[n]``, Σ weight, positive.
        chunk: number of the chunk.
        out: ``out[4]``, receives the four figures.
    """
    part, part_weights = sums[chunk * CHUNK : (chunk + 1) * CHUNK], weights[chunk * CHUNK : (chunk + 1) * CHUNK]
    total = weight = 0
    for place in range(CHUNK):  # from 0, so that it is vectorised
        total += part[place]
        weight += part_weights[place]
    mean = total // weight
    running = most = 0
    for place in range(CHUNK):
        running += part_weights[place] * mean - part[place]
        most = max(most, running)
    out[0], out[1], out[2], out[3] = total, weight, mean, most


@kernel
def cut_at(  # noqa: C901 - plain loops, which compiled code does not split
    sums: Ints, weights: Ints, chunks: Ints, first: int, behind: int, value: int
) -> int:
    """Return the place behind the last one of a stretch whose optimum is at most `value`.

    That is the shortest prefix with the largest Σ gain, gain = weight (2 value + 1) − 2 sum. Whole chunks are added up
    at once; only those that could hold the largest sum are looked into.

    Args:
        sums: as in `fit_monotone`.
        weights: as there.
        chunks: ``int64[whole chunks, 4]``, see `sum_chunk`.
        first: of the stretch.
        behind: its end.
        value: k.
    """
    twice = 2 * value + 1
    start, stop = -(-first // CHUNK), behind // CHUNK
    gain = 0
    best = 0
    found = first
    if stop - start < 2:
        start = stop = 0
    else:
        for place in range(first, start * CHUNK):
            gain += weights[place] * twice - 2 * sums[place]
            if gain > best:
                best = gain
                found = place + 1
        # The largest sum at the ends of chunks; the first place that reaches it is sought below.
        running, reached = gain, gain
        for chunk in range(start, stop):
            running += chunks[chunk, 1] * twice - 2 * chunks[chunk, 0]
            reached = max(reached, running)
        if reached > best:
            best = reached - 1
        for chunk in range(start, stop):
            # gain = 2 (weight m − sum) + weight (2 value + 1 − 2 m), for any m.
            lift = 2 * chunks[chunk, 3] + chunks[chunk, 1] * max(0, twice - 2 * chunks[chunk, 2])
            if gain + lift > best:
                running = gain
                for place in range(chunk * CHUNK, (chunk + 1) * CHUNK):
                    running += weights[place] * twice - 2 * sums[place]
                    if running > best:
                        best = running
                        found = place + 1
            gain += chunks[chunk, 1] * twice - 2 * chunks[chunk, 0]
    for place in range(stop * CHUNK if stop > 0 else first, behind):
        gain += weights[place] * twice - 2 * sums[place]
        if gain > best:
            best = gain
            found = place + 1
    return found


@kernel
def is_steep(begin: int, middle: int, end: int, length: int) -> bool:
    """Return whether a stretch with these means at three places is steep in both halves.

    Args:
        begin: mean at the start of the stretch.
        middle: mean in its middle.
        end: mean at its end.
        length: of the stretch.
    """
    return (middle - begin) * _STEEP > length and (end - middle) * _STEEP > length


@kernel
def splitting_value(chunks: Ints, start: int, stop: int, length: int) -> tuple[int, bool]:
    """Return a value at which to split a stretch, and whether it is steep from end to end.

    Args:
        chunks: ``chunks[chunks, 4]``, see `sum_chunk`.
        start: first whole chunk of the stretch.
        stop: behind the last; at least 3 more than `start`.
        length: of the stretch.
    """
    steep = is_steep(chunks[start, 2], chunks[(start + stop) // 2, 2], chunks[stop - 1, 2], length)
    total = weight = 0
    for chunk in range(start, stop):
        total += chunks[chunk, 0]
        weight += chunks[chunk, 1]
    return nearest(total, weight), steep


@kernel
def fit_monotone(  # noqa: C901, PLR0912 - one loop over stretches, which compiled code does not split
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
    chunks = np.empty((len(sums) // CHUNK, 4), np.int64)
    last = len(chunks) - 1
    if last >= _FEWEST:
        for chunk in (0, last // 2, last):
            sum_chunk(sums, weights, chunk, chunks[chunk])
        if is_steep(chunks[0, 2], chunks[last // 2, 2], chunks[last, 2], len(sums)):
            pool(sums, weights, 0, len(sums), lower, upper, out)
            return
        for chunk in range(last + 1):
            sum_chunk(sums, weights, chunk, chunks[chunk])
    # Stretches with their bounds, and how often each could not be split.
    waiting = np.empty((_DEEPEST + 3, 5), np.int64)
    waiting[0] = (0, len(sums), lower, upper, 0)
    count = min(len(sums), 1)
    while count > 0:
        count -= 1
        first, behind, low, high, unsplit = waiting[count]
        if low == high:
            for place in range(first, behind):
                out[place] = low
            continue
        start, stop = -(-first // CHUNK), behind // CHUNK
        value, steep = low + (high - low) // 2, count > _DEEPEST
        if stop - start < _FEWEST:
            steep = steep or high - low > _NARROW or behind - first < CHUNK
        elif not steep and unsplit < 2:
            value, steep = splitting_value(chunks, start, stop, behind - first)
        if steep:
            pool(sums, weights, first, behind, low, high, out)
            continue
        value = min(max(value, low), high)
        # What lies outside the bounds is clipped to them.
        below = first if value == low else cut_at(sums, weights, chunks, first, behind, value - 1)
        up_to = behind if value == high else cut_at(sums, weights, chunks, below, behind, value)
        for place in range(below, up_to):
            out[place] = value
        again = 0 if first < below < behind or first < up_to < behind else unsplit + 1
        if up_to < behind:
            waiting[count] = (up_to, behind, value + 1, high, again)
            count += 1
        if below > first:
            waiting[count] = (first, below, low, value - 1, again)
            count += 1


@kernel
def fit_rows(answers: Ints, lower: int, upper: int, out: Ints) -> None:
    """Write, row by row, the non-decreasing integers nearest to ``answers[rows, n]``.

    Args:
        answers: ``answers[rows, n]``.
        lower: least value.
        upper: largest value, at least `lower`.
        out: ``out[rows, n]``, receives the values.
    """
    weights = np.ones(answers.shape[1], np.int64)
    for row in range(answers.shape[0]):
        fit_monotone(answers[row], weights, lower, upper, out[row])


@kernel
def unchain(chain: Ints, out: Ints) -> None:
    """Write the steps of a chain, which runs size by size and region by region.

    Args:
        chain: ``chain[N × regions]``, non-decreasing.
        out: ``out[regions, N]``, receives the steps.
    """
    regions, sizes = out.shape
    # Regions in groups, so that the lines of both arrays are still at hand.
    for begin in range(0, regions, _TOGETHER):
        end = min(begin + _TOGETHER, regions)
        for size in range(sizes):
            place = size * regions + begin
            before = chain[place - 1] if place > 0 else 0
            for region in range(begin, end):
                value = chain[size * regions + region]
                out[region, size] = value - before
                before = value
