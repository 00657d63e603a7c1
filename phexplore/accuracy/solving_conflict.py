"""Goals that cannot all be kept: the smallest set of them in conflict.

Budgets follow from targets by the closed form of `solving_separable` (PHSafe paper, Corollary 2).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.margins import is_met
from phexplore.accuracy.solving_groups import Group, Member, Separated, sum_under
from phexplore.errors import PhexploreError
from phexplore.model.goals import Cap, CapOn, Goals, Key, title_of
from phexplore.model.numbers import exact_text

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

    ONE_TARGET = "one target"
    LEVEL = "one level"
    FEWEST_PEOPLE = "fewest people in all"
    IN_PROPORTION = "all in proportion"
    UNPUBLISHED = "left unpublished"
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
        remedy = f"Cheapest ways out: {'; '.join(r.text for r in relaxations[:3])}." if relaxations else (
            "Raise the cap, unlock a query or leave one out."
        )  # fmt: skip
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
    lock = ConflictPart(ConflictKind.LOCK, f"{title_of(first.query)} is locked at {exact_text(held)}", first.query)
    tie = _tie_of(goals, first.query)
    scale = held / first.weight
    for member, locked in locks[1:]:
        if locked / member.weight != scale:
            text = f"{title_of(member.query)} is locked at {exact_text(locked)}"
            parts = (lock, ConflictPart(ConflictKind.LOCK, text, member.query), *tie)
            return InfeasibleError("Two locked queries are tied but do not agree.", parts, ())
    for member in group.members:
        if member.floor > scale * member.weight:
            text = f"{title_of(member.query)} has a floor of {exact_text(member.floor)}"
            parts = (lock, ConflictPart(ConflictKind.FLOOR, text, member.query), *_linking(tie, member, first))
            return InfeasibleError(f"{lock.text}, below a floor.", parts, ())
    return _lock_against_target(system, goals, group, lock, first, scale)


def _lock_against_target(
    system: BudgetModel, goals: Goals, group: Group, lock: ConflictPart, first: Member, scale: Fraction
) -> InfeasibleError | None:
    # Without its budget: a committee reads bounded ones, a budget is kept unbounded, and here only the margin counts.
    lock = replace(lock, text=f"{title_of(first.query)} is locked")
    for member in group.members:
        if (target := goals.margins.get(member.query)) is None:
            continue
        budget = scale * member.weight
        margin = system.margin(member.query, budget) if budget else math.inf
        if not is_met(margin, target):
            counted = system.counted_in(member.query)
            text = f"{title_of(member.query)} aims at {exact_text(target)} {counted}"
            parts = (lock, ConflictPart(ConflictKind.TARGET, text, member.query),
                     *_linking(_tie_of(goals, first.query), member, first))  # fmt: skip
            reached = "which is not published" if margin == math.inf else f"which gives {margin:.1f} {counted}"
            ways = [] if margin == math.inf else [_accept(member.query, target, Fraction(math.ceil(margin)))]
            unlock = Relaxation(
                RelaxationKind.UNLOCK,
                f"unlock {title_of(first.query)}",
                {},
                Fraction(0),
                Fraction(0),
                1.0,
                first.query,
            )
            return InfeasibleError(f"{text}, but {lock.text}, {reached}.", parts, (*ways, unlock))
    return None


def _accept(query: Key, target: Fraction, margin: Fraction) -> Relaxation:
    text = f"{title_of(query)} {exact_text(target)} → {exact_text(margin)}"
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
            f"Locks, floors and untouched queries alone need {short_text(times * base)}, the cap allows {short_text(times * allowed)} "
            f"({cap.title}).", parts, (), base, allowed,
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
    symbol = (
        f"{'a bounded' if is_bounded else 'an unbounded' if system.doubles else 'a total'} {system.framework.symbol}"
    )
    named = ", ".join(part.text for part in parts_list[:_NAMED])
    named += f" and {len(parts_list) - _NAMED} more" if len(parts_list) > _NAMED else ""
    word = "target" if all(part.kind is ConflictKind.TARGET for part in parts_list) else "goal"
    sentence = (
        f"The {word}s need {symbol} of {short_text(times * needed)}, but {cap.title} allows {short_text(times * allowed)}. "
        f"The smallest set in conflict has {len(parts_list)} {word}{'' if len(parts_list) == 1 else 's'}: {named}."
    )
    return InfeasibleError(sentence, (*parts_list, cap_part), (), needed, allowed)


def _asked_by(system: BudgetModel, goals: Goals, query: Key) -> ConflictPart:
    """Return what asks for the budget of a query: its target, or the tie to the most accurate of queries without one."""
    if (margin := goals.margins.get(query)) is None:
        return _tie_of(goals, query)[0]
    text = f"{title_of(query)} within {exact_text(margin)} {system.counted_in(query)}"
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
        word = "has a floor of" if query in floors else "stays at"
        parts.append(ConflictPart(kind, f"{title_of(query)} {word} {exact_text(budget)}", query))
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
