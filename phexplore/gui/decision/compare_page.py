"""Any number of scenarios and runs side by side: only what differs, its effects, and all of them in one picture."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtWidgets import QTabWidget

from phexplore.decide.comparison_view import ColumnChoice, ComparisonRequest, ComparisonView, comparison_view
from phexplore.document.project import Project
from phexplore.document.reference_versions import ReferenceVersions
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.decision.tick_page import TickPage
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_title
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, PICTURE_HEIGHT
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import stacked
from phexplore.gui.widgets.tick_list import TickEntry
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.runs.states import RunState
from phexplore.systems.registry import presets

_TEACHING = "Tick two or more at the left: every margin that differs is drawn here, all on one scale."
_MOST_COLUMNS = 6
"""Lines of the table of columns before it scrolls."""
_LEAST_DETAILS = 6
"""Lines of the tables below it that are seen at least, where there are so many: a small window scrolls to them."""


class Detail(enum.Enum):
    """The tables below the columns, called like their fields of a `ComparisonView`. The value is the title."""

    PARAMETERS = "Parameters and effects"
    MARGINS = "Margins"
    MEASURED = "Measured in runs"
    RULES = "Decision rules"
    COMMENTS = "Comments"


class ComparePage(TickPage):
    """Ticks at the left, figures and picture at the right; everything follows the project."""

    def __init__(self, session: Session, controller: RunController) -> None:
        """Make the page.

        Args:
            session: the project.
            controller: its runs.
        """
        super().__init__(session, "Compare", "What is compared")
        self._controller = controller
        self._choices: dict[object, ColumnChoice] = {}
        self._work = Latest(comparison_view, self)
        self._work.finished.connect(self._show)
        self._work.failed.connect(self.refuse)
        self.columns = NumbersTable()
        self.columns.setAccessibleName("Scenarios and runs that are compared")
        self.details = QTabWidget()
        self.details.setAccessibleName("Tables of the comparison")
        self.details.setDocumentMode(True)
        self.tables: Mapping[Detail, NumbersTable] = {
            detail: NumbersTable(is_wrapped=detail is Detail.PARAMETERS) for detail in Detail
        }
        for detail, table in self.tables.items():
            table.setAccessibleName(detail.value)
            self.details.addTab(table, detail.value)
        for table in (self.columns, *self.tables.values()):
            table.horizontalHeader().setStretchLastSection(False)
        self.picture = FigureView("Margins laid over each other", _TEACHING)
        self.picture.failed.connect(self.failed)
        upper = stacked(self.columns, (self.details, 1))
        heading = Text("Compare", bold=True)
        self.lay_out((heading, self.list), (), "Comparison", (self.picture, upper), (PICTURE_HEIGHT, 270))
        self._seen = WhenSeen(self, self.refresh, session.settled, session.saved, controller.changed)
        self._seen.request()

    @property
    def chosen(self) -> tuple[ColumnChoice, ...]:
        """What is ticked: the project's baseline first if it is ticked, as the base of every difference; then from top to bottom."""
        baseline = self._baseline_keys()
        ticked = sorted((key for key in self.list.keys if key in self._choices), key=lambda key: key not in baseline)
        return tuple(self._choices[key] for key in ticked)

    def _baseline_keys(self) -> set[object]:
        reference = self._session.project.workbook.comparison
        return {f"scenario:{reference}", f"preset:{reference}", reference} if reference else set()

    def refresh(self) -> None:
        offered = column_choices(self._session.project, self._controller.rows)
        ticked = set(self.list.keys)
        self._choices = {choice.key: choice for choices in offered.values() for choice in choices}
        entries = []
        for heading, choices in offered.items():
            entries.append(TickEntry(None, heading))
            entries += [TickEntry(c.key, c.title, _tip(c)) for c in choices]
        self.list.show_entries(entries, ticked if self._is_touched else self._first_ticks())
        self.follow()

    def stop(self) -> None:
        """Finish what is being compared, because the window closes."""
        self._work.stop()

    def _first_ticks(self) -> set[object]:
        """Return the active scenario and its baseline: what somebody who just came here is likely to want."""
        likely = {f"scenario:{self._session.project.workbook.active}", *self._baseline_keys()}
        if len(ticked := likely & self._choices.keys()) > 1:
            return set(ticked)
        return ticked | set([key for key in self._choices if key not in ticked][:1])

    def follow(self) -> None:
        chosen = self.chosen
        if len(chosen) < 2:
            self.say_empty("Tick two or more scenarios or runs at the left to see what differs between them.")
            return
        self._work.request(ComparisonRequest(chosen, self._session.project.workbook.rules))

    def _show(self, view: ComparisonView) -> None:
        if len(self.chosen) < 2:
            return  # a tick was taken away meanwhile
        self.show_finding(view.title, view.sentence)
        self.columns.set_numbers(view.columns)
        for place, (detail, table) in enumerate(self.tables.items()):
            numbers = getattr(view, detail.name.lower())
            table.set_numbers(numbers)
            self.details.setTabText(place, f"{detail.value} ({len(numbers.rows)})" if numbers.rows else detail.value)
            self.details.setTabEnabled(place, bool(numbers.rows) or detail is Detail.PARAMETERS)
        self.picture.show_figure(view.overlay)
        self.fit()

    def fit(self, _colours: object = None) -> None:
        super().fit()
        lines = min(max(len(self.columns.numbers.rows), 1), _MOST_COLUMNS)
        height, head = (
            self.columns.verticalHeader().defaultSectionSize(),
            self.columns.horizontalHeader().sizeHint().height(),
        )
        is_cut = self.columns.horizontalHeader().length() > self.columns.viewport().width()
        bar = self.columns.horizontalScrollBar().sizeHint().height() if is_cut else 0
        self.columns.setFixedHeight(lines * height + head + bar + GRID)
        below = min(max(1, *(len(table.numbers.rows) for table in self.tables.values())), _LEAST_DETAILS)
        self.details.setMinimumHeight(self.details.tabBar().sizeHint().height() + head + below * height + 2 * GRID)


def _tip(choice: ColumnChoice) -> str:
    """Return where a run lies, for experts; "" for the title."""
    return f"{choice.title}\n{choice.run}" if choice.run is not None and appearance().is_expert else ""


def column_choices(project: Project, runs: Sequence[RunRow]) -> dict[str, list[ColumnChoice]]:
    """Return what can be compared with the active scenario, by heading; the active one comes first."""
    workbook, active = project.workbook, project.scenario
    system = type(active.method)
    own = [active, *(each for each in workbook.scenarios if each is not active and isinstance(each.method, system))]
    found = {"This project": [ColumnChoice(f"scenario:{each.name}", each.name, each) for each in own]}
    versions = ReferenceVersions(project)
    kept = []
    for title, key in versions.offers():
        found_version = versions.find(key)
        if found_version is not None and isinstance(found_version[1].method, system):
            kept.append(ColumnChoice(key, title, replace(found_version[1], name=title)))
    if kept:
        found["Kept by the project"] = kept
    finished = []
    for row in runs:
        if row.spec is not None and row.state is RunState.COMPLETE and isinstance(row.spec.scenario.method, system):
            name = row.directory.name
            finished.append(ColumnChoice(f"run:{name}", run_title(row), row.spec.scenario, row.directory))
    if finished:
        found["Runs"] = finished
    found["Published"] = [
        ColumnChoice(f"preset:{preset.id}", preset.title, preset.scenario)
        for preset in presets().values()
        if isinstance(preset.scenario.method, system)
    ]
    return found
