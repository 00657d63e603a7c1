"""Any number of scenarios and runs side by side: only what differs, its effects, and all of them in one picture."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.scenario_view import ScenarioView, Update
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.column_choices import column_choices
from phexplore.gui.decision.comparison import ColumnChoice, ComparisonRequest, ComparisonView, comparison_view
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen

_TEACHING = "Tick two or more at the left: every margin that differs is drawn here, all on one scale."
_MOST_COLUMNS = 6
"""Lines of the table of columns before it scrolls."""


class Detail(enum.Enum):
    """The tables below the columns. The value is the title."""

    PARAMETERS = "Parameters and effects"
    MARGINS = "Margins"
    MEASURED = "Measured in runs"
    RULES = "Decision rules"


class ComparePage(QWidget):
    """Ticks at the left, figures and picture at the right; everything follows the project.

    Signals:
        failed: a `PhexploreError` of the picture.
    """

    failed = Signal(object)

    def __init__(self, session: Session, desk: RunController) -> None:
        """Make the page.

        Args:
            session: the project.
            desk: its runs.
        """
        super().__init__()
        self._session, self._desk = session, desk
        self._choices: dict[str, ColumnChoice] = {}
        self._listed: object = None
        self._is_touched = False
        self._work = Latest(comparison_view, self)
        self._work.finished.connect(self._show)
        self._work.failed.connect(self._refuse)
        self._make_widgets()
        self._lay_out()
        self._seen = WhenSeen(self, self.refresh)
        session.updated.connect(self._forget)
        session.settled.connect(self._seen.request)
        session.saved.connect(self._seen.request)
        desk.changed.connect(self._seen.request)
        self._seen.request()

    @property
    def chosen(self) -> tuple[ColumnChoice, ...]:
        """What is ticked, from top to bottom; the first is what the others are compared with."""
        items = (self.list.item(row) for row in range(self.list.count()))
        keys = (item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked)
        return tuple(self._choices[key] for key in keys if key in self._choices)

    def tick(self, *keys: str) -> None:
        """Compare exactly these; the keys are those of `ColumnChoice`."""
        self._is_touched = True
        blocked = self.list.blockSignals(True)
        for row in range(self.list.count()):
            item = self.list.item(row)
            if (key := item.data(Qt.ItemDataRole.UserRole)) is not None:
                item.setCheckState(Qt.CheckState.Checked if key in keys else Qt.CheckState.Unchecked)
        self.list.blockSignals(blocked)
        self._request()

    def refresh(self) -> None:
        """Offer what there is now and compare what is ticked."""
        found = column_choices(self._session.project, self._desk.rows)
        self._choices = {choice.key: choice for choices in found.values() for choice in choices}
        ticked = {choice.key for choice in self.chosen} if self._is_touched else self._first_ticks()
        listed = tuple((heading, tuple((c.key, c.title) for c in choices)) for heading, choices in found.items())
        if (listed, frozenset(ticked)) != self._listed:
            self._listed = (listed, frozenset(ticked))
            self._fill(found, ticked)
        self._request()

    def stop(self) -> None:
        """Finish what is being compared, because the window closes."""
        self._work.stop()

    def _forget(self, update: Update[ScenarioView]) -> None:
        """Tick anew when another project was opened: a name there may be another scenario's."""
        if update.before is None:
            self._is_touched = False

    def _first_ticks(self) -> set[str]:
        """Return the active scenario and its reference: what somebody who just came here is likely to want."""
        workbook = self._session.project.workbook
        reference = workbook.comparison
        wanted = {f"scenario:{workbook.active}", f"scenario:{reference}", f"preset:{reference}", reference}
        if len(found := wanted & self._choices.keys()) > 1:
            return found
        others = [key for key in self._choices if key not in found]
        return found | set(others[:1])

    def _request(self) -> None:
        chosen = self.chosen
        if len(chosen) < 2:
            self._say_empty("Tick two or more scenarios or runs at the left to see what differs between them.")
            return
        self._work.request(ComparisonRequest(chosen, self._session.project.workbook.rules))

    def _show(self, view: ComparisonView) -> None:
        if len(self.chosen) < 2:
            return  # a tick was taken away meanwhile
        self.title.setText(view.title)
        self.sentence.setText(view.sentence)
        self.columns.set_numbers(view.columns)
        self._place.setVisible(True)
        for detail, numbers in (
            (Detail.PARAMETERS, view.parameters),
            (Detail.MARGINS, view.margins),
            (Detail.MEASURED, view.measured),
            (Detail.RULES, view.rules),
        ):
            self.tables[detail].set_numbers(numbers)
            index = list(Detail).index(detail)
            count = f" ({len(numbers.rows)})" if numbers.rows else ""
            self.details.setTabText(index, f"{detail.value}{count}")
            self.details.setTabEnabled(index, bool(numbers.rows) or detail is Detail.PARAMETERS)
        self.picture.show_figure(view.overlay)
        self._fit()

    def _refuse(self, error: BaseException) -> None:
        if not isinstance(error, PhexploreError):
            raise error
        self._say_empty(error.full)

    def _say_empty(self, sentence: str) -> None:
        self.title.setText("Compare")
        self.sentence.setText(sentence)
        self._place.setVisible(False)

    def _make_widgets(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName("What is compared")
        self.list.setWordWrap(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemChanged.connect(self._on_ticked)
        self.title = Text("Compare", relative=1.3, bold=True, wrap=True)
        self.sentence = Paragraph(look="muted")
        self.columns = NumbersTable()
        self.columns.setAccessibleName("Scenarios and runs that are compared")
        self.details = QTabWidget()
        self.details.setAccessibleName("Tables of the comparison")
        self.details.setDocumentMode(True)
        self.tables: Mapping[Detail, NumbersTable] = {detail: NumbersTable() for detail in Detail}
        for detail, table in self.tables.items():
            table.setAccessibleName(detail.value)
            self.details.addTab(table, detail.value)
        for table in (self.columns, *self.tables.values()):
            table.horizontalHeader().setStretchLastSection(False)
        self.picture = FigureView("Margins laid over each other", _TEACHING)
        self.picture.failed.connect(self.failed)

    def _lay_out(self) -> None:
        left = QFrame()
        left.setProperty("look", "card")
        column = QVBoxLayout(left)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(HALF)
        column.addWidget(Text("Compare", bold=True))
        column.addWidget(self.list, 1)
        self._left = left
        upper = QWidget()
        tables = QVBoxLayout(upper)
        tables.setContentsMargins(0, 0, 0, 0)
        tables.setSpacing(GRID)
        tables.addWidget(self.columns)
        tables.addWidget(self.details, 1)
        self._right = QSplitter(Qt.Orientation.Vertical)
        self._right.setChildrenCollapsible(False)
        self._right.addWidget(upper)
        self._right.addWidget(self.picture)
        self._place = scrolling("Comparison", self._right)
        self._right.setSizes([270, 260])
        right = QVBoxLayout()
        right.setSpacing(HALF)
        right.addWidget(self.title)
        right.addWidget(self.sentence)
        right.addWidget(self._place, 1)
        right.addStretch(0)
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        row.setSpacing(2 * GRID)
        row.addWidget(left)
        row.addLayout(right, 1)
        appearance().changed.connect(self._follow_theme)
        self._fit()

    def _fill(self, found: Mapping[str, Sequence[ColumnChoice]], ticked: set[str]) -> None:
        blocked = self.list.blockSignals(True)
        row = self.list.currentRow()
        self.list.clear()
        for heading, choices in found.items():
            title = QListWidgetItem(heading)
            title.setFlags(Qt.ItemFlag.NoItemFlags)
            title.setFont(appearance().font(relative=0.92, bold=True))
            self.list.addItem(title)
            for choice in choices:
                item = QListWidgetItem(choice.title)
                item.setData(Qt.ItemDataRole.UserRole, choice.key)
                item.setToolTip(choice.title if choice.run is None else f"{choice.title}\n{choice.run}")
                item.setCheckState(Qt.CheckState.Checked if choice.key in ticked else Qt.CheckState.Unchecked)
                self.list.addItem(item)
        self.list.setCurrentRow(row)
        self.list.blockSignals(blocked)

    def _on_ticked(self, _item: QListWidgetItem) -> None:
        self._is_touched = True
        self._request()

    def _follow_theme(self, _colours: object) -> None:
        self._listed = None  # headings keep their font otherwise
        self._seen.request()
        self._fit()

    def _fit(self) -> None:
        self._left.setFixedWidth(28 * GRID * min(appearance().scale, 140) // 100)
        lines = min(max(len(self.columns.numbers.rows), 1), _MOST_COLUMNS)
        height = self.columns.verticalHeader().defaultSectionSize()
        self.columns.setFixedHeight(lines * height + self.columns.horizontalHeader().sizeHint().height() + GRID)
