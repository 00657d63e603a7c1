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
    counts: numbers of columns, rows and edges.
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
    barriers,
    build_polytope,
    floors,
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
            tag = solve_family(tables, families, settings, family, forest, stamp, place, tag, target, outcome)


@inlined_kernel
def solve_family(
    tables: Tables,
    families: Families,
    settings: Settings,
    family: int,
    forest: Forest,
    stamp: Ints,
    place: Ints,
    tag: int,
    target: Floats,
    outcome: Outcome,
) -> int:
    """Run all passes of one family; return the first unused stamp.

    Args:
        target: ``target[children, cells]``, receives the estimates.
    """
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
    if outcome.distance[family] > 10.0 * tolerance or outcome.violation[family] > 10.0 * tolerance:
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
        slack: how far a held answer may move, in people.
        start: ``start[columns, width]``, a point within the bounds; empty where none is known.
    """
    width = held.shape[1]
    columns = grouping.cell_of_column.shape[0]
    rows, edges, entries = plant(tables, stage, columns, grouping.cell_of_column, stamp, place, tag, forest)
    for line in range(
        families.child_start[family], min(families.child_start[family] + AHEAD, families.child_start[family + 1])
    ):
        fetch_answers(families.narrow, families.answers, line, entries, forest)
    barrier = barriers(tables, stage, families, family, grouping, width)
    floor, has_floor = floors(tables, stage, families, family, grouping, barrier)
    polytope, contradiction = build_polytope(
        tables, stage, families, family, settings.closed, grouping, barrier, floor, held, slack
    )
    if contradiction:
        return floor, False, 0.0
    counts = (columns, rows, edges)
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
    counts: tuple[int, int, int],
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
    columns, rows, edges = counts
    first = families.child_start[family]
    children = families.child_start[family + 1] - first
    weight = np.zeros((rows, width), np.float64)
    pull = np.zeros((rows, width), np.float64)
    sums = np.empty((rows, width), np.float64)
    weigh(families.narrow, families.answers, families.weights, first, children, entries, forest, weight, pull)
    if has_floor:
        for column in range(columns):
            for child in range(width):
                sums[column, child] = floor[column, child]
        add_up(sums, columns, rows, edges, forest)
        for row in range(rows):
            for child in range(width):
                pull[row, child] -= weight[row, child] * sums[row, child]
    metric = np.empty(columns, np.float64)
    diagonal = np.empty(columns, np.float64)
    metrics(weight, sums, metric, diagonal, counts, forest)
    return Objective(
        weight,
        pull,
        sums,
        metric,
        diagonal,
        np.empty((columns, width), np.float64),
        np.empty((columns, width), np.float64),
        np.empty((columns, width), np.float64),
        np.empty((columns, width), np.float64),
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
    counts: tuple[int, int, int],
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
    columns, rows, edges = counts
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
        list_rows_above(columns, rows, edges, forest)
        moved, sweeps = descend_by_column(
            point,
            objective,
            counts,
            settings.closed,
            (1e-4 if coarse else 0.02) * tolerance,
            4 * settings.limit,
            forest,
            polytope,
        )
        outcome.sweeps[family] += sweeps
        if bound_rows == 0:
            outcome.distance[family] = max(outcome.distance[family], moved if coarse else 20.0 * moved)
            return 0.0
        add_classes(point, polytope)
        add_rows(margins, polytope)
        if fill_residual(polytope) <= 0.1 * tolerance:
            outcome.distance[family] = max(outcome.distance[family], 20.0 * moved)
            return 0.0
    if bound_rows > 0 and not started:
        return -1.0
    distance, steps, newton, violation = descend_together(
        point,
        objective,
        counts,
        settings.closed,
        margins if bound_rows > 0 else 0,
        tolerance,
        settings.limit,
        forest,
        polytope,
    )
    outcome.steps[family] += steps
    outcome.newton[family] += newton
    if measured:
        outcome.distance[family] = max(outcome.distance[family], distance)
    return violation


@woven_kernel
def add_classes(point: Floats, polytope: Polytope) -> None:
    """Add up the counts of every class."""
    polytope.class_sum[:] = 0.0
    for column in range(point.shape[0]):
        total = polytope.class_sum[polytope.column_class[column]]
        for child in range(point.shape[1]):
            total[child] += point[column, child]


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
