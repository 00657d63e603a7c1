from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise.oracles import UNIT, convolved, coverages, half_pmf, pmf, smallest_covering

from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric
from phexplore.noise.geometric_mixture import exact_tail
from phexplore.noise.sums import merging_error, mixture_of, sum_margin


def gaussians(*sigma2s):
    return [DiscreteGaussian(Fraction(s)) for s in sigma2s]


def geometrics(*scales):
    return [TwoSidedGeometric(Fraction(b)) for b in scales]


SUMS = {
    "one cell": gaussians(10),
    "sixteen equal cells": gaussians(*[10] * 16),
    "two cells of PH8": gaussians("148", "148"),
    "just wide enough to merge": gaussians(5, 5, 7),
    "too narrow to merge": gaussians("1/2", "1/2", 1),
    "narrow beside wide": gaussians("1/5", 60),
    "all but certain": gaussians("1/1000", "1/1000"),
    "one geometric": geometrics(2),
    "equal geometrics": geometrics(*[2] * 5),
    "unequal geometrics": geometrics(3, 2, 2),
    "both kinds": gaussians(6) + geometrics(2),
    "with noiseless cells": [*gaussians(9, 9), NoNoise(), NoNoise()],
}


@pytest.mark.parametrize("noises", SUMS.values(), ids=SUMS.keys())
class TestEverySum:
    @pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10), Fraction(9999, 10**4)], ids=float)
    def test_that_the_margin_is_the_smallest_that_covers_the_convolution(self, noises, confidence):
        assert sum_margin(noises, confidence) == smallest_covering(convolved(noises), confidence)

    def test_that_a_confidence_equal_to_a_coverage_to_forty_digits_is_decided(self, noises):
        covered = coverages(convolved(noises))
        m = max(1, int(sum(noise.variance() for noise in noises) ** 0.5))
        if m >= len(covered) or covered[m] - covered[m - 1] < Fraction(1, 2**100):
            pytest.skip("all of this sum is at 0")
        below = Fraction(int(covered[m] * 2**140) - 1, 2**140)
        assert sum_margin(noises, below) == m
        assert sum_margin(noises, below + Fraction(3, 2**140)) == m + 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fractions(Fraction(1, 20), 40, max_denominator=20), min_size=1, max_size=4), st.integers(1, 99))
def test_that_any_sum_of_gaussians_has_the_margin_of_its_convolution(sigma2s, percent):
    noises = gaussians(*sigma2s)
    assert sum_margin(noises, Fraction(percent, 100)) == smallest_covering(convolved(noises), Fraction(percent, 100))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(["1/2", "1", "5/4", "2", "5/2"]), min_size=1, max_size=5), st.integers(1, 99))
def test_that_any_sum_of_geometrics_has_the_margin_of_its_convolution(scales, percent):
    noises = geometrics(*scales)
    assert sum_margin(noises, Fraction(percent, 100)) == smallest_covering(convolved(noises), Fraction(percent, 100))


@pytest.mark.parametrize("sigma2s", [(1, 1), (1, 2, 3), (1, 1, 1, 1), (2, 2), (5, 5)], ids=str)
def test_that_a_sum_of_discrete_gaussians_is_one_within_the_stated_ratio(sigma2s):
    merged = half_pmf(DiscreteGaussian(Fraction(sum(sigma2s))))
    separate = convolved(gaussians(*sigma2s))
    centre = len(separate) // 2
    # As far out as the oracle has digits for the ratio.
    inside = [x for x, p in enumerate(merged) if p > UNIT >> 100]
    worst = max(abs(math.log(Fraction(separate[centre + x], merged[x]))) for x in inside)
    bound = merging_error([(Fraction(s), 1) for s in sigma2s])
    assert worst <= bound + 1e-15
    # The bound has the right size, too: it would be useless ten thousand times larger.
    assert min(sigma2s) > 2 or worst >= bound / 1e4


def test_that_counts_and_lists_describe_the_same_sum():
    wide, narrow = gaussians(50, "1/3")
    assert sum_margin({wide: 3, narrow: 2}, Fraction(9, 10)) == sum_margin(
        [wide, narrow, wide, narrow, wide], Fraction(9, 10)
    )
    copies = gaussians(50, 50, 50)
    assert sum_margin(copies, Fraction(9, 10)) == sum_margin({wide: 3}, Fraction(9, 10))


def test_that_a_sum_of_nothing_has_no_margin():
    assert sum_margin([], Fraction(9, 10)) == 0
    assert sum_margin([NoNoise()] * 3, Fraction(9, 10)) == 0


def test_that_a_national_total_of_all_state_cells_lies_at_the_normal_quantile():
    state = DiscreteGaussian.for_budget(22, Fraction("0.141622"))
    spread = math.sqrt(51 * 8 * float(state.sigma2))
    assert sum_margin([state] * (51 * 8), Fraction(9, 10)) == math.ceil(1.6448536 * spread - 0.5)


@pytest.mark.parametrize(
    "noises",
    [geometrics(10**5, 10**5 + 1), geometrics(10**6, *[6] * 20), geometrics(*[2200] * 100), geometrics(66, 5, 5, 40)],
    ids=["two wide", "one wide", "many", "few"],
)
def test_that_the_margin_of_wide_geometrics_parts_their_exact_tails(noises):
    margin = sum_margin(noises, Fraction(9, 10))
    scales = mixture_of(noises).geometrics
    assert Fraction(exact_tail(scales, margin, 80).high, 2**80) <= Fraction(1, 10)
    assert Fraction(exact_tail(scales, margin - 1, 80).low, 2**80) > Fraction(1, 10)


def test_that_noise_of_another_kind_is_refused_by_name():
    class Strange:
        pass

    with pytest.raises(TypeError, match="Strange"):
        sum_margin([Strange()], Fraction(1, 2))


def test_that_a_certain_sum_is_refused():
    with pytest.raises(ValueError, match="got 1"):
        sum_margin(gaussians(3), Fraction(1))


def test_that_the_oracle_itself_adds_up():
    # χ² of nothing: the distribution of a sum has total probability 1 within its rounding.
    assert UNIT - sum(convolved(gaussians(3, 3))) < 1 << 20
    assert convolved(gaussians(3)) == pmf(gaussians(3)[0])
