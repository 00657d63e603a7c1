"""The compiled inner loops of the PHSafe tabulation. They know look-up tables, not tables of the S-DHC.

They carry out `phsafe_count` (PHSafe paper, Algorithms 1-3).

All person tables are counted in one pass over the persons. Counts go to one flat ``int64`` array that holds, for every
table one after the other, ``[state, group, atom]`` (atoms: see `phexplore.data.classification`). A record is one
``uint32``: class << 16 | group << 8 | state, the state only for units.

The loops take plain arrays: numba counts references of arrays inside tuples at every access, which took several times
as long as the counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.compiled import kernel

STATE_SLOTS = 100
"""Places for states in every count array: one per two-digit FIPS code."""

LARGEST_SIZE = 1000
"""Households are counted by size up to here; the last place also takes larger ones."""

LANE_BITS = 10
"""Width of one counter of household sizes; six of them share a 64-bit word."""

LANE_FULL = 1 << (LANE_BITS - 1)
"""A lane that has reached this is full: no threshold is that large, and the next lane must stay untouched."""

_LANES = 64 // LANE_BITS
_LANE_MASK = (1 << LANE_BITS) - 1
_ANY_LANE_FULL = np.uint64(sum(LANE_FULL << (LANE_BITS * lane) for lane in range(_LANES)))

NOBODY, HOUSEHOLDER, PERSON = 0, 1, 2
"""Whose race and Hispanic origin decide the group of a table's records."""

Array = NDArray[Any]


def lane_words(person_in: Array) -> NDArray[np.uint64]:
    """Return the lanes of `count_persons` for every person class: ``uint64[person classes, words]``.

    Args:
        person_in: ``bool[person classes, tables]``.
    """
    lanes = np.zeros((len(person_in), -(-person_in.shape[1] // _LANES)), np.uint64)
    for table in range(person_in.shape[1]):
        lane = np.uint64(1 << (LANE_BITS * (table % _LANES)))
        lanes[:, table // _LANES] += person_in[:, table].astype(np.uint64) * lane
    return lanes


@kernel
def sum_summands(codes: Array, summands: Array, index: Array) -> None:
    """Add the summand of every code to a record's grid index, see `CodeClasses`.

    Args:
        codes: ``codes[n]``, one attribute of every record.
        summands: ``summands[codes]``, of each code of the attribute.
        index: ``index[n]``, changed.
    """
    for row in range(len(codes)):
        index[row] += summands[codes[row]]


@kernel
def write_records(
    class_of: Array, index: Array, group_of: Array, group_summands: Array, race: Array, hispanic: Array, record: Array
) -> None:
    """Write class << 16 | group << 8 of every record; see `CodeClasses` and `Groups`.

    Args:
        class_of: ``class_of[grid]``, class of each grid index.
        index: ``index[n]``, grid index of every record.
        group_of: ``group_of[grid]``, group of each sum of group summands.
        group_summands: ``group_summands[2, codes]``, of race and of Hispanic origin.
        race: ``race[n]``, code of every record.
        hispanic: ``hispanic[n]``, code of every record.
        record: ``record[n]``, receives the packed records.
    """
    for row in range(len(index)):
        group = group_of[group_summands[0, race[row]] + group_summands[1, hispanic[row]]]
        record[row] = (np.int64(class_of[index[row]]) << 16) | (np.int64(group) << 8)


@kernel
def gather_neighbours(mafid: Array, records: Array, near_mafid: Array, near_records: Array) -> None:
    """Copy persons so that MAFIDs of one range stand together: the units of a range stay in the cache while counted.

    Args:
        mafid: ``int64[n]``, n > 0.
        records: ``uint32[n]``.
        near_mafid: ``int64[n]``, written.
        near_records: ``uint32[n]``, written.
    """
    least, most = mafid[0], mafid[0]
    for person in range(len(mafid)):
        least, most = min(least, mafid[person]), max(most, mafid[person])
    shift = 0
    while ((most - least) >> shift) >= 256:
        shift += 1
    following = np.zeros(257, np.int64)
    for person in range(len(mafid)):
        following[((mafid[person] - least) >> shift) + 1] += 1
    for part in range(256):
        following[part + 1] += following[part]
    for person in range(len(mafid)):
        part = (mafid[person] - least) >> shift
        near_mafid[following[part]] = mafid[person]
        near_records[following[part]] = records[person]
        following[part] += 1


@kernel
def count_persons(  # noqa: PLR0913, PLR0917 - plain arrays, see above
    rows: Array,
    persons: Array,
    units: Array,
    following: Array,
    atoms: Array,
    places: Array,
    counts: Array,
    lanes: Array,
    sizes: Array,
) -> None:
    """Count every person whose MAFID belongs to one located unit, and the sizes of all households, untruncated.

    Args:
        rows: ``int32[n]``: first located unit of each person, -1 for none.
        persons: ``uint32[n]`` records.
        units: ``uint32[located units]`` records.
        following: ``int32[located units]``: next unit with the same MAFID, empty when none repeats.
        atoms: ``int16[unit classes, person classes, sources]``: joint atom of all tables with one source of the group.
        places: ``int64[4, sources]``: source (`NOBODY`, `HOUSEHOLDER` or `PERSON`), first place in the flat counts,
            groups per state, joint atoms per group.
        counts: ``int32[places]``, added to.
        lanes: ``uint64[person classes, words]``: 1 in the lane of every table whose universe takes the person.
        sizes: ``uint64[located units, words]``, added to: persons of the MAFID per table, `LANE_BITS` bits each; a
            word stops growing when a lane reaches `LANE_FULL`. Kept at the first unit of a MAFID. Zero words: not
            wanted.
    """
    sources = places.shape[1]
    repeats = len(following) > 0
    words = sizes.shape[1]
    for person in range(len(rows)):
        row = rows[person]
        if row < 0:
            continue
        code = np.int64(persons[person])
        person_class, person_group = code >> 16, (code >> 8) & 0xFF
        for word in range(words):
            if sizes[row, word] & _ANY_LANE_FULL == 0:
                sizes[row, word] += lanes[person_class, word]
        if repeats and following[row] >= 0:
            continue
        unit = np.int64(units[row])
        unit_class, unit_group, state = unit >> 16, (unit >> 8) & 0xFF, unit & 0xFF
        for source in range(sources):
            kind = places[0, source]
            group = unit_group if kind == 1 else person_group if kind == 2 else 0
            atom = atoms[unit_class, person_class, source]
            counts[places[1, source] + (state * places[2, source] + group) * places[3, source] + atom] += 1


@kernel
def exceeding_households(sizes: Array, thresholds: Array) -> Array:
    """Return which located units have more persons than a threshold of some table: ``bool[located units]``.

    Args:
        sizes: ``uint64[located units, words]`` from `count_persons`; a full lane exceeds every threshold.
        thresholds: ``int64[tables]``.
    """
    exceeding = np.zeros(len(sizes), np.bool_)
    for row in range(len(sizes)):
        for table in range(len(thresholds)):
            word = sizes[row, table // _LANES]
            size = np.int64((word >> np.uint64(LANE_BITS * (table % _LANES))) & np.uint64(_LANE_MASK))
            exceeding[row] |= size > thresholds[table] or word & _ANY_LANE_FULL != 0
    return exceeding


@kernel
def count_sizes(
    units: Array, following: Array, unit_in: Array, sizes: Array, exceeding: Array, households: Array
) -> None:
    """Count the households that exceed no threshold by the number of their persons a table would count.

    Args:
        units: ``uint32[located units]`` records.
        following: as in `count_persons`.
        unit_in: ``bool[unit classes, tables]``.
        sizes: ``uint64[located units, words]`` from `count_persons`.
        exceeding: ``bool[located units]``: left out.
        households: ``int64[tables, LARGEST_SIZE + 1]``, added to.
    """
    repeats = len(following) > 0
    for row in range(len(sizes)):
        if exceeding[row]:
            continue
        for table in range(len(households)):
            word = sizes[row, table // _LANES]
            size = np.int64((word >> np.uint64(LANE_BITS * (table % _LANES))) & np.uint64(_LANE_MASK))
            if size == 0:
                continue
            matches = 0
            other = row
            while other >= 0:
                matches += unit_in[np.int64(units[other]) >> 16, table]
                other = following[other] if repeats else -1
            if matches == 1:
                households[table, size] += 1


@kernel
def count_units(
    units: Array, atoms: Array, weights: Array, weighted: Array, places: Array, counts: Array, records: Array
) -> None:
    """Count or sum every located unit in every unit table.

    Args:
        units: ``uint32[located units]`` records.
        atoms: ``int8[unit classes, tables]``.
        weights: ``int32[located units]``: the summed column.
        weighted: ``bool[tables]``: sum the weights instead of counting.
        places: as in `count_persons`.
        counts: ``int64[places]``, added to.
        records: ``int64[places]``, added to: plain counts, also of weighted tables.
    """
    for row in range(len(units)):
        unit = np.int64(units[row])
        for table in range(atoms.shape[1]):
            atom = atoms[unit >> 16, table]
            if atom >= 0:
                group = (unit >> 8) & 0xFF if places[0, table] == 1 else 0
                place = places[1, table] + ((unit & 0xFF) * places[2, table] + group) * places[3, table] + atom
                counts[place] += weights[row] if weighted[table] else 1
                records[place] += 1
