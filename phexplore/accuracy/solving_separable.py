"""Budgets of the S-DHC from margins of error: each query alone has a closed form; ties and caps join them.

A query with target m needs ρ = z²Δ²/(2m²) (PHSafe paper, Corollary 2, with its z named). The smallest total is reached when
every budget is the smallest that its own target, floor, lock and tie allow, so nothing is searched: a cap is kept by that
total or by none.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.margins import MarginError, margins_of, unrounded_budget
from phexplore.accuracy.solving_goals import Cap, GoalError, Goals, TiedBy
from phexplore.catalog.tables import sensitivity, tables
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Rounding, Unlimited, exact_text, round_exact
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for


class Reason(enum.Enum):
    """What decided a budget. The value is the word in JSON."""

    TARGET = "target"
    FLOOR = "floor"
    TIE = "tie"
    LOCK = "lock"
    KEPT = "kept"
    """Nothing was asked of the query: its budget is the one it had."""


@dataclass(frozen=True, slots=True)
class SolvedQuery:
    """The budget found for one query.

    Attributes:
        query: which one.
        target: margin asked for, None when none was.
        before: budget the scenario had.
        exact: budget before rounding; None where nothing was solved.
        nearest: what rounding to the nearest step would have given; None where nothing was solved.
        budget: the result.
        reason: what decided it.
    """

    query: QueryKey
    target: Fraction | None
    before: Budget
    exact: Fraction | None
    nearest: Fraction | None
    budget: Budget
    reason: Reason


@dataclass(frozen=True, slots=True)
class SolvedGoals:
    """A scenario that keeps all goals with the smallest total.

    Attributes:
        scenario: with the new budgets and targets.
        goals: what was asked, the scenario's own targets and locks included.
        queries: one entry per query, in the order of the scenario.
        caps: every cap with the sum of budgets it allows and the sum that was needed.
    """

    scenario: Scenario
    goals: Goals
    queries: tuple[SolvedQuery, ...]
    caps: tuple[tuple[Cap, Fraction, Fraction], ...]

    @property
    def rounding_tax(self) -> Fraction:
        """What rounding adds to the total: negative when it takes away."""
        return sum((q.budget - q.exact for q in self.queries if q.exact is not None and not isinstance(q.budget, Unlimited)),
                   Fraction(0))  # fmt: skip

    @property
    def changed_by_direction(self) -> tuple[SolvedQuery, ...]:
        """The queries whose budget is not the one that rounding to the nearest step gives."""
        return tuple(q for q in self.queries if q.nearest is not None and q.budget != q.nearest)


def rounded_as_in_2020(conventions: Conventions) -> Conventions:
    """Return the conventions with which the published budgets were computed: normal, z = 1.645, nearest 1e-6."""
    return replace(
        conventions,
        margin=MarginConvention.NORMAL,
        z=Fraction(1645, 1000),
        confidence=Fraction(9, 10),
        rounding=Rounding.NEAREST,
        rounding_step=Fraction(1, 10**6),
    )


def own_goals(scenario: Scenario) -> Goals:
    """Return what the scenario itself asks: its targets and its locks.

    A query left unpublished keeps its target for later and is not solved, unless nothing at all is published.
    """
    method = scenario.phsafe
    published = set(method.published) or set(method.budgets)
    margins = {query: margin for query, margin in method.targets.items() if query in published}
    return Goals(margins=margins, locks=method.locks)


def with_own_goals(scenario: Scenario, goals: Goals) -> Goals:
    """Return the goals joined with the scenario's own targets and locks; a margin in `goals` wins."""
    own = own_goals(scenario)
    return replace(goals, margins={**own.margins, **goals.margins}, locks=own.locks | goals.locks)


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


def solve(scenario: Scenario, goals: Goals | None = None, *, spend: bool = False) -> SolvedGoals:
    """Return the scenario with the smallest total that keeps all goals, budgets rounded by its conventions.

    Args:
        scenario: of the S-DHC; its targets and locks count as goals.
        goals: further ones; a margin in it replaces the scenario's target.
        spend: use what the caps leave: all targeted budgets are raised by one factor, the largest that fits.

    Raises:
        GoalError: a goal cannot be understood.
        InfeasibleError: no budgets keep all goals; it names the conflict and the cheapest relaxations.
        MarginError: a margin needs a budget that rounds to 0.
    """
    from phexplore.accuracy.solving_relaxation import confirm_feasible  # noqa: PLC0415 - it reads this module

    asked = with_own_goals(scenario, goals or Goals())
    separated = separate(scenario, asked)
    needs = needs_of(separated)
    budgets = separated.budgets(needs)
    confirm_feasible(scenario, asked, separated, needs, budgets)
    if spend:
        needs = _spent(separated, needs)
        budgets = separated.budgets(needs)
    _confirm_published(asked, budgets, scenario.conventions)
    method = replace(
        scenario.phsafe,
        budgets={query: budgets[query] for query in scenario.phsafe.budgets},
        targets={**scenario.phsafe.targets, **asked.margins},
    )
    solved = replace(scenario, method=method)
    caps = tuple((cap, allowed, sum_under(cap, budgets)) for cap, allowed in separated.caps)
    return SolvedGoals(solved, asked, tuple(_entries(scenario, asked, separated, needs, budgets)), caps)


def _spent(separated: Separated, needs: Mapping[QueryKey, Fraction]) -> dict[QueryKey, Fraction]:
    """Return the needs raised by the largest factor, a multiple of 1e-6, that keeps every cap."""
    if not separated.caps:
        raise GoalError("Without a cap there is no rest to spend.", "Give a cap, or leave the rest alone.")

    def fits(millionths: int) -> bool:
        budgets = separated.budgets({query: need * millionths / 10**6 for query, need in needs.items()})
        return all(sum_under(cap, budgets) <= allowed for cap, allowed in separated.caps)

    low, high = 10**6, 2 * 10**6
    while fits(high) and high < 10**18:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return {query: need * low / 10**6 for query, need in needs.items()}


def _confirm_published(goals: Goals, budgets: Mapping[QueryKey, Budget], conventions: Conventions) -> None:
    for query, margin in goals.margins.items():
        if budgets[query] == 0:
            raise MarginError(
                f"{query.title}: a margin of {exact_text(margin)} people needs a budget below the rounding step "
                f"{exact_text(conventions.rounding_step)}, which would round to 0 (not published).",
                "Choose a smaller margin or step, or leave the query out.",
            )


def _entries(
    scenario: Scenario,
    goals: Goals,
    separated: Separated,
    needs: Mapping[QueryKey, Fraction],
    budgets: Mapping[QueryKey, Budget],
) -> Iterator[SolvedQuery]:
    nearest = replace(scenario.conventions, rounding=Rounding.NEAREST)
    placed = {m.query: (group, m) for group in separated.groups for m in group.members}
    for query, before in scenario.phsafe.budgets.items():
        target, budget = goals.margins.get(query), budgets[query]
        if query not in placed:
            yield SolvedQuery(query, target, before, None, None, before, Reason.KEPT)
            continue
        group, member = placed[query]
        if member.locked is not None:
            yield SolvedQuery(query, target, before, None, None, before, Reason.LOCK)
            continue
        scale = group.scale(needs)
        exact = max(scale * member.weight, member.floor)
        reason = Reason.TIE
        if member.need is not None and exact == needs[query]:
            reason = Reason.TARGET
        elif member.floor and exact == member.floor:
            reason = Reason.FLOOR
        yield SolvedQuery(query, target, before, exact, dict(group.budgets(scale, nearest))[query], budget, reason)


def margin_at(scenario: Scenario, query: QueryKey, budget: Fraction) -> float:
    """Return the margin, in people, that a positive budget gives a query under the scenario's convention."""
    method, conventions = scenario.phsafe, scenario.conventions
    noise = noise_for(method.framework, sensitivity=reach_of(method, query), budget=budget)
    return margins_of(noise, 1, conventions.confidence, conventions.z).by(conventions.margin)
