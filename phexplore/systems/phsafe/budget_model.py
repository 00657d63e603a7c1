"""PHSafe's budgets as solving sees them.

Args:
    key: the query.
    method: the parameters.
    query: table and level.
    margin: in people.
    budget: ρ or ε.
    locked: whether solving leaves it alone.
    budgets: rounded, by query.
    margins: targets in people, by query.
    most: largest sum a cap allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from phexplore.accuracy.budget_model import LeftOut, Numbers, ScenarioBudgets, middle_of
from phexplore.accuracy.margins import margin_by, unrounded_budget
from phexplore.accuracy.proven_loss import Answers
from phexplore.catalog.expected_counts import AVERAGES
from phexplore.catalog.tables import counted_in, sensitivity, tables
from phexplore.errors import ComparisonError
from phexplore.model.conventions import Neighbours
from phexplore.model.edits import set_item
from phexplore.model.goals import Key
from phexplore.model.keys import LEVELS, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Budget, Unlimited, total_budget
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery
from phexplore.noise.distributions import noise_for
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import noise_of_release


@dataclass(frozen=True, slots=True)
class _OfPhSafe(ScenarioBudgets):
    @property
    def method(self) -> PhSafe:
        """Its parameters."""
        return self.scenario.phsafe


@dataclass(frozen=True, slots=True)
class PhSafeBudgets(_OfPhSafe):
    """An S-DHC scenario."""

    # A target is kept by the scenario, the bounded loss is twice the unbounded one, and every query has a purpose of its own.
    keeps_targets: ClassVar[bool] = True
    doubles: ClassVar[bool] = True
    gives_way: ClassVar[bool] = False

    @property
    def framework(self) -> PrivacyFramework:
        """ZCDP or pure DP."""
        return self.method.framework

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Present budgets, unbounded."""
        return dict(self.method.budgets.items())

    @property
    def total(self) -> Budget:
        """The sum, unbounded."""
        return total_budget(list(self.method.budgets.values()))

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """The scenario's targets; those of queries left unpublished wait, unless nothing at all is published."""
        published = set(self.method.published) or set(self.method.budgets)
        return {query: margin for query, margin in self.method.targets.items() if query in published}

    @property
    def locks(self) -> frozenset[Key]:
        """The scenario's locks."""
        return frozenset(self.method.locks)

    def reach(self, key: Key) -> int:
        """Return the sensitivity Δ of a query in people (or units)."""
        return reach_of(self.method, _query(key))

    def counted_in(self, key: Key) -> str:
        """Return what the table counts."""
        return counted_by(self.scenario, key)

    def spread(self, key: Key) -> Fraction:
        """Return Δ² under zCDP (σ² = Δ²/(2ρ)), Δ under pure DP (scale Δ/ε)."""
        reach = self.reach(key)
        return Fraction(reach**2 if self.framework is PrivacyFramework.ZCDP else reach)

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin; arguments as in `BudgetModel.need`."""
        return unrounded_budget(margin, self.reach(key), self.framework, self.conventions)

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin of a budget; arguments as in `BudgetModel.margin`."""
        noise = noise_for(self.framework, sensitivity=self.reach(key), budget=budget)
        return margin_by(noise, self.conventions)

    def noise_price(self, key: Key) -> Fraction:
        """Return Δ²/2: σ² = Δ²/(2ρ)."""
        return Fraction(self.reach(key) ** 2, 2)

    def noise(self, budgets: Mapping[Key, Budget], neighbours: Neighbours) -> Answers:
        """Return one answer per query, two when a record is replaced; arguments as in `BudgetModel.noise`."""
        reaches = [(self.reach(key), budget) for key, budget in budgets.items() if budget]
        answers = [(reach, noise_for(self.framework, sensitivity=reach, budget=budget)) for reach, budget in reaches]
        return Answers(noise_of_release(answers).get(neighbours, ()))

    def with_targets(self, changes: Mapping[Key, Fraction | None]) -> Scenario:
        """Return the scenario with these targets."""
        joined: dict[QueryKey, Fraction | None] = {
            **self.method.targets,
            **{_query(key): m for key, m in changes.items()},
        }
        targets = {query: margin for query, margin in joined.items() if margin is not None}
        return replace(self.scenario, method=replace(self.method, targets=targets))

    def with_lock(self, key: Key, *, locked: bool) -> Scenario:
        """Return the scenario with the budget of a query locked or free; arguments as in `BudgetModel.with_lock`."""
        return set_item(self.scenario, "locks", _query(key), value=locked)

    def scopes(self) -> Mapping[str, tuple[Key, ...]]:
        """Return all queries, those of every table, of every level, and of every region."""
        keys = tuple(self.method.budgets)
        found: dict[str, tuple[Key, ...]] = {"All queries": keys}
        for table in dict.fromkeys(key.table for key in keys):
            found[f"Table {table}"] = tuple(key for key in keys if key.table == table)
        for level in LEVELS:
            found[f"{level.title}, all tables"] = tuple(key for key in keys if key.level == level)
        for region in Region:
            found[f"{region.title}, all groups and tables"] = tuple(key for key in keys if key.level.region is region)
        return {title: chosen for title, chosen in found.items() if chosen}

    def with_solved(
        self, budgets: Mapping[Key, Budget], margins: Mapping[Key, Fraction], most: Fraction | None
    ) -> Scenario:
        """Return the scenario with solved budgets; margins asked for become targets where it has none.

        A target is what the committee wishes: solving for another margin does not move it. Arguments as in
            `BudgetModel.with_solved`.
        """
        del most
        method = self.method
        targets = {_query(query): margin for query, margin in margins.items()}
        made = replace(
            method,
            budgets={query: budgets[query] for query in method.budgets},
            targets={**targets, **method.targets},
        )
        return replace(self.scenario, method=made)

    def with_traded(self, budgets: Mapping[Key, Fraction]) -> Scenario:
        """Return the scenario with these budgets, rounded down to the rounding step; locked ones stay."""
        method, step = self.method, self.conventions.rounding_step
        # Down, so that the total is kept; at least one step, so that the query stays published.
        rounded = {
            query: max(budgets[query] // step * step, step)
            for query in method.budgets
            if query in budgets and query not in method.locks
        }
        return replace(self.scenario, method=replace(method, budgets={**method.budgets, **rounded}))

    @property
    def committee(self) -> PhSafeCommittee:
        """What members of a committee move."""
        return PhSafeCommittee(self.scenario)

    @property
    def leaving(self) -> PhSafeLeavingOut:
        """What can be left out."""
        return PhSafeLeavingOut(self.scenario)


@dataclass(frozen=True, slots=True)
class PhSafeCommittee(_OfPhSafe):
    """An S-DHC scenario as a committee moves it."""

    def numbers(self) -> Numbers:
        """Return budgets, targets and thresholds."""
        method = self.method
        found: Numbers = {
            ("budget", query): None if isinstance(budget, Unlimited) else budget
            for query, budget in method.budgets.items()
        }
        found |= {("target", query): margin for query, margin in method.targets.items()}
        return found | {("threshold", table): Fraction(people) for table, people in method.thresholds.items()}

    def confirm_comparable(self, other: Scenario) -> None:
        """Refuse a proposal of another framework."""
        if self.method.framework is not other.phsafe.framework:
            raise ComparisonError(f"{other.name!r} uses another privacy framework.", "Agree on the framework first.")

    def middle(self, proposals: Sequence[Numbers]) -> Scenario:
        """Return the scenario with the lower median of every number."""
        method = self.method
        budgets = {query: middle_of(proposals, "budget", query) for query in method.budgets}
        made = replace(
            method,
            budgets={query: method.budgets[query] if budget is None else budget for query, budget in budgets.items()},
            thresholds={table: int(middle_of(proposals, "threshold", table) or 1) for table in method.thresholds},
            targets={
                query: target
                for query in method.budgets
                if (target := middle_of(proposals, "target", query)) is not None
            },
        )
        return replace(self.scenario, method=made)


@dataclass(frozen=True, slots=True)
class PhSafeLeavingOut(_OfPhSafe):
    """An S-DHC scenario without some of its queries."""

    def by_level(self) -> tuple[LeftOut, ...]:
        """Return what leaving out a population-group level of all tables frees and loses."""
        published = self.method.published
        return self._left_out({level.title: tuple(q for q in published if q.level == level) for level in LEVELS})

    def by_query(self) -> tuple[LeftOut, ...]:
        """Return what leaving out each published query frees and loses."""
        return self._left_out({query.title: (query,) for query in self.method.published})

    def without(self, queries: Sequence[Key]) -> Scenario:
        """Return the scenario with these queries unpublished."""
        scenario = self.scenario
        for query in queries:
            scenario = set_budget(scenario, _query(query), Fraction(0))
        return scenario

    def _left_out(self, groups: Mapping[str, tuple[QueryKey, ...]]) -> tuple[LeftOut, ...]:
        method = self.method
        total = sum((b for b in method.budgets.values() if isinstance(b, Fraction)), Fraction(0))
        found = []
        for name, queries in groups.items():
            frees = sum((b for q in queries if isinstance(b := method.budgets[q], Fraction)), Fraction(0))
            numbers = sum(numbers_of(query, len(method.states)) for query in queries)
            share = float(frees / total) if total else 0.0
            if queries:
                found.append(LeftOut(name, queries, frees, share, numbers, _averages(method, queries)))
        return tuple(found)


def counted_by(_scenario: Scenario, key: Key | None) -> str:
    """Return what the table of a query counts, people for all of them together."""
    return "people" if key is None else counted_in(_query(key).table)


def _query(key: Key) -> QueryKey:
    if isinstance(key, LevelQuery):
        raise TypeError(f"{key.text} is no query of PHSafe")
    return key


def reach_of(method: PhSafe, query: QueryKey) -> int:
    """Return the sensitivity of a query in people (or units).

    Args:
        method: with the thresholds.
        query: that is measured.
    """
    return sensitivity(tables()[query.table], method.thresholds.get(query.table))


def numbers_of(query: QueryKey, states: int) -> int:
    """Return how many numbers a table has at a level: basis cells times regions times iteration codes.

    Args:
        query: the table, which may be a derived one, and the level.
        states: of the run.
    """
    areas = 1 if query.level.region is Region.NATION else states
    return areas * len(query.level.iteration.codes) * len(tables()[query.table].basis_cells)


def _averages(method: PhSafe, queries: tuple[QueryKey, ...]) -> tuple[str, ...]:
    lost: list[str] = []
    levels: dict[PopulationGroupLevel, set[str]] = {}
    for query in queries:
        levels.setdefault(query.level, set()).add(query.table)
    published = set(method.published)
    for level, gone in levels.items():
        for name, parts in AVERAGES.items():
            whole = all(QueryKey(TableId(part), level) in published for part in parts)
            if whole and gone & set(parts):
                lost.append(f"{name} ({level.title})")
    return tuple(lost)
