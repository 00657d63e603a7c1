"""Adding up what was spent, exactly. ρ under zCDP and ε under pure DP compose by addition (PHSafe paper §4.4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from phexplore.errors import BudgetMismatchError
from phexplore.model.numbers import Budget, Unlimited, exact_text, total_budget
from phexplore.text.messages import Number, msg


class Part(NamedTuple):
    """Answers with discrete Gaussian noise, as a pair of neighbouring inputs meets them.

    Attributes:
        variance: σ² of the noise, in people², above 0.
        shift: whole number, at least 1, by which one answer differs.
        copies: how many answers differ by it, each with noise of its own.
        doubt: by how much less variance the one answer must be taken to have for an upper figure, where the shift may as well be
            spread over several answers and that may be worse; 0 where one answer is the worst.
    """

    variance: Fraction
    shift: int
    copies: int
    doubt: Fraction = Fraction(0)

    @property
    def rho(self) -> Fraction:
        """ρ of one of the answers: shift² / (2σ²)."""
        return self.shift**2 / (2 * self.variance)


def spent(budgets: Iterable[Budget]) -> Budget:
    """Return the exact sum of budgets spent on the same data; unlimited as soon as one is.

    Args:
        budgets: of one framework, ρ or ε; 0 is a query that was not published.

    Raises:
        ValueError: a budget is negative.
    """
    parts = list(budgets)
    for part in parts:
        if not isinstance(part, Unlimited) and part < 0:
            raise ValueError(f"nobody spends a negative budget, got {part}")
    return total_budget(parts)


def bounded_epsilon(epsilon: Fraction) -> Fraction:
    """Return the bounded (replace-one) ε of a pure-DP run with this unbounded ε: a removal and an addition, twice it.

    Raises:
        ValueError: ε is negative.
    """
    if epsilon < 0:
        raise ValueError(f"ε is at least 0, got {epsilon}")
    return 2 * epsilon


def confirm_spent(declared: Budget, budgets: Iterable[Budget]) -> None:
    """Compare what was declared with what was spent; call it before anything leaves the program.

    Args:
        declared: the total the release claims, ρ or ε.
        budgets: what each query spends, of the same framework as `declared`.

    Raises:
        BudgetMismatchError: they differ, by however little, in either direction.
        ValueError: a budget is negative.
    """
    total = spent(budgets)
    if total == declared:
        return
    sums = {"declared": Number(exact_text(declared)), "total": Number(exact_text(total))}
    if isinstance(total, Unlimited) or isinstance(declared, Unlimited):
        sentence = msg("The declared budget is {declared}, but the queries use {total}.", **sums)
    elif total > declared:
        sums["more"] = Number(exact_text(total - declared))
        sentence = msg("The declared budget is {declared}, but the queries use {total}, which is {more} more.", **sums)
    else:
        sums["less"] = Number(exact_text(declared - total))
        sentence = msg("The declared budget is {declared}, but the queries use {total}, which is {less} less.", **sums)
    raise BudgetMismatchError(
        sentence,
        msg("Do not release the result. Declare the budget that the queries use, or change the queries."),
    )
