"""What solving needs to know of a system: its budgets, and how a budget and a margin go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from phexplore.accuracy.margins import margin_by, normal_factor, unrounded_budget
from phexplore.accuracy.topdown_forecast import noise_of
from phexplore.catalog.tables import sensitivity, tables
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.goals import Key
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.noise.distributions import noise_for


class QuerySystem(Protocol):
    """One scenario as solving sees it."""

    @property
    def framework(self) -> PrivacyFramework:
        """What the budgets are: ρ or ε."""

    @property
    def conventions(self) -> Conventions:
        """Margins and rounding."""

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Present budget of every query, in the scenario's order."""

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """Margins the scenario itself aims at."""

    @property
    def locks(self) -> frozenset[Key]:
        """Queries whose budget stays."""

    @property
    def doubles(self) -> bool:
        """Whether the bounded loss is twice the sum of the budgets."""

    @property
    def gives_way(self) -> bool:
        """Whether queries nobody asks anything of shrink to keep a cap."""

    def spread(self, key: Key) -> Fraction:
        """Return what a budget is in proportion to when queries have equal noise."""

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin in people."""

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin, in people, of a positive budget."""


@dataclass(frozen=True, slots=True)
class PhSafeSystem:
    """An S-DHC scenario."""

    conventions: Conventions
    method: PhSafe

    @property
    def framework(self) -> PrivacyFramework:
        """ZCDP or pure DP."""
        return self.method.framework

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Present budgets, unbounded."""
        return dict(self.method.budgets.items())

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """The scenario's targets; those of queries left unpublished wait, unless nothing at all is published."""
        published = set(self.method.published) or set(self.method.budgets)
        return {query: margin for query, margin in self.method.targets.items() if query in published}

    @property
    def locks(self) -> frozenset[Key]:
        """The scenario's locks."""
        return frozenset(self.method.locks)

    @property
    def doubles(self) -> bool:
        """PHSafe's bounded loss is twice the unbounded one."""
        return True

    @property
    def gives_way(self) -> bool:
        """Every query has a purpose of its own: nothing shrinks unasked."""
        return False

    def reach(self, key: Key) -> int:
        """Return the sensitivity Δ of a query in people (or units)."""
        return reach_of(self.method, _query(key))

    def spread(self, key: Key) -> Fraction:
        """Return Δ² under zCDP (σ² = Δ²/(2ρ)), Δ under pure DP (scale Δ/ε)."""
        reach = self.reach(key)
        return Fraction(reach**2 if self.framework is PrivacyFramework.ZCDP else reach)

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin."""
        return unrounded_budget(margin, self.reach(key), self.framework, self.conventions)

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin of a budget."""
        noise = noise_for(self.framework, sensitivity=self.reach(key), budget=budget)
        return margin_by(noise, self.conventions)


@dataclass(frozen=True, slots=True)
class TopDownSystem:
    """A TopDown scenario, every query measured by itself: what least squares adds is not in these margins."""

    conventions: Conventions
    method: TopDown

    @property
    def framework(self) -> PrivacyFramework:
        """ZCDP or pure DP."""
        return self.method.framework

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Absolute budgets."""
        return {key: self.method.budget(key) for key in self.method.query_shares}

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """A TopDown scenario keeps no targets."""
        return {}

    @property
    def locks(self) -> frozenset[Key]:
        """Locked queries, and all of locked levels."""
        method = self.method
        return frozenset(
            k for k in method.query_shares if k in method.locked_queries or k.level in method.locked_levels
        )

    @property
    def doubles(self) -> bool:
        """The budgets are under replaced records already."""
        return False

    @property
    def gives_way(self) -> bool:
        """Shares of a whole: what nobody asks for makes room."""
        return True

    def spread(self, key: Key) -> Fraction:
        """Return 1: every query group has the same sensitivity."""
        del key
        return Fraction(1)

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin: ρ = z²/m², since σ² = 1/ρ."""
        del key
        conventions = self.conventions
        if self.framework is PrivacyFramework.ZCDP and conventions.margin is MarginConvention.NORMAL:
            return (normal_factor(conventions.confidence, conventions.z) / margin) ** 2
        return self._searched(margin)

    def _searched(self, margin: Fraction) -> Fraction:
        """Return the smallest multiple of 1/1024 of the rounding step that keeps a margin: margins fall as budgets grow."""
        step = self.conventions.rounding_step / 1024
        low, high = 0, 1
        while self._margin(high * step) > margin:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._margin(middle * step) > margin else (low, middle)
        return high * step

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin of a budget."""
        del key
        return self._margin(budget)

    def _margin(self, budget: Fraction) -> float:
        noise, _ = noise_of(self.framework, budget)
        return margin_by(noise, self.conventions)


def _query(key: Key) -> QueryKey:
    if isinstance(key, LevelQuery):
        raise TypeError(f"{key.text} is no query of PHSafe")
    return key


def reach_of(method: PhSafe, query: QueryKey) -> int:
    """Return the sensitivity of a query in people (or units)."""
    return sensitivity(tables()[query.table], method.thresholds.get(query.table))


def system_of(scenario: Scenario) -> QuerySystem:
    """Return a scenario as solving sees it.

    Raises:
        PhexploreError: a system whose budgets are not solved from margins.
    """
    match scenario.method:
        case PhSafe() as method:
            return PhSafeSystem(scenario.conventions, method)
        case TopDown() as method:
            return TopDownSystem(scenario.conventions, method)
        case _:
            raise PhexploreError(
                f"{scenario.name!r} holds a system whose budgets are not solved from margins.",
                "Choose a PHSafe or TopDown scenario.",
            )


def margin_at(scenario: Scenario, query: Key, budget: Fraction) -> float:
    """Return the margin, in people, that a positive budget gives a query under the scenario's convention."""
    return system_of(scenario).margin(query, budget)
