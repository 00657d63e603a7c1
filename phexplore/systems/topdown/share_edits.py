"""Shares and totals of TopDown from what people want: a budget, a margin of error, an ε."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from phexplore.accounting.zcdp import rho_for_epsilon
from phexplore.accuracy.margins import margins_of
from phexplore.model.conventions import Conventions, Conversion
from phexplore.model.edits import EditRefusedError, set_field
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.shares import SHARE_STEP
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.forecast import noise_of
from phexplore.systems.topdown.wording import counted, level_title


def share_for_budget(method: TopDown, key: LevelQuery, budget: Fraction) -> Fraction:
    """Return the share of its level that gives a query group this budget, exact.

    Args:
        method: the parameters.
        key: level and query group.
        budget: ρ or ε, exact.

    Raises:
        EditRefusedError: the budget is negative or more than its whole level has.
    """
    whole = method.total * method.level_shares[key.level]
    if not 0 <= budget <= whole:
        raise EditRefusedError(
            f"{level_title(key.level)} has {float(whole):.6g} in all, so {key.query} cannot have {exact_text(budget)}.",
            "Give the level or the total more, or enter less.",
        )
    return budget / whole if whole else Fraction(0)


def level_share_for_budget(method: TopDown, budget: Fraction) -> Fraction:
    """Return the share of the total that gives a level this budget, exact.

    Args:
        method: the parameters.
        budget: ρ or ε, exact.

    Raises:
        EditRefusedError: the budget is negative or more than the total.
    """
    if not 0 <= budget <= method.total:
        raise EditRefusedError(
            f"The total is {float(method.total):.6g}, so a level cannot have {exact_text(budget)}.",
            "Raise the total, or enter less.",
        )
    return budget / method.total


def share_for_margin(method: TopDown, key: LevelQuery, margin: Fraction, conventions: Conventions) -> Fraction:
    """Return the smallest share of its level, a multiple of one millionth, that keeps the margin of one answer.

    Found by bisection, because a margin never widens when the share grows, in every convention and framework.

    Args:
        method: gives total and level share.
        key: the query group.
        margin: half-width in what is counted, > 0.
        conventions: margin convention, confidence and z.

    Raises:
        EditRefusedError: the margin is not positive, or the whole level cannot keep it.
    """
    if margin <= 0:
        raise EditRefusedError(
            f"A margin of error is more than 0 {counted(method.schema)}, got {exact_text(margin)}.",
            "Enter a positive number.",
        )
    whole = method.total * method.level_shares[key.level]
    keeps = _margin_test(method.framework, whole, margin, conventions)
    if whole == 0 or not keeps(Fraction(1)):
        raise EditRefusedError(
            f"All of {level_title(key.level)} together cannot keep a margin of {exact_text(margin)} {counted(method.schema)}.",
            "Give the level a larger share, or enter a wider margin.",
        )
    low, high = 0, int(1 / SHARE_STEP)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle * SHARE_STEP) else (middle, high)
    return high * SHARE_STEP


def set_total_by_epsilon(scenario: Scenario, target: Fraction, conversion: Conversion) -> Scenario:
    """Set the largest ρ whose ε, at the scenario's δ and under a named conversion, does not exceed the target.

    Under pure DP the total is ε itself.

    Args:
        scenario: of TopDown.
        target: ε, exact.
        conversion: from ρ and δ to ε.

    Raises:
        EditRefusedError: the target is not positive, or so small that no ρ reaches it.
    """
    method = scenario.topdown
    if target <= 0:
        raise EditRefusedError(f"ε is more than 0, got {exact_text(target)}.", "Enter a positive number.")
    if method.framework is PrivacyFramework.PURE_DP:
        return set_field(scenario, "total", target)
    try:
        rho = rho_for_epsilon(target, scenario.conventions.delta, conversion)
    except ValueError as error:
        raise EditRefusedError(f"{error}.", "Enter an ε between 0.001 and 1000.") from error
    if rho <= 0:
        raise EditRefusedError(f"No ρ gives an ε as small as {exact_text(target)}.", "Enter a larger ε.")
    return set_field(scenario, "total", rho)


def _margin_test(
    framework: PrivacyFramework, whole: Fraction, margin: Fraction, conventions: Conventions
) -> Callable[[Fraction], bool]:
    def keeps(share: Fraction) -> bool:
        noise, _ = noise_of(framework, whole * share)
        return margins_of(noise, 1, conventions.confidence, conventions.z).by(conventions.margin) <= margin

    return keeps
