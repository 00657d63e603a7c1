"""The overview and the scenario page of group sizes and of releases under exact sums."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.mechanism_session import MechanismSession
from phexplore.gui.binding.shown import Shown
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.editors.conventions_editor import ConventionsEditor
from phexplore.gui.editors.mechanism_forms import (
    MechanismScenarioEditor,
    PromiseText,
    size_promises,
    subspace_promises,
)
from phexplore.gui.editors.mechanism_panels import MechanismChangesPanel
from phexplore.gui.editors.scenario_manager import ScenarioManager
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.page import Page, Section
from phexplore.systems.group_sizes import figures as size_figures
from phexplore.systems.subspace import figures as subspace_figures
from phexplore.systems.subspace.forecast import Alternative, alternatives

_ERRORS = "The figures appear here when the errors of the scenario are cured; the list of issues says how."
_COLUMN = 46 * GRID
"""Least width of a picture beside another at normal text size."""
_STACKED = 34 * GRID
"""Height of a part where they stand below each other."""


class MechanismOverview(QWidget):
    """Pictures and sentences in two columns, below each other where there is no room; drawn anew while they are seen.

    Signals:
        opened: the name of the level or release to edit.
        failed: a `PhexploreError` of a chart.
    """

    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, session: MechanismSession, columns: tuple[tuple[QWidget, ...], ...]) -> None:
        super().__init__()
        self._session = session
        self._is_stale = True
        self._parts = [part for column in columns for part in column]
        self.changes = next(part for part in self._parts if isinstance(part, MechanismChangesPanel))
        for chart in self.charts:
            chart.failed.connect(self.failed)
            if isinstance(chart, FigureView):
                chart.key_selected.connect(session.select)
                chart.key_activated.connect(self.opened)
                session.selected.connect(chart.select_key)
        session.settled.connect(self._on_settled)
        place = QScrollArea(self)
        place.setWidgetResizable(True)
        place.setFrameShape(QFrame.Shape.NoFrame)
        place.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        place.setAccessibleName("Overview")
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(place)
        content = QWidget(place)
        self._columns = row = QBoxLayout(QBoxLayout.Direction.LeftToRight, content)
        row.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        row.setSpacing(GRID)
        for parts in columns:
            column = QVBoxLayout()
            column.setSpacing(GRID)
            for part in parts:
                column.addWidget(part, 0 if isinstance(part, Section) else 1)
            row.addLayout(column, 1)
        place.setWidget(content)
        appearance().changed.connect(self._fit)

    @property
    def charts(self) -> tuple[ChartFrame, ...]:
        """All pictures of the page."""
        return tuple(part for part in self._parts if isinstance(part, ChartFrame))

    def refresh(self) -> None:
        """Draw what the session shows."""
        self.changes.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _on_settled(self, _shown: object) -> None:
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self.refresh()

    def _fit(self, _colours: object = None) -> None:
        scale = appearance().scale
        is_narrow = self.width() < 2 * _COLUMN * scale // 100
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        for part in self._parts:
            if not isinstance(part, Section):
                part.setMinimumHeight(_STACKED * scale // 100 if is_narrow else 0)


class GroupSizesOverview(MechanismOverview):
    """What a release of group sizes costs and gives before any run."""

    def __init__(self, session: MechanismSession) -> None:
        self.margins = FigureView("Margins by level", "Margins of error by level appear here.")
        self.mechanisms = FigureView("Noise by mechanism", "The noise of every mechanism on this budget appears here.")
        self.shares = FigureView(
            "Privacy loss by level", "How the privacy loss is divided among the levels appears here."
        )
        promise = Section("What the number means", "", PromiseText(session, size_promises))
        super().__init__(
            session, ((self.margins, self.mechanisms), (self.shares, promise, MechanismChangesPanel(session)))
        )

    def refresh(self) -> None:
        super().refresh()
        shown = self._session.shown
        reference = None if shown.reference is None else shown.reference.scenario.group_sizes
        self.shares.show_figure(size_figures.levels_figure(shown.scenario.group_sizes, reference))
        if shown.group_sizes is None:
            self.margins.show_empty(_ERRORS)
            self.mechanisms.show_empty(_ERRORS)
            return
        self.margins.show_figure(
            size_figures.margins_figure(shown.scenario, shown.group_sizes, shown.reference_group_sizes)
        )
        self.mechanisms.show_figure(size_figures.mechanisms_figure(shown.scenario))


class SubspaceOverview(MechanismOverview):
    """What releases under exact sums cost and give before any run; other mechanisms on the same budget beside the chosen one."""

    def __init__(self, session: MechanismSession) -> None:
        self.alternatives = FigureView(
            "Expected error by mechanism", "The expected error of every mechanism on this budget appears here."
        )
        self.margins = FigureView("Margins of the answers", "Margins of the answers appear here.")
        promise = Section("What the number means", "", PromiseText(session, subspace_promises))
        super().__init__(session, ((self.alternatives, self.margins), (promise, MechanismChangesPanel(session))))
        self._work = Latest(_alternatives, self)
        self._work.finished.connect(self._show_alternatives)
        self._work.failed.connect(self._on_failed)

    def refresh(self) -> None:
        super().refresh()
        shown = self._session.shown
        if shown.subspace is None:
            self.margins.show_empty(_ERRORS)
            self.alternatives.show_empty(_ERRORS)
            return
        self.margins.show_figure(subspace_figures.margins_figure(shown.subspace, shown.scenario.conventions))
        self._work.request(shown)

    def stop(self) -> None:
        """Finish what is being worked out, because the window closes."""
        self._work.stop()

    def _show_alternatives(self, found: tuple[Shown, list[tuple[str, tuple[Alternative, ...]]]]) -> None:
        shown, choices = found
        if shown is self._session.shown:
            self.alternatives.show_figure(subspace_figures.alternatives_figure(shown.scenario.subspace, choices))

    def _on_failed(self, error: BaseException) -> None:
        self.alternatives.show_empty(str(error))


def _alternatives(shown: Shown) -> tuple[Shown, list[tuple[str, tuple[Alternative, ...]]]]:
    method = shown.scenario.subspace
    return shown, [(name, alternatives(method, name)) for name in method.releases]


def mechanism_scenario_page(session: MechanismSession, neighbours: str) -> QWidget:
    """Return the page of scenarios, the description of the active one and conventions.

    Args:
        session: of the system.
        neighbours: whose difference is hidden, in a sentence.
    """
    whole = session.whole
    return Page(
        "Scenario",
        [
            Section(
                "Scenarios of this project",
                "Work on one, compare it with another. The bold one is being edited.",
                ScenarioManager(whole),
            ),
            Section("This scenario", "", MechanismScenarioEditor(session)),
            Section(
                "Conventions",
                f"What the shown numbers mean. Changing them changes no parameter. {neighbours}",
                ConventionsEditor(whole),
            ),
        ],
    )
