"""NHGIS privacy-protected 2010 demonstration tables: published values (``_dp``) beside Summary File 1 (``_sf``), at any level.

Wide extracts have a line per area and a pair of columns per value; the first extracts were long, with a line per area and value.
Facts: ../shared/data/published/NOTES.md, section 1. The counts of Summary File 1 were themselves protected by swapping; they stand for
the truth by convention.
"""

from __future__ import annotations

import codecs
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.blocks.delimited import Problems, missing_columns, read_batches, read_header, readable, refuse
from phexplore.data.blocks.reading import whole_count
from phexplore.published.cells import LEAVES, RACES, TABLES, Blocks, Contradiction, cells_of, sixteen, sixteen_names
from phexplore.published.forms import Description, Published, ValueTable
from phexplore.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Batch, Header
    from phexplore.data.blocks.population import BlockPopulation

SIDES = ("dp", "sf")
SWAPPED = "The counts that stand for the truth are those of Summary File 1, which were swapped."
_COLUMN = re.compile(r"([A-Z0-9]{3})(\d{3})_(dp|sf)")
_LINE = re.compile(r"[A-Z0-9]{3}\d{3}")
_EXTRACT = "Take the extract with race by Hispanic origin and voting age (P8 to P11)."
_DESCRIPTIVE = "gis join match code"
"""What a line that describes the columns has in place of an area: extracts may have one below the header."""
_VINTAGE = re.compile(r"ppdd_(\d{8}(?:_\d+-\d+)?)_")


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(resource("published/nhgis.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some rows of a file: levels, public codes and names of the areas, and ``int64[rows, columns]`` of the columns asked for."""

    levels: NDArray[np.str_]
    codes: NDArray[np.str_]
    names: NDArray[np.str_]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One file.

    Attributes:
        header: of the file.
        names: its columns of values, ``H72001_dp``; of a long file, those it would have if it were wide.
        long: the areas of a long file; None for a wide one.
        order: columns of `long`.
    """

    header: Header
    names: frozenset[str]
    long: _Rows | None = None
    order: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Of the file."""
        return self.header.path


def describe(found: Published) -> Description:
    """Return what the tables hold."""
    levels: Counter[str] = Counter()
    notes = [SWAPPED]
    known: list[set[str]] = []
    for path in _paths(found):
        table = _table(found, path)
        for rows in _rows(found, table, ()):
            levels.update(rows.levels.tolist())
        known.append(_tables(table))
        notes += [f"{path.name}: {words}" for words in _vintage(path.name)]
    shared = set.intersection(*known)
    if lacking := [name for name in (*TABLES, "P5") if name not in shared]:
        notes.append(f"The tables {', '.join(lacking)} are missing: {_without(lacking)}.")
    order = [*_rules()["levels"].values()]
    ordered = dict(sorted(levels.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))
    return Description(found.kind, found.title, ordered, tuple(dict.fromkeys(notes)), {"tables": sorted(shared)})


def population(found: Published, seed: int = 0) -> BlockPopulation:
    """Return the counts of Summary File 1 by block.

    Args:
        found: what was recognised.
        seed: of what has to be invented: group quarters, where no table says them.

    Raises:
        InputProblemsError: the files cannot be read, hold no blocks, or lack the tables that make cells.
    """
    files = _of_one_vintage(found)
    shared = set.intersection(*map(_tables, files))
    further = [name for name in ("P5", "H1") if name in shared]
    blocks = Blocks(quarters="P5" in further)
    lines = {
        name: [f"{_rules()['tables'][name]}{line:03d}_sf" for line in LEAVES[name]] for name in (*TABLES, *further)
    }
    for table in files:
        if lacking := [name for name in TABLES if name not in _tables(table)]:
            raise found.refused(
                f"the tables {', '.join(lacking)} are missing: {_without(lacking)}.", _EXTRACT, table.path, 1
            )
        for rows in _rows(found, table, [column for columns in lines.values() for column in columns]):
            _add(found, blocks, rows, list(lines))
    if blocks.empty:
        remedy = "Runs need the file of blocks, nhgis_ppdd_<vintage>_block_<state>; this one shows published errors."
        raise found.refused("it holds no blocks.", remedy)
    return blocks.population(
        {}, (SWAPPED,), lambda code: found.refused(f"the block {code} stands twice.", "Keep one."), seed
    )


def _add(found: Published, blocks: Blocks, rows: _Rows, tables: Sequence[str]) -> None:
    here = rows.levels == "Block"
    if not here.any():
        return
    widths = np.cumsum([len(LEAVES[name]) for name in tables])[:-1]
    parts = dict(zip(tables, np.split(rows.counts, widths, axis=1), strict=True))
    cells = _cells(found, rows, rows.counts)
    further = [parts[name][here] if name in parts else None for name in ("P5", "H1")]
    try:
        blocks.add(rows.codes[here], cells[here], *further)
    except Contradiction as error:
        sentence = f"block {rows.codes[here][error.row]}: {error.sentence}"
        raise found.refused(sentence, "Fetch the file again.") from error


def values(found: Published, form: str = "summary") -> ValueTable:
    """Return published and true values side by side.

    Args:
        found: what was recognised.
        form: ``summary`` (total, adults, eight groups, group quarters, as far as the tables of all files go), ``cells16`` (people by
            voting age and group), or ``cells252`` (by voting age, Hispanic origin and race).

    Raises:
        InputProblemsError: the files cannot be read, or lack the tables.
    """
    files = _of_one_vintage(found)
    figures = _figures(found, files) if form == "summary" else []
    names = tuple(each["name"] for each in figures) if figures else _CELL_NAMES[form]()
    parts = [
        (rows, [_formed(form, found, rows, side) for side in np.split(rows.counts, len(SIDES), axis=1)])
        for table in files
        for rows in _rows(found, table, [f"{line}_{side}" for side in SIDES for line in _lines(table, figures)])
    ]
    if not parts:
        raise found.refused("it holds no areas.", "Take a file with lines below its header.")
    published, true = (np.concatenate([sides[side] for _, sides in parts]).astype(np.float64) for side in range(2))
    return ValueTable(
        np.concatenate([rows.levels for rows, _ in parts]),
        np.concatenate([rows.codes for rows, _ in parts]),
        np.concatenate([rows.names for rows, _ in parts]),
        names,
        tuple(each["title"] for each in figures) or names,
        published,
        true,
        remarks=(SWAPPED,),
    )


_CELL_NAMES: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "cells16": sixteen_names,
    "cells252": lambda: tuple(str(cell) for cell in range(252)),
}


def _figures(found: Published, files: Sequence[_Table]) -> list[Mapping[str, Any]]:
    """Return the figures of the summary that every file has."""
    figures = [
        figure
        for figure in _rules()["summary"]
        if all(any(f"{line}_dp" in table.names for line in figure["lines"]) for table in files)
    ]
    if not figures:
        raise found.refused("it has no table that is known.", "Take the extract with the tables P1 to P12 and P42.")
    return figures


def _lines(table: _Table, figures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns, without the side, of some figures, or of the four tables of cells."""
    if figures:
        return [next(line for line in each["lines"] if f"{line}_dp" in table.names) for each in figures]
    return [f"{_rules()['tables'][name]}{line:03d}" for name in TABLES for line in LEAVES[name]]


def _formed(form: str, found: Published, rows: _Rows, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    if form == "summary":
        return counts
    cells = _cells(found, rows, counts)
    return (sixteen(cells) if form == "cells16" else cells).reshape(len(counts), -1)


def _cells(found: Published, rows: _Rows, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    try:
        return cells_of(dict(zip(TABLES, np.split(counts[:, : 4 * RACES], 4, axis=1), strict=True)))
    except Contradiction as error:
        raise found.refused(
            f"{rows.levels[error.row]} {rows.codes[error.row]}: {error.sentence}", "Fetch the file again."
        ) from error


def _paths(found: Published) -> tuple[Path, ...]:
    return found.of("nhgis-wide", "nhgis-long")


def _of_one_vintage(found: Published) -> list[_Table]:
    paths = _paths(found)
    vintages = sorted({match[1] for path in paths if (match := _VINTAGE.search(path.name))})
    if len(vintages) > 1:
        raise found.refused(
            f"the files are of several vintages: {', '.join(vintages)}.", "Name the files of one of them."
        )
    return [_table(found, path) for path in paths]


def _table(found: Published, path: Path) -> _Table:
    header = _header(path)
    if path in found.of("nhgis-wide"):
        return _Table(header, frozenset(header.names))
    rows, order = _pivoted(header)
    return _Table(header, frozenset(order), rows, order)


def _header(path: Path) -> Header:
    """Return the header; some files of NHGIS are Latin-1, which only their names show."""
    header = read_header(path)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with readable(path) as file:
            while piece := file.read(1 << 20):
                decoder.decode(piece)
    except UnicodeDecodeError:
        return replace(header, encoding="latin-1")
    return header


def _tables(table: _Table) -> set[str]:
    codes = {match[1] for name in table.names if (match := _COLUMN.fullmatch(name))}
    return {name for name, code in _rules()["tables"].items() if code in codes} | {
        code for code in codes if code not in _rules()["tables"].values()
    }


def _without(lacking: Sequence[str]) -> str:
    if set(lacking) & set(TABLES):
        return "people by race, Hispanic origin and voting age cannot be made of them"
    return "nobody is known to live in group quarters"


def _vintage(name: str) -> Iterator[str]:
    for vintage, words in _rules()["vintages"].items():
        if vintage in name:
            yield f"made from {words}."


def _rows(found: Published, table: _Table, columns: Sequence[str]) -> Iterator[_Rows]:
    """Yield the areas of a file piece by piece.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    if lacking := [name for name in columns if name not in table.names]:
        sentence = f"the columns {', '.join(lacking[:5])} … are missing."
        raise found.refused(sentence, _EXTRACT, table.path, table.header.line)
    if table.long is None:
        yield from _wide(table.header, columns)
    else:
        yield replace(table.long, counts=table.long.counts[:, [table.order.index(name) for name in columns]])


def _wide(header: Header, columns: Sequence[str]) -> Iterator[_Rows]:
    """Yield the areas of a wide file; lines of commas only, and one that describes the columns, are left out."""
    texts = _texts(header)
    problems = Problems(header.path)
    for batch in read_batches(header, columns, texts):
        joins, levels, codes, here = _identified(problems, header, batch, texts[0])
        counts = _counts(problems, header, batch, columns, here)
        names = (
            np.array(batch.identifiers[texts[1]].to_pylist() or [""])[: batch.rows]
            if len(texts) > 1
            else np.full(len(joins), "")
        )
        yield _Rows(levels[here], codes[here], names[here], counts[here])
        problems.finish()
    problems.finish()


def _texts(header: Header) -> list[str]:
    """Return the columns of identifiers and of names; long files may have the names of either side."""
    names = {name.lower(): name for name in header.names}
    own = next((names[name] for name in ("name", "name_sf", "name_dp") if name in names), None)
    return [names["gisjoin"], *([own] if own is not None else [])]


def _identified(
    problems: Problems, header: Header, batch: Batch, identifier: str
) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Return identifiers, levels and public codes of some lines, and which lines hold an area."""
    joins = np.array([text.strip() for text in batch.identifiers[identifier].to_pylist()] or [""])[: batch.rows]
    here = (joins != "") & (np.char.lower(joins) != _DESCRIPTIVE)
    levels, codes, wrong = _areas(joins, header.path.name)
    refuse(
        problems,
        header,
        wrong & here,
        column=identifier,
        sentence=lambda row: f"The area {str(joins[row])[:40]!r} is no identifier of NHGIS (gisjoin).",
        remedy="Take the file as it was downloaded; spreadsheets change codes.",
        first=batch.first,
    )
    return joins, levels, codes, here


def _pivoted(header: Header) -> tuple[_Rows, tuple[str, ...]]:
    """Return the areas of a long file with a column per value and side, in the order ``H72001_dp`` … ``H72001_sf`` ….

    Raises:
        InputProblemsError: every problem with line and column; a value that stands twice, or that an area lacks and others have.
    """
    missing_columns(header, ("var_code", *SIDES), _EXTRACT)
    texts = _texts(header)
    problems = Problems(header.path)
    found: dict[str, tuple[str, str, str]] = {}
    lines: dict[str, int] = {}
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    places: dict[str, int] = {}  # of `found`
    for batch in read_batches(header, ["var_code", *SIDES], texts):
        joins, levels, codes, here = _identified(problems, header, batch, texts[0])
        variables = batch.columns["var_code"]
        own = np.array([_LINE.fullmatch(text.strip().upper()) is not None for text in variables.texts] or [False])
        refuse(
            problems,
            header,
            ~own[variables.index] & here,
            column="var_code",
            sentence=lambda row, of=variables: f"var_code {of.text(row)[:40]!r} is no line of a table of NHGIS.",  # type: ignore[misc]
            first=batch.first,
        )
        counts = _counts(problems, header, batch, SIDES, here)
        problems.finish()
        for row in np.unique(joins, return_index=True)[1].tolist():
            if here[row] and joins[row] not in found:
                name = batch.identifiers[texts[1]][row].as_py().strip() if len(texts) > 1 else ""
                found[str(joins[row])] = (str(levels[row]), str(codes[row]), name)
                places[str(joins[row])] = len(places)
        named = zip((text.strip().upper() for text in variables.texts), own.tolist(), strict=False)
        of_text = [lines.setdefault(text, len(lines)) if known else 0 for text, known in named]
        rows = np.flatnonzero(here)
        area = np.array([places[join] for join in joins[rows].tolist()], np.int64)
        parts.append((area, np.array(of_text or [0])[variables.index[rows]], counts[rows]))
    problems.finish()
    area, line, counts = (np.concatenate(column) for column in zip(*parts, strict=True)) if parts else _NO_LINES
    table = np.full((len(found), len(lines), len(SIDES)), -1, np.int64)
    table[area, line] = counts
    if len(area) != len(found) * len(lines) or table.min(initial=0) < 0:
        number = np.bincount(area * len(lines) + line, minlength=len(found) * len(lines))
        at = int(np.flatnonzero(number != 1)[0])
        place, value = list(found)[at // len(lines)], list(lines)[at % len(lines)]
        times = "lacks it" if number[at] == 0 else f"has it {number[at]} times"
        problems.add(f"Of {value}, every area has one line; {place} {times}.", "Fetch the file again.")
        problems.finish()
    levels, codes, names = (np.array([each[place] for each in found.values()], np.str_) for place in range(3))
    order = tuple(f"{name}_{side}" for side in SIDES for name in lines)
    flat = table.transpose(0, 2, 1).reshape(len(found), len(SIDES) * len(lines))
    return _Rows(levels, codes, names, flat), order


_NO_LINES = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, len(SIDES)), np.int64))


def _counts(
    problems: Problems, header: Header, batch: Batch, columns: Sequence[str], here: NDArray[np.bool_]
) -> NDArray[np.int64]:
    table = np.zeros((batch.rows, len(columns)), np.int64)
    for place, name in enumerate(columns):
        column = batch.columns[name]
        table[:, place], wrong = column.numbers(whole_count)
        refuse(
            problems,
            header,
            wrong & here,
            column=name,
            sentence=lambda row, of=name, column=column: f"{of} {column.text(row)[:40]!r} is no count.",  # type: ignore[misc]
            first=batch.first,
        )
    return table


def _areas(joins: NDArray[np.str_], name: str) -> tuple[NDArray[np.str_], NDArray[np.str_], NDArray[np.bool_]]:
    """Return level and public code of identifiers, and where there is none.

    Args:
        joins: ``joins[rows]``, as the file has them.
        name: of the file, which tells levels with codes of one length apart.
    """
    rules = _rules()
    named = next((level for word, level in rules["level_names"].items() if f"_{word}" in name), None)
    levels, codes = np.full(len(joins), "", "U16"), np.full(len(joins), "", "U20")
    wrong = ~np.char.startswith(joins, "G")
    for length in np.unique(np.char.str_len(joins)).tolist():
        rows = np.flatnonzero(np.char.str_len(joins) == length)
        level = rules["levels"].get(str(length), named or "other")
        levels[rows] = named if named and level not in _SPINE else level
        bare = [text[1:] for text in joins[rows].tolist()]
        codes[rows] = [_public(text, length) for text in bare]
        wrong[rows] |= [not _is_legal(text, length) for text in bare]
    return levels, codes, wrong


_SPINE = {"State", "County", "Tract", "Block_Group", "Block"}
_WITH_COUNTY, _WITH_STATE = {8, 13, 14, 15, 18}, {4, 9}


def _public(text: str, length: int) -> str:
    """Return a code without the fillers behind state and county."""
    if length in _WITH_COUNTY:
        return text[:2] + text[3:6] + text[7:]
    return text[:2] + text[3:] if length in _WITH_STATE else text


def _is_legal(text: str, length: int) -> bool:
    fillers = text[2:3] + text[6:7] if length in _WITH_COUNTY else text[2:3] if length in _WITH_STATE else ""
    return text.isalnum() and text.isascii() and set(fillers) <= {"0"}
