"""The proven ε of a release beside its published conversions: of the whole, of parts, and where budgets were moved between levels.

Production moves them where a unit has an only child (see `phexplore.spine.allocation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from phexplore.accounting.composition import Part
from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.lazy import lazy
from phexplore.model.conventions import Neighbours, Proof

ReleaseNoise = Mapping[Neighbours, tuple[Part, ...]]
"""The answers in which two neighbouring inputs differ at most; empty for a release that is not made of discrete Gaussian noise."""


class Answers(NamedTuple):
    """What a proven ε of some budgets follows from.

    Attributes:
        parts: answers in which two neighbouring inputs differ on the nominal path.
        halves: what one record of a pair moves on every path units of a geography may make, of all queries; empty for one path.
    """

    parts: tuple[Part, ...]
    halves: Sequence[tuple[Part, ...]] = ()


# NumPy is loaded when the first bracket is asked for: the window starts without.
epsilon_bracket = lazy("phexplore.accounting.exact_curve", "epsilon_bracket")
epsilon_curve = lazy("phexplore.accounting.exact_curve", "epsilon_curve")
largest_of_pairs = lazy("phexplore.accounting.exact_curve", "largest_of_pairs")
noise_factor = lazy("phexplore.accounting.exact_curve", "noise_factor")


def proven_figures(
    published: Iterable[EpsilonFigure], noise: ReleaseNoise, halves: Sequence[tuple[Part, ...]] = ()
) -> tuple[EpsilonFigure, ...]:
    """Return the published figures and, for each of their neighbours and δ, the proven one.

    Args:
        published: by named conversions of ρ.
        noise: of the release; nothing is added without.
        halves: what one record of a pair moves on every path of a geography whose units gave budgets away; empty for one path.
    """
    stated = list(published)
    asked = dict.fromkeys((each.neighbours, each.rho, each.delta) for each in stated if each.rho is not None)
    for neighbours, rho, delta in asked:
        if parts := noise.get(neighbours):
            found = epsilon_bracket(parts, delta)
            moved = largest_of_pairs(halves, delta).high if halves else None
            stated.append(EpsilonFigure(Proof.DISCRETE_GAUSSIAN, neighbours, rho, delta, found.high, found.low, moved))
    return tuple(stated)


def proven_bound(parts: Iterable[Part], halves: Sequence[tuple[Part, ...]], delta: Fraction) -> float:
    """Return what is said of ε wherever one number is stated, limited or spent: a bound on the nominal and on every other path.

    Args:
        parts: the answers in which two neighbouring inputs differ on the nominal path.
        halves: what one record of a pair moves on every path; empty for the nominal one alone.
        delta: strictly between 0 and 1.
    """
    nominal: float = epsilon_bracket(parts, delta).high
    return max(nominal, float(largest_of_pairs(halves, delta).high)) if halves else nominal


def slack(published: float, proven: float) -> float:
    """Return by how much a published ε exceeds the proven one; not negative.

    Args:
        published: by a conversion of ρ.
        proven: high end of the bracket.
    """
    return max(published - proven, 0.0)
