"""Compiled loops of the rounder over partitions: whole counts next to an estimate, best for a chain of queries.

Counts are the floor of the estimate, or one more. Per child the chain of queries is a tree of sums below its held answer; over the
children the columns sum to the parent. Together they are a network, so that the cheapest flow is whole (TopDown paper, section 7.3).
Held answers part the problem: each has a network of its own, without the children that need no unit more and the columns that have
none to give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel
from phexplore.optimize.network_simplex import (
    ARC,
    ARC_FIELDS,
    CAPACITY,
    CHILD,
    DIRECTION,
    EMPTY,
    ENDLESS_FLOW,
    FLOW,
    HEAD,
    HIGH,
    IN_TREE,
    LOW,
    NEXT,
    PARENT,
    PREVIOUS,
    STATE,
    TAIL,
    TREE_FIELDS,
    UP,
    attach,
    optimise_flow,
)

Ints = NDArray[np.int64]
Places = NDArray[np.int32]

SCALE = 1 << 24
"""Whole costs per person: fractions are rounded to this part of one."""


@kernel
def round_parts(  # noqa: PLR0913, PLR0917 - compiled code takes its arrays one by one
    part_start: Ints,
    child: Places,
    column: Places,
    chain: Places,
    chain_rows: int,
    x: NDArray[np.float64],
    held: Ints,
    column_total: Ints,
    whole: bool,
    snap: float,
    counts: Ints,
) -> tuple[int, int]:
    """Fill the rounded counts; return in how many parts counts had to leave floor and ceiling, and how many have none.

    Where least squares did not reach their accuracy, floors may be too large for the sums: whole counts nearest to the estimate in the
    same network, free to be anything, then keep them (the failsafe).

    Args:
        part_start: ``int64[parts + 1]``, where the numbers of each held answer begin.
        child: ``int32[n]``, row of `held`: the child of the number in its part. Equal ones lie together.
        column: ``int32[n]``, of `column_total`; -1 where there is no parent.
        chain: ``int32[levels, n]``, the row of each number in each query of the chain, coarse to fine, numbered through.
        chain_rows: how many of these rows there are.
        x: ``x[n]``, the estimate.
        held: ``int64[rows]``, sums that are kept.
        column_total: ``int64[columns]``, the parent's counts.
        whole: whether fractions are rounded before they are targets.
        snap: numbers this near to a whole one are whole.
        counts: ``int64[n]``, written.
    """
    room, give = held.copy(), column_total.copy()
    fraction = np.empty(x.shape[0])
    for number in range(x.shape[0]):
        near = np.rint(x[number])
        floor = near if abs(x[number] - near) < snap else np.floor(x[number])
        counts[number] = np.int64(floor)
        fraction[number] = max(0.0, x[number] - floor)
        room[child[number]] -= counts[number]
        if column[number] >= 0:
            give[column[number]] -= counts[number]
    levels = chain.shape[0]
    target = np.zeros(chain_rows)
    for level in range(levels):
        for number in range(x.shape[0]):
            target[chain[level, number]] += fraction[number]
    node_of_row = np.full(chain_rows, -1, np.int32)
    node_of_child = np.full(held.shape[0], -1, np.int32)
    node_of_column = np.full(column_total.shape[0], -1, np.int32)
    above = np.zeros(chain_rows)
    for level in range(levels):
        for number in range(x.shape[0]):
            above[chain[level, number]] += max(0.0, x[number])
    nodes = node_of_row, node_of_child, node_of_column
    rescued, failed = 0, 0
    for part in range(part_start.shape[0] - 1):
        first, last = part_start[part], part_start[part + 1]
        if not _round_part(
            first, last, child, column, chain, fraction, target, room, give, whole, False, nodes, counts
        ):
            continue
        for number in range(first, last):
            counts[number] = 0
            node_of_child[child[number]] = -1
            if column[number] >= 0:
                node_of_column[column[number]] = -1
            for level in range(levels):
                node_of_row[chain[level, number]] = -1
        rescued += 1
        if _round_part(
            first, last, child, column, chain, np.maximum(x, 0.0), above, held, column_total, whole, True, nodes, counts
        ):
            failed += 1
    return rescued, failed


@kernel
def _round_part(  # noqa: PLR0913, PLR0917 - compiled code takes its arrays one by one
    first: int,
    last: int,
    child: Places,
    column: Places,
    chain: Places,
    fraction: NDArray[np.float64],
    target: NDArray[np.float64],
    room: Ints,
    give: Ints,
    whole: bool,
    free: bool,
    nodes_of: tuple[Places, Places, Places],
    counts: Ints,
) -> bool:
    """Round the numbers of one held answer, by one at most or, where `free`, by any; return whether no counts keep every sum."""
    node_of_row, node_of_child, node_of_column = nodes_of
    used, wanted, offered, short = 0, 0, 0, False
    for number in range(first, last):
        if number == first or child[number] != child[number - 1]:
            wanted += room[child[number]]
            short = short or room[child[number]] < 0
        if room[child[number]] > 0 and (column[number] < 0 or give[column[number]] > 0):
            used += 1
    if short:
        return True
    if wanted == 0:
        return False
    levels = chain.shape[0]
    most_nodes = used * (levels + 2) + 2
    supply = np.zeros(most_nodes, np.int64)
    tails = np.empty(used * (3 * levels + 3), np.int32)
    heads, caps, costs = np.empty_like(tails), np.empty(len(tails), np.int64), np.empty(len(tails), np.int64)
    leaf = np.empty(used, np.int32)
    nodes, arcs, leaves = 0, 0, 0
    sink = -1
    if column[first] < 0:
        sink, nodes = 0, 1
        supply[0] = -wanted
    for number in range(first, last):
        if room[child[number]] <= 0 or (column[number] >= 0 and give[column[number]] <= 0):
            continue
        end = sink
        if column[number] >= 0:
            end = node_of_column[column[number]]
            if end < 0:
                end = nodes
                node_of_column[column[number]] = end
                supply[end] = -give[column[number]]
                offered += give[column[number]]
                nodes += 1
        above = node_of_child[child[number]]
        if above < 0:
            above = nodes
            node_of_child[child[number]] = above
            supply[above] = room[child[number]]
            nodes += 1
        for level in range(levels):
            row = chain[level, number]
            node = node_of_row[row]
            if node < 0:
                node = nodes
                node_of_row[row] = node
                nodes += 1
                wish = np.rint(target[row]) if whole else target[row]
                below = np.floor(wish)
                if below > 0.0:
                    tails[arcs], heads[arcs], caps[arcs], costs[arcs] = above, node, np.int64(below), -SCALE
                    arcs += 1
                tails[arcs], heads[arcs], caps[arcs] = above, node, 1
                costs[arcs] = np.int64(np.rint(SCALE * (1.0 - 2.0 * (wish - below))))
                arcs += 1
                tails[arcs], heads[arcs], caps[arcs], costs[arcs] = above, node, ENDLESS_FLOW, SCALE
                arcs += 1
            above = node
        wish = np.rint(fraction[number]) if whole else fraction[number]
        below = np.floor(wish) if free else 0.0
        leaf[leaves] = arcs
        leaves += 1
        tails[arcs], heads[arcs], caps[arcs], costs[arcs] = above, end, np.int64(below), -SCALE
        tails[arcs + 1], heads[arcs + 1], caps[arcs + 1] = above, end, 1
        costs[arcs + 1] = np.int64(np.rint(SCALE * (1.0 - 2.0 * (wish - below))))
        tails[arcs + 2], heads[arcs + 2], caps[arcs + 2] = above, end, ENDLESS_FLOW if free else 0
        costs[arcs + 2] = SCALE
        arcs += 3
    flows = _cheapest(tails, heads, caps, costs, arcs, supply, nodes)
    place, broken = 0, flows[arcs] > 0 or (sink < 0 and offered != wanted)
    for number in range(first, last):
        if room[child[number]] <= 0 or (column[number] >= 0 and give[column[number]] <= 0):
            continue
        counts[number] += flows[leaf[place]] + flows[leaf[place] + 1] + flows[leaf[place] + 2]
        place += 1
    return broken


@kernel
def _cheapest(tails: Places, heads: Places, caps: Ints, costs: Ints, arcs: int, supply: Ints, nodes: int) -> Ints:
    """Return the cheapest flow on each arc, and behind them how much of the supply found no way."""
    table = np.zeros((arcs + nodes, ARC_FIELDS), np.int64)
    tree = np.zeros((nodes + 1, TREE_FIELDS), np.int64)
    root = nodes
    for node in range(nodes + 1):
        tree[node, CHILD] = tree[node, NEXT] = tree[node, PREVIOUS] = -1
        tree[node, PARENT] = -1
    for arc in range(arcs):
        table[arc, TAIL], table[arc, HEAD], table[arc, CAPACITY] = tails[arc], heads[arc], caps[arc]
        table[arc, LOW], table[arc, STATE] = costs[arc], EMPTY
    for node in range(nodes):
        arc = arcs + node
        up = supply[node] >= 0
        table[arc, TAIL], table[arc, HEAD] = (node, root) if up else (root, node)
        table[arc, CAPACITY], table[arc, HIGH], table[arc, STATE] = ENDLESS_FLOW, 1, IN_TREE
        table[arc, FLOW] = abs(supply[node])
        tree[node, ARC], tree[node, DIRECTION] = arc, UP if up else -UP
        attach(tree, node, root)
    optimise_flow(tree, table, arcs + nodes, True)
    flows = np.zeros(arcs + 1, np.int64)
    flows[:arcs] = table[:arcs, FLOW]
    for node in range(nodes):
        flows[arcs] += table[arcs + node, FLOW]
    return flows
