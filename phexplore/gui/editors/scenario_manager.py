"""The page of the scenarios of the project: switch, add, duplicate, rename, delete, compare; of the active one; of conventions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QWidget

from phexplore.gui.binding.scenario_list import NAME_ROLE, ScenarioList
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.editors.conventions_editor import ConventionsEditor
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.page import Page
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.workbook import Workbook, activate, add_scenario, compare_with, remove_scenario
from phexplore.systems.registry import presets, system_of

_COPY = re.compile(r" copy(?: \d+)?$")


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
        self.list.activated.connect(self.activate)
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
        self.new = _button("plus", "New scenario from a preset", "New from preset")
        self.new.setMenu(self._menu)
        self.new.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        self.work_on = _button("pencil", "Work on the chosen scenario", "Work on it", self.activate)
        self.copy = _button("copy", "Duplicate the scenario", "Duplicate", self.duplicate)
        self.rename = _button("settings", "Rename the scenario", "Rename", self._edit_name)
        self.delete = _button("trash", "Delete the scenario", "Delete", self.remove)
        self.compare = _button("overview", "Compare with the chosen scenario", "Compare with", self._compare)
        buttons = FlowRow(self.new, self.work_on, self.compare, self.copy, self.rename, self.delete, gap=GRID)
        column(self.list, buttons, of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated, appearance().changed)
        self._refresh()

    def add_preset(self, preset_id: str) -> None:
        """Add a scenario with the parameters of a preset and work on it."""
        preset = presets()[preset_id]
        self._edit(f"Add {preset.title}", lambda book: add_scenario(book, preset.scenario))

    def duplicate(self) -> None:
        """Add a copy of the chosen scenario and work on it."""
        name = self._chosen()
        copied = f"{_COPY.sub('', name)} copy"  # a copy of a copy gets a number, not a second "copy"
        self._edit(f"Duplicate {name}", lambda book: add_scenario(book, replace(book.find(name), name=copied)))

    def remove(self) -> None:
        """Delete the chosen scenario; undo brings it back."""
        name = self._chosen()
        self._edit(f"Delete {name}", lambda book: remove_scenario(book, name))

    def activate(self, _index: object = None) -> None:
        """Work on the chosen scenario."""
        name = self._chosen()
        if name != self._session.shown.workbook.active:
            self._edit(f"Work on {name}", lambda book: activate(book, name))

    def _edit(self, label: str, change: Callable[[Workbook], Workbook]) -> None:
        self._session.report(self._session.edit_workbook(label, change))

    def _edit_name(self) -> None:
        self.list.edit(self.list.currentIndex())

    def _compare(self) -> None:
        name = self._chosen()
        self._edit(f"Compare with {name}", lambda book: compare_with(book, name))

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


class _OnceButton(SymbolButton):
    """A button whose second click of a double click does nothing: it would copy the copy, or delete the next one."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()


def _button(symbol: str, name: str, text: str, run: Callable[[], object] | None = None) -> SymbolButton:
    return _OnceButton(symbol, name, text=text, bordered=True, run=run)


def scenario_page(
    session: SystemSession[Any], make_form: Callable[[], QWidget], conventions: str, *, are_chosen: bool
) -> QWidget:
    """Return the page.

    Args:
        session: of the system.
        make_form: makes the form of the active scenario.
        conventions: a sentence about what they mean for this system.
        are_chosen: whether neighbours are; else the sentence says why not.
    """
    page = Page("Scenario")
    page.add(
        "Scenarios of this project",
        "Work on one, compare it with another. The bold one is being edited.",
        lambda: ScenarioManager(session.whole),
    )
    page.add("This scenario", "", make_form)
    page.add(
        "Conventions",
        f"What the shown numbers mean. Changing them changes no parameter. {conventions}",
        lambda: ConventionsEditor(session.whole, "" if are_chosen else conventions),
    )
    return page
