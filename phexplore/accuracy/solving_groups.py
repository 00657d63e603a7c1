"""The solver's view of the goals: groups of queries that move together, untouched by each other but through the caps.

Budgets follow from targets by the closed form of `solving_separable` (PHSafe paper, Corollary 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.margins import equals_target
from phexplore.accuracy.solving_caps import cap_total
from phexplore.model.conventions import Conventions
from phexplore.model.goals import Cap, GoalError, Goals, Key, TiedBy, title_of
from phexplore.model.numbers import Budget, Unlimited, round_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.text.messages import msg


@dataclass(frozen=True, slots=True)
class Member:
    """One query inside a group that moves together.

    Attributes:
        query: which one.
        weight: its budget is the group's scale times this: Δ² (pure DP: Δ) when tied by margin, 1 when tied by budget.
        need: budget its target needs, before rounding; None without a target.
        floor: its smallest budget.
        locked: its fixed budget, None when free.
        settled: its present budget where that meets its target exactly as shown; None to derive one from the target.
    """

    query: Key
    weight: Fraction
    need: Fraction | None
    floor: Fraction
    locked: Fraction | None
    settled: Fraction | None = None


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

    def scale(self, need: Mapping[Key, Fraction]) -> Fraction:
        """Return the smallest scale that gives every member the budget it needs."""
        needed = (need[m.query] / m.weight for m in self.members if m.query in need)
        return self.base if self.is_locked else max(self.base, *needed, Fraction(0))

    def budgets(self, scale: Fraction, conventions: Conventions) -> Iterator[tuple[Key, Fraction]]:
        """Yield the rounded budget of every member at a scale; a locked one stays as it is, a floor is never undercut.

        Args:
            scale: budget of a member of weight 1.
            conventions: step and direction of rounding.
        """
        for member in self.members:
            if member.locked is not None:
                yield member.query, member.locked
                continue
            exact = scale * member.weight
            # A settled budget is returned unchanged, whatever the rounding step.
            if exact == member.settled:
                yield member.query, exact
                continue
            rounded = round_exact(exact, conventions.rounding_step, conventions.rounding)
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
    kept: Mapping[Key, Budget]
    caps: tuple[tuple[Cap, Fraction], ...]

    def budgets(self, need: Mapping[Key, Fraction]) -> dict[Key, Budget]:
        """Return all budgets when these unrounded budgets are needed."""
        found: dict[Key, Budget] = {}
        for group in self.groups:
            found.update(group.budgets(group.scale(need), self.conventions))
        return {**found, **self.kept}


def separate(system: BudgetModel, goals: Goals, *, keeps_met: bool = False) -> Separated:
    """Take the problem apart into groups that do not touch each other but through the caps.

    Args:
        system: the scenario that is solved.
        goals: margins, floors, locks, ties and caps asked of it.
        keeps_met: leave a budget unchanged whose margin already equals its target as shown.

    Raises:
        GoalError: a goal names a query that is not measured, or asks nothing at all.
    """
    present = system.budgets
    _confirm_known(present, goals)
    tie_of = {query: tie for tie in goals.ties for query in tie.queries}
    groups: list[Group] = []
    kept: dict[Key, Budget] = {}
    seen: set[Key] = set()
    for query, budget in present.items():
        if query in seen:
            continue
        if (tie := tie_of.get(query)) is not None:
            groups.append(_tied(system, goals, tie.queries, tie.equal, keeps_met=keeps_met))
            seen |= set(tie.queries)
        elif query in goals.margins or query in goals.floors or query in goals.locks:
            groups.append(Group((_member(system, goals, query, Fraction(1), keeps_met=keeps_met),)))
        if query not in tie_of and query not in goals.margins and query not in goals.floors:
            kept[query] = budget
    kept.update({query: present[query] for query in goals.locks})
    caps = tuple((cap, cap_total(cap, system.framework, doubles=system.doubles)) for cap in goals.caps)
    return Separated(system.conventions, system.framework, tuple(groups), kept, caps)


def _confirm_known(present: Mapping[Key, Budget], goals: Goals) -> None:
    asked = {*goals.margins, *goals.floors, *goals.locks, *(q for tie in goals.ties for q in tie.queries)}
    asked |= {query for cap in goals.caps for query in cap.queries or ()}
    if unknown := sorted(asked - set(present), key=lambda query: query.text):
        raise GoalError(
            msg("{text} is not a measured query.", text=unknown[0].text),
            msg("List the measured queries with `phexplore forecast`."),
        )
    if not goals.margins and not goals.floors and not goals.ties:
        raise GoalError(
            msg("No query has a target, so there is nothing to solve."),
            msg("Enter the largest acceptable margin of error for at least one query."),
        )
    tied = {query for tie in goals.ties for query in tie.queries}
    for query, budget in present.items():
        if not isinstance(budget, Unlimited):
            continue
        if query in tied and (query in goals.locks or not goals.margins):
            raise GoalError(
                msg("{query} has no noise, so no query can be tied to it.", query=title_of(query)),
                msg("Remove the query from the tie."),
            )
        if goals.caps and (query in goals.locks or query not in asked):
            raise GoalError(
                msg("{query} is published without noise, so no cap can be met.", query=title_of(query)),
                msg("Give the query a target or a budget, or remove the cap."),
            )


def _tied(system: BudgetModel, goals: Goals, queries: tuple[Key, ...], equal: TiedBy, *, keeps_met: bool) -> Group:
    members = []
    for query in queries:
        weight = system.spread(query) if equal is TiedBy.MARGIN else Fraction(1)
        members.append(_member(system, goals, query, weight, keeps_met=keeps_met))
    if not any(m.need is not None or m.floor or m.locked is not None for m in members):
        # Nothing but the tie is asked: the most accurate of them leads, so that nobody loses.
        leading = max(_finite(system.budgets[m.query]) / m.weight for m in members)
        members = [replace(m, need=leading * m.weight) for m in members]
    return Group(tuple(members))


def _member(system: BudgetModel, goals: Goals, query: Key, weight: Fraction, *, keeps_met: bool) -> Member:
    margin = goals.margins.get(query)
    budget = system.budgets[query]
    settled = None
    if keeps_met and margin is not None and isinstance(budget, Fraction) and budget:
        settled = budget if equals_target(system.margin(query, budget), margin) else None
    need = settled if settled is not None or margin is None else system.need(query, margin)
    locked = _finite(budget) if query in goals.locks else None
    return Member(query, weight, need, goals.floors.get(query, Fraction(0)), locked, settled)


def _finite(budget: Budget) -> Fraction:
    # No noise at all keeps every target; where a cap could see it, it was refused before.
    return Fraction(10**30) if isinstance(budget, Unlimited) else budget


def needs_of(separated: Separated) -> dict[Key, Fraction]:
    """Return the unrounded budget of every query with a target."""
    return {m.query: m.need for group in separated.groups for m in group.members if m.need is not None}


def sum_under(cap: Cap, budgets: Mapping[Key, Budget]) -> Fraction:
    """Return the sum of the budgets a cap counts.

    Args:
        cap: which queries count; all when it names none.
        budgets: budget of each query, none of them unlimited.
    """
    return sum((_finite(b) for query, b in budgets.items() if cap.queries is None or query in cap.queries), Fraction(0))
