"""Where a budget and its margin can go with every goal kept: drawn on the sliders of a row. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.solving_caps import cap_total
from phexplore.decide.sensitivity import budget_range
from phexplore.figures.wording import budget_text, people
from phexplore.model.goals import Goals
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited
from phexplore.model.workbook import Workbook, system_name
from phexplore.systems.registry import budgets_of

Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class SafeRanges:
    """The safe range of one row.

    Attributes:
        budgets: bounded, from and to; None where nothing bounds it.
        margins: in people, likewise.
        words: the same as a sentence.
    """

    budgets: Ends
    margins: Ends
    words: str


def safe_range(workbook: Workbook, query: QueryKey) -> SafeRanges | None:
    """Return where a published query of the active scenario can go; None when nothing bounds it or nothing is safe."""
    scenario = workbook.scenario
    method = scenario.phsafe
    if method.budgets.get(query) in {None, Fraction(0)} or isinstance(method.budgets[query], Unlimited):
        return None
    goals = workbook.goals.get(system_name(scenario), Goals())
    totals = [cap_total(cap, method.framework) for cap in goals.caps if cap.queries is None]
    found = budget_range(scenario, query, min(totals, default=None))
    if found.low is None or (found.low == 0 and found.high is None):
        return None
    target = method.targets.get(query)
    widest = None if target is None else target
    narrowest = None if found.high is None else Fraction(budgets_of(scenario).margin(query, found.high))
    low = None if found.low == 0 else 2 * found.low
    high = None if found.high is None else 2 * found.high
    words = f"Safe from {budget_text(low or Fraction(0))}" + (f" to {budget_text(high)}" if high is not None else " on")
    if widest is not None:
        words += f": the margin stays within {people(widest)} people"
    return SafeRanges((low, high), (narrowest, widest), words + ".")
