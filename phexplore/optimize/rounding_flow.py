"""Kernels: which fractional counts of one family go up, as a minimum-cost flow.

A greedy choice, improved by exchanges within a column, gives the network simplex a start near its optimum. Answers with
a single free count, or a single finer answer, are folded into it first: the network keeps only answers where something
meets.

Args:
    costs: ``costs[answers, COST_FIELDS]``, as in `Folded`.
    flows: ``flows[answers, FLOW_FIELDS]``, as in `Folded`; changed where a flow changes.
    table: ``table[leaves, LEAF_FIELDS]``, `Folded.leaves`.
    raised: ``raised[leaves]``, 1 where a free count goes up.
    leaf: number of the free count.
    answer: number of the answer.
    closed: whether the children add up to the parent.
    paired: whether any cost of the first pass differs from 0.
    arcs, tree: ``arcs[arcs, ARC_FIELDS]``, ``tree[nodes, TREE_FIELDS]``, of the network simplex; written.
    used: how many arcs there are already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phexplore.compiled import float_kernel, inlined_kernel
from phexplore.optimize.bounds import ENDLESS
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
    attach,
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

    Tables of whole numbers, so that what one step reads lies together and little is handed from kernel to kernel.

    Attributes:
        costs: ``int64[answers, COST_FIELDS]``, from which the cost of any unit follows.
        flows: ``int64[answers, FLOW_FIELDS]``, the answers that are left with their present flow.
        leaves: ``int64[leaves, LEAF_FIELDS]``.
    """

    costs: Ints
    flows: Ints
    leaves: Ints


BELOW, MIDDLE, HIGH_TIMES, LOW_TIMES, NEED, MOST, ALSO = range(7)
"""Fields of an answer's costs: the last unit that lies whole below the target, the cost of the one after it in 1 / UNIT, how often
the answer counts in the two objectives, its bounds, and the next answer folded into the same one, -1 at the end."""
COST_FIELDS = 8

ABOVE, ALIVE, RAISED, NEXT_HIGH, NEXT_LOW, LAST_HIGH, LAST_LOW = range(7)
"""Fields of an answer's flow: the answer above among those that are left (the root is ``answers``), whether it is left, its flow,
the cost of one more unit and that of the last one."""
FLOW_FIELDS = 8

INTO, LEAF_HIGH, LEAF_LOW = range(3)
"""Fields of a leaf: the answer it flows into, the cost of raising it and the answers folded into it."""
LEAF_FIELDS = 4


@float_kernel
def round_up(times: Ints, closed: bool, whole_targets: bool, answers: Answers, leaves: Leaves) -> tuple[Ints, int]:
    """Return which free counts go up, ``int64[leaves]`` of 0 and 1, and the pivots of all passes.

    Passes are lexicographic: of the roundings that are best for the passes so far, the next one decides. Each run of
    the network simplex takes two passes at once; the answers of the first are then fixed for the runs after it (eq.
    7.7).

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
            choose(closed, leaves.source, leaves.wanted, folded.costs, folded.flows, folded.leaves, raised)
        pivots += improve(first >= 0, closed, leaves.source, folded.costs, folded.flows, folded.leaves, raised)
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


@float_kernel
def unit_cost(costs: Ints, answer: int, unit: int) -> tuple[int, int]:
    """Return the pair of costs of the given unit of flow into an answer and all that are folded into it.

    Of one answer: |unit - target| - |unit - 1 - target| in 1 / UNIT, times its weight; bounds included.

    Args:
        unit: number of the unit, from 1.
    """
    high, low = 0, 0
    while answer >= 0:
        ahead = unit - costs[answer, BELOW]
        slope = -UNIT if ahead <= 0 else UNIT
        if ahead == 1:
            slope = costs[answer, MIDDLE]
        high += costs[answer, HIGH_TIMES] * slope
        low += costs[answer, LOW_TIMES] * slope
        if unit <= costs[answer, NEED]:
            high -= FORBIDDEN
        elif unit > costs[answer, MOST]:
            high += FORBIDDEN
        answer = costs[answer, ALSO]
    return high, low


@float_kernel
def fold(
    high_times: Ints, low_times: Ints, whole_targets: bool, answers: Answers, leaves: Leaves, raised: Ints
) -> Folded:
    """Return the network without answers of one member, with costs for the present choice.

    Args:
        high_times: ``high_times[levels]``, how often each query is in the objective of the first of two passes.
        low_times: ``low_times[levels]``, the same of the second.
        whole_targets: whether answers are drawn to the nearest whole number of their fraction.
        answers: that some free count can still change.
        leaves: the free counts.
    """
    parent, level, target, need, most = answers.parent, answers.level, answers.target, answers.need, answers.most
    count = parent.shape[0]
    size = leaves.source.shape[0]
    detail = low_times.shape[0] - 1
    costs = np.empty((count, COST_FIELDS), np.int64)
    flows = np.zeros((count, FLOW_FIELDS), np.int64)
    table = np.empty((size, LEAF_FIELDS), np.int64)
    for answer in range(count):
        below = np.floor(target[answer])
        costs[answer, BELOW] = int(below)
        costs[answer, MIDDLE] = int(np.rint((1.0 - 2.0 * (target[answer] - below)) * UNIT))
        costs[answer, HIGH_TIMES] = high_times[level[answer]] if level[answer] >= 0 else 0
        costs[answer, LOW_TIMES] = low_times[level[answer]] if level[answer] >= 0 else 0
        costs[answer, NEED], costs[answer, MOST] = need[answer], most[answer]
        costs[answer, ALSO] = -1
        flows[answer, ABOVE] = parent[answer]
        flows[answer, ALIVE] = 1
    leaf_also = np.full(size, -1, np.int64)
    members = np.zeros(count + 1, np.int64)
    only_leaf = np.full(count + 1, -1, np.int64)
    only_answer = np.full(count + 1, -1, np.int64)
    for leaf in range(size):
        into = leaves.answer[leaf]
        table[leaf, INTO] = into
        members[into] += 1
        only_leaf[into] = leaf
    for answer in range(count - 1, -1, -1):
        above = parent[answer]
        members[above] += 1
        only_leaf[above] = -1
        only_answer[above] = answer
        if members[answer] > 1:
            continue
        flows[answer, ALIVE] = 0
        if only_leaf[answer] >= 0:
            leaf = only_leaf[answer]
            costs[answer, ALSO] = leaf_also[leaf]
            leaf_also[leaf] = answer
            table[leaf, INTO] = above
            only_leaf[above] = leaf
            only_answer[above] = -1
        else:
            below_it = only_answer[answer]
            last = below_it
            while costs[last, ALSO] >= 0:
                last = costs[last, ALSO]
            costs[last, ALSO] = answer
            flows[below_it, ABOVE] = above
            only_answer[above] = below_it
    for leaf in range(size):
        value = leaves.value[leaf]
        cost = UNIT * (1 - 2 * int(np.rint(value))) if whole_targets else int(np.rint((1.0 - 2.0 * value) * UNIT))
        high, low = unit_cost(costs, leaf_also[leaf], 1)
        table[leaf, LEAF_HIGH] = high_times[detail] * cost + high
        table[leaf, LEAF_LOW] = low_times[detail] * cost + low
        answer = table[leaf, INTO]
        while raised[leaf] > 0 and answer < count:
            flows[answer, RAISED] += 1
            answer = flows[answer, ABOVE]
    for answer in range(count):
        if flows[answer, ALIVE] > 0:
            unit = flows[answer, RAISED]
            flows[answer, NEXT_HIGH], flows[answer, NEXT_LOW] = unit_cost(costs, answer, unit + 1)
            flows[answer, LAST_HIGH], flows[answer, LAST_LOW] = unit_cost(costs, answer, unit)
    return Folded(costs, flows, table)


@float_kernel
def cost_of_raising(flows: Ints, table: Ints, leaf: int) -> tuple[int, int]:
    """Return the pair of costs of raising a count now."""
    count = flows.shape[0]
    high, low = table[leaf, LEAF_HIGH], table[leaf, LEAF_LOW]
    answer = table[leaf, INTO]
    while answer < count:
        high += flows[answer, NEXT_HIGH]
        low += flows[answer, NEXT_LOW]
        answer = flows[answer, ABOVE]
    return high, low


@float_kernel
def saving_of_lowering(flows: Ints, table: Ints, leaf: int) -> tuple[int, int]:
    """Return the pair of costs saved by lowering a raised count now."""
    count = flows.shape[0]
    high, low = table[leaf, LEAF_HIGH], table[leaf, LEAF_LOW]
    answer = table[leaf, INTO]
    while answer < count:
        high += flows[answer, LAST_HIGH]
        low += flows[answer, LAST_LOW]
        answer = flows[answer, ABOVE]
    return high, low


@float_kernel
def turn(costs: Ints, flows: Ints, answer: int, by: int) -> None:
    """Send one more unit through an answer and all above it, or one less; what was the next cost is now the last one.

    Args:
        by: 1 or -1.
    """
    while answer < flows.shape[0]:
        flows[answer, RAISED] += by
        unit = flows[answer, RAISED]
        if by > 0:
            flows[answer, LAST_HIGH], flows[answer, LAST_LOW] = flows[answer, NEXT_HIGH], flows[answer, NEXT_LOW]
            flows[answer, NEXT_HIGH], flows[answer, NEXT_LOW] = unit_cost(costs, answer, unit + 1)
        else:
            flows[answer, NEXT_HIGH], flows[answer, NEXT_LOW] = flows[answer, LAST_HIGH], flows[answer, LAST_LOW]
            flows[answer, LAST_HIGH], flows[answer, LAST_LOW] = unit_cost(costs, answer, unit)
        answer = flows[answer, ABOVE]


@float_kernel
def choose(closed: bool, source: Ints, wanted: Ints, costs: Ints, flows: Ints, table: Ints, raised: Ints) -> None:
    """Raise, column by column, the counts that cost least in view of those raised before; then exchange within columns.

    Args:
        source: ``source[leaves]``, column of each free count, or its child where columns are open.
        wanted: ``wanted[sources]``, how many of a column go up; not read where columns are open.
    """
    size = source.shape[0]
    for sweep in range(1 + (EXCHANGES if closed else 0)):
        exchanged = False
        begin = 0
        while begin < size:
            end = begin + 1
            while closed and end < size and source[end] == source[begin]:
                end += 1
            steps = 1
            if sweep == 0 and closed:
                steps = wanted[source[begin]]
            for _ in range(steps):
                best, worst = -1, -1
                best_high, best_low, worst_high, worst_low = 0, 0, 0, 0
                for leaf in range(begin, end):
                    if raised[leaf] == 0:
                        high, low = cost_of_raising(flows, table, leaf)
                        if best < 0 or high < best_high or (high == best_high and low < best_low):
                            best, best_high, best_low = leaf, high, low
                    elif sweep > 0:
                        high, low = saving_of_lowering(flows, table, leaf)
                        if worst < 0 or high > worst_high or (high == worst_high and low > worst_low):
                            worst, worst_high, worst_low = leaf, high, low
                if sweep == 0 and (closed or best_high < 0 or (best_high == 0 and best_low < 0)):
                    raised[best] = 1
                    turn(costs, flows, table[best, INTO], 1)
                elif sweep > 0 and (best_high < worst_high or (best_high == worst_high and best_low < worst_low)):
                    raised[worst] = 0
                    turn(costs, flows, table[worst, INTO], -1)
                    raised[best] = 1
                    turn(costs, flows, table[best, INTO], 1)
                    exchanged = True
            begin = end
        if sweep > 0 and not exchanged:
            break


@inlined_kernel
def improve(paired: bool, closed: bool, source: Ints, costs: Ints, flows: Ints, table: Ints, raised: Ints) -> int:
    """Move to the optimum of two passes from the present choice; return the pivots.

    Args:
        source: ``source[leaves]``, column of each free count, or its child where columns are open.
    """
    size = source.shape[0]
    count = flows.shape[0]
    number = np.empty(count, np.int64)
    nodes = 0
    for answer in range(count):
        number[answer] = nodes
        nodes += flows[answer, ALIVE]
        paired = paired or costs[answer, NEED] > 0 or costs[answer, MOST] < ENDLESS
    sources = 0
    for leaf in range(size):
        sources = max(sources, source[leaf] + 1)
    root = nodes + sources
    pieces = nodes * 3 + count * 4  # four break points cut five stretches; those of folded answers add up
    arcs = np.empty((size + sources + pieces, ARC_FIELDS), np.int64)
    tree = np.empty((root + 1, TREE_FIELDS), np.int64)
    for node in range(root + 1):
        tree[node, CHILD] = -1
        tree[node, ARC] = -1
    for leaf in range(size):
        answer = table[leaf, INTO]
        arcs[leaf, TAIL] = nodes + source[leaf]
        arcs[leaf, HEAD] = number[answer] if answer < count else root
        arcs[leaf, CAPACITY], arcs[leaf, FLOW] = 1, raised[leaf]
        arcs[leaf, STATE] = FULL if raised[leaf] == 1 else EMPTY
        arcs[leaf, HIGH], arcs[leaf, LOW] = table[leaf, LEAF_HIGH], table[leaf, LEAF_LOW]
    used = size
    for answer in range(count):
        if flows[answer, ALIVE] > 0:
            above = flows[answer, ABOVE]
            node_above = number[above] if above < count else root
            used = add_pieces(costs, answer, flows[answer, RAISED], number[answer], node_above, used, arcs, tree)
    used = attach_columns(closed, source, flows, table, nodes, root, used, raised, arcs, tree)
    pivots = optimise_flow(tree, arcs, used, paired)
    for leaf in range(size):
        raised[leaf] = arcs[leaf, FLOW]
    return pivots


@float_kernel
def attach_columns(
    closed: bool,
    column: Ints,
    flows: Ints,
    table: Ints,
    nodes: int,
    root: int,
    used: int,
    raised: Ints,
    arcs: Ints,
    tree: Ints,
) -> int:
    """Give every column its tree arc: that of its cheapest count left down, or an arc to the root where it is open.

    Args:
        column: ``column[leaves]``, column of each free count.
        nodes: how many nodes answers have; those of columns follow.
        root: number of the root.
    """
    size = column.shape[0]
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
            while end < size and column[end] == column[begin]:
                if raised[end] == 0:
                    high, low = cost_of_raising(flows, table, end)
                    if best < 0 or high < best_high or (high == best_high and low < best_low):
                        best, best_high, best_low = end, high, low
                end += 1
            arcs[best, STATE] = IN_TREE
            tree[arcs[best, TAIL], ARC] = best
            begin = end
    for source in range(nodes, root):
        tree[source, DIRECTION] = UP
        attach(tree, source, arcs[tree[source, ARC], HEAD])
    return used


@float_kernel
def add_pieces(
    costs: Ints, answer: int, flow: int, node: int, node_above: int, used: int, arcs: Ints, tree: Ints
) -> int:
    """Add the arcs of one answer, one per stretch of equal cost, filled in order; return the number of arcs.

    Args:
        flow: units that go through the answer now.
        node: its node.
        node_above: the node of the answer above, or the root.
    """
    start = 0
    hung = False
    while True:
        end = ENDLESS_FLOW
        part = answer
        while part >= 0:
            below = costs[part, BELOW]
            for candidate in (below, below + 1, costs[part, NEED], costs[part, MOST]):
                if start < candidate < end:
                    end = candidate
            part = costs[part, ALSO]
        high, low = unit_cost(costs, answer, start + 1)
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
            attach(tree, node, node_above)
        used += 1
        if end == ENDLESS_FLOW:
            return used
        start = end
