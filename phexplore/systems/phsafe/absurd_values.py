"""Values of an S-DHC scenario that are legal and hardly meant."""

from __future__ import annotations

from collections.abc import Iterator

from phexplore.accuracy.absurd_values import LEAST_MARGIN, far_apart, hardly_meant
from phexplore.model.conventions import Conventions
from phexplore.model.issues import Issue
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.forecast import QueryForecast, forecast


def absurd_query(entry: QueryForecast, before: QueryForecast | None, conventions: Conventions) -> str:
    """Return what is to be said of the budget and margin of a PHSafe query, "" when they look meant.

    Args:
        entry: of the scenario.
        before: of the reference, None without a comparable one.
        conventions: decide which margin counts.
    """
    if entry.margins is None or isinstance(entry.budget, Unlimited):
        return ""
    margin = entry.margins.by(conventions.margin)
    if margin < LEAST_MARGIN:
        return f"its margin is {margin:.2g} people, below one person"
    if before is None or before.margins is None or isinstance(before.budget, Unlimited):
        return ""
    if (entry.budget, entry.threshold) == (before.budget, before.threshold):  # what no edit touched is the same object
        return ""
    if ratio := far_apart(entry.budget, before.budget):
        return f"its budget is {ratio} that of the reference"
    ratio = far_apart(margin, before.margins.by(conventions.margin))
    return f"its margin is {ratio} that of the reference" if ratio else ""


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning for every budget, margin and target that looks like a slip."""
    method = scenario.phsafe
    known: dict[object, QueryForecast] = {}
    if reference is not None and reference.phsafe.framework is method.framework:
        known = {entry.query: entry for entry in forecast(reference).queries}
    for entry in forecast(scenario).queries:
        if said := absurd_query(entry, known.get(entry.query), scenario.conventions):
            yield hardly_meant(("budgets", entry.query.text), f"{entry.query.title} looks like a slip: {said}.")
    for query, target in method.targets.items():
        if target.numerator < LEAST_MARGIN * target.denominator:  # whole numbers: an edit asks this of every target
            said = f"The target of {query.title} is {exact_text(target)} people, below one person."
            yield hardly_meant(("targets", query.text), said)
