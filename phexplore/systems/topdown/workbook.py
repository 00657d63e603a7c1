"""TopDown parameters as a workbook: what a committee edits, exact as text, with the figures of the export beside it."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

from phexplore.model.fields import encode
from phexplore.model.fingerprint import fingerprint
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.workbook_settings import (
    BASELINE,
    FRAMEWORK,
    NAME,
    NOTE,
    SETTING_HEADERS,
    SETTINGS_SHEET,
    YES,
)
from phexplore.systems.topdown.forecast import LevelQueryForecast, forecast_topdown
from phexplore.systems.topdown.wording import counted

LEVELS_SHEET, BUDGETS_SHEET, PASSES_SHEET, RULES_SHEET, SPINE_SHEET, ABOUT_SHEET = (
    "Levels", "Budgets", "Passes", "Rules", "Spine", "About",
)  # fmt: skip
SCHEMA, TOTAL = "Schema", "Total"
LEVEL, QUERY, SHARE, LOCKED = "Level", "Query", "Share, exact", "Locked"
LEVEL_COLUMNS = (LEVEL, SHARE, LOCKED)
"""Of the sheet Levels, that are read; the others are figures of the export."""
BUDGET_COLUMNS = (LEVEL, QUERY, SHARE, LOCKED)
PASS_COLUMNS = (LEVEL, "Stage", "Outer pass", "Inner pass", "Queries")
RULE_COLUMNS = (LEVEL, "Kind", "Name")
LEAST_SQUARES, ROUNDER, NO_PASSES = "least squares", "rounder", "none"
INVARIANT, CONSTRAINT = "invariant", "constraint"
SPINE_KIND = "kind"
SEPARATOR = "; "
_ACCENT, _GREY = "#1f6fb2", "#5b6770"


def topdown_xlsx(scenario: Scenario, now: datetime) -> bytes:
    """Return the workbook of a TopDown scenario. The same scenario and time give the same bytes.

    Shares are text (``104/4099``), because no number cell holds them; percentages, budgets and margins beside them are
    figures of the export and are not read.

    Args:
        scenario: of TopDown.
        now: printed in it, with its zone.
    """
    import xlsxwriter  # noqa: PLC0415 - only an export pays for it

    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    created = now.astimezone(UTC).replace(tzinfo=None)
    book.set_properties({"title": scenario.name, "author": "", "comments": "", "created": created})
    writer = _Writer(book, scenario)
    writer.levels()
    writer.budgets()
    writer.passes()
    writer.rules()
    writer.spine()
    writer.settings()
    writer.about(now)
    book.close()
    return buffer.getvalue()


class _Writer:
    """Writes the sheets of one scenario."""

    def __init__(self, book: Any, scenario: Scenario) -> None:
        self._book, self._scenario, self._method = book, scenario, scenario.topdown
        self._figures = forecast_topdown(self._method, scenario.conventions)
        head = {"bold": True, "text_wrap": True, "valign": "top", "font_color": "#ffffff"}
        self._read_head = book.add_format({**head, "bg_color": _ACCENT})
        self._figure_head = book.add_format({**head, "bg_color": _GREY})
        self._text = book.add_format({"num_format": "@"})
        self._wrap = book.add_format({"num_format": "@", "text_wrap": True, "valign": "top"})
        self._percent = book.add_format({"num_format": '0.00" %"'})
        self._figure = book.add_format({"num_format": "#,##0.00####"})

    def levels(self) -> None:
        """Write the levels, widest first, with their shares."""
        symbol = self._method.framework.symbol
        sheet = self._sheet(LEVELS_SHEET, LEVEL_COLUMNS, ("Share, %", f"{symbol} of the level"))
        for line, level in enumerate(self._method.levels, start=1):
            share = self._method.level_shares[level]
            locked = YES if level in self._method.locked_levels else ""
            self._line(sheet, line, (level, str(share), locked))
            sheet.write_number(line, 3, float(share * 100), self._percent)
            sheet.write_number(line, 4, float(share * self._method.total), self._figure)
        sheet.set_column(0, 4, 22)

    def budgets(self) -> None:
        """Write every measured query with its share of its level, level by level."""
        symbol, confidence = self._method.framework.symbol, exact_text(self._scenario.conventions.confidence * 100)
        figures = (
            "Share, %",
            f"{symbol} of the query",
            f"Noise scale ({counted(self._method.schema)})",
            f"Margin of one answer, {confidence} %",
        )
        sheet = self._sheet(BUDGETS_SHEET, BUDGET_COLUMNS, figures)
        entries = {entry.key: entry for entry in self._figures.entries}
        keys = [key for level in self._method.levels for key in self._method.query_shares if key.level == level]
        for line, key in enumerate(keys, start=1):
            share = self._method.query_shares[key]
            locked = YES if key in self._method.locked_queries else ""
            self._line(sheet, line, (key.level, key.query, str(share), locked))
            sheet.write_number(line, 4, float(share * 100), self._percent)
            self._write_figures(sheet, line, entries.get(key))
        sheet.set_column(0, 0, 22)
        sheet.set_column(1, 1, 44)
        sheet.set_column(2, 7, 18)
        sheet.freeze_panes(1, 2)
        sheet.autofilter(0, 0, len(keys), 7)

    def _write_figures(self, sheet: Any, line: int, entry: LevelQueryForecast | None) -> None:
        if entry is None:
            return
        sheet.write_number(line, 5, float(entry.budget), self._figure)
        if entry.sigma is not None:
            sheet.write_number(line, 6, entry.sigma, self._figure)
        if entry.margins is not None:
            sheet.write_number(line, 7, entry.margins.by(self._scenario.conventions.margin), self._figure)

    def passes(self) -> None:
        """Write the order of post-processing, a line per inner pass; passes count from 1."""
        sheet = self._sheet(PASSES_SHEET, PASS_COLUMNS, ())
        line = 1
        for level, passes in self._method.passes.items():
            stages = ((LEAST_SQUARES, passes.least_squares), (ROUNDER, passes.rounder))
            found = [
                (level, stage, str(outer), str(inner), SEPARATOR.join(queries))
                for stage, outers in stages
                for outer, inners in enumerate(outers, start=1)
                for inner, queries in enumerate(inners, start=1)
            ]
            for cells in found or [(level, NO_PASSES, "", "", "")]:
                self._line(sheet, line, cells)
                line += 1
        sheet.set_column(0, 3, 16)
        sheet.set_column(4, 4, 100)

    def rules(self) -> None:
        """Write invariants and constraints, a line each; a level that states it has none keeps an empty line."""
        sheet = self._sheet(RULES_SHEET, RULE_COLUMNS, ())
        line = 1
        for kind, rules in ((INVARIANT, self._method.invariants), (CONSTRAINT, self._method.constraints)):
            for level, names in rules.items():
                for name in names or ("",):
                    self._line(sheet, line, (level, kind, name))
                    line += 1
        sheet.set_column(0, 1, 18)
        sheet.set_column(2, 2, 44)

    def spine(self) -> None:
        """Write the spine."""
        sheet = self._sheet(SPINE_SHEET, SETTING_HEADERS, ())
        spine = self._method.spine
        for line, cells in enumerate(((SPINE_KIND, spine.kind), *spine.settings), start=1):
            self._line(sheet, line, cells)
        sheet.set_column(0, 0, 34)
        sheet.set_column(1, 1, 70)

    def settings(self) -> None:
        """Write everything else, as text that is read back exactly."""
        sheet = self._sheet(SETTINGS_SHEET, SETTING_HEADERS, ())
        scenario, method = self._scenario, self._method
        values = {
            NAME: scenario.name,
            NOTE: scenario.note,
            BASELINE: scenario.baseline,
            FRAMEWORK: method.framework.value,
            SCHEMA: method.schema,
            TOTAL: str(method.total),
            **encode(scenario.conventions),
        }
        for line, cells in enumerate(values.items(), start=1):
            self._line(sheet, line, cells, self._wrap)
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, 1, 90)

    def about(self, now: datetime) -> None:
        """Write what the workbook is and which parameters it was made from."""
        sheet = self._book.add_worksheet(ABOUT_SHEET)
        lines = (
            ("Parameters of TopDown", self._scenario.name),
            ("Made", now.isoformat(timespec="seconds")),
            ("Fingerprint", fingerprint(self._scenario)),
            ("Read on import", "Columns with a blue head and the sheets Passes, Rules, Spine and Settings."),
            ("Not read", "Columns with a grey head: figures of this export. They do not follow an edit made here."),
            ("Shares", "Exact, as fractions or decimals in text cells: 104/4099 or 0.25. They add up to 1, also at every level."),
            ("Margins", "Of one answer as it is measured; post-processing makes most of them smaller and biases small counts."),
        )  # fmt: skip
        for line, (name, text) in enumerate(lines):
            sheet.write_string(line, 0, name)
            sheet.write_string(line, 1, text, self._wrap)
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, 1, 90)

    def _sheet(self, title: str, read: tuple[str, ...], figures: tuple[str, ...]) -> Any:
        sheet = self._book.add_worksheet(title)
        for place, header in enumerate((*read, *figures)):
            sheet.write_string(0, place, header, self._read_head if place < len(read) else self._figure_head)
        sheet.freeze_panes(1, 0)
        return sheet

    def _line(self, sheet: Any, line: int, cells: tuple[str, ...], look: Any = None) -> None:
        for place, text in enumerate(cells):
            sheet.write_string(line, place, text, look or self._text)
