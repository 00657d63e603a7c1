"""Reading the workbooks that committees edit: what the readers of all systems do alike, every problem with its cell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from phexplore.files.sheet_grids import Grid, GridCell
from phexplore.model.conventions import Conventions, MarginConvention, Neighbours
from phexplore.model.issues import Issue
from phexplore.model.numbers import Rounding, parse_exact
from phexplore.model.scenario import Method, Scenario
from phexplore.report.workbook_settings import BASELINE, CONVENTION_KEYS, NAME, NOTE

Parsed = TypeVar("Parsed")

_KINDS: dict[str, Callable[[str], Any]] = {
    "neighbours": Neighbours, "margin": MarginConvention, "rounding": Rounding,
}  # fmt: skip


class WorkbookReader:
    """Collects values and problems of one workbook.

    Attributes:
        name: of the file.
        sheets: by name.
        issues: problems.
    """

    def __init__(self, name: str, sheets: Mapping[str, Grid]) -> None:
        self.name = name
        self.sheets = sheets
        self.issues: list[Issue] = []

    def report(self, cell: GridCell, sentence: str, remedy: str) -> None:
        """Keep a problem of a cell.

        Args:
            cell: where the problem is.
            sentence: what is wrong.
            remedy: what to do.
        """
        self.issues.append(Issue(cell.path, sentence, remedy, line=cell.line, column=cell.column))

    def choice(self, cell: GridCell | None, kind: Callable[[str], Parsed], default: Parsed) -> Parsed:
        """Return the value of a cell, the default where there is none.

        Args:
            cell: of a setting.
            kind: reads it; raises `ValueError`.
            default: for a setting that is not there.
        """
        if cell is None:
            return default
        try:
            return kind(cell.text)
        except ValueError as error:
            self.report(cell, f"{error}".rstrip("."), "Copy the value from an exported workbook.")
            return default

    def conventions(self, settings: Mapping[str, GridCell]) -> Conventions:
        """Return the conventions that the settings state."""
        default = Conventions()
        values = {
            key: self.choice(settings.get(key), _KINDS.get(key, parse_exact), getattr(default, key))
            for key in CONVENTION_KEYS
        }
        try:
            return replace(default, **values)
        except ValueError as error:
            place = next((settings[key] for key in CONVENTION_KEYS if key in settings), None)
            if place is not None:
                self.report(place, f"{error}", "Correct the conventions.")
            return default

    def scenario_of(
        self, method: Method, settings: Mapping[str, GridCell], conventions: Conventions, presets: Collection[str]
    ) -> Scenario:
        """Return parameters under the name, note and origin that the settings state.

        Args:
            method: the parameters.
            settings: by name.
            conventions: as read.
            presets: ids an origin can have.
        """
        text = {key: settings[key].text for key in (NAME, NOTE, BASELINE) if key in settings}
        baseline = text.get(BASELINE, "")
        return Scenario(
            name=text.get(NAME, "").replace("#", "-").strip() or self.name.removesuffix(".xlsx"),
            method=method,
            conventions=conventions,
            note=text.get(NOTE, ""),
            baseline=baseline if baseline in presets else "",
        )
