"""Kernels: which fractional counts of one family go up, as a minimum-cost flow.

A greedy choice, improved by exchanges within a column, gives the network simplex a start near its optimum. Answers with a
single free count, or a single finer answer, are folded into it first: the network keeps only answers where something meets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phexplore.optimize.bounds import ENDLESS
from phexplore.optimize.compiled import inlined_kernel, kernel
from phexplore.optimize.marginals import Floats, Ints
from phexplore.optimize.network_simplex import (
    ARC,
    ARC_FIELDS,
    CAPACITY,
    CHILD,
    DIRECTION,
    EMPTY,
    ENDLESS_FLOW,
    FLOW,
    FULL,
    HEAD,
    HIGH,
    IN_TREE,
    LOW,
    STATE,
    TAIL,
    TREE_FIELDS,
    UP,
    hang,
    optimise_flow,
)

UNIT = 1 << 26
"""Costs are whole multiples of 1 / UNIT: a target's fraction is rounded to 1.5e-8."""

FORBIDDEN = 1 << 46
"""Cost of a unit beyond a bound: more than any first objective, small enough to add up along a path."""

EXCHANGES = 3
"""Sweeps of exchanges within columns before the network simplex."""


class Answers(NamedTuple):
    """The answers of one family that some count can still change, coarser ones first.

    Attributes:
        parent: ``int64[answers]``, the coarser answer; the root is ``answers``.
        level: ``int64[answers]``, place in the chain of queries, -1 for the total of a group of children.
        target: ``float64[answers]``, of the counts that go up, those already fixed taken off.
        need, most: ``int64[answers]``, bounds on the counts that go up.
        raised: ``int64[answers]``, counts that go up in the present solution.
    """

    parent: Ints
    level: Ints
    target: Floats
    need: Ints
    most: Ints
    raised: Ints


class Leaves(NamedTuple):
    """The free counts of one family, column by column.

    Attributes:
        source: ``int64[leaves]``, the column, or the child where columns are open.
        answer: ``int64[leaves]``, the finest answer that contains it.
        value: ``float64[leaves]``, its fraction.
        wanted: ``int64[sources]``, how many of a column go up; where columns are open, not read.
    """

    source: Ints
    answer: Ints
    value: Floats
    wanted: Ints


class Folded(NamedTuple):
    """Answers with one member folded into it, and the pair of costs of two passes.

    Attributes:
        parent: ``int64[answers]``, among the answers that are left; the root is ``answers``.
        alive: ``bool[answers]``.
        also: ``int64[answers]``, the next answer folded into the same one, -1 at the end.
        leaf_answer: ``int64[leaves]``.
        leaf_low, leaf_high: ``int64[leaves]``, cost of raising the count and the answers folded into it.
        raised: ``int64[answers]``.
        next_low, next_high: ``int64[answers]``, cost of one more unit.
        last_low, last_high: ``int64[answers]``, cost of the last unit.
    """

    parent: Ints
    alive: Ints
    also: Ints
    leaf_answer: Ints
    leaf_low: Ints
    leaf_high: Ints
    raised: Ints
    next_low: Ints
    next_high: Ints
    last_low: Ints
    last_high: Ints


@kernel
def raise_leaves(times: Ints, closed: bool, whole_targets: bool, answers: Answers, leaves: Leaves) -> tuple[Ints, int]:
    """Return which free counts go up, ``int64[leaves]`` of 0 and 1, and the pivots of all passes.

    Passes are lexicographic: of the roundings that are best for the passes so far, the next one decides. Each run of the
    network simplex takes two passes at once; the answers of the first are then fixed for the runs after it (eq. 7.7).

    Args:
        times: ``int64[passes, levels]``, how often a query is in the objective of a pass.
    """
    raised = np.zeros(leaves.source.shape[0], np.int64)
    if raised.shape[0] == 0:
        return raised, 0
    passes, levels = times.shape
    run = 0
    pivots = 0
    while True:
        first, second = (run, run + 1) if passes > 1 else (-1, 0)
        high = times[first] if first >= 0 else np.zeros(levels, np.int64)
        folded = fold(high, times[second], whole_targets, answers, leaves, raised)
        if run == 0:
            choose(high, times[second], closed, answers, leaves, folded, raised)
        pivots += improve(high, times[second], first >= 0, closed, answers, leaves, folded, raised)
        run += 1
        if run >= passes - 1 or times[run - 1, levels - 1] > 0:
            return raised, pivots
        answers.raised[:] = 0
        for leaf in range(raised.shape[0]):
            answer = leaves.answer[leaf]
            while answer < answers.parent.shape[0]:
                answers.raised[answer] += raised[leaf]
                answer = answers.parent[answer]
        for answer in range(answers.parent.shape[0]):
            if answers.level[answer] >= 0 and times[run - 1, answers.level[answer]] > 0:
                answers.need[answer] = answers.raised[answer]
                answers.most[answer] = answers.raised[answer]


@kernel
def slope_at(unit: int, target: float, times: int) -> int:
    """Return the cost, in 1 / UNIT, of the given unit of flow: |unit - target| - |unit - 1 - target|, `times` over."""
    below = np.floor(target)
    if unit <= below:
        return -times * UNIT
    if unit > below + 1.0:
        return times * UNIT
    return times * int(np.rint((1.0 - 2.0 * (target - below)) * UNIT))


@kernel
def unit_cost(high_times: Ints, low_times: Ints, answers: Answers, answer: int, unit: int) -> tuple[int, int]:
    """Return the pair of costs of the given unit of flow into an answer, bounds included."""
    level = answers.level[answer]
    high, low = 0, 0
    if level >= 0:
        high = slope_at(unit, answers.target[answer], high_times[level])
        low = slope_at(unit, answers.target[answer], low_times[level])
    if unit <= answers.need[answer]:
        high -= FORBIDDEN
    elif unit > answers.most[answer]:
        high += FORBIDDEN
    return high, low


@kernel
def folded_cost(
    high_times: Ints, low_times: Ints, answers: Answers, also: Ints, answer: int, unit: int
) -> tuple[int, int]:
    """Return the pair of costs of a unit into an answer and all that are folded into it."""
    high, low = 0, 0
    while answer >= 0:
        more_high, more_low = unit_cost(high_times, low_times, answers, answer, unit)
        high += more_high
        low += more_low
        answer = also[answer]
    return high, low


@kernel
def fold(
    high_times: Ints, low_times: Ints, whole_targets: bool, answers: Answers, leaves: Leaves, raised: Ints
) -> Folded:
    """Return the network without answers of one member, with costs for the present choice."""
    count = answers.parent.shape[0]
    size = leaves.source.shape[0]
    detail = low_times.shape[0] - 1
    parent = answers.parent.copy()
    alive = np.ones(count, np.int64)
    also = np.full(count, -1, np.int64)
    leaf_answer = leaves.answer.copy()
    leaf_also = np.full(size, -1, np.int64)
    members = np.zeros(count + 1, np.int64)
    only_leaf = np.full(count + 1, -1, np.int64)
    only_answer = np.full(count + 1, -1, np.int64)
    for leaf in range(size):
        members[leaf_answer[leaf]] += 1
        only_leaf[leaf_answer[leaf]] = leaf
    for answer in range(count - 1, -1, -1):
        above = answers.parent[answer]
        members[above] += 1
        only_leaf[above] = -1
        only_answer[above] = answer
        if members[answer] > 1:
            continue
        alive[answer] = 0
        if only_leaf[answer] >= 0:
            leaf = only_leaf[answer]
            also[answer] = leaf_also[leaf]
            leaf_also[leaf] = answer
            leaf_answer[leaf] = above
            only_leaf[above] = leaf
            only_answer[above] = -1
        else:
            below = only_answer[answer]
            last = below
            while also[last] >= 0:
                last = also[last]
            also[last] = answer
            parent[below] = above
            only_answer[above] = below
    leaf_high = np.empty(size, np.int64)
    leaf_low = np.empty(size, np.int64)
    for leaf in range(size):
        value = leaves.value[leaf]
        cost = UNIT * (1 - 2 * int(np.rint(value))) if whole_targets else int(np.rint((1.0 - 2.0 * value) * UNIT))
        high, low = folded_cost(high_times, low_times, answers, also, leaf_also[leaf], 1)
        leaf_high[leaf] = high_times[detail] * cost + high
        leaf_low[leaf] = low_times[detail] * cost + low
    folded = Folded(
        parent,
        alive,
        also,
        leaf_answer,
        leaf_low,
        leaf_high,
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
    )
    for leaf in range(size):
        answer = leaf_answer[leaf]
        while raised[leaf] > 0 and answer < count:
            folded.raised[answer] += 1
            answer = parent[answer]
    for answer in range(count):
        if alive[answer] > 0:
            price(high_times, low_times, answers, folded, answer)
    return folded


@kernel
def price(high_times: Ints, low_times: Ints, answers: Answers, folded: Folded, answer: int) -> None:
    """Fill the costs of the next and the last unit of an answer."""
    unit = folded.raised[answer]
    folded.next_high[answer], folded.next_low[answer] = folded_cost(
        high_times, low_times, answers, folded.also, answer, unit + 1
    )
    folded.last_high[answer], folded.last_low[answer] = folded_cost(
        high_times, low_times, answers, folded.also, answer, unit
    )


@kernel
def raising(folded: Folded, leaf: int) -> tuple[int, int]:
    """Return the pair of costs of raising a count now."""
    count = folded.parent.shape[0]
    high, low = folded.leaf_high[leaf], folded.leaf_low[leaf]
    answer = folded.leaf_answer[leaf]
    while answer < count:
        high += folded.next_high[answer]
        low += folded.next_low[answer]
        answer = folded.parent[answer]
    return high, low


@kernel
def lowering(folded: Folded, leaf: int) -> tuple[int, int]:
    """Return the pair of costs saved by lowering a raised count now."""
    count = folded.parent.shape[0]
    high, low = folded.leaf_high[leaf], folded.leaf_low[leaf]
    answer = folded.leaf_answer[leaf]
    while answer < count:
        high += folded.last_high[answer]
        low += folded.last_low[answer]
        answer = folded.parent[answer]
    return high, low


@kernel
def turn(high_times: Ints, low_times: Ints, answers: Answers, folded: Folded, raised: Ints, leaf: int, by: int) -> None:
    """Raise a count, or lower it again."""
    raised[leaf] += by
    answer = folded.leaf_answer[leaf]
    while answer < folded.parent.shape[0]:
        folded.raised[answer] += by
        price(high_times, low_times, answers, folded, answer)
        answer = folded.parent[answer]


@kernel
def choose(
    high_times: Ints, low_times: Ints, closed: bool, answers: Answers, leaves: Leaves, folded: Folded, raised: Ints
) -> None:
    """Raise, column by column, the counts that cost least in view of those raised before; then exchange within columns."""
    size = leaves.source.shape[0]
    for sweep in range(1 + (EXCHANGES if closed else 0)):
        exchanged = False
        begin = 0
        while begin < size:
            end = begin + 1
            while closed and end < size and leaves.source[end] == leaves.source[begin]:
                end += 1
            steps = 1
            if sweep == 0 and closed:
                steps = leaves.wanted[leaves.source[begin]]
            for _ in range(steps):
                best, worst = -1, -1
                best_high, best_low, worst_high, worst_low = 0, 0, 0, 0
                for leaf in range(begin, end):
                    if raised[leaf] == 0:
                        high, low = raising(folded, leaf)
                        if best < 0 or high < best_high or (high == best_high and low < best_low):
                            best, best_high, best_low = leaf, high, low
                    elif sweep > 0:
                        high, low = lowering(folded, leaf)
                        if worst < 0 or high > worst_high or (high == worst_high and low > worst_low):
                            worst, worst_high, worst_low = leaf, high, low
                if sweep == 0 and (closed or best_high < 0 or (best_high == 0 and best_low < 0)):
                    turn(high_times, low_times, answers, folded, raised, best, 1)
                elif sweep > 0 and (best_high < worst_high or (best_high == worst_high and best_low < worst_low)):
                    turn(high_times, low_times, answers, folded, raised, worst, -1)
                    turn(high_times, low_times, answers, folded, raised, best, 1)
                    exchanged = True
            begin = end
        if sweep > 0 and not exchanged:
            break


@inlined_kernel
def improve(
    high_times: Ints,
    low_times: Ints,
    paired: bool,
    closed: bool,
    answers: Answers,
    leaves: Leaves,
    folded: Folded,
    raised: Ints,
) -> int:
    """Move to the optimum of two passes from the present choice; return the pivots."""
    size = leaves.source.shape[0]
    count = folded.parent.shape[0]
    number = np.empty(count, np.int64)
    nodes = 0
    for answer in range(count):
        number[answer] = nodes
        nodes += folded.alive[answer]
        paired = paired or answers.need[answer] > 0 or answers.most[answer] < ENDLESS
    sources = 0
    for leaf in range(size):
        sources = max(sources, leaves.source[leaf] + 1)
    root = nodes + sources
    pieces = nodes * 3 + count * 4  # four break points cut five stretches; those of folded answers add up
    arcs = np.empty((size + sources + pieces, ARC_FIELDS), np.int64)
    tree = np.empty((root + 1, TREE_FIELDS), np.int64)
    for node in range(root + 1):
        tree[node, CHILD] = -1
        tree[node, ARC] = -1
    for leaf in range(size):
        answer = folded.leaf_answer[leaf]
        arcs[leaf, TAIL] = nodes + leaves.source[leaf]
        arcs[leaf, HEAD] = number[answer] if answer < count else root
        arcs[leaf, CAPACITY], arcs[leaf, FLOW] = 1, raised[leaf]
        arcs[leaf, STATE] = FULL if raised[leaf] == 1 else EMPTY
        arcs[leaf, HIGH], arcs[leaf, LOW] = folded.leaf_high[leaf], folded.leaf_low[leaf]
    used = size
    for answer in range(count):
        if folded.alive[answer] > 0:
            above = folded.parent[answer]
            node_above = number[above] if above < count else root
            used = add_pieces(
                high_times, low_times, answers, folded, answer, number[answer], node_above, used, arcs, tree
            )
    used = hang_sources(closed, leaves, folded, nodes, root, used, raised, arcs, tree)
    pivots = optimise_flow(tree, arcs, used, paired)
    for leaf in range(size):
        raised[leaf] = arcs[leaf, FLOW]
    return pivots


@kernel
def hang_sources(
    closed: bool, leaves: Leaves, folded: Folded, nodes: int, root: int, used: int, raised: Ints, arcs: Ints, tree: Ints
) -> int:
    """Give every column its tree arc, its cheapest count left down; where columns are open, the way out for such counts."""
    size = leaves.source.shape[0]
    if not closed:
        for source in range(nodes, root):
            flow = 0
            for leaf in range(size):
                if arcs[leaf, TAIL] == source:
                    flow += 1 - arcs[leaf, FLOW]
            arcs[used, TAIL], arcs[used, HEAD] = source, root
            arcs[used, CAPACITY], arcs[used, FLOW] = ENDLESS_FLOW, flow
            arcs[used, HIGH], arcs[used, LOW] = 0, 0
            arcs[used, STATE] = IN_TREE
            tree[source, ARC] = used
            used += 1
    else:
        begin = 0
        while begin < size:
            end = begin
            best = -1
            best_high, best_low = 0, 0
            while end < size and leaves.source[end] == leaves.source[begin]:
                if raised[end] == 0:
                    high, low = raising(folded, end)
                    if best < 0 or high < best_high or (high == best_high and low < best_low):
                        best, best_high, best_low = end, high, low
                end += 1
            arcs[best, STATE] = IN_TREE
            tree[arcs[best, TAIL], ARC] = best
            begin = end
    for source in range(nodes, root):
        tree[source, DIRECTION] = UP
        hang(tree, source, arcs[tree[source, ARC], HEAD])
    return used


@kernel
def add_pieces(
    high_times: Ints,
    low_times: Ints,
    answers: Answers,
    folded: Folded,
    answer: int,
    node: int,
    node_above: int,
    used: int,
    arcs: Ints,
    tree: Ints,
) -> int:
    """Add the arcs of one answer, one per stretch of equal cost, filled in order; return the number of arcs."""
    flow = folded.raised[answer]
    start = 0
    hung = False
    while True:
        end = ENDLESS_FLOW
        part = answer
        while part >= 0:
            below = int(np.floor(answers.target[part]))
            for candidate in (below, below + 1, answers.need[part], answers.most[part]):
                if start < candidate < end:
                    end = candidate
            part = folded.also[part]
        high, low = folded_cost(high_times, low_times, answers, folded.also, answer, start + 1)
        arcs[used, TAIL], arcs[used, HEAD] = node, node_above
        arcs[used, CAPACITY] = ENDLESS_FLOW if end == ENDLESS_FLOW else end - start
        arcs[used, HIGH], arcs[used, LOW] = high, low
        arcs[used, FLOW] = min(max(flow - start, 0), arcs[used, CAPACITY])
        arcs[used, STATE] = FULL if arcs[used, FLOW] == arcs[used, CAPACITY] else EMPTY
        if not hung and arcs[used, FLOW] < arcs[used, CAPACITY]:
            hung = True
            arcs[used, STATE] = IN_TREE
            tree[node, ARC] = used
            tree[node, DIRECTION] = UP
            hang(tree, node, node_above)
        used += 1
        if end == ENDLESS_FLOW:
            return used
        start = end
