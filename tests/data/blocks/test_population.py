from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.data.blocks.population import add_equal, from_dense, from_filled
from phexplore.workload.schema import load_schema

SCHEMA = load_schema("pl94_reduced16")
CODES = np.array(["440010301001000", "440010301001001", "440010301002000"])


def test_that_blocks_are_sorted_with_their_rows(two_blocks):
    assert two_blocks.geoids.tolist() == ["440010301001000", "440010301001001"]
    assert two_blocks.dense(0, 2).tolist() == [list(range(16, 32)), list(range(16))]
    assert two_blocks.totals().tolist() == [sum(range(16, 32)), sum(range(16))]
    assert two_blocks.total == sum(range(32))
    assert two_blocks.states == ("44",)


def test_that_extra_columns_follow_their_blocks():
    population = from_dense(
        SCHEMA,
        CODES[::-1],
        np.eye(3, 16, dtype=int),
        housing=np.array([[1, 1], [2, 2], [3, 3]]),
        places={"place": np.array(["c", "b", "a"])},
        remarks=("said",),
    )
    assert population.housing.tolist() == [[3, 3], [2, 2], [1, 1]]
    assert population.places["place"].tolist() == ["a", "b", "c"]
    assert population.remarks == ("said",)


def test_that_a_part_of_a_population_holds_its_blocks_only(synthetic_full):
    part = synthetic_full.part(100, 160)
    assert (part.dense(0, 60) == synthetic_full.dense(100, 160)).all()
    assert (part.facilities == synthetic_full.facilities[100:160]).all()
    assert part.geoids.tolist() == synthetic_full.geoids[100:160].tolist()


def test_that_a_population_crosses_a_process_border(synthetic_full, rhode_island):
    for population in (synthetic_full, rhode_island):
        copy = pickle.loads(pickle.dumps(population))  # noqa: S301 - our own bytes
        assert (copy.cells == population.cells).all()
        assert dict(copy.places).keys() == dict(population.places).keys()
        assert copy.schema == population.schema


def test_that_a_population_is_read_only(two_blocks):
    with pytest.raises(ValueError, match="read-only"):
        two_blocks.counts[0] = 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"geoids": CODES[[0, 0, 1]]}, "ascend"),
        ({"counts": np.array([1, 0, 1], np.int32)}, "at least 1"),
        ({"cells": np.array([1, 2, 16], np.int32)}, "between 0 and 15"),
        ({"starts": np.array([0, 1, 2, 4])}, "do not fit"),
        ({"housing": np.zeros((2, 2), np.int32)}, "housing has 2 rows for 3 blocks"),
    ],
)
def test_that_an_impossible_population_is_refused(change, message):
    whole = {
        "schema": SCHEMA,
        "geoids": CODES,
        "starts": np.array([0, 1, 2, 3]),
        "cells": np.array([1, 2, 3], np.int32),
        "counts": np.array([1, 1, 1], np.int32),
    }
    population = type(from_dense(SCHEMA, CODES, np.eye(3, 16, dtype=int)))
    with pytest.raises(ValueError, match=message):
        population(**{**whole, **change})


def test_that_negative_counts_are_refused():
    with pytest.raises(ValueError, match="-1"):
        from_dense(SCHEMA, CODES, -np.eye(3, 16, dtype=int))
    with pytest.raises(ValueError, match="-2"):
        from_filled(SCHEMA, CODES, rows=np.array([0]), cells=np.array([0]), counts=np.array([-2]))


@pytest.mark.parametrize("width", [16, 2**61], ids=["as one number", "too wide for one number"])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 15), st.integers(0, 9)), max_size=40))
def test_that_equal_entries_are_added(width, entries):
    rows, cells, counts = (
        np.array(column, np.int64) for column in (zip(*entries, strict=True) if entries else ((), (), ()))
    )
    expected: dict[tuple[int, int], int] = {}
    for row, cell, count in entries:
        expected[row, cell] = expected.get((row, cell), 0) + count
    found = add_equal(rows, cells, counts, width)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [
        (*key, expected[key]) for key in sorted(expected)
    ]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 15), st.integers(0, 9)), max_size=40))
def test_that_filled_cells_and_a_full_table_make_the_same_population(entries):
    table = np.zeros((3, 16), np.int64)
    for row, cell, count in entries:
        table[row, cell] += count
    rows, cells, counts = (
        np.array(column, np.int64) for column in (zip(*entries, strict=True) if entries else ((), (), ()))
    )
    sparse = from_filled(SCHEMA, CODES, rows=rows, cells=cells, counts=counts)
    assert (sparse.dense(0, 3) == table).all()
    assert (sparse.cells == from_dense(SCHEMA, CODES, table).cells).all()
