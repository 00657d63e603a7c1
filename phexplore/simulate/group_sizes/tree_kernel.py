"""Compiled: the integer values of a tree that fit noisy answers best, exactly, without cost tables.

Every node has an answer a (the top has none), parents equal the sum of their children, leaves are at least 0, the top
is given. The cost of a node's value is the least cost of its subtree, a convex function of it (paper, Lemma 5), so it
is known by its slopes: the cost of the unit X is the slope from X − 1 to X. Slopes are integers, and the number of
units whose slope is at most λ is computed, not tabulated:

* a leaf has slopes 2X − 1 − 2a: ``max(0, a + ⌊(λ + 1) / 2⌋)`` units;
* a parent takes its children's units in the order of their slopes, and its unit X costs 2X − 1 − 2a more. So all
  children share one largest slope m, and X is found by a search for m, warm from the last one.

Values are handed down the same way. Of units with equal slopes some are left out; which ones changes no cost, and the
choice moves on from node to node so that no region always loses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel, lean_kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NODE, OWN, REACH, SLOPE, CHILD, UNITS, LOW, HIGH, SIDES, STRIDE, FOUND, FIELDS = range(12)
"""Columns of the desk: what a search is for, where it is, what it has added up, its bracket, which sides of it are known (1 low,
2 high), its stride, and C(high − 1)."""


@lean_kernel
def leaf_layer(answers: Ints, first: int, end: int, own: int, reach: int, start: int) -> tuple[int, int, int]:
    """Return the largest l with ``own l + C(l − 1) ≤ reach``, C(l), and how many leaves have units at l.

    C(l) = Σ max(0, a + l) over the leaves `first`:`end`, how many units they have where each gets l beyond its answer.
    C is convex and grows: a step along its slope never stops short from below, and never goes too far back from above.

    Args:
        answers: ``answers[nodes]``, leaves last.
        first: first leaf.
        end: behind the last leaf.
        own: 0 or 1.
        reach: the bound; at least 0 when `own` is 0.
        start: where to begin.
    """
    layer = start
    part = answers[first:end]
    while True:
        units = 0
        idle = 0
        for leaf in range(len(part)):  # from 0, so that it is vectorised
            value = part[leaf] + layer - 1
            units += max(value, 0)
            idle += value < 0
        # From l − 1 to l each of them gets one unit more.
        active = len(part) - idle
        left = reach - own * layer - units
        rise = own + active
        if left < 0:
            layer -= max(1, (rise - 1 - left) // rise) if rise > 0 else 1
        elif left < rise:
            return layer, units + active, active
        else:
            layer += max(1, left // rise) if rise > 0 else 1 - layer - max_of(answers, first, end)


@lean_kernel
def max_of(answers: Ints, first: int, end: int) -> int:
    """Return the largest answer of some nodes.

    Args:
        answers: ``answers[nodes]``, leaves last.
        first: first node.
        end: behind the last.
    """
    largest = answers[first]
    for node in range(first + 1, end):
        largest = max(largest, answers[node])
    return int(largest)


@lean_kernel
def units_over_leaves(answers: Ints, first: Ints, warm: Ints, node: int, slope: int) -> tuple[int, float]:
    """Return what `units_below` does, of a node whose children are leaves.

    Args:
        answers: ``answers[nodes]``, leaves last.
        first: ``first[inner nodes + 1]``, first child of every inner node.
        warm: ``warm[inner nodes]``, where the last search of each ended; written.
        node: whose children are leaves.
        slope: the largest slope that counts.

    Returns:
        The number of units of the node, and the derivative of it by half the slope, for Newton's step.
    """
    begin, end = first[node], first[node + 1]
    reach = ((slope + 2 + 2 * answers[node]) >> 1) - 1
    layer, units, active = leaf_layer(answers, begin, end, 1, reach, warm[node])
    warm[node] = layer
    return max(0, min(units, reach + 1 - layer)), 0.5 * active / (1.0 + active)


@lean_kernel
def begin_search(
    desk: Ints, rates: Floats, depth: int, first: Ints, warm: Ints, node: int, own: int, reach: int
) -> None:
    """Put the search for the shared slope of a node's children on the desk, at its start.

    Args:
        desk: ``desk[depth, FIELDS]``, receives the state of the search.
        rates: ``rates[depth, 2]``, receives zeros.
        depth: row of the search.
        first: ``first[inner nodes + 1]``, first child of every inner node.
        warm: ``warm[inner nodes]``, where the last search of each ended.
        node: whose children share the slope.
        own: 1 to count the node's own cost, 0 to reach `reach` + 1 units.
        reach: the bound.
    """
    desk[depth] = 0
    desk[depth, NODE] = node
    desk[depth, OWN] = own
    desk[depth, REACH] = reach
    desk[depth, SLOPE] = warm[node]
    desk[depth, STRIDE] = 1
    desk[depth, CHILD] = first[node]
    rates[depth] = 0.0


@lean_kernel
def following_slope(search: Ints, rate: float) -> int:
    """Take in C(slope − 1), update the bracket of a search, and return the next slope to try.

    Newton's step inside the bracket; where counting by whole units makes it creep, a longer stride or the middle.

    Args:
        search: ``search[FIELDS]``, the state, with C(slope − 1) in `UNITS`; changed.
        rate: derivative of C by half the slope.
    """
    slope, own = search[SLOPE], search[OWN]
    left = search[REACH] - own * slope - (1 + own) * search[UNITS]
    gain = own + (1 + own) * rate
    step = np.floor(left / gain) if gain > 0.0 else (0.0 if left < 0 else float(search[STRIDE]))
    step = min(max(step, -1e17), 1e17)
    if left >= 0:
        search[LOW] = slope
        search[SIDES] |= 1
        following = slope + max(1, np.int64(step))
    else:
        search[HIGH] = slope
        search[SIDES] |= 2
        search[FOUND] = search[UNITS]  # C(high − 1), wanted once high − 1 is m
        following = slope + min(-1, np.int64(step))
    search[STRIDE] *= 2
    if search[SIDES] == 3:
        low, high = search[LOW], search[HIGH]
        if following <= low or following >= high:
            following = low + 1 if left >= 0 else high - 1
        if search[STRIDE] > 64:
            following = low + (high - low) // 2
    elif search[STRIDE] > 64:
        following = slope + search[STRIDE] if left >= 0 else slope - search[STRIDE]
    return int(following)


@lean_kernel
def shared_slope(
    answers: Ints, first: Ints, warm: Ints, node: int, own: int, reach: int, desk: Ints, rates: Floats
) -> tuple[int, int]:
    """Return the largest m with ``own m + (1 + own) C(m − 1) ≤ reach``, and C(m); C counts the units of the children.

    The units of a child that has no leaves take a search of their own, a level deeper on the desk. (Not by recursion:
    numba loses functions that call themselves when it reads its cache.)

    Args:
        answers: ``int64[nodes]``, leaves last; of the top, 0.
        first: ``int64[inner nodes + 1]``, first child of every inner node; the children of node i are `first[i]` to
            `first[i + 1]`.
        warm: ``int64[inner nodes]``, where the last search of each ended; written.
        node: whose children share m; they are no leaves.
        own: 1 to count the node's own cost, 0 to reach `reach` + 1 units.
        reach: the bound; at least 0 when `own` is 0.
        desk: ``int64[depth of the tree, FIELDS]``, working space.
        rates: ``float64[depth of the tree, 2]``, working space.
    """
    inner = len(first) - 1
    depth = 0
    begin_search(desk, rates, 0, first, warm, node, own, reach)
    while True:
        search = desk[depth]
        child = search[CHILD]
        if child < first[search[NODE] + 1]:
            if first[child] >= inner:
                units, rate = units_over_leaves(answers, first, warm, child, search[SLOPE] - 1)
                search[UNITS] += units
                rates[depth, 0] += rate
                search[CHILD] += 1
            else:
                depth += 1
                begin_search(desk, rates, depth, first, warm, child, 1, search[SLOPE] - 2 + 2 * answers[child])
            continue
        following = following_slope(search, rates[depth, 0])
        if search[SIDES] & 2 and search[HIGH] == search[SLOPE]:
            rates[depth, 1] = rates[depth, 0]
        if search[SIDES] < 3 or search[HIGH] - search[LOW] > 1:
            search[SLOPE] = following
            search[UNITS] = 0
            rates[depth, 0] = 0.0
            search[CHILD] = first[search[NODE]]
            continue
        low, found, rate = search[LOW], search[FOUND], rates[depth, 1]
        warm[search[NODE]] = low
        if depth == 0:
            return low, found
        depth -= 1
        desk[depth, UNITS] += max(0, min(found, (search[REACH] + 2 - low) // 2))
        rates[depth, 0] += rate / (1.0 + 2.0 * rate)
        desk[depth, CHILD] += 1


@lean_kernel
def units_below(answers: Ints, first: Ints, warm: Ints, node: int, slope: int, desk: Ints, rates: Floats) -> int:
    """Return how many units of a node, not the top, have at most this slope; other arguments as in `shared_slope`."""
    inner = len(first) - 1
    if node >= inner:
        return int(max(0, answers[node] + ((slope + 1) >> 1)))
    if first[node] >= inner:
        return int(units_over_leaves(answers, first, warm, node, slope)[0])
    gap = slope - 1 + 2 * answers[node]
    shared, units = shared_slope(answers, first, warm, node, 1, gap, desk, rates)
    return int(max(0, min(units, (gap + 2 - shared) // 2)))


@lean_kernel
def share_out(answers: Ints, first: Ints, warm: Ints, node: int, out: Ints, desk: Ints, rates: Floats) -> None:
    """Divide the value of an inner node over its children, least slopes first.

    Args:
        answers: as in `shared_slope`.
        first: as there.
        warm: as there; written.
        node: has its value in `out`.
        out: ``int64[nodes]``; the children's values are written.
        desk: as there.
        rates: as there.
    """
    begin, end = first[node], first[node + 1]
    value = out[node]
    if value == 0:
        for child in range(begin, end):
            out[child] = 0
        return
    if begin >= len(first) - 1:
        share_among(answers, begin, end, value, warm[node], node, out)
        return
    slope, units = shared_slope(answers, first, warm, node, 0, value - 1, desk, rates)
    excess = units - value
    for child in range(begin, end):
        out[child] = units_below(answers, first, warm, child, slope, desk, rates)
    # Only units of exactly this slope may be left out.
    for place in range(end - begin):
        if excess == 0:
            return
        child = begin + (node + place) % (end - begin)
        if out[child] > 0:
            spare = min(excess, out[child] - units_below(answers, first, warm, child, slope - 1, desk, rates))
            out[child] -= spare
            excess -= spare


@lean_kernel
def share_among(answers: Ints, begin: int, end: int, value: int, start: int, turn: int, out: Ints) -> None:
    """Write the integers of at least 0 nearest to the answers of some nodes that add up to a value above 0.

    Args:
        answers: ``answers[nodes]``, leaves last.
        begin: first of the nodes.
        end: behind the last.
        value: their sum.
        start: where the search begins.
        turn: with which node the choice among equals begins.
        out: ``out[nodes]``, receives the integers.
    """
    layer, units, _ = leaf_layer(answers, begin, end, 0, value - 1, start)
    excess = units - value
    for child in range(begin, end):
        out[child] = max(answers[child] + layer, 0)
    for place in range(end - begin):
        if excess == 0:
            return
        child = begin + (turn + place) % (end - begin)
        if out[child] > 0:
            out[child] -= 1
            excess -= 1


@lean_kernel
def fit_from_top(answers: Ints, first: Ints, total: int, out: Ints) -> None:
    """Write values level by level from the top: each node's children nearest to their answers, given its value.

    Args:
        answers: ``int64[nodes]``, level by level; of the top, 0.
        first: see `shared_slope`.
        total: value of the top, at least 0.
        out: ``int64[nodes]``, written.
    """
    out[0] = total
    for node in range(len(first) - 1):
        if out[node] > 0:
            share_among(answers, first[node], first[node + 1], out[node], 0, node, out)
        else:
            out[first[node] : first[node + 1]] = 0


@kernel
def fit_tree(answers: Ints, first: Ints, total: int, out: Ints) -> None:
    """Write the values with the least squared distance to the answers.

    Args:
        answers: ``int64[nodes]``, level by level, the leaves last; of the top, 0.
        first: ``int64[inner nodes + 1]``, see `shared_slope`.
        total: value of the top, at least 0.
        out: ``int64[nodes]``, written.
    """
    inner = len(first) - 1
    depth = 1
    node = 0
    while first[node] < inner:
        node = first[node]
        depth += 1
    desk = np.zeros((depth, FIELDS), np.int64)
    rates = np.zeros((depth, 2))
    warm = np.zeros(inner, np.int64)
    out[0] = total
    for node in range(inner):
        share_out(answers, first, warm, node, out, desk, rates)
