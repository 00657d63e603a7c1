"""Edits of TopDown parameters. Shares live on a simplex (`phexplore.model.shares`): what one takes, the unlocked others give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from phexplore.model.edits import EditRefusedError
from phexplore.model.scenario import Scenario
from phexplore.model.shares import rebalanced, rebalanced_block
from phexplore.model.topdown import LevelQuery, TopDown


def _with(scenario: Scenario, method: TopDown) -> Scenario:
    return replace(scenario, method=method)


def set_level_share(scenario: Scenario, level: str, share: Fraction) -> Scenario:
    """Give a level this share of the total; the unlocked other levels rebalance.

    Args:
        scenario: of TopDown.
        level: of the tree.
        share: exact, 0 to 1.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.topdown
    shares = rebalanced(method.level_shares, level, share, method.locked_levels)
    return _with(scenario, replace(method, level_shares=shares))


def set_query_share(scenario: Scenario, key: LevelQuery, share: Fraction) -> Scenario:
    """Give a query group this share of its level; the unlocked other groups of the level rebalance.

    Args:
        scenario: of TopDown.
        key: level and query group.
        share: exact, 0 to 1.

    Raises:
        EditRefusedError: it does not fit.
    """
    method = scenario.topdown
    column = {other: value for other, value in method.query_shares.items() if other.level == key.level}
    shares = {**method.query_shares, **rebalanced(column, key, share, method.locked_queries)}
    return _with(scenario, replace(method, query_shares=shares))


def query_column(method: TopDown, level: str) -> dict[LevelQuery, Fraction]:
    """Return the query shares of one level, in their order.

    Args:
        method: the parameters.
        level: of the tree.
    """
    return {key: share for key, share in method.query_shares.items() if key.level == level}


def set_shares(scenario: Scenario, levels: Mapping[str, Fraction], queries: Mapping[LevelQuery, Fraction]) -> Scenario:
    """Give several levels and query groups their shares at once (a pasted block); the unlocked rest rebalances.

    Args:
        scenario: of TopDown.
        levels: shares of levels in the total, exact.
        queries: shares of queries in their level, exact.

    Raises:
        EditRefusedError: a query group is not measured, or the shares of one column do not fit.
    """
    method = scenario.topdown
    level_shares = dict(method.level_shares)
    if levels:
        level_shares = rebalanced_block(level_shares, levels, method.locked_levels)
    query_shares = dict(method.query_shares)
    for level in dict.fromkeys(key.level for key in queries):
        column = query_column(method, level)
        given = {key: share for key, share in queries.items() if key.level == level}
        if missing := [key for key in given if key not in column]:
            raise EditRefusedError(f"{missing[0].text} is not measured.", "Measure it first.")
        query_shares |= rebalanced_block(column, given, method.locked_queries)
    return _with(scenario, replace(method, level_shares=level_shares, query_shares=query_shares))


def take_level_shares(scenario: Scenario, source: TopDown) -> Scenario:
    """Take the shares of all levels from other parameters.

    Args:
        scenario: of TopDown.
        source: parameters whose shares are taken.

    Raises:
        EditRefusedError: they have other levels, or a locked share would change.
    """
    method = scenario.topdown
    if source.levels != method.levels:
        raise EditRefusedError(
            f"The other parameters have the levels {', '.join(source.levels)}.", "Choose parameters of the same levels."
        )
    shares = rebalanced_block(dict(method.level_shares), dict(source.level_shares), method.locked_levels)
    return _with(scenario, replace(method, level_shares=shares))


def take_query_shares(scenario: Scenario, level: str, source: TopDown) -> Scenario:
    """Take the measured query groups of a level and their shares from other parameters.

    Args:
        scenario: of TopDown.
        level: of the tree.
        source: parameters whose shares are taken.

    Raises:
        EditRefusedError: they do not have this level, or a locked share would change.
    """
    method = scenario.topdown
    column = query_column(source, level)
    if not column:
        raise EditRefusedError(
            f"The other parameters have no level {level!r}.", "Choose parameters of the same levels."
        )
    for key in method.locked_queries:
        if key.level == level and method.query_shares.get(key) != column.get(key):
            raise EditRefusedError(f"{key.text} is locked.", "Unlock it first.")
    shares: dict[LevelQuery, Fraction] = {}
    for other in method.levels:
        shares |= column if other == level else query_column(method, other)
    return _with(scenario, replace(method, query_shares=shares))


def add_query(scenario: Scenario, key: LevelQuery, share: Fraction) -> Scenario:
    """Measure a further query group at a level, with this share; the unlocked others rebalance.

    Args:
        scenario: of TopDown.
        key: level and query group.
        share: exact, 0 to 1.

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

    Args:
        scenario: of TopDown.
        key: level and query group.

    Raises:
        EditRefusedError: it is not measured, locked, or the last one of its level.
    """
    method = scenario.topdown
    if key not in method.query_shares:
        raise EditRefusedError(f"{key.text} is not measured.", "Nothing to remove.")
    column = query_column(method, key.level)
    if len(column) == 1:
        raise EditRefusedError(
            f"{key.text} is the only query measured at {key.level}.", "Measure another one before you remove it."
        )
    emptied = set_query_share(scenario, key, Fraction(0)).topdown
    shares = {other: value for other, value in emptied.query_shares.items() if other != key}
    return _with(scenario, replace(emptied, query_shares=shares))
