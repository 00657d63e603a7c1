from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.accounting.zcdp import bounded, curve, epsilon, rho_for_epsilon
from phexplore.model.conventions import Conversion

PERSONS = Fraction(293764, 114921)
UNITS = Fraction(11417641, 152349649)
DELTA = Fraction(1, 10**10)

# features.md §3d: what the production certificates and announcements print. The certificates print ε as a fraction of
# small numbers near it: within 6e-8.
PUBLISHED = [
    (PERSONS, Conversion.ZCDP_OPTIMAL_ALPHA, Fraction(17849145, 1041158), 1e-7),
    (UNITS, Conversion.ZCDP_OPTIMAL_ALPHA, Fraction(1455307, 588081), 1e-7),
    (PERSONS + UNITS, Conversion.ZCDP_OPTIMAL_ALPHA, Fraction("17.435"), 5e-4),
    (Fraction("1.095"), Conversion.ZCDP_OPTIMAL_ALPHA, Fraction("10.558"), 5e-4),
    (Fraction("0.1885"), Conversion.ZCDP_OPTIMAL_ALPHA, Fraction("4.037"), 5e-4),
    (Fraction("1.095"), Conversion.BUN_STEINKE, Fraction("11.138"), 5e-4),
    (Fraction("0.1885"), Conversion.BUN_STEINKE, Fraction("4.355"), 5e-4),
    (PERSONS, Conversion.GAUSSIAN_CONTINUOUS, Fraction("16.465"), 5e-4),
    (UNITS, Conversion.GAUSSIAN_CONTINUOUS, Fraction("2.363"), 5e-4),
]

RHOS = [
    Fraction(text)
    for text in ("1e-12", "1e-7", "1e-5", "3e-4", "0.002", "0.0125", "0.1", "1", "22/7", "20", "1e4", "1e9")
]
DELTAS = [Fraction(text) for text in ("1e-10", "1e-5", "0.01", "0.5", "0.9", "1e-18", "1e-60", "1e-250")]


def exact_bun_steinke(rho, log_inverse):
    return rho + 2 * mpmath.sqrt(rho * log_inverse)


def exact_optimal_alpha(rho, log_inverse):
    """Minimise over α by ternary search on ln(α − 1), nothing but the definition."""

    def bound(y):
        alpha = 1 + mpmath.exp(y)
        return rho * alpha + (log_inverse - mpmath.log(alpha)) / (alpha - 1) + mpmath.log1p(-1 / alpha)

    low, high = mpmath.mpf(-60), mpmath.mpf(700)
    # ε is flat at the minimum: an error of 1e-16 in y is one of 1e-30 in ε.
    for _ in range(110):
        third = (high - low) / 3
        low, high = (low, high - third) if bound(low + third) < bound(high - third) else (low + third, high)
    return max(bound((low + high) / 2), 0)


def exact_gaussian(rho, log_inverse):
    """Bisect the textbook formula of δ(ε) in as many digits as its cancellation needs."""
    mu = mpmath.sqrt(2 * rho)

    def log_delta(e):
        with mpmath.workdps(60):
            upper = mpmath.erfc((e / mu - mu / 2) / mpmath.sqrt(2)) / 2
            lower = mpmath.exp(e) * mpmath.erfc((e / mu + mu / 2) / mpmath.sqrt(2)) / 2
            return mpmath.log(upper - lower)

    low, high = mpmath.mpf(0), exact_bun_steinke(rho, log_inverse)
    if log_delta(low) <= -log_inverse:
        return low
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if log_delta(middle) > -log_inverse else (low, middle)
    return high


EXACT = {
    Conversion.BUN_STEINKE: exact_bun_steinke,
    Conversion.ZCDP_OPTIMAL_ALPHA: exact_optimal_alpha,
    Conversion.GAUSSIAN_CONTINUOUS: exact_gaussian,
}


@lru_cache
def exact_epsilon(rho: Fraction, delta: Fraction, conversion: Conversion) -> mpmath.mpf:
    with mpmath.workdps(50):
        log_inverse = mpmath.log(mpmath.mpf(delta.denominator) / delta.numerator)
        return EXACT[conversion](mpmath.mpf(rho.numerator) / rho.denominator, log_inverse)


@pytest.mark.parametrize(("rho", "conversion", "printed", "digits"), PUBLISHED)
def test_that_published_epsilons_are_reproduced_under_their_conversion(rho, conversion, printed, digits):
    assert epsilon(rho, DELTA, conversion) == pytest.approx(float(printed), abs=digits)


@pytest.mark.parametrize("conversion", Conversion)
@pytest.mark.parametrize("rho", RHOS, ids=float)
def test_that_epsilon_is_the_definition_rounded_up_by_a_trillionth(conversion, rho):
    deltas = DELTAS if conversion is not Conversion.GAUSSIAN_CONTINUOUS else DELTAS[:5]
    for delta in deltas:
        exact = exact_epsilon(rho, delta, conversion)
        found = mpmath.mpf(epsilon(rho, delta, conversion))
        assert found >= exact
        # Beside ε itself, the terms that cancel: of the size of ρ and √ρ.
        assert found - exact <= 1e-12 * (exact + float(rho) + math.sqrt(float(rho)))


@settings(deadline=None)
@given(st.fractions(Fraction(1, 10**6), 100), st.fractions(Fraction(1, 10**12), Fraction(1, 2)), st.floats(1.001, 1e4))
def test_that_no_renyi_order_gives_a_smaller_epsilon(rho, delta, alpha):
    r, log_inverse = float(rho), -math.log(delta)
    bound = r * alpha + (log_inverse - math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha)
    assert epsilon(rho, delta, Conversion.ZCDP_OPTIMAL_ALPHA) <= max(bound, 0) + 1e-11 * (1 + abs(bound))


@settings(deadline=None)
@given(st.fractions(Fraction(1, 10**9), 1000), st.fractions(Fraction(1, 10**30), Fraction(9, 10)))
def test_that_the_conversions_are_ordered_as_their_assumptions(rho, delta):
    gaussian, optimal, simple = (
        epsilon(rho, delta, conversion)
        for conversion in (Conversion.GAUSSIAN_CONTINUOUS, Conversion.ZCDP_OPTIMAL_ALPHA, Conversion.BUN_STEINKE)
    )
    assert gaussian <= optimal * (1 + 1e-11) + 1e-12
    assert optimal <= simple * (1 + 1e-12)


@pytest.mark.parametrize("conversion", Conversion)
class TestEveryConversion:
    def test_that_epsilon_grows_with_rho_and_falls_with_delta(self, conversion):
        table = [[epsilon(rho, delta, conversion) for rho in sorted(RHOS)] for delta in sorted(DELTAS)]
        for row in table:
            assert row == sorted(row)
        for column in zip(*table, strict=True):
            assert list(column) == sorted(column, reverse=True)

    def test_that_no_loss_is_zero(self, conversion):
        assert epsilon(Fraction(0), DELTA, conversion) == 0

    def test_that_budgets_beyond_the_floats_are_never_understated(self, conversion):
        assert epsilon(Fraction(10**400), DELTA, conversion) == math.inf
        assert epsilon(Fraction(10**300), DELTA, conversion) >= 1e300
        tiny = Fraction(1, 10**400)
        assert epsilon(tiny, DELTA, conversion) >= float(exact_bun_steinke(0, 0))
        assert epsilon(tiny, DELTA, conversion) < 1e-140

    def test_that_any_delta_between_0_and_1_has_an_epsilon(self, conversion):
        smallest, largest = Fraction(1, 10**5000), 1 - Fraction(1, 10**400)
        # √(2ρ) √(2 ln 1/δ) + ρ is an upper bound and within a hundredth at such a δ.
        assert epsilon(Fraction(1, 100), smallest, conversion) == pytest.approx(0.01 + 2 * math.sqrt(115.13), rel=1e-2)
        assert 0 <= epsilon(Fraction(1, 100), largest, conversion) <= 0.01 * (1 + 1e-12)

    @pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2)])
    def test_that_an_impossible_delta_is_refused_with_its_value(self, conversion, delta):
        with pytest.raises(ValueError, match=f"got {delta}"):
            epsilon(Fraction(1), delta, conversion)

    def test_that_a_negative_rho_is_refused_with_its_value(self, conversion):
        with pytest.raises(ValueError, match="got -1/2"):
            epsilon(Fraction(-1, 2), DELTA, conversion)

    def test_that_the_curve_is_epsilon_point_by_point(self, conversion):
        points = curve(PERSONS, conversion, DELTAS)
        assert [point.delta for point in points] == DELTAS
        assert [point.epsilon for point in points] == [epsilon(PERSONS, delta, conversion) for delta in DELTAS]

    @settings(deadline=None, max_examples=60)
    @given(st.fractions(0, 10**6), st.fractions(Fraction(1, 10**40), Fraction(99, 100)))
    def test_that_the_rho_of_an_epsilon_never_exceeds_it(self, conversion, target, delta):
        assert epsilon(rho_for_epsilon(target, delta, conversion), delta, conversion) <= target

    @pytest.mark.parametrize("target", ["1e-9", "0.001", "0.5", "1", "17.1435507", "400", "1e6"])
    @pytest.mark.parametrize("delta", ["1e-10", "1e-6", "1e-100"])
    def test_that_a_little_more_than_the_rho_of_an_epsilon_exceeds_it(self, conversion, target, delta):
        rho = rho_for_epsilon(Fraction(target), Fraction(delta), conversion)
        more = rho * (1 + Fraction(1, 10**8))
        assert epsilon(more, Fraction(delta), conversion) > Fraction(target)

    def test_that_the_rho_of_an_epsilon_is_a_short_decimal(self, conversion):
        rho = rho_for_epsilon(Fraction(17), DELTA, conversion)
        assert (rho * 10**13).denominator == 1

    def test_that_an_epsilon_of_zero_allows_what_delta_allows(self, conversion):
        rho = rho_for_epsilon(Fraction(0), Fraction(1, 2), conversion)
        assert epsilon(rho, Fraction(1, 2), conversion) == 0
        assert (rho > 0) == (conversion is not Conversion.BUN_STEINKE)
        assert rho_for_epsilon(Fraction(0), Fraction(1, 10**500), conversion) == 0

    @pytest.mark.parametrize("target", [Fraction(-1), Fraction(10**301)])
    def test_that_an_impossible_epsilon_is_refused_with_its_value(self, conversion, target):
        with pytest.raises(ValueError, match=f"got {target}"):
            rho_for_epsilon(target, DELTA, conversion)


def test_that_the_gaussian_with_zero_epsilon_has_the_total_variation_as_delta():
    # δ(0) = 2Φ(μ/2) − 1 with μ = √(2ρ); for δ = 1/2 it is μ = 1.34898…
    rho = rho_for_epsilon(Fraction(0), Fraction(1, 2), Conversion.GAUSSIAN_CONTINUOUS)
    assert math.sqrt(2 * rho) == pytest.approx(2 * 0.6744897501960817, rel=1e-10)


def test_that_bounded_rho_is_twice_the_unbounded_one_as_in_table_10():
    assert bounded(Fraction("0.662976")) == Fraction("1.325952")
    assert bounded(Fraction("1.257281")) == Fraction("2.514562")
    with pytest.raises(ValueError, match="got -1"):
        bounded(Fraction(-1))
