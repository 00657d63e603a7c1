"""A tree with everything alike said once, for recursions whose result depends on nothing but the shape and the budgets.

It makes `variance` and `top_down` fast (spines paper, equations 18 and 19).

Two units are of one class when they are measured alike and have equally many children of every class: what can be known
of them from below is the same. A unit with an only child is one node with it. Two units of one class whose parents
stand for the same node are one representative: what can be known of them at all is the same. All blocks of a block
group are one representative, unless their budgets differ; so a state of 25,000 blocks has some thousand
representatives, and nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.spine.tree import GeoTree

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UnitType:
    """How a unit is measured by itself.

    Attributes:
        level: place of its level in the tree; -1 for a unit that stands for several of a level together.
        share: place of its share of the budget in the list of different shares.
        known: how many of the sets of exact counts are kept at it.
    """

    level: int
    share: int
    known: int


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """Classes and representatives of a tree.

    Attributes:
        types: how units are measured by themselves.
        measures: per different measurement of a node, the types it adds up.
        known: ``int64[measures]``, how many sets of exact counts are kept at a node so measured.
        measure: ``int64[classes]``.
        child_start: ``int64[classes + 1]``, the rows of each class in the two lists that follow; children come before
            parents.
        child_class: ``int64[rows]``, ascending within a class.
        child_count: ``int64[rows]``, how many children are of that class.
        rep_class: ``int64[representatives]``, the root first, children of one representative side by side.
        rep_first: ``int64[representatives]``, first representative among the children, in the order of the class's
            rows.
        rep_units: ``int64[representatives]``, how many nodes each stands for.
        rep_of_unit: per level of `parents`, the representative of each unit.
        class_of_unit: per level of `parents`, the class of each unit.
        parents: per level of the recursion, the parent of each unit; a level of groups may stand between two of the
            tree.
        levels: per level of the tree, its place in `parents`.
    """

    types: tuple[UnitType, ...]
    measures: tuple[tuple[int, ...], ...]
    known: Ints
    measure: Ints
    child_start: Ints
    child_class: Ints
    child_count: Ints
    rep_class: Ints
    rep_first: Ints
    rep_units: Ints
    rep_of_unit: tuple[Ints, ...]
    class_of_unit: tuple[Ints, ...]
    parents: tuple[Ints, ...]
    levels: tuple[int, ...]

    @property
    def of_unit(self) -> tuple[Ints, ...]:
        """The representative of each unit, ``int64[units]`` per level of the tree."""
        return tuple(self.rep_of_unit[place] for place in self.levels)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.measure)

    @property
    def representatives(self) -> int:
        """The number of representatives."""
        return len(self.rep_class)

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """Which classes have no children, ``bool[classes]``."""
        leaves: NDArray[np.bool_] = np.diff(self.child_start) == 0
        return leaves


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Units of one level that have exact counts together, not each.

    Attributes:
        level: place of the level in the tree, at least 1.
        of_unit: ``int64[units]``, the group of each unit; units of one group have one parent.
        known: how many sets of exact counts are kept of each group.
    """

    level: int
    of_unit: Ints
    known: int


def structure_of(tree: GeoTree, known: Sequence[int], groups: Groups | None = None) -> Structure:
    """Return classes and representatives.

    Args:
        tree: with shares per unit.
        known: per level, how many sets of exact counts every unit of it keeps.
        groups: units that keep exact counts together.

    Raises:
        ValueError: the tree has no shares.
    """
    build = _Classes()
    parents, levels = _parents(tree, groups)
    above = len(parents) - 1
    class_of_unit: list[Ints] = []
    for number in range(len(tree.levels) - 1, -1, -1):
        shares = tree.levels[number].shares
        if shares is None:
            raise ValueError(f"{tree.levels[number].name} has no shares per unit")
        below = parents[above + 1] if above + 1 < len(parents) else None
        own = build.types(number, shares.of_unit, known[number])
        class_of_unit.append(build.add(own, below, class_of_unit[-1] if class_of_unit else None))
        above -= 1
        if groups is not None and groups.level == number:
            own = build.types(-1, np.zeros(int(parents[above].shape[0]), np.int64), groups.known)
            class_of_unit.append(build.add(own, parents[above + 1], class_of_unit[-1]))
            above -= 1
    class_of_unit.reverse()
    return build.structure(tuple(class_of_unit), parents, levels)


def _parents(tree: GeoTree, groups: Groups | None) -> tuple[tuple[Ints, ...], tuple[int, ...]]:
    found, levels = [np.zeros(1, np.int64)], [0]
    for number, level in enumerate(tree.levels[:-1]):
        if level.first_child is None:
            raise ValueError(f"{level.name} has no children")
        parent = np.repeat(np.arange(level.units), np.diff(level.first_child))
        if groups is not None and groups.level == number + 1:
            first = np.unique(groups.of_unit, return_index=True)[1]
            found.append(parent[first])
            parent = groups.of_unit
        levels.append(len(found))
        found.append(parent)
    return tuple(found), tuple(levels)


class _Classes:
    """Classes as they are found, from the leaves to the root."""

    def __init__(self) -> None:
        self._types: dict[UnitType, int] = {}
        self._measures: dict[tuple[int, ...], int] = {}
        self._places: dict[tuple[int, bytes, bytes], int] = {}
        self._measure: list[int] = []
        self._children: list[tuple[Ints, Ints]] = []

    def types(self, level: int, shares: NDArray[np.integer], known: int) -> Ints:
        """Return the type of each unit of a level."""
        found, which = np.unique(shares, return_inverse=True)
        places = [self._types.setdefault(UnitType(level, share, known), len(self._types)) for share in found.tolist()]
        return np.array(places, np.int64)[which]

    def _class(self, measure: tuple[int, ...], children: Ints, counts: Ints) -> int:
        number = self._measures.setdefault(measure, len(self._measures))
        key = (number, children.tobytes(), counts.tobytes())
        if key not in self._places:
            self._places[key] = len(self._measure)
            self._measure.append(number)
            self._children.append((children, counts))
        return self._places[key]

    def add(self, own: Ints, parent: Ints | None, below: Ints | None) -> Ints:
        """Return the class of each unit of a level.

        Args:
            own: type of each unit.
            parent: unit above of each unit of the level below; None for the lowest level.
            below: class of each unit of the level below.
        """
        none = np.empty(0, np.int64)
        if parent is None or below is None:
            types, which = np.unique(own, return_inverse=True)
            return np.array([self._class((each,), none, none) for each in types.tolist()], np.int64)[which]
        order = np.lexsort((below, parent))
        parents, classes = parent[order], below[order]
        first = np.flatnonzero(np.concatenate([[True], (parents[1:] != parents[:-1]) | (classes[1:] != classes[:-1])]))
        counts = np.diff(np.append(first, len(order)))
        classes, rows = classes[first], np.searchsorted(parents[first], np.arange(len(own) + 1))
        names = list(self._measures)
        found = np.empty(len(own), np.int64)
        for unit, (start, end, kind) in enumerate(
            zip(rows[:-1].tolist(), rows[1:].tolist(), own.tolist(), strict=True)
        ):
            if end == start + 1 and counts[start] == 1:
                child = int(classes[start])
                if len(names) != len(self._measures):
                    names = list(self._measures)
                measure = tuple(sorted((kind, *names[self._measure[child]])))
                found[unit] = self._class(measure, *self._children[child])
            else:
                found[unit] = self._class((kind,), classes[start:end], counts[start:end])
        return found

    def structure(
        self, class_of_unit: tuple[Ints, ...], parents: tuple[Ints, ...], levels: tuple[int, ...]
    ) -> Structure:
        """Return the finished structure."""
        types = tuple(self._types)
        measures = tuple(self._measures)
        known = np.array([max(types[each].known for each in measure) for measure in measures], np.int64)
        lengths = [len(children) for children, _ in self._children]
        child_start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        none = np.empty(0, np.int64)
        child_class = np.concatenate([none, *(children for children, _ in self._children)])
        child_count = np.concatenate([none, *(counts for _, counts in self._children)])
        rep_class, rep_first, rep_units = _representatives(
            int(class_of_unit[0][0]), child_start, child_class, child_count
        )
        # Rows are ascending by class, then by child: one search finds the place of a child among its parent's rows.
        width = len(self._measure)
        keys = np.repeat(np.arange(width), lengths) * width + child_class
        of_level = [np.zeros(1, np.int64)]
        for number in range(1, len(parents)):
            parent = parents[number]
            above = of_level[-1][parent]
            alone = np.bincount(parent, minlength=len(of_level[-1]))[parent] == 1
            wanted = rep_class[above] * width + class_of_unit[number]
            row = np.searchsorted(keys, np.where(alone, keys[0] if len(keys) else 0, wanted))
            place = rep_first[above] + row - child_start[rep_class[above]]
            of_level.append(np.where(alone, above, place))
        return Structure(
            types,
            measures,
            known,
            np.array(self._measure, np.int64),
            child_start,
            child_class,
            child_count,
            rep_class,
            rep_first,
            rep_units,
            tuple(of_level),
            class_of_unit,
            parents,
            levels,
        )


def _representatives(root: int, child_start: Ints, child_class: Ints, child_count: Ints) -> tuple[Ints, Ints, Ints]:
    """Return class, first child and number of nodes of each representative, generation by generation."""
    classes, units = [np.array([root], np.int64)], [np.ones(1, np.int64)]
    firsts: list[Ints] = []
    known = 1
    while len(classes[-1]):
        generation = classes[-1]
        counts = child_start[generation + 1] - child_start[generation]
        ends = np.cumsum(counts)
        firsts.append(known + ends - counts)
        rows = np.repeat(child_start[generation] - (ends - counts), counts) + np.arange(int(ends[-1]))
        classes.append(child_class[rows])
        units.append(np.repeat(units[-1], counts) * child_count[rows])
        known += len(rows)
    return np.concatenate(classes), np.concatenate(firsts), np.concatenate(units)
