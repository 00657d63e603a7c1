"""Solved budgets of TopDown as a total, level shares and query shares, exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isqrt

from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown

_FINEST_SCALE = 15


def with_budgets(method: TopDown, budgets: Mapping[LevelQuery, Fraction], cap: Fraction | None = None) -> TopDown:
    """Return the method with these absolute budgets, or a little more.

    Under zCDP production writes ρ as 1/scale² with a rational scale. The total is raised to the next such number, with the
    coarsest scale that exceeds neither the sum by more than one part in a million nor the cap; the largest query takes the
    difference. Where no scale of 15 decimals fits under the cap, the total is the sum itself.

    Args:
        method: asks the same queries.
        budgets: one per query, exact, not all 0.
        cap: the total may not exceed it.
    """
    whole = sum(budgets.values(), Fraction(0))
    total = _with_scale(whole, cap) if method.framework is PrivacyFramework.ZCDP else whole
    largest = max(budgets, key=lambda key: budgets[key])
    given = {key: budgets[key] + (total - whole if key == largest else 0) for key in method.query_shares}
    levels = {level: sum((b for key, b in given.items() if key.level == level), Fraction(0)) for level in method.levels}
    shares = {
        key: budget / levels[key.level] if levels[key.level] else method.query_shares[key]
        for key, budget in given.items()
    }
    return replace(
        method,
        total=total,
        level_shares={level: part / total for level, part in levels.items()},
        query_shares=shares,
    )


def _with_scale(total: Fraction, cap: Fraction | None) -> Fraction:
    for digits in range(4, _FINEST_SCALE + 1):
        step = Fraction(1, 10**digits)
        wanted = 1 / total / step**2
        scale = isqrt(wanted.numerator // wanted.denominator) * step  # downward: ρ upward
        if scale > 0:
            found = 1 / scale**2
            if found <= total * (1 + Fraction(1, 10**6)) and (cap is None or found <= cap):
                return found
    return total
