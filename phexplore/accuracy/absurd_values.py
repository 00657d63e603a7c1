"""Values that are legal and hardly meant: warnings for a committee, where a slip of the decimal point would stand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from phexplore.model.issues import Issue, Severity
from phexplore.text.messages import msg

MOST_EPSILON = 50.0
"""Above it an attacker's odds may change by more than e^50. The largest production release of 2020 has ε below 40."""
FAR = 10
"""A budget or margin this many times the reference's, or its tenth, looks like a slip: production's proposals moved by less."""
LEAST_MARGIN = 1
"""A margin below one person publishes the count itself, or nearly so."""
_REMEDY = msg("Check the decimal point. If the value is intended, ignore this warning.")


def far_apart(now: Fraction | float, then: Fraction | float) -> str:
    """Return how many times a number is another, "" when they are less than a factor of `FAR` apart.

    Args:
        now: the number to judge.
        then: the number to compare it with, in the same unit.
    """
    if now <= 0 or then <= 0:
        return ""
    if now >= FAR * then:
        return msg("{times:,.0f} times", times=float(now / then))
    return msg("1/{times:,.0f} of", times=float(then / now)) if then >= FAR * now else ""


def total_warnings(now: Fraction, then: Fraction) -> Iterator[Issue]:
    """Yield a warning when a total is far from the reference's.

    Args:
        now: total budget of the scenario, ρ or ε.
        then: total budget of the reference, of the same framework.
    """
    if ratio := far_apart(now, then):
        yield hardly_meant(
            ("total",),
            msg("The total budget may contain a typing error: it is {ratio} that of the baseline.", ratio=ratio),
        )


def hardly_meant(path: tuple[str, ...], sentence: str) -> Issue:
    """Return the warning about a value at a place.

    Args:
        path: keys that lead to the value in the scenario.
        sentence: what is unusual about it.
    """
    return Issue(path, sentence, _REMEDY, Severity.WARNING)
