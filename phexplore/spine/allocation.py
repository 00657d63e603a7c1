"""Which units give their budget away, and the exact budget every unit then has (Algorithm 3 of the spines paper).

Bypassing a parent of c children makes c units in the parent's level, each with the parent's and one child's share; each has that
child as its only child, whose share becomes 0 (paper, section 5). Going from the blocks' parents up to the root, no unit that
could be bypassed is left. Shares are fractions and every path keeps its sum: `GeoTree.check_paths` proves it for each result.

The root stays one unit, as the paper demands (section 3): where a rule bypasses a root of several children, its share is added
to theirs, which gives the same information.

Rules: see `settings.BYPASS_RULES`. Theorem 2 asks for ``2 x smallest child share >= (c - 1) x parent share``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import TopDown
from phexplore.spine.building import Spine
from phexplore.spine.settings import SpineSettings
from phexplore.spine.squared_errors import SquaredErrors
from phexplore.spine.tree import ROOT_LEVELS, GeoTree, TreeLevel, UnitShares
from phexplore.text.messages import listed, msg

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BypassedLevel:
    """The parents of one level that were bypassed.

    Attributes:
        level: name.
        units: how many.
        shares: what share of the total budget moved at one unit, and at how many units.
    """

    level: str
    units: int
    shares: tuple[tuple[Fraction, int], ...]

    @property
    def moved(self) -> Fraction:
        """The moved shares of all units added up."""
        return sum((share * units for share, units in self.shares), Fraction(0))


@dataclass(frozen=True, slots=True, eq=False)
class BypassedUnits:
    """The bypassed parents of one level, one by one.

    Attributes:
        level: name.
        codes: ``U[units]``.
        first_block: ``int64[units]``, the first leaf of each.
        children: ``int64[units]``, how many each had when it was bypassed.
        shares: the different shares of the total budget that moved.
        of_unit: ``int64[units]``, places in `shares`.
    """

    level: str
    codes: NDArray[np.str_]
    first_block: Ints
    children: Ints
    shares: tuple[Fraction, ...]
    of_unit: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """A tree whose units have budgets of their own.

    Attributes:
        tree: every level has `TreeLevel.shares`.
        rule: that was applied.
        bypassed: per level with bypassed parents, widest first.
        total: share that every path carries.
        unspent: levels of the parameters that the tree does not have, and their shares.
        parents: the bypassed parents one by one, levels as in `bypassed`.
    """

    tree: GeoTree
    rule: str
    bypassed: tuple[BypassedLevel, ...]
    total: Fraction
    unspent: tuple[tuple[str, Fraction], ...] = ()
    parents: tuple[BypassedUnits, ...] = ()


def allocation_of(spine: Spine, method: TopDown) -> Allocation:
    """Return the budgets of a scenario on a spine, bypassed by the spine's rule.

    Levels that the scenario has no share for are left out of the tree; levels above the root are dropped and unspent.

    Args:
        spine: as built, before bypassing.
        method: the scenario's levels, shares and framework.

    Raises:
        PhexploreError: the parameters have budget for a level that the spine lacks.
    """
    tree, unspent = fitted(spine.tree, method)
    return _allocated(spine, method, tree, unspent)


def allocation_of_state(spine: Spine, method: TopDown) -> Allocation:
    """Return the budgets of the units of one state of a nation, from its parts down.

    What is bypassed inside a state does not depend on the others; the root of the nation has several children and stays.

    Args:
        spine: built with ``is_one_of_several``.
        method: the scenario's levels, shares and framework.

    Raises:
        PhexploreError: the parameters have budget for a level that the spine lacks.
    """
    tree, unspent = fitted(spine.tree, method)
    return _allocated(spine, method, GeoTree(tree.levels[1:], tree.dropped, tree.order), unspent)


def is_by_state(settings: SpineSettings, method: TopDown) -> bool:
    """Return whether a state's spine and budgets do not depend on the other states.

    Args:
        settings: of the spine.
        method: the scenario's framework.
    """
    rule = rule_of(settings, method.framework)
    return settings.kind != "prim" and (rule in {"none", "single-child"} or settings.bypass == "as-in-2020")


def _allocated(spine: Spine, method: TopDown, tree: GeoTree, unspent: tuple[tuple[str, Fraction], ...]) -> Allocation:
    shares = {level.name: method.level_shares[level.name] for level in tree.levels}
    rule = rule_of(spine.settings, method.framework)
    pure = method.framework is PrivacyFramework.PURE_DP
    cutoff = spine.settings.bypass_cutoff if spine.settings.bypass == "as-in-2020" else None
    found = allocate(tree, shares, rule, pure_dp=pure, cutoff=cutoff)
    return Allocation(found.tree, found.rule, found.bypassed, found.total, unspent, found.parents)


def rule_of(settings: SpineSettings, framework: PrivacyFramework) -> str:
    """Return the rule of bypassing that settings mean under a framework.

    Args:
        settings: of the spine.
        framework: of the scenario's budget.
    """
    if settings.bypass != "as-in-2020":
        return settings.bypass
    return "pure-dp" if framework is PrivacyFramework.PURE_DP else "single-child"


def fitted(tree: GeoTree, method: TopDown) -> tuple[GeoTree, tuple[tuple[str, Fraction], ...]]:
    """Return the tree with a scenario's levels only, named as the scenario does, and the shares left unspent.

    Args:
        tree: of the spine.
        method: the scenario whose levels count.

    Raises:
        PhexploreError: the parameters have budget for a level that the spine lacks.
    """
    nation = next((name for name in ROOT_LEVELS if name in method.levels), None)
    names = {"US": nation} if nation else {}
    wanted = [(level, names.get(level.name, level.name)) for level in tree.levels]
    kept = [(level, name) for level, name in wanted if name in method.levels]
    present = {name for _, name in kept}
    missing = [name for name in method.levels if name not in present]
    above = [name for name in missing if name in ROOT_LEVELS and tree.levels[0].name not in ROOT_LEVELS]
    lost = [name for name in missing if name not in above and method.level_shares[name] > 0]
    if lost or not kept or kept[-1][0] is not tree.levels[-1]:
        name = lost[0] if lost else tree.levels[-1].name
        raise PhexploreError(
            msg(
                "{name} is not a level of both the scenario ({levels}) and the spine ({spine_levels}).",
                levels=listed(method.levels),
                spine_levels=listed(level.name for level in tree.levels),
                name=name,
            ),
            msg("Choose the spine that the scenario was made for, or another scenario."),
        )
    if kept[0][0].units != 1:
        raise PhexploreError(
            msg(
                "The scenario has no level above the {units} geographic units of {kept}.",
                units=kept[0][0].units,
                kept=kept[0][1],
            ),
            msg("Choose a scenario with a national level, or the blocks of one state."),
        )
    levels = []
    for number, (level, name) in enumerate(kept):
        below = kept[number + 1][0] if number + 1 < len(kept) else None
        children = None if below is None else np.searchsorted(below.first_block, level.first_block).astype(np.int64)
        levels.append(TreeLevel(name, level.codes, level.first_block, children))
    unspent = tuple((name, method.level_shares[name]) for name in missing)
    return GeoTree(tuple(levels), tuple(missing), tree.order), unspent


def allocate(
    tree: GeoTree, shares: Mapping[str, Fraction], rule: str, *, pure_dp: bool = False, cutoff: int | None = None
) -> Allocation:
    """Return the budgets of all units after bypassing.

    Args:
        tree: without shares per unit.
        shares: of every level, 0 or more.
        rule: ``none``, ``single-child``, ``pure-dp`` or ``sum-of-squares``.
        pure_dp: whether noise variance falls with the square of a share; decides what squared errors are.
        cutoff: production's limits for ``pure-dp``: at most so many units under one parent, and only below the county.

    Raises:
        BudgetMismatchError: a path does not carry the sum of the shares: a defect of the program.
    """
    work = _Work(tree, shares, SquaredErrors(tree, shares, pure_dp=pure_dp) if rule == "sum-of-squares" else None)
    bypassed = []
    if rule != "none":
        for number in range(len(tree.levels) - 2, -1, -1):
            chosen = work.choose(number, rule, cutoff)
            if chosen.any():
                bypassed.append(work.bypass(number, chosen))
    total = sum((shares[level.name] for level in tree.levels), Fraction(0))
    result = work.tree()
    result.check_paths(total)
    return Allocation(result, rule, tuple(reversed(bypassed)), total, parents=tuple(reversed(work.parents)))


class _Work:
    """The units of every level while they change, with their shares as places in one list of fractions."""

    def __init__(self, tree: GeoTree, shares: Mapping[str, Fraction], errors: SquaredErrors | None) -> None:
        self._tree = tree
        self._values: list[Fraction] = [Fraction(0)]
        self._place: dict[Fraction, int] = {Fraction(0): 0}
        self._first = [level.first_block for level in tree.levels]
        self._codes = [level.codes for level in tree.levels]
        self._share = [np.full(level.units, self._number(shares[level.name]), np.int64) for level in tree.levels]
        self._errors = errors
        self.parents: list[BypassedUnits] = []
        self._county = next((n for n, level in enumerate(tree.levels) if level.name == "County"), -1)

    def _number(self, value: Fraction) -> int:
        if value not in self._place:
            self._place[value] = len(self._values)
            self._values.append(value)
        return self._place[value]

    def _children(self, number: int) -> Ints:
        return np.searchsorted(self._first[number + 1], self._first[number]).astype(np.int64)

    def _sums(self, left: Ints, right: Ints) -> Ints:
        """Return the places of sums of shares."""
        pairs, which = np.unique(left * len(self._values) + right, return_inverse=True)
        width = len(self._values)
        found = [self._number(self._values[pair // width] + self._values[pair % width]) for pair in pairs.tolist()]
        return np.array(found, np.int64)[which]

    def choose(self, number: int, rule: str, cutoff: int | None) -> Flags:
        """Return which units of a level are bypassed, ``bool[units]``."""
        first_child = self._children(number)
        children = np.diff(first_child)
        only: Flags = children == 1
        if rule == "single-child":
            return only
        if rule == "sum-of-squares":
            if self._errors is None:
                raise ValueError("squared errors were not prepared")
            return only | self._errors.improves(number)
        chosen = self._theorem(number, first_child)
        if cutoff is None:
            return chosen
        if number <= self._county:
            return only
        return self._within(number, children, chosen, cutoff) | only

    def _theorem(self, number: int, first_child: Ints) -> Flags:
        """Theorem 2, exactly; always true of an only child."""
        rank = np.empty(len(self._values), np.int64)
        by_size = sorted(range(len(self._values)), key=self._values.__getitem__)
        rank[by_size] = np.arange(len(by_size))
        smallest = np.minimum.reduceat(rank[self._share[number + 1]], first_child[:-1])
        cases = np.stack([smallest, self._share[number], np.diff(first_child)], axis=1)
        different, which = np.unique(cases, axis=0, return_inverse=True)
        decided = [
            2 * self._values[by_size[least]] >= (count - 1) * self._values[parent]
            for least, parent, count in different.tolist()
        ]
        return np.array(decided, bool)[which.reshape(-1)]

    def _within(self, number: int, children: Ints, chosen: Flags, cutoff: int) -> Flags:
        """Keep those bypasses, one after the other, that leave at most `cutoff` units under their parent."""
        kept = chosen.copy()
        siblings = self._children(number - 1) if number else np.array([0, len(children)])
        for first, last in zip(siblings[:-1].tolist(), siblings[1:].tolist(), strict=True):
            units = last - first
            for unit in np.flatnonzero(chosen[first:last]).tolist():
                if units - 1 + int(children[first + unit]) > cutoff:
                    kept[first + unit] = False
                else:
                    units += int(children[first + unit]) - 1
        return kept

    def bypass(self, number: int, chosen: Flags) -> BypassedLevel:
        """Bypass units of a level."""
        first_child = self._children(number)
        children = np.diff(first_child)
        parent = np.repeat(np.arange(len(children)), children)
        moving = chosen[parent]
        if self._errors is not None:
            self._errors.bypass(number, chosen)
        only = chosen & (children == 1)
        moved = np.where(only, self._share[number + 1][first_child[:-1]], self._share[number])[chosen]
        found, which, counts = np.unique(moved, return_inverse=True, return_counts=True)
        report = BypassedLevel(
            self._tree.levels[number].name,
            int(chosen.sum()),
            tuple((self._values[v], c) for v, c in zip(found.tolist(), counts.tolist(), strict=True)),
        )
        self.parents.append(
            BypassedUnits(
                self._tree.levels[number].name,
                self._codes[number][chosen],
                self._first[number][:-1][chosen],
                children[chosen],
                tuple(self._values[value] for value in found.tolist()),
                which.astype(np.int64),
            )
        )
        together = self._sums(self._share[number][parent], self._share[number + 1])
        if number == 0 and len(only) == 1 and not only[0]:  # the parts of a state are several, and no roots
            self._share[1] = np.where(moving, together, self._share[1])
            self._share[0] = np.where(chosen, 0, self._share[0])
            return report
        # A bypassed unit makes room for one unit per child; the others stay as they are.
        first = np.zeros(len(parent), bool)
        first[first_child[:-1]] = True
        made = moving | first
        self._first[number] = np.append(self._first[number + 1][:-1][made], self._first[number][-1])
        several = (moving & (children[parent] > 1))[made]
        self._codes[number] = np.where(several, self._codes[number + 1][made], self._codes[number][parent[made]])
        self._share[number] = np.where(moving, together, self._share[number][parent])[made]
        self._share[number + 1] = np.where(moving, 0, self._share[number + 1])
        return report

    def tree(self) -> GeoTree:
        """Return the units as they are now."""
        values = tuple(self._values)
        levels = []
        for number, level in enumerate(self._tree.levels):
            children = self._children(number) if number + 1 < len(self._tree.levels) else None
            shares = UnitShares(values, self._share[number].astype(np.int32))
            levels.append(TreeLevel(level.name, self._codes[number], self._first[number], children, shares))
        return GeoTree(tuple(levels), self._tree.dropped, self._tree.order)


def bypassed_units(bypassed: Sequence[BypassedLevel]) -> int:
    """Return how many parents were bypassed in all levels."""
    return sum(level.units for level in bypassed)


def moved_budget(bypassed: Sequence[BypassedLevel]) -> Fraction:
    """Return the moved shares of all bypassed parents added up."""
    return sum((level.moved for level in bypassed), Fraction(0))
