"""Reading public block files: one line per block, 16 person cells, any further columns."""

from __future__ import annotations

import csv as plain
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from phexplore.data.blocks.population import BlockPopulation, from_dense
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS = ("hisp", "white", "black", "aian", "asian", "nhpi", "other", "two")
"""Columns of the race and ethnicity groups in the order of the schema ``pl94_reduced16``."""

PLACE_CLASSES = {
    "place": "place",
    "cousub": "cousub",
    "school_dist": "school_dist",
    "secondary_sd": "secondary_sd",
    "aiannh": "aiannh",
    "sldu": "sldu",
    "sldl": "sldl",
    "zcta": "zcta",
}
"""Columns with codes of areas off the spine, by the name of their class."""

_MOST_LISTED = 1000
_LARGEST_COUNT = 10**7


def read_blocks(path: Path) -> BlockPopulation:
    """Read a block file: ``geoid`` (15 digits), ``pop``, ``vap`` and ``pop_G``, ``vap_G`` for the eight groups.

    Args:
        path: CSV, plain or gzip. Further columns are kept where they are area codes and ignored otherwise.

    Raises:
        InputProblemsError: every problem with line and column; nothing is half-loaded.
    """
    table = _table(path)
    columns = _Columns(path, table)
    geoids = columns.texts("geoid")
    columns.refuse(~_are_codes(geoids), "geoid", geoids, "is not a block code of 15 digits")
    order = np.argsort(geoids, kind="stable")
    repeated = np.zeros(len(geoids), bool)
    repeated[order[1:]] = geoids[order[1:]] == geoids[order[:-1]]
    columns.refuse(repeated, "geoid", geoids, "names a block a second time")
    people = {group: columns.counts(f"pop_{group}") for group in GROUPS}
    adults = {group: columns.counts(f"vap_{group}") for group in GROUPS}
    for group in GROUPS:
        too_many = adults[group] > people[group]
        columns.refuse(too_many, f"vap_{group}", adults[group], f"is larger than pop_{group}")
    for name, parts in (("pop", people), ("vap", adults)):
        if name in table.column_names:
            total = columns.counts(name)
            columns.refuse(total != sum(parts.values()), name, total, "is not the sum of its eight groups")
    columns.finish()
    cells = np.stack([people[g] - adults[g] for g in GROUPS] + [adults[g] for g in GROUPS], axis=1)
    places = {kind: columns.texts(name) for name, kind in PLACE_CLASSES.items() if name in table.column_names}
    return from_dense(load_schema("pl94_reduced16"), geoids, cells, places=places)


def _are_codes(texts: NDArray[np.str_]) -> NDArray[np.bool_]:
    return (np.char.str_len(texts) == 15) & np.char.isdigit(texts)  # type: ignore[no-any-return]


class _Columns:
    """Columns of one file; what is wrong with them is collected."""

    def __init__(self, path: Path, table: pa.Table) -> None:
        self._path = path
        self._table = table
        self._issues: list[Issue] = []
        needed = ["geoid", *(f"{kind}_{group}" for kind in ("pop", "vap") for group in GROUPS)]
        missing = [name for name in needed if name not in table.column_names]
        if missing:
            raise InputProblemsError([self._missing(name) for name in missing])

    def _missing(self, name: str) -> Issue:
        return Issue(
            (self._path.name,),
            f"The column {name!r} is missing.",
            "A block file has geoid and pop_, vap_ columns for hisp, white, black, aian, asian, nhpi, other and two.",
            line=1,
        )

    def texts(self, name: str) -> NDArray[np.str_]:
        """Return a column as text, surrounding blanks removed."""
        values = self._table.column(name).to_numpy(zero_copy_only=False).astype("U")
        return np.char.strip(values)

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return a column of whole numbers of 0 or more; others are reported and read as 0."""
        column = pc.utf8_trim_whitespace(self._table.column(name))
        legal = pc.match_substring_regex(column, r"^\d{1,8}(\.0*)?$")
        wrong = ~legal.to_numpy(zero_copy_only=False)
        self.refuse(wrong, name, column.to_numpy(zero_copy_only=False), "is not a whole number of 0 or more")
        whole = pc.replace_substring_regex(pc.if_else(legal, column, "0"), r"\.0*$", "")
        counts: NDArray[np.int64] = pc.cast(whole, "int64").to_numpy()
        self.refuse(counts > _LARGEST_COUNT, name, counts, "is more people than a block can hold")
        return counts

    def refuse(self, wrong: NDArray[np.bool_], name: str, values: NDArray[np.generic], sentence: str) -> None:
        """Report the rows where `wrong` holds."""
        rows = np.flatnonzero(wrong)
        column = self._table.column_names.index(name) + 1
        for row in rows[: max(0, _MOST_LISTED - len(self._issues))].tolist():
            self._issues.append(
                Issue(
                    (self._path.name,),
                    f"{name} {str(values[row])[:40]!r} {sentence}.",
                    "Correct the line, or leave the block out.",
                    line=row + 2,
                    column=column,
                )
            )

    def finish(self) -> None:
        """Raise if anything was wrong."""
        if not len(self._table):
            self._issues.append(Issue((self._path.name,), "The file has no blocks.", "Check that it is the right one."))
        if self._issues:
            raise InputProblemsError(self._issues)


def _table(path: Path) -> pa.Table:
    try:
        content = _unpacked(path)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise _unreadable(path, f"the compressed file is damaged ({error})") from error
    names = _header(path, content)
    try:
        return csv.read_csv(
            io.BytesIO(content),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False, null_values=[]
            ),
        )
    except pa.ArrowInvalid as error:
        raise InputProblemsError(list(_ragged(path, content, len(names), str(error)))) from error


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def _unreadable(path: Path, reason: str) -> InputProblemsError:
    return InputProblemsError([Issue((path.name,), f"The file cannot be read: {reason}.", "Check name and rights.")])


def _header(path: Path, content: bytes) -> list[str]:
    try:
        first = content[:65536].split(b"\n", 1)[0].decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not UTF-8 text") from error
    names = [name.strip().strip('"') for name in first.split(",")]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputProblemsError(
            [
                Issue((path.name,), f"The column {name!r} stands twice.", "Keep one of them.", line=1)
                for name in sorted(repeated)
            ]
        )
    return names


def _ragged(path: Path, content: bytes, width: int, reason: str) -> Iterator[Issue]:
    """Find the lines with another number of fields; the parser names only the first."""
    found = 0
    text = io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")
    for number, row in enumerate(plain.reader(text), start=1):
        if row and len(row) != width and found < _MOST_LISTED:
            found += 1
            yield Issue(
                (path.name,), f"The line has {len(row)} fields, the header {width}.", "Correct the line.", line=number
            )
    if not found:
        yield Issue((path.name,), f"The file is not a comma separated table: {reason[:200]}", "Save it as CSV.")
