"""What a scenario is besides its budgets: name, note, definition of privacy, area, reader."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QGridLayout, QToolButton, QWidget

from phexplore.catalog.states import PUERTO_RICO, states, us_states
from phexplore.figures.wording import framework_title
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_parameters import Note, ParameterForm
from phexplore.gui.editors.scenario_form import ScenarioForm
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_reader, set_states

_CONSEQUENCES = {
    PrivacyFramework.ZCDP: "Budgets are ρ; noise is discrete Gaussian. The production definition of 2020.",
    PrivacyFramework.PURE_DP: "Budgets are ε; noise is two-sided geometric. The numbers stay and change their meaning.",
}
_PER_ROW = 13
_ALL, _SOME, _PUERTO_RICO = "all", "some", "pr"
_READERS = {"csv": "CSV files", "cef": "CEF: the Bureau's internal file"}


class StatesField(QWidget):
    """A chooser and one small button per state."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._is_picking = False
        areas = (
            ("United States: 50 states and D.C.", _ALL),
            ("Some states", _SOME),
            ("Puerto Rico, a run of its own", _PUERTO_RICO),
        )
        self.area = Chooser("Area of the run", options=areas, run=self._choose_area)
        self._count = Text(look="muted")
        self._every = TextButton("All", look="link", name="Choose all states", run=self._choose_all)
        self._buttons = {fips: self._button(fips) for fips in us_states()}
        self._picker = QWidget()
        grid = QGridLayout(self._picker)
        grid.setContentsMargins(0, HALF, 0, 0)
        grid.setSpacing(HALF)
        for number, button in enumerate(self._buttons.values()):
            grid.addWidget(button, number // _PER_ROW, number % _PER_ROW)
        grid.addWidget(self._every, len(self._buttons) // _PER_ROW, _PER_ROW - 1)
        grid.setColumnStretch(_PER_ROW, 1)
        column(row(self.area, self._count, 1), self._picker, of=self, gap=0)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _button(self, fips: str) -> QToolButton:
        state = states()[fips]
        button = QToolButton()
        button.setText(state.postal)
        button.setToolTip(f"{state.name} ({fips})")
        button.setAccessibleName(state.name)
        button.setCheckable(True)
        button.setFixedWidth(5 * GRID)
        button.setProperty("look", "bordered")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self._toggle(fips))
        return button

    def _toggle(self, fips: str) -> None:
        chosen = set(self._session.scenario.phsafe.states) - {PUERTO_RICO}
        chosen ^= {fips}
        name = states()[fips].name
        label = f"Add {name} to the run" if fips in chosen else f"Take {name} out of the run"
        self._set(label, tuple(sorted(chosen)))

    def _choose_all(self, _checked: bool = False) -> None:
        self._set("Run all states", us_states())

    def _choose_area(self, _index: int) -> None:
        area = self.area.currentData()
        self._is_picking = area == _SOME
        if area == _ALL:
            self._choose_all()
        elif area == _PUERTO_RICO:
            self._set("Run Puerto Rico", (PUERTO_RICO,))
        elif self._session.scenario.phsafe.states == (PUERTO_RICO,):
            self._choose_all()
        self._refresh()

    def _set(self, label: str, chosen: tuple[str, ...]) -> None:
        self._session.report(self._session.edit(label, lambda scenario: set_states(scenario, chosen)))
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        chosen = self._session.scenario.phsafe.states
        if chosen == (PUERTO_RICO,):
            self.area.select(_PUERTO_RICO)
        else:
            complete = set(chosen) == set(us_states())
            self.area.select(_SOME if self._is_picking or not complete else _ALL)
        for fips, button in self._buttons.items():
            button.setChecked(fips in chosen)
        self._picker.setVisible(self.area.currentData() == _SOME)
        self._count.setText("" if chosen == (PUERTO_RICO,) else f"{len(chosen)} of {len(self._buttons)}")


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
        readers = [(title, value) for value, title in _READERS.items()]
        self.reader = Chooser("Reader of the production program", options=readers, run=self._set_reader)
        form.addRow(self.privacy)
        form.addRow("Area", self.states)
        form.addRow("Reader", self.reader)
        self.for_experts = (self.reader,)

    def refresh(self, update: object = None) -> None:
        super().refresh(update)
        self.reader.select(self._session.scenario.phsafe.reader)

    def _set_reader(self) -> None:
        reader = self.reader.currentData()
        self._session.report(self._session.edit(f"Read {reader}", lambda scenario: set_reader(scenario, reader)))
