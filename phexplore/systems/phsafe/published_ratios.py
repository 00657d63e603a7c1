"""Published averages: a numerator over a denominator whose noise must not make a household smaller than one person.

PH1 and PH5 (average household and family size by age) have three unknowns per group: people under 18, people of 18 and over,
households. PH8 (by tenure) has two per cell. Observed are normals around them; known is that nobody counts below 0, that there is
at least one household, that a household has at least k people (1; a family 2) and at most T on average. The posterior is the
normal cut to that polytope. It is sampled exactly by rejection where enough draws fall inside, else by Gibbs sampling (facts:
SDHC_Model_Based_Estimates 3.0.2.2, with its caps of six standard deviations).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.published_counts import ALPHA
from phexplore.accuracy.truncated_normal import Floats, draws_between

Flags = NDArray[np.bool_]

DRAWS = 10_000
LARGEST_AVERAGE = 10
"""T: the truncation threshold of the numerators in 2020."""

_CAP = 6.0
_LEAST_ACCEPTANCE = 0.05
_MOST_ROUNDS = 40
_BURN_IN = 500
_THINNING = 1
_PROJECTIONS = 400


@dataclass(frozen=True, slots=True, eq=False)
class PublishedRatios:
    """Averages of one table in some groups.

    Attributes:
        cells: codes; for PH1 and PH5: all, under 18, 18 and over.
        noisy: ``float64[groups, cells]``, noisy numerator over noisy denominator; NaN where that is 0.
        ratio: ``float64[groups, cells]``, posterior mean; NaN where nothing is possible.
        low: 5 % quantile.
        high: 95 % quantile.
        numerator: posterior mean of the numerators.
        denominator: posterior mean of the denominators.
        exact: ``bool[groups]``, whether the draws are independent (rejection) and not a chain.
        possible: ``bool[groups]``, whether any counts fit what is known and the caps.
    """

    cells: tuple[int, ...]
    noisy: Floats
    ratio: Floats
    low: Floats
    high: Floats
    numerator: Floats
    denominator: Floats
    exact: Flags
    possible: Flags


@dataclass(frozen=True, slots=True, eq=False)
class _Polytope:
    """Slabs ``low ≤ rows · y ≤ high`` per group.

    Attributes:
        rows: ``float64[slabs, unknowns]``.
        low: ``float64[groups, slabs]``.
        high: the same.
    """

    rows: Floats
    low: Floats
    high: Floats

    def holds(self, points: Floats) -> Flags:
        """Return which points lie inside, ``bool[groups, points]`` of ``float64[groups, points, unknowns]``."""
        values = points @ self.rows.T
        return np.asarray(((values >= self.low[:, None]) & (values <= self.high[:, None])).all(axis=2))

    def of(self, chosen: NDArray[np.int64]) -> _Polytope:
        """Return some groups."""
        return _Polytope(self.rows, self.low[chosen], self.high[chosen])


def publish_age_ratios(
    noisy: Floats, variance: Floats, *, least: int, seed: int, most: int = LARGEST_AVERAGE, draws: int = DRAWS
) -> PublishedRatios:
    """Return averages of PH1 (least 1) or PH5 (least 2).

    Args:
        noisy: ``float64[groups, 3]``: people under 18, people of 18 and over, households or families.
        variance: the same shape; 0 where nothing was added.
        least: people every household has, k.
        seed: of the draws.
        most: largest average, T.
        draws: per group.

    Raises:
        ValueError: the shapes do not fit.
    """
    _require_shape(noisy, variance, 3)
    young, old, homes = noisy.T
    v_young, v_old, v_homes = variance.T
    rows = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -least], [-1, -1, most]], np.float64)
    people, v_people = young + old, v_young + v_old
    centres = np.stack([young, old, homes, people - least * homes, most * homes - people], axis=1)
    squares = np.stack([v_young, v_old, v_homes, v_people + least**2 * v_homes, v_people + most**2 * v_homes], axis=1)
    low = np.zeros_like(centres)
    low[:, 2] = 1
    found = _posterior(noisy, variance, _Polytope(rows, low, centres + _CAP * np.sqrt(squares)), seed, draws)
    numerators = np.stack([found.points[..., 0] + found.points[..., 1], found.points[..., 0], found.points[..., 1]])
    return _summary((1, 2, 3), numerators, np.broadcast_to(found.points[..., 2], numerators.shape), found,
                    np.stack([people, young, old], axis=1), np.stack([homes] * 3, axis=1))  # fmt: skip


def publish_tenure_ratios(
    numerator: Floats,
    v_numerator: Floats,
    denominator: Floats,
    v_denominator: Floats,
    *,
    seed: int,
    most: int = LARGEST_AVERAGE,
    draws: int = DRAWS,
) -> PublishedRatios:
    """Return averages of PH8; every cell is modelled by itself, the sum of the others included.

    Args:
        numerator: ``float64[groups, cells]``: people; columns are cells 1 (all), 2 (owners), 3 (renters).
        v_numerator: its variance.
        denominator: households, the same shape.
        v_denominator: its variance.
        seed: of the draws.
        most: largest average, T.
        draws: per group and cell.

    Raises:
        ValueError: the shapes do not fit.
    """
    if not numerator.shape == v_numerator.shape == denominator.shape == v_denominator.shape:
        raise ValueError("numerators, denominators and variances have one shape")
    groups, cells = numerator.shape
    noisy = np.stack([numerator.ravel(), denominator.ravel()], axis=1)
    variance = np.stack([v_numerator.ravel(), v_denominator.ravel()], axis=1)
    people, homes = noisy.T
    v_people, v_homes = variance.T
    rows = np.array([[0, 1], [1, -1], [-1, most]], np.float64)
    # Absolute values in these caps, unlike those of the tables by age: as the reference has them.
    centres = np.stack([np.abs(homes), np.abs(people - homes), np.abs(most * homes - people)], axis=1)
    squares = np.stack([v_homes, v_people + v_homes, most**2 * v_homes + v_people], axis=1)
    low = np.zeros_like(centres)
    low[:, 0] = 1
    found = _posterior(noisy, variance, _Polytope(rows, low, centres + _CAP * np.sqrt(squares)), seed, draws)
    flat = _summary(
        (1,), found.points[None, ..., 0], found.points[None, ..., 1], found, people[:, None], homes[:, None]
    )

    def shaped(values: Floats) -> Floats:
        return values.reshape(groups, cells)

    return PublishedRatios(
        tuple(range(1, cells + 1)),
        shaped(flat.noisy),
        shaped(flat.ratio),
        shaped(flat.low),
        shaped(flat.high),
        shaped(flat.numerator),
        shaped(flat.denominator),
        np.asarray(flat.exact.reshape(groups, cells).all(axis=1)),
        np.asarray(flat.possible.reshape(groups, cells).all(axis=1)),
    )


def _require_shape(noisy: Floats, variance: Floats, unknowns: int) -> None:
    if noisy.shape != variance.shape or noisy.ndim != 2 or noisy.shape[1] != unknowns:
        raise ValueError(f"noisy counts and variances are [groups, {unknowns}], got {noisy.shape} and {variance.shape}")


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """Points of the posterior, ``float64[groups, draws, unknowns]``; NaN where nothing is possible."""

    points: Floats
    exact: Flags
    possible: Flags


def _summary(
    cells: tuple[int, ...], numerators: Floats, denominators: Floats, found: _Draws, people: Floats, homes: Floats
) -> PublishedRatios:
    """Return means and quantiles of ``float64[cells, groups, draws]``."""
    ratios = numerators / denominators
    with np.errstate(divide="ignore", invalid="ignore"):
        noisy = np.where(homes != 0, people / homes, np.nan)
    low, high = np.quantile(ratios, (ALPHA, 1 - ALPHA), axis=2)
    return PublishedRatios(
        cells, noisy, ratios.mean(axis=2).T, low.T, high.T, numerators.mean(axis=2).T, denominators.mean(axis=2).T,
        found.exact, found.possible,
    )  # fmt: skip


def _posterior(noisy: Floats, variance: Floats, known: _Polytope, seed: int, draws: int) -> _Draws:
    groups, unknowns = noisy.shape
    points = np.full((groups, draws, unknowns), np.nan)
    exact: Flags = np.zeros(groups, np.bool_)
    possible: Flags = np.asarray((known.high >= known.low).all(axis=1))
    random = np.random.default_rng(seed)
    todo = np.flatnonzero(possible)
    filled = _rejection(noisy, variance, known, todo, points, random)
    exact[todo[filled]] = True
    rest = todo[~filled]
    if len(rest):
        reached = _gibbs(noisy[rest], variance[rest], known.of(rest), rest, points, random)
        possible[rest[~reached]] = False
    return _Draws(points, exact, possible)


def _rejection(
    noisy: Floats,
    variance: Floats,
    known: _Polytope,
    todo: NDArray[np.int64],
    points: Floats,
    random: np.random.Generator,
) -> Flags:
    """Fill the groups of which enough normals fall inside; return which of `todo` are full."""
    draws, unknowns = points.shape[1:]
    count = np.zeros(len(todo), np.int64)
    tried = np.zeros(len(todo), np.int64)
    active = np.arange(len(todo))
    size = draws
    for _ in range(_MOST_ROUNDS):
        if not len(active):
            break
        group = todo[active]
        normals = random.standard_normal((len(group), size, unknowns))
        drawn = noisy[group][:, None] + np.sqrt(variance[group])[:, None] * normals
        inside = known.of(group).holds(drawn)
        for place, member in enumerate(active.tolist()):
            accepted = drawn[place][inside[place]]
            room = draws - count[member]
            points[todo[member], count[member] : count[member] + min(room, len(accepted))] = accepted[:room]
            count[member] += min(room, len(accepted))
        tried[active] += size
        active = active[(count[active] < draws) & (count[active] >= _LEAST_ACCEPTANCE * tried[active])]
        if len(active):
            # As many as the slowest of them still needs, and a few more.
            missing = (draws - count[active]) * (tried[active] / np.maximum(count[active], 1))
            size = min(draws, int(missing.max() * 1.2) + 50)
    return np.asarray(count >= draws)


def _gibbs(
    noisy: Floats,
    variance: Floats,
    known: _Polytope,
    place: NDArray[np.int64],
    points: Floats,
    random: np.random.Generator,
) -> Flags:
    """Fill groups by Gibbs sampling from a point inside; return which have one."""
    spread = np.sqrt(np.maximum(variance, 1e-12))
    current = _inside(noisy, known)
    reached = known.holds(current[:, None])[:, 0]
    draws, unknowns = points.shape[1:]
    held, state = known.of(np.flatnonzero(reached)), current[reached]
    centre, scale, target = noisy[reached], spread[reached], place[reached]
    for sweep in range(_BURN_IN + draws * _THINNING if len(state) else 0):
        for unknown in range(unknowns):
            low, high = _bounds(held, state, unknown)
            uniform = random.random(len(state))
            state[:, unknown] = draws_between(uniform, centre[:, unknown], scale[:, unknown], low, high)
        kept, rest = divmod(sweep - _BURN_IN, _THINNING)
        if sweep >= _BURN_IN and rest == 0:
            points[target, kept] = state
    return reached


def _bounds(known: _Polytope, state: Floats, unknown: int) -> tuple[Floats, Floats]:
    """Return the interval of one unknown given the others."""
    factors = known.rows[:, unknown]
    used = factors != 0
    rest = state @ known.rows[used].T - state[:, [unknown]] * factors[used]
    first, second = (known.low[:, used] - rest) / factors[used], (known.high[:, used] - rest) / factors[used]
    low = np.where(factors[used] > 0, first, second).max(axis=1)
    high = np.where(factors[used] > 0, second, first).min(axis=1)
    return low, np.maximum(low, high)


def _inside(noisy: Floats, known: _Polytope) -> Floats:
    """Return points inside by Dykstra's cyclic projections onto slabs that are a little narrower than the known ones."""
    width = np.minimum(0.5, (known.high - known.low) / 4)
    low, high = known.low + width, known.high - width
    norms = (known.rows**2).sum(axis=1)
    point, corrections = noisy.copy(), np.zeros((len(known.rows), *noisy.shape))
    for _ in range(_PROJECTIONS):
        for slab, row in enumerate(known.rows):
            moved = point + corrections[slab]
            value = moved @ row
            target = np.clip(value, low[:, slab], high[:, slab])
            projected = moved + ((target - value) / norms[slab])[:, None] * row
            corrections[slab] = moved - projected
            point = projected
    return point
