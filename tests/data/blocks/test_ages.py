from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.ages import with_ages
from phexplore.data.blocks.aggregation import add_answers
from phexplore.errors import PhexploreError
from phexplore.workload.queries import parse_query


def table(population, name):
    query = parse_query(population.schema, name)
    return add_answers(population, query, np.arange(population.blocks), population.blocks)


def test_that_every_margin_of_the_full_schema_is_kept_and_nobody_breaks_a_rule(synthetic_full):
    made = with_ages(synthetic_full, 3)
    margin = "hhgq * votingage * hispanic * cenrace"
    assert (table(made, margin) == table(synthetic_full, margin)).all()
    assert not made.schema.structurally_empty()[made.cells].any()
    assert made.facilities is not None
    assert (made.facilities == synthetic_full.facilities).all()


def test_that_a_seed_decides(synthetic_full):
    one, two, other = (with_ages(synthetic_full, seed) for seed in (3, 3, 4))
    assert one.cells.tolist() == two.cells.tolist()
    assert one.cells.tolist() != other.cells.tolist()


def test_that_other_schemas_and_negative_seeds_are_refused(synthetic, synthetic_full):
    with pytest.raises(ValueError, match="pl94_persons"):
        with_ages(synthetic, 1)
    with pytest.raises(PhexploreError):
        with_ages(synthetic_full, -1)
