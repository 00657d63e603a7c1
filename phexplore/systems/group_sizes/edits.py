"""Edits of the parameters of group sizes: functions from a scenario to the next."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from phexplore.model.edits import EditRefusedError
from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism, equal_shares
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced

MOST_LEVELS = 12
"""Levels of regions; the paper has three."""


def _with(scenario: Scenario, method: GroupSizes) -> Scenario:
    return replace(scenario, method=method)


def set_size_total(scenario: Scenario, total: Fraction) -> Scenario:
    """Set the whole budget: ε, or ρ under zCDP.

    Raises:
        EditRefusedError: it is not positive.
    """
    if total <= 0:
        raise EditRefusedError(f"The total budget is more than 0, got {total}.", "Enter a positive number.")
    return _with(scenario, replace(scenario.group_sizes, total=total))


def set_size_share(scenario: Scenario, level: str, share: Fraction) -> Scenario:
    """Give a level this share of the total; the unlocked other levels rebalance so that all add to exactly 1.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.group_sizes
    return _with(
        scenario, replace(method, level_shares=rebalanced(method.level_shares, level, share, method.locked_levels))
    )


def set_size_lock(scenario: Scenario, level: str, *, locked: bool) -> Scenario:
    """Lock or unlock the share of a level."""
    method = scenario.group_sizes
    locks = method.locked_levels | {level} if locked else method.locked_levels - {level}
    return _with(scenario, replace(method, locked_levels=locks))


def share_equally(scenario: Scenario) -> Scenario:
    """Divide the budget as the paper does, ε/L for each of L levels; locks are given up."""
    method = scenario.group_sizes
    return _with(scenario, replace(method, level_shares=equal_shares(method.levels), locked_levels=frozenset()))


def set_size_mechanism(scenario: Scenario, mechanism: SizeMechanism) -> Scenario:
    """Choose what is measured and how it becomes consistent."""
    return _with(scenario, replace(scenario.group_sizes, mechanism=mechanism))


def set_size_framework(scenario: Scenario, framework: PrivacyFramework) -> Scenario:
    """Choose pure DP or zCDP. The total stays and changes its meaning from ε to ρ; the name of the step says so."""
    return _with(scenario, replace(scenario.group_sizes, framework=framework))


def set_largest_size(scenario: Scenario, largest: int) -> Scenario:
    """Set N, the largest size; larger groups count as groups of it.

    Raises:
        EditRefusedError: below 1.
    """
    if largest < 1:
        raise EditRefusedError(f"The largest size is at least 1, got {largest}.", "Enter a whole number from 1.")
    return _with(scenario, replace(scenario.group_sizes, largest=largest))


def set_largest_quantity(scenario: Scenario, quantity: int) -> Scenario:
    """Set the most one individual can add to the size of a group.

    Raises:
        EditRefusedError: below 1.
    """
    if quantity < 1:
        raise EditRefusedError(f"The largest quantity is at least 1, got {quantity}.", "Enter a whole number from 1.")
    return _with(scenario, replace(scenario.group_sizes, largest_quantity=quantity))


def set_tail(scenario: Scenario, tail: HeavyTail | None) -> Scenario:
    """Choose how sizes above an open last class are drawn, None when the data hold all sizes."""
    return _with(scenario, replace(scenario.group_sizes, tail=tail))


def set_size_levels(scenario: Scenario, levels: tuple[str, ...], regions: tuple[int, ...]) -> Scenario:
    """Name the levels, widest first, with their numbers of regions; shares stay where a level keeps its name.

    Raises:
        EditRefusedError: no level, too many, a repeated name, or a level without regions.
    """
    if not levels or len(levels) > MOST_LEVELS:
        raise EditRefusedError(
            f"There are 1 to {MOST_LEVELS} levels, got {len(levels)}.", "Write for example: Nation 1, State 51."
        )
    if len(set(levels)) != len(levels):
        raise EditRefusedError(f"Two levels have the same name: {', '.join(levels)}.", "Give each its own name.")
    if len(regions) != len(levels) or any(count < 1 for count in regions):
        raise EditRefusedError("Every level has at least 1 region.", "Write for example: Nation 1, State 51.")
    method = scenario.group_sizes
    same = levels == method.levels
    shares = method.level_shares if same else equal_shares(levels)
    locked = method.locked_levels if same else frozenset()
    return _with(scenario, replace(method, levels=levels, regions=regions, level_shares=shares, locked_levels=locked))
