"""The tuner on simulated TopDown runs over a small synthetic state."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from topdown_worlds import PERSONS, blocks

from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.systems.topdown.tuning import Tuner, TuningError
from phexplore.systems.topdown.tuning_runs import SimulatedCriterion

RULE = replace(REDISTRICTING, least_people=100)


@pytest.fixture(scope="module")
def criterion():
    return SimulatedCriterion(blocks(60), PERSONS, ("County", "Tract"), RULE)


def test_that_without_noise_every_area_keeps_its_largest_group(criterion):
    assert criterion(dict.fromkeys(criterion.levels)) == (1.0, True)


def test_that_little_budget_breaks_the_criterion_and_the_same_setting_gives_the_same_share(criterion):
    little = dict.fromkeys(criterion.levels, Fraction(1, 10**5))
    value, meets = criterion(little)
    assert (value < 0.95, meets) == (True, False)
    assert criterion(little) == (value, meets)


def test_that_pooled_answers_meet_the_criterion_with_less_and_exact_levels_are_not_pooled(criterion):
    pooled = replace(criterion, judged=("Tract",), trials=6, is_pooled=True)
    plain = replace(pooled, is_pooled=False)
    little = dict.fromkeys(criterion.levels, Fraction(1, 500))
    assert pooled(little)[0] > plain(little)[0]
    # Only its tracts are noisy: what is measured exactly below them must not help them.
    alone = {level: little[level] if level == "Tract" else None for level in criterion.levels}
    assert pooled(alone) == plain(alone)


@pytest.mark.slow
def test_that_the_procedure_finds_budgets_that_meet_the_criterion(criterion):
    found = Tuner(criterion.levels, criterion, start=Fraction(1, 50)).run()
    assert criterion(dict(found.budgets))[1]
    assert set(found.budgets) == set(criterion.levels)
    assert found.probes[0].value == 1.0


def test_that_what_cannot_be_judged_is_refused():
    with pytest.raises(TuningError, match="Moon is not a level"):
        SimulatedCriterion(blocks(60), PERSONS, ("Moon",))
    with pytest.raises(TuningError, match="largest group is kept"):
        SimulatedCriterion(blocks(60), PERSONS, ("Tract",), Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(1)))
    nobody = SimulatedCriterion(blocks(60), PERSONS, ("Block",), replace(RULE, least_people=10**9))
    with pytest.raises(TuningError, match="No area of the judged levels"):
        nobody(dict.fromkeys(nobody.levels))
