"""The area "Budgets" of TopDown: the total, the table of shares and its sliders."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import Place, TopDownSession
from phexplore.gui.systems.topdown.share_sliders import ShareLine, ShareSliders
from phexplore.gui.systems.topdown.shares import share_table
from phexplore.gui.systems.topdown.total_bar import TotalBar
from phexplore.gui.tables.commands import TableCommand
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.view import ParameterView
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton, TickBox
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text, describe, line
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.edits import take_level_shares, take_query_shares
from phexplore.systems.topdown.share_cells import Key, Quantity, cell_of
from phexplore.systems.topdown.share_typing import RULE, heading, lock_edit, measured_edit, offered_queries
from phexplore.systems.topdown.wording import heading as capitalised
from phexplore.systems.topdown.wording import level_title, place_title, query_title

_GAP = GRID + HALF
_KEYS = (
    "One row per query group, one column per level. Type to edit, Enter to commit, Escape to restore, Space to measure a query "
    "group or to stop, L to lock."
)


class SharePanel(QFrame):
    """The share under the cursor with its slider, and what can be done with its column."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName("Share under the cursor")
        self.line = ShareLine(session, session.shown.method.levels[0], self)
        self.measured = TickBox("Measured")
        describe(self.measured, name="Measured at this level", tip="Measure this query group at this level")
        self.measured.clicked.connect(self._toggle_measured)
        self.reset = TextButton("Column as in the reference", run=self._reset)
        self.rule = Paragraph(RULE, look="muted", relative=0.92)
        slider = row((self.line.slider, 1), *self.line.widgets[2:], gap=_GAP)
        line_row = LargeTextRows(self.line.name, (slider, 1), gap=_GAP)
        rule_row = LargeTextRows(row(self.measured, self.reset, 1, gap=_GAP), (self.rule, 1), gap=_GAP)
        column(line_row, rule_row, of=self, gap=HALF, margins=(2 * GRID, GRID, 2 * GRID, GRID))
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self.show_place(session.selection)

    def show_place(self, place: Place) -> None:
        """Stand for another share; nothing chosen leaves the one before."""
        self.line.key = place or self.line.key
        self._refresh()

    def _refresh(self, _signal: object = None) -> None:
        method, key = self._session.shown.method, self.line.key
        if (key.level if isinstance(key, LevelQuery) else key) not in method.levels:
            key = method.levels[0]
        self.line.show_share(key, capitalised(place_title(key)))
        self.measured.setVisible(isinstance(key, LevelQuery))
        self.measured.setChecked(isinstance(key, str) or key in method.query_shares)
        self.reset.setEnabled(self._differs(key))

    def _differs(self, key: Key) -> bool:
        shown = self._session.shown
        if shown.reference is None:
            return False
        other = shown.reference.scenario.topdown
        if isinstance(key, str):
            return other.levels == shown.method.levels and other.level_shares != shown.method.level_shares
        theirs, ours = (
            {k: share for k, share in method.query_shares.items() if k.level == key.level}
            for method in (other, shown.method)
        )
        return bool(theirs) and theirs != ours

    def _toggle_measured(self) -> None:
        key = self.line.key
        if isinstance(key, LevelQuery):
            is_measured = key in self._session.shown.method.query_shares
            step = measured_edit(self._session.shown, key, measured=not is_measured)
            self._session.report(self._session.edit(*step))
            self._refresh()

    def _reset(self) -> None:
        key, reference = self.line.key, self._session.shown.reference
        if reference is None:
            return
        source = reference.scenario.topdown

        def edit(scenario: Scenario) -> Scenario:
            if isinstance(key, str):
                return take_level_shares(scenario, source)
            return take_query_shares(scenario, key.level, source)

        what = "the shares of the levels" if isinstance(key, str) else f"the shares at {level_title(key.level)}"
        self._session.report(self._session.edit(f"Take {what} from {reference.title}", edit))


class TopDownBudgetsEditor(QWidget):
    """Total, table and sliders; the selection is shared with pictures and inspector."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.total = TotalBar(session)
        self._quantity = Quantity.SHARE
        self.table = ParameterModel(session, lambda shown: share_table(shown, self._quantity), self)
        view = self.view = ParameterView(session, self.table, "Shares of levels and query groups", _KEYS)

        def has_places() -> bool:
            return bool(view.selected_places())

        def is_query() -> bool:
            return isinstance(view.place, LevelQuery)

        view.commands.own = (
            TableCommand("Lock or unlock", self.toggle_lock, has_places, Qt.Key.Key_L, starts_part=True),
            TableCommand("Measure, or stop measuring", self._toggle_measured, is_query, Qt.Key.Key_Space),
        )
        self.panel = SharePanel(session)
        self.level_sliders = ShareSliders(session)
        self.query_sliders = ShareSliders(session)
        self._heading = ElidedText(look="muted")
        self._pages = QStackedWidget()
        # Issues lie below what is clicked, typed into or dragged: what is under the hand stays where it is.
        for page in (
            stacked(line(), (self.view, 1), self._issues(), line(), self.panel, gap=0),
            stacked((self._slider_page(), 1), self._issues(), gap=0),
        ):
            self._pages.addWidget(page)
        content = stacked(self.total, line(), self._make_bar(), (self._pages, 1), gap=0)
        column(scrolling("Shares of the budget", content), of=self)
        session.selected.connect(self._on_selected)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()
        self._on_selected(session.selection)

    def show_sliders(self, *, shown: bool) -> None:
        """Show sliders of a column, or the table."""
        self.as_sliders.setChecked(shown)
        self.as_table.setChecked(not shown)
        self._pages.setCurrentIndex(int(shown))
        self.quantity.setEnabled(not shown)

    def show_level(self, level: str) -> None:
        """Show the query sliders of a level."""
        self.level.select(level)
        self.query_sliders.show_column(level)

    def reveal(self, place: Place) -> None:
        """Put the cursor on a share."""
        self._session.select(place)
        self.view.show_place(place)
        self.view.setFocus()

    def toggle_lock(self) -> None:
        """Lock the selected shares, or unlock them if all are locked."""
        cells = [cell_of(self._session.shown, key) for key in self.view.selected_places()]
        cells = [cell for cell in cells if cell.share is not None]
        if cells:
            locked = not all(cell.is_locked for cell in cells)
            self._session.report(self._session.edit(*lock_edit([cell.key for cell in cells], locked=locked)))

    def _toggle_measured(self) -> None:
        """Measure the query group under the cursor at its level, or stop."""
        place, shown = self.view.place, self._session.shown
        step = measured_edit(shown, place, measured=place not in shown.method.query_shares)
        self._session.report(self._session.edit(*step))

    def _make_bar(self) -> QHBoxLayout:
        def side(symbol: str, name: str, text: str, *, shown: bool) -> SymbolButton:
            button = SymbolButton(symbol, name, text=text, checkable=True, bordered=True)
            button.clicked.connect(lambda: self.show_sliders(shown=shown))
            group.addButton(button)
            return button

        group = QButtonGroup(self)
        self.as_table = side("budgets", "Show the shares as a table", "Table", shown=False)
        self.as_sliders = side("scenario", "Show sliders", "Sliders", shown=True)
        self.as_table.setChecked(True)
        quantities = [(quantity.value, quantity) for quantity in Quantity]
        self.quantity = Chooser("What the cells show", letters=11, options=quantities, run=self._show_quantity)
        self._offers = QMenu(self)
        self._offers.aboutToShow.connect(self._fill_offers)
        self.add = SymbolButton("plus", "Measure one more query group", text="Query", bordered=True)
        self.add.setMenu(self._offers)
        self.add.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        parts = (self.as_table, self.as_sliders, self.quantity, (self._heading, 1), self.add)
        return row(*parts, margins=(2 * GRID, GRID, 2 * GRID, GRID))

    def _issues(self) -> QHBoxLayout:
        issues = PlaceIssues(self._session, frozenset({"levels", "queries", "schema"}))
        return row(issues, margins=(2 * GRID, 0, 2 * GRID, 0))

    def _slider_page(self) -> QScrollArea:
        self.level = Chooser("Level of the query sliders")
        self.level.currentIndexChanged.connect(lambda: self.query_sliders.show_column(self.level.currentData()))
        return scrolling("Sliders of the shares", stacked(
            self.level_sliders,
            row(Text("Query groups at"), self.level, 1),
            self.query_sliders,
            Text(RULE, look="muted", wrap=True, relative=0.92),
            1,
            gap=2 * GRID,
            margins=(MARGIN, GRID, MARGIN, MARGIN),
        ))  # fmt: skip

    def _refresh(self, _update: object = None) -> None:
        shown = self._session.shown
        levels = shown.method.levels
        if self.level.values != list(levels):
            self.level.offer([(level_title(level), level) for level in levels], first=levels[min(1, len(levels) - 1)])
            self.query_sliders.show_column(self.level.currentData())
            self.level_sliders.show_column(None)
        words = heading(self._quantity, shown)
        self._heading.setText(words[0].upper() + words[1:])

    def _show_quantity(self, _index: int) -> None:
        self._quantity = self.quantity.currentData()
        self.table.rebuild()
        self._refresh()

    def _on_selected(self, place: Place) -> None:
        self.panel.show_place(place)
        if isinstance(place, LevelQuery) and place.level != self.level.currentData():
            self.show_level(place.level)

    def _fill_offers(self) -> None:
        """Offer what the schema can ask and nobody measures yet, for the level under the cursor."""
        self._offers.clear()
        place, method = self._session.selection, self._session.shown.method
        level = place.level if isinstance(place, LevelQuery) else place or method.levels[0]
        names = offered_queries(method)
        for name in names:
            action = self._offers.addAction(f"{query_title(name)} at {level_title(level)}")
            action.triggered.connect(lambda _checked, query=name: self._measure(LevelQuery(level, query)))
        if not names:
            self._offers.addAction("Every query group of the schema is measured somewhere").setEnabled(False)

    def _measure(self, key: LevelQuery) -> None:
        if self._session.report(self._session.edit(*measured_edit(self._session.shown, key, measured=True))):
            self.reveal(key)
