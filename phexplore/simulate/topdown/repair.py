"""The failsafe: families whose estimates the solvers could not bring into whole counts within the bounds.

For each of them HiGHS finds whole counts that keep the parent's sums exactly, break the bounds as little as possible in
all, and among these lie nearest to the estimates. Families whose bounds contradict each other end with broken bounds,
which the checks of the run count; no other family is touched. Production's chain of 2020 has no failsafe: it raises an
error instead (topdown, section 9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.optimize.least_squares import UNBOUNDED, LevelData
from phexplore.optimize.plan import LevelPlan
from phexplore.optimize.rounder import RounderOptions

Ints = NDArray[np.int64]

_BROKEN = 1e4
"""Cost of one person beyond a bound, against 1 per person moved off the estimate."""


class RepairError(PhexploreError):
    """No whole counts were found even with bounds given up."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What the failsafe did.

    Attributes:
        families: whose counts it replaced.
        relaxed: of these, families that break a bound.
    """

    families: int = 0
    relaxed: int = 0


def repair(
    plan: LevelPlan,
    level: LevelData,
    values: NDArray[np.float64],
    counts: Ints,
    families: Ints,
    options: RounderOptions,
) -> Repaired:
    """Overwrite the counts of some families by the failsafe's.

    Args:
        plan: of the level.
        level: its families.
        values: ``values[numbers]``, estimates, laid out as `counts`.
        counts: ``counts[numbers]``, of all families; those of the failing ones are replaced.
        families: ``families[failed]``, numbers of those that failed.
        options: of the rounder.

    Raises:
        RepairError: HiGHS finds nothing.
    """
    replaced = relaxed = 0
    starts = level.value_start
    for family in families.tolist():
        first, last = level.child_start[family], level.child_start[family + 1]
        cells = level.cells[level.cell_start[family] : level.cell_start[family + 1]]
        begin, end = starts[family], starts[family + 1]
        shape = (int(last - first), len(cells))
        estimate = values[begin:end].reshape(shape)
        held = counts[begin:end].reshape(shape)
        parent = None if level.counts is None else level.counts[level.cell_start[family] : level.cell_start[family + 1]]
        lower, upper = level.lower[first:last], level.upper[first:last]
        if _is_whole(plan, held, cells, parent, lower, upper):
            # Not solved to the last digit, but rounded within every bound: the rounding stands.
            continue
        replaced += 1
        target = _starting_point(estimate, parent, options.snap)
        counts[begin:end] = nearest_whole(plan, target, cells, parent, lower, upper).ravel()
        relaxed += not _is_whole(plan, counts[begin:end].reshape(shape), cells, parent, lower, upper)
    return Repaired(replaced, relaxed)


def _starting_point(estimate: NDArray[np.float64], parent: Ints | None, snap: float) -> NDArray[np.float64]:
    """Return what to come near to: the estimate, or equal parts of the parent where there is none."""
    if parent is not None and not estimate.any():
        return np.repeat(parent[None] / len(estimate), len(estimate), axis=0)
    near = np.rint(estimate)
    return np.where(np.abs(estimate - near) < snap, near, np.maximum(estimate, 0.0))


def _is_whole(
    plan: LevelPlan, counts: Ints, cells: NDArray[np.int32], parent: Ints | None, lower: Ints, upper: Ints
) -> bool:
    if (counts < 0).any() or (parent is not None and (counts.sum(axis=0) != parent).any()):
        return False
    for query, start in plan.bound_start.items():
        answers = np.zeros((len(counts), query.answers + 1), np.int64)
        np.add.at(answers.T, query.cell_map()[cells], counts.T)
        found = answers[:, : query.answers]
        inside = slice(start, start + query.answers)
        if (found < lower[:, inside]).any() or (found > upper[:, inside]).any():
            return False
    return True


def nearest_whole(
    plan: LevelPlan,
    target: NDArray[np.float64],
    cells: NDArray[np.int32],
    parent: Ints | None,
    lower: Ints,
    upper: Ints,
) -> Ints:
    """Return whole counts ``int64[children, cells]`` near the target: parent's sums exact, bounds broken least.

    Each count is its floor, less or more: floor − down + up + rise, where `up` is one at most and costs 1 − 2 ×
    fraction, every further step costs 1. The matrix is that of nested families, so the optimum of the relaxation is
    whole; integrality is asked for nevertheless.

    Args:
        plan: of the level.
        target: ``target[children, cells]``, what to be near.
        cells: ``cells[cells]``, their numbers in the schema.
        parent: ``parent[cells]``, exact sums over the children; None for the root.
        lower: ``lower[children, bounds]``, least answers of the bounded queries.
        upper: ``upper[children, bounds]``, largest ones.

    Raises:
        RepairError: HiGHS finds nothing.
    """
    from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415 - heavy, and the failsafe is rare
    from scipy.sparse import coo_array  # noqa: PLC0415

    children, width = target.shape
    size = children * width
    floor = np.floor(target)
    fraction = target - floor
    index = np.arange(size).reshape(children, width)
    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    low: list[float] = []
    high: list[float] = []
    base = floor

    def add_row(members: NDArray[np.int64], least: float, most: float) -> None:
        rows.append(np.full(len(members), len(low), np.int64))
        columns.append(members)
        shift = float(base.ravel()[members].sum())
        low.append(least - shift)
        high.append(most - shift)

    if parent is not None:
        for cell in range(width):
            add_row(index[:, cell], float(parent[cell]), float(parent[cell]))
    bounded = len(low)
    for query, start in plan.bound_start.items():
        answer_of = query.cell_map()[cells]
        for answer in range(query.answers):
            members = np.flatnonzero(answer_of == answer)
            for child in range(children):
                least, most = int(lower[child, start + answer]), int(upper[child, start + answer])
                if len(members) and (least > 0 or most < UNBOUNDED):
                    add_row(index[child, members], float(least), float(most) if most < UNBOUNDED else np.inf)
    slack = len(low) - bounded
    # Columns: down, up, rise per count, then how far each bounded row is short or beyond.
    one = np.concatenate(columns) if columns else np.empty(0, np.int64)
    of = np.concatenate(rows) if rows else np.empty(0, np.int64)
    parts_row = [of, of, of, np.arange(bounded, len(low)), np.arange(bounded, len(low))]
    parts_column = [one, one + size, one + 2 * size, 3 * size + np.arange(slack), 3 * size + slack + np.arange(slack)]
    parts_value = [-np.ones(len(one)), np.ones(len(one)), np.ones(len(one)), np.ones(slack), -np.ones(slack)]
    matrix = coo_array(
        (np.concatenate(parts_value), (np.concatenate(parts_row), np.concatenate(parts_column))),
        shape=(len(low), 3 * size + 2 * slack),
    ).tocsr()
    cost = np.concatenate(
        [1.0 + 0.0 * floor.ravel(), 1.0 - 2.0 * fraction.ravel(), np.full(size, 1.0), np.full(2 * slack, _BROKEN)]
    )
    limit = np.concatenate([floor.ravel(), np.ones(size), np.full(size + 2 * slack, np.inf)])
    found = milp(
        cost,
        constraints=[LinearConstraint(matrix, low, high)] if low else [],
        bounds=(np.zeros(len(cost)), limit),
        integrality=np.concatenate([np.ones(3 * size), np.zeros(2 * slack)]),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise RepairError(
            f"The failsafe found no whole counts for a family of {children} units ({found.message}).",
            "Report this with the run's specification; another seed may not meet it.",
        )
    steps = np.rint(found.x[: 3 * size]).astype(np.int64)
    down, up, rise = steps[:size], steps[size : 2 * size], steps[2 * size :]
    whole: Ints = (floor.astype(np.int64).ravel() - down + up + rise).reshape(children, width)
    return whole
