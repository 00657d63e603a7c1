"""The figures of an S-DHC scenario in the form all systems share.

Args:
    scenario: to judge.
    reference: what it is compared with, None for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from phexplore.accuracy.absurd_values import LEAST_MARGIN, far_apart, hardly_meant
from phexplore.catalog.tables import counted_in
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions, Neighbours
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey, parse_query
from phexplore.model.numbers import Unlimited, exact_text, total_budget
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe import forecast as figures_of
from phexplore.systems.phsafe.forecast import QueryForecast
from phexplore.systems.protocol import Forecast, Loss, PlaceName, plain_place


def place_name(place: str) -> PlaceName:
    """Return what ``PH3/state_A-G`` is called."""
    try:
        query = parse_query(place)
    except PhexploreError:
        return plain_place(place)
    return PlaceName(query.table, query.level.title, query.title)


def loss(scenario: Scenario) -> Loss:
    """Return the loss under the scenario's neighbours; bounded is twice unbounded."""
    method, neighbours = scenario.phsafe, scenario.conventions.neighbours
    if (known := figures_of.known_forecast(scenario)) is not None:
        return Loss(method.framework, known.headline, neighbours)
    total = total_budget(list(method.budgets.values()))
    if neighbours is Neighbours.BOUNDED and not isinstance(total, Unlimited):
        total = 2 * total
    return Loss(method.framework, total, neighbours)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are tables at population-group levels."""
    detail = figures_of.forecast(scenario)
    return Forecast(loss(scenario), detail.entries, (), (), detail, detail.privacy.epsilons, detail.noise)


def require_phsafe(scenario: Scenario, wish: str) -> None:
    """Refuse a scenario of another system than PHSafe.

    Args:
        scenario: any.
        wish: what was asked for, as the beginning of a sentence.

    Raises:
        PhexploreError: it holds parameters of TopDown.
    """
    if not isinstance(scenario.method, PhSafe):
        raise PhexploreError(
            f"{wish} needs the parameters of the S-DHC (PHSafe), but {scenario.name!r} holds those of TopDown.",
            "Choose another scenario, e.g. sdhc-2020-us; phexplore forecast shows the figures of both systems.",
        )


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
        return f"its margin is {margin:.2g} {counted_in(entry.query.table)}, below one"
    if before is None or before.margins is None or isinstance(before.budget, Unlimited):
        return ""
    if (entry.budget, entry.threshold) == (before.budget, before.threshold):  # what no edit touched is the same object
        return ""
    if ratio := far_apart(entry.budget, before.budget):
        return f"its budget is {ratio} that of the reference"
    ratio = far_apart(margin, before.margins.by(conventions.margin))
    return f"its margin is {ratio} that of the reference" if ratio else ""


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning for every budget, margin and target that looks like a slip.

    Args:
        scenario: to look at.
        reference: to compare it with, None for none.
    """
    method = scenario.phsafe
    known: Mapping[QueryKey, QueryForecast] = {}
    if reference is not None and reference.phsafe.framework is method.framework:
        known = figures_of.forecast(reference).by_query
    for entry in figures_of.forecast(scenario).queries:
        if said := absurd_query(entry, known.get(entry.query), scenario.conventions):
            yield hardly_meant(("budgets", entry.query.text), f"{entry.query.title} looks like a slip: {said}.")
    for query, target in method.targets.items():
        if target.numerator < LEAST_MARGIN * target.denominator:  # whole numbers: an edit asks this of every target
            said = f"The target of {query.title} is {exact_text(target)} {counted_in(query.table)}, below one."
            yield hardly_meant(("targets", query.text), said)
