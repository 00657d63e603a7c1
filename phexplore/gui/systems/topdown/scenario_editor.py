"""What a TopDown scenario is: name, note, definition of privacy, schema, origin and what the papers misprint."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout

from phexplore.figures.wording import framework_title
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import ScenarioForm
from phexplore.gui.widgets.labels import Text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.topdown.wording import level_title, schema_sentence

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "The total is ρ; noise is discrete Gaussian, σ² = 1/ρ per query group and level.",
    PrivacyFramework.PURE_DP: "The total is ε; noise is two-sided geometric with scale 2/ε per query group and level.",
}


class TopDownScenarioEditor(ScenarioForm):
    """A form; every change is one step."""

    def add_rows(self, form: QFormLayout) -> None:
        session = self._session  # a note that led back to this page would keep it from being taken down in order
        self.privacy = ParameterForm(
            session,
            "framework",
            words={"framework": framework_title},
            notes=(Note(lambda: _CONSEQUENCES[session.scenario.topdown.framework]),),
        )
        self._schema = Text(wrap=True)
        self._levels = Text(wrap=True)
        form.addRow(self.privacy)
        form.addRow("Schema", self._schema)
        form.addRow("Levels", self._levels)
        self.for_experts = (self._schema,)

    def refresh(self, update: object = None) -> None:
        super().refresh(update)
        method = self._session.scenario.topdown
        self._schema.setText(schema_sentence(method.schema))
        self._levels.setText(" › ".join(level_title(level) for level in method.levels))
