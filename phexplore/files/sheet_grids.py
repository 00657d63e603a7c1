"""The sheets of a workbook as grids of text, every cell with its place."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import re
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.files.xlsx_limits import MOST_CELLS, refuse_bombs
from phexplore.model.issues import InputProblemsError, Issue

PRECISION_OF_A_CELL = Fraction(1, 10**15)
"""Spreadsheets keep 15 significant digits of a number; two numbers that differ beyond are the same cell."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell as found.

    Attributes:
        text: its content in plain characters; numbers as the shortest decimal that gives them back.
        path: where it is, for messages.
        trouble: why its content cannot be used, "" when it can.
        rounded: the content is a binary number, which may stand for a longer exact one.
    """

    text: str
    path: tuple[str, ...]
    line: int = 0
    column: int = 0
    trouble: str = ""
    rounded: bool = False


Grid = list[list[GridCell]]


def sheet_grids(content: bytes, name: str) -> list[tuple[str, Grid]]:
    """Return the sheets of a workbook, each with its title and its cells.

    Args:
        content: of an XLSX file.
        name: of the file, for problems.

    Raises:
        InputProblemsError: it is no workbook, too large when unpacked, or holds what no table of parameters does.
    """
    refuse_bombs(content, name)
    import openpyxl  # noqa: PLC0415 - only an import of a workbook pays for it

    try:
        # openpyxl warns of features it drops on saving, and prints what it thinks of odd styles; answers go to standard output.
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            values = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
            formulas = openpyxl.load_workbook(io.BytesIO(content), data_only=False)
    except Exception as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        issue = Issue((name,), f"the workbook cannot be opened: {reason}", "Save it as XLSX again.")
        raise InputProblemsError([issue]) from error
    for sheet in values.worksheets:
        if sheet.max_row * sheet.max_column > MOST_CELLS:
            sentence = f"the sheet reaches to row {sheet.max_row:,} and column {sheet.max_column:,}"
            remedy = "Copy the table into a new workbook."
            raise InputProblemsError([Issue((name, sheet.title), sentence, remedy)])
    return [(sheet.title, _sheet(name, sheet, formulas[sheet.title])) for sheet in values.worksheets]


def _sheet(name: str, values: Any, formulas: Any) -> Grid:
    return [
        [_sheet_cell(name, values.title, value, formula) for value, formula in zip(row, written, strict=True)]
        for row, written in zip(values.iter_rows(), formulas.iter_rows(), strict=True)
    ]


def _sheet_cell(name: str, sheet: str, cell: Any, written: Any) -> GridCell:
    path = (name, f"{sheet}!{cell.coordinate}")
    from openpyxl.utils.escape import unescape  # noqa: PLC0415 - as above

    match cell.value:
        case None if written.data_type == "f":
            return GridCell("", path, trouble="holds a formula whose value was not saved")
        case None:
            return GridCell("", path)
        case bool():
            return GridCell(str(cell.value), path, trouble=f"holds {cell.value}, not a number")
        case dt.date() | dt.time() | dt.timedelta():
            return GridCell(str(cell.value), path, trouble=f"holds the date or time {cell.value}, not a number")
        case int() | float():
            return GridCell(_shortest(cell.value), path, rounded=True)
        case _:
            return unambiguous(GridCell(unescape(str(cell.value)).strip(), path))


def _shortest(value: float) -> str:
    """Return the shortest decimal that gives the number back: what a person typed, up to 15 digits."""
    return repr(value).removesuffix(".0")


_GROUPED = re.compile(r"[1-9]\d{0,2}(,\d{3})+")


def unambiguous(cell: GridCell) -> GridCell:
    """Return the cell, marked if it may be a thousand or one with decimals: neither is guessed."""
    if not _GROUPED.fullmatch(cell.text):
        return cell
    return replace(cell, trouble=f"{cell.text} can mean {cell.text.replace(',', '')} or a decimal number")
