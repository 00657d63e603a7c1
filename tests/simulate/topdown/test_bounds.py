import numpy as np

from phexplore.simulate.topdown.bounds import facility_bounds, unit_bounds
from phexplore.workload.schema import load_schema

BOUNDS = load_schema("pl94_persons").facility_bounds


def test_that_facilities_hold_one_person_and_households_none():
    least, most = facility_bounds(BOUNDS, np.array([[4, 0, 2, 0, 0, 0, 0, 1]]), None)
    assert least.tolist() == [[0, 0, 2, 0, 0, 0, 0, 1]]
    assert most.tolist() == [[399_996, 0, 199_998, 0, 0, 0, 0, 99_999]]


def test_that_a_kept_total_leaves_room_for_the_others():
    least, most = facility_bounds(BOUNDS, np.array([[4, 0, 2, 0, 0, 0, 0, 1]]), np.array([50]))
    assert least.tolist() == [[0, 0, 2, 0, 0, 0, 0, 1]]
    assert most.tolist() == [[47, 0, 49, 0, 0, 0, 0, 48]]


def test_that_a_lone_type_holds_everybody():
    least, most = facility_bounds(BOUNDS, np.array([[0, 0, 0, 3, 0, 0, 0, 0]]), np.array([70]))
    assert least[0, 3] == most[0, 3] == 70
    assert most.sum() == 70


def test_that_the_truth_of_every_level_lies_within_its_bounds(full_world):
    for level, truth, lower, upper in zip(
        full_world.design.levels, full_world.truth, full_world.lower, full_world.upper, strict=True
    ):
        for query, start in level.plan.bound_start.items():
            answers = truth.answers(query.cell_map(), query.answers)
            assert (answers >= lower[:, start : start + query.answers]).all()
            assert (answers <= upper[:, start : start + query.answers]).all()


def test_that_totals_are_bounded_from_both_sides(full_world):
    level = full_world.design.levels[0]
    facilities = np.array([[5, 0, 0, 0, 0, 0, 0, 0]])
    lower, upper = unit_bounds(level, 1, facilities, np.array([12]))
    assert lower[0, 0] == upper[0, 0] == 12
