"""One noise of every kind and every regime of its formulas: what the contract tests run on."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phexplore.noise.distributions import Noise

KNOWN: Mapping[str, Noise] = MappingProxyType(
    {
        "no noise": NoNoise(),
        "Gaussian, all but certain": DiscreteGaussian(Fraction(1, 1000)),
        "Gaussian, below one person": DiscreteGaussian(Fraction(2, 5)),
        "Gaussian, one person": DiscreteGaussian(Fraction(1)),
        "Gaussian, few people": DiscreteGaussian(Fraction(10)),
        "Gaussian, state numerators of 2020": DiscreteGaussian.for_budget(22, Fraction("0.141622")),
        "Gaussian, nation numerators of 2020": DiscreteGaussian.for_budget(22, Fraction("0.002619")),
        "Gaussian, in blocks": DiscreteGaussian(Fraction(10**7)),
        "geometric, all but certain": TwoSidedGeometric(Fraction(1, 20)),
        "geometric, one person": TwoSidedGeometric(Fraction(1)),
        "geometric, toy configuration": TwoSidedGeometric.for_budget(12, Fraction("0.33")),
        "geometric, in blocks": TwoSidedGeometric.for_budget(22, Fraction("0.01")),
    }
)
"""By what they stand for."""
