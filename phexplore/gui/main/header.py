"""The bar above everything: scenario, status, reference, undo, run, approve, export."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.decision.status import TONES, status_now
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.labels import Text, line
from phexplore.model.workbook import activate, compare_with
from phexplore.systems.registry import presets

_LETTERS = 10
"""Least width of a chooser; at normal text size it takes more, at twice the size the window still fits a small screen."""


class HeaderBar(QFrame):
    """Choosers commit one step; buttons trigger the actions of the table."""

    def __init__(
        self, session: Session, *, undo: QAction, redo: QAction, run: QAction, approve: QAction, export: QMenu
    ) -> None:
        super().__init__()
        self._session = session
        self.setProperty("look", "bar")
        self.scenario = Chooser("Scenario", tip="The scenario being edited", letters=_LETTERS)
        self.scenario.setProperty("look", "title")
        self.scenario.currentIndexChanged.connect(self._activate)
        self.reference = Chooser("Compared with", tip="What figures are compared with", letters=_LETTERS)
        self.reference.currentIndexChanged.connect(self._compare)
        self.status = Text(bold=True)
        self._state = Text(look="muted")
        self.undo = _button(undo, "undo", "Undo")
        self.redo = _button(redo, "redo", "Redo")
        self.run = TextButton("Run…", look="primary", symbol="run")
        self.run.clicked.connect(run.trigger)
        self.approve = TextButton("Approve…", name="Recommend, approve or withdraw these parameters")
        self.approve.setToolTip(f"Recommend, approve or withdraw these parameters ({approve.shortcut().toString()})")
        self.approve.clicked.connect(approve.trigger)
        self.export = SymbolButton("export", "Export parameters, tables or a report", text="Export", bordered=True)
        self.export.setMenu(export)
        self.export.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        row.setSpacing(GRID)
        row.addLayout(_captioned("Scenario", self.scenario), 3)
        row.addSpacing(GRID)
        row.addLayout(_captioned("Compared with", self.reference), 3)
        row.addSpacing(GRID)
        row.addLayout(_above(self.status, self._state))
        row.addStretch(2)
        for widget in (self.undo, self.redo, line(vertical=True), self.run, self.approve, self.export):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        session.settled.connect(self._refresh)
        session.saved.connect(self._refresh)
        self._refresh()

    def _refresh(self, _signal: object = None) -> None:
        workbook = self._session.shown.workbook
        names = [(name, name) for name in workbook.names]
        _fill(self.scenario, names)
        self.scenario.select(workbook.active)
        system = type(workbook.scenario.method)
        others = [
            (scenario.name, scenario.name)
            for scenario in workbook.scenarios
            if scenario.name != workbook.active and isinstance(scenario.method, system)
        ]
        shipped = [
            (preset.title, preset.id) for preset in presets().values() if isinstance(preset.scenario.method, system)
        ]
        kept = [
            (title, key)
            for title, key in self._session.kept.offers()
            if (version := self._session.kept.find(key)) is not None and isinstance(version[1].method, system)
        ]
        entries = [("nothing", ""), *kept, *others, *shipped]
        _fill(self.reference, entries)
        # A comparison with another system says nothing here; it comes back with a scenario of that system.
        self.reference.select(workbook.comparison if workbook.comparison in dict(entries).values() else "")
        project = self._session.project
        self._state.setText("" if project.is_clean else "not saved")
        status = status_now(project)
        self.status.setText(status.title)
        self.status.setAccessibleName(f"Status of the parameters: {status.title}")
        self.status.set_look(TONES[status])

    def _activate(self) -> None:
        name = self.scenario.currentData()
        if name is not None:
            self._session.report(
                self._session.edit_workbook(f"Work on {name}", lambda workbook: activate(workbook, name))
            )

    def _compare(self) -> None:
        name = self.reference.currentData()
        if name is not None:
            label = f"Compare with {self.reference.currentText()}"
            self._session.report(self._session.edit_workbook(label, lambda workbook: compare_with(workbook, name)))


def _above(upper: QWidget, lower: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(2)
    column.addStretch(1)
    column.addWidget(upper)
    column.addWidget(lower)
    return column


def _fill(chooser: Chooser, entries: list[tuple[str, str]]) -> None:
    if [(chooser.itemText(n), chooser.itemData(n)) for n in range(chooser.count())] == entries:
        return
    blocked = chooser.blockSignals(True)
    chooser.clear()
    for text, value in entries:
        chooser.addItem(text, value)
        chooser.setItemData(chooser.count() - 1, text, Qt.ItemDataRole.ToolTipRole)
    chooser.blockSignals(blocked)


def _button(action: QAction, symbol: str, name: str) -> SymbolButton:
    keys = action.shortcut().toString()
    button = SymbolButton(symbol, name, tip=f"{name} ({keys})")
    button.clicked.connect(action.trigger)
    button.setEnabled(action.isEnabled())
    action.enabledChanged.connect(button.setEnabled)
    return button


def _captioned(caption: str, widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(2)
    label = Text(caption, look="muted", relative=0.92)
    label.setBuddy(widget)
    column.addWidget(label)
    column.addWidget(widget)
    return column
