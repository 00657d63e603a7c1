"""Persons with the group they belong to, as groups by size: columns user, unit, region, quantity (paper, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.blocks.delimited import (
    CodedColumn,
    Header,
    Problems,
    missing_columns,
    read_batches,
    read_header,
    refuse,
)
from phexplore.data.regions.group_size_table import GroupSizeTable
from phexplore.data.regions.region_tree import SEPARATOR, RegionTree, tree_of_paths
from phexplore.data.regions.table_file import TableFile

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS = ("user", "unit", "region", "quantity")
RECORDS_FILE = "records.csv"
REGIONS_FILE = "regions.csv"

_LARGEST_QUANTITY = 10**9
_REMEDY = (
    "Person records need user, unit, region and quantity; regions are named from the widest level down, e.g. GA/Fulton."
)


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """The columns of a file of records.

    Attributes:
        header: of the file.
        users: number of the user of each row.
        units: number of the unit of each row.
        regions: distinct texts.
        region: which of them, per row.
        quantity: per row.
    """

    header: Header
    users: NDArray[np.int64]
    units: NDArray[np.int64]
    regions: tuple[str, ...]
    region: NDArray[np.int64]
    quantity: NDArray[np.int64]


def read_group_records(path: Path, levels: Sequence[str], largest: int, largest_quantity: int) -> GroupSizeTable:
    """Read person records and add up the quantity of each unit: the size of a group.

    Regions are public. Without a ``regions.csv`` beside the records (column ``region``), they are those that occur.

    Args:
        path: the file of records, or a directory with ``records.csv`` and, if wanted, ``regions.csv``.
        levels: names, the root's first.
        largest: N; larger groups count there.
        largest_quantity: the most one record may add; the parameters promise it.

    Raises:
        InputProblemsError: every bad field with its line and column: columns missing, users or units without a name, users
            twice in a unit, units in two regions, regions of another depth or not in ``regions.csv``, quantities that are
            no whole numbers or above the promise.
    """
    listed = None
    if path.is_dir():
        if (path / REGIONS_FILE).is_file():
            listed = _read_regions(path / REGIONS_FILE, levels)
        path /= RECORDS_FILE
    problems = Problems(path)
    records = _read(path, problems)
    _refuse_quantities(records, problems, largest_quantity)
    _refuse_regions(records, problems, levels, listed)
    owner = _refuse_units(records, problems)
    problems.finish()
    paths = [tuple(text.split(SEPARATOR)) if text else () for text in records.regions]
    tree = tree_of_paths(levels, paths) if listed is None else listed
    place = {code: number for number, code in enumerate(tree.codes[-1])}
    leaf = np.array([place[text] for text in records.regions], np.int64)[records.region[owner]]
    sizes = np.zeros(len(owner), np.int64)
    np.add.at(sizes, records.units, records.quantity)
    return _table(tree, leaf, sizes, largest, len(records.units))


def _table(
    tree: RegionTree, leaf: NDArray[np.int64], sizes: NDArray[np.int64], largest: int, records: int
) -> GroupSizeTable:
    counts = np.zeros((tree.leaves, largest), np.int64)
    filled = sizes > 0
    np.add.at(counts, (leaf[filled], np.minimum(sizes[filled], largest) - 1), 1)
    remarks = [f"{int(filled.sum()):,} groups were added up from {records:,} records."]
    if empty := int((~filled).sum()):
        remarks.append(f"{empty:,} groups of size 0 are left out.")
    if above := int((sizes > largest).sum()):
        remarks.append(f"{above:,} groups of more than {largest:,} count as groups of {largest:,}.")
    return GroupSizeTable(tree, counts, "Groups by size", tuple(remarks), open_ended=above > 0)


def _read(path: Path, problems: Problems) -> _Records:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import compute  # noqa: PLC0415 - as above

    header = read_header(path)
    missing_columns(header, COLUMNS, _REMEDY)
    users, units, regions, quantities = [], [], [], []
    known: dict[str, int] = {}
    for batch in read_batches(header, ("region", "quantity"), ("user", "unit")):
        users.append(compute.ascii_trim_whitespace(batch.identifiers["user"]))
        units.append(compute.ascii_trim_whitespace(batch.identifiers["unit"]))
        regions.append(_numbered(batch.columns["region"], known))
        quantity, wrong = batch.columns["quantity"].numbers(_whole)
        refuse(
            problems,
            header,
            wrong,
            column="quantity",
            sentence="quantity is not a whole number of 0 or more.",
            remedy="Write 1 for each individual of a group, or the number that the record adds to the size.",
            first=batch.first,
        )
        quantities.append(quantity)
    if not regions:
        problems.add("The table has a header and no row.", "Check that it is the right file.", line=header.line)
        problems.finish()
    numbers = [_encoded(pa.chunked_array(parts)) for parts in (users, units)]
    for name, (texts, index) in zip(("user", "unit"), numbers, strict=True):
        if (blank := texts.index("").as_py()) >= 0:
            remedy = "Give every record its user and its unit."
            refuse(problems, header, index == blank, column=name, sentence=f"{name} is empty.", remedy=remedy)
    return _Records(
        header,
        numbers[0][1],
        numbers[1][1],
        tuple(known),
        np.concatenate(regions),
        np.concatenate(quantities),
    )


def _encoded(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct texts of a column, and which of them stands in each row."""
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it

    encoded = column.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _numbered(column: CodedColumn, known: dict[str, int]) -> NDArray[np.int64]:
    numbers = [known.setdefault(text.strip(), len(known)) for text in column.texts]
    return np.array(numbers, np.int64)[column.index]


def _whole(text: str) -> int | None:
    bare = text.strip()
    if not bare.isascii() or not bare.isdigit() or len(bare) > 9:
        return None
    return min(int(bare), _LARGEST_QUANTITY)


def _refuse_quantities(records: _Records, problems: Problems, largest: int) -> None:
    refuse(
        problems,
        records.header,
        records.quantity > largest,
        column="quantity",
        sentence=f"The record adds more to its group than the limit in the parameters, {largest:,}.",
        remedy="Raise the largest quantity of the parameters (more noise where cumulative sizes are measured), or cut the record.",
    )


def _refuse_regions(records: _Records, problems: Problems, levels: Sequence[str], listed: RegionTree | None) -> None:
    depth = len(levels) - 1
    paths = list(split_paths(records.regions))
    misnamed = np.array([len(parts) != depth or not all(part.strip() for part in parts) for parts in paths])
    known = set(records.regions if listed is None else listed.codes[-1])
    unlisted = np.array([text not in known for text in records.regions]) & ~misnamed
    for wrong, sentence in (
        (misnamed, f"The region does not name {depth} levels ({', '.join(levels[1:])})."),
        (unlisted, f"The region is not in {REGIONS_FILE}."),
    ):
        refuse(
            problems,
            records.header,
            wrong[records.region],
            column="region",
            sentence=sentence,
            remedy=f"Name a region from the widest level down, with {SEPARATOR!r} between.",
        )


def _refuse_units(records: _Records, problems: Problems) -> NDArray[np.int64]:
    """Report units in two regions and users twice in a unit; return the first row of every unit."""
    _, owner = np.unique(records.units, return_index=True)
    refuse(
        problems,
        records.header,
        records.region != records.region[owner][records.units],
        column="region",
        sentence="The unit lies in another region than on its first record.",
        remedy="A group lies in one region.",
    )
    pairs = records.users * (int(records.units.max(initial=0)) + 1) + records.units
    _, first = np.unique(pairs, return_index=True)
    repeated = np.ones(len(pairs), bool)
    repeated[first] = False
    refuse(
        problems,
        records.header,
        repeated,
        column="user",
        sentence="An earlier record has the same user and unit.",
        remedy="Give every user of a unit one record; add their quantities up.",
    )
    return owner.astype(np.int64)


def _read_regions(path: Path, levels: Sequence[str]) -> RegionTree:
    table = TableFile(path, ["region"], "The list of regions needs a column region.")
    texts = table.texts("region", empty=len(levels) == 1)
    table.refuse_repeated("region", "region")
    wrong = np.array([len(text.split(SEPARATOR)) != len(levels) - 1 for text in texts.tolist()]) & (len(levels) > 1)
    table.refuse(
        wrong,
        "region",
        f"The region does not name {len(levels) - 1} levels ({', '.join(levels[1:])}).",
        f"Name a region from the widest level down, with {SEPARATOR!r} between.",
    )
    table.finish()
    return tree_of_paths(levels, list(split_paths(texts.tolist())))


def split_paths(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the codes of paths; the root has none."""
    return (tuple(text.split(SEPARATOR)) if text else () for text in texts)
