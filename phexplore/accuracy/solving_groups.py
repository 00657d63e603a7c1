"""The solver's view of the goals: groups of queries that move together, untouched by each other but through the caps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.margins import margins_of, unrounded_budget
from phexplore.accuracy.solving_goals import Cap, GoalError, Goals, TiedBy
from phexplore.catalog.tables import sensitivity, tables
from phexplore.model.conventions import Conventions
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Unlimited, round_exact
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for


@dataclass(frozen=True, slots=True)
class Member:
    """One query inside a group that moves together.

    Attributes:
        query: which one.
        weight: its budget is the group's scale times this: Δ² (pure DP: Δ) when tied by margin, 1 when tied by budget.
        need: budget its target needs, before rounding; None without a target.
        floor: its smallest budget.
        locked: its fixed budget, None when free.
    """

    query: QueryKey
    weight: Fraction
    need: Fraction | None
    floor: Fraction
    locked: Fraction | None


@dataclass(frozen=True, slots=True)
class Group:
    """Queries that move together: a tie, or one query alone."""

    members: tuple[Member, ...]

    @property
    def base(self) -> Fraction:
        """The scale that floors and locks ask for, whatever the targets."""
        return max((max(m.floor, m.locked or Fraction(0)) / m.weight for m in self.members), default=Fraction(0))

    @property
    def is_locked(self) -> bool:
        """Whether a lock fixes the whole group."""
        return any(member.locked is not None for member in self.members)

    def scale(self, need: Mapping[QueryKey, Fraction]) -> Fraction:
        """Return the smallest scale that gives every member the budget it needs."""
        needed = (need[m.query] / m.weight for m in self.members if m.query in need)
        return self.base if self.is_locked else max(self.base, *needed, Fraction(0))

    def budgets(self, scale: Fraction, conventions: Conventions) -> Iterator[tuple[QueryKey, Fraction]]:
        """Yield the rounded budget of every member at a scale; a locked one stays as it is, a floor is never undercut."""
        for member in self.members:
            if member.locked is not None:
                yield member.query, member.locked
                continue
            rounded = round_exact(scale * member.weight, conventions.rounding_step, conventions.rounding)
            yield member.query, max(rounded, member.floor)


@dataclass(frozen=True, slots=True)
class Separated:
    """The problem taken apart.

    Attributes:
        conventions: of margins and rounding.
        framework: zCDP or pure DP.
        groups: what moves together, in the order of the scenario.
        kept: queries nobody asks anything of, and locked ones, with their budget.
        caps: each with the sum of budgets it allows.
    """

    conventions: Conventions
    framework: PrivacyFramework
    groups: tuple[Group, ...]
    kept: Mapping[QueryKey, Budget]
    caps: tuple[tuple[Cap, Fraction], ...]

    def budgets(self, need: Mapping[QueryKey, Fraction]) -> dict[QueryKey, Budget]:
        """Return all budgets when these unrounded budgets are needed."""
        found: dict[QueryKey, Budget] = {}
        for group in self.groups:
            found.update(group.budgets(group.scale(need), self.conventions))
        return {**found, **self.kept}


def reach_of(method: PhSafe, query: QueryKey) -> int:
    """Return the sensitivity of a query in people (or units)."""
    return sensitivity(tables()[query.table], method.thresholds.get(query.table))


def separate(scenario: Scenario, goals: Goals) -> Separated:
    """Take the problem apart into groups that do not touch each other but through the caps.

    Raises:
        GoalError: a goal names a query that is not measured, or asks nothing at all.
    """
    method = scenario.phsafe
    _confirm_known(method, goals)
    tie_of = {query: tie for tie in goals.ties for query in tie.queries}
    groups: list[Group] = []
    kept: dict[QueryKey, Budget] = {}
    seen: set[QueryKey] = set()
    for query, budget in method.budgets.items():
        if query in seen:
            continue
        if (tie := tie_of.get(query)) is not None:
            groups.append(_tied(scenario, goals, tie.queries, tie.equal))
            seen |= set(tie.queries)
        elif query in goals.margins or query in goals.floors or query in goals.locks:
            groups.append(Group((_member(scenario, goals, query, Fraction(1)),)))
        if query not in tie_of and query not in goals.margins and query not in goals.floors:
            kept[query] = budget
    kept.update({query: method.budgets[query] for query in goals.locks})
    caps = tuple((cap, cap.total(method.framework)) for cap in goals.caps)
    return Separated(scenario.conventions, method.framework, tuple(groups), kept, caps)


def _confirm_known(method: PhSafe, goals: Goals) -> None:
    asked = {*goals.margins, *goals.floors, *goals.locks, *(q for tie in goals.ties for q in tie.queries)}
    asked |= {query for cap in goals.caps for query in cap.queries or ()}
    if unknown := sorted(asked - set(method.budgets), key=lambda query: query.text):
        raise GoalError(f"{unknown[0].text} is not a measured query.", "phexplore forecast lists the measured ones.")
    if not goals.margins and not goals.floors and not goals.ties:
        raise GoalError(
            "No margin of error is asked for, so there is nothing to solve.",
            "State targets in the scenario or with --targets; a preset carries its own.",
        )
    tied = {query for tie in goals.ties for query in tie.queries}
    for query, budget in method.budgets.items():
        if not isinstance(budget, Unlimited):
            continue
        if query in tied and (query in goals.locks or not goals.margins):
            raise GoalError(f"{query.title} has no noise, so nothing can be tied to it.", "Take it out of the tie.")
        if goals.caps and (query in goals.locks or query not in asked):
            raise GoalError(
                f"{query.title} is published without noise, so no cap can be kept.",
                "Give it a target or a budget, or leave out the cap.",
            )


def _tied(scenario: Scenario, goals: Goals, queries: tuple[QueryKey, ...], equal: TiedBy) -> Group:
    method = scenario.phsafe
    members = []
    for query in queries:
        weight = Fraction(1)
        if equal is TiedBy.MARGIN:
            # Equal noise: σ² = Δ²/(2ρ) under zCDP, scale Δ/ε under pure DP.
            reach = reach_of(method, query)
            weight = Fraction(reach**2 if method.framework is PrivacyFramework.ZCDP else reach)
        members.append(_member(scenario, goals, query, weight))
    if not any(m.need is not None or m.floor or m.locked is not None for m in members):
        # Nothing but the tie is asked: the most accurate of them leads, so that nobody loses.
        members = [replace(m, floor=_finite(method.budgets[m.query])) for m in members]
        leading = max(m.floor / m.weight for m in members)
        members = [replace(m, floor=Fraction(0), need=leading * m.weight) for m in members]
    return Group(tuple(members))


def _member(scenario: Scenario, goals: Goals, query: QueryKey, weight: Fraction) -> Member:
    method = scenario.phsafe
    need = None
    if (margin := goals.margins.get(query)) is not None:
        need = unrounded_budget(margin, reach_of(method, query), method.framework, scenario.conventions)
    locked = _finite(method.budgets[query]) if query in goals.locks else None
    return Member(query, weight, need, goals.floors.get(query, Fraction(0)), locked)


def _finite(budget: Budget) -> Fraction:
    # No noise at all keeps every target; where a cap could see it, it was refused before.
    return Fraction(10**30) if isinstance(budget, Unlimited) else budget


def needs_of(separated: Separated) -> dict[QueryKey, Fraction]:
    """Return the unrounded budget of every query with a target."""
    return {m.query: m.need for group in separated.groups for m in group.members if m.need is not None}


def sum_under(cap: Cap, budgets: Mapping[QueryKey, Budget]) -> Fraction:
    """Return the sum of the budgets a cap counts."""
    return sum((_finite(b) for query, b in budgets.items() if cap.queries is None or query in cap.queries), Fraction(0))


def margin_at(scenario: Scenario, query: QueryKey, budget: Fraction) -> float:
    """Return the margin, in people, that a positive budget gives a query under the scenario's convention."""
    method, conventions = scenario.phsafe, scenario.conventions
    noise = noise_for(method.framework, sensitivity=reach_of(method, query), budget=budget)
    return margins_of(noise, 1, conventions.confidence, conventions.z).by(conventions.margin)
