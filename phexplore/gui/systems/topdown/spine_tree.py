"""The tree of a spine as rows of intervals: what is seen of it, which unit lies where, and what a unit is. No Qt."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.table import Table, Value
from phexplore.gui.systems.topdown.spine_views import TreeContent
from phexplore.model.numbers import exact_text
from phexplore.systems.topdown.wording import level_title, plural_level, short_level

LEAST_BLOCKS = 2.0
"""Fewest blocks that the width of the picture shows."""
WIDE = 3.0
"""Pixels from which on a unit is drawn with its borders."""


class Unit(NamedTuple):
    """A unit of the tree.

    Attributes:
        level: number of its level, the root's is 0.
        place: in the level.
    """

    level: int
    place: int


class Fill(enum.IntEnum):
    """What a unit is drawn as."""

    OWN = 0
    """It has its level's share of the budget."""
    RAISED = 1
    """It took over the budget of units it stands for."""
    COPIED = 2
    """It is not measured: it copies its parent."""
    ADDED = 3
    """It is added to make up the chosen area."""
    SUBTRACTED = 4
    """It is subtracted."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring pixels of one level that look alike.

    Attributes:
        left: first pixel column.
        right: column behind the last one.
        fill: look.
        odd: whether the units are to be told from their neighbours by a second tone.
    """

    left: float
    right: float
    fill: Fill
    odd: bool = False


class SpineTree:
    """A tree with what can be asked of it."""

    def __init__(self, content: TreeContent) -> None:
        self.content = content
        self.levels = content.levels
        self._fills = [_fills(content, number) for number in range(len(content.levels))]

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return int(self.levels[0].first_block[-1])

    def unit_at(self, level: int, block: float) -> Unit | None:
        """Return the unit of a level that holds a place among the blocks."""
        if not 0 <= level < len(self.levels) or not 0 <= block < self.blocks:
            return None
        return Unit(level, int(np.searchsorted(self.levels[level].first_block, block, side="right")) - 1)

    def interval(self, unit: Unit) -> tuple[int, int]:
        """Return the first block of a unit and the one behind its last."""
        starts = self.levels[unit.level].first_block
        return int(starts[unit.place]), int(starts[unit.place + 1])

    def code(self, unit: Unit) -> str:
        """Return the code of a unit."""
        text: str = self.levels[unit.level].codes[unit.place].decode()
        return text or self.levels[unit.level].name

    def find(self, level: str, code: str) -> Unit | None:
        """Return the unit of this code, None where the tree has none."""
        for number, each in enumerate(self.levels):
            if each.name == level:
                found = np.flatnonzero(each.codes == code.encode())
                return Unit(number, int(found[0])) if len(found) else None
        return None

    def fill(self, unit: Unit) -> Fill:
        """Return what a unit is drawn as."""
        return Fill(int(self._fills[unit.level][unit.place]))

    def uses(self, fill: Fill) -> bool:
        """Return whether any unit is drawn so."""
        return any(bool((each == fill).any()) for each in self._fills)

    def parent(self, unit: Unit) -> Unit | None:
        """Return the unit above."""
        return self.unit_at(unit.level - 1, self.interval(unit)[0])

    def first_child(self, unit: Unit) -> Unit | None:
        """Return the first unit below."""
        return self.unit_at(unit.level + 1, self.interval(unit)[0])

    def sibling(self, unit: Unit, step: int) -> Unit:
        """Return the unit so many places further in the level."""
        units = len(self.levels[unit.level].codes)
        return Unit(unit.level, min(max(unit.place + step, 0), units - 1))

    def children(self, unit: Unit) -> int:
        """Return how many children a unit has."""
        if unit.level + 1 == len(self.levels):
            return 0
        first, last = self.interval(unit)
        below = self.levels[unit.level + 1].first_block
        return int(np.searchsorted(below, last) - np.searchsorted(below, first))

    def share(self, unit: Unit) -> Fraction | None:
        """Return the exact share of the total budget that a unit has, None without budgets."""
        places = self.levels[unit.level].share
        return None if places is None else self.content.shares[int(places[unit.place])]

    def runs(self, level: int, low: float, high: float, columns: int) -> list[Run]:
        """Return what is seen of a level between two places among the blocks, on so many pixel columns.

        Units of `WIDE` pixels and more are told apart; narrower ones are sampled at every column.
        """
        starts, fills = self.levels[level].first_block, self._fills[level]
        places = low + (np.arange(columns) + 0.5) * (high - low) / columns
        inside = (places >= 0) & (places < self.blocks)
        unit = np.clip(np.searchsorted(starts, places, side="right") - 1, 0, len(fills) - 1)
        width = np.diff(starts)[unit] * columns / (high - low)
        # A column of narrow units shows their look; one of a wide unit belongs to that unit alone.
        key = np.where(width >= WIDE, 16 * (unit + 1) + fills[unit], fills[unit].astype(np.int64))
        key = np.where(inside, key, -1)
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        last = np.append(first[1:], columns)
        found = []
        for left, right in zip(first.tolist(), last.tolist(), strict=True):
            if key[left] < 0:
                continue
            number = int(unit[left])
            if key[left] >= 16:  # exact borders for what has borders
                begin = max((float(starts[number]) - low) * columns / (high - low), 0.0)
                end = min((float(starts[number + 1]) - low) * columns / (high - low), float(columns))
                found.append(Run(begin, end, Fill(int(fills[number])), odd=bool(number % 2)))
            else:
                found.append(Run(left, right, Fill(int(fills[number]))))
        return found

    def path(self, unit: Unit) -> list[Unit]:
        """Return the units from the root over this one down to its first block."""
        block = self.interval(unit)[0]
        return [found for level in range(len(self.levels)) if (found := self.unit_at(level, block)) is not None]

    def path_numbers(self, unit: Unit) -> Table:
        """Return the budget along a path: level, unit, share, ρ, margin of the total."""
        symbol = self.content.symbol
        rows: list[tuple[Value, ...]] = []
        for each in self.path(unit):
            share = self.share(each)
            rows.append(
                (
                    level_title(self.levels[each.level].name),
                    self.code(each),
                    self.children(each),
                    None if share is None else share,
                    None if share is None else share * self.content.total,
                    self.margin(each),
                )
            )
        shares = [row[3] for row in rows if isinstance(row[3], Fraction)]
        if shares:
            total = sum(shares, Fraction(0))
            rows.append(("Whole path", "", None, total, total * self.content.total, None))
        headers = ("Level", "Unit", "Children", "Share of the total", symbol, "Predicted margin of the total, people")
        return Table(headers, tuple(rows))

    def margin(self, unit: Unit) -> float | None:
        """Return the predicted margin of a unit's total in people, None where it is not predicted."""
        variance = self.levels[unit.level].variance
        return None if variance is None else float(self.content.z) * float(variance[unit.place]) ** 0.5

    def sentence(self, unit: Unit) -> str:
        """Return what a unit is, in words."""
        level, (first, last) = self.levels[unit.level], self.interval(unit)
        blocks = last - first
        words = [f"{level_title(level.name)} {self.code(unit)}"]
        if unit.level + 1 < len(self.levels):
            count = self.children(unit)
            below = plural_level(self.levels[unit.level + 1].name, count)
            more = "" if unit.level + 2 == len(self.levels) else f", {blocks:,} {plural_level('Block', blocks)}"
            words.append(f": {count:,} {below}{more}.")
        else:
            words.append(".")
        share, own = self.share(unit), self.content.level_shares[unit.level]
        if share is not None and own is not None:
            spent = share * self.content.total
            budget = f"{self.content.symbol} = {exact_text(spent)} ({float(spent):.6g})"
            if share == 0:
                words.append(" It is not measured: an only child copies its parent, which has its budget.")
            elif share > own:
                words.append(
                    f" Bypassed: it has {budget}, {exact_text(share)} of the total instead of {exact_text(own)}; what is "
                    "below it as an only child passed its budget up."
                )
            else:
                words.append(f" It has {budget}, {exact_text(share)} of the total.")
        if (margin := self.margin(unit)) is not None:
            words.append(f" Predicted margin of its total: ±{margin:,.2f} people.")
        sign = 0 if level.sign is None else int(level.sign[unit.place])
        if sign:
            words.append(f" It is {'added' if sign > 0 else 'subtracted'} to make up {self.content.area}.")
        return "".join(words)

    def level_numbers(self) -> Table:
        """Return the levels as a table."""
        rows: list[tuple[Value, ...]] = []
        bypassed = dict(self.content.bypassed)
        for number, level in enumerate(self.levels):
            count: NDArray[np.int64] | None = None
            if number + 1 < len(self.levels):
                count = np.diff(np.searchsorted(self.levels[number + 1].first_block, level.first_block))
            copied = int((self._fills[number] == Fill.COPIED).sum())
            rows.append(
                (
                    level_title(level.name),
                    len(level.codes),
                    None if count is None else int(count.min()),
                    None if count is None else float(np.median(count)),
                    None if count is None else int(count.max()),
                    bypassed.get(level.name, 0),
                    copied,
                    self.content.level_shares[number],
                )
            )
        headers = (
            "Level",
            "Units",
            "Fewest children",
            "Median",
            "Most",
            "Bypassed",
            "Copying their parent",
            "Share of the total",
        )
        return Table(headers, tuple(rows))

    def labels(self) -> tuple[str, ...]:
        """Return the names of the levels."""
        return tuple(short_level(level.name) for level in self.levels)


def _fills(content: TreeContent, number: int) -> NDArray[np.int8]:
    """Return what the units of a level are drawn as, ``int8[units]``."""
    level, own = content.levels[number], content.level_shares[number]
    found = np.zeros(len(level.codes), np.int8)
    if level.share is not None and own is not None:
        looks = [
            Fill.COPIED if share == 0 and own > 0 else Fill.RAISED if share > own else Fill.OWN
            for share in content.shares
        ]
        found = np.array(looks, np.int8)[level.share]
    if level.sign is not None:
        found[level.sign > 0] = Fill.ADDED
        found[level.sign < 0] = Fill.SUBTRACTED
    return found


def zoomed(low: float, high: float, factor: float, at: float, blocks: int) -> tuple[float, float]:
    """Return the range of blocks that is seen after zooming around a place; it stays inside the tree."""
    width = min(max((high - low) * factor, LEAST_BLOCKS), float(blocks))
    start = at - (at - low) * width / (high - low)
    start = min(max(start, 0.0), blocks - width)
    return start, start + width
