"""What a scenario is besides its budgets: name, note, definition of privacy, area, reader."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout

from phexplore.figures.wording import framework_title
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import ScenarioForm
from phexplore.gui.systems.phsafe.states_field import StatesField
from phexplore.gui.widgets.buttons import Chooser
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_reader

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "Budgets are ρ; noise is discrete Gaussian. The production definition of 2020.",
    PrivacyFramework.PURE_DP: "Budgets are ε; noise is two-sided geometric. The numbers stay and change their meaning.",
}
_READERS = {"csv": "CSV files", "cef": "CEF: the Bureau's internal file"}


class ScenarioEditor(ScenarioForm):
    """A form; every change is one step."""

    def add_rows(self, form: QFormLayout) -> None:
        session = self._session  # a note that led back to this page would keep it from being taken down in order
        self.privacy = ParameterForm(
            session,
            "framework",
            words={"framework": framework_title},
            notes=(Note(lambda: _CONSEQUENCES[session.scenario.phsafe.framework]),),
        )
        self.states = StatesField(self._session)
        self.reader = Chooser("Reader of the production program")
        for value, title in _READERS.items():
            self.reader.addItem(title, value)
        self.reader.currentIndexChanged.connect(self._set_reader)
        form.addRow(self.privacy)
        form.addRow("Area", self.states)
        form.addRow("Reader", self.reader)

    def refresh(self, update: object = None) -> None:
        super().refresh(update)
        method = self._session.scenario.phsafe
        self.reader.select(method.reader)

    def _set_reader(self) -> None:
        reader = self.reader.currentData()
        self._session.report(self._session.edit(f"Read {reader}", lambda scenario: set_reader(scenario, reader)))
