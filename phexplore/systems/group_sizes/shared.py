"""The figures of a scenario of group sizes in the form all systems share."""

from __future__ import annotations

from collections.abc import Iterator

from phexplore.accuracy.absurd_values import total_warnings
from phexplore.model.conventions import Neighbours
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.protocol import Entry, Forecast, Loss


def loss(scenario: Scenario) -> Loss:
    """Return the loss when one individual of a group is added or removed."""
    return Loss(scenario.group_sizes.framework, scenario.group_sizes.total, Neighbours.UNBOUNDED)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are levels, with the margin of the number of groups of one size."""
    detail = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    entries = tuple(Entry(e.level, e.level, "one size", e.budget, e.size_margins) for e in detail.levels)
    return Forecast(loss(scenario), entries, detail.protected, detail.not_protected, detail, detail.epsilons)


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning when the total is far from the reference's."""
    if reference is not None and loss(reference).framework is loss(scenario).framework:
        yield from total_warnings(scenario.group_sizes.total, reference.group_sizes.total)
