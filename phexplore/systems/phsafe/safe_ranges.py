"""Where budget and margin of a query can go with its target kept and no cap of the project exceeded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.solving_caps import cap_total
from phexplore.catalog.tables import counted_in
from phexplore.figures.wording import budget_text, people
from phexplore.model.goals import Goals
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_sum, round_exact
from phexplore.model.workbook import Workbook, system_name
from phexplore.systems.phsafe.budget_model import PhSafeBudgets

Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class SafeRanges:
    """Where a query can go.

    Attributes:
        budgets: bounded, from and to; None where nothing bounds it.
        margins: in people, likewise.
        words: the same as a sentence.
    """

    budgets: Ends
    margins: Ends
    words: str


def safe_range(workbook: Workbook, query: QueryKey) -> SafeRanges | None:
    """Return where a published query can go: from what its target needs to what caps on the whole loss leave.

    Args:
        workbook: gives targets, caps, and the other budgets.
        query: of the active scenario.

    Returns:
        None when nothing bounds it or nothing is safe.
    """
    scenario = workbook.scenario
    method, conventions, system = scenario.phsafe, scenario.conventions, PhSafeBudgets(scenario)
    if isinstance(method.budgets.get(query, Fraction(0)), Unlimited) or not method.budgets.get(query):
        return None
    caps = workbook.goals.get(system_name(scenario), Goals()).caps
    totals = [cap_total(cap, method.framework) for cap in caps if cap.queries is None]
    high = None
    if totals:
        others = exact_sum(b for q, b in method.budgets.items() if q != query and isinstance(b, Fraction))
        high = min(totals) - others
    target, low = method.targets.get(query), Fraction(0)
    if target is not None:
        low = round_exact(system.need(query, target), conventions.rounding_step, conventions.rounding)
    if (high is None and low == 0) or (high is not None and high < low):
        return None
    narrowest = None if high is None else Fraction(system.margin(query, high))
    words = f"Safe from {budget_text(2 * low)}" + (" on" if high is None else f" to {budget_text(2 * high)}")
    if target is not None:
        words += f": the margin stays within {people(target)} {counted_in(query.table)}"
    return SafeRanges((2 * low or None, None if high is None else 2 * high), (narrowest, target), words + ".")
