from __future__ import annotations

from fractions import Fraction

import pytest
from noise.oracles import convolved, coverages

from phexplore.noise import geometric_mixture
from phexplore.noise.distributions import TwoSidedGeometric
from phexplore.noise.lattice import Mixture

MIXTURES = {
    "two scales": ((Fraction(2), 1), (Fraction(3), 1)),
    "repeated": ((Fraction(7, 2), 2), (Fraction(1), 3)),
    "three scales": ((Fraction(3), 2), (Fraction(5, 2), 1), (Fraction(1, 3), 2)),
    "nearly equal": ((Fraction(3), 2), (Fraction(3) + Fraction(1, 10**9), 2)),
    "one kind": ((Fraction(2), 3),),
    "with one that is all but certain": ((Fraction(2), 1), (Fraction(3), 1), (Fraction(1, 500), 4)),
    "all but certain": ((Fraction(1, 500), 4),),
}


@pytest.mark.parametrize("scales", MIXTURES.values(), ids=MIXTURES.keys())
def test_that_partial_fractions_are_the_tail_of_the_convolution(scales):
    exact = coverages(convolved([TwoSidedGeometric(scale) for scale, count in scales for _ in range(count)]))
    for m in (0, 1, 4, 11, 30):
        outside = 1 - exact[m] if m < len(exact) else Fraction(0)
        enclosure = geometric_mixture.exact_tail(scales, m, 120)
        assert enclosure.low - 1 <= outside * 2**120 <= enclosure.high + 1
        assert enclosure.high - enclosure.low <= 6


def test_that_partial_fractions_and_fourier_inversion_agree_on_wider_noise():
    scales = ((Fraction(8), 2), (Fraction(9), 1), (Fraction(50, 3), 1))
    for m in (0, 60):
        expanded = geometric_mixture.exact_tail(scales, m, 100)
        inverted = Mixture(geometrics=scales).exact_tail(m, 100)
        assert expanded.low <= inverted.high
        assert inverted.low <= expanded.high


def test_that_scales_nobody_can_tell_apart_are_reported(monkeypatch):
    monkeypatch.setattr(geometric_mixture, "_MOST_BITS", 1000)
    scales = ((Fraction(3), 1), (Fraction(3) + Fraction(1, 10**400), 1))
    with pytest.raises(ArithmeticError, match="too similar"):
        geometric_mixture.exact_tail(scales, 1, 100)
