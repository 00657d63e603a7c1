"""The margin of a sum of any published numbers: pick areas, groups and cells; shared measurements count once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QDialog, QListWidget, QListWidgetItem, QWidget

from phexplore.catalog.states import states
from phexplore.catalog.tables import table, tables
from phexplore.figures.wording import people
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.inspection import margin_lines
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.interval_picture import IntervalPicture
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.pointers import PAGE
from phexplore.model.keys import LEVELS, PopulationGroupLevel, Region, TableId
from phexplore.model.rounded import ABSENT, percent
from phexplore.systems.phsafe.forecast import Pick, sum_of


class SumDialog(QDialog):
    """Stays open beside the window and follows every edit."""

    def __init__(self, parent: QWidget | None, session: PlainSession) -> None:
        super().__init__(parent)
        self._session = session
        self.picks: list[Pick] = []
        self.setWindowTitle("Margin of a sum")
        self.setProperty(PAGE, "docs/sdhc.md#what-is-shown-before-any-run")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(92 * GRID, 76 * GRID)
        products = [(f"{product.id}: {product.title}", product.id) for product in tables().values()]
        self.table = Chooser("Table", options=products, run=self._fill_levels)
        self.level = Chooser("Level", run=self._fill_lists)
        self.areas = _list("Areas of the sum")
        self.groups = _list("Race and ethnicity groups of the sum")
        self.cells = _list("Cells of the sum")
        self.add = TextButton("Add to the sum", look="primary", symbol="plus", run=self.add_pick)
        self.chosen = _list("Parts of the sum")
        self.chosen.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.chosen.setMaximumHeight(12 * GRID)
        self.remove = TextButton("Remove the part", run=self._remove)
        self.picture = IntervalPicture("Margins of the sum in people")
        self.headline = Text(bold=True, relative=1.5)
        self.about = Text(look="muted", wrap=True)
        self._lay_out()
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self._refresh)
        session.updated.connect(self._frames.request)
        self._fill_levels()
        self._refresh()

    def add_pick(self) -> None:
        """Add what is chosen in the lists."""
        product, level = TableId(self.table.currentData()), self.level.currentData()
        cells = tuple(int(code) for code in _chosen(self.cells))
        pick = Pick(product, level, _chosen(self.areas), _chosen(self.groups), cells)
        if pick.numbers:
            self.picks.append(pick)
            self.chosen.addItem(pick.text)
        self._refresh()

    def _lay_out(self) -> None:
        lists = row(
            (column(Text("Areas", look="muted"), (self.areas, 1)), 3),
            (column(Text("Groups", look="muted"), (self.groups, 1)), 2),
            (column(Text("Cells", look="muted"), (self.cells, 1)), 4),
        )
        head, buttons = row((self.table, 1), self.level), row(self.add, 1, self.remove)
        found = (self.chosen, self.headline, self.picture, self.about)
        column(head, (lists, 1), buttons, *found, of=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN))

    def _fill_levels(self) -> None:
        levels = table(self.table.currentData()).levels
        self.level.offer([(level.title, level) for level in LEVELS if level in levels])
        self._fill_lists()

    def _fill_lists(self) -> None:
        level: PopulationGroupLevel = self.level.currentData()
        regions = [("1", "Nation")]
        if level.region is not Region.NATION:
            chosen = self._session.scenario.phsafe.states
            regions = [(fips, states()[fips].name) for fips in chosen if fips in states()]
        _fill(self.areas, regions)
        codes, cells = level.iteration.codes, table(self.table.currentData()).cells
        _fill(self.groups, [(code, "Everyone" if code == "*" else f"Iteration {code}") for code in codes])
        _fill(self.cells, [(str(cell.code), f"{cell.code}  {cell.label}") for cell in cells])

    def _remove(self) -> None:
        place = self.chosen.currentRow()
        if place >= 0:
            self.chosen.takeItem(place)
            del self.picks[place]
            self._refresh()

    def _refresh(self, _signal: object = None) -> None:
        scenario = self._session.scenario
        found = sum_of(scenario, self.picks)
        self.remove.setEnabled(bool(self.picks))
        if isinstance(found, str):
            self.headline.setText("")
            self.picture.show_intervals(())
            self.about.setText(found)
            return
        conventions = scenario.conventions
        self.headline.setText(f"± {people(found.margins.by(conventions.margin))} people")
        lines = margin_lines(found.margins, conventions.margin)
        texts = (ABSENT if line.people is None else f"± {people(line.people)}" for line in lines)
        self.picture.show_intervals(
            [(line.word, line.people, text, line.is_chosen) for line, text in zip(lines, texts, strict=True)]
        )
        repeated = f" {found.repeated} of them enter more than once, so their noise adds." if found.repeated else ""
        self.about.setText(
            f"{percent(conventions.confidence, places=None)} noise margin of a sum of {found.measurements:,} independent "
            f"measurements.{repeated} Truncation is not included."
        )


def _list(name: str) -> QListWidget:
    widget = QListWidget()
    widget.setAccessibleName(name)
    widget.ensurePolished()  # rows are measured when they come, with the paddings of the style sheet
    widget.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    return widget


def _fill(widget: QListWidget, entries: Sequence[tuple[str, str]]) -> None:
    widget.clear()
    for value, text in entries:
        item = QListWidgetItem(localised(text))
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setToolTip(text)
        widget.addItem(item)
    widget.setCurrentRow(0)


def _chosen(widget: QListWidget) -> tuple[str, ...]:
    places = sorted(widget.row(item) for item in widget.selectedItems())
    return tuple(str(widget.item(place).data(Qt.ItemDataRole.UserRole)) for place in places)
