"""Budgets from margins after least squares, against a second solver, a grid, and what a conflict must mean."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, minimize

from phexplore.accuracy.solving_conflict import ConflictKind, InfeasibleError
from phexplore.accuracy.solving_separable import Reason, solve
from phexplore.errors import UnknownNameError
from phexplore.model.conventions import MarginConvention
from phexplore.model.edits import set_item
from phexplore.model.goals import Cap, CapOn, GoalError, Goals, Tie
from phexplore.model.topdown import LevelQuery
from phexplore.spine.top_down import predict_top_down
from phexplore.spine.tree import tree_of
from phexplore.spine.variance import predict
from phexplore.systems.registry import budgets_of, preset
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.solving_estimates import solve_estimates
from phexplore.systems.topdown.solving_spine import on_spine
from phexplore.systems.topdown.solving_tree import solve_on_tree, spine_of, units_of, with_level_shares
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.uniform_spine import spine_variances, uniform_spine
from phexplore.workload.queries import parse_query

Z = 1.645
COUNTY, TRACT = LevelQuery("County", "total"), LevelQuery("Tract", "total")
GROUPS, DETAILED = LevelQuery("Block_Group", "hispanic * cenrace"), LevelQuery("Block", "detailed")
MARGINS = {COUNTY: Fraction(3), TRACT: Fraction(3), GROUPS: Fraction(4), DETAILED: Fraction(8)}


@pytest.fixture(scope="module")
def scenario():
    return preset("pl94-2020-persons-us").scenario


@pytest.fixture(scope="module")
def spine(scenario):
    return uniform_spine(scenario.topdown)


def margins(spine, method):
    found = spine_variances(spine, {key: method.budget(key) for key in spine.keys})
    return {key: Z * variance**0.5 for key, variance in found.items()}


def test_that_every_margin_is_kept_after_least_squares_for_less_than_alone(scenario, spine) -> None:
    solved = solve(budgets_of(scenario), Goals(margins=MARGINS), joint=on_spine(TopDownBudgets(scenario), spine))
    found = margins(spine, solved.scenario.topdown)
    # Budgets move by less than one in a million when shares become exact.
    assert all(found[key] <= float(margin) * (1 + 1e-6) for key, margin in MARGINS.items())
    assert max(found[key] / float(margin) for key, margin in MARGINS.items()) > 0.999
    assert solved.scenario.topdown.total < solve(budgets_of(scenario), Goals(margins=MARGINS)).scenario.topdown.total
    reasons = {entry.query: entry.reason for entry in solved.queries}
    assert {reasons[key] for key in MARGINS} == {Reason.TARGET}
    assert reasons[LevelQuery("County", "hispanic")] is Reason.KEPT


def test_that_the_total_is_that_of_a_second_solver(scenario, spine) -> None:
    solved = solve(budgets_of(scenario), Goals(margins=MARGINS), joint=on_spine(TopDownBudgets(scenario), spine))
    ours = sum(float(entry.budget) for entry in solved.queries if entry.query in MARGINS)
    keys = list(MARGINS)
    wanted = spine.answers(keys)
    limits = np.array([(float(MARGINS[spine.keys[key]]) / Z) ** 2 for key in wanted.keys])
    base = np.array([0.0 if key in MARGINS else float(scenario.topdown.budget(key)) for key in spine.keys])
    places = [spine.keys.index(key) for key in keys]

    def full(x):
        budgets = base.copy()
        budgets[places] = np.exp(x)
        return budgets

    def room(x):
        return np.log(spine.variances(full(x), wanted)[0] / limits)

    start = np.log([(Z / float(MARGINS[key])) ** 2 for key in keys])
    second = minimize(
        lambda x: np.exp(x).sum(), start, jac=np.exp, method="trust-constr",
        constraints=[NonlinearConstraint(room, -np.inf, 0.0)], options={"maxiter": 400, "gtol": 1e-9},
    )  # fmt: skip
    assert ours == pytest.approx(np.exp(second.x).sum(), rel=2e-4)


def test_that_no_budgets_of_a_grid_do_it_for_less(scenario, spine) -> None:
    goals = {COUNTY: Fraction(3), TRACT: Fraction(2)}
    solved = solve(budgets_of(scenario), Goals(margins=goals), joint=on_spine(TopDownBudgets(scenario), spine))
    ours = {entry.query: float(entry.budget) for entry in solved.queries}
    wanted = spine.answers(goals)
    limits = np.array([(float(goals[spine.keys[key]]) / Z) ** 2 for key in wanted.keys])
    best = ours[COUNTY] + ours[TRACT]
    base = np.array([float(scenario.topdown.budget(key)) for key in spine.keys])
    for first in np.geomspace(1e-3, 1, 25):
        for second in np.geomspace(1e-3, 1, 25):
            if first + second < best * 0.999:
                budgets = base.copy()
                budgets[[spine.keys.index(COUNTY), spine.keys.index(TRACT)]] = first, second
                assert (spine.variances(budgets, wanted)[0] > limits).any()


def test_that_untargeted_queries_make_way_for_a_cap(scenario, spine) -> None:
    cap = Cap(CapOn.BOUNDED, Fraction(2))
    solved = solve(
        budgets_of(scenario), Goals(margins=MARGINS, caps=(cap,)), joint=on_spine(TopDownBudgets(scenario), spine)
    )
    assert solved.scenario.topdown.total <= 2
    found = margins(spine, solved.scenario.topdown)
    assert all(found[key] <= float(margin) * (1 + 1e-6) for key, margin in MARGINS.items())
    assert Reason.MADE_WAY in {entry.reason for entry in solved.queries}


def test_that_a_conflict_is_one_and_none_without_any_of_its_targets(scenario, spine) -> None:
    cap = Cap(CapOn.BOUNDED, Fraction(1, 2))
    with pytest.raises(InfeasibleError) as caught:
        solve(
            budgets_of(scenario), Goals(margins=MARGINS, caps=(cap,)), joint=on_spine(TopDownBudgets(scenario), spine)
        )
    parts = [part.query for part in caught.value.conflict if part.kind is ConflictKind.TARGET]
    with pytest.raises(InfeasibleError):
        solve(
            budgets_of(scenario),
            Goals(margins={key: MARGINS[key] for key in parts}, caps=(cap,)),
            joint=on_spine(TopDownBudgets(scenario), spine),
        )
    for key in parts:
        rest = {other: MARGINS[other] for other in parts if other != key}
        if rest:
            assert solve(
                budgets_of(scenario), Goals(margins=rest, caps=(cap,)), joint=on_spine(TopDownBudgets(scenario), spine)
            ).scenario.topdown.total <= Fraction(1, 2)
    way = caught.value.relaxations[0]
    relaxed = {**MARGINS, **{key: new for key, (_, new) in way.margins.items()}}
    assert solve(
        budgets_of(scenario), Goals(margins=relaxed, caps=(cap,)), joint=on_spine(TopDownBudgets(scenario), spine)
    ).scenario.topdown.total <= Fraction(1, 2)


def test_that_locks_floors_and_ties_hold(scenario, spine) -> None:
    locked = set_item(scenario, "locked_queries", TRACT, value=True)
    tie = Tie((COUNTY, LevelQuery("County", "hispanic")))
    goals = Goals(margins={COUNTY: Fraction(4), GROUPS: Fraction(5)}, floors={GROUPS: Fraction(1, 2)}, ties=(tie,))
    solved = solve(budgets_of(locked), goals, joint=on_spine(TopDownBudgets(locked), spine))
    budgets = {entry.query: entry.budget for entry in solved.queries}
    assert budgets[TRACT] == scenario.topdown.budget(TRACT)
    assert budgets[GROUPS] >= Fraction(1, 2)
    assert budgets[COUNTY] == budgets[LevelQuery("County", "hispanic")]


def test_that_another_convention_is_refused(scenario, spine) -> None:
    exact = replace(scenario, conventions=replace(scenario.conventions, margin=MarginConvention.EXACT))
    with pytest.raises(GoalError, match="normal"):
        solve(budgets_of(exact), Goals(margins=MARGINS), joint=on_spine(TopDownBudgets(exact), spine))


@pytest.fixture(scope="module")
def totals():
    """The least totals by fit."""
    return {}


@pytest.mark.parametrize(("fit", "predicted"), [(Fit.TOP_DOWN, predict_top_down), (Fit.AT_ONCE, predict)])
def test_that_real_geography_keeps_every_margin_in_every_unit(scenario, fit, predicted, totals) -> None:
    # Units of very different sizes: a state, counties of 2 to 6 tracts, tracts of 2 to 4 block groups, 2 to 9 blocks each.
    random = np.random.default_rng(8)
    codes = sorted(
        f"{state:02d}{county:03d}{tract:06d}{group}{block:03d}"
        for state in (44,)
        for county in range(3)
        for tract in range(int(random.integers(2, 7)))
        for group in range(1, int(random.integers(3, 6)))
        for block in range(int(random.integers(2, 10)))
    )
    tree = tree_of(np.array(codes), scenario.topdown.levels)
    found = solve_on_tree(scenario, Goals(margins=MARGINS), tree, fit=fit)
    assert found.rounds <= 12
    method = found.solved.scenario.topdown
    exact = predicted(with_level_shares(tree, method), method)
    totals[fit] = method.total
    for key, margin in MARGINS.items():
        table = exact.variances([exact.kinds(parse_query(exact.shape.measured.schema, key.query))])
        names = [level.name for level in tree.levels]
        worst = Z * float(exact.at_level(names.index(key.level), table).max()) ** 0.5
        assert worst == pytest.approx(found.margins[key], rel=1e-9)
        assert worst <= float(margin) * (1 + 2e-6)
    # No margin could be given away: at least one holds with nothing to spare.
    assert max(found.margins[key] / float(margin) for key, margin in MARGINS.items()) > 0.99
    # What is measured below helps a fit of all at once.
    assert totals[fit] == (max if fit is Fit.TOP_DOWN else min)(totals.values())


def test_that_an_only_child_that_cannot_be_better_than_its_parent_is_told_apart(scenario) -> None:
    codes = [f"44{county:03d}0000011{block:03d}" for county in (1, 2, 3) for block in range(4)]
    tree = tree_of(np.array(codes), scenario.topdown.levels)
    with pytest.raises(GoalError, match="only children"):
        solve_on_tree(scenario, Goals(margins={GROUPS: Fraction(4)}), tree, fit=Fit.TOP_DOWN)


def test_that_equal_fan_outs_fitted_level_by_level_are_the_exact_recursion_and_cost_more(scenario) -> None:
    """Against the covariances of a tree whose units have two children each."""
    codes = [f"44{c:03d}{t:06d}{g}{b:03d}" for c in (1, 2) for t in (1, 2) for g in (1, 2) for b in (1, 2)]
    tree, method = tree_of(np.array(codes), scenario.topdown.levels), scenario.topdown
    here = spine_variances(
        spine_of(method, Fit.TOP_DOWN, units_of(tree), [level.name for level in tree.levels]),
        {key: method.budget(key) for key in method.query_shares},
    )
    exact = predict_top_down(with_level_shares(tree, method), method)
    names = [level.name for level in tree.levels]
    for key in (GROUPS, DETAILED):
        table = exact.variances([exact.kinds(parse_query(exact.shape.measured.schema, key.query))])
        assert here[key] == pytest.approx(float(exact.at_level(names.index(key.level), table).max()), rel=1e-6)
    by_fit = {
        fit.value: solve_estimates(scenario, Goals(margins=MARGINS), None, spend=False, fit=fit.value)[0] for fit in Fit
    }
    assert by_fit["at-once"].scenario.topdown.total < by_fit["top-down"].scenario.topdown.total
    with pytest.raises(UnknownNameError):
        solve_estimates(scenario, Goals(margins=MARGINS), None, spend=False, fit="pooled")
