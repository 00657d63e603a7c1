"""A workbook of TopDown parameters as a scenario; every problem with its cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.sheet_grids import GridCell, sheet_grids
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, Passes, SpineChoice, TopDown
from phexplore.opening import read_bytes
from phexplore.report.workbook_reading import WorkbookReader
from phexplore.report.workbook_settings import (
    FRAMEWORK,
    NO,
    SETTING_HEADERS,
    SETTINGS_SHEET,
    YES,
)
from phexplore.systems.topdown.forecast import query_of
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.workbook import (
    BUDGET_COLUMNS,
    BUDGETS_SHEET,
    CONSTRAINT,
    INVARIANT,
    LEAST_SQUARES,
    LEVEL_COLUMNS,
    LEVELS_SHEET,
    NO_PASSES,
    PASS_COLUMNS,
    PASSES_SHEET,
    ROUNDER,
    RULE_COLUMNS,
    RULES_SHEET,
    SCHEMA,
    SEPARATOR,
    SPINE_KIND,
    SPINE_SHEET,
    TOTAL,
)
from phexplore.workload.schema import load_schema

_MOST_PASSES = 1000


def is_workbook(path: Path) -> bool:
    """Return whether the sheets of a workbook hold TopDown parameters."""
    settings = dict(sheet_grids(read_bytes(path), path.name)).get(SETTINGS_SHEET, [])
    return any(line and line[0].text == SCHEMA for line in settings)


def load_workbook(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a workbook from a file; see `read_topdown_workbook`."""
    return read_topdown_workbook(read_bytes(path), path.name), ()


def read_topdown_workbook(content: bytes, name: str = "workbook.xlsx") -> Scenario:
    """Read a workbook as this program writes it, edited or not.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        InputProblemsError: everything that is wrong, each with its cell.
    """
    reader = _Reader(name, dict(sheet_grids(content, name)))
    scenario = reader.scenario()
    if scenario is None or reader.issues:
        raise InputProblemsError(reader.issues)
    return scenario


class _Reader(WorkbookReader):
    """Collects values and problems of one workbook."""

    def scenario(self) -> Scenario | None:
        """Return what the sheets say together; None where something is wrong."""
        settings = {line[0].text: line[1] for line in self._lines(SETTINGS_SHEET, SETTING_HEADERS) if line[0].text}
        schema = self._schema(settings.get(SCHEMA))
        total = self._total(settings.get(TOTAL))
        shares, locked_levels = self._levels()
        queries, locked_queries = self._queries(schema, shares)
        passes, spine = self._passes(shares), self._spine()
        invariants, constraints = self._rules(shares)
        framework = self.choice(settings.get(FRAMEWORK), PrivacyFramework, PrivacyFramework.ZCDP)
        conventions = self.conventions(settings)
        if self.issues or total is None:
            return None
        method = TopDown(
            schema=schema,
            levels=tuple(shares),
            total=total,
            level_shares=shares,
            query_shares=queries,
            framework=framework,
            passes=passes,
            invariants=invariants,
            constraints=constraints,
            spine=spine,
            locked_levels=frozenset(locked_levels),
            locked_queries=frozenset(locked_queries),
        )
        return self.scenario_of(method, settings, conventions, topdown_presets())

    def _lines(self, sheet: str, headers: Sequence[str]) -> Iterator[list[GridCell]]:
        """Yield the cells under these headers, line by line; a missing sheet or header is one problem."""
        grid = self.sheets.get(sheet)
        if not grid:
            issue = Issue((self.name,), f"There is no sheet {sheet!r}.", "Start from an exported workbook.")
            self.issues.append(issue)
            return
        titles = [" ".join(cell.text.split()).casefold() for cell in grid[0]]
        missing = [header for header in headers if header.casefold() not in titles]
        if missing:
            self.report(
                grid[0][0], f"The sheet {sheet!r} has no column {missing[0]!r}", "Keep the headers as exported."
            )
            return
        places = [titles.index(header.casefold()) for header in headers]
        for line in grid[1:]:
            cells = [line[place] for place in places]
            if not any(cell.text or cell.trouble for cell in cells):
                continue
            if troubled := [cell for cell in cells if cell.trouble]:
                for cell in troubled:
                    self.report(cell, f"The cell {cell.trouble}", "Enter it as text, e.g. 1/4 in a text cell.")
                continue
            yield cells

    def _schema(self, cell: GridCell | None) -> str:
        if cell is None:
            if SETTINGS_SHEET in self.sheets:
                self.issues.append(Issue((self.name, SETTINGS_SHEET), "There is no schema.", "Add the line Schema."))
            return ""
        try:
            load_schema(cell.text)
        except PhexploreError as error:
            self.report(cell, error.sentence.rstrip("."), error.remedy)
        return cell.text

    def _total(self, cell: GridCell | None) -> Fraction | None:
        if cell is None:
            if SETTINGS_SHEET in self.sheets:
                self.issues.append(Issue((self.name, SETTINGS_SHEET), "There is no total.", "Add the line Total."))
            return None
        found = self._number(cell, "The total")
        if found is not None and found <= 0:
            self.report(cell, f"The total is positive, got {cell.text}", "Enter e.g. 2.56.")
            return None
        return found

    def _levels(self) -> tuple[dict[str, Fraction], list[str]]:
        shares: dict[str, Fraction] = {}
        locked: list[str] = []
        for level, share, lock in self._lines(LEVELS_SHEET, LEVEL_COLUMNS):
            if not level.text or level.text in shares:
                self.report(level, f"The level {level.text!r} stands twice or has no name", "Name every level once.")
                continue
            shares[level.text] = self._share(share)
            locked += [level.text] if self._is_yes(lock) else []
        self._confirm_whole(LEVELS_SHEET, "The levels", shares.values())
        return shares, locked

    def _queries(
        self, schema: str, levels: Mapping[str, Fraction]
    ) -> tuple[dict[LevelQuery, Fraction], list[LevelQuery]]:
        shares: dict[LevelQuery, Fraction] = {}
        locked: list[LevelQuery] = []
        for level, query, share, lock in self._lines(BUDGETS_SHEET, BUDGET_COLUMNS):
            key = LevelQuery(level.text, query.text)
            if not self._is_level(level, levels):
                continue
            if key in shares:
                self.report(query, f"{key.text} stands twice", "Remove one of the lines.")
                continue
            if schema:
                try:
                    query_of(schema, query.text)
                except PhexploreError as error:
                    self.report(query, error.sentence.rstrip("."), error.remedy)
            shares[key] = self._share(share)
            locked += [key] if self._is_yes(lock) else []
        for level_name in levels:
            asked = [share for key, share in shares.items() if key.level == level_name]
            if asked or levels[level_name]:
                self._confirm_whole(BUDGETS_SHEET, f"The queries at {level_name}", asked)
        return shares, locked

    def _passes(self, levels: Mapping[str, Fraction]) -> dict[str, Passes]:
        placed: dict[str, dict[str, dict[tuple[int, int], tuple[str, ...]]]] = {}
        for level, stage, outer, inner, queries in self._lines(PASSES_SHEET, PASS_COLUMNS):
            if not self._is_level(level, levels):
                continue
            stages = placed.setdefault(level.text, {LEAST_SQUARES: {}, ROUNDER: {}})
            kind = stage.text.casefold()
            if kind == NO_PASSES:
                continue
            if kind not in stages:
                self.report(stage, f"{stage.text!r} is no stage", f"Enter {LEAST_SQUARES}, {ROUNDER} or {NO_PASSES}.")
                continue
            place = self._place(outer), self._place(inner)
            if place[0] is None or place[1] is None:
                continue
            names = tuple(part.strip() for part in queries.text.split(SEPARATOR.strip()) if part.strip())
            if (place[0], place[1]) in stages[kind]:
                self.report(
                    outer, f"The pass {place[0]}.{place[1]} of {level.text} stands twice", "Number passes once."
                )
            stages[kind][place[0], place[1]] = names
        return {
            level: Passes(_nested(stages[LEAST_SQUARES]), _nested(stages[ROUNDER])) for level, stages in placed.items()
        }

    def _place(self, cell: GridCell) -> int | None:
        if cell.text.isdigit() and 1 <= int(cell.text) <= _MOST_PASSES:
            return int(cell.text)
        self.report(cell, f"A pass is numbered from 1, got {cell.text!r}", "Enter 1, 2, …")
        return None

    def _rules(self, levels: Mapping[str, Fraction]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        found: dict[str, dict[str, tuple[str, ...]]] = {INVARIANT: {}, CONSTRAINT: {}}
        for level, kind, name in self._lines(RULES_SHEET, RULE_COLUMNS):
            if kind.text.casefold() not in found:
                self.report(kind, f"{kind.text!r} is no kind of rule", f"Enter {INVARIANT} or {CONSTRAINT}.")
            elif self._is_level(level, levels):
                rules = found[kind.text.casefold()]
                rules[level.text] = (*rules.get(level.text, ()), *((name.text,) if name.text else ()))
        return found[INVARIANT], found[CONSTRAINT]

    def _spine(self) -> SpineChoice:
        pairs = [(name.text, value.text) for name, value in self._lines(SPINE_SHEET, SETTING_HEADERS)]
        kinds = [value for name, value in pairs if name == SPINE_KIND]
        if len(kinds) != 1 and SPINE_SHEET in self.sheets:
            self.issues.append(
                Issue((self.name, SPINE_SHEET), f"The kind of the spine stands {len(kinds)} times.", "State it once.")
            )
        return SpineChoice(kinds[0] if kinds else "standard", tuple(pair for pair in pairs if pair[0] != SPINE_KIND))

    def _is_level(self, cell: GridCell, levels: Mapping[str, Fraction]) -> bool:
        if cell.text in levels:
            return True
        if levels:  # else the sheet of levels is the problem
            self.report(cell, f"{cell.text!r} is not a level of the sheet {LEVELS_SHEET}", "Name one of its levels.")
        return False

    def _is_yes(self, cell: GridCell) -> bool:
        if cell.text.casefold() not in {YES, NO, ""}:
            self.report(cell, f"{cell.text!r} is neither yes nor no", "Enter yes, or leave the cell empty.")
        return cell.text.casefold() == YES

    def _share(self, cell: GridCell) -> Fraction:
        found = self._number(cell, "A share")
        if found is None:
            return Fraction(0)
        if not 0 <= found <= 1:
            self.report(cell, f"A share lies between 0 and 1, got {cell.text}", "Enter a fraction such as 104/4099.")
            return Fraction(0)
        return found

    def _number(self, cell: GridCell, what: str) -> Fraction | None:
        try:
            return parse_exact(cell.text)
        except ValueError:
            self.report(
                cell, f"{what} is an exact number, got {cell.text!r}", "Enter a decimal or a fraction, e.g. 1/4."
            )
            return None

    def _confirm_whole(self, sheet: str, what: str, shares: Any) -> None:
        total = sum(shares, Fraction(0))
        if total != 1 and sheet in self.sheets and not self.issues:
            sentence = f"{what} have shares that add up to {total}, not to 1."
            self.issues.append(
                Issue((self.name, sheet), sentence, "Correct a share; fractions such as 104/4099 are exact.")
            )


def _nested(placed: Mapping[tuple[int, int], tuple[str, ...]]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the passes; gaps in the numbering close."""
    outer: dict[int, list[tuple[str, ...]]] = {}
    for (first, _), queries in sorted(placed.items()):
        outer.setdefault(first, []).append(queries)
    return tuple(tuple(inner) for _, inner in sorted(outer.items()))
