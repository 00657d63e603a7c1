"""The tree of a spine as rows of intervals: what is seen of it, which unit lies where, and what a unit is. No Qt."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.names import Naming, chosen_naming, place, synthetic_areas
from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure, KeyEntry, RowLabel
from phexplore.figures.marks import Box, Ink, Mark, Role
from phexplore.figures.marks import Fill as FillOf
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import share_percent, to_digits, to_places
from phexplore.systems.topdown.spine_views import TreeContent
from phexplore.systems.topdown.wording import heading, level_title, plural_level, taken_over

WIDE = 3.0
"""Columns from which on a unit is drawn with its borders."""
_COLUMNS = 720
"""Columns in which a level is looked at: units below three of them are not told apart."""


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


ROOT = Unit(0, 0)
_SHAPED = "Block_Group"
_DIGITS = {"State": 2, "County": 5, "Tract": 11, _SHAPED: 11}
"""Digits of a block's geocode that name the area a unit lies in."""
_COUNTED = ("Prim", "Tract_Group", "Tract_Subset_Group", "Tract_Subset")
"""Levels that only a spine has: their units are counted within the one above."""
_LOOKS: dict[Fill, tuple[Ink, FillOf]] = {
    Fill.OWN: (0, FillOf.SOFT),
    Fill.RAISED: (0, FillOf.SOLID),
    Fill.COPIED: (Role.MUTED, FillOf.HATCHED),
    Fill.ADDED: (1, FillOf.SOLID),
    Fill.SUBTRACTED: (2, FillOf.HATCHED),
}
_LEGEND = {
    Fill.RAISED: "bypassed: budget of its only child added",
    Fill.COPIED: "copies its parent, not measured",
    Fill.ADDED: "added to make up the area",
    Fill.SUBTRACTED: "subtracted",
}


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring columns of one level that look alike.

    Attributes:
        left: first column.
        right: column behind the last one.
        fill: look.
        is_unit: whether they show one unit with its borders.
    """

    left: float
    right: float
    fill: Fill
    is_unit: bool = False


_LENGTHS = {"State": 3, "County": 8}
"""Letters of codes that begin with a digit that tells tribal parts, 1, from the rest."""


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
        """Return the unit of a level that holds a place among the blocks.

        Args:
            level: number of the level, 0 for the root's.
            block: position among the blocks, from 0.
        """
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

    def name(self, unit: Unit) -> str:
        """Return what people call a unit, where names are chosen; its code where nobody knows."""
        return unit_name(self.code(unit), called(self, unit))

    @property
    def area(self) -> str:
        """What the area is called whose units are told apart, "" without one."""
        return unit_name(self.content.area, self.content.area_name)

    def find(self, level: str, code: str) -> Unit | None:
        """Return the unit of this code, None where the tree has none.

        Args:
            level: name of the level.
            code: of the unit.
        """
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
        """Return what is seen of a level between two places among the blocks, on so many columns.

        Units of `WIDE` pixels and more are told apart; narrower ones are sampled at every column.

        Args:
            level: number of the level, 0 for the root's.
            low: first position among the blocks.
            high: last one, above `low`.
            columns: how many pixels wide.
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
                found.append(Run(begin, end, Fill(int(fills[number])), is_unit=True))
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
                    self.name(each),
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
        headers = (
            "Level",
            "Unit",
            "Children",
            "Share of the total",
            symbol,
            f"Margin of the total, {self.content.unit}",
        )
        is_no_unit = "A path is no unit."
        return Table(headers, tuple(rows)).explained(
            {headers[2]: is_no_unit, headers[-1]: self.content.kept or is_no_unit}
        )

    def margin(self, unit: Unit) -> float | None:
        """Return the predicted margin of a unit's total, None where it is not predicted."""
        variance = self.levels[unit.level].variance
        return None if variance is None else float(self.content.z) * float(variance[unit.place]) ** 0.5

    def sentence(self, unit: Unit) -> str:
        """Return what a unit is, in words."""
        level, (first, last) = self.levels[unit.level], self.interval(unit)
        blocks = last - first
        name = self.name(unit)
        title = level_title(level.name)
        words = [heading(name) if name != self.code(unit) else title if name == level.name else f"{title} {name}"]
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
            budget = f"{self.content.symbol} {to_digits(spent)}, {share_percent(share)} of the total"
            if share == 0:
                words.append(" It is not measured: an only child copies its parent, which has its budget.")
            elif share > own:
                words.append(
                    f" Bypassed: it has {budget} instead of {share_percent(own)}; what is "
                    "below it as an only child passed its budget up."
                )
            else:
                words.append(f" It has {budget}.")
        if (margin := self.margin(unit)) is not None:
            spread = f"±{to_places(margin)} {self.content.unit}" if margin else "none, it is published exactly"
            words.append(f" Predicted margin of its total: {spread}.")
        elif self.content.kept:
            words.append(f" {self.content.kept}")
        sign = 0 if level.sign is None else int(level.sign[unit.place])
        if sign:
            words.append(f" It is {'added' if sign > 0 else 'subtracted'} to make up {self.area}.")
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
        return Table(headers, tuple(rows)).explained(dict.fromkeys(headers[2:5], "Blocks have no units below them."))

    def labels(self) -> tuple[str, ...]:
        """Return the names of the levels."""
        return tuple(level_title(level.name) for level in self.levels)


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


def unit_name(code: str, name: str) -> str:
    """Return a name where names are chosen, the code where codes are or nobody knows a name.

    Args:
        code: of a unit.
        name: what people call it, "" where nobody knows.
    """
    if not name or chosen_naming() is Naming.CODES:
        return code
    return f"{code} ({name})" if chosen_naming() is Naming.BOTH else name


def called(tree: SpineTree, unit: Unit) -> str:
    """Return what people call a unit, "" where nobody knows.

    Args:
        tree: that has it.
        unit: one of its.
    """
    code, level, above = tree.code(unit), tree.levels[unit.level].name, tree.parent(unit)
    if level in _COUNTED:
        within = "" if above is None else called(tree, above)
        return f"{_counted(tree, unit)} of {within}" if within else ""
    block = tree.levels[-1].codes[tree.interval(unit)[0]].decode()
    is_synthetic = tree.content.is_synthetic
    with synthetic_areas(is_synthetic=is_synthetic):
        own = place(block[: _DIGITS.get(level, 0)])
        if code == block:
            return place(code) if is_synthetic else ""  # whoever draws a bare code would name a real block
    if level == _SHAPED and own:
        number = code.removeprefix(tree.code(above or ROOT))
        own = f"block group {int(number) + (len(number) > 1)} of {own}"
    if not own:
        return ""
    is_tribal = code[:1] == "1" and not code.startswith(block[:2])
    return f"tribal part of {own}" if is_tribal else own


def _counted(tree: SpineTree, unit: Unit) -> str:
    """Return a unit as the one of so many of its parent, from 1."""
    first = tree.unit_at(unit.level, tree.interval(tree.parent(unit) or ROOT)[0]) or unit
    return f"{level_title(tree.levels[unit.level].name).lower()} {unit.place - first.place + 1}"


def _short_name(tree: SpineTree, unit: Unit) -> str:
    """Return the name of a unit for a narrow box: the end of its code, or its name without what it lies in."""
    if chosen_naming() is Naming.NAMES and tree.levels[unit.level].name in _COUNTED:
        return _counted(tree, unit)
    name = tree.name(unit)
    return name[-4:] if name == tree.code(unit) else name.partition(",")[0]


def tree_figure(tree: SpineTree, seen: Unit = ROOT, chosen: Unit = ROOT) -> Figure:
    """Return a unit with all that lies below it: one row per level, one box per unit, as wide as its blocks.

    Units too narrow to be told apart are one box; choosing a unit as `seen` shows what lies in it.

    Args:
        tree: of the spine.
        seen: the unit that fills the width; the units above it stand over it.
        chosen: the unit whose path from the root is outlined.
    """
    low, high = tree.interval(seen)
    marks = []
    for number in range(len(tree.levels)):
        for run in tree.runs(number, low, high, _COLUMNS):
            per = (high - low) / _COLUMNS
            marks.append(_mark(tree, number, run, low + run.left * per, low + run.right * per, 0.5 * per))
    path = tree.path(chosen)[: chosen.level + 1]
    return Figure(
        f"tree-{seen.level}-{seen.place}",
        _finding(tree),
        _summary(tree),
        Axis("blocks, in the order of the spine", domain=(low, high), text=_block_text),
        ROWS,
        tuple(marks),
        tree.level_numbers,
        labels=tuple(RowLabel("", label) for label in tree.labels()),
        over=tuple(_outline(tree, unit, low, high) for unit in path),
        key=tuple(
            KeyEntry(Box(0, 1, -0.5, 0.5, ink=_LOOKS[fill][0], fill=_LOOKS[fill][1]), words)
            for fill, words in _LEGEND.items()
            if tree.uses(fill)
        ),
        stretch=1.1,
    )


def _mark(tree: SpineTree, level: int, run: Run, low: float, high: float, gap: float) -> Mark:
    unit = tree.unit_at(level, (low + high) / 2 if run.is_unit else low) or ROOT
    ink, fill = _LOOKS[run.fill]
    if run.is_unit:
        box = Box(low, max(high - gap, low), 0.42, -0.42, ink, fill, tree.name(unit), _short_name(tree, unit))
        return Mark(unit, (box,), tip=partial(tree.sentence, unit), row=level)
    last = tree.unit_at(level, high - 1e-9) or unit
    units = last.place - unit.place + 1
    words = f"{units:,} {plural_level(tree.levels[level].name, units)} too narrow to be told apart, from {tree.name(unit)} on."
    return Mark(unit, (Box(low, high, 0.42, -0.42, ink, fill),), tip=words, row=level)


def _outline(tree: SpineTree, unit: Unit, low: float, high: float) -> Box:
    first, last = tree.interval(unit)
    edges = max(float(first), float(low)), min(float(last), float(high))
    return Box(*edges, unit.level + 0.42, unit.level - 0.42, Role.TEXT, FillOf.HOLLOW)


def _block_text(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else ""


def _finding(tree: SpineTree) -> str:
    parts = tree.content.parts
    made = f"{heading(tree.area)} is made up of {parts:,} unit{'' if parts == 1 else 's'} of this spine"
    return made if tree.area else f"This spine has {_counts(tree)}"


def _counts(tree: SpineTree) -> str:
    counts = []
    for level in tree.levels:
        tribal = sum(code[:1] == b"1" and len(code) == _LENGTHS.get(level.name) for code in level.codes.tolist())
        parts = f" ({tribal:,} of tribal areas)" if tribal else ""
        counts.append(f"{len(level.codes):,} {plural_level(level.name, len(level.codes))}{parts}")
    return ", ".join(counts[1:] or counts)


def _summary(tree: SpineTree) -> str:
    bypassed = sum(units for _, units in tree.content.bypassed)
    first = f"{taken_over(bypassed)}. " if bypassed else ""
    area = f"The spine has {_counts(tree)}. " if tree.area else ""
    own = any(level.variance is not None for level in tree.levels)
    last = " Margins of units are for the scenario's own cells, whatever the data of a run have." if own else ""
    return (
        f"{area}{first}One row per level from the root down to blocks, each unit as wide as the blocks it holds.{last}"
    )
