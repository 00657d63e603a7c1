"""The sum of squared errors over all units, and how bypassing a unit changes it.

This is the objective of the matrix-mechanism literature, which the spines paper rejects because it lowers the sum and raises
single errors (section 3.1); it is here to show that. With the same queries at every level the variance factorises into a part of
the spine and a part of the queries (proof of Theorem 2), so one count per unit tells everything.

For a unit v let P be the variance of its count by the measurements in it and below, X the precision of what is known from outside,
and V = 1 / (1/P + X) its variance. A unit u below v has, given v's count, the slope b and the variance c; so the errors below v
add up to T + K V with T = sum of c, K = sum of b². Errors outside v add up to E + D V in the same way. Bypassing v changes T, K
and P of v only; so one pass down gives X and D, and one pass up with every unit of a level bypassed gives what each would change.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.spine.tree import GeoTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOLERANCE = 1e-12
"""Relative gain below which bypassing is no gain but rounding."""


class _Below(NamedTuple):
    """P, T and K of the units of one level."""

    variance: Floats
    constant: Floats
    slope: Floats


class SquaredErrors:
    """Squared errors while units are bypassed. A budget that moved stands with the lower unit, which is the same information."""

    def __init__(self, tree: GeoTree, shares: Mapping[str, Fraction], *, pure_dp: bool) -> None:
        self._tree = tree
        self._power = 2 if pure_dp else 1
        self._share: list[Floats] = [
            np.full(level.units, float(shares[level.name]), np.float64) for level in tree.levels
        ]
        # The units of a level as bypassing left them: where each one's budget stands.
        self._home: tuple[int, Ints, Ints] | None = None

    def total(self) -> float:
        """Return the sum of the variances of all units, in units of the variance at a share of 1."""
        below = self._up(self._share)
        root = below[0]
        return float((root.constant + root.slope * root.variance).sum())

    def improves(self, number: int) -> NDArray[np.bool_]:
        """Return which units of a level lower the sum when they alone of their level are bypassed, ``bool[units]``."""
        now = self._up(self._share)
        outside, weight = self._down(now)
        after = self._up(self._moved(number, np.ones(self._tree.levels[number].units, bool)))
        known, outer = outside[number], weight[number]
        before_sum = now[number].constant + (now[number].slope + outer) / (1 / now[number].variance + known)
        after_sum = after[number].constant + (after[number].slope + outer) / (1 / after[number].variance + known)
        # What is constant outside cancels; the comparison is made against what is compared.
        return after_sum < before_sum * (1 - TOLERANCE)

    def bypass(self, number: int, chosen: NDArray[np.bool_]) -> None:
        """Move the budget of units of a level to the units below.

        Args:
            number: of the level, 0 for the root's.
            chosen: ``chosen[units]``, the units of the level to bypass.
        """
        depth, place = self._homes(number + 1)
        parent = self._ancestors(depth, place, number)
        self._share = self._moved(number, chosen)
        own = np.flatnonzero(~chosen)
        moving = chosen[parent]
        depths = np.concatenate([np.full(len(own), number), depth[moving]])
        places = np.concatenate([own, place[moving]])
        order = np.argsort(self._first_blocks(depths, places), kind="stable")
        self._home = number, depths[order], places[order]

    def _homes(self, number: int) -> tuple[Ints, Ints]:
        """Return depth and place of the budgets of a level's units."""
        if self._home is None or self._home[0] != number:
            return self._plain(number)
        return self._home[1:]

    def _plain(self, number: int) -> tuple[Ints, Ints]:
        units = self._tree.levels[number].units
        return np.full(units, number), np.arange(units)

    def _first_blocks(self, depths: Ints, places: Ints) -> Ints:
        found = np.empty(len(depths), np.int64)
        for depth in np.unique(depths).tolist():
            chosen = depths == depth
            found[chosen] = self._tree.levels[depth].first_block[places[chosen]]
        return found

    def _ancestors(self, depths: Ints, places: Ints, number: int) -> Ints:
        """Return the unit of a level that holds each unit."""
        blocks = self._first_blocks(depths, places)
        found: Ints = np.searchsorted(self._tree.levels[number].first_block, blocks, side="right") - 1
        return found

    def _moved(self, number: int, chosen: NDArray[np.bool_]) -> list[Floats]:
        depth, place = self._homes(number + 1)
        parent = self._ancestors(depth, place, number)
        shares = [share.copy() for share in self._share]
        gain = np.where(chosen, shares[number], 0.0)[parent]
        for each in np.unique(depth).tolist():
            here = depth == each
            shares[each][place[here]] += gain[here]
        shares[number][chosen] = 0.0
        return shares

    def _children(self, number: int) -> Ints:
        first_child = self._tree.levels[number].first_child
        if first_child is None:
            raise ValueError(f"{self._tree.levels[number].name} has no children")
        return first_child

    def _up(self, shares: list[Floats]) -> list[_Below]:
        last = shares[-1] ** self._power
        found = [_Below(1 / last, np.zeros_like(last), np.ones_like(last))]
        for number in range(len(shares) - 2, -1, -1):
            below, starts = found[-1], self._children(number)[:-1]
            spread = np.add.reduceat(below.variance, starts)
            parts = np.repeat(spread, np.diff(self._children(number)))
            left = below.variance * (1 - below.variance / parts)
            constant = np.add.reduceat(below.constant + below.slope * left, starts)
            slope = 1 + np.add.reduceat(below.slope * (below.variance / parts) ** 2, starts)
            found.append(_Below(1 / (shares[number] ** self._power + 1 / spread), constant, slope))
        return found[::-1]

    def _down(self, below: list[_Below]) -> tuple[list[Floats], list[Floats]]:
        """Return X and D of every unit."""
        outside, weight = [np.zeros(1)], [np.zeros(1)]
        for number in range(len(below) - 1):
            first_child, lower = self._children(number), below[number + 1]
            counts = np.diff(first_child)
            known = np.repeat(outside[number] + self._share[number] ** self._power, counts)
            spread = np.repeat(np.add.reduceat(lower.variance, first_child[:-1]), counts)
            others = np.where(np.repeat(counts, counts) > 1, spread - lower.variance, 0.0)
            turn = 1 / (1 + others * known)
            squares = lower.slope * lower.variance**2
            siblings = np.repeat(np.add.reduceat(squares, first_child[:-1]), counts) - squares
            outside.append(known * turn)
            weight.append((1 + np.repeat(weight[number], counts)) * turn**2 + siblings * (known * turn) ** 2)
        return outside, weight
