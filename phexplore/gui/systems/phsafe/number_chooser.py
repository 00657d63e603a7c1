"""Choosers of table, level, region, group and cell, with what a run offers; shown as far as the picture needs them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from phexplore.catalog.tables import tables
from phexplore.gui.charts.controls import field_label
from phexplore.gui.systems.phsafe.result_choices import (
    Choices,
    ResultChoice,
    ResultTab,
    cell_label,
    code_words,
    region_words,
)
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.flow import FlowRow
from phexplore.model.keys import QueryKey

_SHOWN = {
    ResultTab.DISTRIBUTION: {"table", "level", "cell"},
    ResultTab.OBSERVED: set[str](),
    ResultTab.TRUNCATION: {"table", "level"},
    ResultTab.NUMBER: {"table", "level", "region", "group", "cell"},
    ResultTab.WORST: set[str](),
}
_LETTERS = {"table": 10, "level": 19, "region": 14, "group": 22, "cell": 28}


class NumberChooser(QWidget):
    """Lets the user say which numbers are looked at.

    Signals:
        chosen: the `ResultChoice` the user made.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: Choices | None = None
        self._tab = ResultTab.DISTRIBUTION
        self.choosers: dict[str, Chooser] = {}
        self._parts: dict[str, QWidget] = {}
        for name, words in (
            ("table", "&Table"),
            ("level", "&Level"),
            ("region", "Re&gion"),
            ("group", "Gr&oup"),
            ("cell", "&Cell"),
        ):
            chooser = Chooser(words.replace("&", ""), letters=_LETTERS[name])
            self.choosers[name] = chooser
            self._parts[name] = part = QWidget()
            row = QHBoxLayout(part)
            row.setContentsMargins(0, 0, GRID, 0)
            row.addWidget(field_label(words, chooser))
            row.addWidget(chooser)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(FlowRow(*self._parts.values(), gap=HALF))
        self.choosers["table"].currentIndexChanged.connect(self._table_chosen)
        for name in ("level", "region", "group", "cell"):
            self.choosers[name].currentIndexChanged.connect(self._announce)
        self.show_for(self._tab)

    def show_for(self, tab: ResultTab) -> None:
        """Show the choosers a picture needs."""
        self._tab = tab
        for name, part in self._parts.items():
            part.setVisible(name in _SHOWN[tab])

    def show_choice(self, choices: Choices, choice: ResultChoice) -> None:
        """Offer what a run offers, with this choice made; nothing is announced.

        Args:
            choices: of the run.
            choice: settled among them.
        """
        self._choices = choices
        query = choice.query
        if query is None:
            return
        names = list(dict.fromkeys(str(each.table) for each in choices.queries))
        levels = [each.level for each in choices.queries if each.table == query.table]
        one = self._tab is ResultTab.NUMBER
        cells: list[int | None] = [*([] if one else [None]), *choices.cells[query.table]]
        cell = choices.cells[query.table][0] if one and choice.cell is None else choice.cell
        _fill(self.choosers["table"], [(name, name, tables()[query.table].title) for name in names], query.table)
        _fill(self.choosers["level"], [(level.title, level, "") for level in levels], query.level)
        regions = choices.regions[query.level.region]
        _fill(self.choosers["region"], [(region_words(each), each, "") for each in regions], choice.region)
        codes = query.level.iteration.codes
        _fill(self.choosers["group"], [(code_words(each) or "everybody", each, "") for each in codes], choice.code)
        _fill(self.choosers["cell"], [(cell_label(query, each), each, "") for each in cells], cell)

    def choice(self) -> ResultChoice:
        """Return what stands in the choosers."""
        table, level = self.choosers["table"].currentData(), self.choosers["level"].currentData()
        if table is None or level is None:
            return ResultChoice()
        return ResultChoice(
            QueryKey(table, level),
            self.choosers["region"].currentData(),
            self.choosers["group"].currentData(),
            self.choosers["cell"].currentData(),
        )

    def _table_chosen(self) -> None:
        """Keep the level where the new table has it."""
        table, level = self.choosers["table"].currentData(), self.choosers["level"].currentData()
        if self._choices is None or table is None:
            return
        offered = [query for query in self._choices.queries if query.table == table]
        query = next((query for query in offered if query.level == level), offered[0])
        before = self.choice()
        self.chosen.emit(ResultChoice(query, before.region, before.code, None))

    def _announce(self) -> None:
        if self._choices is not None:
            self.chosen.emit(self.choice())


def _fill(chooser: Chooser, entries: list[tuple[str, object, str]], current: object) -> None:
    """Put entries into a chooser without telling anybody; leave it alone where nothing changed."""
    if [chooser.itemData(place) for place in range(chooser.count())] != [data for _, data, _ in entries]:
        blocked = chooser.blockSignals(True)
        chooser.clear()
        for place, (words, data, tip) in enumerate(entries):
            chooser.addItem(words, data)
            if tip:
                chooser.setItemData(place, tip, 3)
        chooser.blockSignals(blocked)
    chooser.select(current)
