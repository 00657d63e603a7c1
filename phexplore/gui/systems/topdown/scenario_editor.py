"""What a TopDown scenario is: name, note, definition of privacy, schema, origin and what the papers misprint."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.wording import framework_title
from phexplore.gui.systems.phsafe.scenario_editor import NoteField
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import rename
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.topdown.edits import set_privacy_framework
from phexplore.systems.topdown.wording import level_title
from phexplore.workload.schema import load_schema

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "The total is ρ; noise is discrete Gaussian, σ² = 1/ρ per query group and level.",
    PrivacyFramework.PURE_DP: "The total is ε; noise is two-sided geometric with scale 2/ε per query group and level.",
}


class TopDownScenarioEditor(QWidget):
    """A form; every change is one step."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the scenario")
        self.name.setMaximumWidth(48 * GRID)
        self.name.editingFinished.connect(self._rename)
        self.note = NoteField(session.whole)
        self.framework = Chooser("Definition of privacy")
        for framework in PrivacyFramework:
            self.framework.addItem(framework_title(framework), framework)
        self.framework.currentIndexChanged.connect(self._set_framework)
        self._consequence = ElidedText(look="muted")
        self._schema = Text(wrap=True)
        self._levels = Text(wrap=True)
        self._origin = Paragraph(look="muted")
        self.errata = Paragraph(look="attention")
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
        form.addRow("Schema", self._schema)
        form.addRow("Levels", self._levels)
        form.addRow("Origin", self._origin)
        self._errata_label = Text("Papers print")
        form.addRow(self._errata_label, self.errata)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        shown = self._session.shown
        scenario, method, origin = shown.scenario, shown.method, shown.origin
        if not (self.name.hasFocus() and self.name.isModified()):
            self.name.setText(scenario.name)
        self.framework.select(method.framework)
        self._consequence.setText(_CONSEQUENCES[method.framework])
        self._schema.setText(schema_sentence(method.schema))
        self._levels.setText(" › ".join(level_title(level) for level in method.levels))
        self._origin.setText(
            f"{origin.title}. Source: {origin.source}" if origin is not None else "No preset; no published source."
        )
        errata = "\n".join(origin.errata) if origin is not None else ""
        self.errata.setText(errata)
        for widget in (self.errata, self._errata_label):
            widget.setVisible(bool(errata))

    def _rename(self) -> None:
        name = self.name.text()
        self.name.setModified(False)
        if name != self._session.scenario.name:
            self._session.report(self._session.edit(f"Rename to {name}", lambda scenario: rename(scenario, name)))
            self._refresh()

    def _set_framework(self) -> None:
        framework = self.framework.currentData()
        label = f"Use {framework_title(framework)}"
        self._session.report(self._session.edit(label, lambda scenario: set_privacy_framework(scenario, framework)))


def schema_sentence(schema_id: str) -> str:
    """Return what a schema is and whether it can be simulated."""
    try:
        schema = load_schema(schema_id)
    except PhexploreError as error:
        return error.sentence
    sizes = " × ".join(f"{attribute.name} {attribute.levels}" for attribute in schema.attributes)
    limit = f" {schema.analytic_only}" if schema.analytic_only else ""
    return f"{schema.title}: {sizes} = {schema.cells:,} cells.{limit}"
