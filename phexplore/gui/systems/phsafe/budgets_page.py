"""The area "Budgets": filter, table and the sliders of the row under the cursor, with the picture of the margins beside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedLayout, QWidget

from phexplore.catalog.names import Naming, in_words
from phexplore.catalog.tables import tables as all_tables
from phexplore.gui.binding.settings import PICTURE, Settings
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_table import CONVENTION_COLUMNS, Column, Row, budget_table
from phexplore.gui.systems.phsafe.row_panel import RowPanel
from phexplore.gui.tables.commands import TableCommand
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.view import ParameterView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets import layout
from phexplore.gui.widgets.buttons import Chooser, SymbolButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, line
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.speech import say_beside
from phexplore.model.edits import set_item
from phexplore.model.keys import LEVELS, QueryKey
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import reset_query, set_published
from phexplore.systems.phsafe.edits import set_target


def _is_changed(row: Row) -> bool:
    return row.before is not None and row.before != row.entry


_SUBSETS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "": ("All queries", lambda _row: True),
    "published": ("Published", lambda row: row.is_published),
    "changed": ("Changed", _is_changed),
    "missed": ("Target missed", lambda row: not row.is_met),
    "locked": ("Locked", lambda row: row.is_locked),
}
_SEARCH_IDLE_MS = 120
QueryEdit = Callable[[Scenario, QueryKey], Scenario]


_EXPERT = frozenset({Column.THRESHOLD, Column.BUDGET, Column.BUDGET_CHANGE})
"""Columns a committee does without: it speaks of margins and of the bounded loss."""


class BudgetsEditor(QWidget):
    """Filter bar, budget table and row panel; the selection is shared with pictures and inspector."""

    def __init__(self, session: PlainSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.table = ParameterModel(session, budget_table, self)
        keys = "One row per table and level. Type to edit, Enter to commit, Escape to restore, Space to tick."
        self.view = ParameterView(session, self.table, "Budgets", keys)
        self.view.show_columns(CONVENTION_COLUMNS, shown=False)
        self.view.commands.own = self._commands()
        self.panel = RowPanel(session)
        self._count = Text(look="muted")
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(_SEARCH_IDLE_MS)
        self._idle.timeout.connect(self._apply_filter)
        bar = self._make_bar()
        words = "No row of the budget table fits the search and the choices above."
        nothing = EmptyPlace("search", "No query matches", words, action="Show all queries", run=self.clear_filter)
        self._stack = QStackedLayout()
        for widget in (self.view, nothing):
            self._stack.addWidget(widget)
        content = layout.stacked(bar, line(), (self._stack, 1), line(), self.panel, gap=0)
        layout.column(scrolling("Budgets of the queries", content), of=self)
        session.settled.connect(self._count_rows)
        self._count_rows()
        appearance().changed.connect(self._follow_depth)
        self._follow_depth()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._count_rows()

    def _fit_search(self, _colours: object = None) -> None:
        self.search.setFixedWidth(20 * GRID * appearance().scale // 100)
        # Kept free, so that what is counted while one types moves nothing.
        widest = f"{len(self.table.table.rows)} of {len(self.table.table.rows)}"
        self._count.setMinimumWidth(self._count.fontMetrics().horizontalAdvance(widest))

    def clear_filter(self) -> None:
        """Show all rows."""
        with QSignalBlocker(self.search):
            self.search.clear()
        for chooser in (self.tables, self.levels, self.subsets):
            chooser.select("")
        self._apply_filter()

    def reveal(self, query: QueryKey) -> None:
        """Put the cursor on a query, even if the filter hides it."""
        if not self.view.index_of(query).isValid():
            self.clear_filter()
        self._session.select(query)
        self.view.show_place(query)
        self.view.setFocus()

    def _make_bar(self) -> QHBoxLayout:
        self.search = LineField("Search the budget table", example="Search")
        self.search.setClearButtonEnabled(True)
        appearance().changed.connect(self._fit_search)
        self._fit_search()
        self.search.textChanged.connect(self._idle.start)
        tables = [("All tables", ""), *((each.id, each.id) for each in all_tables().values() if each.measured)]
        self.tables = Chooser("Show the queries of one table", options=tables, letters=16, run=self._apply_filter)
        levels = [("All levels", ""), *((level.title, level.text) for level in LEVELS)]
        self.levels = Chooser("Show the queries of one level", options=levels, letters=14, run=self._apply_filter)
        subsets = [(title, value) for value, (title, _) in _SUBSETS.items()]
        name = "Show published, changed, missed or locked queries"
        self.subsets = Chooser(name, options=subsets, run=self._apply_filter)
        name, tip = "Show the three margin conventions side by side", "Exact, normal and paper margins side by side"
        self.side_by_side = SymbolButton("columns", name, text="Conventions", tip=tip, checkable=True, bordered=True)
        self.side_by_side.toggled.connect(self._show_conventions)
        parts = FlowRow(self.search, self.tables, self.levels, self.subsets, gap=GRID)
        margins = (2 * GRID, GRID, 2 * GRID, GRID)
        return layout.row((parts, 1), self._count, (self.side_by_side, Qt.AlignmentFlag.AlignTop), margins=margins)

    def _commands(self) -> tuple[TableCommand, ...]:
        """Return what is done with the queries of the selected cells, each as one step."""
        places = self.view.selected_places

        def command(text: str, verb: str, edit: QueryEdit) -> TableCommand:
            return TableCommand(
                text, lambda: self._edit_each(f"{verb} {_named(places())}", places(), edit), lambda: bool(places())
            )

        return (
            TableCommand(
                "Remove targets",
                self._remove_targets,
                lambda: self.view.current_column is Column.TARGET,
                Qt.Key.Key_Delete,
                starts_part=True,
            ),
            command("Publish", "Publish", partial(set_published, published=True)),
            command("Leave unpublished", "Leave out", partial(set_published, published=False)),
            command("Lock", "Lock", lambda scenario, query: set_item(scenario, "locks", query, value=True)),
            command("Unlock", "Unlock", lambda scenario, query: set_item(scenario, "locks", query, value=False)),
            TableCommand("Take from the reference", self._reset, self._can_reset),
        )

    def _apply_filter(self, _choice: object = None) -> None:
        self._idle.stop()
        table, level = self.tables.currentData(), self.levels.currentData()
        words, subset = self.search.text().lower().split(), self.subsets.currentData()

        def accepts(line: Row) -> bool:
            query, spoken = line.key, f"{line.title} {line.key.text} {in_words(line.title, Naming.NAMES)}".lower()
            is_asked_for = (not table or query.table == table) and (not level or query.level.text == level)
            return is_asked_for and all(word in spoken for word in words) and _SUBSETS[subset or ""][1](line)

        self.table.show_only(accepts)
        self._count_rows()
        say_beside(self.search, f"{len(self.table.rows)} of {len(self.table.table.rows)} rows")

    def _count_rows(self, _update: object = None) -> None:
        shown, total = len(self.table.rows), len(self.table.table.rows)
        self._count.setText("" if shown == total else f"{shown} of {total}")
        self._stack.setCurrentIndex(0 if shown else 1)

    def _follow_depth(self, _colours: object = None) -> None:
        """Leave out what a committee does not set by hand; the changes stand beside the margins then."""
        self.view.show_columns(_EXPERT, shown=appearance().is_expert)
        self.side_by_side.setVisible(appearance().is_expert)

    def _show_conventions(self, shown: bool) -> None:
        self.view.show_columns(CONVENTION_COLUMNS, shown=shown)
        self.view.show_columns({Column.MARGIN_CHANGE}, shown=not shown)

    def _edit_each(self, label: str, queries: list[QueryKey], edit: QueryEdit) -> None:
        """Edit some queries as one step."""
        self._session.report(self._session.edit(label, lambda scenario: reduce(edit, queries, scenario)))

    def _remove_targets(self) -> None:
        method = self._session.scenario.phsafe
        queries = [query for query in self.view.selected_places() if query in method.targets.keys() - method.locks]
        if queries:
            label = f"Remove {len(queries)} target" + ("" if len(queries) == 1 else "s")
            self._edit_each(label, queries, lambda scenario, query: set_target(scenario, query, None))

    def _can_reset(self) -> bool:
        return bool(self.view.selected_places()) and self._session.shown.reference is not None

    def _reset(self) -> None:
        if (reference := self._session.shown.reference) is not None:
            edit = partial(reset_query, source=reference.scenario)
            queries = self.view.selected_places()
            self._edit_each(f"Take {_named(queries)} from {reference.title}", queries, edit)


_PICTURE_WIDTH = 55 * GRID
"""That a picture is readable in, at normal text size; it stands beside the table where the table leaves it as much."""


class BudgetsPage(QSplitter):
    """The table, and the picture beside it where there is room."""

    def __init__(self, session: PlainSession, picture: QWidget, settings: Settings) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._settings = settings
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.setProperty("look", "lined")
        self.editor = BudgetsEditor(session, self)
        self.picture = picture
        for number, (widget, stretch) in enumerate(((self.editor, 3), (self.picture, 2))):
            self.addWidget(widget)
            self.setStretchFactor(number, stretch)
        for changed in (self.editor.side_by_side.toggled, self.editor.table.modelReset, appearance().changed):
            changed.connect(self.make_room)
        self.make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.make_room()

    def make_room(self, _changed: object = None) -> None:
        """Show the picture if it is wanted and every column of the table fits beside it."""
        table, room = self.editor.view.widths.whole(), self.width() - self.handleWidth()
        was_hidden = self.picture.isHidden()
        has_room = (room - table) * 100 >= _PICTURE_WIDTH * appearance().scale
        self.picture.setVisible(self._settings.read(PICTURE) and has_room)
        if has_room and (was_hidden or self.editor.width() < table):
            table = max(table, room * 3 // 5)
            self.setSizes([table, room - table])


def _named(queries: list[QueryKey]) -> str:
    return queries[0].title if len(queries) == 1 else f"{len(queries)} queries"
