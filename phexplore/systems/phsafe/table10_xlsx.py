"""The parameter-and-MOE table as a workbook: the numbers, and on a second sheet what they mean and where they are from."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC
from fractions import Fraction
from typing import Any

from phexplore.model.numbers import Unlimited, decimal_text, exact_text
from phexplore.systems.phsafe.config_file import require_production_tables
from phexplore.systems.phsafe.provenance import provenance
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot
from phexplore.systems.phsafe.table10 import (
    EXACT_HEADER,
    PAPER_HEADERS,
    ForecastColumn,
    Table10Row,
    forecast_columns,
    table10_rows,
)
from phexplore.systems.phsafe.workbook_sheets import write_levels, write_settings, write_thresholds

PARAMETER_SHEET = "Budgets"
ABOUT_SHEET = "About"

_DIGITS_OF_A_CELL = 15
"""Significant decimal digits that every spreadsheet shows and keeps of a number."""

_WIDTHS = (12, 11, 22, 9, 15, 15)
_TARGET, _BUDGET, _BOUNDED = 3, 4, 5
_ACCENT = "#1f6fb2"


@dataclass(frozen=True, slots=True)
class _Looks:
    """The formats of the parameter sheet."""

    paper_head: Any
    figure_head: Any
    text: Any
    whole: Any
    target: Any
    budget: Any
    decimal: Any


def table10_xlsx(snapshot: ScenarioSnapshot) -> bytes:
    """Return the workbook. The same snapshot gives the same bytes.

    The bounded column is the formula 2 x unbounded with its value stored, so that it follows an edit made in a
    spreadsheet; the columns to its right do not, and say so. A budget with more digits than a number cell keeps stands
    beside it as exact text.
    """
    import xlsxwriter  # noqa: PLC0415 - only an export pays for it

    require_production_tables(snapshot.scenario, "A workbook")
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    # The format keeps the moment without its zone; UTC is what readers assume.
    created = snapshot.now.astimezone(UTC).replace(tzinfo=None)
    book.set_properties({"title": snapshot.scenario.name, "author": "", "comments": "", "created": created})
    _write_parameters(book, snapshot)
    write_levels(book, snapshot.scenario)
    write_thresholds(book, snapshot.scenario)
    write_settings(book, snapshot.scenario)
    _write_about(book, snapshot)
    book.close()
    return buffer.getvalue()


def exact_in_a_cell(budget: Fraction) -> bool:
    """Return whether a spreadsheet's number cell holds the budget without losing a digit."""
    text = decimal_text(budget)
    return text is not None and len(text.replace(".", "").strip("0")) <= _DIGITS_OF_A_CELL


def _looks(book: Any) -> _Looks:
    head = {"bold": True, "text_wrap": True, "valign": "top", "font_color": "#ffffff", "border": 0}
    return _Looks(
        paper_head=book.add_format({**head, "bg_color": _ACCENT}),
        figure_head=book.add_format({**head, "bg_color": "#5b6770"}),
        text=book.add_format({"num_format": "@"}),
        whole=book.add_format({"num_format": "0"}),
        target=book.add_format(),
        budget=book.add_format({"num_format": "0.000000#########"}),
        decimal=book.add_format({"num_format": "#,##0.00"}),
    )


def _write_parameters(book: Any, snapshot: ScenarioSnapshot) -> None:
    sheet, looks = book.add_worksheet(PARAMETER_SHEET), _looks(book)
    columns = forecast_columns(snapshot.forecast.conventions)
    headers = [*PAPER_HEADERS, *(column.header for column in columns), EXACT_HEADER]
    for place, header in enumerate(headers):
        sheet.write_string(0, place, header, looks.paper_head if place < len(PAPER_HEADERS) else looks.figure_head)
    rows = table10_rows(snapshot.scenario, snapshot.forecast)
    for line, row in enumerate(rows, start=1):
        _write_row(sheet, looks, line, row, columns)
    sheet.set_row(0, 48)
    for place in range(len(headers)):
        sheet.set_column(place, place, _WIDTHS[place] if place < len(_WIDTHS) else 14)
    sheet.freeze_panes(1, 3)
    sheet.autofilter(0, 0, len(rows), len(headers) - 1)
    sheet.repeat_rows(0)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    _write_advice(sheet, len(rows), len(headers))


def _write_advice(sheet: Any, rows: int, columns: int) -> None:
    """Say at the selected cell what an import reads: the sheet keeps no line that is not a query."""
    budget = {
        "validate": "any",
        "input_title": "Unbounded privacy loss",
        "input_message": "Read on import, exactly as written. 0 = not published. The bounded column follows.",
    }
    figure = {
        "validate": "any",
        "input_title": "Figure of the export",
        "input_message": "Does not follow an edit made here. Import the file to see the new figure.",
    }
    sheet.data_validation(1, _BUDGET, rows, _BUDGET, budget)
    sheet.data_validation(1, len(PAPER_HEADERS), rows, columns - 2, figure)


def _write_row(sheet: Any, looks: _Looks, line: int, row: Table10Row, columns: tuple[ForecastColumn, ...]) -> None:
    sheet.write_string(line, 0, row.query.table)
    if row.threshold is None:
        sheet.write_string(line, 1, row.threshold_text)
    else:
        sheet.write_number(line, 1, row.threshold, looks.whole)
    sheet.write_string(line, 2, row.level_text)
    if row.target is not None and exact_in_a_cell(row.target):
        sheet.write_number(line, _TARGET, float(row.target), looks.target)
    elif row.target is not None:
        sheet.write_string(line, _TARGET, exact_text(row.target), looks.text)
    if isinstance(row.budget, Unlimited):
        sheet.write_string(line, _BUDGET, exact_text(row.budget))
    else:
        sheet.write_number(line, _BUDGET, float(row.budget), looks.budget)
    if isinstance(row.bounded_budget, Unlimited):
        sheet.write_string(line, _BOUNDED, exact_text(row.bounded_budget))
    else:
        sheet.write_formula(line, _BOUNDED, f"=2*E{line + 1}", looks.budget, float(row.bounded_budget))
    for place, column in enumerate(columns, start=len(PAPER_HEADERS)):
        if (value := column.value(row)) is not None:
            sheet.write_number(line, place, value, looks.decimal if column.places else looks.whole)
    if not isinstance(row.budget, Unlimited) and not exact_in_a_cell(row.budget):
        sheet.write_string(line, len(PAPER_HEADERS) + len(columns), exact_text(row.budget), looks.text)


def _write_about(book: Any, snapshot: ScenarioSnapshot) -> None:
    sheet = book.add_worksheet(ABOUT_SHEET)
    head, wrap = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
    sheet.set_column(0, 0, 34)
    sheet.set_column(1, 1, 96)
    line = 0
    for section in provenance(snapshot):
        sheet.write_string(line, 0, section.title, head)
        for name, text in section.entries:
            line += 1
            sheet.write_string(line, 0, name, wrap)
            sheet.write_string(line, 1, text, wrap)
        line += 2
