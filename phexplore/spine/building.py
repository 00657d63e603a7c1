"""Build a spine from a geography and settings.

A spine is levels of units over the blocks, each unit inside one unit of the level above. Blocks are put into an order in which
every unit is an interval, so a spine is a list of starting points per level and nothing else; codes are made for people.

Sources: Geographic spines in the 2020 DAS, sections 1, 4 and 6; production's rules in topdown, section 10, and errata G.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.spine.geography import NOWHERE, AreaCodes, Geography
from phexplore.spine.settings import BLOCK_GROUP, PLACE_MCD, QUARTERS, SpineSettings
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.text.messages import msg

PUERTO_RICO = 72

Keys = NDArray[np.int64]
Label = Callable[[int, int, str], str]
"""Makes a unit's code from its first block, its number among its siblings, and its parent's code."""


@dataclass(frozen=True, slots=True, eq=False)
class Spine:
    """A geographic spine.

    Attributes:
        settings: how it was shaped.
        geography: over which blocks.
        tree: its levels; `GeoTree.order` gives the block of each leaf.
        remarks: what was assumed.
    """

    settings: SpineSettings
    geography: Geography
    tree: GeoTree
    remarks: tuple[str, ...] = ()

    @property
    def order(self) -> NDArray[np.int64]:
        """The block of each leaf, ``int64[blocks]``."""
        return np.arange(self.tree.blocks) if self.tree.order is None else self.tree.order

    @property
    def level_names(self) -> tuple[str, ...]:
        """The levels, widest first."""
        return tuple(level.name for level in self.tree.levels)


def confirm_one_root(states: Iterable[int]) -> None:
    """Refuse Puerto Rico beside states, which is never below the US (paper, section 6, footnote 8).

    Args:
        states: number of every state that blocks lie in.

    Raises:
        PhexploreError: they are below different roots.
    """
    numbers = set(states)
    if PUERTO_RICO in numbers and len(numbers) > 1:
        raise PhexploreError(
            msg("The file contains Puerto Rico and states, whose spines have different roots."),
            msg("Build one spine for the states and one for Puerto Rico."),
        )


def build_spine(geography: Geography, settings: SpineSettings, *, is_one_of_several: bool = False) -> Spine:
    """Return the spine of these blocks.

    Blocks of one state have that state as their root, as in every run on such data; its tribal parts then stand apart
    from the county down. Blocks of several states have the US as their root and the parts of every state below it
    (paper, figure 1). Puerto Rico is never below the US (paper, section 6, footnote 8).

    Args:
        geography: the blocks and their areas.
        settings: how the spine is shaped.
        is_one_of_several: whether these are the blocks of one state of a nation, whose parts stand below the US.

    Raises:
        PhexploreError: there are no blocks, or the settings ask for areas that the geography does not have.
    """
    if not geography.blocks:
        raise PhexploreError(
            msg("There are no blocks to build a spine over."), msg("Give a file with at least one block.")
        )
    builder = _Builder(geography, settings)
    builder.add_states(is_one_of_several=is_one_of_several)
    builder.add_counties()
    if settings.kind == "prim":
        builder.add_prims()
    else:
        builder.add_tracts()
    builder.add_blocks()
    return Spine(settings, geography, builder.tree(), tuple(builder.remarks))


def chunk_size(members: Keys, settings: SpineSettings) -> Keys:
    """Return how many children a group may have, ``int64[n]``, given how many there are to be grouped.

    Production tests before it adds, so its groups hold one more than int(√n + cutoff) (errata G2); the paper's bound is
    √n + cutoff. The cutoff is whole, so both come from the whole root.

    Args:
        members: ``members[n]``, how many there are to be grouped.
        settings: cutoff of the fan-out, and whether to group as production does.
    """
    roots = np.array([math.isqrt(n) for n in range(int(members.max()) + 1)], np.int64)[members]
    size: Keys = roots + settings.fanout_cutoff + (settings.grouping == "production")
    return np.maximum(size, 1)


def chunks(parent: Keys, kind: Keys, settings: SpineSettings) -> Keys:
    """Number the groups of items: items of one parent and kind lie together in their order, as many as `chunk_size` allows.

    Args:
        parent: ``int64[items]``, the unit that is to be divided.
        kind: ``int64[items]``, 0 or more; items of different kinds are never put together.
        settings: with the rule and its cutoff.

    Returns:
        ``int64[items]``, ascending by parent, then by kind.
    """
    order = np.lexsort((kind, parent))
    parents, kinds = parent[order], kind[order]
    new_run = np.concatenate([[True], (parents[1:] != parents[:-1]) | (kinds[1:] != kinds[:-1])])
    first = np.flatnonzero(new_run)
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    size = chunk_size(np.bincount(parent), settings)[parents]
    starts = new_run | (place % size == 0)
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(starts) - 1
    return groups


class _Builder:
    """The levels so far: one number per block and level, the numbers ascending with the wider levels' numbers."""

    def __init__(self, geography: Geography, settings: SpineSettings) -> None:
        self._geography = geography
        self._settings = settings
        self._units: list[tuple[str, Keys, Label]] = []
        self._geocodes = geography.geocodes()
        self._aian = geography.aian(settings.aian_areas)
        self.remarks: list[str] = []
        if settings.aian_areas and "aiannh" not in geography.areas:
            self.remarks.append(msg("The blocks have no codes of tribal areas, so no area is separated."))

    @property
    def _last(self) -> Keys:
        return self._units[-1][1]

    def _add(self, name: str, key: Keys, label: Label) -> None:
        """Add a level: units are the different pairs of a unit above and a key."""
        above = self._last if self._units else np.zeros(len(key), np.int64)
        self._units.append((name, _rank(above, key), label))

    def add_states(self, *, is_one_of_several: bool) -> None:
        """Add the nation, and the states with their tribal parts."""
        state = self._geography.numbers(0, 2)
        confirm_one_root(np.unique(state).tolist())
        if len(np.unique(state)) == 1 and not is_one_of_several:
            self._add("State", state, lambda block, *_: self._code(block)[:2])
            if self._aian.any():
                self.remarks.append(
                    msg("The blocks are in one state, so tribal parts are separated from the county level down.")
                )
            return
        self._add("US", np.zeros(len(state), np.int64), lambda *_: "")
        self._add("State", np.where(self._aian, 100, 0) + state, lambda block, *_: self._state_code(block))

    def _code(self, block: int) -> str:
        return str(self._geocodes[block])

    def _state_code(self, block: int) -> str:
        """Return the code of the block's part of its state: a bit for the tribal part where parts stand apart, two digits."""
        bit = str(int(self._aian[block])) if self._settings.aian_areas else ""
        return bit + self._code(block)[:2]

    def add_counties(self) -> None:
        """Add counties; inside tribal parts the tribal areas may take their place (topdown, section 10)."""
        county, state = self._geography.numbers(2, 5), self._geography.numbers(0, 2)
        key = county + np.where(self._aian, 10**6, 0)
        instead = np.zeros(len(key), bool)
        if self._settings.redefine_counties != "nowhere" and self._aian.any():
            instead = self._aian.copy()
            if self._settings.redefine_counties == "in_strong_MCDs":
                instead &= np.isin(state, [int(code) for code in self._settings.strong_mcd_states])
            tribal = self._geography.areas["aiannh"]
            key[instead] = 2 * 10**6 + tribal.of_block[instead]

        def label(block: int, _number: int, _above: str) -> str:
            part = self._state_code(block)
            if instead[block]:
                area = self._geography.areas["aiannh"]
                return f"{part}0{area.codes[area.of_block[block]]!s:.4}"
            own = self._code(block)[2:5]
            return part + (f"10{own}" if self._settings.aian_areas else own)

        self._add("County", key, label)

    def add_tracts(self) -> None:
        """Add tracts, groups of them where wanted, and block groups."""
        codes = self._geography.geocodes()
        # The county belongs to a tract's name where tribal areas take the place of counties: an area may lie in several.
        begin = 5 if self._settings.redefine_counties == "nowhere" else 2
        tract = self._geography.numbers(2, 11)
        groups = self._settings.tract_groups
        if groups == "standard":
            self._add("Tract_Group", self._geography.numbers(2, 9), lambda b, _n, above: above + str(codes[b])[begin:9])
        elif groups != "none":
            self._add("Tract_Group", self._merged_tracts(tract), lambda _b, n, above: f"{above}{n:04d}")
        rest = 9 if groups == "standard" else begin
        self._add("Tract", tract, lambda b, _n, above: above + str(codes[b])[rest:11])
        if self._settings.shapes_block_groups:
            kinds = self._kinds(self._settings.targets)
            self._add("Block_Group", chunks(self._last, kinds, self._settings), lambda _b, n, above: f"{above}{n:04d}")
        else:
            self._add("Block_Group", self._geography.numbers(11, 12), lambda b, _n, above: above + str(codes[b])[11])

    def add_prims(self) -> None:
        """Add the levels of the DHC spine (paper, section 6; topdown, section 10)."""
        codes = self._geography.geocodes()
        self._add("Prim", self._prims(), lambda _b, n, above: f"{above}{n:04d}")
        tribal = self._tribal()
        prim = self._last
        subsets = _rank(_rank(prim, self._geography.numbers(2, 11)), tribal)
        first = np.unique(subsets, return_index=True)[1]
        groups = chunks(prim[first], tribal[first] + 1, self._settings)[subsets]
        self._add("Tract_Subset_Group", groups, lambda _b, n, above: f"{above}{n:04d}")
        self._add("Tract_Subset", subsets, lambda b, n, above: f"{above}{str(codes[b])[5:11]}{n:04d}")
        kinds = self._kinds(self._settings.targets)
        self._add("Block_Group", chunks(self._last, kinds, self._settings), lambda _b, n, above: f"{above}{n:04d}")

    def add_blocks(self) -> None:
        """Add the blocks."""
        codes = self._geography.geocodes()
        self._add("Block", np.arange(self._geography.blocks), lambda b, _n, _above: str(codes[b]))

    def tree(self) -> GeoTree:
        """Return the levels as intervals of ordered blocks."""
        order = np.argsort(self._last, kind="stable")
        starts = [_starts(ids[order]) for _, ids, _ in self._units]
        levels: list[TreeLevel] = []
        codes: Sequence[str] = [""]
        parent = np.zeros(len(starts[0]) - 1, np.int64)
        for number, (name, _, label) in enumerate(self._units):
            first_block = starts[number]
            first_child = None
            if number + 1 < len(starts):
                first_child = np.searchsorted(starts[number + 1], first_block).astype(np.int64)
            if name == "Block":
                texts: NDArray[np.str_] = self._geography.geocodes()[order]
            else:
                sibling = np.arange(len(parent)) - np.searchsorted(parent, parent)
                codes = [
                    label(block, place, codes[above])
                    for block, place, above in zip(
                        order[first_block[:-1]].tolist(), sibling.tolist(), parent.tolist(), strict=True
                    )
                ]
                texts = np.array(codes)
            levels.append(TreeLevel(name, texts, first_block, first_child))
            if first_child is not None:
                parent = np.repeat(np.arange(len(first_child) - 1), np.diff(first_child))
        straight = bool((order[1:] > order[:-1]).all())
        dropped = () if self._units[0][0] == "US" else ("US",)
        return GeoTree(tuple(levels), dropped, None if straight else order)

    def _merged_tracts(self, tract: Keys) -> Keys:
        from phexplore.spine.tract_groups import merge_tracts  # noqa: PLC0415 - few spines have groups of tracts

        units = _rank(self._last, tract)
        if self._settings.shapes_block_groups:
            groups = chunks(units, self._kinds(self._settings.targets), self._settings)
        else:
            groups = _rank(units, self._geography.numbers(11, 12))
        remarks: list[str] = []
        found = [target_codes(self._geography, self._settings, name, remarks) for name in self._settings.targets]
        partitions = [each for each in found if each is not None] or [np.zeros(len(units), np.int64)]
        above = [ids for _, ids, _ in self._units]
        return merge_tracts(above, units, groups, partitions, self._settings)

    def _tribal(self) -> Keys:
        """Return the tribal area of each block of the tribal parts, else `NOWHERE`."""
        if "aiannh" not in self._geography.areas:
            return np.full(self._geography.blocks, NOWHERE, np.int64)
        return np.where(self._aian, self._geography.areas["aiannh"].of_block, NOWHERE).astype(np.int64)

    def _kinds(self, targets: Sequence[str]) -> Keys:
        """Return a number per block: blocks of equal numbers lie in the same area of every class."""
        kinds = np.zeros(self._geography.blocks, np.int64)
        for name in targets:
            found = target_codes(self._geography, self._settings, name, self.remarks)
            if found is not None:
                kinds = _rank(kinds, found)
        return kinds

    def _prims(self) -> Keys:
        """Return the prim of each block inside its county: town and place where estimates are made of them."""
        geography = self._geography
        prims = np.zeros(geography.blocks, np.int64)
        if (geography.numbers(0, 2) == PUERTO_RICO).all():
            return prims
        for name, status, meaning in (
            (
                "cousub",
                geography.governed,
                msg(
                    "The functional status of county subdivisions is unknown. "
                    "The builder treats those of strong-MCD states as governing, and no others."
                ),
            ),
            (
                "place",
                geography.incorporated,
                msg("The functional status of places is unknown. The builder treats every place as incorporated."),
            ),
        ):
            if name not in geography.areas:
                self.remarks.append(
                    msg(
                        "The blocks have no codes of the class {name}, so primitive geographies do not distinguish it.",
                        name=name,
                    )
                )
                continue
            found = geography.areas[name].of_block.astype(np.int64)
            counted = status
            if counted is None:
                self.remarks.append(meaning)
                strong = [int(code) for code in self._settings.strong_mcd_states]
                every = np.ones(geography.blocks, bool)
                counted = np.isin(geography.numbers(0, 2), strong) if name == "cousub" else every
            found = np.where(counted, found, NOWHERE)
            prims = _rank(prims, found)
        return prims


def target_codes(geography: Geography, settings: SpineSettings, name: str, remarks: list[str]) -> Keys | None:
    """Return the area of each block in a class that can be targeted, ``int64[blocks]``; None where it is unknown.

    Args:
        geography: the blocks and their areas.
        settings: what counts as a place or a tribal area.
        name: of the class of areas; blocks outside every area get `NOWHERE`.
        remarks: receives a sentence where the data lack the class.

    Raises:
        UnknownNameError: the geography has no such class.
    """
    if name == QUARTERS:
        if geography.quarters is None:
            remarks.append(msg("The locations of group quarters are unknown, so no block is separated for them."))
            return None
        return geography.quarters.astype(np.int64)
    if name == PLACE_MCD:
        return place_mcd(geography, settings, remarks).of_block.astype(np.int64)
    if name == "aiannh" and "aiannh" not in geography.areas:
        return None
    if name == "school_dist" and name not in geography.areas:
        remarks.append(msg("The blocks have no codes of school districts, so no district is targeted."))
        return None
    found = geography.area(name).of_block.astype(np.int64)
    if name == "school_dist" and "secondary_sd" in geography.areas:
        found = _rank(found, geography.areas["secondary_sd"].of_block.astype(np.int64))
    return found


def place_mcd(geography: Geography, settings: SpineSettings, remarks: list[str] | None = None) -> AreaCodes:
    """Return production's entity of each block: the town in strong-MCD states outside tribal areas, else the place.

    Source: topdown, section 10; paper, section 1 (Place/MCD entities).

    Args:
        geography: the blocks and their areas.
        settings: the strong-MCD states and what counts as a tribal area.
        remarks: receives a sentence where the data lack a class.
    """
    towns = np.isin(geography.numbers(0, 2), [int(code) for code in settings.strong_mcd_states])
    towns &= ~geography.aian(settings.aian_areas)
    codes: list[NDArray[np.str_]] = []
    of_block = np.full(geography.blocks, NOWHERE, np.int32)
    offset = 0
    for name, inside in (("cousub", towns), ("place", ~towns)):
        if name not in geography.areas:
            if inside.any() and remarks is not None:
                remarks.append(
                    msg("The blocks have no codes of the class {name}, so no area of the class is targeted.", name=name)
                )
            continue
        area = geography.areas[name]
        kept, found = np.unique(area.of_block[inside & (area.of_block >= 0)], return_inverse=True)
        of_block[inside & (area.of_block >= 0)] = found + offset
        codes.append(area.codes[kept])
        offset += len(kept)
    return AreaCodes(np.concatenate(codes) if codes else np.empty(0, "U1"), of_block)


def _rank(above: Keys, key: Keys) -> Keys:
    """Return the rank of each pair, pairs ordered by the first part, then by the second."""
    low = int(key.min()) if len(key) else 0
    width = int(key.max()) - low + 1 if len(key) else 1
    ranks: Keys = np.unique(above * width + (key - low), return_inverse=True)[1].astype(np.int64)
    return ranks


def _starts(ids: Keys) -> NDArray[np.int64]:
    """Return where each unit begins, and the end, of ascending numbers."""
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    return np.append(first, len(ids)).astype(np.int64)


__all__ = ["BLOCK_GROUP", "Spine", "build_spine", "chunk_size", "chunks", "place_mcd", "target_codes"]
