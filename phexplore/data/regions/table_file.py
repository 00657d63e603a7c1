"""One small delimited table about regions, held by columns: codes, texts and whole numbers, problems with their places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.delimited import Header, Problems, missing_columns, read_batches, read_header, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

BLANK = -1
"""Stands where a count is unknown: the field is empty."""

_WHOLE = re.compile(r"[0-9]{1,15}")


class TableFile:
    """A table that fits in memory. Columns are asked for one by one; `finish` raises what was found wrong with any.

    Args:
        path: comma, bar, semicolon or tabulator separated text, may be gzipped.
        needed: columns that must be there; others are ignored.
        remedy: what to do when one is missing.

    Raises:
        InputProblemsError: the file cannot be read, lacks columns, has no row, or has lines of another length.
    """

    def __init__(self, path: Path, needed: Sequence[str], remedy: str) -> None:
        self._header: Header = read_header(path)
        missing_columns(self._header, needed, remedy)
        self._problems = Problems(path)
        parts = [
            [batch.columns[name].strings() for name in needed]
            for batch in read_batches(self._header, needed)
            if batch.rows
        ]
        if not parts:
            self._problems.add("The table has a header and no row.", "Check that it is the right file.", line=1)
            self._problems.finish()
        self._columns = {name: np.concatenate([part[place] for part in parts]) for place, name in enumerate(needed)}
        self.rows: int = len(self._columns[needed[0]])

    def __contains__(self, column: str) -> bool:
        """Return whether the file has a column of this name."""
        return column in self._header.names

    def texts(self, column: str, *, empty: bool = True) -> NDArray[np.str_]:
        """Return a column of texts, ``U[rows]``, surrounding blanks removed; report empty ones unless they are allowed.

        Args:
            column: its name.
            empty: whether an empty field is allowed.
        """
        texts = self._columns[column]
        if not empty:
            self.refuse(texts == "", column, f"{column} is empty.", "Write a name or a code.")
        return texts

    def codes(self, column: str, width: int) -> NDArray[np.str_]:
        """Return a column of codes of exactly `width` digits, ``U[rows]``; report what is none.

        Args:
            column: its name.
            width: digits of a code.
        """
        texts = self._columns[column]
        pattern = re.compile(f"[0-9]{{{width}}}")
        wrong = np.fromiter((pattern.fullmatch(text) is None for text in texts.tolist()), bool, len(texts))
        self.refuse(
            wrong,
            column,
            f"{column} does not have {width} digits.",
            "Write codes as text, leading zeros included.",
        )
        return texts

    def counts(self, column: str, *, blank: bool = False) -> NDArray[np.int64]:
        """Return a column of whole numbers of 0 or more, ``int64[rows]``, `BLANK` where the field is empty and may be.

        Args:
            column: its name.
            blank: whether an empty field is allowed.
        """
        texts = self._columns[column]
        values = np.full(len(texts), BLANK, np.int64)
        wrong = np.zeros(len(texts), bool)
        for row, text in enumerate(texts.tolist()):
            if _WHOLE.fullmatch(text):
                values[row] = int(text)
            else:
                wrong[row] = not (blank and text == "")
        self.refuse(
            wrong,
            column,
            f"{column} is not a whole number of 0 or more.",
            "Write a count of up to 15 digits without separators.",
        )
        return values

    def refuse_repeated(self, column: str, what: str) -> None:
        """Report every row that repeats a value of an earlier one.

        Args:
            column: its name.
            what: word for what a value names, e.g. "region".
        """
        texts = self._columns[column]
        _, first = np.unique(texts, return_index=True)
        repeated = np.ones(len(texts), bool)
        repeated[first] = False
        self.refuse(repeated, column, f"The {what} is that of an earlier line.", "Keep one of its lines.")

    def refuse(self, wrong: NDArray[np.bool_], column: str, sentence: str, remedy: str) -> None:
        """Report the rows where `wrong` holds, pointing at a column.

        Args:
            wrong: ``wrong[rows]``, which rows to report.
            column: its name.
            sentence: what is wrong.
            remedy: what to do.
        """
        refuse(self._problems, self._header, wrong, column=column, sentence=sentence, remedy=remedy)

    @property
    def failed(self) -> bool:
        """Whether something was reported."""
        return self._problems.any

    def finish(self) -> None:
        """Raise if anything was wrong.

        Raises:
            InputProblemsError: all problems, by line and column.
        """
        self._problems.finish()
