"""From a budget to noise: exact scales, exact δ on the lattice, composition, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.accounting.gaussian_calibration import (
    CalibrationError,
    delta_is_at_most,
    paper_constant,
    smallest_variance,
)
from phexplore.accounting.subspace_noise import (
    FINENESS,
    SMOOTH,
    Conditioned,
    Contrasted,
    NoisePlanError,
    Shaped,
    Spherical,
    confirm_budget,
    noise_plan,
    noise_plans,
    squared_mu,
)
from phexplore.errors import BudgetMismatchError
from phexplore.model.subspace import (
    Axis,
    Calibration,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric

DELTA = Fraction(1, 10**10)
GRAND_TOTAL = (Totals(),)
STATES = Axis("county", 6, groupings=(Grouping("state", tuple("aaabbb")),))


def method(mechanism, axes=(STATES,), invariants=GRAND_TOTAL, epsilon=Fraction(1), **changes):
    delta = DELTA if mechanism.is_gaussian else Fraction(0)
    release = Release(Histogram(), tuple(invariants), mechanism)
    return replace(Subspace(tuple(axes), {"only": release}, epsilon, delta), **changes)


def prefix_sums(cells):
    """The query of running totals, whose best noise is far from round."""
    rows = tuple(LinearCount(f"up to {k}", tuple((c, Fraction(1)) for c in range(k + 1))) for k in range(cells))
    return LinearQuery(rows), (LinearCount("all", ((cells - 1, Fraction(1)),)),)


def test_that_laplace_noise_has_scale_sensitivity_over_epsilon():
    plan = noise_plan(method(Mechanism.PROJECTED_LAPLACE, epsilon=Fraction("0.192")), "only")
    assert plan.form == Spherical(TwoSidedGeometric(Fraction(125, 12)))
    assert plan.steps == 1


def test_that_fractional_answers_are_measured_in_their_common_steps():
    answers = (LinearCount("half", ((0, Fraction(1, 2)), (1, Fraction(1, 3)))),)
    release = Release(LinearQuery(answers), (), Mechanism.PROJECTED_LAPLACE)
    plan = noise_plan(Subspace((Axis("cell", 3),), {"only": release}, Fraction(1)), "only")
    assert (plan.steps, plan.sensitivity.l1) == (6, Fraction(1, 2))
    assert plan.form == Spherical(TwoSidedGeometric(Fraction(3)))


@pytest.mark.parametrize("epsilon", ["0.192", "1", "8"])
def test_that_gaussian_noise_is_exactly_calibrated_and_little_wider(epsilon):
    epsilon = Fraction(epsilon)
    plan = noise_plan(method(Mechanism.PROJECTED_GAUSSIAN, epsilon=epsilon), "only")
    v = smallest_variance(epsilon, DELTA)
    assert plan.squared_sigma / 2 == pytest.approx(v, rel=1e-11)
    assert plan.squared_sigma >= 2 * v
    drawn = plan.form.noise.sigma2 / plan.steps**2
    assert plan.squared_sigma < drawn <= plan.squared_sigma * (1 + Fraction(1, FINENESS))


def test_that_extended_gaussian_noise_is_never_wider_than_projected():
    """Corollary 3.6."""
    grid = (Axis("a", 3), Axis("b", 4))
    for invariants in [(Totals(),), (Totals(("a",)),), (Totals(("a",)), Totals(("b",)))]:
        wide = noise_plan(method(Mechanism.PROJECTED_GAUSSIAN, grid, invariants), "only")
        narrow = noise_plan(method(Mechanism.EXTENDED_GAUSSIAN, grid, invariants), "only")
        assert narrow.squared_sigma <= wide.squared_sigma
    assert narrow.squared_sigma < wide.squared_sigma


def exact_lattice_delta(epsilon, sigma2, shift):
    """δ(ε) of discrete Gaussian noise of this σ² between inputs a whole shift apart, by summing all probabilities."""
    reach = math.ceil(14 * math.sqrt(sigma2)) + shift
    x = np.arange(-reach, reach + 1, dtype=np.longdouble)
    weights = np.exp(-(x**2) / (2 * sigma2))
    moved = np.exp(-((x - shift) ** 2) / (2 * sigma2))
    total = weights.sum()
    return float(np.maximum(weights / total - np.exp(np.longdouble(epsilon)) * moved / total, 0).sum())


@pytest.mark.parametrize("epsilon", ["0.5", "2", "6"])
def test_that_the_lattice_keeps_delta_for_the_extended_mechanism(epsilon):
    """On 2 × 2 cells with both margins exact one contrast is left; its noise is a sum of four discrete Gaussians."""
    epsilon = Fraction(epsilon)
    grid = (Axis("a", 2), Axis("b", 2))
    margins = (Totals(("a",)), Totals(("b",)))
    delta = Fraction(1, 10**6)
    plan = noise_plan(method(Mechanism.EXTENDED_GAUSSIAN, grid, margins, epsilon, delta=delta), "only")
    assert plan.sensitivity.squared_projected == 1
    # Two records apart move the contrast x₁₁ − x₁₂ − x₂₁ + x₂₂ by at most 2.
    found = exact_lattice_delta(epsilon, 4 * float(plan.form.noise.sigma2), 2 * plan.steps)
    assert found <= float(delta)
    assert found >= 0.99 * float(delta)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_that_the_lattice_keeps_delta_for_the_projected_mechanism(epsilon):
    """Two cells, nothing exact: the difference of the cells carries everything, a sum of two discrete Gaussians."""
    epsilon, delta = Fraction(epsilon), Fraction(1, 10**6)
    plan = noise_plan(method(Mechanism.PROJECTED_GAUSSIAN, (Axis("cell", 2),), (), epsilon, delta=delta), "only")
    assert exact_lattice_delta(epsilon, 2 * float(plan.form.noise.sigma2), 2 * plan.steps) <= float(delta)


def test_that_the_lattice_hides_the_invariants_of_a_large_total():
    plan = noise_plan(method(Mechanism.EXTENDED_GAUSSIAN, (Axis("cell", 10**6),)), "only")
    assert plan.form.noise.sigma2 >= SMOOTH * plan.space.row_norm_bound()


def test_that_conditioned_noise_is_private_by_enumeration():
    """All whole vectors that add to 0: moving a record changes their probability by at most e^ε."""
    plan = noise_plan(method(Mechanism.K_NORM, (Axis("cell", 3),), epsilon=Fraction(7, 10)), "only")
    assert isinstance(plan.form, Conditioned)
    scale = float(plan.form.noise.scale)
    worst = 0.0
    for x in range(-30, 31):
        for y in range(-30, 31):
            here = -(abs(x) + abs(y) + abs(x + y)) / scale
            there = -(abs(x - 1) + abs(y + 1) + abs(x + y)) / scale
            worst = max(worst, abs(here - there))
    assert worst == pytest.approx(0.7, abs=1e-12)


def test_that_the_paper_constant_is_refused_where_it_breaks():
    with pytest.raises(NoisePlanError, match=r"1\.55 times"):
        noise_plan(method(Mechanism.PROJECTED_GAUSSIAN, epsilon=Fraction("1.5"), calibration=Calibration.PAPER), "only")


def test_that_the_paper_constant_is_used_where_it_holds():
    chosen = method(Mechanism.PROJECTED_GAUSSIAN, epsilon=Fraction("0.5"), calibration=Calibration.PAPER)
    assert squared_mu(chosen, chosen.releases["only"]) == 1 / paper_constant(Fraction("0.5"), DELTA).v
    confirm_budget(chosen, noise_plans(chosen))


def test_that_several_releases_spend_exactly_what_is_declared():
    gaussian = Release(Histogram(), (Totals(("state",)),), Mechanism.PROJECTED_GAUSSIAN, Fraction(1, 3))
    shares = {
        "laplace": Release(Histogram(), (Totals(),), Mechanism.PROJECTED_LAPLACE, Fraction(1, 4)),
        "k": Release(Histogram(), (Totals(),), Mechanism.K_NORM, Fraction(1, 12)),
        "one": gaussian,
        "two": replace(gaussian, mechanism=Mechanism.EXTENDED_GAUSSIAN),
    }
    chosen = Subspace((STATES,), shares, Fraction(6), DELTA)
    plans = {plan.name: plan for plan in noise_plans(chosen)}
    assert plans["laplace"].epsilon == Fraction(3, 2)
    assert plans["one"].epsilon == plans["two"].epsilon == 4
    assert plans["one"].squared_mu == plans["two"].squared_mu
    assert delta_is_at_most(Fraction(4), 1 / (2 * plans["one"].squared_mu), DELTA)
    confirm_budget(chosen, noise_plans(chosen))


@pytest.mark.parametrize("mechanism", Mechanism)
def test_that_the_noise_of_every_mechanism_spends_what_is_declared(mechanism):
    chosen = method(mechanism, epsilon=Fraction(3, 2))
    confirm_budget(chosen, noise_plans(chosen))


def test_that_noise_too_narrow_for_its_budget_is_refused():
    chosen = method(Mechanism.PROJECTED_LAPLACE)
    (plan,) = noise_plans(chosen)
    narrow = replace(plan, form=Spherical(TwoSidedGeometric(Fraction(19, 10))))
    with pytest.raises(BudgetMismatchError, match="is declared"):
        confirm_budget(chosen, [narrow])
    chosen = method(Mechanism.PROJECTED_GAUSSIAN)
    (plan,) = noise_plans(chosen)
    narrow = replace(plan, form=Spherical(DiscreteGaussian(plan.form.noise.sigma2 * Fraction(99, 100))))
    with pytest.raises(BudgetMismatchError, match="does not satisfy δ"):
        confirm_budget(chosen, [narrow])


def test_that_noise_of_the_wrong_kind_is_refused():
    laplace, gaussian = method(Mechanism.PROJECTED_LAPLACE), method(Mechanism.PROJECTED_GAUSSIAN)
    (pure,), (wide,) = noise_plans(laplace), noise_plans(gaussian)
    with pytest.raises(BudgetMismatchError, match="pure differential privacy"):
        confirm_budget(laplace, [replace(pure, form=wide.form)])
    with pytest.raises(BudgetMismatchError, match="not Gaussian"):
        confirm_budget(gaussian, [replace(wide, form=pure.form)])


def test_that_correlated_noise_is_proven_to_hide_every_pair():
    query, exact = prefix_sums(12)
    release = Release(query, exact, Mechanism.CORRELATED_GAUSSIAN)
    chosen = Subspace((Axis("cell", 12),), {"only": release}, Fraction(1), DELTA)
    plan = noise_plan(chosen, "only")
    assert isinstance(plan.form, Shaped)
    factor = plan.form.factor.astype(float)
    covariance = (factor @ factor.T * float(plan.form.inner.sigma2)) / plan.steps**2
    covariance += np.eye(12) * float(plan.form.outer.sigma2) / plan.steps**2
    projection = np.diag([1.0] * 11 + [0.0])
    inside = np.linalg.pinv(projection @ covariance @ projection)
    columns = [np.array([1.0 if k >= cell else 0.0 for k in range(12)]) for cell in range(12)]
    reached = max((a - b) @ inside @ (a - b) for a in columns for b in columns)
    assert reached <= float(plan.squared_mu)
    assert reached >= 0.99 * float(plan.squared_mu)
    assert plan.form.approximation <= 1.006


def test_that_extended_laplace_noise_spends_at_most_its_epsilon_over_all_pairs():
    plan = noise_plan(method(Mechanism.EXTENDED_LAPLACE, invariants=(Totals(("state",)),)), "only")
    assert isinstance(plan.form, Contrasted)
    assert plan.form.rates.delta_1 == pytest.approx(2 * (1 / math.sqrt(2) + 1 / math.sqrt(6)), rel=1e-9)


REFUSED = {
    "totals that meet": (
        method(Mechanism.EXTENDED_LAPLACE, (Axis("a", 2), Axis("b", 2)), (Totals(("a",)), Totals(("b",)))), "disjoint totals",
    ),
    "k-norm of states": (method(Mechanism.K_NORM, invariants=(Totals(("state",)),)), "grand total"),
    "k-norm of many cells": (method(Mechanism.K_NORM, (Axis("cell", 30_000),)), "30,000 cells"),
    "answers that tell nothing": (
        Subspace(
            (Axis("cell", 2),),
            {"only": Release(LinearQuery((LinearCount("all", ((0, Fraction(1)), (1, Fraction(1)))),)), (), Mechanism.PROJECTED_LAPLACE)},
            Fraction(1),
        ),
        "distinguishes two records",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("chosen", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_that_noise_that_cannot_be_made_is_refused(chosen, words):
    with pytest.raises(NoisePlanError, match=words):
        noise_plan(chosen, "only")


def test_that_invariants_that_publish_all_answers_leave_no_gaussian_noise():
    """Both answers are equal whatever the record, so what the invariant leaves carries nothing."""
    answers = tuple(LinearCount(name, ((0, Fraction(1)),)) for name in "ab")
    exact = (LinearCount("both", ((0, Fraction(1)), (1, Fraction(1)))),)
    release = Release(LinearQuery(answers), exact, Mechanism.EXTENDED_GAUSSIAN)
    with pytest.raises(NoisePlanError, match="publish everything"):
        noise_plan(Subspace((Axis("cell", 2),), {"only": release}, Fraction(1), DELTA), "only")


def test_that_a_delta_of_zero_is_refused_for_gaussian_noise():
    with pytest.raises(CalibrationError, match="strictly between 0 and 1"):
        noise_plan(method(Mechanism.PROJECTED_GAUSSIAN, delta=Fraction(0)), "only")
