from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from phexplore.data.blocks.aggregation import add_answers, add_rows, answers_at, answers_by_place, units_of
from phexplore.data.blocks.population import from_dense
from phexplore.errors import UnknownNameError
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema


@pytest.mark.parametrize("level", ["US", "State", "County", "Tract", "Block_Group", "Block"])
def test_that_units_of_every_level_are_the_distinct_prefixes(synthetic, level):
    units = units_of(synthetic, level)
    prefixes = synthetic.layout.prefixes(synthetic.geoids, level).tolist()
    assert units.codes.tolist() == sorted(set(prefixes))
    assert [units.codes[unit] for unit in units.of_leaf] == prefixes
    assert len(units.of_leaf) == synthetic.blocks


@pytest.mark.parametrize("level", ["US", "County", "Tract", "Block_Group", "Block"])
@pytest.mark.parametrize("name", ["total", "hhgq", "gqlevels", "hispanic * majorRaces", "votingage * hispanic"])
def test_that_answers_at_a_level_are_sums_of_dense_rows(synthetic_full, level, name):
    query = parse_query(synthetic_full.schema, name)
    expected = defaultdict(lambda: np.zeros(query.answers, np.int64))
    rows = query.tabulate(synthetic_full.dense(0, synthetic_full.blocks))
    for code, row in zip(synthetic_full.layout.prefixes(synthetic_full.geoids, level).tolist(), rows, strict=True):
        expected[code] += row
    assert answers_at(synthetic_full, query, level).tolist() == [expected[code].tolist() for code in sorted(expected)]


def test_that_places_are_added_without_the_blocks_in_none(rhode_island):
    query = parse_query(rhode_island.schema, "detailed")
    codes, table = answers_by_place(rhode_island, query, "place")
    assert len(codes) == 36
    dense, of = rhode_island.dense(0, rhode_island.blocks), rhode_island.places["place"]
    assert [row.tolist() for row in table] == [dense[of == code].sum(axis=0).tolist() for code in codes.tolist()]


def test_that_an_empty_population_has_no_units():
    schema = load_schema("pl94_reduced16")
    none = from_dense(schema, np.empty(0, "U15"), np.zeros((0, 16), int))
    assert len(units_of(none, "Tract")) == 0
    assert answers_at(none, parse_query(schema, "total"), "Tract").shape == (0, 1)
    assert add_rows(np.zeros((0, 2), int), units_of(none, "State")).shape == (0, 2)


def test_that_facilities_are_added_up(synthetic_full):
    units = units_of(synthetic_full, "Tract")
    expected = [synthetic_full.facilities[units.of_leaf == unit].sum(axis=0).tolist() for unit in range(len(units))]
    assert add_rows(synthetic_full.facilities, units).tolist() == expected


def test_that_queries_of_other_schemas_and_unknown_levels_are_refused(synthetic):
    with pytest.raises(ValueError, match="pl94_persons"):
        add_answers(synthetic, parse_query(load_schema("pl94_persons"), "total"), np.zeros(synthetic.blocks, int), 1)
    with pytest.raises(UnknownNameError, match="Blocks"):
        units_of(synthetic, "Blocks")
