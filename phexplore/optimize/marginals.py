"""Kernels: the measured marginals of one parent's support as a forest of sums.

The unknowns of a subproblem are the counts of `columns` (cells of the parent's support, or groups of them) in every
child. A measured query adds up columns; a coarse query adds up the answers of a finer one where it can. So the product
with the quadratic form H = Σ_q w_q Q_q'Q_q costs two passes over a list of edges, whatever the schema. Rows that would
add up a single finer row are not made: their weight and measurement go to that row, which also improves the condition
number.

All arrays over (row, child) are C-ordered with the children last, padded with zeros to a multiple of `LANE`.

Args:
    columns: how many columns there are.
    rows: columns and coarser rows together.
    counts: numbers of columns and rows.
    forest: the sums of the stage.
    sums: ``sums[rows, width]``, one value per row and child.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phexplore.compiled import float_kernel, lean_kernel, woven_kernel
from phexplore.optimize.lanes import LANE, alike, fetch, load, minus, plus, store, times

AHEAD = 4
"""Children whose measured answers are asked for before they are read."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Tables(NamedTuple):
    """The plan of one level as arrays; see `phexplore.optimize.plan`.

    A stage is one least squares pass. Its nodes are the measured queries of its objective, finest first; a node's
    source is the finer node it is summed from, or -1 for the columns.

    Attributes:
        answer_of: ``int32[queries, cells]``, answer of each query per cell, -1 where omitted.
        answers: ``int64[queries]``, number of answers.
        stamp_start: ``int64[queries + 1]``, first answer of each query in arrays over all answers.
        stage_nodes: ``int64[stages + 1]``, first node of each stage.
        node_query: ``int64[nodes]``, row of `answer_of`.
        node_source: ``int64[nodes]``, node within the stage, or -1.
        node_weight: ``int64[nodes]``, column of the weights.
        node_answer: ``int64[nodes]``, first column of the measured answers.
        column_of: ``int32[stages, cells]``, the column a cell belongs to.
        columns: ``int64[stages]``, number of columns, before restriction to a support.
        class_of: ``int32[stages, cells]``, cells of one class are treated alike by all bounds of the stage.
        classes: ``int64[stages]``, number of classes.
        stage_margins: ``int64[stages + 1]``, first bounded margin of each stage.
        margin_query: ``int64[margins]``, row of `answer_of`.
        margin_kind: ``int64[margins]``, 0 bounded per child by the data, 1 held from an earlier stage,
            2 bounded per group of children.
        margin_start: ``int64[margins]``, first column of the bounds, or first row of the held answers.
        stage_holds: ``int64[stages + 1]``, first margin held after each stage.
        hold_query: ``int64[holds]``, row of `answer_of`.
        hold_start: ``int64[holds]``, first row of the held answers.
    """

    answer_of: npt.NDArray[np.int32]
    answers: Ints
    stamp_start: Ints
    stage_nodes: Ints
    node_query: Ints
    node_source: Ints
    node_weight: Ints
    node_answer: Ints
    column_of: npt.NDArray[np.int32]
    columns: Ints
    class_of: npt.NDArray[np.int32]
    classes: Ints
    stage_margins: Ints
    margin_query: Ints
    margin_kind: Ints
    margin_start: Ints
    stage_holds: Ints
    hold_query: Ints
    hold_start: Ints


class Forest(NamedTuple):
    """Buffers for the sums of one stage; the first rows are the columns themselves.

    Attributes:
        edge_from: finer rows that add up to a coarser one, coarser row by coarser row, in an order that needs one pass.
        edge_start: where the edges of each coarser row begin; those of the columns are not used.
        entry_row: row that carries a measured answer.
        entry_answer: column of the measured answers.
        entry_weight: column of the weights.
        item_cell, item_row, item_count, item_answer: scratch per (node, answer).
        node_item: scratch, first item per node.
        above_start, above_row: rows that contain each column, for descent column by column.
        out_start: scratch, first outgoing edge per row.
        size: number of columns in each row.
    """

    edge_from: Ints
    edge_start: Ints
    entry_row: Ints
    entry_answer: Ints
    entry_weight: Ints
    item_cell: Ints
    item_row: Ints
    item_count: Ints
    item_answer: Ints
    node_item: Ints
    above_start: Ints
    above_row: Ints
    out_start: Ints
    out_row: Ints
    size: Floats


@float_kernel
def allocate_forest(columns: int, nodes: int) -> Forest:
    """Return buffers for at most so many columns and nodes.

    Args:
        columns: most columns.
        nodes: of the stage.
    """
    items = columns * (nodes + 1)
    return Forest(
        np.empty(items, np.int64),
        np.empty(items + 2, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(items, np.int64),
        np.empty(nodes + 2, np.int64),
        np.empty(columns + 1, np.int64),
        np.empty(items, np.int64),
        np.empty(items + 2, np.int64),
        np.empty(items, np.int64),
        np.empty(items + 1, np.float64),
    )


@lean_kernel
def plant(
    tables: Tables, stage: int, columns: int, cell_of_column: Ints, stamp: Ints, place: Ints, tag: int, forest: Forest
) -> tuple[int, int]:
    """Lay out rows and edges of a stage on a support; return the numbers of rows and entries.

    Args:
        cell_of_column: ``int64[columns]``, one cell of each column.
        stamp, place: ``int64[all answers]``, scratch; stamps below `tag` are old.
        tag: larger than every stamp; stamps up to ``tag + nodes`` are used.
    """
    for column in range(columns):
        forest.item_cell[column] = cell_of_column[column]
        forest.item_row[column] = column
        forest.size[column] = 1.0
    rows = columns
    items = columns
    edges = 0
    entries = 0
    forest.edge_start[columns] = 0
    first = tables.stage_nodes[stage]
    for node in range(first, tables.stage_nodes[stage + 1]):
        query = tables.node_query[node]
        answer_of = tables.answer_of[query]
        start = tables.stamp_start[query]
        source = tables.node_source[node]
        begin, end = 0, columns
        if source >= 0:
            begin, end = forest.node_item[source], forest.node_item[source + 1]
        if node == first:
            forest.node_item[0] = items
        own = items
        for item in range(begin, end):
            answer = answer_of[forest.item_cell[item]]
            if answer < 0:
                continue
            key = start + answer
            if stamp[key] == tag:
                forest.item_count[place[key]] += 1
                continue
            stamp[key] = tag
            place[key] = items
            forest.item_cell[items] = forest.item_cell[item]
            forest.item_row[items] = forest.item_row[item]
            forest.item_count[items] = 1
            forest.item_answer[items] = answer
            items += 1
        for item in range(own, items):
            if forest.item_count[item] > 1:
                forest.item_row[item] = rows
                forest.size[rows] = 0.0
                rows += 1
                forest.edge_start[rows] = edges  # moves to the end of this row, where the next one begins
                edges += forest.item_count[item]
            forest.entry_row[entries] = forest.item_row[item]
            forest.entry_answer[entries] = tables.node_answer[node] + forest.item_answer[item]
            forest.entry_weight[entries] = tables.node_weight[node]
            entries += 1
        if items - own < end - begin:  # otherwise every row is a single finer row
            for item in range(begin, end):
                answer = answer_of[forest.item_cell[item]]
                if answer >= 0 and forest.item_count[place[start + answer]] > 1:
                    source_row, row = forest.item_row[item], forest.item_row[place[start + answer]]
                    forest.edge_from[forest.edge_start[row + 1]] = source_row
                    forest.edge_start[row + 1] += 1
                    forest.size[row] += forest.size[source_row]
        forest.node_item[node - first + 1] = items
        tag += 1
    return rows, entries


@lean_kernel
def list_rows_above(columns: int, rows: int, forest: Forest) -> None:
    """List, for every column, the rows that contain it.

    Args:
        columns, rows: how many the forest has.
        forest: whose `above_start` and `above_row` are filled.
    """
    out_start, out_row = forest.out_start, forest.out_row
    for row in range(rows + 1):
        out_start[row] = 0
    edges = forest.edge_start[rows]
    for edge in range(edges):
        out_start[forest.edge_from[edge] + 1] += 1
    for row in range(rows):
        out_start[row + 1] += out_start[row]
    for coarse in range(columns, rows):
        for edge in range(forest.edge_start[coarse], forest.edge_start[coarse + 1]):
            row = forest.edge_from[edge]
            out_row[out_start[row]] = coarse
            out_start[row] += 1
    for row in range(rows, 0, -1):
        out_start[row] = out_start[row - 1]
    out_start[0] = 0
    used = 0
    for column in range(columns):
        forest.above_start[column] = used
        for slot in range(out_start[column], out_start[column + 1]):
            forest.above_row[used] = out_row[slot]
            used += 1
        seen = forest.above_start[column]
        while seen < used:
            row = forest.above_row[seen]
            for slot in range(out_start[row], out_start[row + 1]):
                forest.above_row[used] = out_row[slot]
                used += 1
            seen += 1
    forest.above_start[columns] = used


@woven_kernel
def add_up(sums: Floats, columns: int, rows: int, forest: Forest) -> None:
    """Fill the coarser rows of ``sums[rows, children]`` from its first `columns` rows.

    Args:
        sums: ``sums[rows, width]``, its first `columns` rows given.
    """
    for row in range(columns, rows):
        edges = range(forest.edge_start[row], forest.edge_start[row + 1])
        for child in range(0, sums.shape[1], LANE):
            found = alike(0.0)
            for edge in edges:
                found = plus(found, load(sums, forest.edge_from[edge], child))
            store(sums, row, child, found)


@woven_kernel
def hand_down(sums: Floats, columns: int, rows: int, forest: Forest) -> None:
    """Add every coarser row of ``sums[rows, children]`` to the finer rows it consists of, down to the columns.

    Args:
        sums: ``sums[rows, width]``, changed in place.
    """
    for row in range(rows - 1, columns - 1, -1):
        edges = range(forest.edge_start[row], forest.edge_start[row + 1])
        for child in range(0, sums.shape[1], LANE):
            more = load(sums, row, child)
            for edge in edges:
                finer = forest.edge_from[edge]
                store(sums, finer, child, plus(load(sums, finer, child), more))


@woven_kernel
def gradient(
    point: Floats, weight: Floats, pull: Floats, sums: Floats, counts: tuple[int, int], forest: Forest
) -> None:
    """Leave ``Σ_q Q_q'(w_q Q_q x - pull_q)``, half the gradient of the objective, in the first rows of `sums`.

    Args:
        point: x, ``float64[columns, children]``.
        weight: ``float64[rows, children]``, inverse variances summed per row.
        pull: ``float64[rows, children]``, inverse variance times measured answer, summed per row.
        counts: numbers of columns and rows.
    """
    columns, rows = counts
    width = point.shape[1]
    for column in range(columns):
        for child in range(0, width, LANE):
            store(sums, column, child, load(point, column, child))
    add_up(sums, columns, rows, forest)
    for row in range(rows):
        for child in range(0, width, LANE):
            slope = minus(times(load(weight, row, child), load(sums, row, child)), load(pull, row, child))
            store(sums, row, child, slope)
    hand_down(sums, columns, rows, forest)


@woven_kernel
def fetch_answers(narrow: npt.NDArray[np.int32], answers: Floats, line: int, entries: int, forest: Forest) -> None:
    """Ask for the measured answers of one child before they are read: they lie far apart, in memory nothing else reads.

    Args:
        narrow, answers: as in `weigh`.
        line: number of the child among all.
        entries: how many measured answers the forest has.
    """
    for entry in range(entries):
        if narrow.shape[0] > 0:
            fetch(narrow, line, forest.entry_answer[entry])
        else:
            fetch(answers, line, forest.entry_answer[entry])


@woven_kernel
def weigh(
    narrow: npt.NDArray[np.int32],
    answers: Floats,
    weights: Floats,
    first_child: int,
    children: int,
    entries: int,
    forest: Forest,
    weight: Floats,
    pull: Floats,
) -> None:
    """Fill weight and pull of every row from the measurements of the children; those of the first `AHEAD` were asked for.

    Args:
        narrow: ``int32[all children, all answers]``, empty where `answers` holds them.
        answers: ``float64[all children, all answers]``.
        weights: ``float64[all children, measured queries]``, inverse variances; 0 where not measured.
        weight, pull: ``float64[rows, padded children]``, zero on entry.
    """
    for child in range(children):
        line = first_child + child
        if child + AHEAD < children:
            fetch_answers(narrow, answers, line + AHEAD, entries, forest)
        inverse_variance = weights[first_child + child]
        for entry in range(entries):
            factor = inverse_variance[forest.entry_weight[entry]]
            row = forest.entry_row[entry]
            weight[row, child] += factor
            answer = forest.entry_answer[entry]
            measured = float(narrow[line, answer]) if narrow.shape[0] > 0 else answers[line, answer]
            pull[row, child] += factor * measured


@lean_kernel
def metrics(
    weight: Floats, sums: Floats, row_sums: Floats, diagonal: Floats, counts: tuple[int, int], forest: Forest
) -> None:
    """Fill, per column, the largest row sum and the largest diagonal entry of H over the children.

    diag(row sums) - H is positive semidefinite because H has no negative entry: for every x it equals
    Σ_{c<d} H_cd (x_c - x_d)². So the row sums are a metric in which the objective has curvature at most 1.

    Args:
        weight: ``weight[rows, width]``, inverse variances summed per row.
        sums: ``sums[rows, width]``, scratch.
        row_sums: ``row_sums[columns]``, receives the largest row sums.
        diagonal: ``diagonal[columns]``, receives the largest diagonal entries.
    """
    columns, rows = counts
    width = weight.shape[1]
    for power in range(2):
        for row in range(rows):
            factor = forest.size[row] if power == 0 else 1.0
            for child in range(width):
                sums[row, child] = factor * weight[row, child]
        hand_down(sums, columns, rows, forest)
        target = row_sums if power == 0 else diagonal
        for column in range(columns):
            largest = 0.0
            for child in range(width):
                largest = max(largest, sums[column, child])
            target[column] = largest
