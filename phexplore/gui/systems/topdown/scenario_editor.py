"""What a TopDown scenario is: name, note, definition of privacy, schema, origin and what the papers misprint."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout

from phexplore.errors import PhexploreError
from phexplore.figures.wording import framework_title
from phexplore.gui.editors.scenario_form import ScenarioForm
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import ElidedText, Text
from phexplore.model.edits import set_field
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.topdown.wording import level_title
from phexplore.workload.schema import load_schema

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "The total is ρ; noise is discrete Gaussian, σ² = 1/ρ per query group and level.",
    PrivacyFramework.PURE_DP: "The total is ε; noise is two-sided geometric with scale 2/ε per query group and level.",
}


class TopDownScenarioEditor(ScenarioForm):
    """A form; every change is one step."""

    def add_rows(self, form: QFormLayout) -> None:
        self.framework = Chooser("Definition of privacy")
        for framework in PrivacyFramework:
            self.framework.addItem(framework_title(framework), framework)
        self.framework.currentIndexChanged.connect(self._set_framework)
        self._consequence = ElidedText(look="muted")
        self._schema = Text(wrap=True)
        self._levels = Text(wrap=True)
        form.addRow("Privacy", self.framework)
        form.addRow("", self._consequence)
        form.addRow("Schema", self._schema)
        form.addRow("Levels", self._levels)

    def refresh(self, update: object = None) -> None:
        super().refresh(update)
        method = self._session.scenario.topdown
        self.framework.select(method.framework)
        self._consequence.setText(_CONSEQUENCES[method.framework])
        self._schema.setText(schema_sentence(method.schema))
        self._levels.setText(" › ".join(level_title(level) for level in method.levels))

    def _set_framework(self) -> None:
        framework = self.framework.currentData()
        label = f"Use {framework_title(framework)}"
        self._session.report(self._session.edit(label, lambda scenario: set_field(scenario, "framework", framework)))


def schema_sentence(schema_id: str) -> str:
    """Return what a schema is and whether it can be simulated."""
    try:
        schema = load_schema(schema_id)
    except PhexploreError as error:
        return error.sentence
    sizes = " × ".join(f"{attribute.name} {attribute.levels}" for attribute in schema.attributes)
    limit = f" {schema.analytic_only}" if schema.analytic_only else ""
    return f"{schema.title}: {sizes} = {schema.cells:,} cells.{limit}"
