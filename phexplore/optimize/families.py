"""Kernels: all least squares passes of one family, and of a range of families in one compiled call.

Args:
    tables: the plan of the level.
    families: of the level.
    settings: how the level is solved.
    family: number of the family.
    stage: number of the least squares pass.
    grouping: columns and classes of the stage on the family's support.
    stamp, place: ``stamp[all answers]``, ``place[all answers]``, scratch; stamps below `tag` are old.
    tag: larger than every stamp.
    outcome: receives what became of the family.
    width: children, padded to a multiple of `LANE`.
    point: ``point[columns, width]``, counts per column and child; written.
    objective: of the stage.
    counts: numbers of columns and rows.
    closed: whether the children add up to the parent.
    forest: the sums of the stage.
    polytope: the feasible set with its scratch.
    held: ``held[held rows, width]``, answers that later passes keep.
    floor: ``floor[columns, width]``, lower bounds of single counts that the problem is shifted by.
    tolerance: distance to the optimum, in people, that is good enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phexplore.compiled import float_kernel, inlined_kernel, lean_kernel, woven_kernel
from phexplore.optimize.bounds import (
    BEYOND,
    Families,
    Grouping,
    build_polytope,
    fill_barriers,
    fill_floors,
    group_support,
    padded,
)
from phexplore.optimize.descent import Objective, descend_by_column, descend_together
from phexplore.optimize.lanes import LANE, alike, load, plus, store, times
from phexplore.optimize.marginals import (
    AHEAD,
    Floats,
    Forest,
    Ints,
    Tables,
    add_up,
    allocate_forest,
    fetch_answers,
    list_rows_above,
    metrics,
    plant,
    weigh,
)
from phexplore.optimize.polytope import Polytope, add_rows, fill_residual

SOLVED, COPIED, EMPTY, CONTRADICTION, UNFINISHED = 0, 1, 2, 3, 4
"""What became of a family: solved; an only child that copies its parent; a parent of nobody; bounds that contradict each
other; not solved to the accuracy asked for."""

FLAT = 12.0
"""Up to this ratio of row sum to own weight, descent column by column needs fewer operations than all together."""

WARM = 3e5
"""Descent column by column may stop at moves of so many tolerances where rows turn out to bind: it is a first point then."""

HASTE = 0.1
"""Part of the most gradient steps after which a family is solved anew with care."""


class Settings(NamedTuple):
    """How a level is solved.

    Attributes:
        closed: whether the children add up to a parent.
        slack: how far answers held from an earlier pass may move beyond the tolerance found, in people.
        accuracy: of the counts, in people, for parents whose cells hold up to 10,000; in proportion above.
        limit: most gradient steps per pass.
    """

    closed: bool
    slack: float
    accuracy: float
    limit: int


class Outcome(NamedTuple):
    """What is reported per family.

    Attributes:
        status: ``int64[families]``.
        steps, newton, sweeps: ``int64[families]``, gradient steps, Newton steps of projections, sweeps over columns.
        tolerance: ``float64[families]``, the tolerance found for held answers, eq. 7.6.
        distance: ``float64[families]``, estimated distance to the optimum, in people.
        violation: ``float64[families]``, largest violation of a bound, in people.
    """

    status: Ints
    steps: Ints
    newton: Ints
    sweeps: Ints
    tolerance: Floats
    distance: Floats
    violation: Floats


@float_kernel
def solve_families(
    tables: Tables,
    families: Families,
    settings: Settings,
    first_family: int,
    last_family: int,
    value_start: Ints,
    values: Floats,
    outcome: Outcome,
) -> None:
    """Solve a range of families; the values of family f start at ``value_start[f]``, child by child over its support.

    Args:
        first_family: number of the first.
        last_family: behind the last.
        value_start: ``value_start[families + 1]``, where the values of each family begin.
        values: ``values[numbers]``, receives the estimates.
    """
    stamp = np.zeros(tables.stamp_start[-1], np.int64)
    place = np.empty(tables.stamp_start[-1], np.int64)
    support = 0
    for family in range(first_family, last_family):
        support = max(support, families.cell_start[family + 1] - families.cell_start[family])
    nodes = 0
    for stage in range(tables.stage_nodes.shape[0] - 1):
        nodes = max(nodes, tables.stage_nodes[stage + 1] - tables.stage_nodes[stage])
    forest = allocate_forest(support, nodes)
    tag = 1
    for family in range(first_family, last_family):
        cells = families.cell_start[family + 1] - families.cell_start[family]
        children = families.child_start[family + 1] - families.child_start[family]
        target = values[value_start[family] : value_start[family] + cells * children].reshape((children, cells))
        if cells == 0 or children == 0:
            outcome.status[family] = EMPTY
        elif settings.closed and children == 1:
            first = families.cell_start[family]
            for cell in range(cells):
                target[0, cell] = float(families.counts[first + cell])
            outcome.status[family] = COPIED
        else:
            for careful in (False, True):
                tag = solve_family(
                    tables, families, settings, family, careful, forest, stamp, place, tag, target, outcome
                )
                if outcome.status[family] == SOLVED:
                    break


@inlined_kernel
def solve_family(
    tables: Tables,
    families: Families,
    settings: Settings,
    family: int,
    careful: bool,
    forest: Forest,
    stamp: Ints,
    place: Ints,
    tag: int,
    target: Floats,
    outcome: Outcome,
) -> int:
    """Run all passes of one family; return the first unused stamp.

    Args:
        careful: see `Polytope`; without care, a family is solved only where the accuracy asked for is reached outright.
        target: ``target[children, cells]``, receives the estimates.
    """
    outcome.status[family] = SOLVED
    outcome.tolerance[family] = outcome.distance[family] = outcome.violation[family] = 0.0
    first_cell, last_cell = families.cell_start[family], families.cell_start[family + 1]
    cells, counts = families.cells[first_cell:last_cell], families.counts[first_cell:last_cell]
    children = families.child_start[family + 1] - families.child_start[family]
    width = padded(children)
    largest = 0
    if settings.closed:
        for cell in range(counts.shape[0]):
            largest = max(largest, counts[cell])
    scale = max(1.0, float(largest) * 1e-4)
    tolerance = settings.accuracy * scale
    held_rows = 0
    for hold in range(tables.hold_start.shape[0]):
        held_rows = max(held_rows, tables.hold_start[hold] + tables.answers[tables.hold_query[hold]])
    held = np.zeros((held_rows, width), np.float64)
    stages = tables.stage_nodes.shape[0] - 1
    stage = 0
    if tables.stage_nodes[1] == 0:
        stage = 1  # the search for a feasible point is left until it is needed
    flow = np.empty((0, width), np.float64)
    flow_of_cell = np.empty(0, np.int64)
    slack = 0.0
    while stage < stages:
        grouping = group_support(
            cells, counts, tables.column_of[stage], tables.class_of[stage], tables.columns[stage], tables.classes[stage]
        )
        before = flow.shape[0]
        start = np.zeros((grouping.cell_of_column.shape[0] if before > 0 else 0, width), np.float64)
        if before > 0:
            start_from(flow, flow_of_cell, grouping, cells, counts, start, np.zeros(before), np.zeros(before))
        point, feasible, violation = solve_stage(
            tables,
            families,
            settings,
            family,
            careful,
            stage,
            grouping,
            held,
            slack,
            tolerance,
            forest,
            stamp,
            place,
            tag,
            start,
            outcome,
        )
        tag += tables.stage_nodes[stage + 1] - tables.stage_nodes[stage] + 1
        if not feasible and stage == 1 and flow.shape[0] == 0:
            stage = 0
            continue
        if not feasible:
            outcome.status[family] = CONTRADICTION
            return tag
        outcome.violation[family] = max(outcome.violation[family], violation)
        if tables.stage_holds[stage + 1] > tables.stage_holds[stage]:
            hold_answers(tables, stage, grouping, point, held)
            outcome.tolerance[family] = max(outcome.tolerance[family], violation)
            slack = settings.slack + outcome.tolerance[family]
        flow = point
        flow_of_cell = grouping.column_of_cell
        stage += 1
    for cell in range(counts.shape[0]):
        for child in range(children):
            target[child, cell] = flow[cell, child]
    enough = (10.0 if careful else 1.0) * tolerance
    if not (outcome.distance[family] <= enough and outcome.violation[family] <= enough):
        outcome.status[family] = UNFINISHED
    return tag


@lean_kernel
def start_from(
    flow: Floats,
    flow_of_cell: Ints,
    grouping: Grouping,
    cells: npt.NDArray[np.int32],
    counts: Ints,
    start: Floats,
    total: Floats,
    members: Floats,
) -> None:
    """Fill a first point for a stage: the counts of the stage before, split in proportion to the parent's cells.

    It satisfies the column sums and every bound on sums of the earlier stage's columns.

    Args:
        flow: ``flow[columns before, width]``, counts of the stage before.
        flow_of_cell: ``flow_of_cell[support]``, their column of each cell.
        cells: ``cells[support]``, numbers of the support's cells.
        counts: ``counts[support]``, the parent's count of each.
        start: ``start[columns, width]``, 0 on entry, receives the point.
        total, members: ``float64[columns before]``, 0 on entry, scratch.
    """
    for cell in range(cells.shape[0]):
        total[flow_of_cell[cell]] += float(counts[cell])
        members[flow_of_cell[cell]] += 1.0
    for cell in range(cells.shape[0]):
        index = flow_of_cell[cell]
        part = alike(float(counts[cell]) / total[index] if total[index] > 0.0 else 1.0 / members[index])
        column = grouping.column_of_cell[cell]
        for child in range(0, flow.shape[1], LANE):
            share = times(part, load(flow, index, child))
            store(start, column, child, plus(load(start, column, child), share))


@inlined_kernel
def solve_stage(
    tables: Tables,
    families: Families,
    settings: Settings,
    family: int,
    careful: bool,
    stage: int,
    grouping: Grouping,
    held: Floats,
    slack: float,
    tolerance: float,
    forest: Forest,
    stamp: Ints,
    place: Ints,
    tag: int,
    start: Floats,
    outcome: Outcome,
) -> tuple[Floats, bool, float]:
    """Return the counts of one pass, ``float64[columns, width]``, whether its bounds are feasible, and their violation.

    Not feasible without a start, at a stage after the first, means: a start within the bounds is wanted.

    Args:
        careful: see `Polytope`.
        slack: how far a held answer may move, in people.
        start: ``start[columns, width]``, a point within the bounds; empty where none is known.
    """
    width = held.shape[1]
    columns = grouping.cell_of_column.shape[0]
    rows, entries = plant(tables, stage, columns, grouping.cell_of_column, stamp, place, tag, forest)
    for line in range(
        families.child_start[family], min(families.child_start[family] + AHEAD, families.child_start[family + 1])
    ):
        fetch_answers(families.narrow, families.answers, line, entries, forest)
    classes = grouping.cell_of_class.shape[0]
    barrier = np.empty((classes, width), np.float64)
    fill_barriers(tables, stage, families, family, grouping, barrier)
    floor = np.zeros((columns, width), np.float64)
    by_class = np.zeros((4, classes), np.int64)
    has_floor = fill_floors(tables, stage, families, family, grouping, barrier, floor, by_class)
    polytope, contradiction = build_polytope(
        tables, stage, families, family, settings.closed, grouping, barrier, floor, held, slack, careful
    )
    if contradiction:
        return floor, False, 0.0
    counts = (columns, rows)
    objective = measure(families, family, width, counts, entries, forest, floor, has_floor)
    point = np.zeros((columns, width), np.float64)
    if start.shape[0] > 0:
        for column in range(columns):
            for child in range(width):
                point[column, child] = max(start[column, child] - floor[column, child], 0.0)
    else:
        spread(point, objective, settings.closed, polytope)
    violation = minimise(
        point,
        objective,
        counts,
        settings,
        tolerance,
        forest,
        polytope,
        start.shape[0] > 0 or stage == 0,
        family,
        outcome,
    )
    if violation < 0.0:
        return floor, False, 0.0
    if has_floor:
        for column in range(columns):
            for child in range(width):
                point[column, child] += floor[column, child]
    return point, True, violation


@inlined_kernel
def measure(
    families: Families,
    family: int,
    width: int,
    counts: tuple[int, int],
    entries: int,
    forest: Forest,
    floor: Floats,
    has_floor: bool,
) -> Objective:
    """Return the objective of a stage from the family's measurements, counts shifted by `floor`.

    Args:
        entries: how many measured answers the forest has.
        has_floor: whether any floor is above 0.
    """
    columns, rows = counts
    first = families.child_start[family]
    children = families.child_start[family + 1] - first
    by_row = np.zeros((3, rows, width), np.float64)
    weight, pull, sums = by_row[0], by_row[1], by_row[2]
    weigh(families.narrow, families.answers, families.weights, first, children, entries, forest, weight, pull)
    if has_floor:
        for column in range(columns):
            for child in range(width):
                sums[column, child] = floor[column, child]
        add_up(sums, columns, rows, forest)
        for row in range(rows):
            for child in range(width):
                pull[row, child] -= weight[row, child] * sums[row, child]
    by_column = np.empty((2, columns), np.float64)
    metric, diagonal = by_column[0], by_column[1]
    scratch = np.empty((4, columns, width), np.float64)
    metrics(weight, sums, metric, diagonal, counts, forest)
    return Objective(
        weight,
        pull,
        sums,
        metric,
        diagonal,
        scratch[0],
        scratch[1],
        scratch[2],
        scratch[3],
    )


@woven_kernel
def spread(point: Floats, objective: Objective, closed: bool, polytope: Polytope) -> None:
    """Fill a first point without earlier pass: each column in proportion to what the children were measured to have."""
    for column in range(point.shape[0]):
        barrier = polytope.barrier[polytope.column_class[column]]
        values = point[column]
        total = 0.0
        for child in range(values.shape[0]):
            values[child] = 0.0
            if barrier[child] == 0.0:
                weight = objective.weight[column, child]
                measured = objective.pull[column, child] / weight if weight > 0.0 else 0.0
                values[child] = max(measured, 0.0) + (1e-3 if closed else 0.0)
                total += values[child]
        if closed and total > 0.0:
            factor = polytope.column_count[column] / total
            for child in range(values.shape[0]):
                values[child] *= factor


@lean_kernel
def minimise(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int],
    settings: Settings,
    tolerance: float,
    forest: Forest,
    polytope: Polytope,
    started: bool,
    family: int,
    outcome: Outcome,
) -> float:
    """Improve `point` to the optimum by the method that fits; return the violation of its bounds.

    Returns -1 when rows bind and `point` was not started within them.

    Args:
        started: whether `point` lies within the bounds.
    """
    columns, rows = counts
    margins = polytope.row_of.shape[0] // polytope.barrier.shape[0]
    bound_rows = polytope.lower.shape[0]
    steepest = 0.0
    measured = False
    for column in range(columns):
        measured = measured or objective.diagonal[column] > 0.0
        barrier = polytope.barrier[polytope.column_class[column]]
        least = BEYOND
        for child in range(barrier.shape[0]):
            least = min(least, objective.weight[column, child] if barrier[child] == 0.0 else BEYOND)
        steepest = max(steepest, objective.metric[column] / least if least > 0.0 else 1e6)
    equal = False
    for row in range(bound_rows):
        equal = equal or polytope.lower[row] == polytope.upper[row]
    coarse = steepest >= 1e6
    if measured and not equal and (steepest <= FLAT or (bound_rows == 0 and coarse)):
        list_rows_above(columns, rows, forest)
        fine = (1e-4 if coarse else 0.02) * tolerance
        enough = max(fine, WARM * tolerance) if bound_rows > 0 and not polytope.careful else fine
        while True:
            moved, sweeps = descend_by_column(
                point, objective, counts, settings.closed, enough, 4 * settings.limit, forest, polytope
            )
            outcome.sweeps[family] += sweeps
            if row_violation(point, margins, polytope) > (0.1 * tolerance if enough == fine else 10.0 * moved):
                break
            if enough == fine:
                outcome.distance[family] = max(outcome.distance[family], moved if coarse else 20.0 * moved)
                return 0.0
            enough = fine
    if bound_rows > 0 and not started:
        return -1.0
    distance, steps, newton, violation = descend_together(
        point,
        objective,
        counts,
        settings.closed,
        margins if bound_rows > 0 else 0,
        tolerance,
        settings.limit if polytope.careful else int(HASTE * settings.limit),
        forest,
        polytope,
    )
    outcome.steps[family] += steps
    outcome.newton[family] += newton
    if measured:
        outcome.distance[family] = max(outcome.distance[family], distance)
    return violation


@woven_kernel
def row_violation(point: Floats, margins: int, polytope: Polytope) -> float:
    """Return by how many people the worst bound on a row is missed."""
    if polytope.lower.shape[0] == 0:
        return 0.0
    polytope.class_sum[:] = 0.0
    for column in range(point.shape[0]):
        total = polytope.class_sum[polytope.column_class[column]]
        for child in range(point.shape[1]):
            total[child] += point[column, child]
    add_rows(margins, polytope)
    return fill_residual(polytope)


@lean_kernel
def hold_answers(tables: Tables, stage: int, grouping: Grouping, point: Floats, held: Floats) -> None:
    """Keep the answers that later passes hold."""
    for hold in range(tables.stage_holds[stage], tables.stage_holds[stage + 1]):
        query = tables.hold_query[hold]
        start = tables.hold_start[hold]
        for answer in range(tables.answers[query]):
            held[start + answer, :] = 0.0
        for column in range(point.shape[0]):
            answer = tables.answer_of[query, grouping.cell_of_column[column]]
            if answer >= 0:
                for child in range(point.shape[1]):
                    held[start + answer, child] += point[column, child]
