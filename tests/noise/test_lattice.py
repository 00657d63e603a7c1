from __future__ import annotations

import math
from fractions import Fraction

import pytest
from noise.oracles import ROUNDING, convolved, coverages

from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric
from phexplore.noise.lattice import FloatSeries, Mixture

MIXTURES = {
    "one wide Gaussian": Mixture(gaussians=((Fraction(300), 1),)),
    "one narrow Gaussian": Mixture(gaussians=((Fraction(1, 5), 1),)),
    "all but certain": Mixture(gaussians=((Fraction(1, 1000), 3),)),
    "narrow and wide": Mixture(gaussians=((Fraction(1, 5), 2), (Fraction(7), 2), (Fraction(40), 1))),
    "around the change of form": Mixture(gaussians=((Fraction(24, 100), 2), (Fraction(1, 4), 2))),
    "one geometric": Mixture(geometrics=((Fraction(2), 1),)),
    "geometrics": Mixture(geometrics=((Fraction(2), 3), (Fraction(1, 2), 1))),
    "both kinds": Mixture(gaussians=((Fraction(6), 2),), geometrics=((Fraction(2), 2),)),
}


def summands(mixture: Mixture):
    return [DiscreteGaussian(s) for s, n in mixture.gaussians for _ in range(n)] + [
        TwoSidedGeometric(b) for b, n in mixture.geometrics for _ in range(n)
    ]


@pytest.mark.parametrize("mixture", MIXTURES.values(), ids=MIXTURES.keys())
def test_that_inversion_gives_the_tail_of_the_convolution_within_the_stated_error(mixture):
    exact = coverages(convolved(summands(mixture)))
    series = FloatSeries(mixture)
    spread = math.sqrt(sum(noise.variance() for noise in summands(mixture)))
    for m in {int(f * spread) for f in (0, 0.5, 1.645, 3, 8)} | {1}:
        outside = 1 - exact[m] if m < len(exact) else Fraction(0)
        value, error = series.tail(m)
        assert abs(Fraction(value) - outside) <= Fraction(error) + ROUNDING <= Fraction(1, 10**12)
        enclosure = mixture.exact_tail(m, 120)
        assert enclosure.low - 1 <= outside * 2**120 <= enclosure.high + 1
        assert enclosure.high - enclosure.low <= 4


@pytest.mark.parametrize("mixture", MIXTURES.values(), ids=MIXTURES.keys())
@pytest.mark.parametrize("bits", [10, 40, 100])
def test_that_the_reach_holds_all_but_the_stated_probability(mixture, bits):
    exact = coverages(convolved(summands(mixture)))
    reach = mixture.reach(bits)
    assert 1 - exact[min(reach - 1, len(exact) - 1)] <= Fraction(1, 2 ** (bits + 1)) + ROUNDING


def test_that_points_beyond_the_reach_have_a_tail_below_the_last_place():
    mixture = MIXTURES["one wide Gaussian"]
    assert mixture.exact_tail(10**9, 80).high == 1
    assert FloatSeries(mixture).tail(10**9) == (0.0, 2.0**-60)


def test_that_a_series_too_long_for_floats_says_so():
    endless = Mixture(geometrics=((Fraction(10**8), 1), (Fraction(1), 1)))
    assert FloatSeries(endless).tail(10).error == math.inf
