"""Caps on a proven ε: it follows from the noise of every answer and not from ρ, so what they allow depends on what is solved.

Without a solution such a cap allows what keeps it for any noise of that ρ (Canonne, Kamath and Steinke 2020, Proposition 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.proven_loss import epsilon_bracket, noise_factor, proven_bound
from phexplore.accuracy.solving_groups import Separated, sum_under
from phexplore.model.goals import Cap, CapOn, Key
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PrivacyFramework

_CLOSE = Fraction(1, 10**6)
"""Of a cap: what is left of it is not worth another round."""


def proven_under(model: BudgetModel, cap: Cap, budgets: Mapping[Key, Budget]) -> float | None:
    """Return the proven ε of the queries a cap counts, of all queries on every path; None for another cap and where the noise proves none.

    Args:
        model: of the scenario.
        cap: which queries count, for which neighbours and δ.
        budgets: of all queries.
    """
    if cap.on is not CapOn.PROVEN:
        return None
    parts, halves = model.noise(_counted(cap, budgets), cap.neighbours)
    # Of some queries, as of a place or an attribute, the figure is that of the nominal path: other paths have other budgets there.
    return proven_bound(parts, () if cap.queries is not None else halves, cap.delta) if parts else None


def keeps_proven(model: BudgetModel, separated: Separated) -> bool:
    """Return whether the budgets a scenario has keep every cap on a proven ε: evaluated, not inferred.

    Args:
        model: of the solved scenario, with the rounding of its files.
        separated: the caps.
    """
    for cap, _ in separated.caps:
        found = proven_under(model, cap, model.budgets)
        # Without a proof the cap is kept by the sum of the budgets, which is ε itself under pure DP and 0 where nothing is asked.
        proves_nothing = found is None and model.framework is PrivacyFramework.ZCDP
        if proves_nothing and cap.on is CapOn.PROVEN and sum_under(cap, model.budgets):
            return False
        if found is not None and found > cap.limit:
            return False
    return True


def widened(model: BudgetModel, separated: Separated, budgets: Mapping[Key, Budget], margin: Fraction) -> Separated:
    """Return the problem with what each cap on a proven ε allows for budgets in these proportions.

    Before, such a cap allows what keeps it for any noise of that ρ.

    Args:
        model: of the scenario.
        separated: the problem.
        budgets: rounded, near the solution.
        margin: part of every such cap that is left unused.
    """
    caps = []
    for cap, allowed in separated.caps:
        parts = model.noise(_counted(cap, budgets), cap.neighbours).parts if cap.on is CapOn.PROVEN else ()
        if parts:
            nominal = Fraction(epsilon_bracket(parts, cap.delta).high)
            highest = Fraction(proven_under(model, cap, budgets) or 0)
            # What other paths lose beyond the nominal one is nearly in proportion; what comes of it is evaluated.
            factor, _ = noise_factor(parts, cap.limit * nominal / highest, cap.delta)
            if highest <= cap.limit:
                factor = max(factor, Fraction(1))
            allowed = max(allowed, sum_under(cap, budgets) * factor * (1 - margin))  # noqa: PLW2901 - the pair is rebuilt
        caps.append((cap, allowed))
    return replace(separated, caps=tuple(caps))


def leaves_room(before: Separated, after: Separated) -> bool:
    """Return whether a cap allows more than it did.

    Args:
        before: what was solved.
        after: the same with what the solution showed.
    """
    return any(now > allowed * (1 + _CLOSE) for (_, allowed), (_, now) in zip(before.caps, after.caps, strict=True))


def _counted(cap: Cap, budgets: Mapping[Key, Budget]) -> Mapping[Key, Budget]:
    return {key: budget for key, budget in budgets.items() if cap.queries is None or key in cap.queries}
