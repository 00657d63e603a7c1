"""TopDown's budgets from margins after least squares on real block geography: equal fan-outs solve, the exact recursion corrects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.solving_separable import SolvedGoals, solve, with_own_goals
from phexplore.model.goals import GoalError, Goals
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.top_down import top_down_again
from phexplore.spine.tree import GeoTree, UnitShares
from phexplore.spine.variance import Shape, refreshed, shape_of
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.solving_spine import on_spine
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.uniform_spine import UniformSpine, level_by_level, spine_variances, uniform_spine
from phexplore.workload.queries import parse_query

_MOST_ROUNDS = 16
_CLOSE = 1e-6
"""Margins are kept within one part in a million: shares become exact fractions by as much."""
_HOPELESS = 1e3
"""A correction that no budget will answer."""
_SETTLED = 1e-3
"""Corrections that move by less have settled."""


@dataclass(frozen=True, slots=True, eq=False)
class SolvedOnTree:
    """A solution with its exact margins.

    Attributes:
        solved: the budgets.
        margins: of every targeted query, in people: that of the worst unit and answer.
        rounds: corrections that were needed.
    """

    solved: SolvedGoals
    margins: Mapping[LevelQuery, float]
    rounds: int


def spine_of(method: TopDown, fit: Fit, units: Mapping[str, int], only: Sequence[str] | None = None) -> UniformSpine:
    """Return the variances of a fit on a spine with equal fan-outs.

    Args:
        method: the parameters.
        fit: how measurements become estimates.
        units: how many each level has.
        only: the levels, None for all.
    """
    spine = uniform_spine(method, units, only)
    return spine if fit is Fit.AT_ONCE else level_by_level(spine)


def units_of(tree: GeoTree) -> dict[str, int]:
    """Return how many units each level of a tree has."""
    return {level.name: level.units for level in tree.levels}


def with_level_shares(tree: GeoTree, method: TopDown) -> GeoTree:
    """Return the tree with every unit at its level's share of the total: nothing is bypassed.

    Args:
        tree: units of every level.
        method: the parameters.
    """
    levels = tuple(
        replace(level, shares=UnitShares((method.level_shares[level.name],), np.zeros(level.units, np.int32)))
        for level in tree.levels
    )
    return replace(tree, levels=levels)


def solve_on_tree(
    scenario: Scenario, goals: Goals | None, tree: GeoTree, *, spend: bool = False, fit: Fit = Fit.AT_ONCE
) -> SolvedOnTree:
    """Return the smallest budgets that keep all margins in every unit of a tree, after least squares.

    Args:
        scenario: of TopDown.
        goals: beside the scenario's own.
        tree: over the blocks; shares per unit are not used.
        spend: use what the caps leave.
        fit: what the margins are of.

    Raises:
        GoalError: a goal cannot be understood, or the corrections do not settle.
        InfeasibleError: no budgets keep all goals.
        PhexploreError: the scenario cannot be predicted on the tree.
    """
    method = scenario.topdown
    model = TopDownBudgets(scenario)
    asked = with_own_goals(model, goals or Goals())
    targets = [key for key in asked.margins if isinstance(key, LevelQuery)]
    spine = spine_of(method, fit, units_of(tree), [level.name for level in tree.levels])
    shape = shape_of(with_level_shares(tree, method), method)
    z = float(normal_factor(scenario.conventions.confidence, scenario.conventions.z))
    best: SolvedOnTree | None = None
    slack = dict.fromkeys(targets, 1.0)
    for number in range(_MOST_ROUNDS):
        found = solve(model, goals, spend=spend, joint=on_spine(model, spine))
        exact = tree_variances(shape, tree, found.scenario.topdown, targets, fit)
        margins = {key: z * value**0.5 for key, value in exact.items()}
        over = {key: (margins[key] / float(asked.margins[key])) ** 2 for key in targets}
        keeps = all(value <= 1 + _CLOSE for value in over.values())
        if keeps and (best is None or found.scenario.topdown.total < best.solved.scenario.topdown.total):
            best = SolvedOnTree(found, margins, number)
        wanted = _corrections(spine, found.scenario.topdown, exact)
        if max(wanted.values(), default=1.0) > _HOPELESS:
            break  # e.g. an only child, level by level: no budget of its own makes it better than its parent
        moved = max(
            (abs(wanted[key] / spine.corrections.get(key, 1.0) * slack[key] - 1) for key in targets), default=0.0
        )
        if moved < _SETTLED:
            if keeps:
                break
            # What little is still over is added, so that the rounds end above the smallest budgets and not below.
            slack = {key: slack[key] * max(1.0, over[key]) * (1 + _CLOSE) for key in targets}
        spine = replace(spine, corrections={key: wanted[key] * slack[key] for key in targets})
    if best is None:
        raise GoalError(
            "Budgets for this geography do not settle: its units differ too much from each other.",
            "Solve with documented fan-outs, and look at the forecast of the spine.",
        )
    return best


def _corrections(spine: UniformSpine, method: TopDown, exact: Mapping[LevelQuery, float]) -> dict[LevelQuery, float]:
    """Return by which factors the exact variances exceed those of equal fan-outs."""
    here = spine_variances(spine, {key: method.budget(key) for key in spine.keys})
    return {key: value / here[key] if here[key] else 1.0 for key, value in exact.items()}


def tree_variances(
    shape: Shape, tree: GeoTree, method: TopDown, targets: list[LevelQuery], fit: Fit = Fit.AT_ONCE
) -> dict[LevelQuery, float]:
    """Return the largest exact variance over units and answers of some queries, in people².

    Args:
        shape: of the measurements.
        tree: units of every level.
        method: the parameters.
        targets: queries whose variances are wanted.
        fit: what the variances are of.
    """
    names = [level.name for level in tree.levels]
    again = refreshed if fit is Fit.AT_ONCE else top_down_again
    prediction = again(shape, with_level_shares(tree, method), method)
    schema = prediction.shape.measured.schema
    found = {}
    for key in targets:
        kinds = prediction.kinds(parse_query(schema, key.query))
        table = prediction.variances([kinds])
        found[key] = float(prediction.at_level(names.index(key.level), table).max())
    return found
