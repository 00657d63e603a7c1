"""Edits of TopDown parameters. Shares live on a simplex: what one takes, the unlocked others give.

The rule of rebalancing: the unlocked shares keep their proportions (equal shares if all are 0) and are rounded to multiples of
one millionth by largest remainder, the largest of them taking what is left, so that the column adds to exactly 1. Without the
rounding a slider dragged 200 steps would multiply denominators 200 times.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from phexplore.model.edits import EditRefusedError
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown

SHARE_STEP = Fraction(1, 10**6)

Key = TypeVar("Key", bound=Hashable)


def rebalanced(
    shares: Mapping[Key, Fraction], key: Key, share: Fraction, locked: frozenset[Key]
) -> dict[Key, Fraction]:
    """Return the shares with `key` set to `share` and the unlocked others adjusted so that all add to exactly 1.

    Raises:
        EditRefusedError: the share is not between 0 and what the locked ones leave, or nothing is left to give or take.
    """
    if key in locked:
        raise EditRefusedError(f"{_name(key)} is locked.", "Unlock it first.")
    held = sum((value for other, value in shares.items() if other in locked), Fraction(0))
    if not 0 <= share <= 1 - held:
        raise EditRefusedError(
            f"A share of {float(share):.4%} for {_name(key)} does not fit: locked shares hold {float(held):.4%}.",
            f"Enter a share from 0 to {float(1 - held):.4%}, or unlock one of the others.",
        )
    free = [other for other in shares if other != key and other not in locked]
    left = 1 - held - share
    if not free:
        if left != 0:
            raise EditRefusedError(
                f"No unlocked share can take the remaining {float(left):.4%}.", "Unlock one of the others."
            )
        return {**shares, key: share}
    return {**shares, key: share, **_divided({other: shares[other] for other in free}, left)}


def _divided(shares: Mapping[Key, Fraction], total: Fraction) -> dict[Key, Fraction]:
    """Return multiples of the share step in proportion to `shares` that add to `total`; the largest takes the rest."""
    whole = sum(shares.values(), Fraction(0))
    wanted = {key: total * (value / whole if whole else Fraction(1, len(shares))) for key, value in shares.items()}
    rounded = {key: (value // SHARE_STEP) * SHARE_STEP for key, value in wanted.items()}
    by_remainder = sorted(wanted, key=lambda key: wanted[key] - rounded[key], reverse=True)
    for key in by_remainder:
        if total - sum(rounded.values()) < SHARE_STEP:
            break
        rounded[key] += SHARE_STEP
    largest = max(wanted, key=lambda key: wanted[key])
    rounded[largest] += total - sum(rounded.values())
    return rounded


def _name(key: object) -> str:
    return key.text if isinstance(key, LevelQuery) else str(key)


def _with(scenario: Scenario, method: TopDown) -> Scenario:
    return replace(scenario, method=method)


def set_total(scenario: Scenario, total: Fraction) -> Scenario:
    """Set the whole budget: ρ, or ε under pure DP.

    Raises:
        EditRefusedError: it is not positive.
    """
    if total <= 0:
        raise EditRefusedError(f"The total budget is more than 0, got {total}.", "Enter a positive number.")
    return _with(scenario, replace(scenario.topdown, total=total))


def set_level_share(scenario: Scenario, level: str, share: Fraction) -> Scenario:
    """Give a level this share of the total; the unlocked other levels rebalance.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.topdown
    shares = rebalanced(method.level_shares, level, share, method.locked_levels)
    return _with(scenario, replace(method, level_shares=shares))


def set_query_share(scenario: Scenario, key: LevelQuery, share: Fraction) -> Scenario:
    """Give a query group this share of its level; the unlocked other groups of the level rebalance.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.topdown
    column = {other: value for other, value in method.query_shares.items() if other.level == key.level}
    shares = {**method.query_shares, **rebalanced(column, key, share, method.locked_queries)}
    return _with(scenario, replace(method, query_shares=shares))


def add_query(scenario: Scenario, key: LevelQuery, share: Fraction) -> Scenario:
    """Measure a further query group at a level, with this share; the unlocked others rebalance.

    Raises:
        EditRefusedError: it is measured already, the level is unknown, or the share does not fit.
    """
    method = scenario.topdown
    if key in method.query_shares:
        raise EditRefusedError(f"{key.text} is measured already.", "Change its share instead.")
    if key.level not in method.levels:
        raise EditRefusedError(f"There is no level {key.level!r}.", f"Levels are {', '.join(method.levels)}.")
    shares: dict[LevelQuery, Fraction] = {}
    for level in method.levels:
        shares |= {other: value for other, value in method.query_shares.items() if other.level == level}
        if level == key.level:
            shares[key] = Fraction(0)
    return set_query_share(_with(scenario, replace(method, query_shares=shares)), key, share)


def remove_query(scenario: Scenario, key: LevelQuery) -> Scenario:
    """Stop measuring a query group at a level; its share goes to the unlocked others.

    Raises:
        EditRefusedError: it is not measured, locked, or the last one of its level.
    """
    method = scenario.topdown
    if key not in method.query_shares:
        raise EditRefusedError(f"{key.text} is not measured.", "Nothing to remove.")
    emptied = set_query_share(scenario, key, Fraction(0)).topdown
    shares = {other: value for other, value in emptied.query_shares.items() if other != key}
    return _with(scenario, replace(emptied, query_shares=shares))


def set_level_lock(scenario: Scenario, level: str, *, locked: bool) -> Scenario:
    """Lock or unlock the share of a level."""
    method = scenario.topdown
    locks = method.locked_levels | {level} if locked else method.locked_levels - {level}
    return _with(scenario, replace(method, locked_levels=locks))


def set_query_lock(scenario: Scenario, key: LevelQuery, *, locked: bool) -> Scenario:
    """Lock or unlock the share of a query group at a level."""
    method = scenario.topdown
    locks = method.locked_queries | {key} if locked else method.locked_queries - {key}
    return _with(scenario, replace(method, locked_queries=locks))


def set_passes(scenario: Scenario, level: str, passes: Passes) -> Scenario:
    """Set the order in which post-processing uses the queries of a level."""
    method = scenario.topdown
    return _with(scenario, replace(method, passes={**method.passes, level: passes}))


def set_constraints(scenario: Scenario, level: str, constraints: tuple[str, ...]) -> Scenario:
    """Set what post-processing must keep at a level."""
    method = scenario.topdown
    return _with(scenario, replace(method, constraints={**method.constraints, level: constraints}))


def set_invariants(scenario: Scenario, level: str, invariants: tuple[str, ...]) -> Scenario:
    """Set which counts of a level are published exactly."""
    method = scenario.topdown
    return _with(scenario, replace(method, invariants={**method.invariants, level: invariants}))


def set_spine(scenario: Scenario, spine: SpineChoice) -> Scenario:
    """Choose the geographic spine."""
    return _with(scenario, replace(scenario.topdown, spine=spine))
