"""Kernels: minimise the weighted least squares objective of one stage over its feasible set.

Two methods. Column by column (exact block coordinate descent): each column is minimised exactly over its simplex while the
others stand still; valid while no row couples columns. Accelerated projected gradient (Nesterov, strongly convex version
with restart by gradient) in the metric of H's row sums, where the curvature is at most 1; valid always.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phexplore.optimize.compiled import kernel
from phexplore.optimize.faces import settle
from phexplore.optimize.marginals import Floats, Forest, gradient
from phexplore.optimize.polytope import Polytope, fill_simplex, project


class Objective(NamedTuple):
    """The objective of one stage and scratch of its size.

    Attributes:
        weight: ``float64[rows, children]``, inverse variances summed per row.
        pull: ``float64[rows, children]``, inverse variance times measured answer.
        sums: ``float64[rows, children]``, scratch.
        metric: ``float64[columns]``, h_c.
        diagonal: ``float64[columns]``, largest diagonal entry of H over the children.
        ahead, next, slope, direction: ``float64[columns, children]``, scratch.
    """

    weight: Floats
    pull: Floats
    sums: Floats
    metric: Floats
    diagonal: Floats
    ahead: Floats
    next: Floats
    slope: Floats
    direction: Floats


@kernel
def descend_by_column(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int, int],
    closed: bool,
    tolerance: float,
    limit: int,
    forest: Forest,
    polytope: Polytope,
) -> tuple[float, int]:
    """Improve `point` until no column moves by more than `tolerance`; return the last move and the sweeps.

    `point` satisfies the column sums and barriers on entry and on return. No row is looked at.
    """
    columns, rows, edges = counts
    width = point.shape[1]
    sums, weight = objective.sums, objective.weight
    start_sums(point, objective, counts, forest)
    trial = objective.next[0]
    moved = 0.0
    sweeps = 0
    while sweeps < limit:
        moved = 0.0
        for column in range(columns):
            diagonal = objective.diagonal[column]
            if diagonal <= 0.0:
                continue
            values = point[column]
            slope = sums[column]
            for child in range(width):
                trial[child] = slope[child]
            for slot in range(forest.above_start[column], forest.above_start[column + 1]):
                slope = sums[forest.above_row[slot]]
                for child in range(width):
                    trial[child] += slope[child]
            barrier = polytope.barrier[polytope.column_class[column]]
            scale = 1.0 / diagonal
            for child in range(width):
                trial[child] = values[child] - scale * trial[child] + barrier[child]
            if closed:
                polytope.column_multiplier[column] = fill_simplex(
                    trial, polytope.column_count[column], polytope.column_multiplier[column]
                )
            change = 0.0
            for child in range(width):
                new = trial[child] if closed else max(trial[child], 0.0)
                difference = new - values[child]
                change = max(change, abs(difference))
                values[child] = new
                trial[child] = difference
            if change == 0.0:
                continue
            moved = max(moved, change)
            slope = sums[column]
            factor = weight[column]
            for child in range(width):
                slope[child] += factor[child] * trial[child]
            for slot in range(forest.above_start[column], forest.above_start[column + 1]):
                row = forest.above_row[slot]
                slope = sums[row]
                factor = weight[row]
                for child in range(width):
                    slope[child] += factor[child] * trial[child]
        sweeps += 1
        if moved <= tolerance:
            break
    return moved, sweeps


@kernel
def start_sums(point: Floats, objective: Objective, counts: tuple[int, int, int], forest: Forest) -> None:
    """Fill every row of `sums` with its share of the gradient, w_r (Σ x) - pull_r."""
    columns, rows, edges = counts
    width = point.shape[1]
    sums = objective.sums
    for row in range(rows):
        target = sums[row]
        for child in range(width):
            target[child] = point[row, child] if row < columns else 0.0
    for edge in range(edges):
        source = sums[forest.edge_from[edge]]
        target = sums[forest.edge_to[edge]]
        for child in range(width):
            target[child] += source[child]
    for row in range(rows):
        target = sums[row]
        factor = objective.weight[row]
        pull = objective.pull[row]
        for child in range(width):
            target[child] = factor[child] * target[child] - pull[child]


@kernel
def descend_together(
    point: Floats,
    objective: Objective,
    counts: tuple[int, int, int],
    closed: bool,
    margins: int,
    tolerance: float,
    limit: int,
    forest: Forest,
    polytope: Polytope,
) -> tuple[float, int, int, float]:
    """Improve `point` by accelerated projected gradient.

    Returns:
        an estimate of the distance to the optimum, the steps, the Newton steps of all projections, and the largest
        violation of a row by the returned point.
    """
    columns = counts[0]
    width = point.shape[1]
    ahead, following, sums, metric = objective.ahead, objective.next, objective.sums, objective.metric
    modulus = 1.0
    for column in range(columns):
        polytope.inverse_metric[column] = 1.0 / metric[column]
        for child in range(width):
            if polytope.barrier[polytope.column_class[column], child] == 0.0:
                modulus = min(modulus, objective.weight[column, child] / metric[column])
    for column in range(columns):
        for child in range(width):
            ahead[column, child] = point[column, child]
    row_tolerance = 0.1 * tolerance
    violation, newton = project(ahead, point, closed, margins, row_tolerance, 200, polytope)
    for column in range(columns):
        for child in range(width):
            ahead[column, child] = point[column, child]
    theta = 1.0
    steps = 0
    distance = 1e300
    largest = 0.0
    patience = 2
    stable = 0
    settled = 0
    attempts = 0
    while steps < limit:
        gradient(ahead, objective.weight, objective.pull, sums, counts, forest)
        for column in range(columns):
            scale = polytope.inverse_metric[column]
            slope = sums[column]
            source = ahead[column]
            for child in range(width):
                slope[child] = source[child] - scale * slope[child]
        violation, more = project(sums, following, closed, margins, max(row_tolerance, 1e-1 * largest), 100, polytope)
        newton += more
        largest = 0.0
        uphill = 0.0
        changes = 0
        for column in range(columns):
            factor = metric[column]
            inner = 0.0
            new, old, tried = following[column], point[column], ahead[column]
            for child in range(width):
                move = new[child] - tried[child]
                largest = max(largest, abs(move))
                inner += move * (new[child] - old[child])
                changes += 1 if (new[child] > 0.0) != (old[child] > 0.0) else 0
            uphill -= factor * inner
        steps += 1
        if uphill > 0.0:
            theta = 1.0
        squared = modulus - theta * theta
        root = 0.5 * (squared + np.sqrt(squared * squared + 4.0 * theta * theta))
        momentum = theta * (1.0 - theta) / (theta * theta + root)
        theta = root
        for column in range(columns):
            new, old, tried = following[column], point[column], ahead[column]
            for child in range(width):
                tried[child] = new[child] + momentum * (new[child] - old[child])
                old[child] = new[child]
        distance = largest / max(modulus, 1e-6)
        if distance <= tolerance:
            break
        stable = stable + 1 if changes == 0 else 0
        if stable >= patience and attempts < 20:
            gradient(point, objective.weight, objective.pull, sums, counts, forest)
            for column in range(columns):
                for child in range(width):
                    objective.slope[column, child] = sums[column, child]
            settled += settle(point, ahead, objective.slope, following, objective.direction, objective.weight, sums, counts,
                              closed, margins, tolerance * max(modulus, 1e-6) * 0.3, 200, forest, polytope)
            attempts += 1
            stable = 0
            negative = 0
            for column in range(columns):
                for child in range(width):
                    negative += 1 if ahead[column, child] < 0.0 else 0
            if negative:
                project(ahead, point, closed, margins, row_tolerance, 100, polytope)
                patience += 1
                for column in range(columns):
                    for child in range(width):
                        ahead[column, child] = point[column, child]
            else:
                for column in range(columns):
                    for child in range(width):
                        point[column, child] = ahead[column, child]
            theta = 1.0
    return distance, steps, newton, violation + 1000 * settled
