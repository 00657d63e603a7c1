"""Records of microdata while they are read: block, areas and codes of each, and what is wrong with it.

Args:
    blocks: ``blocks[rows]``, number of the block of each record of a batch.
    cells: ``cells[rows]``, cell of each record.
    wrong: ``wrong[rows]``, which records are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.areas import area_classes
from phexplore.data.blocks.delimited import refuse
from phexplore.data.blocks.layouts import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from phexplore.data.blocks.delimited import Batch, CodedColumn, Header, Problems
    from phexplore.data.blocks.layouts import AttributeColumn, GeographyColumn
    from phexplore.workload.schema import Schema


HOUSEHOLD_PERSON, QUARTERS_PERSON = 3, 5
HOUSING_UNIT, QUARTERS = 2, 4
"""Codes of RTYPE."""


class BlockAreas:
    """Codes of areas off the spine, which microdata repeat on every record of a block."""

    def __init__(self, names: Sequence[str]) -> None:
        self._classes = [each for each in area_classes() if each.present(names)]
        self.columns = [column for each in self._classes for column in each.present(names)]
        self._of_block: dict[int, tuple[str, ...]] = {}

    def add(self, rows: Records, blocks: NDArray[np.int64]) -> None:
        """Take the codes of the first record of every block; a record that says others is reported."""
        if not self.columns or not len(blocks):
            return
        coded = [rows.column(name) for name in self.columns]
        found, first, which = np.unique(blocks, return_index=True, return_inverse=True)
        for name, column in zip(self.columns, coded, strict=True):
            differs = column.index != column.index[first][which]
            rows.refuse(differs, name, f"Its block lies in two areas of {name}.", _ONE_AREA)
        firsts = zip(*(column.strings()[first].tolist() for column in coded), strict=True)
        for block, texts in zip(found.tolist(), firsts, strict=True):
            known = self._of_block.setdefault(block, texts)
            if known != texts:
                name = next(each for each, one, other in zip(self.columns, known, texts, strict=True) if one != other)
                rows.refuse(blocks == block, name, f"Its block lies in two areas of {name}.", _ONE_AREA)

    def of(self, numbers: NDArray[np.int64], geoids: NDArray[np.str_]) -> dict[str, NDArray[np.str_]]:
        """Return public codes by class, for the blocks with these numbers and codes."""
        if not self.columns or not len(numbers):
            return {each.name: each.public(np.empty(0, "U1"), geoids) for each in self._classes}
        every = zip(*(self._of_block[number] for number in numbers.tolist()), strict=True)
        columns = dict(zip(self.columns, map(np.array, every), strict=True))
        places = {}
        for each in self._classes:
            texts, *others = (columns[name] for name in each.present(self.columns))
            for other in others:
                texts = np.where(texts == "", other, texts)
            places[each.name] = each.public(texts, geoids)
        return places


_ONE_AREA = "Every record of a block names the same areas; fetch the file again."


class Records:
    """The records of a batch as numbers. A record is reported once, for the first thing that is wrong with it."""

    def __init__(self, problems: Problems, header: Header, batch: Batch) -> None:
        self._problems = problems
        self._header = header
        self._batch = batch
        self._bad = np.zeros(batch.rows, bool)

    def refuse(
        self,
        wrong: NDArray[np.bool_],
        column: str,
        sentence: str,
        remedy: str = "Correct the line, or leave it out.",
    ) -> None:
        """Report the records where `wrong` holds and that were not reported before."""
        refuse(
            self._problems,
            self._header,
            wrong & ~self._bad,
            column=column,
            sentence=sentence,
            remedy=remedy,
            first=self._batch.first,
        )
        self._bad |= wrong

    def column(self, name: str) -> CodedColumn:
        """Return a column of the batch."""
        return self._batch.columns[name]

    def blocks(self, geography: Sequence[GeographyColumn]) -> NDArray[np.int64]:
        """Return the 15 digits of each record's block as a number; what is no code is reported and read as 0."""
        parts = [self._numbers(column) for column in geography]
        state, county, tract, group, block = parts
        self.refuse(
            group != block // 1000,
            geography[3].name,
            f"{geography[3].name} is not the first digit of {geography[4].name}.",
        )
        return ((state * 1000 + county) * 10**6 + tract) * 10**4 + block

    def levels(self, column: AttributeColumn) -> NDArray[np.int64]:
        """Return the level of an attribute; what is no code is reported and read as 0."""
        return self._numbers(column)

    def check_type(self, expected: NDArray[np.int64]) -> None:
        """Report records whose RTYPE says something else than their other columns."""
        coded = self._batch.columns["RTYPE"]
        found, _ = coded.numbers(lambda text: whole(text, 1))
        self.refuse(
            found != expected,
            "RTYPE",
            "RTYPE does not fit the rest of the record.",
            "RTYPE is 3 for a person in a household, 5 in group quarters, 2 for a housing unit, 4 for group quarters.",
        )

    def check_rules(self, schema: Schema, cells: NDArray[np.int64], column: str) -> None:
        """Report records in cells that the schema keeps empty; -1 is the cell of a record that is not counted."""
        for zero in schema.structural_zeros:
            sentence = f"The record breaks a rule: {zero.title[0].lower()}{zero.title[1:]}."
            self.refuse(np.append(schema.selection(zero.where), False)[cells], column, sentence, "Correct the record.")

    def _numbers(self, column: GeographyColumn | AttributeColumn) -> NDArray[np.int64]:
        coded = self._batch.columns[column.name]
        numbers, wrong = coded.numbers(column.number)
        self.refuse(wrong, column.name, f"{column.name} is not {column.legal}.")
        return numbers


def check_any(problems: Problems, header: Header, records: int) -> None:
    """Report a file without records, where nothing else was reported.

    Args:
        problems: of the file.
        header: of the file.
        records: how many were read.
    """
    if not records and not problems.any:
        problems.add("The file has no records.", "Check that it is the right one.", line=header.line)
