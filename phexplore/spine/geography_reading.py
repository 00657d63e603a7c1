"""Read where blocks lie: the geographic crosswalk (GRFC), block files with area codes, and census microdata.

All problems of a file are listed with line and column, nothing is half-loaded: codes that are missing or no codes, a block that
stands in two tracts, a block that stands twice in different areas of one class. What is odd but can be read (areas of another
state or county than the block, unified and elementary school districts that overlap) is listed with the geography.

Sources: formats, sections 4 and 7; ../shared/data/blocks/*.md for the columns of block files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.states import FICTIONAL_STATE
from phexplore.data.blocks.cell_lists import schema_of
from phexplore.data.blocks.delimited import (
    Header,
    Problems,
    lines_of,
    missing_columns,
    read_batches,
    read_head,
    read_header,
    refuse,
)
from phexplore.data.blocks.geocodes import texts_of_numbers
from phexplore.data.blocks.layouts import VALID_STATES
from phexplore.model.issues import Issue, Severity
from phexplore.published.assignment import assigned
from phexplore.published.door import population_of, recognise
from phexplore.published.forms import Published
from phexplore.published.origins import provenance_of
from phexplore.spine.geography import Geography, codes_of_texts, geography_of
from phexplore.text.messages import Quoted, msg

if TYPE_CHECKING:
    from pathlib import Path

Ints = NDArray[np.int64]
Texts = NDArray[np.str_]
Flags = NDArray[np.bool_]
Sentence = Callable[[int], str]
"""What is said of a row."""


@dataclass(frozen=True, slots=True)
class AreaColumn:
    """A column with codes of areas.

    Attributes:
        name: of the column.
        kind: class of areas it fills.
        digits: of a code.
        within: digits of the block's own code that stand before it in the public code: 2 the state's, 5 the county's.
        everywhere: whether every block has a code, be it the one that means none.
        pattern: what a code looks like; None for digits.
    """

    name: str
    kind: str
    digits: int
    within: int = 0
    everywhere: bool = False
    pattern: str | None = None

    @property
    def legal(self) -> str:
        """Legal codes in words."""
        if self.pattern is not None:
            return msg("a code of {digits} characters", digits=self.digits)
        if not self.within:
            return msg("a code of {digits} digits", digits=self.digits)
        return msg(
            "a code of {digits} digits, or of {all} digits with the code of the {part} first",
            digits=self.digits,
            all=self.digits + self.within,
            part=_AREA[self.within],
        )


_AREA = {2: msg("state"), 5: msg("state and county")}
_TRIBAL = r"\d{4}[A-Z]?"
_DISTRICT = r"[0-9A-Z]{2,3}"

GRFC_BLOCK = (("TABBLKST", 2), ("TABBLKCOU", 3), ("TABTRACTCE", 6), ("TABBLK", 4))
"""Columns of the crosswalk that name a block, and their digits (formats, section 4)."""

GRFC_AREAS = (
    AreaColumn("AIANNHCE", "aiannh", 4, everywhere=True),
    AreaColumn("COUSUBFP", "cousub", 5, 5, everywhere=True),
    AreaColumn("PLACEFP", "place", 5, 2, everywhere=True),
    AreaColumn("SDUNILEA", "unified_sd", 5, 2),
    AreaColumn("SDELMLEA", "elementary_sd", 5, 2),
    AreaColumn("SDSECLEA", "secondary_sd", 5, 2),
    AreaColumn("SLDUST", "sldu", 3, 2, pattern=_DISTRICT),
    AreaColumn("SLDLST", "sldl", 3, 2, pattern=_DISTRICT),
    AreaColumn("CDCURFP", "cd", 2, 2, pattern=_DISTRICT),
    AreaColumn("ZCTA5", "zcta", 5),
)

BLOCK_FILE_PARTS = (("state", 2, 0), ("county", 3, 2), ("tract", 6, 5), ("blkgrp", 1, 11), ("block", 4, 11))
"""Columns of a block file that repeat a part of ``geoid``: name, digits, place of the first digit."""

BLOCK_FILE_AREAS = (
    AreaColumn("place", "place", 5, 2),
    AreaColumn("cousub", "cousub", 5, 5),
    AreaColumn("aiannh", "aiannh", 4, pattern=_TRIBAL),
    AreaColumn("school_dist", "school_dist", 5, 2),
    AreaColumn("secondary_sd", "secondary_sd", 5, 2),
    AreaColumn("sldu", "sldu", 3, 2, pattern=r"(\d{2})?" + _DISTRICT),
    AreaColumn("sldl", "sldl", 3, 2, pattern=r"(\d{2})?" + _DISTRICT),
    AreaColumn("zcta", "zcta", 5),
)

STATUS_COLUMNS = (("COUSUBFS", "governed", "ABC"), ("PLACEFS", "incorporated", "ABF"))
"""Functional status: column, attribute of the geography, letters that count (topdown, section 10)."""

NOTHING = re.compile(r"9*|Z+")
"""Codes that mean "in no area": blank, all nines, all Z (formats, section 4)."""

IDENTIFIER = "OIDTB"
"""Column of the crosswalk that numbers blocks."""


def read_geography(path: Path) -> Geography:
    """Read where blocks lie.

    Recognised by the content: published files with blocks (`phexplore.published`) and block assignment files; by the header: the geographic crosswalk (``TABBLKST|TABBLKCOU|...``); any delimited file with ``geoid`` of 15
    digits and area codes; else all that `read_population` reads, whose facilities tell where group quarters are.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    return replace(_read(path), provenance=provenance_of(path))


def _read(path: Path) -> Geography:
    found = recognise(path)
    if found is not None and (found.kind != "blocks" or found.beside):
        return _of_published(found)
    if path.is_dir() or not _is_text(path):
        return _of_population(path)
    header = read_header(path)
    names = set(header.names)
    if "geoid" in names and schema_of(header) is None:
        return _block_file(header)
    if "TABTRACTCE" in names or ("TABBLKST" in names and {"AIANNHCE", "COUSUBFP", "PLACEFP"} & names):
        return _crosswalk(header)
    return _of_population(path)


def _is_text(path: Path) -> bool:
    head = read_head(path)
    return not head.startswith((b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def _of_population(path: Path) -> Geography:
    from phexplore.data.blocks.source import read_population  # noqa: PLC0415 - only for files with people

    return geography_of(read_population(path), source=path.name)


def _of_published(found: Published) -> Geography:
    if found.kind != "block-assignment":
        return geography_of(population_of(found), source=found.source.name)
    geoids, places = assigned(found)
    return Geography(geoids, {kind: codes_of_texts(texts) for kind, texts in places.items()}, source=found.source.name)


def _crosswalk(header: Header) -> Geography:
    missing_columns(
        header,
        [name for name, _ in GRFC_BLOCK],
        msg("The crosswalk must identify a block by TABBLKST, TABBLKCOU, TABTRACTCE, and TABBLK."),
    )
    columns = [column for column in GRFC_AREAS if column.name in header.names]
    statuses = [entry for entry in STATUS_COLUMNS if entry[0] in header.names]
    extra = [IDENTIFIER] if IDENTIFIER in header.names else []
    names = [*(name for name, _ in GRFC_BLOCK), *(c.name for c in columns), *(name for name, _, _ in statuses)]
    table = _Table(header, names, extra)
    number = np.zeros(table.rows, np.int64)
    for name, digits in GRFC_BLOCK:
        number = number * 10**digits + table.numbers(name, digits)
    table.require_states(number // 10**13, "TABBLKST")
    areas = {column.kind: table.areas(column, number) for column in columns}
    if extra:
        table.refuse_two_tracts(number)
    table.refuse_repeated(number, areas, columns)
    table.problems.finish()
    _merge_school_districts(table, areas)
    status = {attribute: np.isin(table.texts[name], list(letters)) for name, attribute, letters in statuses}
    return _geography(header, number, areas, table, status)


def _block_file(header: Header) -> Geography:
    columns = [column for column in BLOCK_FILE_AREAS if column.name in header.names]
    parts = [part for part in BLOCK_FILE_PARTS if part[0] in header.names]
    table = _Table(header, ["geoid", *(c.name for c in columns), *(name for name, _, _ in parts)], [])
    number = table.numbers("geoid", 15)
    table.require_states(number // 10**13, "geoid")
    for name, digits, first in parts:
        table.refuse_contradiction(name, digits, number // 10 ** (15 - first - digits) % 10**digits)
    areas = {column.kind: table.areas(column, number) for column in columns}
    table.refuse_repeated(number, areas, columns)
    table.problems.finish()
    return _geography(header, number, areas, table, {})


def _geography(
    header: Header, number: Ints, areas: dict[str, Texts], table: _Table, status: dict[str, Flags]
) -> Geography:
    order = np.argsort(number, kind="stable")
    known = {name: flags[order] for name, flags in status.items()}
    return Geography(
        texts_of_numbers(number[order], 15),
        {kind: codes_of_texts(texts[order]) for kind, texts in areas.items()},
        incorporated=known.get("incorporated"),
        governed=known.get("governed"),
        source=header.path.name,
        warnings=tuple(table.warnings),
    )


def _merge_school_districts(table: _Table, areas: dict[str, Texts]) -> None:
    """Put unified and elementary districts into one class; a block in both is listed."""
    unified = areas.pop("unified_sd", None)
    elementary = areas.pop("elementary_sd", None)
    if unified is None and elementary is None:
        return
    if unified is None or elementary is None:
        areas["school_dist"] = unified if unified is not None else elementary  # type: ignore[assignment]
        return
    table.warn(
        (unified != "") & (elementary != ""),
        "SDELMLEA",
        lambda row: msg(
            "The block lies in the unified district {unified} and in the elementary district {elementary}.",
            unified=unified[row],
            elementary=elementary[row],
        ),
        msg("The importer uses the unified district."),
    )
    areas["school_dist"] = np.where(unified != "", unified, elementary)


class _Table:
    """The columns of a file as texts, with what is wrong with them."""

    def __init__(self, header: Header, names: Sequence[str], identifiers: Sequence[str]) -> None:
        self.header = header
        self.problems = Problems(header.path)
        self.warnings: list[Issue] = []
        parts: dict[str, list[Texts]] = {name: [] for name in (*names, *identifiers)}
        unlike = [name for name in names if name == "geoid"] + list(identifiers)
        coded = [name for name in names if name not in unlike]
        self.rows = 0
        for batch in read_batches(header, coded, unlike):
            self.rows += batch.rows
            for name in coded:
                parts[name].append(batch.columns[name].strings())
            for name in unlike:
                parts[name].append(np.char.strip(np.array(batch.identifiers[name].to_pylist(), str)))
        if not self.rows:
            self.problems.add(
                msg("The file contains no blocks."), msg("Check that you named the right file."), line=header.line
            )
            self.problems.finish()
        self.texts = {name: np.concatenate(found) for name, found in parts.items()}

    def numbers(self, name: str, digits: int) -> Ints:
        """Return codes of so many digits as numbers; others are reported and read as 0."""
        texts, which = np.unique(self.texts[name], return_inverse=True)
        legal = re.compile(rf"\d{{{digits}}}", re.ASCII)
        right = np.array([legal.fullmatch(text) is not None for text in texts.tolist()], bool)
        values = np.array([int(text) if fine else 0 for text, fine in zip(texts.tolist(), right.tolist(), strict=True)])
        self._refuse(
            ~right[which],
            name,
            lambda row: (
                msg("{name} is missing.", name=name)
                if not self.texts[name][row]
                else msg(
                    "{name} must be a code of {digits} digits (got {got}).",
                    name=name,
                    digits=digits,
                    got=Quoted(self.texts[name][row][:40]),
                )
            ),
            msg("Restore leading zeros, which are part of a code; a spreadsheet may have removed them."),
        )
        found: Ints = values.astype(np.int64)[which]
        return found

    def require_states(self, states: Ints, name: str) -> None:
        """Report states that do not exist."""
        self._refuse(
            ~np.isin(states, [*VALID_STATES, int(FICTIONAL_STATE)]) & (states > 0),
            name,
            lambda row: msg(
                "{name} begins with {state:02d}, which is not the code of a state.", name=name, state=states[row]
            ),
            msg("Use the codes of the 50 states, the District of Columbia (11), and Puerto Rico (72)."),
        )

    def refuse_contradiction(self, name: str, digits: int, expected: Ints) -> None:
        """Report rows whose column says another part of the block's code than ``geoid``."""
        found = self.numbers(name, digits)
        self._refuse(
            found != expected,
            name,
            lambda row: msg(
                "{name} is {found}, but geoid {geoid} contains {expected}.",
                name=name,
                found=str(found[row]).zfill(digits),
                geoid=str(self.texts["geoid"][row]),
                expected=str(expected[row]).zfill(digits),
            ),
            msg("Correct the wrong code."),
        )

    def areas(self, column: AreaColumn, number: Ints) -> Texts:
        """Return public codes of the areas of a column, "" outside all of them."""
        texts, which = np.unique(self.texts[column.name], return_inverse=True)
        own = re.compile(column.pattern or rf"\d{{{column.digits}}}", re.ASCII)
        whole = re.compile(rf"\d{{{column.digits + column.within}}}", re.ASCII)
        tails, heads, right = [], [], []
        for text in texts.tolist():
            is_whole = bool(column.within and column.pattern is None and whole.fullmatch(text))
            if column.pattern and column.within and len(text) > column.digits:
                is_whole = own.fullmatch(text) is not None
            head, tail = (text[: column.within], text[column.within :]) if is_whole else ("", text)
            none = NOTHING.fullmatch(tail) is not None or (column.kind == "cousub" and set(tail) == {"0"})
            fine = bool(none or is_whole or own.fullmatch(tail))
            right.append(fine)
            heads.append("" if none or not fine else head)
            tails.append("" if none or not fine else (tail[:4] if column.kind == "aiannh" else tail))
        refused = ~np.array(right, bool)[which]
        if column.everywhere:
            refused |= self.texts[column.name] == ""
        self._refuse(
            refused,
            column.name,
            lambda row: (
                msg("{name} is missing.", name=column.name)
                if not self.texts[column.name][row]
                else msg(
                    "{name} must be {legal} (got {got}).",
                    name=column.name,
                    legal=column.legal,
                    got=Quoted(self.texts[column.name][row][:40]),
                )
            ),
            msg("Nines in every digit mean that the block lies in no such area.")
            if column.everywhere
            else msg("Leave the field blank where the block lies in no such area."),
        )
        tail = np.array(tails)[which]
        if not column.within:
            return tail
        blocks = texts_of_numbers(number, 15).astype(f"U{column.within}")
        head = np.array(heads)[which]
        self.warn(
            (head != "") & (head != blocks),
            column.name,
            lambda row: msg(
                "{name} {area} begins with {head}, but the block lies in {block}.",
                name=column.name,
                area=str(self.texts[column.name][row]),
                head=str(head[row]),
                block=str(blocks[row]),
            ),
            msg("The importer uses the code as it is. If the code of the block or of the area is wrong, correct it."),
        )
        blocks = np.where(head == "", blocks, head)
        named: Texts = np.where(tail == "", "", np.char.add(blocks, tail))
        return named

    def refuse_two_tracts(self, number: Ints) -> None:
        """Report blocks whose identifier stands with two codes."""
        texts = self.texts[IDENTIFIER]
        order = np.lexsort((np.arange(self.rows), texts))
        again = order[1:][(texts[order[1:]] == texts[order[:-1]]) & (texts[order[1:]] != "")]
        before = order[:-1][(texts[order[1:]] == texts[order[:-1]]) & (texts[order[1:]] != "")]
        differs = number[again] != number[before]
        lines = (
            dict(zip(before[differs].tolist(), lines_of(self.header, before[differs].tolist()), strict=True))
            if differs.any()
            else {}
        )
        earlier = dict(zip(again[differs].tolist(), before[differs].tolist(), strict=True))
        wrong = np.zeros(self.rows, bool)
        wrong[again[differs]] = True

        def sentence(row: int) -> str:
            first = earlier[row]
            tracts = [f"{number[each] // 10**4:011d}" for each in (first, row)]
            return msg(
                "Block {block} has two codes: {first} on line {line} and {second} on this line.",
                block=str(texts[row]),
                first=tracts[0],
                line=lines[first],
                second=tracts[1],
            )

        self._refuse(wrong, "TABTRACTCE", sentence, msg("Retain the correct line."))

    def refuse_repeated(self, number: Ints, areas: dict[str, Texts], columns: Sequence[AreaColumn]) -> None:
        """Report blocks that stand twice; areas of one class that then overlap are named."""
        order = np.lexsort((np.arange(self.rows), number))
        same = number[order[1:]] == number[order[:-1]]
        if not same.any():
            return
        again, before = order[1:][same], order[:-1][same]
        earlier = dict(zip(again.tolist(), before.tolist(), strict=True))
        lines = dict(zip(before.tolist(), lines_of(self.header, before.tolist()), strict=True))
        reported = np.zeros(self.rows, bool)
        for column in columns:
            texts = areas[column.kind]
            wrong = np.zeros(self.rows, bool)
            wrong[again] = (texts[again] != texts[before]) & ~reported[again]
            reported |= wrong
            self._refuse(
                wrong,
                column.name,
                lambda row, name=column.name, of=texts: (  # type: ignore[misc]
                    msg(
                        "Areas of {name} overlap: block {number:015d} lies in {first} on line {line} and in {second} on this line.",
                        name=name,
                        number=int(number[row]),
                        first=of[earlier[row]] or "none",
                        line=lines[earlier[row]],
                        second=of[row] or "none",
                    )
                ),
                msg("Give each block one line and one area of each class."),
            )
        wrong = np.zeros(self.rows, bool)
        wrong[again] = ~reported[again]
        self._refuse(
            wrong,
            "geoid" if "geoid" in self.header.names else "TABBLK",
            lambda row: msg(
                "Block {number:015d} is a duplicate of line {line}.", number=int(number[row]), line=lines[earlier[row]]
            ),
            msg("Retain one line for each block."),
        )

    def warn(self, odd: Flags, column: str, sentence: Sentence, remedy: str) -> None:
        """Note rows that are odd but can be read."""
        rows = np.flatnonzero(odd)[:_MOST_WARNINGS].tolist()
        if not rows:
            return
        for row, line in zip(rows, lines_of(self.header, rows), strict=True):
            self.warnings.append(
                Issue(
                    (self.header.path.name,),
                    sentence(row),
                    remedy,
                    Severity.WARNING,
                    line,
                    self.header.column(column),
                )
            )

    def _refuse(self, wrong: Flags, column: str, sentence: Sentence, remedy: str) -> None:
        refuse(self.problems, self.header, wrong, column=column, sentence=sentence, remedy=remedy)


_MOST_WARNINGS = 100
