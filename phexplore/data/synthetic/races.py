"""Giving households a race and ethnicity group so that every group gets its persons under 18 and its adults.

A household starts with one group. Its chance is the group's share of the state, tilted by the household's adults and
children, P(g | a, c) ∝ π_g exp(α_g a + β_g c), the distribution nearest to the shares π that meets both totals of
every group on average (minimum discrimination information). Then some members are given the group of a random person
of their age class in the same part of the state, at the rate the sample shows; this changes no total. What rounding
leaves is corrected one person at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.synthetic.tables import GROUPS, race_expansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import Codes

_TWO, _HISPANIC = GROUPS.index("two"), GROUPS.index("hisp")
NOT_HISPANIC_CODE, HISPANIC_CODE = 1, 2


def fit_groups(kinds: NDArray[np.int64], weight: NDArray[np.float64], cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the chance of each group for each kind of household.

    Newton's method on the convex dual with halved steps; the duals that cannot be met (a group without adults) stop
    at the step limit and are left to the correction.

    Args:
        kinds: ``int64[k, 2]``, adults and children.
        weight: ``float64[k]``, how many households are of the kind.
        cells: ``int64[2, 8]``, wanted children and adults by group, on the same scale as `weight`.

    Returns:
        ``float64[k, 8]``, each row adds up to 1.
    """
    wanted = cells[::-1].T.astype(np.float64)
    wanted *= (weight @ kinds) / np.maximum(wanted.sum(axis=0), 1e-300)
    total = wanted.sum()
    prior = np.maximum(wanted.sum(axis=1) / total, 1e-12)
    duals = np.zeros((len(GROUPS), 2))

    def chances(duals: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        scores = kinds @ duals.T + np.log(prior)
        top = scores.max(axis=1, keepdims=True)
        raw = np.exp(scores - top)
        sums = raw.sum(axis=1, keepdims=True)
        objective = float(weight @ (np.log(sums) + top)[:, 0] - (duals * wanted).sum())
        return raw / sums, objective

    found, objective = chances(duals)
    for _ in range(60):
        gradient = np.einsum("k,kg,kd->gd", weight, found, kinds) - wanted
        if np.abs(gradient).max() <= 1e-9 * total:
            break
        spread = np.einsum("kg,gh->kgh", found, np.eye(len(GROUPS))) - np.einsum("kg,kh->kgh", found, found)
        hessian = np.einsum("k,kgh,kd,ke->gdhe", weight, spread, kinds, kinds).reshape(16, 16)
        # One direction is flat (all duals moved alike); the ridge fixes it without moving the solution.
        step = np.linalg.solve(hessian + 1e-10 * total * np.eye(16), gradient.ravel()).reshape(duals.shape)
        length = 1.0
        while length > 1e-6:
            moved, lower = chances(duals - length * step)
            if lower < objective:
                break
            length /= 2
        else:
            break
        duals, found, objective = duals - length * step, moved, lower
    return found


def draw_groups(kind: NDArray[np.int64], chances: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a group for each household: in each kind as many of each group as its chance says, rounded at random.

    Args:
        kind: ``int64[n]``, row of `chances`.
        chances: ``float64[k, 8]``.
        rng: source of randomness.
    """
    order = np.argsort((kind << 32) | rng.integers(1 << 32, size=len(kind)))
    counts = np.bincount(kind, minlength=len(chances))
    groups = np.empty(len(kind), np.uint8)
    start = 0
    for row in np.flatnonzero(counts):
        number = int(counts[row])
        edges = np.floor(np.cumsum(chances[row]) * number + rng.random()).astype(np.int64)
        edges[-1] = number
        groups[order[start : start + number]] = np.repeat(
            np.arange(len(GROUPS), dtype=np.uint8), np.diff(np.minimum(edges, number), prepend=0)
        )
        start += number
    return groups


def mix(group: Codes, minor: NDArray[np.bool_], chosen: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Permute, in place, the groups of the chosen persons inside each age class: totals stay, households mix.

    Args:
        group: ``group[persons]``, changed in place.
        minor: ``minor[persons]``, who is under 18.
        chosen: ``chosen[persons]``, whose groups may move.
        rng: source of the permutation.
    """
    for members in (np.flatnonzero(chosen & minor), np.flatnonzero(chosen & ~minor)):
        group[members] = group[rng.permutation(members)]


def correct(
    group: Codes,
    minor: NDArray[np.bool_],
    changeable: NDArray[np.bool_],
    cells: NDArray[np.int64],
    rng: np.random.Generator,
) -> None:
    """Change, in place, the groups of as few random persons as make the counts equal to `cells`.

    Args:
        group: ``uint8[n]``.
        minor: ``bool[n]``, under 18.
        changeable: ``bool[n]``, persons changed first (not householders: their group is the household's).
        cells: ``int64[2, 8]``; each row adds up to the persons of its age class.
        rng: source of randomness.
    """
    for row, own in ((0, minor), (1, ~minor)):
        surplus = np.bincount(group[own], minlength=len(GROUPS)) - cells[row]
        wanting = np.repeat(np.arange(len(GROUPS), dtype=np.uint8), np.maximum(-surplus, 0))
        taken = []
        for place in np.flatnonzero(surplus > 0):
            holders = own & (group == place)
            first = rng.permutation(np.flatnonzero(holders & changeable))
            if len(first) < surplus[place]:
                first = np.concatenate([first, rng.permutation(np.flatnonzero(holders & ~changeable))])
            taken.append(first[: surplus[place]])
        if taken:
            group[rng.permutation(np.concatenate(taken))] = wanting


def census_codes(group: Codes, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Return CENHISP and CENRACE of persons, ``uint8[persons]`` each, by the shipped expansion of the groups.

    Args:
        group: ``group[persons]``, race and ethnicity group.
        rng: source of the codes inside a group.
    """
    race = (group + 1).astype(np.uint8)
    for place in (_TWO, _HISPANIC):
        members = np.flatnonzero(group == place)
        race[members] = np.searchsorted(race_expansion()[place], rng.random(len(members)), side="right")
    return np.where(group == _HISPANIC, HISPANIC_CODE, NOT_HISPANIC_CODE).astype(np.uint8), race
