"""TopDown's budgets from margins of its estimates: after least squares, on equal fan-outs or in block data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.solving_separable import SolvedGoals, solve
from phexplore.errors import UnknownNameError
from phexplore.model.goals import Goals, Key
from phexplore.model.scenario import Scenario
from phexplore.published.door import read_population
from phexplore.spine.tree import tree_of
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.solving_spine import on_spine
from phexplore.systems.topdown.solving_tree import solve_on_tree, spine_of
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.uniform_spine import UNITED_STATES_2020, spine_variances


def solve_estimates(
    scenario: Scenario, goals: Goals, blocks: Path | None, *, spend: bool, fit: str = "at-once"
) -> tuple[SolvedGoals, Mapping[Key, float]]:
    """Return the smallest budgets that keep the goals for the estimates, and the margins of the estimates in people.

    Args:
        scenario: to be solved.
        goals: beside its own locks.
        blocks: block data whose geography counts; None takes the spine of 2020 with equal fan-outs.
        spend: use what the caps leave.
        fit: ``at-once``, which the pooled estimator reaches where siblings are measured alike, or ``top-down``, level by level as in production.

    Raises:
        UnknownNameError: another fit.
        InfeasibleError: no budgets keep all goals.
        PhexploreError: the block data cannot be read.
    """
    known = [each.value for each in Fit]
    if fit not in known:
        raise UnknownNameError("fit", fit, known)
    if blocks is not None:
        tree = tree_of(read_population(blocks).geocodes(), scenario.topdown.levels)
        found = solve_on_tree(scenario, goals, tree, spend=spend, fit=Fit(fit))
        return found.solved, {key: margin for key, margin in found.margins.items()}  # noqa: C416 - dict() keeps the type of the keys
    spine, budgets = spine_of(scenario.topdown, Fit(fit), UNITED_STATES_2020), TopDownBudgets(scenario)
    solved = solve(budgets, goals, spend=spend, joint=on_spine(budgets, spine))
    z = float(normal_factor(scenario.conventions.confidence, scenario.conventions.z))
    method = solved.scenario.topdown
    variances = spine_variances(spine, {key: method.budget(key) for key in spine.keys})
    return solved, {key: z * variance**0.5 for key, variance in variances.items()}
