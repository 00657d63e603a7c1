"""Households by size 1 to 6 and 7 or more, county by county, and the heavy tail the paper draws for the open class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.states import states
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.region_tree import tree_of_paths
from phexplore.data.regions.table_file import BLANK, TableFile
from phexplore.model.group_sizes import HeavyTail
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SIZES = tuple(f"hh{size}" for size in range(1, 7))
OPEN = "hh7plus"
"""The column of households of seven or more."""

LEVELS = ("Nation", "State", "County")

_REMEDY = "The table needs fips, name, hh1 to hh6 and hh7plus; `households` and `complete` are checked when present."


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdSizes:
    """Households by size in the counties where every size is known, ascending by code.

    Attributes:
        fips: ``U5[counties]``.
        names: of the counties.
        counts: ``int64[counties, 7]``: sizes 1 to 6, and 7 or more.
        unknown: codes of counties whose sizes are not known; they are left out.
    """

    fips: NDArray[np.str_]
    names: tuple[str, ...]
    counts: NDArray[np.int64]
    unknown: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of counties with known sizes."""
        return len(self.fips)


def shipped_household_sizes() -> HouseholdSizes:
    """Return the table that comes with the program: 2010 Census, table H13, 3,107 counties."""
    return read_household_sizes(resource("tables/household_sizes_2010.csv"))


def read_household_sizes(path: Path) -> HouseholdSizes:
    """Read a table like ``county_household_size_2010.csv``.

    A county with any size blank is left out as unknown.

    Raises:
        InputProblemsError: every bad field with its line and column: codes that are not five digits or stand twice,
            counts that are none, sizes that do not add up to the households, a mark that is not true, no county at all.
    """
    columns = ["fips", "name", *SIZES, OPEN]
    optional = [name for name in ("households", "complete") if _has(path, name)]
    table = TableFile(path, [*columns, *optional], _REMEDY)
    fips = table.codes("fips", 5)
    table.refuse_repeated("fips", "county")
    names = table.texts("name", empty=False)
    counts = np.stack([table.counts(name, blank=True) for name in (*SIZES, OPEN)], axis=1)
    known = (counts != BLANK).all(axis=1)
    readable = not table.failed
    if "households" in optional:
        households = table.counts("households", blank=True)
        if readable:
            wrong = known & (households != BLANK) & (households != counts.sum(axis=1))
            table.refuse(
                wrong,
                "households",
                "households is not the sum of the seven sizes.",
                "Correct the households or the sizes.",
            )
    if "complete" in optional:
        marked = table.counts("complete")
        if readable:
            table.refuse(
                marked != known,
                "complete",
                "complete must be 1 if all sizes are given, and 0 otherwise.",
                "Correct complete, or the sizes of the line.",
            )
    table.finish()
    if not known.any():
        raise InputProblemsError([Issue((path.name,), "No county has all its sizes.", "Fill in the sizes.")])
    order = np.flatnonzero(known)[np.argsort(fips[known], kind="stable")]
    return HouseholdSizes(
        fips[order].astype("U5"), tuple(names[order].tolist()), counts[order], tuple(sorted(fips[~known].tolist()))
    )


def _has(path: Path, column: str) -> bool:
    from phexplore.data.blocks.delimited import read_header  # noqa: PLC0415 - as late as its reader

    return column in read_header(path).names


def group_sizes_of(households: HouseholdSizes) -> GroupSizeTable:
    """Return households as groups of size 1 to 7 in nation, states and counties; 7 stands for 7 or more."""
    known = states()
    paths = [(code[:2], code) for code in households.fips.tolist()]
    names = {f"{code[:2]}/{code}": name for code, name in zip(households.fips.tolist(), households.names, strict=True)}
    names |= {code: state.name for code, state in known.items()} | {"": "United States"}
    tree = tree_of_paths(LEVELS, paths, names)
    remarks: tuple[str, ...] = ()
    if households.unknown:
        every = len(households) + len(households.unknown)
        remarks = (f"{len(households.unknown):,} of {every:,} counties are left out: their sizes are not known.",)
    return GroupSizeTable(tree, households.counts, "Households by size", remarks, open_ended=True)


def with_heavy_tail(table: GroupSizeTable, largest: int, tail: HeavyTail) -> GroupSizeTable:
    """Return the table with its open last class spread over larger sizes, and outliers added (paper, §11, Census Dataset).

    Ratio rule: with n households of the last closed size and m in the open class, consecutive sizes have the ratio
    r = m / (n + m), the one at which a geometric tail behind n has m households. Every household of the open class
    draws its size from that tail, so a region keeps its number of households. A region without households of the last
    closed size takes the ratio of all regions. Then `tail.outliers` groups per region of the second level are added,
    each in a region of the last level below it and with a size from `tail.smallest` to N, all equally likely.

    Args:
        table: whose last size is an open class.
        largest: N, above the open class.
        tail: outliers and seed.

    Raises:
        ValueError: N leaves no room for a tail.
    """
    closed = table.largest - 1
    if closed < 1 or largest <= table.largest:
        raise ValueError(f"a tail behind size {closed} needs a largest size above {table.largest}, got {largest}")
    random = np.random.default_rng(tail.seed)
    last, open_class = table.counts[:, -2], table.counts[:, -1]
    overall = open_class.sum() / max(1, (last + open_class).sum())
    ratio = np.where(last > 0, open_class / np.maximum(last + open_class, 1), overall)
    counts = np.zeros((len(table.counts), largest), np.int64)
    counts[:, :closed] = table.counts[:, :closed]
    steps = np.arange(largest - closed)
    for region in np.flatnonzero(open_class).tolist():
        share = ratio[region] ** steps
        counts[region, closed:] = random.multinomial(open_class[region], share / share.sum())
    added = 0
    if tail.outliers and len(table.tree.levels) > 1:
        first = table.tree.sums(np.ones(table.tree.leaves, np.int64))[1]
        ends = np.cumsum(first)
        for behind, width in zip(ends.tolist(), first.tolist(), strict=True):
            regions = random.integers(behind - width, behind, tail.outliers)
            sizes = random.integers(min(tail.smallest, largest), largest + 1, tail.outliers)
            np.add.at(counts, (regions, sizes - 1), 1)
            added += tail.outliers
    remark = (
        f"Sizes above {closed} are drawn (seed {tail.seed}): consecutive sizes have the ratio of the open class to size "
        f"{closed} and the open class, region by region; {added:,} outliers between {tail.smallest:,} and {largest:,} "
        f"were added, {tail.outliers} in each {table.tree.levels[min(1, len(table.tree.levels) - 1)].lower()}."
    )
    return replace(table, counts=counts, remarks=(*table.remarks, remark), open_ended=False)
