"""The figures of an S-DHC scenario in the form all systems share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Neighbours
from phexplore.model.keys import parse_query
from phexplore.model.numbers import Unlimited, total_budget
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe import forecast as figures_of
from phexplore.systems.protocol import Entry, Forecast, Loss, PlaceName, plain_place


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
    total = total_budget(list(method.budgets.values()))
    if neighbours is Neighbours.BOUNDED and not isinstance(total, Unlimited):
        total = 2 * total
    return Loss(method.framework, total, neighbours)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are tables at population-group levels."""
    detail = figures_of.forecast(scenario)
    entries = tuple(
        Entry(each.query, each.query.level.text, each.query.table, each.budget, each.margins, name_first=True)
        for each in detail.queries
    )
    return Forecast(loss(scenario), entries, (), (), detail, detail.privacy.epsilons)


def forecast_json(scenario: Scenario, _: Path | None = None) -> dict[str, Any]:
    """Return what ``forecast --json`` prints."""
    from phexplore.systems.phsafe import forecast_json as content  # noqa: PLC0415 - only JSON needs it
    from phexplore.systems.phsafe.ratios import ratio_forecasts  # noqa: PLC0415 - as above

    detail = figures_of.forecast(scenario)
    return content.forecast_json(scenario, detail, ratio_forecasts(detail))


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
