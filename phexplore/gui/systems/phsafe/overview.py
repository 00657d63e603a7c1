"""The charts of the scenario, joined to the session: what they show, what a click and a drag do."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.figures.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.phsafe.changes_panel import ChangesPanel
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.model.keys import QueryKey
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.epsilon_curves import TEACHING as CURVE_TEACHING
from phexplore.systems.phsafe.epsilon_curves import epsilon_figure
from phexplore.systems.phsafe.margin_figure import TEACHING as MARGIN_TEACHING
from phexplore.systems.phsafe.margin_figure import margins_figure
from phexplore.systems.phsafe.share_figure import shares_figure

_SHARE_TEACHING = (
    "Where the privacy loss goes appears here as soon as a level has a budget above 0: enter one in the table."
)
_COLUMN = 46 * GRID
"""Least width of a picture beside another at normal text size."""
_STACKED_CHART, _STACKED_LIST = 36 * GRID, 18 * GRID
"""Heights where the pictures stand below each other."""


class LivePage(QWidget):
    """A page that is drawn anew after edits while it is on screen, and once when it comes on screen."""

    def __init__(self, session: PlainSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._is_stale = True
        session.settled.connect(self._on_settled)

    def refresh(self) -> None:
        """Draw what the session shows."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    def _on_settled(self, _shown: object) -> None:
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self.refresh()


class ChartJoint(QObject):
    """Joins charts to the session: selection is shared, a drag is one step.

    Signals:
        opened: the `QueryKey` to edit in the table.
        failed: a `PhexploreError` of a chart.
    """

    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, session: PlainSession, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._is_dragging = False

    def join_margins(self, chart: FigureView) -> None:
        """Join a picture of margins."""
        self._join(chart)
        chart.handle_dragged.connect(self._drag)
        chart.handle_released.connect(self._release)
        chart.drag_cancelled.connect(self._cancel)

    def join_shares(self, chart: FigureView) -> None:
        """Join a picture of shares."""
        self._join(chart)

    def _join(self, chart: FigureView) -> None:
        chart.key_selected.connect(self._session.select)
        chart.key_activated.connect(self.opened)
        chart.failed.connect(self.failed)
        self._session.selected.connect(chart.select_key)

    def _drag(self, query: QueryKey, people: int) -> None:
        label = f"Set the margin of {query.title} to {people} people"
        made = self._session.report(
            self._session.edit(
                label,
                lambda scenario: edit_margin(scenario, query, Fraction(people)),
                merge_key=("picture", query.text),
            )
        )
        self._is_dragging = self._is_dragging or made

    def _release(self, _query: QueryKey) -> None:
        self._session.end_merge()
        self._is_dragging = False

    def _cancel(self, _query: QueryKey) -> None:
        self._session.end_merge()
        if self._is_dragging:
            self._session.undo()
        self._is_dragging = False


class MarginPicture(LivePage):
    """The dot plot of margins, beside the budget table."""

    def __init__(self, session: PlainSession, joint: ChartJoint, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.chart = FigureView("Margins of error", MARGIN_TEACHING, self)
        joint.join_margins(self.chart)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.addWidget(self.chart)

    def refresh(self) -> None:
        show_margins(self.chart, self.session)


class OverviewPage(LivePage):
    """What it costs, what we get, what changed: three pictures and a list of sentences."""

    def __init__(self, session: PlainSession, joint: ChartJoint, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.margins = FigureView("Margins of error", MARGIN_TEACHING, self)
        self.shares = FigureView("Privacy loss by table", _SHARE_TEACHING, self)
        self.curve = FigureView("Privacy curve", CURVE_TEACHING, self)
        self.changes = ChangesPanel(session)
        self.changes.query_chosen.connect(joint.opened)
        joint.join_margins(self.margins)
        joint.join_shares(self.shares)
        self.curve.failed.connect(joint.failed)
        self._lay_out()

    @property
    def charts(self) -> tuple[ChartFrame, ...]:
        """All pictures of the page."""
        return (self.margins, self.shares, self.curve)

    def refresh(self) -> None:
        figures = self.session.shown.figures
        show_margins(self.margins, self.session)
        self.shares.show_figure(shares_figure(figures))
        self.curve.show_figure(epsilon_figure(figures))
        self.changes.refresh()

    def _lay_out(self) -> None:
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
        for upper, lower, heights in (
            (self.margins, self.changes, (5, 2)),
            (self.shares, self.curve, (1, 1)),
        ):
            column = QVBoxLayout()
            column.setSpacing(GRID)
            column.addWidget(upper, heights[0])
            column.addWidget(lower, heights[1])
            row.addLayout(column, 1)
        place.setWidget(content)
        appearance().changed.connect(self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self, _colours: object = None) -> None:
        """Put the pictures below each other where two beside each other would be too narrow for the text size."""
        scale = appearance().scale
        is_narrow = self.width() < 2 * _COLUMN * scale // 100
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        for widget in (*self.charts, self.changes):
            height = _STACKED_CHART if widget is not self.changes else _STACKED_LIST
            widget.setMinimumHeight(height * scale // 100 if is_narrow else 0)


def show_margins(chart: FigureView, session: PlainSession) -> None:
    """Show the margins of the active scenario in a chart."""
    shown = session.shown
    method, reference = shown.scenario.phsafe, shown.reference
    before = reference.figures if reference is not None else None
    chart.show_figure(margins_figure(shown.figures, method.targets, before, method.locks))
