"""Reading the 1940 full count (IPUMS extract): household records H and person records P, fixed width or bar-delimited.

The schema is ``census_1940``, the leaves are enumeration districts. Recodes are those of the 2010 demonstration code
(formats, section 6), with the race codes 1 to 6 put on the schema's levels 0 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.census_1940_layout import GEOCODE_FIELDS, H_FIELDS, P_FIELDS, YEAR, Field, H, P, Record
from phexplore.data.blocks.delimited import Problems, read_head, readable
from phexplore.data.blocks.geocodes import ENUMERATION_DISTRICTS_1940
from phexplore.data.blocks.layouts import VALID_STATES
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Letters = NDArray[np.uint8]
    Integers = NDArray[np.int64]

CHUNK_BYTES = 1 << 26
OLDEST, TOP_AGE = 120, 115
QUARTERS_TYPES = 8


# GQTYPE 1 and 5 do not occur in 1940; 9 is "other or unknown", which also marks ordinary households.
_QUARTERS = np.array([0, -1, 1, 2, 3, -1, 4, 5, 6, 7])
_HOUSEHOLD_GQ = (1, 2, 5)
_CITIZENS = (0, 1, 2)


def looks_like_1940(head: bytes) -> bool:
    """Return whether a file begins like the 1940 extract: a record H or P of the year 1940."""
    first = head.lstrip(b"\r\n").split(b"\n", 1)[0]
    return first[:1] in {b"H", b"P"} and first[1:].lstrip(b"|")[:4] == b"1940"


def other_year(head: bytes) -> str:
    """Return the year of an extract that begins with a record H or P of another year, "" where there is none."""
    found = re.match(rb"[HP]\|?(1[89]\d\d|20\d\d)[|\d]{6}", head.lstrip(b"\r\n"))
    return found[1].decode() if found and not looks_like_1940(head) else ""


def read_census_1940(path: Path) -> BlockPopulation:
    """Read the 1940 full count or a part of it, plain or gzip, H before or after their P.

    The geocode of a district is STATEFIP 2 + COUNTY 4 + SUPDIST 3 + ENUMDIST 4 characters, blanks read as 0. Facilities are
    the records H by type: households first.

    Raises:
        InputProblemsError: every problem with line and column (of characters, or of values between bars).
    """
    problems = Problems(path)
    delimited = b"|" in read_head(path).lstrip(b"\r\n").split(b"\n", 1)[0]
    households: list[_Households] = []
    persons: list[_Persons] = []
    for chunk in _chunks(path, problems, delimited=delimited):
        households.append(_read_households(chunk, problems))
        persons.append(_read_persons(chunk, problems))
    problems.finish()
    if not any(len(part.serial) for part in persons):
        problems.add("The file has no person records.", "Records P hold the persons.", line=1)
    problems.finish()
    return _population(problems, households, persons)


@dataclass(frozen=True, slots=True, eq=False)
class _Households:
    """Records H: serial number, quarters type, district as 13 letters, line."""

    serial: Integers
    quarters: Integers
    district: NDArray[np.bytes_]
    line: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Persons:
    """Records P: serial number of the household, cell without the quarters type, line."""

    serial: Integers
    cell: Integers
    line: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Whole lines of a file.

    Attributes:
        letters: all bytes.
        starts: first byte of each line.
        ends: byte behind each line.
        first_line: number of the first line, from 1.
        bars: bytes that are bars; None where the file has fixed width.
    """

    letters: Letters
    starts: Integers
    ends: Integers
    first_line: int
    bars: Integers | None

    def of(self, record: Record, problems: Problems) -> Integers:
        """Return the lines of a kind of record; those too short for it are reported."""
        chosen = np.flatnonzero((self.ends > self.starts) & (self.letters[self.starts] == ord(record.letter)))
        if self.bars is None:
            length, needed, word = (self.ends - self.starts)[chosen], record.characters, "characters"
            wrong = length < needed
        else:
            length = 1 + (np.searchsorted(self.bars, self.ends) - np.searchsorted(self.bars, self.starts))[chosen]
            needed, word = record.values, "values"
            wrong = length != needed
        for place in np.flatnonzero(wrong)[: problems.room(int(wrong.sum()))].tolist():
            problems.add(
                f"The record {record.letter} has {length[place]} {word}, not {needed}.",
                "An unfinished last line means the file was cut off.",
                line=self.first_line + int(chosen[place]),
                column=int(length[place]),
            )
        return chosen[~wrong]

    def letters_of(self, lines: Integers, field: Field) -> Letters:
        """Return the characters of a field, ``uint8[lines, width]``, right-aligned, blanks in front."""
        width = field.last - field.first
        if self.bars is None:
            first = self.starts[lines] + field.first
            last = self.starts[lines] + field.last
        else:
            base = np.searchsorted(self.bars, self.starts[lines]) + field.place
            first = self.bars[base - 1] + 1
            behind = np.append(self.bars, np.iinfo(np.int64).max)[base]
            last = np.minimum(behind, self.ends[lines])
        at = last[:, None] - np.arange(width, 0, -1)
        inside = at >= first[:, None]
        return np.where(inside, self.letters[np.maximum(at, 0)], ord(" ")).astype(np.uint8)

    def column(self, field: Field) -> int:
        """Return where a reader should look."""
        return field.first + 1 if self.bars is None else field.place + 1


def _chunks(path: Path, problems: Problems, *, delimited: bool) -> Iterator[_Chunk]:
    line, rest = 1, b""
    with readable(path) as file:
        while content := file.read(CHUNK_BYTES):
            content = rest + content
            cut = content.rfind(b"\n") + 1
            content, rest = content[:cut], content[cut:]
            if content:
                chunk = _split(content, line, delimited=delimited)
                _refuse_other_records(chunk, problems)
                line += len(chunk.starts)
                yield chunk
    if rest:
        chunk = _split(rest + b"\n", line, delimited=delimited)
        _refuse_other_records(chunk, problems)
        yield chunk


def _split(content: bytes, first_line: int, *, delimited: bool) -> _Chunk:
    letters = np.frombuffer(content, np.uint8)
    breaks = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate([[0], breaks[:-1] + 1]).astype(np.int64)
    returns = (breaks > starts) & (letters[np.maximum(breaks - 1, 0)] == ord("\r"))
    bars = np.flatnonzero(letters == ord("|")) if delimited else None
    return _Chunk(letters, starts, breaks - returns, first_line, bars)


def _refuse_other_records(chunk: _Chunk, problems: Problems) -> None:
    known = np.isin(chunk.letters[chunk.starts], [ord(H.letter), ord(P.letter)])
    wrong = np.flatnonzero(~known & (chunk.ends > chunk.starts))
    for place in wrong[: problems.room(len(wrong))].tolist():
        problems.add(
            "The line does not begin with H or P.",
            "Every line is a household record H or a person record P.",
            line=chunk.first_line + place,
            column=1,
        )


class _Reader:
    """Reads the fields of some records; a record is reported once."""

    def __init__(self, chunk: _Chunk, lines: Integers, problems: Problems) -> None:
        self._chunk = chunk
        self._lines = lines
        self._problems = problems
        self._bad = np.zeros(len(lines), bool)

    @property
    def line(self) -> Integers:
        """The number of each record's line."""
        return self._chunk.first_line + self._lines

    def number(self, field: Field) -> Integers:
        """Return a field as whole numbers of 0 or more, blanks in front allowed."""
        letters = self._chunk.letters_of(self._lines, field)
        blank = letters == ord(" ")
        values = np.where(blank, 0, letters.astype(np.int64) - ord("0"))
        wrong = (values < 0) | (values > 9)
        wrong[:, 1:] |= blank[:, 1:] & ~blank[:, :-1]
        self.refuse(np.any(wrong, axis=1) | blank[:, -1], field, "is not a number")
        powers = 10 ** np.arange(values.shape[1] - 1, -1, -1)
        numbers: Integers = np.clip(values, 0, 9) @ powers
        return numbers

    def text(self, field: Field) -> Letters:
        """Return a field as characters, blanks read as 0; other than letters and digits are reported."""
        letters = self._chunk.letters_of(self._lines, field)
        filled = np.where(letters == ord(" "), ord("0"), letters).astype(np.uint8)
        upper = np.where((filled >= ord("a")) & (filled <= ord("z")), filled - 32, filled)
        digit = (upper >= ord("0")) & (upper <= ord("9"))
        capital = (upper >= ord("A")) & (upper <= ord("Z"))
        self.refuse(np.any(~(digit | capital), axis=1), field, "is not a code of letters and digits")
        return filled

    def within(self, field: Field, values: Integers, low: int, high: int) -> None:
        """Report values outside a range."""
        self.refuse((values < low) | (values > high), field, f"does not lie between {low} and {high}")

    def refuse(self, wrong: NDArray[np.bool_], field: Field, sentence: str) -> None:
        """Report the records where `wrong` holds and that were not reported before."""
        rows = np.flatnonzero(wrong & ~self._bad)
        self._bad |= wrong
        listed = rows[: self._problems.room(len(rows))]
        for row in listed.tolist():
            self._problems.add(
                f"{field.name} {sentence}.",
                "Correct the line, or leave the household out.",
                line=int(self.line[row]),
                column=self._chunk.column(field),
            )


def _read_households(chunk: _Chunk, problems: Problems) -> _Households:
    lines = chunk.of(H, problems)
    reader = _Reader(chunk, lines, problems)
    year, serial, gq, gqtype = (reader.number(field) for field in H_FIELDS)
    reader.within(H_FIELDS[0], year, YEAR, YEAR)
    quarters = _QUARTERS[gqtype]
    reader.refuse(quarters < 0, H_FIELDS[3], "does not occur in 1940")
    quarters = np.where((gqtype == 9) & np.isin(gq, _HOUSEHOLD_GQ), 0, quarters)
    reader.refuse(
        ~np.isin(reader.number(GEOCODE_FIELDS[0]), sorted(VALID_STATES)),
        GEOCODE_FIELDS[0],
        "is not the code of a state",
    )
    letters = np.concatenate([reader.text(field) for field in GEOCODE_FIELDS], axis=1)
    width = ENUMERATION_DISTRICTS_1940.public_length
    return _Households(serial, quarters, np.ascontiguousarray(letters).view(f"S{width}").reshape(-1), reader.line)


def _read_persons(chunk: _Chunk, problems: Problems) -> _Persons:
    reader = _Reader(chunk, chunk.of(P, problems), problems)
    serial, sex, age, race, hispanic, citizen = (reader.number(field) for field in P_FIELDS)
    for place, values, low, high in (
        (1, sex, 1, 2),
        (2, age, 0, OLDEST),
        (3, race, 1, 6),
        (4, hispanic, 0, 4),
        (5, citizen, 0, 4),
    ):
        reader.within(P_FIELDS[place], values, low, high)
    levels = (
        np.clip(sex - 1, 0, 1),
        np.minimum(age, TOP_AGE),
        (hispanic > 0).astype(np.int64),
        np.clip(race - 1, 0, 5),
        np.isin(citizen, _CITIZENS).astype(np.int64),
    )
    cell = np.zeros(len(serial), np.int64)
    for level, width in zip(levels, load_schema("census_1940").shape[1:], strict=True):
        cell = cell * width + level
    return _Persons(serial, cell, reader.line)


def _population(problems: Problems, households: list[_Households], persons: list[_Persons]) -> BlockPopulation:
    schema = load_schema("census_1940")
    serial, quarters, district, line = (
        np.concatenate([getattr(part, name) for part in households])
        for name in ("serial", "quarters", "district", "line")
    )
    order = np.argsort(serial, kind="stable")
    serial, quarters, district, line = serial[order], quarters[order], district[order], line[order]
    _refuse_repeated(problems, serial, line)
    home = np.concatenate([part.serial for part in persons])
    at = np.minimum(np.searchsorted(serial, home), max(len(serial) - 1, 0))
    lost = serial[at] != home if len(serial) else np.ones(len(home), bool)
    _refuse_lost(problems, np.concatenate([part.line for part in persons]), lost)
    problems.finish()
    districts, place = np.unique(district, return_inverse=True)
    inside = schema.cells // QUARTERS_TYPES
    cells = quarters[at] * inside + np.concatenate([part.cell for part in persons])
    facilities = np.zeros((len(districts), QUARTERS_TYPES), np.int32)
    np.add.at(facilities, (place, quarters), 1)
    found = from_filled(
        schema,
        districts.astype(f"U{ENUMERATION_DISTRICTS_1940.public_length}"),
        rows=place[at],
        cells=cells,
        counts=np.ones(len(cells), np.int64),
        facilities=facilities,
        layout=ENUMERATION_DISTRICTS_1940,
        remarks=("1940 full count: GQTYPE 9 with GQ 1, 2 or 5 is a household; ages above 115 are 115.",),
    )
    _refuse_empty_quarters(problems, found, quarters * len(districts) + place, line)
    problems.finish()
    return found


def _refuse_repeated(problems: Problems, serial: Integers, line: Integers) -> None:
    repeated = np.flatnonzero(serial[1:] == serial[:-1]) + 1
    for place in repeated[: problems.room(len(repeated))].tolist():
        problems.add(
            "SERIAL is that of an earlier household.",
            "Every household has a number of its own.",
            line=int(line[place]),
            column=H_FIELDS[1].first + 1,
        )


def _refuse_lost(problems: Problems, line: Integers, lost: NDArray[np.bool_]) -> None:
    places = np.flatnonzero(lost)
    for place in places[: problems.room(len(places))].tolist():
        problems.add(
            "SERIAL is that of no household of the file.",
            "Give every person the SERIAL of a record H.",
            line=int(line[place]),
            column=P_FIELDS[0].first + 1,
        )


def _refuse_empty_quarters(problems: Problems, found: BlockPopulation, key: Integers, line: Integers) -> None:
    """Report quarters that cannot all be inhabited: fewer people than facilities of the type in the district."""
    inside = found.schema.cells // QUARTERS_TYPES
    people = np.zeros((found.blocks, QUARTERS_TYPES), np.int64)
    np.add.at(people, (found.rows(), found.cells // inside), found.counts)
    facilities = np.zeros_like(people) if found.facilities is None else found.facilities
    short = facilities > people
    short[:, 0] = False
    places = np.argwhere(short)
    for row, kind in places[: problems.room(len(places))].tolist():
        last = np.flatnonzero(key == kind * found.blocks + row)[-1]
        problems.add(
            "The district has more group quarters of this type than people in them.",
            "Quarters are inhabited; leave out those without records P.",
            line=int(line[last]),
            column=H_FIELDS[3].first + 1,
        )
