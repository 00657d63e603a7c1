"""Kernel: minimum-cost flow by the primal network simplex method, from a given feasible flow and spanning tree.

Costs are pairs of integers compared first by `high`, then by `low`: one run finds the flow that is best for a first
objective and, among those, best for a second. The spanning tree is kept strongly feasible (from every node some flow
could still be sent to the root), which excludes cycling (Cunningham 1976); the entering arc is the worst of a block.

Arcs and nodes are rows of two tables, so that what a pivot touches lies together: ``arcs: int64[arcs, ARC_FIELDS]`` and
``tree: int64[nodes, TREE_FIELDS]``. The root is the last node.

Args:
    arcs: ``arcs[arcs, ARC_FIELDS]``, one row per arc.
    tree: ``tree[nodes, TREE_FIELDS]``, one row per node, the root last.
    count: number of arcs in use.
    paired: whether any `high` cost differs from 0.
    entering: number of the arc that enters the tree.
"""

from __future__ import annotations

import numpy as np

from phexplore.compiled import float_kernel
from phexplore.optimize.marginals import Ints

ENDLESS_FLOW = 1 << 60
"""A capacity of this size is none."""

UP, DOWN = 1, -1
"""Direction of a tree arc: from the node to its parent, or from the parent to the node."""

EMPTY, IN_TREE, FULL = 1, 0, -1
"""State of an arc: out of the tree without flow, in the tree, out of the tree at its capacity."""

TAIL, HEAD, LOW, HIGH, STATE, FLOW, CAPACITY = range(7)
"""Fields of an arc: the nodes it leaves and enters, cost per unit of flow, state, flow, capacity."""
ARC_FIELDS = 8

PARENT, ARC, DIRECTION, DEPTH, LOW_PRICE, HIGH_PRICE, CHILD, NEXT, PREVIOUS, STACK = range(10)
"""Fields of a node: its parent (-1 for the root), the tree arc to it and its direction, depth, potentials, first child,
siblings (-1 for none), and scratch."""
TREE_FIELDS = 10


@float_kernel
def attach(tree: Ints, node: int, parent: int) -> None:
    """Attach a node, which has no parent, as the first child of another.

    Args:
        node: the node.
        parent: its new parent.
    """
    tree[node, PARENT] = parent
    tree[node, PREVIOUS] = -1
    after = tree[parent, CHILD]
    tree[node, NEXT] = after
    if after >= 0:
        tree[after, PREVIOUS] = node
    tree[parent, CHILD] = node


@float_kernel
def detach(tree: Ints, node: int) -> None:
    """Detach a node from its parent: the inverse of `attach`.

    Args:
        node: the node.
    """
    before, after = tree[node, PREVIOUS], tree[node, NEXT]
    if before >= 0:
        tree[before, NEXT] = after
    else:
        tree[tree[node, PARENT], CHILD] = after
    if after >= 0:
        tree[after, PREVIOUS] = before


@float_kernel
def price_subtree(tree: Ints, arcs: Ints, top: int) -> None:
    """Recompute depth and potentials of a node and everything below it.

    Args:
        top: the node.
    """
    tree[0, STACK] = top
    size = 1
    while size > 0:
        size -= 1
        node = tree[size, STACK]
        parent, arc, direction = tree[node, PARENT], tree[node, ARC], tree[node, DIRECTION]
        tree[node, DEPTH] = tree[parent, DEPTH] + 1
        tree[node, LOW_PRICE] = tree[parent, LOW_PRICE] - direction * arcs[arc, LOW]
        tree[node, HIGH_PRICE] = tree[parent, HIGH_PRICE] - direction * arcs[arc, HIGH]
        child = tree[node, CHILD]
        while child >= 0:
            tree[size, STACK] = child
            size += 1
            child = tree[child, NEXT]


@float_kernel
def entering_arc(tree: Ints, arcs: Ints, count: int, start: int, block: int, paired: bool) -> tuple[int, int]:
    """Return the arc with the largest violation in the first block that has any, and where to go on; -1 at optimality.

    Args:
        start: arc at which the search begins.
        block: how many arcs to look at before the worst of them is taken.
    """
    best = -1
    best_high = 0
    best_low = 0
    position = start
    left = block
    for _ in range(count):
        state = arcs[position, STATE]
        if state != 0:
            tail, head = arcs[position, TAIL], arcs[position, HEAD]
            low = state * (arcs[position, LOW] + tree[tail, LOW_PRICE] - tree[head, LOW_PRICE])
            high = 0
            if paired:
                high = state * (arcs[position, HIGH] + tree[tail, HIGH_PRICE] - tree[head, HIGH_PRICE])
            if high < best_high or (high == best_high and low < best_low):
                best, best_high, best_low = position, high, low
        position += 1
        if position == count:
            position = 0
        left -= 1
        if left == 0:
            if best >= 0:
                break
            left = block
    return best, position


@float_kernel
def pivot(tree: Ints, arcs: Ints, entering: int) -> None:
    """Push flow around the cycle that an arc closes, and exchange it for the arc that blocks."""
    forward = arcs[entering, STATE]
    first, second = arcs[entering, TAIL], arcs[entering, HEAD]
    if forward < 0:
        first, second = second, first
    left, right = first, second
    while left != right:
        if tree[left, DEPTH] >= tree[right, DEPTH]:
            left = tree[left, PARENT]
        else:
            right = tree[right, PARENT]
    join = left
    amount = arcs[entering, CAPACITY]
    out = -1
    below, above = second, first
    node = first
    while node != join:
        arc = tree[node, ARC]
        room = arcs[arc, FLOW] if tree[node, DIRECTION] == UP else arcs[arc, CAPACITY] - arcs[arc, FLOW]
        if room < amount:
            amount, out = room, node
            below, above = first, second
        node = tree[node, PARENT]
    node = second
    while node != join:
        arc = tree[node, ARC]
        room = arcs[arc, FLOW] if tree[node, DIRECTION] == DOWN else arcs[arc, CAPACITY] - arcs[arc, FLOW]
        if room <= amount:
            amount, out = room, node
            below, above = second, first
        node = tree[node, PARENT]
    if amount > 0:
        arcs[entering, FLOW] += forward * amount
        node = first
        while node != join:
            arcs[tree[node, ARC], FLOW] -= tree[node, DIRECTION] * amount
            node = tree[node, PARENT]
        node = second
        while node != join:
            arcs[tree[node, ARC], FLOW] += tree[node, DIRECTION] * amount
            node = tree[node, PARENT]
    if out < 0:
        arcs[entering, STATE] = -forward
        return
    leaving = tree[out, ARC]
    arcs[leaving, STATE] = EMPTY if arcs[leaving, FLOW] == 0 else FULL
    arcs[entering, STATE] = IN_TREE
    graft(tree, arcs, below, above, entering, out)


@float_kernel
def graft(tree: Ints, arcs: Ints, below: int, above: int, entering: int, out: int) -> None:
    """Reverse the path from `below` up to `out` and attach it under `above` by the entering arc.

    Args:
        below: end of the entering arc inside the part that is cut off.
        above: its other end.
        out: node whose arc to its parent leaves the tree.
    """
    node, parent, arc = below, above, entering
    direction = UP if arcs[entering, TAIL] == below else DOWN
    while True:
        old_parent, old_arc, old_direction = tree[node, PARENT], tree[node, ARC], tree[node, DIRECTION]
        detach(tree, node)
        tree[node, ARC] = arc
        tree[node, DIRECTION] = direction
        attach(tree, node, parent)
        if node == out:
            break
        parent, arc, direction = node, old_arc, -old_direction
        node = old_parent
    price_subtree(tree, arcs, below)


@float_kernel
def optimise_flow(tree: Ints, arcs: Ints, count: int, paired: bool) -> int:
    """Pivot to the optimum; return the number of pivots.

    Args:
        tree: parents, arcs, directions, children and siblings are set; depths and potentials are not.
        arcs: with a feasible flow whose tree is strongly feasible.
        count: number of arcs.
        paired: whether any `high` cost differs from 0.
    """
    root = tree.shape[0] - 1
    tree[root, PARENT] = -1
    tree[root, DEPTH] = 0
    tree[root, LOW_PRICE] = 0
    tree[root, HIGH_PRICE] = 0
    child = tree[root, CHILD]
    while child >= 0:
        price_subtree(tree, arcs, child)
        child = tree[child, NEXT]
    block = max(16, int(np.sqrt(float(count))))
    position = 0
    pivots = 0
    while count > 0:
        entering, position = entering_arc(tree, arcs, count, position, block, paired)
        if entering < 0:
            break
        pivot(tree, arcs, entering)
        pivots += 1
    return pivots
