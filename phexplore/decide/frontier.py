"""The trade-off as a curve: the smallest weighted margin of error that a total budget can buy.

Every measured query has a margin m = √(A/ρ) with A of its own (normal convention: A = z²Δ²/2 for PHSafe, z² for
TopDown, whose queries are taken by themselves here). With weights w, the sum Σ w m under Σ ρ = R is smallest where
every query has the same marginal price, w m / (2ρ): then ρ is in proportion to (w² A)^(1/3), and the weighted margin is
in proportion to 1/√R. One per cent more budget always buys 0.5 % less weighted margin; what differs is where the people
are.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.margins import normal_factor
from phexplore.errors import BudgetMismatchError, PhexploreError
from phexplore.model.goals import title_of
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import budgets_of, loss_of

Key = QueryKey | LevelQuery


class FrontierError(PhexploreError):
    """A scenario whose trade-off cannot be drawn."""


class Weighting(enum.Enum):
    """Whose people count how much. The value is the word on the command line."""

    PEOPLE = "people"
    """One person of margin weighs the same everywhere."""
    TARGETS = "targets"
    """A margin weighs by its share of its target; where there is no target, of its present size."""
    PRESENT = "present"
    """The weights for which the scenario itself is best: what its authors must have meant."""


@dataclass(frozen=True, slots=True)
class PricedQuery:
    """A query on the trade-off.

    Attributes:
        key: which one.
        name: for people.
        area: A in m = √(A/ρ), people² times budget.
        budget: present one, exact, > 0.
        margin: present normal margin in people.
        weight: of one person of its margin.
    """

    key: Key
    name: str
    area: float
    budget: Fraction
    margin: float
    weight: float

    def people_bought(self, budget: float) -> float:
        """Return by how many people the margin shrinks when the query gets this much more budget."""
        return self.margin - math.sqrt(self.area / (float(self.budget) + budget))


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """One point of the curve.

    Attributes:
        total: budget as the scenario counts it (PHSafe: unbounded), exact.
        headline: under the scenario's neighbours.
        epsilon: of the headline at δ = 1e-10 by the tightest zCDP conversion; the headline itself under pure DP.
        weighted_margin: mean margin with the weights, in people.
        scenario: the parameters of the point, rounded so that the total is not exceeded.
    """

    total: Fraction
    headline: Fraction
    epsilon: float
    weighted_margin: float
    scenario: Scenario


@dataclass(frozen=True, slots=True)
class Frontier:
    """The curve and where the scenario stands.

    Attributes:
        weighting: whose people count.
        queries: with their present prices.
        points: by total, ascending.
        present_total: of the scenario, exact.
        present_margin: its weighted margin.
        best_margin: the smallest that its total can buy.
        held: what locked budgets spend, exact.
        held_margin: their part of the weighted margin.
    """

    weighting: Weighting
    queries: tuple[PricedQuery, ...]
    points: tuple[FrontierPoint, ...]
    present_total: Fraction
    present_margin: float
    best_margin: float
    held: Fraction = Fraction(0)
    held_margin: float = 0.0

    @property
    def waste(self) -> float:
        """Share of the total that could be saved at the same weighted margin: free budgets alone can be smaller."""
        present = self.present_margin - self.held_margin
        saved = 1 - ((self.best_margin - self.held_margin) / present) ** 2 if present else 0.0
        return saved * float(1 - self.held / self.present_total)


def frontier(
    scenario: Scenario, *, weighting: Weighting = Weighting.PRESENT, factors: Sequence[Fraction] = ()
) -> Frontier:
    """Return the curve through multiples of the scenario's total.

    Args:
        scenario: of PHSafe or TopDown under zCDP; locked budgets stay.
        weighting: whose people count how much.
        factors: of the present total, > 0; nine from one quarter to four times when empty.

    Raises:
        FrontierError: pure DP, nothing published, no noise, or another system.
    """
    queries = priced_queries(scenario, weighting)
    locked = budgets_of(scenario).locks
    free = [query for query in queries if query.key not in locked]
    if not free:
        raise FrontierError("Every budget is locked, so there is nothing to trade.", "Unlock some.")
    held = sum((query.budget for query in queries if query.key in locked), Fraction(0))
    total = sum((query.budget for query in queries), Fraction(0))
    points = []
    for factor in sorted(factors or _usual_factors()):
        left = total * factor - held
        if left > 0:
            points.append(_point(scenario, queries, best_budgets(free, left), total * factor))
    best = best_budgets(free, total - held)
    return Frontier(
        weighting,
        tuple(queries),
        tuple(points),
        total,
        _weighted(queries, {query.key: float(query.budget) for query in queries}),
        _weighted(queries, {**{query.key: float(query.budget) for query in queries}, **best}),
        held,
        sum(query.weight * query.margin for query in queries if query.key in locked),
    )


def _usual_factors() -> tuple[Fraction, ...]:
    return tuple(Fraction(round(2 ** (step / 2) * 1000), 1000) for step in range(-4, 5))


def best_budgets(queries: Sequence[PricedQuery], total: Fraction) -> dict[Key, float]:
    """Return the budgets that make the weighted margin smallest: in proportion to (w² A)^(1/3).

    Args:
        queries: with prices and weights.
        total: ρ to divide.
    """
    parts = {query.key: (query.weight**2 * query.area) ** (1 / 3) for query in queries}
    whole = sum(parts.values())
    return {key: float(total) * part / whole for key, part in parts.items()}


def priced_queries(scenario: Scenario, weighting: Weighting) -> list[PricedQuery]:
    """Return every published query with its price.

    Args:
        scenario: under zCDP.
        weighting: whose margins count how much.

    Raises:
        FrontierError: as `frontier`.
    """
    z = float(normal_factor(scenario.conventions.confidence, scenario.conventions.z))
    model = budgets_of(scenario)
    if model.framework is not PrivacyFramework.ZCDP:
        raise FrontierError("The trade-off is drawn for zCDP.", "Choose zCDP, or compare scenarios one by one.")
    targets = model.targets
    raw: list[tuple[Key, str, float, Fraction]] = []
    for query, budget in model.budgets.items():
        if isinstance(budget, Unlimited):
            raise FrontierError(f"{title_of(query)} is published without noise.", "Give it a budget.")
        if budget > 0:
            raw.append((query, title_of(query), z**2 * float(model.noise_price(query)), budget))
    if not raw:
        raise FrontierError("Nothing is published, so there is no trade-off.", "Publish at least one query.")
    found = []
    for key, name, area, budget in raw:
        margin = math.sqrt(area / float(budget))
        weight = {
            Weighting.PEOPLE: 1.0,
            Weighting.TARGETS: 1 / float(targets.get(key, Fraction(margin))),
            Weighting.PRESENT: margin**-3 * area,  # where w m / (2ρ) is the same for all
        }[weighting]
        found.append(PricedQuery(key, name, area, budget, margin, weight))
    whole = sum(query.weight for query in found)
    return [replace(query, weight=query.weight / whole) for query in found]


def _weighted(queries: Sequence[PricedQuery], budgets: Mapping[Key, float]) -> float:
    return sum(query.weight * math.sqrt(query.area / budgets[query.key]) for query in queries)


def _point(
    scenario: Scenario, queries: Sequence[PricedQuery], best: Mapping[Key, float], total: Fraction
) -> FrontierPoint:
    budgets = {query.key: Fraction(best[query.key]) if query.key in best else query.budget for query in queries}
    made = budgets_of(scenario).with_traded(budgets)
    loss = loss_of(made)
    if (headline := loss.bound) is None:
        raise FrontierError("A locked query has no noise.", "Unlock it.")
    if (actual := _spent(made)) > max(total, _spent(scenario)):
        raise BudgetMismatchError(f"A point of the trade-off would spend {float(actual)}, more than {float(total)}.")
    # By the loss that the axis and the headline show: of PHSafe twice the total of its budgets.
    named = replace(made, name=f"{scenario.name}, {loss.framework.symbol} {float(headline):.4g}")
    return FrontierPoint(actual, headline, loss.epsilon or 0.0, _weighted(queries, _present(made)), named)


def _spent(scenario: Scenario) -> Fraction:
    total = budgets_of(scenario).total
    return total if isinstance(total, Fraction) else Fraction(0)


def _present(scenario: Scenario) -> dict[Key, float]:
    return {key: float(b) for key, b in budgets_of(scenario).budgets.items() if isinstance(b, Fraction)}
