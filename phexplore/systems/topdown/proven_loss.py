"""What TopDown's noise proves: the answers two records of a pair differ in, of the whole, of parts, and on every path of a spine.

Every query group is a partition: replacing a record changes nothing in it or two of its cells by one each. That all groups of all
levels change two cells is possible and worst: leaving out an answer is post-processing. At the root a total does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from phexplore.accounting.composition import Part
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.accuracy.proven_loss import ReleaseNoise, epsilon_bracket
from phexplore.model.conventions import Neighbours
from phexplore.model.goals import Key
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.allocation import rule_of
from phexplore.spine.settings import settings_of
from phexplore.spine.tree import GeoTree
from phexplore.systems.topdown.forecast import TopDownForecast, query_of, told_apart, told_by_companion

Ends = tuple[float, float]


def noise_of_release(method: TopDown, figures: TopDownForecast) -> ReleaseNoise:
    """Return the answers of the whole; empty under pure DP.

    Args:
        method: the parameters.
        figures: their forecast.
    """
    if figures.framework is PrivacyFramework.PURE_DP:
        return {}
    return {Neighbours.BOUNDED: tuple(_parts(method, figures, method.levels))}


def _parts(
    method: TopDown, figures: TopDownForecast, levels: Sequence[str], attribute: str = "", *, of_own: bool = False
) -> Iterator[Part]:
    for entry in figures.entries:
        if entry.sigma2 is None or entry.key.level not in levels or not _changes(method, entry.key):
            continue
        told = told_apart(method.schema, entry.key.query)
        if not of_own:
            told += told_by_companion(method.schema, entry.key.query)
        if not attribute or attribute in told:
            yield Part(entry.sigma2, 1, 2)


def parts_of(method: TopDown, budgets: Mapping[Key, Budget]) -> tuple[Part, ...]:
    """Return the answers of some queries that replacing a record changes; empty under pure DP.

    Args:
        method: the parameters.
        budgets: of the queries, exact.
    """
    if method.framework is PrivacyFramework.PURE_DP:
        return ()
    return tuple(
        Part(1 / budget, 1, 2)
        for key, budget in budgets.items()
        if isinstance(key, LevelQuery) and isinstance(budget, Fraction) and budget and _changes(method, key)
    )


def _changes(method: TopDown, key: LevelQuery) -> bool:
    """Return whether replacing a record can change a query: the number of all records at the root stays."""
    return key.level != method.levels[0] or query_of(method.schema, key.query).answers > 1


def block_within(method: TopDown, figures: TopDownForecast) -> Mapping[str, Ends]:
    """Return the proven ε at δ = 1e-10 of the levels strictly below each level; empty under pure DP.

    Args:
        method: the parameters.
        figures: their forecast.
    """
    if figures.framework is PrivacyFramework.PURE_DP:
        return {}
    return {
        level: _bracket(_parts(method, figures, method.levels[place + 1 :]))
        for place, level in enumerate(method.levels[:-1])
    }


def attributes(method: TopDown, figures: TopDownForecast) -> Mapping[str, Ends]:
    """Return the proven ε at δ = 1e-10 of each attribute with what is linked to it; empty under pure DP.

    Args:
        method: the parameters.
        figures: their forecast.
    """
    if figures.framework is PrivacyFramework.PURE_DP:
        return {}
    return {each.name: _bracket(_parts(method, figures, method.levels, each.name)) for each in figures.attributes}


def attributes_of_own(method: TopDown, figures: TopDownForecast) -> Mapping[str, Ends]:
    """Return what is proven of attributes that a companion tells, too, without its queries: less than is lost; empty under pure DP.

    Earlier versions stated it in bundles, which are compared with it.

    Args:
        method: the parameters.
        figures: their forecast.
    """
    if figures.framework is PrivacyFramework.PURE_DP:
        return {}
    linked = {name for entry in figures.entries for name in told_by_companion(method.schema, entry.key.query)}
    return {name: _bracket(_parts(method, figures, method.levels, name, of_own=True)) for name in sorted(linked)}


def proven_parts(method: TopDown, figures: TopDownForecast) -> Mapping[str, Ends]:
    """Return the proven ε of the block within each level and of each attribute, by name; empty under pure DP.

    Args:
        method: the parameters.
        figures: their forecast.
    """
    return {**block_within(method, figures), **attributes(method, figures)}


def joint(noises: Iterable[ReleaseNoise]) -> Ends | None:
    """Return the proven ε at δ = 1e-10 of several releases published together; None when one is of another mechanism."""
    parts = [noise.get(Neighbours.BOUNDED) for noise in noises]
    if not all(parts):
        return None
    return _bracket(part for each in parts if each for part in each)


def _bracket(parts: Iterable[Part]) -> Ends:
    low, high = epsilon_bracket(parts, HEADLINE_DELTA)
    return low, high


def possible_halves(method: TopDown) -> tuple[tuple[Part, ...], ...]:
    """Return what one record of a pair moves on every path that bypassing may make; empty where no unit is bypassed.

    A bypassed unit has its only child's budget beside its own, the child has none. The root is never bypassed.

    Args:
        method: the parameters.
    """
    if method.framework is PrivacyFramework.PURE_DP or rule_of(settings_of(method.spine), method.framework) == "none":
        return ()
    shares = [method.level_shares[level] for level in method.levels]
    paths = []
    for bypassed in product((False, True), repeat=max(len(shares) - 2, 0)):
        path = list(shares)
        for place in range(len(shares) - 2, 0, -1):
            if bypassed[place - 1]:
                path[place], path[place + 1] = path[place] + path[place + 1], Fraction(0)
        paths.append(dict(zip(method.levels, path, strict=True)))
    return halves_of(method, paths)


def halves_on(method: TopDown, tree: GeoTree) -> tuple[tuple[Part, ...], ...]:
    """Return what one record of a pair moves on the paths that a spine has; empty when all units have their level's budget.

    Args:
        method: the parameters.
        tree: with the budgets of its units.
    """
    if method.framework is PrivacyFramework.PURE_DP or all(level.shares is None for level in tree.levels):
        return ()
    columns = []
    for level in tree.levels:
        if level.shares is None:
            columns.append(np.zeros(tree.blocks, np.int64))
            continue
        columns.append(np.repeat(level.shares.of_unit.astype(np.int64), np.diff(level.first_block)))
    paths = [
        {
            level.name: method.level_shares[level.name] if level.shares is None else level.shares.values[place]
            for level, place in zip(tree.levels, row, strict=True)
        }
        for row in np.unique(np.stack(columns, axis=1), axis=0).tolist()
    ]
    return halves_of(method, paths)


def halves_of(method: TopDown, paths: Iterable[Mapping[str, Fraction]]) -> tuple[tuple[Part, ...], ...]:
    """Return the answers one record moves on each path: one cell of every query group, by one.

    Args:
        method: the parameters.
        paths: share of the whole budget per level; all paths carry the same sum.
    """
    return tuple(
        tuple(
            Part(1 / (method.total * path[key.level] * share), 1, 1)
            for key, share in method.query_shares.items()
            if share and path.get(key.level) and _changes(method, key)
        )
        for path in paths
    )
