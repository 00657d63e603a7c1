"""The data table of a figure as a file: CSV and JSON carry every digit, a workbook as many as its cells hold."""

from __future__ import annotations

import io
import json
import math
from fractions import Fraction
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.figures.table import Table, Value, plain
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import csv_bytes, safe_text

SUFFIXES = (".csv", ".xlsx", ".json")
_DIGITS_OF_A_CELL = 15


class TableFileError(PhexploreError):
    """A table could not be written."""


def write_table(table: Table, path: Path) -> None:
    """Write a table as CSV, XLSX or JSON, by the suffix.

    Args:
        table: to be written.
        path: the file.

    Raises:
        TableFileError: another suffix, or the file cannot be written.
    """
    makers = dict(zip(SUFFIXES, (table_csv, table_xlsx, _json), strict=True))
    maker = makers.get(path.suffix.lower())
    if maker is None:
        raise TableFileError(f"A table cannot be saved as {path.suffix!r}.", f"Choose one of {', '.join(SUFFIXES)}.")
    try:
        write_atomically(path, maker(table))
    except OSError as error:
        raise TableFileError(f"{path} could not be written: {error.strerror}.", "Choose another folder.") from error


def table_csv(table: Table) -> bytes:
    """Return a table as CSV: exact numbers, nothing grouped."""
    return csv_bytes([table.headers, *([plain(value) for value in row] for row in table.rows)])


def _json(table: Table) -> bytes:
    rows = [[_json_value(value) for value in row] for row in table.rows]
    return json.dumps({"columns": list(table.headers), "rows": rows}, ensure_ascii=False, indent=1).encode() + b"\n"


def _json_value(value: Value) -> str | int | float | None:
    if isinstance(value, Fraction):
        return plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def table_xlsx(table: Table, picture: bytes = b"") -> bytes:
    """Return a table as a workbook.

    Args:
        table: to be written.
        picture: PNG for a sheet of its own, nothing by default.
    """
    import xlsxwriter  # noqa: PLC0415 - only an export pays for it

    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    sheet, bold = book.add_worksheet("Data"), book.add_format({"bold": True})
    sheet.freeze_panes(1, 0)
    for column, header in enumerate(table.headers):
        sheet.write_string(0, column, header, bold)
        sheet.set_column(column, column, min(max(len(header) + 2, 10), 40))
    for number, row in enumerate(table.rows, start=1):
        for column, value in enumerate(row):
            found = _cell(value)
            if isinstance(found, str):
                sheet.write_string(number, column, safe_text(found))
            elif found is not None:
                sheet.write_number(number, column, found)
    if picture:
        book.add_worksheet("Picture").insert_image(0, 0, "picture.png", {"image_data": io.BytesIO(picture)})
    book.close()
    return buffer.getvalue()


def _cell(value: Value) -> str | float | None:
    """Return what a cell holds: a number where it loses no digit, else its exact text."""
    if isinstance(value, Fraction):
        text = plain(value)
        is_short = "/" not in text and len(text.replace(".", "").replace("-", "").strip("0")) <= _DIGITS_OF_A_CELL
        return float(value) if is_short else text
    if isinstance(value, int):
        return float(value) if abs(value) < 10**_DIGITS_OF_A_CELL else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
