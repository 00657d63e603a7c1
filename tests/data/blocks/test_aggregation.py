from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from phexplore.data.blocks.aggregation import add_answers, units_of
from phexplore.data.blocks.population import from_dense
from phexplore.data.blocks.published_tables import published_tables, tabulate
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
    units = units_of(synthetic_full, level)
    found = add_answers(synthetic_full, query, units.of_leaf, len(units))
    assert found.tolist() == [expected[code].tolist() for code in sorted(expected)]


def test_that_an_empty_population_has_no_units():
    schema = load_schema("pl94_reduced16")
    none = from_dense(schema, np.empty(0, "U15"), np.zeros((0, 16), int))
    assert len(units_of(none, "Tract")) == 0
    for table in published_tables(schema.id):
        (filled,) = tabulate(none, table, ["Tract"])
        assert filled.counts.shape == (0, len(table.cells))


def test_that_queries_of_other_schemas_and_unknown_levels_are_refused(synthetic):
    with pytest.raises(ValueError, match="pl94_persons"):
        add_answers(synthetic, parse_query(load_schema("pl94_persons"), "total"), np.zeros(synthetic.blocks, int), 1)
    with pytest.raises(UnknownNameError, match="Blocks"):
        units_of(synthetic, "Blocks")
