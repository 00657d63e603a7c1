"""Budgets from margins of error: each query alone has a closed form; ties and caps join them.

A query with target m needs ρ = z²Δ²/(2m²) (PHSafe paper, Corollary 2, with its z named). The smallest total is reached when
every budget is the smallest that its own target, floor, lock and tie allow, so nothing is searched: a cap is kept by that
total or by none.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.margins import MarginError
from phexplore.accuracy.proven_caps import keeps_proven, leaves_room, widened
from phexplore.accuracy.solving_conflict import InfeasibleError
from phexplore.accuracy.solving_groups import Separated, needs_of, separate, sum_under
from phexplore.accuracy.solving_relaxation import confirm_feasible, confirm_locks
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.goals import Cap, CapOn, GoalError, Goals, Key, title_of
from phexplore.model.numbers import Budget, Rounding, Unlimited, exact_text
from phexplore.model.scenario import Scenario
from phexplore.text.messages import Number, msg


class Reason(enum.Enum):
    """What decided a budget. The value is the word in JSON."""

    TARGET = "target"
    FLOOR = "floor"
    TIE = "tie"
    LOCK = "lock"
    KEPT = "kept"
    """Nothing was asked of the query: its budget is the one it had."""
    MET = "met"
    """Its target was met as shown: its budget is the one it had."""
    MADE_WAY = "made way"
    """Nothing was asked of the query, and a cap had to be kept."""


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

    query: Key
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
        scenario: with the new budgets. Targets it has stay; queries without one take the margin they were solved for.
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


_MOST_ROUNDS = 8
_CORRECTION = Fraction(1, 10**7)
"""Part of a cap on a proven ε that is left where rounding took too much; four times it in every further round."""

JointSolver = Callable[[Separated, Goals], tuple[Separated, Mapping[Key, Fraction]]]
"""Turns the goals on margins that depend on all budgets together into what each query needs."""


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


def with_own_goals(model: BudgetModel, goals: Goals) -> Goals:
    """Return the goals joined with the scenario's own targets and locks; a margin in `goals` wins.

    Args:
        model: the scenario that is solved.
        goals: what is asked beyond the scenario's own targets and locks.
    """
    return replace(goals, margins={**model.targets, **goals.margins}, locks=model.locks | goals.locks)


def solve(
    model: BudgetModel,
    goals: Goals | None = None,
    *,
    spend: bool = False,
    joint: JointSolver | None = None,
    keeps_met: bool = False,
) -> SolvedGoals:
    """Return the scenario with the smallest total that keeps all goals, budgets rounded by its conventions.

    Args:
        model: the scenario; its targets and locks count as goals.
        goals: further ones; a margin in it replaces the scenario's target.
        spend: use what the caps leave: all targeted budgets are raised by one factor, the largest that fits.
        joint: solves for margins that depend on all budgets together, such as those after least squares on a spine; None
            takes every query by itself.
        keeps_met: leave a budget unchanged whose margin already equals its target as shown, unless a cap then cannot be
            kept; else every budget is derived from its target.

    Raises:
        GoalError: a goal cannot be understood.
        InfeasibleError: no budgets keep all goals; it names the conflict and the cheapest relaxations.
        MarginError: a margin needs a budget that rounds to 0.
    """
    asked = with_own_goals(model, goals or Goals())
    separated = separate(model, asked, keeps_met=keeps_met and joint is None)
    if any(member.settled is not None for group in separated.groups for member in group.members):
        try:
            return _best(model, asked, separated, spend=spend, joint=joint)
        except InfeasibleError:  # a budget that meets its target may exceed what the target needs
            separated = separate(model, asked)
    return _best(model, asked, separated, spend=spend, joint=joint)


def _best(
    model: BudgetModel, asked: Goals, separated: Separated, *, spend: bool, joint: JointSolver | None
) -> SolvedGoals:
    if all(cap.on is not CapOn.PROVEN for cap in asked.caps):
        return _solved(model, asked, separated, spend=spend, joint=joint)
    best: SolvedGoals | None = None
    tried = widened(model, separated, separated.budgets(needs_of(separated)), Fraction(0))
    for number in range(_MOST_ROUNDS):
        found = _solved(model, asked, tried, spend=spend, joint=joint)
        after = replace(model, scenario=found.scenario)
        is_kept = keeps_proven(after, tried)
        best = found if is_kept else best
        following = widened(model, separated, after.budgets, Fraction(0) if is_kept else _CORRECTION * 4**number)
        if is_kept and not (spend and leaves_room(tried, following)):
            break
        tried = following
    # What keeps a cap for any noise of a ρ keeps it for this one, and all paths of a spine carry the same ρ.
    return best or _solved(model, asked, separated, spend=spend, joint=joint)


def _solved(
    model: BudgetModel, asked: Goals, separated: Separated, *, spend: bool, joint: JointSolver | None
) -> SolvedGoals:
    needs = needs_of(separated)
    if joint is not None:
        confirm_locks(model, asked, separated)
        separated, joined = joint(separated, asked)
        needs = dict(joined)
        budgets = separated.budgets(needs)
    else:
        if model.gives_way:
            separated = making_way(separated, needs)
        budgets = separated.budgets(needs)
        confirm_feasible(model, asked, separated, needs, budgets)
    if spend:
        needs = _spent(separated, needs)
        budgets = separated.budgets(needs)
    _confirm_published(model, asked, budgets)
    caps = tuple((cap, allowed, sum_under(cap, budgets)) for cap, allowed in separated.caps)
    entries = tuple(_entries(model, asked, separated, needs, budgets))
    most = min((allowed for cap, allowed in separated.caps if cap.queries is None), default=None)
    try:
        solved = model.with_solved(budgets, asked.margins, most)
    except ValueError as error:
        raise GoalError(
            msg("No scenario can meet the targets: {error}.", error=str(error)), msg("Allow wider margins of error.")
        ) from error
    return SolvedGoals(solved, asked, entries, caps)


def making_way(separated: Separated, needs: Mapping[Key, Fraction]) -> Separated:
    """Return the problem with the queries nobody asks anything of shrunk in proportion, as far as the caps demand.

    None of them goes below one step: a query that is measured stays so.

    Args:
        separated: the problem taken apart, its kept queries at today's budgets.
        needs: unrounded budget of each target.
    """
    step = separated.conventions.rounding_step
    held = {member.query for group in separated.groups for member in group.members}
    kept = dict(separated.kept)
    for cap, allowed in separated.caps:
        budgets = {**separated.budgets(needs), **kept}
        free = {
            key: budget
            for key, budget in kept.items()
            if key not in held and isinstance(budget, Fraction) and (cap.queries is None or key in cap.queries)
        }
        excess = sum_under(cap, budgets) - allowed
        whole = sum(free.values(), Fraction(0))
        if excess > 0 and whole > 0:
            factor = max(Fraction(0), 1 - excess / whole)
            # Down, so that the cap is kept after rounding.
            kept |= {key: min(budget, max(budget * factor // step * step, step)) for key, budget in free.items()}
    return replace(separated, kept=kept)


def _spent(separated: Separated, needs: Mapping[Key, Fraction]) -> dict[Key, Fraction]:
    """Return the needs raised by the largest factor, a multiple of 1e-6, that keeps every cap."""
    if not separated.caps:
        raise GoalError(
            msg("Without a cap, there is no remaining budget to use."),
            msg("Enter a cap, or do not ask to use the remaining budget."),
        )

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


def _confirm_published(model: BudgetModel, goals: Goals, budgets: Mapping[Key, Budget]) -> None:
    for query, margin in goals.margins.items():
        if budgets[query] == 0:
            raise MarginError(
                msg(
                    "{query}: a margin of error of {margin} {unit} needs a budget below the rounding step {step}, which would round to 0 (not published).",
                    query=title_of(query),
                    margin=Number(exact_text(margin)),
                    unit=model.counted_in(query),
                    step=Number(exact_text(model.conventions.rounding_step)),
                ),
                msg("Choose a smaller margin or step, or leave the query unpublished."),
            )


def _entries(
    system: BudgetModel,
    goals: Goals,
    separated: Separated,
    needs: Mapping[Key, Fraction],
    budgets: Mapping[Key, Budget],
) -> Iterator[SolvedQuery]:
    nearest = replace(system.conventions, rounding=Rounding.NEAREST)
    placed = {m.query: (group, m) for group in separated.groups for m in group.members}
    for query, before in system.budgets.items():
        target, budget = goals.margins.get(query), budgets[query]
        if query not in placed:
            yield SolvedQuery(
                query, target, before, None, None, budget, Reason.KEPT if budget == before else Reason.MADE_WAY
            )
            continue
        group, member = placed[query]
        if member.settled == budget == before and member.locked is None:
            yield SolvedQuery(query, target, before, None, None, before, Reason.MET)
            continue
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
