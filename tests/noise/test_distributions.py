from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise.known_noises import KNOWN
from noise.oracles import UNIT, coverages, half_pmf, pmf, smallest_covering

from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.noise.distributions import (
    DiscreteGaussian,
    NoiseOutOfRangeError,
    NoNoise,
    TwoSidedGeometric,
    noise_for,
)

ENUMERABLE = {name: noise for name, noise in KNOWN.items() if noise.variance() < 1e5}
CONFIDENCES = [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), Fraction(999_999, 10**6)]

# presets/phsafe.json, derived_us: Δ, ρ, exact 90 % margin, coverage at it, how many of the 46 US queries.
DERIVED_2020 = [
    (14, "0.001061", 500, 0.900407, 4),
    (14, "0.00663", 200, 0.900882, 3),
    (14, "0.662976", 20, 0.90832, 1),
    (2, "0.000135", 200, 0.9005, 6),
    (2, "0.00117", 68, 0.902447, 3),
    (2, "0.000022", 496, 0.900381, 9),
    (22, "0.002619", 500, 0.900341, 10),
    (22, "0.016371", 200, 0.900872, 7),
    (22, "0.141622", 68, 0.902509, 3),
]


@pytest.mark.parametrize("noise", ENUMERABLE.values(), ids=ENUMERABLE.keys())
class TestEveryNoise:
    def test_that_probabilities_add_up_to_one_and_are_symmetric(self, noise):
        reach = len(half_pmf(noise))
        logs = [noise.log_pmf(x) for x in range(-reach, reach + 1)]
        assert logs == logs[::-1]
        assert math.fsum(math.exp(log) for log in logs) == pytest.approx(1, abs=1e-13)

    def test_that_probabilities_are_those_of_the_definition(self, noise):
        for x, probability in enumerate(half_pmf(noise)[:200]):
            assert math.exp(noise.log_pmf(x)) == pytest.approx(probability / UNIT, rel=1e-11, abs=1e-55)

    def test_that_the_variance_is_the_second_moment(self, noise):
        moment = sum(2 * x * x * p for x, p in enumerate(half_pmf(noise)))
        assert noise.variance() == pytest.approx(float(Fraction(moment, UNIT)), rel=1e-13, abs=1e-50)

    @pytest.mark.parametrize("confidence", CONFIDENCES, ids=float)
    def test_that_the_margin_is_the_smallest_that_covers(self, noise, confidence):
        assert noise.margin(confidence) == smallest_covering(pmf(noise), confidence)

    def test_that_the_coverage_is_the_sum_of_the_probabilities(self, noise):
        for m, covered in list(enumerate(coverages(pmf(noise))))[:300]:
            assert noise.coverage(m) == pytest.approx(float(covered), abs=1e-13)
        assert noise.coverage(-1) == 0

    def test_that_the_margin_of_a_confidence_equal_to_a_coverage_to_fifty_digits_is_decided(self, noise):
        # The coverage is cut from below at 2^-190: at most the truth. One unit more is above it.
        m = max(1, int(noise.variance() ** 0.5))
        covered = coverages(pmf(noise))[m] if m < len(coverages(pmf(noise))) else Fraction(1)
        below = Fraction(int(covered * 2**160) - 1, 2**160)
        if below < coverages(pmf(noise))[m - 1]:
            pytest.skip("all of this noise is at 0")
        assert noise.margin(below) == m
        if below + Fraction(3, 2**160) < 1:
            assert noise.margin(below + Fraction(3, 2**160)) == m + 1

    def test_that_the_margin_grows_with_confidence(self, noise):
        margins = [noise.margin(Fraction(c, 40)) for c in range(1, 40)]
        assert margins == sorted(margins)

    def test_that_a_confidence_of_one_is_refused(self, noise):
        with pytest.raises(ValueError, match="got 1"):
            noise.margin(Fraction(1))

    def test_that_equal_noises_are_one_key(self, noise):
        twin = type(noise)(*(getattr(noise, name) for name in noise.__slots__))
        assert len({noise, twin}) == 1


@pytest.mark.parametrize("noise", KNOWN.values(), ids=KNOWN.keys())
def test_that_every_margin_covers_and_one_less_does_not(noise):
    for confidence in CONFIDENCES:
        m = noise.margin(confidence)
        assert noise.coverage(m) >= float(confidence) - 1e-12
        assert m == 0 or noise.coverage(m - 1) <= float(confidence) + 1e-12


@pytest.mark.parametrize(("sensitivity", "rho", "margin", "coverage", "queries"), DERIVED_2020)
def test_that_the_published_budgets_have_the_published_margins(sensitivity, rho, margin, coverage, queries):
    noise = DiscreteGaussian.for_budget(sensitivity, Fraction(rho))
    assert noise.margin(Fraction(9, 10)) == margin
    assert noise.coverage(margin) == pytest.approx(coverage, abs=5.1e-7)


def test_that_the_published_margins_cover_all_46_queries(us):
    counted = {(Fraction(rho), margin): queries for _, rho, margin, _, queries in DERIVED_2020}
    for budget in us.method.budgets.values():
        key = next(key for key in counted if key[0] == budget)
        counted[key] -= 1
    assert sum(queries for *_, queries in DERIVED_2020) == len(us.method.budgets) == 46
    assert set(counted.values()) == {0}


@settings(deadline=None)
@given(st.fractions(Fraction(1, 1000), Fraction(10**8)), st.fractions(Fraction(1, 10**6), Fraction(10**6)))
def test_that_more_budget_never_widens_the_margin(rho, more):
    for kind in (DiscreteGaussian, TwoSidedGeometric):
        confidence = Fraction(9, 10)
        assert kind.for_budget(22, rho + more).margin(confidence) <= kind.for_budget(22, rho).margin(confidence)


@pytest.mark.parametrize("sigma2", [10**7, 10**10, 10**14, 2**80])
def test_that_wide_margins_lie_at_the_normal_quantile(sigma2):
    # E.g. Euler-Maclaurin: the margin is z σ − 1/2 rounded up, but for a shift of order 1/σ.
    expected = 1.6448536269514722 * math.sqrt(sigma2) - 0.5
    assert DiscreteGaussian(Fraction(sigma2)).margin(Fraction(9, 10)) == pytest.approx(expected, abs=1.1, rel=1e-14)


def test_that_noise_for_a_budget_spends_exactly_that_budget():
    assert DiscreteGaussian.for_budget(22, Fraction("0.002619")).sigma2 == Fraction(22**2) / (2 * Fraction("0.002619"))
    assert TwoSidedGeometric.for_budget(22, Fraction(1, 3)).scale == 66


@pytest.mark.parametrize("kind", [DiscreteGaussian, TwoSidedGeometric])
def test_that_impossible_noise_is_refused_with_its_value(kind):
    with pytest.raises(ValueError, match="got 0"):
        kind(Fraction(0))
    with pytest.raises(ValueError, match="got -1"):
        kind.for_budget(1, Fraction(-1))
    with pytest.raises(ValueError, match="got 0"):
        kind.for_budget(0, Fraction(1))
    for budget in (Fraction(1, 10**60), Fraction(10**60)):
        with pytest.raises(NoiseOutOfRangeError, match="about 1e") as failure:
            kind.for_budget(22, budget)
        assert failure.value.remedy


def test_that_production_names_and_variances_are_written():
    gaussian = noise_for(PrivacyFramework.ZCDP, sensitivity=22, budget=Fraction("0.141622"))
    assert (gaussian.name, gaussian.reported_variance()) == ("Discrete Gaussian", pytest.approx(22**2 / 2 / 0.141622))
    geometric = noise_for(PrivacyFramework.PURE_DP, sensitivity=12, budget=Fraction("0.33"))
    # The formula of the production validator, phsafe.md §5.1.
    q = math.exp(-0.33 / 12)
    assert (geometric.name, geometric.reported_variance()) == (
        "Two-Sided Geometric",
        pytest.approx(2 * q / (1 - q) ** 2),
    )


@pytest.mark.parametrize(
    ("framework", "name"),
    [(PrivacyFramework.ZCDP, "Discrete Gaussian"), (PrivacyFramework.PURE_DP, "Two-Sided Geometric")],
)
def test_that_an_unlimited_budget_has_no_noise_under_the_name_of_its_mechanism(framework, name):
    noise = noise_for(framework, sensitivity=22, budget=UNLIMITED)
    assert isinstance(noise, NoNoise)
    assert (noise.name, noise.reported_variance(), noise.log_pmf(0), noise.log_pmf(1)) == (name, 0.0, 0.0, -math.inf)


def test_that_a_query_without_budget_has_no_noise_to_ask_for():
    with pytest.raises(ValueError, match="positive budget, got 0"):
        noise_for(PrivacyFramework.ZCDP, sensitivity=22, budget=Fraction(0))
