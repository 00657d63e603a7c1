import numpy as np
import pytest
from topdown_worlds import blocks, full

from phexplore.simulate.topdown.histograms import Histograms, histograms_of, joined, sums_up
from phexplore.workload.queries import parse_query


def dense(histograms, width):
    table = np.zeros((histograms.units, width), np.int64)
    rows = np.repeat(np.arange(histograms.units), np.diff(histograms.starts))
    table[rows, histograms.cells] = histograms.counts
    return table


def sparse(table):
    rows, cells = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))]).astype(np.int64)
    return Histograms(starts, cells.astype(np.int32), table[rows, cells])


def test_that_sums_up_the_tree_are_those_of_the_dense_tables(full_world):
    width = full_world.design.schema.cells
    leaves = full_world.truth[-1]
    table = dense(leaves, width)
    for level, found in zip(full_world.tree.levels, sums_up(leaves, full_world.tree, width), strict=True):
        assert (dense(found, width) == np.add.reduceat(table, level.first_block[:-1], axis=0)).all()
        assert all((np.diff(found.part(unit, unit + 1).cells) > 0).all() for unit in range(found.units))


def test_that_answers_are_those_of_the_query():
    population = full()
    query = parse_query(population.schema, "hhinstlevels * hispanic")
    expected = query.tabulate(population.dense(0, population.blocks))
    assert (histograms_of(population).answers(query.cell_map(), query.answers) == expected).all()


def test_that_answers_leave_out_what_the_query_omits():
    population = full()
    query = parse_query(population.schema, "gqlevels")
    expected = query.tabulate(population.dense(0, population.blocks))
    assert (histograms_of(population).answers(query.cell_map(), query.answers) == expected).all()


def test_that_differences_are_counted_cell_by_cell():
    rng = np.random.default_rng(5)
    one, other = rng.integers(0, 3, (40, 7)), rng.integers(0, 3, (40, 7))
    assert sparse(one).differences(sparse(other)) == np.count_nonzero(one != other)
    assert sparse(one).differences(sparse(one)) == 0


def test_that_histograms_of_other_units_cannot_be_compared():
    with pytest.raises(ValueError, match="3 and 2 units"):
        sparse(np.ones((3, 2), np.int64)).differences(sparse(np.ones((2, 2), np.int64)))


def test_that_parts_joined_again_are_the_whole():
    whole = histograms_of(blocks())
    parts = [whole.part(0, 17), whole.part(17, 17), whole.part(17, 150)]
    again = joined(parts)
    assert (again.starts == whole.starts).all()
    assert again.differences(whole) == 0


def test_that_totals_are_those_of_the_population():
    population = blocks()
    assert (histograms_of(population).totals() == population.totals()).all()
