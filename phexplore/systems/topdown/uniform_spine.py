"""Variances of TopDown's estimates before any run on a spine whose units of a level have equally many children, in closed form.

With n children per unit, independent given their parent and alike, least squares separates: the sum of the children carries the
information of one child over n, and differences between children are independent of it. With the information H(l) that the
queries of level l give about a unit's histogram, what is known from a unit and everything below it is

    B(l) = H(l) + B(l + 1) / n(l + 1),

linear in the budgets, and the covariance of a unit's histogram given everything is

    V(0) = B(0)⁻¹,    V(l) = V(l − 1) / n(l)² + (1 − 1 / n(l)) B(l)⁻¹.

Where counts are exact at a level (and so above it), the first r coordinates of a block are known there and B is inverted on the
others only. So a variance is a sum of convex functions c' B⁻¹ c of the budgets, with gradients as simple. On a tree with these
fan-outs `spine.variance.predict` gives the same numbers (a test compares them); on a real spine with its average fan-outs they
are close, and `solving_spine` corrects them by the exact ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.spine.components import Decomposition
from phexplore.spine.measuring import known_steps, measured
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import load_schema

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNITED_STATES_2020: Mapping[str, int] = {
    "US": 1, "State": 88, "County": 3_496, "Tract": 84_589, "Block_Group": 409_548, "Block": 8_132_968,
}  # fmt: skip
"""Units of the production spine of 2020 (TopDown paper, table of entities: states and counties with their tribal parts, block
groups optimised)."""

_SINGULAR = 1e-12
_OPEN = 1e-9
"""Of an answer's coordinates, what counts as not determined."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Answers whose variances are wanted: of every query one of each kind that may differ.

    Attributes:
        keys: their queries, a place in the spine's keys each, ``int64[answers]``.
        levels: number of their levels, ``int64[answers]``.
        coordinates: per family of blocks, ``float64[answers, blocks, size]``.
    """

    keys: Integers
    levels: Integers
    coordinates: tuple[Floats, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UniformSpine:
    """The variances of one scenario's queries as functions of its budgets.

    Attributes:
        levels: widest first.
        keys: measured queries, one per budget.
        queries: per key, the place of its query among the matrices, ``int64[keys]``.
        level_of: per key, the number of its level, ``int64[keys]``.
        fan_outs: children per unit of the level above, 1 for the root.
        families: blocks of the decomposition by size, so that they are worked through together.
        shares: ``float64[levels, levels]``, how much the information of a unit at the second level tells about one at the first.
        weights: ``float64[levels, levels]``, how much of the variance at the first level comes from differences at the second.
        decomposition: of the histogram.
        corrections: by which factor the variance of a query on the real spine exceeds the one here; 1 where it is not named.
    """

    levels: tuple[str, ...]
    keys: tuple[LevelQuery, ...]
    queries: Integers
    level_of: Integers
    fan_outs: tuple[float, ...]
    families: tuple[_Family, ...]
    shares: Floats
    weights: Floats
    decomposition: Decomposition
    corrections: Mapping[LevelQuery, float] = field(default_factory=dict)

    def answers(self, keys: Iterable[LevelQuery]) -> Answers:
        """Return the answers of some queries that may differ in variance."""
        known: dict[str, list[tuple[Floats, ...]]] = {}
        places: list[int] = []
        vectors: list[tuple[Floats, ...]] = []
        for key in keys:
            if key.query not in known:
                query = parse_query(self.decomposition.schema, key.query)
                chosen, _ = self.decomposition.answers(query)
                known[key.query] = list(zip(*self.decomposition.coordinates(query, chosen), strict=True))
            places += [self.keys.index(key)] * len(known[key.query])
            vectors += known[key.query]
        of = np.array(places, np.int64)
        return Answers(of, self.level_of[of], self._stacked(vectors))

    def answer(self, level: str, query: MarginalQuery, answer: int) -> Answers:
        """Return one answer of any query, measured or not.

        Args:
            level: that it is asked at.
            query: over the schema of the spine.
            answer: which of its answers.
        """
        vector = tuple(rows[0] for rows in self.decomposition.coordinates(query, np.array([answer])))
        return Answers(np.zeros(1, np.int64), np.array([self.levels.index(level)]), self._stacked([vector]))

    def _stacked(self, vectors: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
        return tuple(
            np.array([[each[place] for place in family.places] for each in vectors]).reshape(
                len(vectors), len(family.places), family.size
            )
            for family in self.families
        )

    def variances(self, budgets: Floats, wanted: Answers) -> tuple[Floats, Floats]:
        """Return variances and their derivatives by the budgets.

        Args:
            budgets: ``float64[keys]``, ρ of each measured query; the variance of its noise is the inverse.
            wanted: answers.

        Returns:
            ``float64[answers]`` in people², infinite where nothing determines an answer, and ``float64[answers, keys]``.
        """
        depth = len(self.levels)
        value = np.zeros(len(wanted.keys))
        told = np.zeros((len(wanted.keys), depth, int(self.queries.max()) + 1))
        weights = self.weights[wanted.levels]
        precisions = np.zeros((depth, told.shape[2]))
        np.add.at(precisions, (self.level_of, self.queries), budgets)
        for family, coordinates in zip(self.families, wanted.coordinates, strict=True):
            inverse, open_part = family.inverses(precisions, self.shares)
            # answers, levels, blocks, coordinates; what is known exactly at a level has no variance there.
            asked = coordinates[:, None] * family.unknown
            solved = np.einsum("wlbi,lbij->wlbj", asked, inverse)
            value += np.einsum("wl,wlbi,wlbi->w", weights, asked, solved)
            if open_part.any():
                left = np.einsum("wlbi,lbij->wlbj", asked, open_part)
                undetermined = (np.abs(left).max(axis=(2, 3)) > _OPEN) & (weights > 0)
                value[undetermined.any(axis=1)] = np.inf
            products = solved[..., :, None] * solved[..., None, :]
            flat = products.reshape(*products.shape[:2], -1)
            told += flat @ family.matrices.reshape(len(family.matrices), -1).T
        slope = -np.einsum("wl,lm,wlq->wmq", weights, self.shares, told)
        return value, slope[:, self.level_of, self.queries]


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """Blocks of one size.

    Attributes:
        places: in the decomposition.
        size: rows of each.
        matrices: ``float64[queries, blocks, size, size]`` information at precision 1.
        unknown: ``float64[levels, blocks, size]``, 0 where a coordinate is known exactly at a level, else 1.
    """

    places: tuple[int, ...]
    size: int
    matrices: Floats
    unknown: Floats

    def inverses(self, precisions: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """Return the inverse of B at every level on what is not known, and the projection on what nothing determines.

        Args:
            precisions: ``float64[levels, queries]``.
            shares: of the spine.
        """
        own = np.tensordot(precisions, self.matrices, axes=1)
        below = np.tensordot(shares, own, axes=1) * self.unknown[..., :, None] * self.unknown[..., None, :]
        # A known coordinate is given information of its own, so that the rest can be inverted.
        identity = np.eye(self.size)
        scale = np.maximum(np.abs(below).max(axis=(2, 3)), 1e-300)[..., None, None]
        values, basis = np.linalg.eigh(below / scale + identity * (1 - self.unknown)[..., None])
        null = values <= _SINGULAR * np.maximum(values[..., -1:], 0.0)
        safe = np.where(null, 1.0, values)
        inverse = np.einsum("...ij,...j,...kj->...ik", basis, np.where(null, 0.0, 1 / safe), basis) / scale
        open_part = np.einsum("...ij,...j,...kj->...ik", basis, null.astype(np.float64), basis)
        return inverse, open_part


def uniform_spine(
    method: TopDown, units: Mapping[str, int] = UNITED_STATES_2020, only: Sequence[str] | None = None
) -> UniformSpine:
    """Return the variances of a scenario on a spine with equal fan-outs.

    Args:
        method: gives levels, queries and exact counts; its budgets do not matter.
        units: how many units each level has.
        only: the levels that the data have, widest first; all of the method's when None.

    Raises:
        PhexploreError: a level has no number of units, or queries are too intricate.
    """
    levels = tuple(method.levels if only is None else only)
    if missing := [level for level in levels if level not in units]:
        raise PhexploreError(
            f"Nothing says how many units the level {missing[0]} has.",
            "Give block geography, or name the units per level.",
        )
    schema = load_schema(method.schema)
    asked = measured(method, levels)
    steps, kept = known_steps(asked.exact)
    decomposition = Decomposition(schema, asked.queries, steps)
    information = [decomposition.information(query) for query in asked.queries]
    known = [kept[name] for name in levels]
    sizes: dict[int, list[int]] = {}
    for number, size in enumerate(decomposition.sizes):
        sizes.setdefault(size, []).append(number)
    families = []
    for size, places in sizes.items():
        ranks = np.array([[decomposition.blocks[place].ranks[count] for place in places] for count in known])
        unknown = (np.arange(size) >= ranks[..., None]).astype(np.float64)
        matrices = np.array([[each[place] for place in places] for each in information])
        families.append(_Family(tuple(places), size, matrices, unknown))
    place = {query: number for number, query in enumerate(asked.queries)}
    parsed = {key: parse_query(schema, key.query) for key in method.query_shares}
    keys = tuple(key for key, query in parsed.items() if key.level in levels and query in asked.shares[key.level])
    fan_outs = (1.0, *(units[low] / units[high] for high, low in pairwise(levels)))
    return UniformSpine(
        levels,
        keys,
        np.array([place[parsed[key]] for key in keys], np.int64),
        np.array([levels.index(key.level) for key in keys], np.int64),
        fan_outs,
        tuple(families),
        *_weights(fan_outs),
        decomposition,
    )


def level_by_level(spine: UniformSpine) -> UniformSpine:
    """Return the variances of estimates fitted level by level: what is measured below a unit tells nothing of it, B(l) = H(l)."""
    return replace(spine, shares=np.eye(len(spine.levels)))


def _weights(fan_outs: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return shares and weights of a spine, as `UniformSpine` has them."""
    depth = len(fan_outs)
    shares, weights = np.zeros((depth, depth)), np.zeros((depth, depth))
    for level in range(depth):
        for other in range(level, depth):
            narrowing = float(np.prod(fan_outs[level + 1 : other + 1]))
            shares[level, other] = 1 / narrowing
            weights[other, level] = (1.0 if level == 0 else 1 - 1 / fan_outs[level]) / narrowing**2
    return shares, weights


def spine_variances(spine: UniformSpine, budgets: Mapping[LevelQuery, Fraction]) -> dict[LevelQuery, float]:
    """Return the largest variance of an answer of every measured query, in people².

    Args:
        spine: with the same tree everywhere.
        budgets: absolute, exact.
    """
    wanted = spine.answers(spine.keys)
    found, _ = spine.variances(np.array([float(budgets[key]) for key in spine.keys]), wanted)
    return {key: float(found[wanted.keys == number].max()) for number, key in enumerate(spine.keys)}
