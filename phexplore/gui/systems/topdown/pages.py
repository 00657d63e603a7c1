"""The pages of a TopDown scenario: overview, post-processing, scenario."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.figures.wording import share_percent
from phexplore.gui.figures.frame import ChartFrame
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.topdown.changes import TopDownChange
from phexplore.gui.systems.topdown.changes_panel import TopDownChangesPanel
from phexplore.gui.systems.topdown.heat_chart import HeatView
from phexplore.gui.systems.topdown.passes_editor import PassesEditor
from phexplore.gui.systems.topdown.rules_editor import RuleKind, RulesEditor
from phexplore.gui.systems.topdown.session import Place, TopDownSession
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.page import Page, Section
from phexplore.model.scenario import Scenario
from phexplore.model.shares import SHARE_STEP, largest_share
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.figures import level_figure, semantics_figure
from phexplore.systems.topdown.wording import level_title

_COLUMN = 46 * GRID
"""Least width of a picture beside another at normal text size."""
_STACKED_CHART, _STACKED_LIST = 36 * GRID, 18 * GRID
"""Heights where the pictures stand below each other."""
_LEVELS_TEACHING = "How the privacy loss is divided among the levels appears here."
_SEMANTICS_TEACHING = "What can be learned about one person appears here."


class LevelDrags(QObject):
    """A drag of a level's bar is one step; every move starts from the shares the drag began with."""

    def __init__(self, session: TopDownSession, chart: FigureView, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._start: Scenario | None = None
        self._moved = False
        chart.handle_dragged.connect(self._drag)
        chart.handle_released.connect(self._release)
        chart.drag_cancelled.connect(self._cancel)

    def _drag(self, level: str, percent: float) -> None:
        start = self._start = self._start or self._session.scenario
        method = start.topdown
        wanted = round(Fraction(percent) / 100 / SHARE_STEP / 100) * 100 * SHARE_STEP  # to a hundredth of a percent
        share = max(Fraction(0), min(wanted, largest_share(method.level_shares, level, method.locked_levels)))
        label = f"Set the share of {level_title(level)} to {share_percent(share)}"
        made = self._session.report(
            self._session.edit(
                label, lambda _scenario: set_level_share(start, level, share), merge_key=("topdown level bar", level)
            )
        )
        self._moved = self._moved or made

    def _release(self, _key: object) -> None:
        self._start, self._moved = None, False
        self._session.end_merge()

    def _cancel(self, _key: object) -> None:
        self._session.end_merge()
        if self._moved:
            self._session.undo()
        self._start, self._moved = None, False


class TopDownOverviewPage(QWidget):
    """What it costs, what it buys, what changed: three pictures and a list of sentences.

    Signals:
        opened: the `Place` to edit in the table.
        processing_wanted: the changed passes or rules are wanted.
        spine_wanted: the changed spine is wanted.
        failed: a `PhexploreError` of a chart.
    """

    opened = Signal(object)
    processing_wanted = Signal()
    spine_wanted = Signal()
    failed = Signal(object)

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._is_stale = True
        self.heat = HeatView()
        self.levels = FigureView("Privacy loss by level", _LEVELS_TEACHING)
        self.semantics = FigureView("What can be learned", _SEMANTICS_TEACHING)
        self.changes = TopDownChangesPanel(session)
        self._drags = LevelDrags(session, self.levels, self)
        self.heat.key_selected.connect(session.select)
        self.heat.key_activated.connect(self.opened)
        self.levels.key_selected.connect(session.select)
        self.levels.key_activated.connect(self.opened)
        self.changes.change_chosen.connect(self._go)
        for chart in self.charts:
            chart.failed.connect(self.failed)
        session.selected.connect(self._show_selection)
        session.settled.connect(self._on_settled)
        self._lay_out()

    @property
    def charts(self) -> tuple[ChartFrame, ...]:
        """All pictures of the page."""
        return (self.heat, self.levels, self.semantics)

    def refresh(self) -> None:
        """Draw what the session shows."""
        shown = self._session.shown
        before = shown.reference
        self.heat.show_version(shown)
        self.levels.show_figure(level_figure(shown.method, None if before is None else before.scenario.topdown))
        self.semantics.show_figure(semantics_figure(shown.figures, None if before is None else before.figures))
        self.changes.refresh()
        self._show_selection(self._session.selection)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._is_stale = False
            self.refresh()

    def _on_settled(self, _shown: object) -> None:
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self.refresh()

    def _show_selection(self, place: Place) -> None:
        self.heat.select_key(place)
        self.levels.select_key(place)

    def _go(self, change: TopDownChange) -> None:
        if change.area == "processing":
            self.processing_wanted.emit()
        elif change.area == "spine":
            self.spine_wanted.emit()
        else:
            self.opened.emit(change.place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

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
            (self.heat, self.changes, (5, 2)),
            (self.levels, self.semantics, (3, 4)),
        ):
            column = QVBoxLayout()
            column.setSpacing(GRID)
            column.addWidget(upper, heights[0])
            column.addWidget(lower, heights[1])
            row.addLayout(column, 6 if upper is self.heat else 5)
        place.setWidget(content)
        appearance().changed.connect(self._fit)

    def _fit(self, _colours: object = None) -> None:
        """Put the pictures below each other where two beside each other would be too narrow for the text size."""
        scale = appearance().scale
        is_narrow = self.width() < 2 * _COLUMN * scale // 100
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        for widget in (*self.charts, self.changes):
            height = _STACKED_CHART if widget is not self.changes else _STACKED_LIST
            widget.setMinimumHeight(height * scale // 100 if is_narrow else 0)


def processing_page(session: TopDownSession) -> QWidget:
    """Return the page of passes, invariants and constraints."""
    return Page(
        "Post-processing",
        [
            Section(
                "Passes",
                "Which query groups are used in which order. Earlier passes bind later ones.",
                PassesEditor(session),
            ),
            Section(
                "Invariants",
                "Counts that are published without noise. What holds for a unit holds for every sum of units above it.",
                RulesEditor(session, RuleKind.INVARIANT),
            ),
            Section(
                "Constraints",
                "What every published histogram keeps, whatever the noise says.",
                RulesEditor(session, RuleKind.CONSTRAINT),
            ),
        ],
    )
