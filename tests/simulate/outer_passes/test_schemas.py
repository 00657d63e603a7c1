"""The schemas of the DHC as data, and partitions of their cells."""

from __future__ import annotations

import numpy as np
import pytest
from outer_small import PUBLISHED, TWO, query

from phexplore.optimize.plan import PlanError
from phexplore.simulate.outer_passes.descent import passes_of
from phexplore.simulate.outer_passes.partitions import of_cells, possible_answers, projection
from phexplore.simulate.outer_passes.plan import Held, outer_passes
from phexplore.simulate.topdown.design import make_design
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import load_schema


@pytest.mark.parametrize(("schema", "zeros", "free"), [("dhc_persons", 32, 905_184), ("dhc_households", 22, 1_111_572)])
def test_structural_zeros_leave_the_free_cells_of_production(schema, zeros, free):
    found = load_schema(schema)
    assert len(found.structural_zeros) == zeros
    assert int((~found.structurally_empty()).sum()) == free


def test_free_classes_of_persons_are_those_of_production():
    schema = load_schema("dhc_persons")
    names = tuple(zero.name for zero in schema.structural_zeros)
    fine = parse_query(schema, "relgq * age_40_groups * hispanic * cenrace * sex")
    assert fine.answers == 423_360
    assert len(possible_answers(fine, names)) == 283_248


@pytest.mark.parametrize("name", ["hhgq8lev * votingage", "sex", "detailed", "total", "facility_type * age_10_groups"])
def test_projections_are_the_maps_of_all_cells(name):
    schema = load_schema("dhc_persons")
    asked = parse_query(schema, name)
    cells = np.random.default_rng(1).integers(0, schema.cells, 5000)
    assert (of_cells(schema, asked)(cells) == asked.cell_map()[cells]).all()
    with pytest.raises(ValueError, match="does not determine"):
        projection(parse_query(schema, "sex"), parse_query(schema, "age"))


@pytest.mark.parametrize(
    "preset", ["dhc-2020-persons-us", "dhc-2020-units-us", "dhc-2020-persons-pr", "dhc-2020-units-pr"]
)
def test_presets_have_the_passes_of_production(preset):
    method = topdown_presets()[preset].scenario.topdown
    design = make_design(
        method,
        load_schema(method.schema),
        method.levels,
        lambda b: noise_of(method.framework, b)[0],
        has_facilities=True,
    )
    assert design.spent == method.total
    persons = method.schema == "dhc_persons"
    assert len(design.levels[0].zeros) == (32 if persons else 22)
    for level in design.levels:
        passes = passes_of(level)
        assert len(passes) == (2 if persons else 3)
        assert passes[-1].is_last
        assert [len(each.measured) for each in passes] == ([9, 1] if persons else [1, 6, 3])
        assert [each.held.query.answers for each in passes] == ([2016, 423_360] if persons else [26, 3, 15_372])
        assert sum(len(each.measured) for each in passes) == len(level.measured)


def test_orders_that_cannot_be_carried_out_are_refused():
    order = TWO[0]
    with pytest.raises(PlanError, match="determines all others"):
        outer_passes(((order[0][:2], order[1][:2]), TWO[1]), (Held(PUBLISHED),))
    with pytest.raises(PlanError, match="neither adds up"):
        outer_passes(((order[0], (query("kin * sex * ages5"), query("kin"))), TWO[1]), (Held(PUBLISHED),))
    with pytest.raises(PlanError, match="No pass determines the cells"):
        outer_passes(TWO[:1], (Held(PUBLISHED),))
