"""The figures of a scenario of subspace privacy in the form all systems share."""

from __future__ import annotations

from collections.abc import Iterator

from phexplore.accuracy.absurd_values import total_warnings
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.model.conventions import Neighbours
from phexplore.model.issues import Issue
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import Entry, Forecast, Loss
from phexplore.systems.subspace.forecast import ReleaseForecast, forecast_subspace


def loss(scenario: Scenario) -> Loss:
    """Return (ε, δ) of all releases together when one record is replaced."""
    method = scenario.subspace
    stated = None
    if method.delta:
        figures = forecast_subspace(method, scenario.conventions).epsilons
        figure = next(figure for figure in figures if figure.delta == HEADLINE_DELTA)
        stated = None if figure.conversion is None else figure.value
    return Loss(PrivacyFramework.PURE_DP, method.epsilon, Neighbours.BOUNDED, method.delta, stated)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are the narrowest and the widest answer of every release."""
    detail = forecast_subspace(scenario.subspace, scenario.conventions)
    entries = tuple(entry for release in detail.releases for entry in _ends(release, scenario))
    return Forecast(loss(scenario), entries, detail.protected, detail.not_protected, detail, detail.epsilons)


def _ends(release: ReleaseForecast, scenario: Scenario) -> Iterator[Entry]:
    name, convention = release.plan.name, scenario.conventions.margin
    budget = scenario.subspace.epsilon * scenario.subspace.releases[name].share
    by_margin = sorted(release.classes, key=lambda kind: kind.margins.by(convention))
    yield Entry(name, "widest", name, budget, by_margin[-1].margins, name_first=True)
    yield Entry(name, "narrowest", name, None, by_margin[0].margins, name_first=True)


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning when the total is far from the reference's."""
    if reference is not None and loss(reference).framework is loss(scenario).framework:
        yield from total_warnings(scenario.subspace.epsilon, reference.subspace.epsilon)
