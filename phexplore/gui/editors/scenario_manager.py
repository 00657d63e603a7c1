"""The scenarios of the project: switch, add, duplicate, rename, delete, compare."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from phexplore.gui.binding.scenario_list import NAME_ROLE, ScenarioList
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.workbook import activate, add_scenario, compare_with, remove_scenario
from phexplore.systems.registry import presets, system_of


class ScenarioManager(QWidget):
    """A list and its buttons. The bold scenario is the one being edited."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.model = ScenarioList(session, self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setAccessibleName("Scenarios of the project")
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setUniformItemSizes(True)
        self.list.activated.connect(self._activate)
        self._active = ""
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        system = None
        for preset in presets().values():
            if system_of(preset.scenario) is not system:
                system = system_of(preset.scenario)
                self._menu.addSection(system.title)
            entry = self._menu.addAction(preset.title)
            entry.setToolTip(preset.source)
            entry.triggered.connect(lambda _checked, key=preset.id: self.add_preset(key))
        self.new = SymbolButton("plus", "New scenario from a preset", text="New from preset", bordered=True)
        self.new.setMenu(self._menu)
        self.new.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        self.work_on = SymbolButton("pencil", "Work on the chosen scenario", text="Work on it", bordered=True)
        self.copy = SymbolButton("copy", "Duplicate the scenario", text="Duplicate", bordered=True)
        self.rename = SymbolButton("settings", "Rename the scenario", text="Rename", bordered=True)
        self.delete = SymbolButton("trash", "Delete the scenario", text="Delete", bordered=True)
        self.compare = SymbolButton("overview", "Compare with the chosen scenario", text="Compare with", bordered=True)
        self.work_on.clicked.connect(self.activate)
        self.copy.clicked.connect(self.duplicate)
        self.rename.clicked.connect(self._edit_name)
        self.delete.clicked.connect(self.remove)
        self.compare.clicked.connect(self._compare)
        buttons = FlowRow(self.new, self.work_on, self.compare, self.copy, self.rename, self.delete, gap=GRID)
        column(self.list, buttons, of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def add_preset(self, preset_id: str) -> None:
        """Add a scenario with the parameters of a preset and work on it."""
        preset = presets()[preset_id]
        self._session.report(
            self._session.edit_workbook(f"Add {preset.title}", lambda book: add_scenario(book, preset.scenario))
        )

    def duplicate(self) -> None:
        """Add a copy of the chosen scenario and work on it."""
        name = self._chosen()
        self._session.report(
            self._session.edit_workbook(
                f"Duplicate {name}", lambda book: add_scenario(book, replace(book.find(name), name=f"{name} copy"))
            )
        )

    def remove(self) -> None:
        """Delete the chosen scenario; undo brings it back."""
        name = self._chosen()
        self._session.report(self._session.edit_workbook(f"Delete {name}", lambda book: remove_scenario(book, name)))

    def activate(self) -> None:
        """Work on the chosen scenario."""
        name = self._chosen()
        if name != self._session.shown.workbook.active:
            self._session.report(self._session.edit_workbook(f"Work on {name}", lambda book: activate(book, name)))

    def _activate(self, _index: QModelIndex) -> None:
        self.activate()

    def _edit_name(self) -> None:
        self.list.edit(self.list.currentIndex())

    def _compare(self) -> None:
        name = self._chosen()
        self._session.report(self._session.edit_workbook(f"Compare with {name}", lambda book: compare_with(book, name)))

    def _chosen(self) -> str:
        index = self.list.currentIndex()
        return str(index.data(NAME_ROLE)) if index.isValid() else self._session.shown.workbook.active

    def _refresh(self, _update: object = None) -> None:
        workbook = self._session.shown.workbook
        if workbook.active != self._active or not self.list.currentIndex().isValid():
            self._active = workbook.active
            self.list.setCurrentIndex(self.model.index(self.model.row_of(workbook.active)))
        self.delete.setEnabled(len(workbook.scenarios) > 1)
        lines = min(max(len(workbook.scenarios), 2), 8)
        self.list.setFixedHeight(lines * max(self.list.sizeHintForRow(0), 2 * GRID) + HALF)
