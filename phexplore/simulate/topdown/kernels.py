"""Compiled loops over sparse histograms: measured answers, noise, sums up the tree, and what rounding leaves.

They take plain arrays; the NumPy reference of each stands in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel

Ints = NDArray[np.int64]
Cells = NDArray[np.int32]
Floats = NDArray[np.float64]


@kernel
def add_answers(
    starts: Ints,
    cells: Cells,
    counts: Ints,
    first: int,
    answer_of: NDArray[np.int32],
    answer_start: Ints,
    out: NDArray[Any],
) -> None:
    """Add the exact answers of some units to ``out[units, answers]``; row 0 is unit `first`.

    Args:
        starts: of the level's histograms.
        cells: filled cells.
        counts: of each.
        first: number of the unit in row 0.
        answer_of: ``int32[queries, cells of the schema]``, -1 where a query omits the cell.
        answer_start: ``int64[queries]``, first column of each query.
        out: added to.
    """
    for row in range(out.shape[0]):
        for entry in range(starts[first + row], starts[first + row + 1]):
            cell = cells[entry]
            for query in range(answer_of.shape[0]):
                answer = answer_of[query, cell]
                if answer >= 0:
                    out[row, answer_start[query] + answer] += counts[entry]


@kernel
def add_noise(  # noqa: PLR0913, PLR0917 - as above
    sizes: NDArray[Any],
    signs: NDArray[np.uint8],
    offset: int,
    low: int,
    high: int,
    answers: int,
    column: int,
    wanted: NDArray[np.bool_],
    margin: int,
    out: NDArray[Any],
) -> int:
    """Add noise to the answers ``low:high`` of one query, counted through all units; return how many lie within a margin.

    A sample's size is that of `sizes`, its sign an independent bit: the distribution is symmetric, so it stays the
    same, and two scenarios that share the random bits get noise of the same sign.

    Args:
        sizes: samples of the answers from `offset` on.
        signs: 1 for a negative one, aligned with `sizes`.
        offset: number of the answer of the first sample, counted from the answer of the first row's unit: it may be
            negative.
        low: number of the first answer that gets noise, counted from the first row's unit.
        high: one beyond the last.
        answers: of the query in one unit.
        column: of the query's first answer in `out`.
        wanted: ``bool[rows]``, which units are measured with this noise.
        margin: largest size that counts as within it.
        out: ``[rows, all answers]``.
    """
    within = 0
    for row in range(low // answers, -(-high // answers)):
        if not wanted[row]:
            continue
        begin, end = max(low, row * answers), min(high, (row + 1) * answers)
        drawn, negative = sizes[begin - offset : end - offset], signs[begin - offset : end - offset]
        target = out[row, column + begin - row * answers : column + end - row * answers]
        for place in range(end - begin):
            size = abs(np.int64(drawn[place]))
            within += 1 if size <= margin else 0
            target[place] += size * (1 - 2 * np.int64(negative[place]))
    return within


@kernel
def merge_children(
    starts: Ints, cells: Cells, counts: Ints, child_start: Ints, width: int, merged: Cells, sums: Ints
) -> Ints:
    """Add the histograms of children up to their parents and return the parents' starts.

    Args:
        starts: of the children.
        cells: of the children, ascending in each.
        counts: of the children.
        child_start: ``int64[parents + 1]``.
        width: cells of the schema.
        merged: receives the parents' cells; as long as `cells`.
        sums: receives their counts.
    """
    parents = child_start.shape[0] - 1
    found = np.zeros(parents + 1, np.int64)
    total = np.zeros(width, np.int64)
    touched = np.empty(width, np.int64)
    end = 0
    for parent in range(parents):
        used = 0
        for entry in range(starts[child_start[parent]], starts[child_start[parent + 1]]):
            cell = cells[entry]
            if total[cell] == 0:
                touched[used] = cell
                used += 1
            total[cell] += counts[entry]
        touched[:used].sort()
        for place in range(used):
            cell = touched[place]
            merged[end] = cell
            sums[end] = total[cell]
            total[cell] = 0
            end += 1
        found[parent + 1] = end
    return found


@kernel
def pool_children(
    child_start: Ints, answers: Floats, weights: Floats, queries: Ints, pooled: Floats, pooled_weights: Floats
) -> None:
    """Add what is known of children to what is known of their parents, query by query.

    Where a child is not known, nothing is added: the sum over the children is not known either. Children are summed in their order, so
    that the cut into ranges changes no bit.

    Args:
        child_start: ``int64[parents + 1]``.
        answers: ``float64[children, answers]``.
        weights: ``float64[children, queries]``, inverse variances; 0 where nothing is known.
        queries: ``int64[queries, 5]``: place and first column at the parents, the same at the children, and number of answers.
        pooled: ``float64[parents, answers]``, the parents' own; improved in place.
        pooled_weights: ``float64[parents, queries]``, likewise.
    """
    sums = np.empty(answers.shape[1])
    for parent in range(child_start.shape[0] - 1):
        first, last = child_start[parent], child_start[parent + 1]
        for number in range(queries.shape[0]):
            place, start, below, column, width = queries[number]
            variance = 0.0
            for child in range(first, last):
                variance += 1.0 / weights[child, below] if weights[child, below] > 0.0 else np.inf
            if first == last or variance == np.inf:
                continue
            for answer in range(width):
                sums[answer] = 0.0
            for child in range(first, last):
                for answer in range(width):
                    sums[answer] += answers[child, column + answer]
            own, added = pooled_weights[parent, place], 1.0 / variance
            for answer in range(width):
                mine = pooled[parent, start + answer]
                pooled[parent, start + answer] = (own * mine + added * sums[answer]) / (own + added)
            pooled_weights[parent, place] = own + added


@kernel
def keep_positive(
    child_start: Ints, cell_start: Ints, cells: Cells, value_start: Ints, values: Ints, kept: Cells, counts: Ints
) -> Ints:
    """Return the starts of the children's histograms and fill their cells and counts from rounded families.

    Args:
        child_start: ``int64[families + 1]``.
        cell_start: ``int64[families + 1]``, of the supports.
        cells: supports.
        value_start: ``int64[families + 1]``, of the values.
        values: whole counts, child by child over the support.
        kept: receives the cells with a positive count; as long as there are such.
        counts: receives their counts.
    """
    starts = np.zeros(child_start[-1] + 1, np.int64)
    end = 0
    for family in range(child_start.shape[0] - 1):
        first, last = cell_start[family], cell_start[family + 1]
        value = value_start[family]
        for child in range(child_start[family], child_start[family + 1]):
            for place in range(first, last):
                if values[value] > 0:
                    kept[end] = cells[place]
                    counts[end] = values[value]
                    end += 1
                value += 1
            starts[child + 1] = end
    return starts


@kernel
def count_differences(
    starts: Ints, cells: Cells, counts: Ints, other_starts: Ints, other_cells: Cells, other_counts: Ints
) -> int:
    """Return in how many (unit, cell) two sets of histograms differ; cells ascend in each unit, no zeros.

    Args:
        starts: ``starts[units + 1]``, where each unit's entries begin.
        cells: ``cells[entries]``, ascending in each unit.
        counts: ``counts[entries]``, none of them 0.
        other_starts: the same of the other histograms.
        other_cells: likewise.
        other_counts: likewise.
    """
    different = 0
    for unit in range(starts.shape[0] - 1):
        here, there = starts[unit], other_starts[unit]
        while here < starts[unit + 1] or there < other_starts[unit + 1]:
            mine = cells[here] if here < starts[unit + 1] else np.int32(2**31 - 1)
            theirs = other_cells[there] if there < other_starts[unit + 1] else np.int32(2**31 - 1)
            if mine == theirs:
                different += counts[here] != other_counts[there]
                here += 1
                there += 1
            else:
                different += 1
                if mine < theirs:
                    here += 1
                else:
                    there += 1
    return different


@kernel
def allowed_cells(answer_of: NDArray[np.int32], upper: Ints, possible: NDArray[np.bool_], cells: Cells) -> Ints:
    """Return the starts of each unit's cells that may hold somebody, and fill them.

    Args:
        answer_of: ``int32[bounded queries, cells of the schema]``, the column of `upper` that bounds the cell, -1 for
            none.
        upper: ``int64[units, bounds]``.
        possible: ``bool[cells of the schema]``, False where nobody can be.
        cells: receives the cells; long enough for all cells of all units.
    """
    units = upper.shape[0]
    starts = np.zeros(units + 1, np.int64)
    end = 0
    for unit in range(units):
        for cell in range(possible.shape[0]):
            if not possible[cell]:
                continue
            free = True
            for query in range(answer_of.shape[0]):
                column = answer_of[query, cell]
                if column >= 0 and upper[unit, column] <= 0:
                    free = False
            if free:
                cells[end] = cell
                end += 1
        starts[unit + 1] = end
    return starts


@kernel
def count_pairs(
    these: tuple[Ints, Cells, Ints],
    those: tuple[Ints, Cells, Ints],
    answer_of: NDArray[np.int32],
    answers: int,
    table: Ints,
    rest: Ints,
) -> tuple[int, int]:
    """Count how often each pair of an answer from one set of histograms and from another occurs, over all their units.

    Args:
        these: starts, cells and positive counts of the one set.
        those: of the other.
        answer_of: ``int32[cells of the schema]``, -1 where the query omits the cell.
        answers: of the query.
        table: ``int64[side, side]``, added to: pairs of answers below `side`.
        rest: ``int64[2, >= entries of both]``, receives the other pairs.

    Returns:
        how many other pairs there are, and the sum over the units of the largest difference in one answer.
    """
    starts, cells, counts = these
    other_starts, other_cells, other_counts = those
    side = table.shape[0]
    units = starts.shape[0] - 1
    sums = np.zeros((answers, 2), np.int64)
    touched = np.empty(answers, np.int64)
    end = 0
    differences = 0
    for unit in range(units):
        used = 0
        for entry in range(starts[unit], starts[unit + 1]):
            answer = answer_of[cells[entry]]
            if answer < 0:
                continue
            if sums[answer, 0] == 0:
                touched[used] = answer
                used += 1
            sums[answer, 0] += counts[entry]
        for entry in range(other_starts[unit], other_starts[unit + 1]):
            answer = answer_of[other_cells[entry]]
            if answer < 0:
                continue
            if sums[answer, 0] == 0 and sums[answer, 1] == 0:
                touched[used] = answer
                used += 1
            sums[answer, 1] += other_counts[entry]
        largest = 0
        for place in range(used):
            answer = touched[place]
            one, other = sums[answer, 0], sums[answer, 1]
            largest = max(largest, abs(one - other))
            if one < side and other < side:
                table[one, other] += 1
            else:
                rest[0, end] = one
                rest[1, end] = other
                end += 1
            sums[answer, 0] = 0
            sums[answer, 1] = 0
        table[0, 0] += answers - used
        differences += largest
    return end, differences
