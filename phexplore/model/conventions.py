"""The conventions every shown number follows: one value inside the scenario."""

from __future__ import annotations

import enum
from fractions import Fraction

from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.kinds import Choice, Exact
from phexplore.model.numbers import Rounding


class Neighbours(enum.Enum):
    """Which pairs of inputs are hidden from each other."""

    BOUNDED = "bounded"
    """One person's record is replaced by another; the number of people is known."""
    UNBOUNDED = "unbounded"
    """One person's record is added or removed."""


class MarginConvention(enum.Enum):
    """How a margin of error is computed from the noise."""

    PAPER = "paper"
    """⌊1.64 σ⌋, as the PHSafe paper prints it; 90 % only."""
    NORMAL = "normal"
    """z σ with the z of the conventions."""
    EXACT = "exact"
    """The smallest whole m with P(|noise| ≤ m) at least the confidence."""


class Conversion(enum.Enum):
    """How ρ and δ become ε."""

    BUN_STEINKE = "bun-steinke"
    """ρ + 2 √(ρ ln 1/δ)."""
    ZCDP_OPTIMAL_ALPHA = "zcdp-optimal-alpha"
    """The tightest bound that holds for every ρ-zCDP mechanism, by the best Rényi order."""
    GAUSSIAN_CONTINUOUS = "gaussian-continuous"
    """The exact curve of one continuous Gaussian of the same ρ: an approximation, for information."""


class Proof(enum.Enum):
    """How ε is proven from the noise itself, without ρ: two releases of equal ρ differ in it."""

    DISCRETE_GAUSSIAN = "discrete-gaussian-exact"
    """A certified bracket for the discrete Gaussian answers of a release."""


_LEAST_DOUBT = Fraction(1, 10**12)
"""What a confidence leaves at least: closer to 1 a floating-point number is 1."""


@declared
class Conventions(Declared):
    """How numbers are to be read; changes no parameter.

    Attributes:
        neighbours: whose ρ is the headline and feeds ε.
        margin: the convention that links margins and budgets.
        z: the factor of the normal convention at 90 %; other confidences use the normal quantile.
        confidence: of the margins, in (0, 1).
        rounding: direction in which a solved budget is rounded.
        rounding_step: solved budgets are multiples of it.
        delta: of the headline ε, in (0, 1).
    """

    neighbours: Neighbours = parameter(Choice(Neighbours), default=Neighbours.BOUNDED)
    margin: MarginConvention = parameter(Choice(MarginConvention), default=MarginConvention.NORMAL)
    z: Fraction = parameter(Exact(above=0), default=Fraction(1645, 1000), title="factor z at 90 %")
    confidence: Fraction = parameter(Exact(above=0, below=1), default=Fraction(9, 10))
    rounding: Rounding = parameter(Choice(Rounding), default=Rounding.UP)
    rounding_step: Fraction = parameter(Exact(above=0), default=Fraction(1, 10**6), title="rounding step")
    delta: Fraction = parameter(Exact(above=0, below=1), default=Fraction(1, 10**10), title="δ")

    def agree(self) -> None:
        """Refuse the paper's margin at another confidence than its own, and a confidence that no margin of a computer keeps."""
        if 1 - self.confidence < _LEAST_DOUBT:
            raise ValueError("the confidence is closer to 1 than 1e-12; no margin keeps it")
        if self.margin is MarginConvention.PAPER and self.confidence != Fraction(9, 10):
            raise ValueError(
                f"the paper's ⌊1.64 σ⌋ is a 90 % margin, got a confidence of {self.confidence}; "
                "choose the normal or the exact convention for another confidence"
            )


AS_IN_2020 = Conventions(rounding=Rounding.NEAREST)
"""What reproduces the published Table 10: normal margin, z = 1.645, nearest multiple of 1e-6."""
