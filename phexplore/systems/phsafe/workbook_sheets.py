"""The sheets Levels, Thresholds and Settings beside the table of budgets: the three groups of inputs a committee works with.

Args:
    book: that is written.
    scenario: the parameters.
"""

from __future__ import annotations

from typing import Any

from phexplore.catalog.tables import config_tables, truncated_tables
from phexplore.model.fields import encode
from phexplore.model.keys import LEVELS, QueryKey
from phexplore.model.scenario import Scenario
from phexplore.report.workbook_settings import (
    BASELINE,
    FRAMEWORK,
    LEVELS_SHEET,
    NAME,
    NO,
    NOTE,
    READER,
    SETTING_HEADERS,
    SETTINGS_SHEET,
    STATES,
    THRESHOLDS_SHEET,
    YES,
)

TABLE_HEADER, THRESHOLD_HEADER = "Table", "Truncation Threshold"


def write_levels(book: Any, scenario: Scenario) -> None:
    """Write which table is published at which level: yes, no, or nothing where the table has no such level.

    Args:
        book: of xlsxwriter.
        scenario: to write.
    """
    sheet, head = book.add_worksheet(LEVELS_SHEET), book.add_format({"bold": True, "text_wrap": True})
    sheet.write_string(0, 0, TABLE_HEADER, head)
    for place, level in enumerate(LEVELS, start=1):
        sheet.write_string(0, place, f"({level.title})", head)
    for line, product in enumerate(config_tables(), start=1):
        sheet.write_string(line, 0, product.id)
        for place, level in enumerate(LEVELS, start=1):
            if level in product.levels:
                published = scenario.phsafe.budgets[QueryKey(product.id, level)] != 0
                sheet.write_string(line, place, YES if published else NO)
                sheet.data_validation(line, place, line, place, {"validate": "list", "source": [YES, NO]})
    sheet.set_column(0, len(LEVELS), 16)
    sheet.freeze_panes(1, 1)


def write_thresholds(book: Any, scenario: Scenario) -> None:
    """Write τ of every truncated table.

    Args:
        book: of xlsxwriter.
        scenario: to write.
    """
    sheet, head = book.add_worksheet(THRESHOLDS_SHEET), book.add_format({"bold": True})
    sheet.write_string(0, 0, TABLE_HEADER, head)
    sheet.write_string(0, 1, THRESHOLD_HEADER, head)
    for line, product in enumerate(truncated_tables(), start=1):
        sheet.write_string(line, 0, product.id)
        sheet.write_number(line, 1, scenario.phsafe.thresholds[product.id])
    sheet.set_column(0, 1, 20)


def write_settings(book: Any, scenario: Scenario) -> None:
    """Write everything else that makes the scenario, as text that is read back exactly.

    Args:
        book: of xlsxwriter.
        scenario: to write.
    """
    sheet, head = book.add_worksheet(SETTINGS_SHEET), book.add_format({"bold": True})
    wrap = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
    for place, header in enumerate(SETTING_HEADERS):
        sheet.write_string(0, place, header, head)
    for line, (name, text) in enumerate(settings_of(scenario).items(), start=1):
        sheet.write_string(line, 0, name)
        sheet.write_string(line, 1, text, wrap)
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 90)


def settings_of(scenario: Scenario) -> dict[str, str]:
    """Return the settings by their name in the workbook."""
    method = scenario.phsafe
    return {
        NAME: scenario.name,
        NOTE: scenario.note,
        BASELINE: scenario.baseline,
        FRAMEWORK: method.framework.value,
        READER: method.reader,
        STATES: ", ".join(method.states),
        **encode(scenario.conventions),
    }
