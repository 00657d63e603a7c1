"""What a scenario is besides its budgets: name, note, definition of privacy, area, reader."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPlainTextEdit, QWidget

from phexplore.figures.wording import framework_title
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.phsafe.states_field import StatesField
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import ElidedText
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import rename, set_note
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_framework, set_reader

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "Budgets are ρ; noise is discrete Gaussian. The production definition of 2020.",
    PrivacyFramework.PURE_DP: "Budgets are ε; noise is two-sided geometric. The numbers stay and change their meaning.",
}
_READERS = {"csv": "CSV files", "cef": "CEF: the Bureau's internal file"}


class NoteField(QPlainTextEdit):
    """Free text that is taken when the field is left."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName("Note")
        self.setPlaceholderText("Why these values? For whom? Shown in reports.")
        self.setTabChangesFocus(True)
        self.setFixedHeight(10 * GRID)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.commit()

    def commit(self) -> None:
        """Take what was written."""
        text = self.toPlainText()
        if text != self._session.scenario.note:
            self._session.report(self._session.edit("Edit the note", lambda scenario: set_note(scenario, text)))

    def _refresh(self, _update: object = None) -> None:
        if not self.hasFocus() and self.toPlainText() != self._session.scenario.note:
            self.setPlainText(self._session.scenario.note)


class ScenarioEditor(QWidget):
    """A form; every change is one step."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the scenario")
        self.name.setMaximumWidth(48 * GRID)
        self.name.editingFinished.connect(self._rename)
        self.note = NoteField(session)
        self.framework = Chooser("Definition of privacy")
        for framework in PrivacyFramework:
            self.framework.addItem(framework_title(framework), framework)
        self.framework.currentIndexChanged.connect(self._set_framework)
        self._consequence = ElidedText(look="muted")
        self.states = StatesField(session)
        self.reader = Chooser("Reader of the production program")
        for value, title in _READERS.items():
            self.reader.addItem(title, value)
        self.reader.currentIndexChanged.connect(self._set_reader)
        self._origin = ElidedText(look="muted")
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("Name", self.name)
        form.addRow("Note", self.note)
        form.addRow("Privacy", self.framework)
        form.addRow("", self._consequence)
        form.addRow("Area", self.states)
        form.addRow("Reader", self.reader)
        form.addRow("Origin", self._origin)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        scenario = self._session.scenario
        if not (self.name.hasFocus() and self.name.isModified()):
            self.name.setText(scenario.name)
        self.framework.select(scenario.phsafe.framework)
        self._consequence.setText(_CONSEQUENCES[scenario.phsafe.framework])
        self.reader.select(scenario.phsafe.reader)
        imported = "; exported files keep the imported file's layout and unknown keys" if scenario.source_text else ""
        self._origin.setText((f"preset {scenario.baseline}" if scenario.baseline else "no preset") + imported)

    def _rename(self) -> None:
        name = self.name.text()
        self.name.setModified(False)
        if name != self._session.scenario.name:
            self._session.report(self._session.edit(f"Rename to {name}", lambda scenario: rename(scenario, name)))
            self._refresh()

    def _set_framework(self) -> None:
        framework = self.framework.currentData()
        label = f"Use {framework_title(framework)}"
        self._session.report(self._session.edit(label, lambda scenario: set_framework(scenario, framework)))

    def _set_reader(self) -> None:
        reader = self.reader.currentData()
        self._session.report(self._session.edit(f"Read {reader}", lambda scenario: set_reader(scenario, reader)))
