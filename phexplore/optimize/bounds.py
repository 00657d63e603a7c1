"""Kernels: turn the bounds of one family (a parent and its children) into classes, barriers and rows of a stage.

Args:
    tables: the plan of the level.
    stage: number of the least squares pass.
    families: of the level.
    family: number of the family.
    grouping: columns and classes of the stage on the family's support.
    width: children, padded to a multiple of `LANE`.
    barrier: ``barrier[classes, width]``, 0, or `BARRED` where a child may hold nobody of the class.
    closed: whether the children add up to the parent.
    parent_count: the parent's count of the answer.
    taken: ``taken[children]``, what the floors hold of the answer in each child.
    lower: ``lower[rows]``, receives the lower bounds of new rows.
    upper: ``upper[rows]``, receives the upper bounds of new rows.
    rows: how many rows there are already.
    first: number of the family's first child.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phexplore.compiled import float_kernel, lean_kernel
from phexplore.optimize.factor import BLOCK
from phexplore.optimize.lanes import LANE
from phexplore.optimize.marginals import Floats, Ints, Tables
from phexplore.optimize.polytope import BARRED, TOGETHER, Polytope

ENDLESS = 1 << 62
"""An upper bound of this size or more is none."""

BEYOND = 1e300
"""The same among the rows."""


class Families(NamedTuple):
    """Parents with their children, flat.

    Attributes:
        child_start: ``int64[parents + 1]``, the children of parent p are ``child_start[p]:child_start[p + 1]``.
        cell_start: ``int64[parents + 1]``, the same for its support.
        cells: ``int32[]``, cells with a positive count, per parent.
        counts: ``int64[]``, the parent's count of each. Without parent: ignored.
        narrow: ``int32[children, answers]``, noisy measurements; empty where `answers` holds them.
        answers: ``float64[children, answers]``, the same where they are wider or no whole numbers; else empty.
        weights: ``float64[children, measured queries]``, inverse variances, 0 where not measured.
        lower, upper: ``int64[children, bounds]``.
        group: ``int64[children]``, the group whose total is fixed, -1 for none; empty without such groups.
        group_total: ``int64[groups]``.
    """

    child_start: Ints
    cell_start: Ints
    cells: npt.NDArray[np.int32]
    counts: Ints
    narrow: npt.NDArray[np.int32]
    answers: Floats
    weights: Floats
    lower: Ints
    upper: Ints
    group: Ints
    group_total: Ints


class Grouping(NamedTuple):
    """The columns and classes of a stage on one support.

    Attributes:
        column_of_cell: ``int64[support]``.
        cell_of_column: ``int64[columns]``, one cell of each.
        column_count: ``float64[columns]``, the parent's count of each.
        class_of_column: ``int64[columns]``.
        cell_of_class: ``int64[classes]``, one cell of each.
        class_count: ``float64[classes]``.
    """

    column_of_cell: Ints
    cell_of_column: Ints
    column_count: Floats
    class_of_column: Ints
    cell_of_class: Ints
    class_count: Floats


@lean_kernel
def padded(children: int) -> int:
    """Return the number of children rounded up to full vector instructions."""
    return (children + LANE - 1) // LANE * LANE


@float_kernel
def group_support(
    cells: npt.NDArray[np.int32],
    counts: Ints,
    column_of: npt.NDArray[np.int32],
    class_of: npt.NDArray[np.int32],
    columns: int,
    classes: int,
) -> Grouping:
    """Number the columns and classes that occur on a support, in the order of its cells.

    Args:
        cells: ``cells[support]``, numbers of the support's cells.
        counts: ``counts[support]``, the parent's count of each.
        column_of, class_of: ``column_of[cells]``, ``class_of[cells]``, of the schema's cells.
        columns, classes: how many there are in the schema.
    """
    support = cells.shape[0]
    found = Grouping(
        np.empty(support, np.int64),
        np.empty(support, np.int64),
        np.zeros(support, np.float64),
        np.empty(support, np.int64),
        np.empty(min(classes, support), np.int64),
        np.zeros(min(classes, support), np.float64),
    )
    column_at = np.full(0 if columns == column_of.shape[0] else columns, -1, np.int64)
    class_at = np.full(classes, -1, np.int64)
    used, used_classes = fill_grouping(cells, counts, column_of, class_of, column_at, class_at, found)
    return Grouping(
        found.column_of_cell,
        found.cell_of_column[:used],
        found.column_count[:used],
        found.class_of_column[:used],
        found.cell_of_class[:used_classes],
        found.class_count[:used_classes],
    )


@lean_kernel
def fill_grouping(
    cells: npt.NDArray[np.int32],
    counts: Ints,
    column_of: npt.NDArray[np.int32],
    class_of: npt.NDArray[np.int32],
    column_at: Ints,
    class_at: Ints,
    found: Grouping,
) -> tuple[int, int]:
    """Do what `group_support` does; return the numbers of columns and classes.

    Args:
        cells, counts, column_of, class_of: as there.
        column_at: ``column_at[columns]``, -1 on entry; empty where every cell is a column.
        class_at: ``class_at[classes]``, -1 on entry.
        found: arrays as long as the support, counts 0 on entry.
    """
    identity = column_at.shape[0] == 0
    used = 0
    used_classes = 0
    for place in range(cells.shape[0]):
        cell = cells[place]
        index = class_at[class_of[cell]]
        if index < 0:
            index = used_classes
            class_at[class_of[cell]] = index
            found.cell_of_class[index] = cell
            used_classes += 1
        found.class_count[index] += counts[place]
        column = -1 if identity else column_at[column_of[cell]]
        if column < 0:
            column = used
            used += 1
            if not identity:
                column_at[column_of[cell]] = column
            found.cell_of_column[column] = cell
            found.class_of_column[column] = index
        found.column_of_cell[place] = column
        found.column_count[column] += counts[place]
    return used, used_classes


@lean_kernel
def fill_barriers(
    tables: Tables, stage: int, families: Families, family: int, grouping: Grouping, barrier: Floats
) -> None:
    """Fill 0 where a child may hold people of a class and `BARRED` where not."""
    first = families.child_start[family]
    children = families.child_start[family + 1] - first
    for index in range(barrier.shape[0]):
        for child in range(barrier.shape[1]):
            barrier[index, child] = 0.0 if child < children else BARRED
        for margin in range(tables.stage_margins[stage], tables.stage_margins[stage + 1]):
            if tables.margin_kind[margin] != 0:
                continue
            answer = tables.answer_of[tables.margin_query[margin], grouping.cell_of_class[index]]
            if answer < 0:
                continue
            bound = tables.margin_start[margin] + answer
            for child in range(children):
                if families.upper[first + child, bound] <= 0:
                    barrier[index, child] = BARRED


@lean_kernel
def lead(tables: Tables, query: int, cells: Ints, leader: Ints) -> None:
    """Fill, for every given cell, the first place among them with the same answer, -1 where the query omits the cell.

    Args:
        query: row of `Tables.answer_of`.
        cells: ``cells[n]``, numbers of cells.
        leader: ``leader[n]``, receives the places.
    """
    for place in range(cells.shape[0]):
        answer = tables.answer_of[query, cells[place]]
        leader[place] = place if answer >= 0 else -1
        for earlier in range(place):
            if answer >= 0 and tables.answer_of[query, cells[earlier]] == answer:
                leader[place] = earlier
                break


@lean_kernel
def fill_floors(
    tables: Tables,
    stage: int,
    families: Families,
    family: int,
    grouping: Grouping,
    barrier: Floats,
    floor: Floats,
    by_class: Ints,
) -> bool:
    """Fill lower bounds of single counts, ``floor[columns, width]``, 0 on entry; return whether there are any.

    A bounded class that consists of one column, and an answer of one class, bound that count alone; taken out of the
    problem by shifting the count, the bound needs no row.

    Args:
        by_class: ``by_class[4, classes]``, 0 on entry, scratch.
    """
    first = families.child_start[family]
    children = families.child_start[family + 1] - first
    classes = barrier.shape[0]
    members, only_column, leader, followers = by_class[0], by_class[1], by_class[2], by_class[3]
    for column in range(floor.shape[0]):
        members[grouping.class_of_column[column]] += 1
        only_column[grouping.class_of_column[column]] = column
    found = False
    for margin in range(tables.stage_margins[stage], tables.stage_margins[stage + 1]):
        if tables.margin_kind[margin] != 0:
            continue
        query = tables.margin_query[margin]
        lead(tables, query, grouping.cell_of_class, leader)
        followers[:] = 0
        for index in range(classes):
            if leader[index] >= 0:
                followers[leader[index]] += 1
        for index in range(classes):
            if leader[index] != index or followers[index] > 1 or members[index] > 1:
                continue
            bound = tables.margin_start[margin] + tables.answer_of[query, grouping.cell_of_class[index]]
            for child in range(children):
                least = float(families.lower[first + child, bound])
                if least > 0.0 and barrier[index, child] == 0.0:
                    floor[only_column[index], child] = max(floor[only_column[index], child], least)
                    found = True
    return found


@float_kernel
def build_polytope(
    tables: Tables,
    stage: int,
    families: Families,
    family: int,
    closed: bool,
    grouping: Grouping,
    barrier: Floats,
    floor: Floats,
    held: Floats,
    slack: float,
    careful: bool,
) -> tuple[Polytope, bool]:
    """Return the feasible set of a stage, counts shifted by `floor`, and whether its bounds contradict each other.

    Args:
        held: ``float64[held rows, width]``, answers of earlier passes.
        slack: how far a held answer may move, in people.
        careful: see `Polytope`.
    """
    classes, width = barrier.shape
    margins = tables.stage_margins[stage + 1] - tables.stage_margins[stage]
    row_of = np.full((margins * classes, width), -1, np.int64)
    bounds = np.empty((2, margins * classes * width), np.float64)
    count = grouping.column_count.copy()
    leader = np.empty(classes, np.int64)
    by_class = np.zeros((3, classes, width), np.float64)
    able = np.empty((classes, width), np.bool_)
    rows, contradiction = fill_rows(
        tables,
        stage,
        families,
        family,
        closed,
        grouping,
        barrier,
        floor,
        held,
        slack,
        count,
        row_of,
        bounds[0],
        bounds[1],
        leader,
        by_class,
        able,
    )
    return allocate_polytope(
        count, grouping.class_of_column, barrier, row_of, bounds[0, :rows], bounds[1, :rows], careful
    ), contradiction


@lean_kernel
def fill_rows(
    tables: Tables,
    stage: int,
    families: Families,
    family: int,
    closed: bool,
    grouping: Grouping,
    barrier: Floats,
    floor: Floats,
    held: Floats,
    slack: float,
    count: Floats,
    row_of: Ints,
    lower: Floats,
    upper: Floats,
    leader: Ints,
    by_class: npt.NDArray[np.float64],
    able: npt.NDArray[np.bool_],
) -> tuple[int, bool]:
    """Fill the rows of `build_polytope`; return their number and whether the bounds contradict each other.

    Args:
        held, slack: as there.
        count: ``count[columns]``, the parent's counts, from which floors are taken.
        row_of: ``row_of[margins × classes, width]``, -1 on entry.
        leader: ``leader[classes]``, scratch.
        by_class: ``by_class[3, classes, width]``, 0 on entry, scratch.
        able: ``able[classes, width]``, scratch.
    """
    first = families.child_start[family]
    children = families.child_start[family + 1] - first
    classes = barrier.shape[0]
    start = tables.stage_margins[stage]
    margins = tables.stage_margins[stage + 1] - start
    class_floor, taken, parent_count = by_class[0], by_class[1], by_class[2]
    contradiction = False
    for column in range(count.shape[0]):
        for child in range(children):
            count[column] -= floor[column, child]
            class_floor[grouping.class_of_column[column], child] += floor[column, child]
        if closed and count[column] < 0.0:
            contradiction = True
    rows = 0
    shared = -1
    for margin in range(margins):
        if tables.margin_kind[start + margin] == 2:
            shared = tables.margin_query[start + margin]
    for margin in range(margins):
        query = tables.margin_query[start + margin]
        kind = tables.margin_kind[start + margin]
        lead(tables, query, grouping.cell_of_class, leader)
        parent_count[:] = 0.0
        taken[:] = 0.0
        able[:] = False
        for index in range(classes):
            if leader[index] < 0:
                continue
            parent_count[leader[index], 0] += grouping.class_count[index]
            for child in range(children):
                taken[leader[index], child] += class_floor[index, child]
                able[leader[index], child] |= barrier[index, child] == 0.0
        for index in range(classes):
            if leader[index] != index:
                continue
            bound = tables.margin_start[start + margin] + tables.answer_of[query, grouping.cell_of_class[index]]
            line = row_of[margin * classes + index]
            before = rows
            if kind == 0:
                rows, clash = add_bounded(
                    families,
                    first,
                    bound,
                    closed,
                    parent_count[index, 0],
                    taken[index, :children],
                    able[index, :children],
                    line,
                    lower,
                    upper,
                    rows,
                )
                contradiction |= clash
            elif kind == 1:
                for child in range(children):
                    if query == shared and is_told(families.group, first, children, child):
                        continue
                    lower[rows] = held[bound, child] - slack - taken[index, child]
                    upper[rows] = held[bound, child] + slack - taken[index, child]
                    line[child] = rows
                    rows += 1
            else:
                rows, clash = add_shared(
                    families, first, closed, parent_count[index, 0], taken[index, :children], line, lower, upper, rows
                )
                contradiction |= clash
            if rows > before:
                for other in range(index + 1, classes):
                    if leader[other] == index:
                        for child in range(children):
                            row_of[margin * classes + other, child] = line[child]
    return rows, contradiction


@lean_kernel
def is_told(group: Ints, first: int, children: int, child: int) -> bool:
    """Return whether a child's total follows from the fixed total of its group: it is alone there, or the second of two.

    A held total of such a child says nothing new, and rows that determine each other are slow to project onto.

    Args:
        group: ``group[units]``, see `Families`.
        children: how many the family has.
        child: number in the family.
    """
    before = 0
    behind = 0
    for other in range(children):
        if other != child and group[first + other] == group[first + child]:
            before += 1 if other < child else 0
            behind += 1 if other > child else 0
    return group[first + child] >= 0 and behind == 0 and before < 2


@lean_kernel
def add_bounded(
    families: Families,
    first: int,
    bound: int,
    closed: bool,
    parent_count: float,
    taken: Floats,
    able: npt.NDArray[np.bool_],
    line: Ints,
    lower: Floats,
    upper: Floats,
    rows: int,
) -> tuple[int, bool]:
    """Add a row for every child whose bounds of one answer can bind; return the rows so far and a contradiction.

    A bound cannot bind where the count must be 0, where one child takes all, or beyond the parent's own count.

    Args:
        bound: column of `Families.lower` and `Families.upper`.
        able: ``able[children]``, which children may hold somebody in the answer.
        line: ``line[children]``, receives the row of each child that gets one.
    """
    children = able.shape[0]
    candidates = 0
    least_sum = 0.0
    most_sum = 0.0
    for child in range(children):
        least, most = families.lower[first + child, bound], families.upper[first + child, bound]
        candidates += 1 if able[child] else 0
        least_sum += max(float(least), 0.0)
        most_sum = min(most_sum + max(float(most), 0.0), BEYOND)
        if least > most or (least > 0 and not able[child]):
            return rows, True
    if closed and (parent_count < least_sum or parent_count > most_sum):
        return rows, True
    if closed and candidates == 1:
        return rows, False
    for child in range(children):
        if not able[child]:
            continue
        least = float(families.lower[first + child, bound])
        most = float(families.upper[first + child, bound])
        endless = most >= float(ENDLESS) or (closed and most >= parent_count)
        if least <= taken[child] and endless:
            continue
        lower[rows] = least - taken[child]
        upper[rows] = BEYOND if endless else most - taken[child]
        line[child] = rows
        rows += 1
    return rows, False


@lean_kernel
def add_shared(
    families: Families,
    first: int,
    closed: bool,
    parent_count: float,
    taken: Floats,
    line: Ints,
    lower: Floats,
    upper: Floats,
    rows: int,
) -> tuple[int, bool]:
    """Add a row for every group of children with a total of its own; return the rows so far and a contradiction.

    Args:
        line: ``line[children]``, receives the row of each child in a group.
    """
    children = taken.shape[0]
    fixed = 0.0
    ungrouped = False
    for child in range(children):
        group = families.group[first + child]
        if group < 0:
            ungrouped = True
            continue
        row = -1
        for earlier in range(child):
            if families.group[first + earlier] == group:
                row = line[earlier]
                break
        if row < 0:
            row = rows
            rows += 1
            lower[row] = float(families.group_total[group])
            upper[row] = lower[row]
            fixed += lower[row]
        lower[row] -= taken[child]
        upper[row] -= taken[child]
        line[child] = row
    return rows, closed and (fixed > parent_count or (fixed < parent_count and not ungrouped))


@float_kernel
def allocate_polytope(
    count: Floats,
    class_of_column: Ints,
    barrier: Floats,
    row_of: Ints,
    lower: Floats,
    upper: Floats,
    careful: bool,
) -> Polytope:
    """Return the polytope of these bounds with all multipliers at 0.

    Args:
        count: ``count[columns]``, the parent's count of each column.
        class_of_column: ``class_of_column[columns]``.
        row_of: ``row_of[margins × classes, width]``, the row of each class and child, or -1.
        lower: ``lower[rows]``, least sum of each row.
        upper: ``upper[rows]``, largest sum.
        careful: see `Polytope`.
    """
    columns = count.shape[0]
    classes, width = barrier.shape
    rows = lower.shape[0]
    lines = row_of.shape[0]
    by_row = np.zeros((6, rows), np.float64)
    by_column = np.zeros((3, columns), np.float64)
    by_class = np.zeros((3, classes, width), np.float64)
    by_line = np.empty((2, lines, width), np.int64)
    return Polytope(
        count,
        class_of_column,
        by_column[0],
        barrier,
        row_of,
        lower,
        upper,
        by_row[0],
        by_column[1],
        by_class[0],
        by_class[1],
        by_row[1],
        by_row[2],
        by_row[3],
        by_row[4],
        by_row[5],
        np.zeros(rows, np.int64),
        np.zeros((classes * width if rows > 0 else 0, width), np.float64),
        np.zeros((rows, padded(rows)), np.float64),
        np.full(1, -1, np.int64),
        np.zeros((padded(rows) // LANE, BLOCK * LANE), np.float64),
        by_line[0],
        by_line[1],
        np.empty(lines, np.int64),
        by_column[2],
        by_class[2],
        np.empty((TOGETHER if rows > 0 else 0, width), np.float64),
        np.empty(TOGETHER, np.int64),
        careful,
    )
