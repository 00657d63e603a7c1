"""A workbook as a scenario: budgets as in Table 10, levels, thresholds and settings; every problem with its cell.

Args:
    content: of the file.
    name: of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from phexplore.catalog.states import state
from phexplore.catalog.tables import queries, tables, truncated_tables
from phexplore.errors import PhexploreError
from phexplore.files.sheet_grids import Grid, GridCell, sheet_grids
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.keys import LEVELS, PopulationGroupLevel, QueryKey, TableId
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.report.workbook_reading import WorkbookReader
from phexplore.report.workbook_settings import (
    FRAMEWORK,
    LEVELS_SHEET,
    NO,
    READER,
    SETTINGS_SHEET,
    STATES,
    THRESHOLDS_SHEET,
    YES,
)
from phexplore.systems.phsafe.presets import phsafe_presets
from phexplore.systems.phsafe.table10_read import Table10Entry, read_table10
from phexplore.systems.phsafe.workbook_sheets import TABLE_HEADER

_LIKE = "sdhc-2020-us"


def is_workbook(path: Path) -> bool:
    """Return whether a workbook says more than a table of budgets."""
    settings = dict(sheet_grids(read_bytes(path), path.name)).get(SETTINGS_SHEET, [])
    return any(line and line[0].text in {READER, STATES} for line in settings)


def load_workbook(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a workbook from a file; see `read_workbook`."""
    return read_workbook(read_bytes(path), path.name)


def read_workbook(content: bytes, name: str = "workbook.xlsx") -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a workbook as this program writes it, or one typed by hand with a table of budgets at least.

    A level marked *no* on the sheet Levels is not published, whatever its budget; its target stays.

    Args:
        content: of the XLSX file.
        name: of the file, for problems.

    Returns:
        The scenario, and what had to be assumed.

    Raises:
        InputProblemsError: everything that is wrong, each with its cell.
    """
    entries = read_table10(content, name)
    reader = _Reader(name, dict(sheet_grids(content, name)))
    scenario = reader.scenario(entries)
    if reader.issues:
        raise InputProblemsError(reader.issues)
    return scenario, tuple(reader.warnings)


class _Reader(WorkbookReader):
    """Collects values and problems of one workbook."""

    def __init__(self, name: str, sheets: Mapping[str, Grid]) -> None:
        super().__init__(name, sheets)
        self.warnings: list[Issue] = []

    def assume(self, sheet: str, what: str) -> None:
        sentence = f"There is no sheet {sheet!r}; {what}."
        self.warnings.append(Issue((self.name,), sentence, "Add the sheet to say otherwise.", Severity.WARNING))

    def scenario(self, entries: Sequence[Table10Entry]) -> Scenario:
        """Return what the sheets say together."""
        settings = self._settings()
        budgets: dict[QueryKey, Budget] = dict.fromkeys(queries(), Fraction(0))
        budgets |= {entry.query: entry.budget for entry in entries}
        targets = {entry.query: entry.target for entry in entries if entry.target is not None}
        thresholds = self._thresholds({e.query.table: e.threshold for e in entries if e.threshold is not None})
        for query, is_published in self._published().items():
            if not is_published:
                budgets[query] = Fraction(0)
        method = PhSafe(
            budgets=budgets,
            thresholds=thresholds,
            states=self._states(settings.get(STATES)),
            framework=self.choice(settings.get(FRAMEWORK), PrivacyFramework, PrivacyFramework.ZCDP),
            reader=settings[READER].text if READER in settings else "csv",
            targets=targets,
        )
        return self.scenario_of(method, settings, self.conventions(settings), phsafe_presets())

    def _settings(self) -> dict[str, GridCell]:
        grid = self.sheets.get(SETTINGS_SHEET)
        if grid is None:
            self.assume(SETTINGS_SHEET, f"states, privacy definition and conventions are those of {_LIKE}")
            return {}
        return {line[0].text: line[1] for line in grid[1:] if len(line) > 1 and line[0].text}

    def _thresholds(self, stated: Mapping[TableId, int]) -> dict[TableId, int]:
        """Return τ per table: of the sheet Thresholds; the table of budgets must agree."""
        grid = self.sheets.get(THRESHOLDS_SHEET)
        found: dict[TableId, int] = {}
        for line in grid[1:] if grid else ():
            if len(line) < 2 or not line[0].text:
                continue
            table, people = TableId(line[0].text), line[1].text
            if table not in tables() or not tables()[table].truncated:
                self.report(line[0], f"{line[0].text!r} takes no truncation threshold", "Remove the line.")
            elif not people.isdigit() or int(people) < 1:
                self.report(line[1], f"τ of {table} is a whole number from 1, got {people!r}", "Enter e.g. 10.")
            elif stated.get(table, int(people)) != int(people):
                sentence = f"τ of {table} is {people} here and {stated[table]} in the table of budgets"
                self.report(line[1], sentence, "Make the two agree.")
            else:
                found[table] = int(people)
        default = phsafe_presets()[_LIKE].scenario.phsafe.thresholds
        return {p.id: found.get(p.id, stated.get(p.id, default[p.id])) for p in truncated_tables()}

    def _published(self) -> dict[QueryKey, bool]:
        grid = self.sheets.get(LEVELS_SHEET)
        if not grid:
            return {}
        titles = {f"({level.title})".casefold(): level for level in LEVELS}
        header = [titles.get(" ".join(cell.text.split()).casefold()) for cell in grid[0]]
        found: dict[QueryKey, bool] = {}
        for line in grid[1:]:
            table = TableId(line[0].text) if line else TableId("")
            if table not in tables() or table == TABLE_HEADER:
                continue
            for cell, level in zip(line, header, strict=False):
                if level is not None and cell.text:
                    self._mark(cell, table, level, found)
        return found

    def _mark(self, cell: GridCell, table: TableId, level: PopulationGroupLevel, found: dict[QueryKey, bool]) -> None:
        if level not in tables()[table].levels:
            self.report(cell, f"{table} is not published at {level.title}", "Empty the cell.")
        elif cell.text.casefold() not in {YES, NO}:
            self.report(cell, f"{cell.text!r} is neither yes nor no", "Enter yes or no.")
        else:
            found[QueryKey(table, level)] = cell.text.casefold() == YES

    def _states(self, cell: GridCell | None) -> tuple[str, ...]:
        if cell is None:
            return phsafe_presets()[_LIKE].scenario.phsafe.states
        found: list[str] = []
        for part in cell.text.split(","):
            if part.strip():
                try:
                    found.append(state(part).fips)
                except PhexploreError as error:
                    self.report(cell, error.sentence.rstrip("."), error.remedy)
        return tuple(dict.fromkeys(found))
