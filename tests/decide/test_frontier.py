"""The trade-off against a general solver, and its points as legal scenarios."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from phexplore.decide.frontier import (
    FrontierError,
    Weighting,
    best_budgets,
    frontier,
    priced_queries,
)
from phexplore.model.edits import set_field, set_item
from phexplore.model.issues import has_errors
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import parse_level_query
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.registry import budgets_of, check, preset
from phexplore.systems.topdown.budget_model import shares_of, total_with_scale
from phexplore.systems.topdown.ini_writing import exact_scale

CHILDREN = parse_query("PH3/state_A-G")
PERSONS = "pl94-2020-persons-us"


def weighted(queries, budgets):
    return sum(q.weight * (q.area / float(budgets[q.key])) ** 0.5 for q in queries)


@pytest.mark.parametrize("weighting", Weighting)
def test_that_the_best_budgets_are_those_of_a_general_solver(us, weighting):
    queries = priced_queries(us, weighting)[:8]
    total = sum(query.budget for query in queries)
    ours = weighted(queries, best_budgets(queries, total))
    areas, weights = np.array([q.area for q in queries]), np.array([q.weight for q in queries])

    def cost(logits):
        shares = np.exp(logits - logits.max())
        return float(weights @ np.sqrt(areas / (float(total) * shares / shares.sum())))

    theirs = minimize(cost, np.zeros(len(queries)), method="BFGS", options={"gtol": 1e-10})
    assert ours == pytest.approx(theirs.fun, rel=1e-6)
    assert ours <= theirs.fun * (1 + 1e-9)


@pytest.mark.parametrize("name", ["sdhc-2020-us", "sdhc-2020-pr", PERSONS])
def test_that_every_point_is_a_scenario_that_spends_no_more_than_it_says(name):
    scenario = preset(name).scenario
    found = frontier(scenario)
    assert len(found.points) == 9
    totals = [point.total for point in found.points]
    assert totals == sorted(totals)
    for point in found.points:
        assert not has_errors(check(point.scenario))
        assert budgets_of(point.scenario).total == point.total
    margins = [point.weighted_margin for point in found.points]
    assert margins == sorted(margins, reverse=True)
    assert margins[0] / margins[-1] == pytest.approx(4, rel=0.02)  # a quarter to four times: 1/√R


def test_that_with_its_own_weights_a_scenario_is_on_the_curve(us):
    found = frontier(us, weighting=Weighting.PRESENT)
    assert found.best_margin == pytest.approx(found.present_margin, rel=1e-9)
    assert found.waste == pytest.approx(0, abs=1e-9)
    same = frontier(us, weighting=Weighting.PRESENT, factors=[Fraction(1)]).points[0].scenario
    for query, budget in us.phsafe.budgets.items():
        assert budget - Fraction(2, 10**6) <= same.phsafe.budgets[query] <= budget


@pytest.mark.parametrize("is_locked", [False, True])
def test_that_other_weights_show_what_could_be_saved(us, is_locked):
    """What locked budgets spend cannot be saved; they also keep their part of the margin."""
    scenario = set_item(us, "locks", CHILDREN, value=is_locked)
    found = frontier(scenario, weighting=Weighting.PEOPLE)
    assert 0 < found.waste < (0.48 if is_locked else 1)
    saved = frontier(scenario, weighting=Weighting.PEOPLE, factors=[Fraction(1 - found.waste)]).points[0]
    assert saved.weighted_margin == pytest.approx(found.present_margin, rel=1e-2)


def test_that_locked_budgets_do_not_move(us):
    locked = set_item(us, "locks", CHILDREN, value=True)
    for point in frontier(locked, factors=[Fraction(3, 4), Fraction(2)]).points:
        assert point.scenario.phsafe.budgets[CHILDREN] == us.phsafe.budgets[CHILDREN]
    assert frontier(locked, factors=[Fraction(1, 4)]).points == ()


@pytest.mark.parametrize("text", ["State/total", "County/hispanic", "Block/votingage"])
def test_that_locked_budgets_of_topdown_do_not_move_by_rounding(text):
    key = parse_level_query(text)
    locked = set_item(preset(PERSONS).scenario, "locked_queries", key, value=True)
    held = locked.topdown.budget(key)
    for point in frontier(locked, weighting=Weighting.PEOPLE, factors=[Fraction(1, 2), Fraction(2)]).points:
        method = point.scenario.topdown
        assert method.budget(key) == held
        assert exact_scale(method.total) is not None
        assert point.total <= Fraction(2) * locked.topdown.total
        assert not has_errors(check(point.scenario))
    less = budgets_of(locked).leaving.without([parse_level_query("Tract/hhgq")]).topdown
    assert less.budget(key) == held


def test_that_points_of_topdown_have_the_form_of_productions_files():
    for point in frontier(preset(PERSONS).scenario, factors=[Fraction(1, 3), Fraction(7, 5)]).points:
        method = point.scenario.topdown
        assert exact_scale(method.total) is not None
        assert sum(method.level_shares.values()) == 1


def test_that_prices_are_the_change_of_the_margin(us):
    for query in priced_queries(us, Weighting.PEOPLE):
        more = float(query.budget) * 0.01
        assert query.people_bought(more) == pytest.approx(query.margin * (1 - 1.01**-0.5), rel=1e-9)
        assert query.margin == pytest.approx((query.area / float(query.budget)) ** 0.5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: set_field(s, "framework", PrivacyFramework.PURE_DP), "drawn for zCDP"),
        (lambda s: set_budget(s, CHILDREN, UNLIMITED), "without noise"),
        (
            lambda s: replace(s, method=replace(s.phsafe, budgets=dict.fromkeys(s.phsafe.budgets, Fraction(0)))),
            "Nothing is",
        ),
        (lambda s: replace(s, method=replace(s.phsafe, locks=frozenset(s.phsafe.budgets))), "Every budget is locked"),
    ],
)
def test_that_what_cannot_be_drawn_is_a_sentence(us, change, sentence):
    with pytest.raises(FrontierError, match=sentence):
        frontier(change(us))


def test_that_shares_and_totals_are_exact():
    shares = shares_of({"a": Fraction(1), "b": Fraction(1), "c": Fraction(1)})
    assert sum(shares.values()) == 1
    for total in (Fraction(2), Fraction(1, 10**70), Fraction(16, 9), Fraction(10**9 + 7, 3)):
        scale = exact_scale(total_with_scale(total))
        assert scale is not None
        assert scale % Fraction(1, 10**6) == 0
        assert 1 / scale**2 <= total < 1 / (scale - Fraction(1, 10**6)) ** 2


@pytest.mark.defect("S2")
@pytest.mark.parametrize("name", ["group-sizes-census-2010", "counties-invariant-2010"])
def test_that_a_system_without_a_curve_is_not_said_to_lack_a_budget(name):
    with pytest.raises(UnsupportedError) as caught:
        frontier(preset(name).scenario)
    assert "without a budget" not in caught.value.sentence
    assert "query by query" in caught.value.sentence


def test_that_a_point_is_named_by_the_loss_that_the_axis_shows(us) -> None:
    """A point drawn at bounded ρ 2.5 was loaded as a scenario called “… 1.257”."""
    found = frontier(us)
    for point in found.points:
        assert point.scenario.name == f"{us.name}, ρ {float(point.headline):.4g}"
        assert point.headline == 2 * point.total
