"""The tuning procedure on criteria whose answer is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.errors import CancelledError
from phexplore.systems.registry import preset
from phexplore.systems.topdown.tuning import STEP, Tuner, TuningError, starting_strategies, with_level_budgets

LEVELS = ("US", "State", "County")
PERSONS = preset("pl94-2020-persons-us").scenario.topdown


def criterion(allowed, weights):
    """Met when the sum of weighted variances 1/ρ is small enough: every level adds to the same errors."""
    calls = []

    def evaluate(budgets):
        calls.append(budgets)
        error = sum(weights[level] / float(budget) for level, budget in budgets.items() if budget is not None)
        return 1 - error, error <= allowed

    return evaluate, calls


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), st.floats(0.01, 10))
def test_that_every_level_alone_gets_the_smallest_budget_of_the_grid(weights, allowed):
    evaluate, _ = criterion(allowed, dict(zip(LEVELS, weights, strict=True)))
    found = Tuner(LEVELS, evaluate).run()
    for level, weight in zip(LEVELS, weights, strict=True):
        assert weight / float(found.alone[level]) <= allowed
        assert weight / float(found.alone[level] / STEP) > allowed


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3), st.floats(0.01, 10))
def test_that_together_they_meet_the_criterion_and_keep_their_proportions_as_they_grow(weights, allowed):
    evaluate, _ = criterion(allowed, dict(zip(LEVELS, weights, strict=True)))
    found = Tuner(LEVELS, evaluate).run()
    assert evaluate(dict(found.budgets))[1]
    assert found.total == sum(found.budgets.values())
    assert all(found.budgets[level] >= found.alone[level] for level in LEVELS)
    assert found.budgets["US"] / found.budgets["State"] >= found.alone["US"] / found.alone["State"]
    assert all(probe.total < found.total and probe.meets for probe in found.smaller)


def test_that_no_setting_is_simulated_twice_and_an_interrupted_search_goes_on():
    weights = dict.fromkeys(LEVELS, 1.0)
    evaluate, calls = criterion(0.5, weights)
    whole = Tuner(LEVELS, evaluate).run()
    assert len(calls) == len({tuple(call.items()) for call in calls}) == len(whole.probes)
    stored = []
    left = iter(range(7))

    def interrupted(budgets):
        if next(left, None) is None:
            raise CancelledError("paused")
        return evaluate(budgets)

    with pytest.raises(CancelledError):
        Tuner(LEVELS, interrupted, on_probe=stored.append).run()
    assert len(stored) == 7
    before = len(calls)
    again = Tuner(LEVELS, evaluate, on_probe=stored.append)
    again.resume(stored[:7])
    assert again.run() == whole
    assert len(calls) - before == len(whole.probes) - 7
    assert tuple(stored) == whole.probes


def test_that_a_criterion_nobody_can_meet_is_a_sentence():
    with pytest.raises(TuningError, match="even without any noise"):
        Tuner(LEVELS, lambda _: (0.0, False)).run()
    with pytest.raises(TuningError, match="No budget of US"):
        Tuner(LEVELS, lambda budgets: (0.0, all(b is None for b in budgets.values()))).run()


def test_that_there_are_six_starting_strategies_each_with_whole_columns():
    found = starting_strategies(PERSONS)
    assert len(found) == 6
    for method in found.values():
        for level in method.levels:
            assert sum(share for key, share in method.query_shares.items() if key.level == level) == 1
    square = found["as published, square"].query_shares
    detailed = {key: share for key, share in square.items() if key.query == "detailed"}
    assert min(detailed.values()) > Fraction(9, 10)  # almost all of the budget, as the paper says
    assert {key.query for key in found["collapsed, uniform"].query_shares} == {
        "detailed", "votingage * hispanic * cenrace", "hispanic * cenrace",
    }  # fmt: skip
    with pytest.raises(TuningError, match="not measured"):
        starting_strategies(PERSONS, ["tenure"])


def test_that_level_budgets_become_shares_exactly():
    budgets = {level: Fraction(number, 7) for number, level in enumerate(PERSONS.levels, start=1)}
    method = with_level_budgets(PERSONS, budgets)
    assert method.total == 3
    assert {level: method.total * method.level_shares[level] for level in method.levels} == budgets
    with pytest.raises(TuningError):
        with_level_budgets(PERSONS, {"US": Fraction(1)})
