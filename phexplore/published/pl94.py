"""Legacy sets of the redistricting data (P.L. 94-171) of 2000, 2010 and 2020: a geographic header and two or three segments.

Facts: ../shared/data/published/NOTES.md, section 2. Headers have fixed columns until 2010 and bars since; segments commas and bars. Lines
belong together by LOGRECNO, which is unique in a state and may have lost its zeros.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.blocks.areas import area_classes, first_filled
from phexplore.data.blocks.delimited import Header, Problems, missing_columns, read_batches, read_head, readable, refuse
from phexplore.data.blocks.layouts import whole
from phexplore.data.blocks.reading import whole_count
from phexplore.published.cells import LEAVES, TABLES, Blocks, Contradiction, cells_of
from phexplore.published.forms import Description, Published, ValueTable
from phexplore.resources import resource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Batch
    from phexplore.data.blocks.population import BlockPopulation

PROTECTED = "The counts are published ones: swapped before 2020, protected by differential privacy in 2020."
_LINES = {"P1": 71, "P2": 73, "P3": 71, "P4": 73, "H1": 3, "P5": 10}
_SEGMENTS = {1: ("P1", "P2"), 2: ("P3", "P4", "H1"), 3: ("P5",)}
_KEYS = ("FILEID", "STUSAB", "CHARITER", "CIFSN", "LOGRECNO")
_PIECE = 20_000
_BLOCK_DIGITS = 15


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(resource("published/pl94.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, eq=False)
class _Areas:
    """The areas of a state's header, ascending by number.

    Attributes:
        numbers: LOGRECNO, ``int64[areas]``.
        levels: ``U[areas]``, "" for summary levels that are left aside.
        codes: public codes, ``U[areas]``.
        names: ``U[areas]``.
        places: codes of areas that blocks lie in, by class, ``U[areas]``.
    """

    numbers: NDArray[np.int64]
    levels: NDArray[np.str_]
    codes: NDArray[np.str_]
    names: NDArray[np.str_]
    places: Mapping[str, NDArray[np.str_]]


@dataclass(frozen=True, slots=True)
class _Set:
    """The files of one state: its header, and its segments by number."""

    state: str
    header: Path
    segments: Mapping[int, Path]


def describe(found: Published) -> Description:
    """Return what the sets hold."""
    levels: Counter[str] = Counter()
    left = 0
    for files in _sets(found):
        areas = _areas(found, files)
        known = areas.levels != ""
        levels.update(areas.levels[known].tolist())
        left += int((~known).sum())
    order = [*dict.fromkeys(_rules()["levels"].values())]
    notes = [PROTECTED]
    if left:
        notes.append(f"{left:,} lines of other summary levels are left aside.")
    return Description(
        found.kind, found.title, dict(sorted(levels.items(), key=lambda each: order.index(each[0]))), tuple(notes)
    )


def population(found: Published, seed: int = 0) -> BlockPopulation:
    """Return people by block: 252 cells exactly, group quarters as P5 says, housing as H1 says.

    Args:
        found: what was recognised.
        seed: of what has to be invented: group quarters, where there is no P5.

    Raises:
        InputProblemsError: the files cannot be read, do not fit together, or hold no blocks.
    """
    sets = _sets(found)
    quarters = all(3 in files.segments for files in sets)
    blocks = Blocks(quarters=quarters)
    places: dict[str, list[NDArray[np.str_]]] = defaultdict(list)
    for files in sets:
        areas = _areas(found, files)
        here = areas.levels == "Block"
        _add(found, files, areas, here, blocks, quarters=quarters)
        for name, codes in areas.places.items():
            places[name].append(codes[here])
    if blocks.empty:
        remedy = "Runs need a set with blocks (summary level 750)."
        raise found.refused("it holds no blocks.", remedy)
    shared = {name: np.concatenate(parts) for name, parts in places.items() if len(parts) == len(sets)}
    filled = {name: codes for name, codes in shared.items() if (codes != "").any()}
    return blocks.population(
        filled, (PROTECTED,), lambda code: found.refused(f"the block {code} stands twice.", "Keep one."), seed
    )


def values(found: Published) -> ValueTable:
    """Return published figures of every area that the sets hold.

    Args:
        found: what was recognised.

    Returns:
        Total, adults, eight groups, and group quarters where they are known.

    Raises:
        InputProblemsError: the files cannot be read or do not fit together.
    """
    sets = _sets(found)
    figures = [each for each in _rules()["summary"] if all(_has(files, each["table"]) for files in sets)]
    parts = []
    for files in sets:
        areas = _areas(found, files)
        known = areas.levels != ""
        counts = {
            name: _table(found, files, name, areas.numbers[known], lines) for name, lines in _by_table(figures).items()
        }
        columns = [counts[each["table"]][:, _by_table(figures)[each["table"]].index(each["line"])] for each in figures]
        parts.append((areas.levels[known], areas.codes[known], areas.names[known], np.stack(columns, axis=1)))
    levels, codes, names, table = (np.concatenate(column) for column in zip(*parts, strict=True))
    named = tuple(each["name"] for each in figures)
    titles = tuple(each["title"] for each in figures)
    return ValueTable(levels, codes, names, named, titles, table.astype(np.float64), remarks=(PROTECTED,))


def _by_table(figures: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = defaultdict(list)
    for each in figures:
        lines[each["table"]].append(each["line"])
    return lines


def _has(files: _Set, table: str) -> bool:
    return next(number for number, tables in _SEGMENTS.items() if table in tables) in files.segments


def _sets(found: Published) -> tuple[_Set, ...]:
    """Return the files of each state.

    Raises:
        InputProblemsError: a header or a segment is missing, or stands twice.
    """
    headers: dict[str, Path] = {}
    segments: dict[str, dict[int, Path]] = defaultdict(dict)
    for part in found.parts:
        line = read_head(part.path).removeprefix(b"\xef\xbb\xbf").splitlines()[0].decode("latin-1")
        fields = line.replace("|", ",").split(",")
        state, number = (
            (fields[1], int(fields[3]))
            if part.layout == "pl94-segment"
            else (fields[1] if "|" in line else line[6:8], 0)
        )
        if part.layout == "pl94-segment" and number not in segments[state]:
            segments[state][number] = part.path
        elif part.layout != "pl94-segment" and state not in headers:
            headers[state] = part.path
        else:
            remedy = "Name the folder or the archive of one set."
            raise found.refused(f"there are two files of one kind for {state}.", remedy, part.path)
    for state in sorted({*headers, *segments}):
        needed = {
            "geographic header": headers.get(state),
            "segment 1": segments[state].get(1),
            "segment 2": segments[state].get(2),
        }
        if lacking := [name for name, path in needed.items() if path is None]:
            remedy = "Name the folder or the archive with the header (…geo….pl) and all segments (…00001…, …00002…)."
            raise found.refused(f"{' and '.join(lacking)} of {state} are missing.", remedy)
    return tuple(_Set(state, headers[state], segments[state]) for state in sorted(headers))


def _add(
    found: Published, files: _Set, areas: _Areas, here: NDArray[np.bool_], blocks: Blocks, *, quarters: bool
) -> None:
    geoids, numbers = areas.codes[here], areas.numbers[here]
    if not len(geoids):
        return
    names = [*TABLES, *(["P5"] if quarters else [])]
    tables = {name: _table(found, files, name, numbers, LEAVES[name]) for name in names}
    housing = (
        _table(found, files, "H1", numbers, LEAVES["H1"]) if _width(files.segments[2]) > len(_KEYS) + 144 else None
    )
    for first in range(0, len(geoids), _PIECE):
        rows = slice(first, first + _PIECE)
        try:
            cells = cells_of({name: tables[name][rows].astype(np.int64) for name in TABLES})
            blocks.add(
                geoids[rows],
                cells,
                tables["P5"][rows].astype(np.int64) if quarters else None,
                None if housing is None else housing[rows].astype(np.int64),
            )
        except Contradiction as error:
            sentence = f"block {geoids[rows][error.row]}: {error.sentence}"
            raise found.refused(sentence, "Fetch the set again.") from error


def _table(
    found: Published, files: _Set, name: str, numbers: NDArray[np.int64], lines: Sequence[int]
) -> NDArray[np.int32]:
    """Return lines of a table for some areas, ``int32[areas, lines]``.

    Args:
        found: what was recognised.
        files: of one state.
        name: of the table.
        numbers: ``numbers[areas]``, LOGRECNO, ascending.
        lines: of the table, from 1.
    """
    segment = next(number for number, tables in _SEGMENTS.items() if name in tables)
    path = files.segments[segment]
    tables = [each for each in _SEGMENTS[segment] for _ in range(_LINES[each])]
    counted = Counter[str]()
    fields = []
    for each in tables:
        counted[each] += 1
        fields.append(f"{each}{counted[each]:03d}")
    names = (*_KEYS, *fields)[: _width(path)]
    header = Header(path, _delimiter(path), names, 0, encoding="latin-1")
    columns = [f"{name}{line:03d}" for line in lines]
    missing_columns(header, columns, "Fetch the set again: the segment has too few fields.")
    table = np.zeros((len(numbers), len(lines)), np.int32)
    seen = np.zeros(len(numbers), bool)
    problems = Problems(path)
    for batch in read_batches(header, ["FILEID", *columns], ["LOGRECNO"]):
        own = _numbers(problems, header, batch)
        at = np.minimum(np.searchsorted(numbers, own), max(len(numbers) - 1, 0))
        wanted = numbers[at] == own if len(numbers) else np.zeros(len(own), bool)
        for place, column in enumerate(columns):
            counts, wrong = batch.columns[column].numbers(whole_count)
            _refuse_counts(problems, header, batch, wrong & wanted, column)
            table[at[wanted], place] = counts[wanted]
        if seen[at[wanted]].any():
            raise found.refused("a line stands twice (LOGRECNO).", "Fetch the set again.", path)
        seen[at[wanted]] = True
    problems.finish()
    if not seen.all():
        sentence = f"{int((~seen).sum()):,} of {len(seen):,} areas of the header have no line in the segment."
        raise found.refused(sentence, "Fetch the set again: it may have been cut off.", path)
    return table


def _refuse_counts(problems: Problems, header: Header, batch: Batch, wrong: NDArray[np.bool_], name: str) -> None:
    column = batch.columns[name]
    refuse(
        problems,
        header,
        wrong,
        column=name,
        sentence=lambda row: f"{name} {column.text(row)[:40]!r} is no count.",
        remedy="Fetch the set again.",
        first=batch.first,
    )


def _numbers(problems: Problems, header: Header, batch: Batch) -> NDArray[np.int64]:
    texts = batch.identifiers["LOGRECNO"].to_pylist()
    found = [whole(text, 7) for text in texts]
    refuse(
        problems,
        header,
        np.array([number is None for number in found], bool),
        column="LOGRECNO",
        sentence=lambda row: f"LOGRECNO {texts[row][:40]!r} is no number of a line.",
        remedy="Fetch the set again.",
        first=batch.first,
    )
    return np.array([-1 if number is None else number for number in found], np.int64)


def _first(path: Path) -> bytes:
    return read_head(path).removeprefix(b"\xef\xbb\xbf").splitlines()[0]


def _delimiter(path: Path) -> str:
    return "|" if b"|" in _first(path) else ","


def _width(path: Path) -> int:
    return _first(path).count(_delimiter(path).encode()) + 1


def _areas(found: Published, files: _Set) -> _Areas:
    """Read the geographic header of a state.

    Raises:
        InputProblemsError: every problem with its line.
    """
    rules = _rules()
    columns: dict[str, list[NDArray[np.str_]]] = defaultdict(list)
    for piece in _piped(files.header) if b"|" in _first(files.header) else _fixed(found, files.header):
        for name, texts in piece.items():
            columns[name].append(texts)
    if not columns:
        raise found.refused("its geographic header is empty.", "Fetch the set again.", files.header)
    raw = {name: np.concatenate(parts) for name, parts in columns.items()}
    kept = np.isin(raw["GEOCOMP"], ["00", ""])
    if not kept.any():
        raise found.refused("its geographic header has no whole areas.", "Fetch the set again.", files.header)
    raw = {name: texts[kept] for name, texts in raw.items()}
    levels = np.array([rules["levels"].get(text, "") for text in raw["SUMLEV"].tolist()] or [""])[: len(raw["SUMLEV"])]
    codes = np.full(len(levels), "", "U20")
    spine = {level: _joined(raw, names) for level, names in rules["spine"].items()}
    blocks = np.char.ljust(spine["Block"], _BLOCK_DIGITS, "0")
    classes = {each.name: each for each in area_classes() if each.present(raw)}
    places = {
        name: each.public(first_filled([raw[column] for column in each.present(raw)]), blocks)
        for name, each in classes.items()
    }
    for level, texts in {**spine, **places}.items():
        rows = levels == level
        codes[rows] = texts[rows]
    numbers = [whole(text, 7) for text in raw["LOGRECNO"].tolist()]
    bad = np.array([number is None for number in numbers], bool)
    bad |= (levels == "Block") & ~(np.char.isdigit(codes) & (np.char.str_len(codes) == _BLOCK_DIGITS))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        sentence = f"the area number {raw['LOGRECNO'][row][:20]!r} has no code: {str(codes[row])[:20]!r}."
        raise found.refused(sentence, "Fetch the set again: its columns are not where they should be.", files.header)
    own = np.array(numbers, np.int64)
    order = np.argsort(own, kind="stable")
    if (own[order][1:] == own[order][:-1]).any():
        raise found.refused("two areas have one number (LOGRECNO).", "Fetch the set again.", files.header)
    return _Areas(
        own[order],
        levels[order],
        codes[order],
        raw["NAME"][order],
        {name: texts[order] for name, texts in places.items()},
    )


def _joined(raw: Mapping[str, NDArray[np.str_]], names: Sequence[str]) -> NDArray[np.str_]:
    texts = raw[names[0]]
    for name in names[1:]:
        texts = np.char.add(texts, raw[name])
    return texts


def _piped(path: Path) -> Iterator[dict[str, NDArray[np.str_]]]:
    fields = tuple(_rules()["pipe"]["fields"])
    header = Header(path, "|", fields, 0, encoding="latin-1")
    wanted = ["SUMLEV", "GEOCOMP", *_rules()["spine"]["Block_Group"]]
    wanted += [column for each in area_classes() for column in each.present(fields)]
    for batch in read_batches(header, wanted, ["LOGRECNO", "BLOCK", "NAME"]):
        texts = {name: column.strings() for name, column in batch.columns.items()}
        yield texts | {
            name: np.char.strip(np.array(column.to_pylist() or [""]))[: batch.rows]
            for name, column in batch.identifiers.items()
        }


def _fixed(found: Published, path: Path) -> Iterator[dict[str, NDArray[np.str_]]]:
    places: Mapping[str, Sequence[int]] = _rules()["fixed"]["uPL" if _first(path).startswith(b"uPL") else "PLST"]
    shortest = max(end for name, (_, end) in places.items() if name == "NAME")
    lines: list[str] = []
    with readable(path) as file:
        for number, content in enumerate(file, start=1):
            line = content.decode("latin-1").rstrip("\r\n")
            if len(line) < shortest and line.strip():
                sentence = f"the line has {len(line)} characters, fewer than its columns."
                raise found.refused(sentence, "Fetch the set again: its blanks belong to it.", path, number)
            if line.strip():
                lines.append(line)
            if len(lines) >= _PIECE:
                yield _cut(lines, places)
                lines = []
    if lines:
        yield _cut(lines, places)


def _cut(lines: Sequence[str], places: Mapping[str, Sequence[int]]) -> dict[str, NDArray[np.str_]]:
    return {name: np.array([line[first:last].strip() for line in lines]) for name, (first, last) in places.items()}
