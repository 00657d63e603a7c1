"""The overview of a system: pictures, promises, changes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.figures.figure import Figure
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_panels import PlainChangesPanel
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.figures.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.page import Section

NO_PICTURE = "The figures appear here when the errors of the scenario are cured; the list of issues says how."
_COLUMN = 46 * GRID
"""Least width of a picture beside another at normal text size."""
_STACKED = 34 * GRID
"""Height of a part where they stand below each other."""


class PlainOverview(QWidget):
    """Pictures and sentences in two columns, below each other where there is no room; drawn anew while they are seen.

    Signals:
        opened: the name of the level or release to edit.
        failed: a `PhexploreError` of a chart.
    """

    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, session: PlainSession, columns: tuple[tuple[QWidget, ...], ...]) -> None:
        super().__init__()
        self._session = session
        self._is_stale = True
        self._parts = [part for column in columns for part in column]
        self.changes = next(part for part in self._parts if isinstance(part, PlainChangesPanel))
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


class ForecastOverview(PlainOverview):
    """What a system's forecast says: the margins, what is promised, what changed."""

    def __init__(self, session: PlainSession, figure: Callable[[ScenarioView], Figure]) -> None:
        """Make the page.

        Args:
            session: of the system.
            figure: draws a version.
        """
        self.margins = FigureView("Margins", "Margins of error appear here.")
        self._figure = figure
        promise = Section("What the number means", "", PromiseText(session))
        super().__init__(session, ((self.margins,), (promise, PlainChangesPanel(session))))

    def refresh(self) -> None:
        super().refresh()
        self.margins.show_figure(self._figure(self._session.shown))
