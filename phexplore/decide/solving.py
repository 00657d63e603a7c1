"""Solving from targets: what is asked, what comes back, and its words.

Args:
    found: the solution: a scenario, with what decided each of its budgets.
    before: the scenario they were solved from.
    workbook: the project before the change.
    changes: the margin, in people, that each key is to reach, None to ask for none.
    way: the goals left out, the query left out or the lock opened, as the solver proposed it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from operator import itemgetter
from pathlib import Path

from phexplore.accuracy.budget_model import margin_of
from phexplore.accuracy.proven_caps import proven_under
from phexplore.accuracy.solving_conflict import InfeasibleError, Relaxation
from phexplore.accuracy.solving_separable import Reason, SolvedGoals, SolvedQuery, rounded_as_in_2020, solve
from phexplore.errors import PhexploreError
from phexplore.figures.wording import bound_text, budget_text, people, signed_budget, significant
from phexplore.model.goal_edits import restricted, with_margins
from phexplore.model.goals import GoalError, Goals, Key, title_of
from phexplore.model.numbers import Budget, Rounding, Unlimited, exact_text, round_exact
from phexplore.model.rounded import Toward, percent, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, replace_active, set_goals, system_name
from phexplore.systems.registry import budgets_of, presets, system_of


class Basis(enum.Enum):
    """Whose margins of error the goals are about. The value is the choice in words."""

    ALONE = "Margins of every query by itself"
    SPINE_2020 = "After least squares, spine of 2020"
    SPINE_2020_TOP_DOWN = "Level by level, spine of 2020"
    BLOCKS = "After least squares, in block data"
    BLOCKS_TOP_DOWN = "Level by level, in block data"

    @property
    def needs_blocks(self) -> bool:
        """Whether block data have to be named."""
        return self in {Basis.BLOCKS, Basis.BLOCKS_TOP_DOWN}


@dataclass(frozen=True, slots=True, eq=False)
class SolveRequest:
    """One question.

    Attributes:
        scenario: to be solved.
        goals: beside its own targets and locks.
        as_in_2020: with the conventions and the rounding of the published budgets.
        spend: use what the caps leave.
        basis: whose margins count, where a system publishes estimates.
        blocks: block data whose geography counts, where the basis needs them.
    """

    scenario: Scenario
    goals: Goals
    as_in_2020: bool = False
    spend: bool = False
    basis: Basis = Basis.ALONE
    blocks: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SolveAnswer:
    """What came back.

    Attributes:
        request: the question.
        solved: the budgets; None when there are none.
        refused: why not; an `InfeasibleError` knows ways out. None when solved.
        margins: of the estimates with the solution, in people; empty where every query counts by itself.
    """

    request: SolveRequest
    solved: SolvedGoals | None
    refused: PhexploreError | None
    margins: Mapping[Key, float] = field(default_factory=dict)

    @property
    def relaxations(self) -> tuple[Relaxation, ...]:
        """Ways out of a conflict."""
        return self.refused.relaxations if isinstance(self.refused, InfeasibleError) else ()


def answer(request: SolveRequest) -> SolveAnswer:
    """Solve; what cannot be solved is an answer, too."""
    scenario = request.scenario
    if request.as_in_2020:
        scenario = replace(scenario, conventions=rounded_as_in_2020(scenario.conventions))
    try:
        estimates = system_of(scenario).solve_estimates
        if request.basis is Basis.ALONE or estimates is None:
            # Budgets "as in 2020" are derived from their targets; else those whose targets are met stay unchanged.
            model, keeps_met = budgets_of(scenario), not request.as_in_2020
            return SolveAnswer(request, solve(model, request.goals, spend=request.spend, keeps_met=keeps_met), None)
        if request.basis.needs_blocks and request.blocks is None:
            raise GoalError("No block data are chosen.", "Choose a file of blocks.")
        blocks = request.blocks if request.basis.needs_blocks else None
        fit = "top-down" if request.basis.name.endswith("TOP_DOWN") else "at-once"
        solved, margins = estimates(scenario, request.goals, blocks, spend=request.spend, fit=fit)
        return SolveAnswer(request, solved, None, margins)
    except PhexploreError as error:
        return SolveAnswer(request, None, error)


def total_of(scenario: Scenario) -> Budget:
    """Return the headline loss: bounded, exact."""
    model = budgets_of(scenario)
    return model.total if isinstance(model.total, Unlimited) or not model.doubles else 2 * model.total


def headline(found: SolvedGoals, before: Scenario) -> str:
    """Return what the solution costs, e.g. ``Bounded ρ 2.514600 → 2.431000 (−0.083600, −3.3 %)``."""
    system = budgets_of(found.scenario)
    name = f"{'Bounded ' if system.doubles else ''}{system.framework.symbol}"
    old, new = total_of(before), total_of(found.scenario)
    if isinstance(old, Unlimited) or isinstance(new, Unlimited):
        return f"{name} {bound_text(old)} → {bound_text(new)}"
    if old == new:
        return f"{name} {bound_text(new)}, as it is now"
    change = new - old
    part = percent(abs(change) / old) if old else ""
    sign = "+" if change > 0 else "−"
    share = f", {f'less than {part[1:].strip()}' if part.startswith('<') else f'{sign}{part}'}" if part else ""
    return f"{name} {bound_text(old)} → {bound_text(new)} ({signed_budget(change)}{share})"


def rounding_line(found: SolvedGoals) -> str:
    """Return how the budgets were rounded and what that costs, in the unit of the headline."""
    conventions, system = found.scenario.conventions, budgets_of(found.scenario)
    tax = found.rounding_tax * (2 if system.doubles else 1)
    direction = {Rounding.UP: "upward, so that margins are kept,", Rounding.NEAREST: "to the nearest"}
    total = total_of(found.scenario)
    share = "" if isinstance(total, Unlimited) or not total or not tax else f" ({percent(abs(tax) / total, places=4)})"
    changed = direction_matters(found)
    solved = sum(entry.exact is not None for entry in found.queries)
    return (
        f"Rounded {direction[conventions.rounding]} to multiples of {exact_text(conventions.rounding_step)}: rounding "
        f"{'adds' if tax >= 0 else 'takes'} {significant(abs(tax), 3)}{share}. Upward and nearest differ in {len(changed)} of "
        f"{solved} budgets."
    )


def plain_rounding_line(found: SolvedGoals) -> str:
    """Return why the total may be a little more than the targets need, "" where budgets are not rounded upward."""
    is_up = found.scenario.conventions.rounding is Rounding.UP and found.rounding_tax > 0
    return "Budgets are rounded upward a little, so that margins are kept." if is_up else ""


def direction_matters(found: SolvedGoals) -> tuple[tuple[SolvedQuery, Fraction, Fraction], ...]:
    """Return the queries whose budget depends on the direction of rounding: entry, nearest, upward."""
    step = found.scenario.conventions.rounding_step
    pairs = (
        (entry, round_exact(entry.exact, step, Rounding.NEAREST), round_exact(entry.exact, step, Rounding.UP))
        for entry in found.queries
        if entry.exact is not None
    )
    return tuple((entry, nearest, up) for entry, nearest, up in pairs if nearest != up)


def published_line(found: SolvedGoals) -> str:
    """Return how many budgets are those that were published, "" when there is nothing to compare with."""
    scenario = found.scenario
    preset = presets().get(scenario.baseline)
    if preset is None or system_of(preset.scenario) is not system_of(scenario):
        return ""
    theirs, budgets = budgets_of(preset.scenario).budgets, budgets_of(scenario).budgets
    equal = sum(theirs.get(query) == budget for query, budget in budgets.items())
    return f"{equal} of {len(theirs)} budgets equal those of {preset.title}."


def cap_lines(found: SolvedGoals) -> tuple[tuple[str, str], ...]:
    """Return every cap and how much of it is used."""
    model = budgets_of(found.scenario)
    proven = [proven_under(model, cap, model.budgets) for cap, _, _ in found.caps]
    return tuple(
        (
            cap.title,
            f"{percent(spent / allowed, toward=Toward.UP)} used{'' if known is None else f', proven ε ≤ {rounded_up(known, 4)}'}",
        )
        for (cap, allowed, spent), known in zip(found.caps, proven, strict=True)
    )


_OTHER_REASONS = {
    Reason.FLOOR: ", by its floor", Reason.TIE: ", by its tie", Reason.LOCK: ", locked", Reason.MADE_WAY: ", made way",
}  # fmt: skip
"""Why a budget changes that is not what its target needs."""


def change_lines(found: SolvedGoals) -> tuple[tuple[str, str], ...]:
    """Return every budget that changes, the largest change first: name, with the reason if not its target, before → after."""
    moved = [entry for entry in found.queries if entry.budget != entry.before]

    def size(entry: SolvedQuery) -> float:
        if isinstance(entry.before, Unlimited) or isinstance(entry.budget, Unlimited):
            return float("inf")
        return abs(float(entry.budget - entry.before))

    return tuple(
        (f"{title_of(entry.query)}{_OTHER_REASONS.get(entry.reason, '')}",
         f"{budget_text(entry.before)} → {budget_text(entry.budget)}")
        for entry in sorted(moved, key=size, reverse=True)
    )  # fmt: skip


def margin_lines(found: SolvedGoals) -> tuple[tuple[str, str], ...]:
    """Return every query whose margin by itself changes, the largest change first: name, before → after in people."""
    model, changes = budgets_of(found.scenario), []
    for entry in (each for each in found.queries if each.budget != each.before):
        old, new = (margin_of(model, entry.query, budget) for budget in (entry.before, entry.budget))
        if old is None or new is None:
            changes.append((inf, title_of(entry.query), f"{budget_text(entry.before)} → {budget_text(entry.budget)}"))
        elif people(old) != people(new):
            changes.append((abs(new - old) / old, title_of(entry.query), f"± {people(old)} → ± {people(new)}"))
    return tuple((title, words) for _, title, words in sorted(changes, key=itemgetter(0), reverse=True))


def applied(workbook: Workbook, found: SolvedGoals) -> Workbook:
    """Return the workbook with the solution in the active scenario.

    The note, the name, what the scenario was compared with and the targets it has stay. What the project asks beside
    them stays asked, except where the scenario's targets now say the same.
    """
    system = system_name(found.scenario)
    after = replace_active(workbook, found.scenario)
    goals = workbook.goals.get(system, Goals())
    model = budgets_of(found.scenario)
    if model.keeps_targets:
        kept = {key: margin for key, margin in goals.margins.items() if model.targets.get(key) != margin}
        goals = replace(goals, margins=kept)
    return set_goals(after, system, goals)


def with_targets(workbook: Workbook, changes: Mapping[Key, Fraction | None]) -> Workbook:
    """Return the workbook that aims at these margins in people, None for none.

    They stand in the scenario where it keeps targets, which the headline counts; else in the project's goals.

    Raises:
        ValueError, GoalError: a margin is not more than 0.
    """
    scenario, system = workbook.scenario, system_name(workbook.scenario)
    goals, model = workbook.goals.get(system, Goals()), budgets_of(scenario)
    if model.keeps_targets:
        workbook = replace_active(workbook, model.with_targets(changes))
        changes = dict.fromkeys(changes)
    return set_goals(workbook, system, with_margins(goals, changes))


def relaxed(workbook: Workbook, way: Relaxation) -> Workbook:
    """Return the workbook after a way out was taken: other goals, a query left out, or a lock opened."""
    workbook = with_targets(workbook, {query: new for query, (_, new) in way.margins.items() if new is not None})
    scenario = workbook.scenario
    system = system_name(scenario)
    left_out = [query for query, (_, new) in way.margins.items() if new is None]
    goals = with_margins(workbook.goals.get(system, Goals()), dict.fromkeys(left_out))
    if not budgets_of(scenario).gives_way:  # else a query that nobody asks anything of shrinks by itself
        scenario = budgets_of(scenario).leaving.without(left_out)
    if way.unlocks is not None:
        goals = replace(goals, locks=goals.locks - {way.unlocks})
        scenario = budgets_of(scenario).with_lock(way.unlocks, locked=False)
    return set_goals(replace_active(workbook, scenario), system, goals)


def goals_of(workbook: Workbook) -> Goals:
    """Return what the project asks of the active scenario, beside its own targets and locks."""
    scenario = workbook.scenario
    known = budgets_of(scenario).budgets
    return restricted(workbook.goals.get(system_name(scenario), Goals()), known)
