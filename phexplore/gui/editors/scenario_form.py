"""Forms of a scenario: name, note, origin, exact fields, and what is promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFormLayout, QWidget

from phexplore.decide.comments import about_words, said_of
from phexplore.gui.binding.session import refusal_of
from phexplore.gui.binding.system_session import PlainSession, SystemSession
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.exact_field import LineText
from phexplore.gui.widgets.form import DeclaredForm, form_in
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import rename, set_field
from phexplore.systems.registry import find_preset

_LABEL = QFormLayout.ItemRole.LabelRole


class ScenarioForm(QWidget):
    """Name, note, rows of a system's own, origin and what the papers misprint; every change is one step."""

    for_experts: Sequence[QWidget] = ()
    """Rows of a system's own that a committee does not decide on."""

    def __init__(self, session: SystemSession[Any]) -> None:
        super().__init__()
        self._session = session
        self.name = LineField("Name of the scenario")
        self.name.editingFinished.connect(self._rename)
        hint = "Why these values? For whom? Shown in reports."
        self.note = LineText("Note", hint, self._take_note, is_wrapped=True)
        self.comments = Paragraph()
        self._origin = Paragraph(look="muted")
        self.errata = Paragraph(look="attention")
        form = form_in(self)
        form.addRow("Name", self.name)
        form.addRow("Note", self.note)
        self.add_rows(form)
        self._comments_label = Text("Comments")
        form.addRow(self._comments_label, self.comments)
        form.addRow("Origin", self._origin)
        self._errata_label = Text("Corrections to the papers")
        form.addRow(self._errata_label, self.errata)
        self._form = form
        self._seen = WhenSeen(self, self.refresh, session.updated, appearance().changed)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.name.setMaximumWidth(48 * GRID * appearance().scale // 100)
        self._align()

    def _align(self) -> None:
        """Give all labels one width: the rows of a system's own are a form within this one."""
        forms = (self._form, *(each.rows for each in self.findChildren(DeclaredForm)))
        items = (rows.itemAt(row, _LABEL) for rows in forms for row in range(rows.rowCount()))
        found = (item.widget() for item in items if item is not None and not item.isEmpty())
        labels = [label for label in found if label is not None]
        width = max(label.sizeHint().width() for label in labels)
        for label in labels:
            label.setMinimumWidth(width)

    def add_rows(self, form: QFormLayout) -> None:
        """Add the rows of a system's own between note and origin."""

    def refresh(self, _update: object = None) -> None:
        """Show the scenario as it stands."""
        scenario = self._session.scenario
        if not (self.name.hasFocus() and self.name.isModified()):
            self.name.setText(scenario.name)
        self.note.set_value(scenario.note)
        said = (f"{about_words(scenario, each.about)}: {said_of(each)}" for each in scenario.comments)
        self._comments_label.setVisible(self.comments.say("\n".join(said)))
        origin, is_expert = find_preset(scenario.baseline), appearance().is_expert
        source = f"{origin.title}." if origin is not None else "No preset; no published source."
        source += f" Source: {origin.source}" if origin is not None and is_expert else ""
        imported = " Exported files keep the imported file's layout and unknown keys." if scenario.source_text else ""
        self._origin.setText(source + imported)
        errata = origin.errata if origin is not None and is_expert else ()
        self._errata_label.setVisible(self.errata.say("\n".join(errata)))
        for field in self.for_experts:
            self._form.setRowVisible(field, is_expert)
        self._align()

    def _take_note(self, text: str) -> str:
        return refusal_of(self._session, lambda: ("Edit the note", lambda scenario: set_field(scenario, "note", text)))

    def _rename(self) -> None:
        name = self.name.text()
        self.name.setModified(False)
        if name != self._session.scenario.name:
            self._session.report(self._session.edit(f"Rename to {name}", lambda scenario: rename(scenario, name)))
            self.refresh()


class PromiseText(QWidget):
    """What the number promises and what it does not, in sentences."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.protected, self.not_protected = Text(wrap=True), Text(look="attention", wrap=True)
        # Below each other: a form takes a line from one text where the other just fits.
        heads = (Text(words, bold=True) for words in ("Protected", "Not protected"))
        column(next(heads), self.protected, next(heads), self.not_protected, of=self, gap=HALF)
        self._seen = WhenSeen(self, self._refresh, session.settled)
        self._refresh()

    def _refresh(self, _shown: object = None) -> None:
        shown = self._session.shown
        nothing = "Nothing can be promised while the scenario has errors; see the issues."
        found = shown.forecast
        self.protected.setText("\n".join(found.protected) if found else nothing)
        self.not_protected.setText(("\n".join(found.not_protected) or "–") if found else nothing)
