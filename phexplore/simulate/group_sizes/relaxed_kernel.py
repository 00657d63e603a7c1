"""Compiled: the two quadratic programs of the paper without their integrality constraints (Models 1 and 2, relaxed).

Model 1, group sizes: as in the exact solution, each parent's children share one price q (half a slope). A leaf is worth
``max(0, a + p)`` at price p, a parent the X with ``p = q + X − a`` where X is what its children are worth at q: convex,
increasing, piecewise linear in p, so Newton's method ends after a few steps, from the right without overshooting.

Model 2, cumulative sizes: monotone in each region (a projection per region by pooling) and consistent between levels (a
projection by one sweep up the tree and one down). The program is the projection onto both at once; the alternating
direction method of multipliers finds it from the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

OWN, TARGET, PRICE, TOTAL, RATE, STRIDE, BEFORE, FIELDS = range(8)
"""Columns of the desk: what a search is for, where it is, what it has added up, its stride, and what was left before."""

_MOST_STEPS = 200


@kernel
def leaves_worth(answers: Floats, first: Ints, node: int, price: float) -> tuple[float, float]:
    """Return what the leaves below a node are worth at a price, together, and the derivative.

    Args:
        answers: ``answers[nodes]``, leaves last.
        first: ``first[inner nodes + 1]``, first child of every inner node.
        node: the parent of the leaves.
        price: p.
    """
    part = answers[first[node] : first[node + 1]]
    total = 0.0
    active = 0
    for leaf in range(len(part)):  # from 0, so that it is vectorised
        value = part[leaf] + price
        total += max(value, 0.0)
        active += value > 0.0
    return total, float(active)


@kernel
def begin_search(search: Floats, place: Ints, first: Ints, warm: Floats, node: int, own: float, target: float) -> None:
    """Put the search for the price of a node's children on the desk, at its start.

    Args:
        search: ``search[FIELDS]``, receives the state of the search.
        place: ``place[3]``, receives the node, its first child and 0 steps.
        first: ``first[inner nodes + 1]``, first child of every inner node.
        warm: ``warm[inner nodes]``, price at which the last search of each ended.
        node: whose children share the price.
        own: 1 to count the node's own cost, 0 to reach a given sum.
        target: what the children and `own` times the price have to add up to.
    """
    search[:] = 0.0
    search[OWN] = own
    search[TARGET] = target
    search[PRICE] = warm[node]
    search[STRIDE] = 1.0
    search[BEFORE] = np.inf
    place[0] = node
    place[1] = first[node]
    place[2] = 0


@kernel
def following_price(search: Floats, steps: int) -> tuple[float, bool]:
    """Return the next price of a search by Newton's method, and whether the present one is the answer.

    Args:
        search: ``search[FIELDS]``, the state, with the worth at the present price; changed.
        steps: taken so far.
    """
    left = search[TARGET] - search[OWN] * search[PRICE] - search[TOTAL]
    scale = 1.0 + abs(search[TARGET])
    gain = search[OWN] + search[RATE]
    creeps = search[BEFORE] <= 1e-9 * scale and abs(left) >= search[BEFORE]
    if abs(left) <= 1e-12 * scale or creeps or steps >= _MOST_STEPS or (gain == 0.0 and left <= 0.0):
        return search[PRICE], True
    search[BEFORE] = abs(left)
    if gain > 0.0:
        return search[PRICE] + left / gain, False
    search[STRIDE] *= 2.0
    return search[PRICE] + search[STRIDE], False


@kernel
def shared_price(
    answers: Floats, first: Ints, warm: Floats, node: int, own: float, target: float, desk: Floats, places: Ints
) -> tuple[float, float]:
    """Return q with ``own q + S(q) = target``, and S(q): what the children of `node` are worth.

    What a child with children is worth takes a search of its own, a level deeper on the desk.

    Args:
        answers: ``float64[nodes]``, leaves last.
        first: ``int64[inner nodes + 1]``.
        warm: ``float64[inner nodes]``, where the last search of each ended; written.
        node: an inner node.
        own: 1 or 0.
        target: at least 0 when `own` is 0.
        desk: ``float64[depth of the tree, FIELDS]``, working space.
        places: ``int64[depth of the tree, 3]``, working space.
    """
    inner = len(first) - 1
    depth = 0
    begin_search(desk[0], places[0], first, warm, node, own, target)
    while True:
        search, place = desk[depth], places[depth]
        parent, child = place[0], place[1]
        if first[parent] >= inner:
            search[TOTAL], search[RATE] = leaves_worth(answers, first, parent, search[PRICE])
        elif child < first[parent + 1]:
            depth += 1
            price = search[PRICE] + answers[child]
            begin_search(desk[depth], places[depth], first, warm, child, 1.0, price)
            continue
        following, done = following_price(search, place[2])
        if not done:
            search[PRICE], search[TOTAL], search[RATE] = following, 0.0, 0.0
            place[1] = first[parent]
            place[2] += 1
            continue
        warm[parent] = search[PRICE]
        total, rate = search[TOTAL], search[RATE]
        if depth == 0:
            return search[PRICE], total
        depth -= 1
        desk[depth, TOTAL] += total
        desk[depth, RATE] += rate / (1.0 + rate)
        places[depth, 1] += 1


@kernel
def fit_relaxed_tree(answers: Floats, first: Ints, total: float, out: Floats) -> None:
    """Write the real values of a tree with the least squared distance to the answers; see `tree_kernel.fit_tree`.

    Args:
        answers: ``float64[nodes]``, of the top 0.
        first: ``int64[inner nodes + 1]``.
        total: value of the top, at least 0.
        out: ``float64[nodes]``, written.
    """
    inner = len(first) - 1
    depth = 1
    node = 0
    while first[node] < inner:
        node = first[node]
        depth += 1
    desk, places = np.zeros((depth, FIELDS)), np.zeros((depth, 3), np.int64)
    warm = np.zeros(inner)
    price = np.zeros(inner)
    price[0] = shared_price(answers, first, warm, 0, 0.0, total, desk, places)[0]
    out[0] = total
    for node in range(inner):
        begin, end = first[node], first[node + 1]
        if begin >= inner:
            for child in range(begin, end):
                out[child] = max(0.0, answers[child] + price[node])
            continue
        for child in range(begin, end):
            target = price[node] + answers[child]
            price[child], out[child] = shared_price(answers, first, warm, child, 1.0, target, desk, places)


@kernel
def pool_real(answers: Floats, total: Floats, weight: Floats, out: Floats) -> None:
    """Write the non-decreasing values of at least 0 nearest to the answers.

    Args:
        answers: ``answers[n]``.
        total: ``total[n]``, working space.
        weight: ``weight[n]``, working space.
        out: ``out[n]``, receives the values.
    """
    blocks = 0
    for place in range(len(answers)):
        block_total, block_weight = answers[place], 1.0
        while blocks > 0 and total[blocks - 1] * block_weight >= block_total * weight[blocks - 1]:
            blocks -= 1
            block_total += total[blocks]
            block_weight += weight[blocks]
        total[blocks] = block_total
        weight[blocks] = block_weight
        blocks += 1
    place = 0
    for block in range(blocks):
        value = max(total[block] / weight[block], 0.0)
        for _ in range(int(weight[block])):
            out[place] = value
            place += 1


@kernel
def make_consistent(  # noqa: C901, PLR0912 - two sweeps of plain loops, which compiled code does not split
    values: Floats, first: Ints, groups: float, out: Floats
) -> None:
    """Write the values nearest to `values` whose parents equal the sums of their children and whose last total is G.

    Args:
        values: ``float64[nodes, N]``, cumulative counts; node 0 is the root.
        first: ``int64[inner nodes + 1]``, children of every inner node.
        groups: G, of the root's last size.
        out: ``float64[nodes, N]``, written; not `values`.
    """
    nodes, sizes = values.shape
    inner = len(first) - 1
    # Variance of the best estimate of every node from its subtree, all answers having variance 1.
    spread = np.ones(nodes)
    below = np.zeros(inner)
    for node in range(inner - 1, -1, -1):
        for child in range(first[node], first[node + 1]):
            below[node] += spread[child]
        spread[node] = below[node] / (1.0 + below[node])
    for node in range(nodes - 1, -1, -1):
        target, source = out[node], values[node]
        if node >= inner:
            for size in range(sizes):
                target[size] = source[size]
            continue
        for size in range(sizes):
            target[size] = 0.0
        for child in range(first[node], first[node + 1]):
            part = out[child]
            for size in range(sizes):
                target[size] += part[size]
        for size in range(sizes):
            target[size] = (below[node] * source[size] + target[size]) / (1.0 + below[node])
    out[0, sizes - 1] = groups
    gap = np.empty(sizes)
    for node in range(inner):
        source = out[node]
        for size in range(sizes):
            gap[size] = source[size]
        for child in range(first[node], first[node + 1]):
            part = out[child]
            for size in range(sizes):
                gap[size] -= part[size]
        for child in range(first[node], first[node + 1]):
            part = out[child]
            share = spread[child] / below[node]
            for size in range(sizes):
                part[size] += share * gap[size]


@kernel
def fit_relaxed_cumulative(
    answers: Floats, first: Ints, groups: float, penalty: float, tolerance: float, most: int, out: Floats
) -> tuple[int, float]:
    """Write monotone cumulative counts of at least 0, nearest to the answers under consistency; return steps and error.

    Args:
        answers: ``float64[nodes, N]``.
        first: see `make_consistent`.
        groups: G.
        penalty: ρ of the method of multipliers, > 0.
        tolerance: stop when no monotone value differs from its consistent one by more, nor moved by more.
        most: steps.
        out: ``float64[nodes, N]``, written: consistent; monotone up to the returned error.
    """
    nodes, sizes = answers.shape
    monotone = np.empty(sizes)
    aim = np.empty(sizes)
    total, weight = np.empty(sizes), np.empty(sizes)
    multiplier = np.zeros((nodes, sizes))
    moved = np.empty((nodes, sizes))
    make_consistent(answers, first, groups, out)
    for step in range(1, most + 1):
        apart = 0.0
        for node in range(nodes):
            row, mine, given, target = out[node], multiplier[node], answers[node], moved[node]
            for size in range(sizes):
                aim[size] = (given[size] + penalty * (row[size] - mine[size])) / (1.0 + penalty)
            pool_real(aim, total, weight, monotone)
            for size in range(sizes):
                apart = max(apart, abs(monotone[size] - row[size]))
                # Over-relaxation by 1.6, as usual.
                target[size] = 1.6 * monotone[size] - 0.6 * row[size] + mine[size]
        make_consistent(moved, first, groups, out)
        for node in range(nodes):
            row, mine, target = out[node], multiplier[node], moved[node]
            for size in range(sizes):
                mine[size] = target[size] - row[size]
        if apart <= tolerance:
            return step, apart
    return most, apart
