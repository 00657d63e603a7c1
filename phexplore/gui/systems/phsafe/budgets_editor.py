"""The area "Budgets": filter, table and the sliders of the row under the cursor."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QStackedLayout, QVBoxLayout, QWidget

from phexplore.catalog.tables import config_tables
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_row import CONVENTION_COLUMNS, Column
from phexplore.gui.systems.phsafe.budget_table import BudgetFilter, BudgetTable
from phexplore.gui.systems.phsafe.budget_view import BudgetView
from phexplore.gui.systems.phsafe.row_panel import RowPanel
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser, SymbolButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, line
from phexplore.model.edits import set_item
from phexplore.model.keys import LEVELS, QueryKey
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import reset_query, set_published

_SUBSETS = (
    ("All queries", ""),
    ("Published", "published"),
    ("Changed", "changed"),
    ("Target missed", "missed"),
    ("Locked", "locked"),
)
_SEARCH_IDLE_MS = 120


class BudgetsEditor(QWidget):
    """Filter bar, budget table and row panel; the selection is shared with pictures and inspector."""

    def __init__(self, session: PlainSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.table = BudgetTable(session, self)
        self._filter = BudgetFilter(self.table, self)
        self.view = BudgetView(session, self._filter)
        self.panel = RowPanel(session)
        self._count = Text(look="muted")
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(_SEARCH_IDLE_MS)
        self._idle.timeout.connect(self._apply_filter)
        bar = self._make_bar()
        self._stack = QStackedLayout()
        self._stack.addWidget(self.view)
        self._stack.addWidget(
            EmptyPlace(
                "search",
                "No query matches",
                "No row of the budget table fits the search and the choices above.",
                action="Show all queries",
                run=self.clear_filter,
            )
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(line())
        column.addLayout(self._stack, 1)
        column.addWidget(line())
        column.addWidget(self.panel)
        self._make_menu()
        self.view.query_entered.connect(session.select)
        session.selected.connect(self.view.show_query)
        session.settled.connect(self._count_rows)
        self._count_rows()
        self.view.show_query(session.selection)
        self.table.pause()  # until it is shown

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.table.pause()

    def showEvent(self, event: QShowEvent) -> None:
        self.table.resume()
        super().showEvent(event)
        self._count_rows()
        self.view.scrollTo(self.view.currentIndex())

    def clear_filter(self) -> None:
        """Show all rows."""
        with QSignalBlocker(self.search):
            self.search.clear()
        for chooser in (self.tables, self.levels, self.subsets):
            chooser.select("")
        self._apply_filter()

    def show_subset(self, subset: str) -> None:
        """Show only published, changed, missed or locked queries, or all."""
        self.clear_filter()
        self.subsets.select(subset)
        self._apply_filter()

    def reveal(self, query: QueryKey) -> None:
        """Put the cursor on a query, even if the filter hides it."""
        if query not in self.view.queries():
            self.clear_filter()
        self.view.show_query(query)
        self.view.setFocus()

    def _make_bar(self) -> QHBoxLayout:
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search, e.g. PH3 state")
        self.search.setAccessibleName("Search the budget table")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(26 * GRID)
        self.search.textChanged.connect(self._idle.start)
        self.tables = Chooser("Show the queries of one table")
        self.tables.addItem("All tables", "")
        for product in config_tables():
            self.tables.addItem(product.id, product.id)
        self.levels = Chooser("Show the queries of one level")
        self.levels.addItem("All levels", "")
        for level in LEVELS:
            self.levels.addItem(level.title, level.text)
        self.subsets = Chooser("Show published, changed, missed or locked queries")
        for title, value in _SUBSETS:
            self.subsets.addItem(title, value)
        for chooser in (self.tables, self.levels, self.subsets):
            chooser.currentIndexChanged.connect(self._apply_filter)
        self.side_by_side = SymbolButton(
            "columns",
            "Show the three margin conventions side by side",
            text="Conventions",
            tip="Exact, normal and paper margins side by side",
            checkable=True,
            bordered=True,
        )
        self.side_by_side.toggled.connect(self._show_conventions)
        parts = FlowRow(self.search, self.tables, self.levels, self.subsets, self._count, gap=GRID)
        bar = QHBoxLayout()
        bar.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        bar.setSpacing(GRID)
        bar.addWidget(parts, 1)
        bar.addWidget(self.side_by_side, 0, Qt.AlignmentFlag.AlignTop)
        return bar

    def _make_menu(self) -> None:
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)

    def _open_menu(self, place: QPoint) -> None:
        menu = self.context_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.view.viewport().mapToGlobal(place))

    def context_menu(self) -> QMenu:
        """Return the menu of the selected rows."""
        menu = QMenu(self.view)
        queries = self.view.selected_queries()
        reference = self._session.shown.reference
        entries = (
            ("Copy", self.view.copy, True),
            ("Copy with headers", lambda: self.view.copy(headers=True), True),
            ("Paste", self.view.paste, True),
            ("Fill down", self.view.fill_down, len(queries) > 1),
            None,
            ("Publish", lambda: self._publish(queries, published=True), bool(queries)),
            ("Leave unpublished", lambda: self._publish(queries, published=False), bool(queries)),
            ("Lock", lambda: self._lock(queries, locked=True), bool(queries)),
            ("Unlock", lambda: self._lock(queries, locked=False), bool(queries)),
            ("Take from the reference", lambda: self._reset(queries), bool(queries) and reference is not None),
        )
        for entry in entries:
            if entry is None:
                menu.addSeparator()
                continue
            text, run, enabled = entry
            action = QAction(text, menu)
            action.setEnabled(enabled)
            action.triggered.connect(run)
            menu.addAction(action)
        return menu

    def _apply_filter(self) -> None:
        self._idle.stop()
        self._filter.show_only(
            table=self.tables.currentData() or "",
            level=self.levels.currentData() or "",
            words=self.search.text(),
            subset=self.subsets.currentData() or "",
        )
        self._count_rows()

    def _count_rows(self, _update: object = None) -> None:
        shown, total = self._filter.rowCount(), self.table.rowCount()
        self._count.setText("" if shown == total else f"{shown} of {total}")
        self._stack.setCurrentIndex(0 if shown else 1)

    def _show_conventions(self, shown: bool) -> None:
        self.view.show_columns(frozenset(CONVENTION_COLUMNS), shown=shown)
        self.view.show_columns(frozenset({Column.MARGIN_CHANGE}), shown=not shown)

    def _publish(self, queries: list[QueryKey], *, published: bool) -> None:
        def edit(scenario: Scenario) -> Scenario:
            for query in queries:
                scenario = set_published(scenario, query, published=published)
            return scenario

        word = "Publish" if published else "Leave out"
        self._session.report(self._session.edit(f"{word} {_named(queries)}", edit))

    def _lock(self, queries: list[QueryKey], *, locked: bool) -> None:
        def edit(scenario: Scenario) -> Scenario:
            for query in queries:
                scenario = set_item(scenario, "locks", query, value=locked)
            return scenario

        self._session.report(self._session.edit(f"{'Lock' if locked else 'Unlock'} {_named(queries)}", edit))

    def _reset(self, queries: list[QueryKey]) -> None:
        reference = self._session.shown.reference
        if reference is None:
            return

        def edit(scenario: Scenario) -> Scenario:
            for query in queries:
                scenario = reset_query(scenario, query, reference.scenario)
            return scenario

        self._session.report(self._session.edit(f"Take {_named(queries)} from {reference.title}", edit))


def _named(queries: list[QueryKey]) -> str:
    return queries[0].title if len(queries) == 1 else f"{len(queries)} queries"
