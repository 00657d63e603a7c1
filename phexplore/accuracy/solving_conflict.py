"""Goals that cannot all be kept: the smallest set of them in conflict.

Budgets follow from targets by the closed form of `solving_separable` (PHSafe paper, Corollary 2).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.margins import is_met
from phexplore.accuracy.solving_groups import Group, Member, Separated, sum_under
from phexplore.errors import PhexploreError
from phexplore.model.goals import Cap, CapOn, Goals, Key, title_of
from phexplore.model.numbers import exact_text
from phexplore.text.messages import Number, listed, msg, plural, series

_NAMED = 5
"""So many targets fit a sentence; the rest is counted there and listed in full beside it."""


class ConflictKind(enum.Enum):
    """What takes part in a conflict."""

    TARGET = "target"
    FLOOR = "floor"
    LOCK = "lock"
    TIE = "tie"
    CAP = "cap"


@dataclass(frozen=True, slots=True)
class ConflictPart:
    """One goal in a conflict.

    Attributes:
        kind: what sort of goal.
        text: the goal in words.
        query: whose goal, None for a cap or a tie.
    """

    kind: ConflictKind
    text: str
    query: Key | None = None


class RelaxationKind(enum.Enum):
    """A way out of a conflict."""

    ONE_TARGET = msg("one target")
    LEVEL = msg("one level")
    FEWEST_PEOPLE = msg("fewest people in all")
    IN_PROPORTION = msg("all in proportion")
    UNPUBLISHED = msg("left unpublished")
    UNLOCK = "unlock"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change of goals after which all can be kept.

    Attributes:
        kind: what sort of change.
        text: in words, with the people or units it costs and the budget it frees.
        margins: old and new margin of every target that moves, in people; new is None for a query left out.
        frees: unbounded budget, exact.
        people: sum over the targets of the people added to their margins.
        widening: largest new margin over its old one; infinite for a query left out.
        unlocks: the query whose lock is opened, None for the other ways.
    """

    kind: RelaxationKind
    text: str
    margins: Mapping[Key, tuple[Fraction, Fraction | None]]
    frees: Fraction
    people: Fraction
    widening: float
    unlocks: Key | None = None


class InfeasibleError(PhexploreError):
    """No budgets keep all goals.

    Attributes:
        conflict: the smallest set of goals that cannot be kept together: without any one of them the rest can.
        relaxations: the cheapest ways out, the gentlest first.
        needed: sum of budgets the goals need under the violated cap, None when no cap is involved.
        allowed: sum the cap allows.
    """

    def __init__(
        self,
        sentence: str,
        conflict: tuple[ConflictPart, ...],
        relaxations: tuple[Relaxation, ...],
        needed: Fraction | None = None,
        allowed: Fraction | None = None,
    ) -> None:
        remedy = (
            msg("Suggested resolutions: {ways}.", ways=series(*(way.text for way in relaxations[:3]), between="; "))
            if relaxations
            else msg("Raise the cap, unlock a query, or leave a query unpublished.")
        )
        super().__init__(sentence, remedy)
        self.conflict = conflict
        self.relaxations = relaxations
        self.needed = needed
        self.allowed = allowed


class Ledger:
    """Sums of rounded budgets under caps, group by group, so that one changed target costs one group."""

    def __init__(self, separated: Separated) -> None:
        """Use the groups of a problem."""
        self.separated = separated
        self._group_of = {m.query: group for group in separated.groups for m in group.members}

    def group_sum(self, cap: Cap, group: Group, needs: Mapping[Key, Fraction]) -> Fraction:
        """Return what a group adds under a cap.

        Args:
            cap: which queries count.
            group: the queries that move together.
            needs: unrounded budget of each target that counts; the others ask for nothing.
        """
        budgets = dict(group.budgets(group.scale(needs), self.separated.conventions))
        return sum_under(cap, budgets)

    def sum_of(self, cap: Cap, needs: Mapping[Key, Fraction]) -> Fraction:
        """Return the sum of all budgets under a cap.

        Args:
            cap: which queries count.
            needs: unrounded budget of each target that counts; the others ask for nothing.
        """
        return sum_under(cap, self.separated.budgets(needs))

    def groups_of(self, queries: Iterable[Key]) -> list[Group]:
        """Return the groups these queries are in, each once."""
        return list({id(group): group for query in queries if (group := self._group_of.get(query))}.values())


def lock_conflict(system: BudgetModel, goals: Goals, group: Group) -> InfeasibleError | None:
    """Return what stands against a lock in a group, None when nothing does.

    Args:
        system: the scenario that is solved.
        goals: all that is asked of it.
        group: the queries that move together.
    """
    locks = [(member, member.locked) for member in group.members if member.locked is not None]
    if not locks:
        return None
    first, held = locks[0]
    lock = ConflictPart(
        ConflictKind.LOCK,
        msg("{query} is locked at {budget}", query=title_of(first.query), budget=Number(exact_text(held))),
        first.query,
    )
    tie = _tie_of(goals, first.query)
    scale = held / first.weight
    for member, locked in locks[1:]:
        if locked / member.weight != scale:
            text = msg("{query} is locked at {budget}", query=title_of(member.query), budget=Number(exact_text(locked)))
            parts = (lock, ConflictPart(ConflictKind.LOCK, text, member.query), *tie)
            return InfeasibleError(msg("Two tied queries are locked at different budgets."), parts, ())
    for member in group.members:
        if member.floor > scale * member.weight:
            text = msg(
                "{query} has a floor of {budget}", query=title_of(member.query), budget=Number(exact_text(member.floor))
            )
            parts = (lock, ConflictPart(ConflictKind.FLOOR, text, member.query), *_linking(tie, member, first))
            return InfeasibleError(msg("{lock}, below a floor.", lock=lock.text), parts, ())
    return _lock_against_target(system, goals, group, lock, first, scale)


def _lock_against_target(
    system: BudgetModel, goals: Goals, group: Group, lock: ConflictPart, first: Member, scale: Fraction
) -> InfeasibleError | None:
    # Without its budget: a committee reads bounded ones, a budget is kept unbounded, and here only the margin counts.
    lock = replace(lock, text=msg("{query} is locked", query=title_of(first.query)))
    for member in group.members:
        if (target := goals.margins.get(member.query)) is None:
            continue
        budget = scale * member.weight
        margin = system.margin(member.query, budget) if budget else math.inf
        if not is_met(margin, target):
            counted = system.counted_in(member.query)
            query, wanted = title_of(member.query), Number(exact_text(target))
            text = msg("{query} has the target {margin} {unit}", query=query, margin=wanted, unit=counted)
            parts = (lock, ConflictPart(ConflictKind.TARGET, text, member.query),
                     *_linking(_tie_of(goals, first.query), member, first))  # fmt: skip
            sentence = (
                msg("{target}, but {lock} and is not published.", target=text, lock=lock.text)
                if margin == math.inf
                else msg(
                    "{target}, but {lock}, which gives {reached:.1f} {unit}.",
                    target=text,
                    lock=lock.text,
                    reached=margin,
                    unit=counted,
                )
            )
            ways = [] if margin == math.inf else [_accept(member.query, target, Fraction(math.ceil(margin)))]
            unlock = Relaxation(
                RelaxationKind.UNLOCK,
                msg("unlock {query}", query=title_of(first.query)),
                {},
                Fraction(0),
                Fraction(0),
                1.0,
                first.query,
            )
            return InfeasibleError(sentence, parts, (*ways, unlock))
    return None


def _accept(query: Key, target: Fraction, margin: Fraction) -> Relaxation:
    text = msg(
        "{query} {old} → {new}", query=title_of(query), old=Number(exact_text(target)), new=Number(exact_text(margin))
    )
    return Relaxation(
        RelaxationKind.ONE_TARGET, text, {query: (target, margin)}, Fraction(0), margin - target, float(margin / target)
    )


def _tie_of(goals: Goals, query: Key) -> tuple[ConflictPart, ...]:
    return tuple(ConflictPart(ConflictKind.TIE, tie.title) for tie in goals.ties if query in tie.queries)


def _linking(tie: tuple[ConflictPart, ...], member: Member, first: Member) -> tuple[ConflictPart, ...]:
    """Return the tie only where it takes part: a lock against a goal of the same query needs none."""
    return tie if member.query != first.query else ()


def cap_conflict(
    system: BudgetModel,
    goals: Goals,
    separated: Separated,
    needs: Mapping[Key, Fraction],
    cap: Cap,
    allowed: Fraction,
) -> InfeasibleError:
    """Return the smallest set of goals that exceeds a cap.

    Groups add up, so the fewest targets that exceed it are those that add most, one per group; leave one out and the
    rest fits, because it is at most the sum of one target fewer of the largest.

    Args:
        system: the scenario that is solved.
        goals: all that is asked of it.
        separated: the problem taken apart.
        needs: unrounded budget of each target.
        cap: the cap that is exceeded.
        allowed: largest sum of budgets that keeps it.
    """
    ledger = Ledger(separated)
    base = ledger.sum_of(cap, {})
    needed = ledger.sum_of(cap, needs)
    cap_part = ConflictPart(ConflictKind.CAP, cap.title)
    is_bounded = system.doubles and cap.on is CapOn.BOUNDED
    times = 2 if is_bounded else 1  # whoever caps the bounded loss is answered in it
    if base > allowed:
        parts = (*_fixed_parts(separated, cap, allowed), cap_part)
        return InfeasibleError(
            msg("Locks, floors, and unchanged queries alone need {needed}; the cap allows {allowed} ({cap}).",
                needed=Number(short_text(times * base)), allowed=Number(short_text(times * allowed)), cap=cap.title),
            parts, (), base, allowed,
        )  # fmt: skip
    leading = sorted(
        ((ledger.group_sum(cap, group, {m.query: needs[m.query]}) - ledger.group_sum(cap, group, {}), m)
         for group in separated.groups if (m := _leading(group, needs)) is not None),
        key=lambda pair: -pair[0],
    )  # fmt: skip
    parts_list: list[ConflictPart] = []
    total = base
    for increment, member in leading:
        total += increment
        parts_list.append(_asked_by(system, goals, member.query))
        if total > allowed:
            break
    amounts: dict[str, Any] = {
        "symbol": system.framework.symbol,
        "needed": Number(short_text(times * needed)),
        "cap": cap.title,
        "allowed": Number(short_text(times * allowed)),
    }
    needs_more = (
        msg("The targets need a bounded {symbol} of {needed}, but {cap} allows {allowed}.", **amounts)
        if is_bounded
        else msg("The targets need an unbounded {symbol} of {needed}, but {cap} allows {allowed}.", **amounts)
        if system.doubles
        else msg("The targets need a total {symbol} of {needed}, but {cap} allows {allowed}.", **amounts)
    )
    smallest = plural(
        "The smallest set in conflict has {n} member: {named}.",
        "The smallest set in conflict has {n} members: {named}.",
        n=len(parts_list),
        named=listed((part.text for part in parts_list), _NAMED),
    )
    return InfeasibleError(series(needs_more, smallest), (*parts_list, cap_part), (), needed, allowed)


def _asked_by(system: BudgetModel, goals: Goals, query: Key) -> ConflictPart:
    """Return what asks for the budget of a query: its target, or the tie to the most accurate of queries without one."""
    if (margin := goals.margins.get(query)) is None:
        return _tie_of(goals, query)[0]
    text = msg(
        "{query} at most {margin} {unit}",
        query=title_of(query),
        margin=Number(exact_text(margin)),
        unit=system.counted_in(query),
    )
    return ConflictPart(ConflictKind.TARGET, text, query)


def _fixed_parts(separated: Separated, cap: Cap, allowed: Fraction) -> list[ConflictPart]:
    """Return the fewest locks, floors and untouched budgets that exceed a cap by themselves."""
    budgets = separated.budgets({})
    counted = [
        (q, b) for q, b in budgets.items() if isinstance(b, Fraction) and (cap.queries is None or q in cap.queries)
    ]
    floors = {m.query for group in separated.groups for m in group.members if m.locked is None}
    parts: list[ConflictPart] = []
    total = Fraction(0)
    for query, budget in sorted(counted, key=lambda pair: -pair[1]):
        kind = ConflictKind.FLOOR if query in floors else ConflictKind.LOCK
        named: dict[str, str] = {"query": title_of(query), "budget": Number(exact_text(budget))}
        text = (
            msg("{query} has a floor of {budget}", **named)
            if query in floors
            else msg("{query} remains at {budget}", **named)
        )
        parts.append(ConflictPart(kind, text, query))
        total += budget
        if total > allowed:
            break
    return parts


def _leading(group: Group, needs: Mapping[Key, Fraction]) -> Member | None:
    """Return the member whose target asks most of the group."""
    asking = [m for m in group.members if m.query in needs]
    return max(asking, key=lambda m: needs[m.query] / m.weight) if asking and not group.is_locked else None


def short_text(value: Fraction) -> str:
    """Return a budget for people, at most six decimals."""
    return f"{float(value):.6f}".rstrip("0").rstrip(".")
