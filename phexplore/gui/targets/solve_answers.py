"""Solving beside the window: what is asked, what comes back, and its words. No Qt."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.solving_conflict import InfeasibleError, Relaxation
from phexplore.accuracy.solving_separable import SolvedGoals, SolvedQuery, rounded_as_in_2020, solve
from phexplore.errors import PhexploreError
from phexplore.gui.binding.wording import budget_text, percent, signed_budget
from phexplore.model.goal_edits import with_margins
from phexplore.model.goals import GoalError, Goals, Key, title_of
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Rounding, Unlimited, exact_text, round_exact, total_budget
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.model.workbook import Workbook, replace_active, set_goals, system_name
from phexplore.systems.phsafe.edits import set_budget, set_lock
from phexplore.systems.registry import budgets_of, presets
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.edits import set_level_lock, set_query_lock
from phexplore.systems.topdown.solving_spine import on_spine


class Basis(enum.Enum):
    """Whose margins of error TopDown's goals are about. The value is the choice in words."""

    ALONE = "Margins of every query by itself"
    SPINE_2020 = "After least squares, spine of 2020"
    BLOCKS = "After least squares, in block data"


@dataclass(frozen=True, slots=True, eq=False)
class SolveRequest:
    """One question.

    Attributes:
        scenario: to be solved.
        goals: beside its own targets and locks.
        as_in_2020: with the conventions and the rounding of the published budgets.
        spend: use what the caps leave.
        basis: whose margins count for TopDown.
        blocks: block data whose geography counts, for `Basis.BLOCKS`.
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
        if request.basis is not Basis.ALONE and isinstance(scenario.method, TopDown):
            return _after_least_squares(request, scenario)
        return SolveAnswer(request, solve(budgets_of(scenario), request.goals, spend=request.spend), None)
    except PhexploreError as error:
        return SolveAnswer(request, None, error)


def _after_least_squares(request: SolveRequest, scenario: Scenario) -> SolveAnswer:
    """Solve for the margins of the estimates.

    Raises:
        PhexploreError: they cannot be kept, or the block data cannot be read.
    """
    # Loaded late: the recursion and its kernels are not needed to open the page.
    from phexplore.data.blocks.source import read_population
    from phexplore.spine.tree import tree_of
    from phexplore.systems.topdown.solving_tree import solve_on_tree
    from phexplore.systems.topdown.uniform_spine import spine_variances, uniform_spine

    if request.basis is Basis.BLOCKS:
        if request.blocks is None:
            raise GoalError("No block data are chosen.", "Choose a file of blocks.")
        population = read_population(request.blocks)
        found = solve_on_tree(
            scenario, request.goals, tree_of(population.geocodes(), scenario.topdown.levels), spend=request.spend
        )
        return SolveAnswer(request, found.solved, None, {key: margin for key, margin in found.margins.items()})  # noqa: C416 - dict() keeps the type of the keys
    spine = uniform_spine(scenario.topdown)
    solved = solve(
        budgets_of(scenario), request.goals, spend=request.spend, joint=on_spine(TopDownBudgets(scenario), spine)
    )
    z = float(normal_factor(scenario.conventions.confidence, scenario.conventions.z))
    method = solved.scenario.topdown
    variances = spine_variances(spine, {key: method.budget(key) for key in spine.keys})
    return SolveAnswer(request, solved, None, {key: z * value**0.5 for key, value in variances.items()})


def total_of(scenario: Scenario) -> Budget:
    """Return the headline loss: bounded ρ of PHSafe, ρ of TopDown."""
    if isinstance(scenario.method, TopDown):
        return scenario.method.total
    whole = total_budget(list(scenario.phsafe.budgets.values()))
    return whole if isinstance(whole, Unlimited) else 2 * whole


def headline(found: SolvedGoals, before: Scenario) -> str:
    """Return what the solution costs, e.g. ``Bounded ρ 2.514600 → 2.431000 (−0.083600, −3.3 %)``."""
    system = budgets_of(found.scenario)
    name = f"{'Bounded ' if system.doubles else ''}{system.framework.symbol}"
    old, new = total_of(before), total_of(found.scenario)
    if isinstance(old, Unlimited) or isinstance(new, Unlimited):
        return f"{name} {budget_text(old)} → {budget_text(new)}"
    if old == new:
        return f"{name} {budget_text(new)}, as it is now"
    change = new - old
    share = f", {'+' if change > 0 else '−'}{percent(abs(change) / old)}" if old else ""
    return f"{name} {budget_text(old)} → {budget_text(new)} ({signed_budget(change)}{share})"


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
        f"{'adds' if tax >= 0 else 'takes'} {float(abs(tax)):.3g}{share}. Upward and nearest differ in {len(changed)} of "
        f"{solved} budgets."
    )


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
    if preset is None or not isinstance(preset.scenario.method, PhSafe) or not isinstance(scenario.method, PhSafe):
        return ""
    theirs = preset.scenario.phsafe.budgets
    equal = sum(theirs.get(query) == budget for query, budget in scenario.method.budgets.items())
    return f"{equal} of {len(theirs)} budgets equal those of {preset.title}."


def cap_lines(found: SolvedGoals) -> tuple[tuple[str, str], ...]:
    """Return every cap and how much of it is used."""
    return tuple((cap.title, f"{float(spent / allowed):.1%} used") for cap, allowed, spent in found.caps)


def change_lines(found: SolvedGoals) -> tuple[tuple[str, str], ...]:
    """Return every budget that changes, the largest change first: name with reason, before → after."""
    moved = [entry for entry in found.queries if entry.budget != entry.before]

    def size(entry: SolvedQuery) -> float:
        if isinstance(entry.before, Unlimited) or isinstance(entry.budget, Unlimited):
            return float("inf")
        return abs(float(entry.budget - entry.before))

    return tuple(
        (f"{title_of(entry.query)}, by its {entry.reason.value}" if entry.reason.value != "made way"
         else f"{title_of(entry.query)}, made way",
         f"{budget_text(entry.before)} → {budget_text(entry.budget)}")
        for entry in sorted(moved, key=size, reverse=True)
    )  # fmt: skip


def applied(workbook: Workbook, found: SolvedGoals) -> Workbook:
    """Return the workbook with the solution in the active scenario.

    The note, the name, what the scenario was compared with and the targets it has stay. What the project asks beside
    them stays asked, except where the scenario's targets now say the same.
    """
    system = system_name(found.scenario)
    after = replace_active(workbook, found.scenario)
    goals = workbook.goals.get(system, Goals())
    if isinstance(found.scenario.method, PhSafe):
        targets = found.scenario.method.targets
        kept = {
            key: margin
            for key, margin in goals.margins.items()
            if not isinstance(key, QueryKey) or targets.get(key) != margin
        }
        goals = replace(goals, margins=kept)
    return set_goals(after, system, goals)


def with_targets(workbook: Workbook, changes: Mapping[Key, Fraction | None]) -> Workbook:
    """Return the workbook that aims at these margins in people, None for none.

    PHSafe keeps them in the scenario as its targets, where the headline counts them; TopDown in the project's goals.

    Raises:
        ValueError, GoalError: a margin is not more than 0.
    """
    scenario, system = workbook.scenario, system_name(workbook.scenario)
    goals = workbook.goals.get(system, Goals())
    if isinstance(scenario.method, PhSafe):
        asked = {key: margin for key, margin in changes.items() if isinstance(key, QueryKey)}
        targets = {key: margin for key, margin in scenario.method.targets.items() if key not in asked}
        targets |= {key: margin for key, margin in asked.items() if margin is not None}
        scenario = replace(scenario, method=replace(scenario.method, targets=targets))
        changes = dict.fromkeys(changes)
    return set_goals(replace_active(workbook, scenario), system, with_margins(goals, changes))


def relaxed(workbook: Workbook, way: Relaxation) -> Workbook:
    """Return the workbook after a way out was taken: other goals, a query left out, or a lock opened."""
    workbook = with_targets(workbook, {query: new for query, (_, new) in way.margins.items() if new is not None})
    scenario = workbook.scenario
    system = system_name(scenario)
    left_out = {query: None for query, (_, new) in way.margins.items() if new is None}
    goals = with_margins(workbook.goals.get(system, Goals()), left_out)
    for query, (_, new) in way.margins.items():
        if new is None and isinstance(query, QueryKey):
            scenario = set_budget(scenario, query, Fraction(0))
    if way.unlocks is not None:
        goals = replace(goals, locks=goals.locks - {way.unlocks})
        scenario = with_lock(scenario, way.unlocks, locked=False)
    return set_goals(replace_active(workbook, scenario), system, goals)


def with_lock(scenario: Scenario, key: Key, *, locked: bool) -> Scenario:
    """Return the scenario with the budget of a query locked or free; a query of TopDown is free when its level is, too."""
    if isinstance(key, QueryKey):
        return set_lock(scenario, key, locked=locked)
    if not locked:
        scenario = set_level_lock(scenario, key.level, locked=False)
    return set_query_lock(scenario, key, locked=locked)
