"""Kernels: controlled rounding of one family (TopDown paper, eq. 7.3, 7.4, 7.7) as a minimum-cost flow.

Every count becomes its floor or one more. The parent's counts fix how many of a column's counts go up; the queries of
the objective and the bounded ones are nested, so the counts that go up flow from their column through one tree of
answers per child to the root. The cost |flow - target| of an answer is made of arcs that break at whole numbers. Two
nested families make the constraints totally unimodular: the optimum over flows is the optimum over whole counts.

Args:
    chain: the nested queries of the level.
    families: of the level.
    rounding: how the level is rounded.
    family: number of the family.
    fraction: ``fraction[children, cells]``, what each estimate lies above its floor; 0 where it is whole.
    fixed_up: ``fixed_up[children, cells]``, 1 where a count goes up whatever is chosen.
    result: ``result[children, cells]``, whole counts; written.
    leaf_cell, leaf_child: ``leaf_cell[leaves]``, ``leaf_child[leaves]``, cell and child of every free count.
    leaf_node: ``leaf_node[leaves]``, the finest answer that contains each free count; -1 for none.
    closed: whether the children add up to the parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phexplore.compiled import float_kernel, inlined_kernel
from phexplore.optimize.bounds import ENDLESS, Families
from phexplore.optimize.marginals import Floats, Ints
from phexplore.optimize.rounding_flow import Answers, Leaves, round_up

ROUNDED, UNROUNDED = 0, 1
"""What became of a family: rounded; no rounding of its estimates meets the bounds."""


LARGEST = 1e15
"""Above this a double holds no fraction of a person worth rounding."""


class Chain(NamedTuple):
    """The nested queries of a level, coarsest first; the last one is the detailed query.

    Attributes:
        answer_of: ``int32[queries, cells]``.
        answers: ``int64[queries]``.
        times: ``int64[passes, queries]``, how often a query is in the objective of a pass.
        bound_start: ``int64[queries]``, first column of the bounds, -1 where unbounded.
    """

    answer_of: npt.NDArray[np.int32]
    answers: Ints
    times: Ints
    bound_start: Ints


class Rounding(NamedTuple):
    """How a level is rounded.

    Attributes:
        closed: whether the children add up to a parent.
        whole_targets: whether answers are drawn to the nearest whole number of their fraction, as production does,
            instead of to the fraction itself.
        snap: estimates nearer than this to a whole number are taken for it.
    """

    closed: bool
    whole_targets: bool
    snap: float


@float_kernel
def round_families(
    chain: Chain,
    families: Families,
    rounding: Rounding,
    first_family: int,
    last_family: int,
    value_start: Ints,
    values: Floats,
    rounded: Ints,
    status: Ints,
    pivots: Ints,
) -> None:
    """Round a range of families; values and results are laid out child by child over the parent's support.

    Args:
        first_family: number of the first.
        last_family: behind the last.
        value_start: ``value_start[families + 1]``, where the values of each family begin.
        values: ``values[numbers]``, estimates.
        rounded: ``rounded[numbers]``, receives the whole counts.
        status: ``status[families]``, receives `ROUNDED` or `UNROUNDED`.
        pivots: ``pivots[families]``, receives the pivots of the network simplex.
    """
    for family in range(first_family, last_family):
        cells = families.cell_start[family + 1] - families.cell_start[family]
        children = families.child_start[family + 1] - families.child_start[family]
        begin, end = value_start[family], value_start[family + 1]
        if cells == 0 or children == 0:
            continue
        estimate = values[begin:end].reshape((children, cells))
        result = rounded[begin:end].reshape((children, cells))
        ok, count = round_family(chain, families, rounding, family, estimate, result)
        status[family] = ROUNDED if ok else UNROUNDED
        pivots[family] = count


@inlined_kernel
def round_family(
    chain: Chain, families: Families, rounding: Rounding, family: int, estimate: Floats, result: Ints
) -> tuple[bool, int]:
    """Fill the whole counts of a family, ``int64[children, cells]``; return whether bounds are met, and the pivots.

    Args:
        estimate: ``estimate[children, cells]``.
    """
    children, cells = estimate.shape
    first_cell = families.cell_start[family]
    fraction = np.zeros((children, cells), np.float64)
    fixed_up = np.zeros((children, cells), np.int64)
    free = np.zeros(cells, np.int64)
    left = np.zeros(cells, np.int64)
    possible = True
    for cell in range(cells):
        left[cell] = families.counts[first_cell + cell] if rounding.closed else 0
    for child in range(children):
        for cell in range(cells):
            value = estimate[child, cell]
            if not -rounding.snap < value < LARGEST:  # negative, not a number, or too large
                possible = False
                value = 0.0
            nearest = np.rint(value)
            whole = nearest if abs(value - nearest) < rounding.snap else np.floor(value)
            result[child, cell] = int(whole)
            left[cell] -= int(whole)
            if value > whole and value - whole >= rounding.snap:
                fraction[child, cell] = value - whole
                free[cell] += 1
    leaves = 0
    for cell in range(cells):
        if not rounding.closed:
            leaves += free[cell]
            left[cell] = 0
        elif left[cell] < 0 or left[cell] > free[cell]:
            possible = False
        elif left[cell] == free[cell]:
            for child in range(children):
                fixed_up[child, cell] = 1 if fraction[child, cell] > 0.0 else 0
                result[child, cell] += fixed_up[child, cell]
            left[cell] = 0
            free[cell] = -free[cell]
        elif left[cell] == 0:
            free[cell] = -free[cell]
        else:
            leaves += free[cell]
    if not possible:
        return False, 0
    leaf_cell = np.empty(leaves, np.int64)
    leaf_child = np.empty(leaves, np.int64)
    leaf_node = np.empty(leaves, np.int64)
    used = 0
    for cell in range(cells):
        if free[cell] > 0:
            for child in range(children):
                if fraction[child, cell] > 0.0:
                    leaf_cell[used] = cell
                    leaf_child[used] = child
                    used += 1
    answers = build_answers(
        chain, families, rounding, family, fraction, fixed_up, result, leaf_cell, leaf_child, leaf_node
    )
    leaves_of = collect_leaves(rounding.closed, fraction, left, leaf_cell, leaf_child, leaf_node)
    raised, pivots = round_up(chain.times, rounding.closed, rounding.whole_targets, answers, leaves_of)
    for leaf in range(leaves):
        result[leaf_child[leaf], leaf_cell[leaf]] += raised[leaf]
    return within_bounds(chain, families, family, result), pivots


@float_kernel
def build_answers(
    chain: Chain,
    families: Families,
    rounding: Rounding,
    family: int,
    fraction: Floats,
    fixed_up: Ints,
    result: Ints,
    leaf_cell: Ints,
    leaf_child: Ints,
    leaf_node: Ints,
) -> Answers:
    """Return the answers that contain a free count, coarsest first, and note the finest one of each leaf."""
    children, cells = fraction.shape
    first_cell, first_child = families.cell_start[family], families.child_start[family]
    leaves = leaf_cell.shape[0]
    inner = chain.answers.shape[0] - 1
    groups = families.group_total.shape[0] if families.group.shape[0] > 0 else 0
    capacity = inner * leaves + groups
    parent = np.empty(capacity, np.int64)
    level_of = np.empty(capacity, np.int64)
    target = np.zeros(capacity, np.float64)
    already = np.zeros(capacity, np.int64)
    need = np.zeros(capacity, np.int64)
    most = np.full(capacity, ENDLESS, np.int64)
    nodes = 0
    group_node = np.full(groups, -1, np.int64)
    node_above = np.full((children, cells), -1, np.int64)
    local = np.empty(cells, np.int64)
    for level in range(inner):
        answers = number_answers(chain.answer_of[level], chain.answers[level], families.cells, first_cell, local)
        node_at = np.full((children, answers), -1, np.int64)
        for leaf in range(leaves):
            child, answer = leaf_child[leaf], local[leaf_cell[leaf]]
            if node_at[child, answer] < 0:
                above = node_above[child, leaf_cell[leaf]]
                if level == 0 and groups > 0 and families.group[first_child + child] >= 0:
                    group = families.group[first_child + child]
                    if group_node[group] < 0:
                        group_node[group] = nodes
                        parent[nodes] = -1
                        level_of[nodes] = -1
                        nodes += 1
                    above = group_node[group]
                node_at[child, answer] = nodes
                parent[nodes] = above
                level_of[nodes] = level
                start = chain.bound_start[level]
                if start >= 0:
                    place = start + chain.answer_of[level, families.cells[first_cell + leaf_cell[leaf]]]
                    need[nodes] = families.lower[first_child + child, place]
                    most[nodes] = families.upper[first_child + child, place]
                nodes += 1
        start = chain.bound_start[level]
        for child in range(children):
            for cell in range(cells):
                node = node_at[child, local[cell]]
                node_above[child, cell] = node
                if node >= 0:
                    target[node] += fraction[child, cell]
                    already[node] += fixed_up[child, cell]
                    if start >= 0:
                        need[node] -= result[child, cell]
                        most[node] -= result[child, cell] if most[node] < ENDLESS else 0
    for leaf in range(leaves):
        leaf_node[leaf] = node_above[leaf_child[leaf], leaf_cell[leaf]]
    for group in range(groups):
        node = group_node[group]
        if node >= 0:
            need[node] = families.group_total[group]
            for child in range(children):
                if families.group[first_child + child] == group:
                    for cell in range(cells):
                        need[node] -= result[child, cell]
            most[node] = need[node]
    for node in range(nodes):
        if rounding.whole_targets:
            target[node] = np.rint(target[node])
        target[node] -= float(already[node])
        if parent[node] < 0:
            parent[node] = nodes
    return Answers(
        parent[:nodes], level_of[:nodes], target[:nodes], need[:nodes], most[:nodes], np.zeros(nodes, np.int64)
    )


@float_kernel
def number_answers(
    answer_of: npt.NDArray[np.int32], answers: int, cells: npt.NDArray[np.int32], first_cell: int, local: Ints
) -> int:
    """Number the answers that occur on a support in the order of its cells; return how many there are.

    Args:
        answer_of: ``answer_of[cells]``, of the schema's cells.
        answers: how many answers the query has.
        cells: ``cells[entries]``, supports of all families.
        first_cell: where the family's support begins.
        local: ``local[support]``, receives the numbers.
    """
    number = np.full(answers, -1, np.int64)
    count = 0
    for cell in range(local.shape[0]):
        answer = answer_of[cells[first_cell + cell]]
        if number[answer] < 0:
            number[answer] = count
            count += 1
        local[cell] = number[answer]
    return count


@float_kernel
def collect_leaves(
    closed: bool, fraction: Floats, left: Ints, leaf_cell: Ints, leaf_child: Ints, leaf_node: Ints
) -> Leaves:
    """Return the free counts with their columns numbered.

    Args:
        left: ``left[cells]``, how many free counts of each cell go up.
    """
    leaves = leaf_cell.shape[0]
    source = np.empty(leaves, np.int64)
    value = np.empty(leaves, np.float64)
    wanted = np.zeros(leaves, np.int64)
    sources = 0
    for leaf in range(leaves):
        value[leaf] = fraction[leaf_child[leaf], leaf_cell[leaf]]
        if not closed:
            source[leaf] = leaf_child[leaf]
            continue
        if leaf == 0 or leaf_cell[leaf] != leaf_cell[leaf - 1]:
            wanted[sources] = left[leaf_cell[leaf]]
            sources += 1
        source[leaf] = sources - 1
    return Leaves(source, leaf_node, value, wanted)


@float_kernel
def within_bounds(chain: Chain, families: Families, family: int, result: Ints) -> bool:
    """Return whether whole counts meet the bounds of every child and the totals of groups."""
    children, cells = result.shape
    first_cell, first_child = families.cell_start[family], families.child_start[family]
    for level in range(chain.answers.shape[0]):
        start = chain.bound_start[level]
        if start < 0:
            continue
        for child in range(children):
            sums = np.zeros(chain.answers[level], np.int64)
            for cell in range(cells):
                sums[chain.answer_of[level, families.cells[first_cell + cell]]] += result[child, cell]
            for answer in range(sums.shape[0]):
                if sums[answer] < families.lower[first_child + child, start + answer]:
                    return False
                if sums[answer] > families.upper[first_child + child, start + answer]:
                    return False
    if families.group.shape[0] > 0:
        totals = np.zeros(families.group_total.shape[0], np.int64)
        present = np.zeros(families.group_total.shape[0], np.bool_)
        for child in range(children):
            group = families.group[first_child + child]
            if group >= 0:
                present[group] = True
                for cell in range(cells):
                    totals[group] += result[child, cell]
        for group in range(totals.shape[0]):
            if present[group] and totals[group] != families.group_total[group]:
                return False
    return True
