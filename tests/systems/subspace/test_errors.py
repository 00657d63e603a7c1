"""Margins and variances before a run, against enumeration and simulation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from phexplore.accounting.subspace_noise import noise_plan
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.subspace import Axis, Grouping, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.subspace.drawing import draw_noise
from phexplore.systems.subspace import errors as subspace_errors
from phexplore.systems.subspace.errors import answer_classes, characteristic, expected_squared_error, variances

COUNTIES = Axis("county", 9, groupings=(Grouping("state", tuple("aaaabbbcc")),))


def plan_of(mechanism, *invariants, axes=(COUNTIES,), epsilon=Fraction(1)):
    delta = Fraction(1, 10**6) if mechanism.is_gaussian else Fraction(0)
    release = Release(Histogram(), invariants, mechanism)
    return noise_plan(Subspace(tuple(axes), {"only": release}, epsilon, delta), "only")


def test_that_the_exact_margin_is_the_smallest_by_enumeration():
    """Three cells under a total, noise so narrow that all outcomes can be listed."""
    epsilon = Fraction(6)
    plan = plan_of(Mechanism.PROJECTED_LAPLACE, Totals(), axes=(Axis("cell", 3),), epsilon=epsilon)
    (kind,) = answer_classes(plan, Conventions())
    decay = float(np.exp(-3.0))
    weight = {x: (1 - decay) / (1 + decay) * decay ** abs(x) for x in range(-14, 15)}
    held = dict.fromkeys(range(4), 0.0)
    for x, y, z in itertools.product(weight, repeat=3):
        for m in held:
            held[m] += weight[x] * weight[y] * weight[z] * (abs(Fraction(2 * x - y - z, 3)) <= m)
    assert kind.margins.exact == min(m for m, share in held.items() if share >= 0.9)
    assert held[kind.margins.exact - 1] < 0.9 if kind.margins.exact else True


@pytest.mark.parametrize("mechanism", [Mechanism.PROJECTED_LAPLACE, Mechanism.PROJECTED_GAUSSIAN, Mechanism.K_NORM])
def test_that_margins_hold_as_often_as_they_say(mechanism):
    """Coverage of 1,000 draws against the confidence, 4.5 standard errors: false alarm below 1e-5 per case."""
    invariants = (Totals(),) if mechanism is Mechanism.K_NORM else (Totals(("state",)),)
    plan = plan_of(mechanism, *invariants, epsilon=Fraction(1, 2))
    conventions = Conventions(margin=MarginConvention.EXACT, confidence=Fraction(4, 5))
    draws = np.array([draw_noise(plan, SeededEntropy(2, (trial,))).values for trial in range(1000)])
    for kind in answer_classes(plan, conventions):
        errors = np.abs(draws[:, kind.first])
        error = 4.5 * np.sqrt(0.16 / 1000)
        assert (errors <= kind.margins.exact + 1e-9).mean() >= 0.8 - error
        assert (errors <= kind.margins.exact - 1 + 1e-9).mean() < 0.8 + error


def test_that_classes_count_every_answer_once():
    plan = plan_of(Mechanism.PROJECTED_LAPLACE, Totals(("state",)))
    found = answer_classes(plan, Conventions())
    assert [(kind.first, kind.answers, kind.unit_variance) for kind in found] == [
        (7, 2, Fraction(1, 2)), (4, 3, Fraction(2, 3)), (0, 4, Fraction(3, 4)),
    ]  # fmt: skip


@pytest.mark.parametrize("mechanism", [m for m in Mechanism if m is not Mechanism.K_NORM])
def test_that_the_squared_error_is_the_sum_of_the_variances(mechanism):
    plan = plan_of(mechanism, Totals(("state",)))
    assert expected_squared_error(plan) == pytest.approx(variances(plan).sum())
    kinds = answer_classes(plan, Conventions())
    assert sum(kind.variance * kind.answers for kind in kinds) == pytest.approx(variances(plan).sum(), rel=1e-6)


def test_that_an_answer_without_noise_has_no_margin():
    axis = Axis("county", 3, groupings=(Grouping("state", tuple("aab")),))
    plan = plan_of(Mechanism.PROJECTED_LAPLACE, Totals(("state",)), axes=(axis,))
    alone = answer_classes(plan, Conventions())[0]
    assert (alone.unit_variance, alone.variance, alone.margins.exact, alone.margins.normal) == (0, 0.0, 0, 0.0)


def test_that_very_fine_lattices_use_the_normal_law():
    axes = (Axis("group", 14), Axis("hour", 24), Axis("place", 20))
    fine = plan_of(
        Mechanism.PROJECTED_GAUSSIAN,
        Totals(("hour", "place")),
        Totals(("group", "place")),
        axes=axes,
        epsilon=Fraction(20),
    )
    (kind,) = answer_classes(fine, Conventions())
    assert kind.margins.exact == pytest.approx(kind.margins.normal, abs=1.01)


@pytest.mark.parametrize(
    "noise", [TwoSidedGeometric(Fraction(3, 2)), DiscreteGaussian(Fraction(1, 5)), DiscreteGaussian(Fraction(7))]
)
def test_that_characteristic_functions_are_those_of_the_probabilities(noise):
    angles = np.linspace(0, 7, 30)
    direct = sum(np.exp(noise.log_pmf(x)) * np.cos(angles * x) for x in range(-120, 121))
    assert np.allclose(characteristic(noise, angles), direct, atol=1e-12)


def test_that_unknown_noise_has_no_characteristic_function():
    with pytest.raises(TypeError, match="NoNoise"):
        characteristic(NoNoise(), np.zeros(1))


@pytest.mark.parametrize("mechanism", [Mechanism.PROJECTED_LAPLACE, Mechanism.K_NORM])
@pytest.mark.parametrize("confidence", [Fraction(9, 10), Fraction(95, 100)])
def test_that_a_coarser_lattice_gives_the_margins_of_the_whole_one(monkeypatch, mechanism, confidence):
    release = Release(Histogram(), (Totals(),), mechanism)
    plan = noise_plan(Subspace((Axis("cell", 12),), {"a": release}, Fraction(1, 500)), "a")
    conventions = Conventions(confidence=confidence, margin=MarginConvention.EXACT)
    whole = answer_classes(plan, conventions)[0]
    subspace_errors._conditioned.cache_clear()
    monkeypatch.setattr(subspace_errors, "_SHORTENED", 1 << 15)
    (coarse,) = answer_classes(plan, conventions)
    subspace_errors._conditioned.cache_clear()
    assert coarse.variance == pytest.approx(whole.variance, rel=1e-5)
    assert coarse.margins.exact == pytest.approx(whole.margins.exact, abs=2, rel=1e-4)


def test_that_laplace_noise_so_wide_that_its_lattice_is_fine_keeps_its_long_tail():
    release = Release(Histogram(), (Totals(),), Mechanism.PROJECTED_LAPLACE)
    plan = noise_plan(Subspace((Axis("cell", 102),), {"a": release}, Fraction(1, 10**6)), "a")
    (found,) = answer_classes(plan, Conventions(confidence=Fraction(95, 100)))
    # A Laplace quantile is ln(20)/√2 = 2.118 standard deviations, a normal one 1.960.
    assert found.margins.exact / found.variance**0.5 == pytest.approx(2.117, abs=0.004)
