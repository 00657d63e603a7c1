"""The trade-off as a curve: the smallest weighted margin of error that a total budget can buy.

Every measured query has a margin m = √(A/ρ) with A of its own (normal convention: A = z²Δ²/2 for PHSafe, z² for TopDown, whose
queries are taken by themselves here). With weights w, the sum Σ w m under Σ ρ = R is smallest where every query has the same
marginal price, w m / (2ρ): then ρ is in proportion to (w² A)^(1/3), and the weighted margin is in proportion to 1/√R. One per
cent more budget always buys 0.5 % less weighted margin; what differs is where the people are.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar, assert_never

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.forecast import HEADLINE_DELTA
from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.solving_systems import reach_of
from phexplore.errors import BudgetMismatchError, PhexploreError
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Rounding, Unlimited, round_exact, total_budget
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import LevelQuery, TopDown

Key = QueryKey | LevelQuery
Part = TypeVar("Part", bound=Hashable)

SHARE_STEP = Fraction(1, 10**6)
_SCALE_STEP = Fraction(1, 10**6)


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
    """

    weighting: Weighting
    queries: tuple[PricedQuery, ...]
    points: tuple[FrontierPoint, ...]
    present_total: Fraction
    present_margin: float
    best_margin: float

    @property
    def waste(self) -> float:
        """Share of the total that could be saved at the same weighted margin."""
        return 1 - (self.best_margin / self.present_margin) ** 2 if self.present_margin else 0.0


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
    locked = _locked(scenario)
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
    )


def _usual_factors() -> tuple[Fraction, ...]:
    return tuple(Fraction(round(2 ** (step / 2) * 1000), 1000) for step in range(-4, 5))


def best_budgets(queries: Sequence[PricedQuery], total: Fraction) -> dict[Key, float]:
    """Return the budgets that make the weighted margin smallest: in proportion to (w² A)^(1/3)."""
    parts = {query.key: (query.weight**2 * query.area) ** (1 / 3) for query in queries}
    whole = sum(parts.values())
    return {key: float(total) * part / whole for key, part in parts.items()}


def priced_queries(scenario: Scenario, weighting: Weighting) -> list[PricedQuery]:
    """Return every published query with its price.

    Raises:
        FrontierError: as `frontier`.
    """
    z = float(normal_factor(scenario.conventions.confidence, scenario.conventions.z))
    raw: list[tuple[Key, str, float, Fraction]] = []
    targets: dict[Key, Fraction] = {}
    match scenario.method:
        case PhSafe() as method:
            _require_zcdp(method.framework)
            targets.update(method.targets.items())
            for query in method.published:
                budget = method.budgets[query]
                if isinstance(budget, Unlimited):
                    raise FrontierError(f"{query.title} is published without noise.", "Give it a budget.")
                raw.append((query, query.title, z**2 * reach_of(method, query) ** 2 / 2, budget))
        case TopDown() as method:
            _require_zcdp(method.framework)
            raw = [(key, key.text, z**2, method.budget(key)) for key in method.query_shares if method.budget(key) > 0]
        case _:
            raise FrontierError(
                f"The trade-off is drawn for the S-DHC and for TopDown; {scenario.name!r} belongs to another system.",
                "Compare scenarios with different budgets instead: phexplore compare.",
            )
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


def _require_zcdp(framework: PrivacyFramework) -> None:
    if framework is not PrivacyFramework.ZCDP:
        raise FrontierError("The trade-off is drawn for zCDP.", "Choose zCDP, or compare scenarios one by one.")


def _locked(scenario: Scenario) -> frozenset[Key]:
    match scenario.method:
        case PhSafe() as method:
            return frozenset(method.locks)
        case TopDown() as method:
            of_levels = {key for key in method.query_shares if key.level in method.locked_levels}
            return frozenset(method.locked_queries | of_levels)
        case _:
            return frozenset()


def _weighted(queries: Sequence[PricedQuery], budgets: Mapping[Key, float]) -> float:
    return sum(query.weight * math.sqrt(query.area / budgets[query.key]) for query in queries)


def _point(
    scenario: Scenario, queries: Sequence[PricedQuery], best: Mapping[Key, float], total: Fraction
) -> FrontierPoint:
    budgets = {query.key: Fraction(best[query.key]) if query.key in best else query.budget for query in queries}
    made = replace(scenario, name=f"{scenario.name}, {float(total):.4g}")
    match scenario.method:
        case PhSafe():
            made = _phsafe_point(made, budgets)
        case _:
            made = _topdown_point(made, budgets)
    if (headline := headline_of(made)) is None:
        raise FrontierError("A locked query has no noise.", "Unlock it.")
    if (actual := total_of(made)) > max(total, total_of(scenario)):
        raise BudgetMismatchError(f"A point of the trade-off would spend {float(actual)}, more than {float(total)}.")
    value = epsilon(headline, HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA)
    return FrontierPoint(actual, headline, value, _weighted(queries, _present(made)), made)


def _phsafe_point(scenario: Scenario, budgets: Mapping[Key, Fraction]) -> Scenario:
    method, step = scenario.phsafe, scenario.conventions.rounding_step
    rounded: dict[QueryKey, Fraction] = {}
    for query, budget in method.budgets.items():
        if query in budgets and query not in method.locks:
            # Down, so that the total is kept; at least one step, so that the query stays published.
            rounded[query] = max(budgets[query] // step * step, step)
        elif isinstance(budget, Fraction):
            rounded[query] = budget
    return replace(scenario, method=replace(method, budgets={**method.budgets, **rounded}))


def _topdown_point(scenario: Scenario, budgets: Mapping[Key, Fraction]) -> Scenario:
    method = scenario.topdown
    by_level = {
        level: {key: budgets.get(key, Fraction(0)) for key in method.query_shares if key.level == level}
        for level in method.levels
    }
    whole = sum((sum(column.values(), Fraction(0)) for column in by_level.values()), Fraction(0))
    levels = shares_of({level: sum(column.values(), Fraction(0)) for level, column in by_level.items()})
    shares: dict[LevelQuery, Fraction] = {}
    for column in by_level.values():
        if sum(column.values(), Fraction(0)) > 0:
            shares |= shares_of(column)
        else:
            shares |= {key: method.query_shares[key] for key in column}
    ordered = {key: shares[key] for key in method.query_shares}
    return replace(
        scenario,
        method=replace(method, total=total_with_scale(whole), level_shares=levels, query_shares=ordered),
    )


def shares_of(parts: Mapping[Part, Fraction]) -> dict[Part, Fraction]:
    """Return shares in proportion to the parts: multiples of one millionth that add to exactly 1."""
    whole = sum(parts.values(), Fraction(0))
    shares = {key: part / whole // SHARE_STEP * SHARE_STEP for key, part in parts.items()}
    largest = max(parts, key=lambda key: parts[key])
    shares[largest] += 1 - sum(shares.values(), Fraction(0))
    return shares


def total_with_scale(total: Fraction) -> Fraction:
    """Return the largest ρ = 1/s² not above a total with s a multiple of 1e-6: the form production's files have."""
    scale = round_exact(Fraction(math.sqrt(1 / float(total))), _SCALE_STEP, Rounding.UP)
    while 1 / scale**2 > total:
        scale += _SCALE_STEP
    return 1 / scale**2


def total_of(scenario: Scenario) -> Fraction:
    """Return the sum of all budgets (PHSafe: unbounded)."""
    if isinstance(scenario.method, PhSafe):
        return sum((b for b in scenario.method.budgets.values() if isinstance(b, Fraction)), Fraction(0))
    return scenario.topdown.total


def _present(scenario: Scenario) -> dict[Key, float]:
    if isinstance(scenario.method, PhSafe):
        return {query: float(b) for query, b in scenario.method.budgets.items() if isinstance(b, Fraction)}
    method = scenario.topdown
    return {key: float(method.budget(key)) for key in method.query_shares}


def headline_of(scenario: Scenario) -> Fraction | None:
    """Return the total loss, ρ or ε as its system states it, under the scenario's neighbours; None without noise."""
    match scenario.method:
        case PhSafe() as method:
            total = total_budget(list(method.budgets.values()))
            if isinstance(total, Unlimited):
                return None
            return 2 * total if scenario.conventions.neighbours is Neighbours.BOUNDED else total
        case TopDown() | GroupSizes() as method:
            return method.total
        case Subspace() as method:
            return method.epsilon
        case _:
            assert_never(scenario.method)


def headline_epsilon(scenario: Scenario) -> float | None:
    """Return ε of everything at δ = 1e-10, by the tightest zCDP conversion where the loss is ρ; None without noise."""
    loss = headline_of(scenario)
    if loss is None:
        return None
    if isinstance(scenario.method, Subspace):
        from phexplore.accuracy.subspace_forecast import forecast_subspace  # noqa: PLC0415 - loads numpy

        figures = forecast_subspace(scenario.method, scenario.conventions).epsilons
        figure = next(figure for figure in figures if figure.delta == HEADLINE_DELTA)
        return float(loss) if figure.conversion is None else figure.value
    if scenario.method.framework is PrivacyFramework.PURE_DP or loss == 0:
        return float(loss)
    return epsilon(loss, HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA)
