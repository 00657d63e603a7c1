"""Edits of the parameters of group sizes: functions from a scenario to the next.

Args:
    scenario: to edit.
    level: its name.
    share: of the total, exact.
    levels: names, widest first.
    regions: how many each level has.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from phexplore.model.edits import EditRefusedError
from phexplore.model.group_sizes import GroupSizes, equal_shares
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced

MOST_LEVELS = 12
"""Levels of regions; the paper has three."""


def _with(scenario: Scenario, method: GroupSizes) -> Scenario:
    return replace(scenario, method=method)


def set_size_share(scenario: Scenario, level: str, share: Fraction) -> Scenario:
    """Give a level this share of the total; the unlocked other levels rebalance so that all add to exactly 1.

    Args:
        scenario: to change.
        level: whose share it is.
        share: of the total, 0 to 1.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.group_sizes
    return _with(
        scenario, replace(method, level_shares=rebalanced(method.level_shares, level, share, method.locked_levels))
    )


def share_equally(scenario: Scenario) -> Scenario:
    """Divide the budget as the paper does, ε/L for each of L levels; locks are given up."""
    method = scenario.group_sizes
    return _with(scenario, replace(method, level_shares=equal_shares(method.levels), locked_levels=frozenset()))


def set_size_levels(scenario: Scenario, levels: tuple[str, ...], regions: tuple[int, ...]) -> Scenario:
    """Name the levels, widest first, with their numbers of regions; shares stay where a level keeps its name.

    Args:
        scenario: to change.
        levels: names, widest first.
        regions: how many each has.

    Raises:
        EditRefusedError: no level, too many, a repeated name, or a level without regions.
    """
    if not levels or len(levels) > MOST_LEVELS:
        raise EditRefusedError(
            f"There are 1 to {MOST_LEVELS} levels, got {len(levels)}.", "Write for example: Nation 1, Region 4."
        )
    if len(set(levels)) != len(levels):
        raise EditRefusedError(f"Two levels have the same name: {', '.join(levels)}.", "Give each its own name.")
    if len(regions) != len(levels) or any(count < 1 for count in regions):
        raise EditRefusedError("Every level has at least 1 region.", "Write for example: Nation 1, Region 4.")
    method = scenario.group_sizes
    same = levels == method.levels
    shares = method.level_shares if same else equal_shares(levels)
    locked = method.locked_levels if same else frozenset()
    return _with(scenario, replace(method, levels=levels, regions=regions, level_shares=shares, locked_levels=locked))
