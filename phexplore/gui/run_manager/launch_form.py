"""The form that starts a run of any system: what every run is asked, what the system asks beside, and why it cannot start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital, sentence
from phexplore.gui.run_manager.launch_controls import (
    CountControl,
    DataControl,
    ListControl,
    StopControl,
    control_of,
    unusual,
    values_of,
)
from phexplore.gui.run_manager.run_rows import RunRow, run_title
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.flow import LARGE_TEXT
from phexplore.gui.widgets.labels import Reason, Text, field_label
from phexplore.gui.widgets.layout import Form, column, row
from phexplore.gui.widgets.speech import announce
from phexplore.model.fields import Declared, Field, declared_fields
from phexplore.model.fingerprint import fingerprint
from phexplore.model.kinds import RunDirectory, Switch
from phexplore.model.scenario import Scenario
from phexplore.resources import resource
from phexplore.runs.place import HERE, Place
from phexplore.runs.run_settings import MOST_TRIALS, TAKEN_FROM_A_RUN, RunSettings
from phexplore.runs.spec import DEMONSTRATION, DEMONSTRATION_BLOCKS, RunData, RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of

_SEEDED = "Noise from a seed: the same seed gives the same bytes. For simulation only, never for a release."
_UNSEEDED = "Noise from the operating system: nobody can draw it again. Every trial that is released spends the budget once more."


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """A run to be made once its data is described.

    Attributes:
        settings: what every run is asked.
        options: what the system asks beside, None for nothing.
    """

    settings: RunSettings
    options: Declared | None = None

    def spec(self, scenario: Scenario, data: RunData) -> RunSpec:
        """Return the specification of the run.

        Raises:
            RunSpecError: a run whose answers are to be read does not fit: nothing kept, other data, too few trials.
        """
        return system_of(scenario).complete_run(self.settings.spec(scenario, data, self.options))


_COMMITTEE = frozenset({"data", "trials", "stop"})
"""What a committee is asked before a run, beside whatever is not as it usually is."""


class _Page(QFrame):
    """A page of a stack, which is as high as the highest that asks for it: one that is not shown does not ask."""

    def heightForWidth(self, width: int) -> int:
        return -1 if self.isHidden() else super().heightForWidth(width)


class LaunchForm(_Page):
    """Asks for everything a run needs beside the scenario; a refused value keeps what was typed and says why.

    Signals:
        launched: the `LaunchRequest` the user wants.
    """

    launched = Signal(object)

    def __init__(self, system: System, parent: QWidget | None = None) -> None:
        """Make the form of a system.

        Args:
            system: whose runs it starts.
            parent: owner.
        """
        super().__init__(parent)
        self._system, self._offer, self._blocked = system, system.runs, ""
        self._scenario: Scenario | None = None
        self._rows: tuple[RunRow, ...] = ()
        self._asked: object = None
        self._partner: RunSpec | None = None
        self._readable: dict[str, RunRow] = {}
        options = system.run_options
        self._options = () if options is None else tuple(each for each in declared_fields(options) if each.option)
        self._settings = tuple(
            each
            for each in declared_fields(RunSettings)
            if each.name not in {"place", "memory"} or system.has_geography
        )
        self._sources = tuple(each for each in self._options if isinstance(each.kind, RunDirectory))
        self._parts = {each.name: each for each in _in_order(self._sources, self._settings, self._options)}
        self.controls: dict[str, Any] = {name: control_of(part, self._offer) for name, part in self._parts.items()}
        self.reasons = {name: Reason() for name in self._parts}
        self._sentence = Text(look="muted", wrap=True)
        self._common = Text(look="muted", wrap=True)
        self.use_seed = TextButton("Use its seed", look="link", run=self._use_seed)
        self.run = TextButton("Start run", look="primary", symbol="run", run=self.launch)
        self.setProperty("look", "card")
        self.setAccessibleName(self._offer.title)
        self._lay_out()
        self.fill(trials=self._offer.trials, workers=self._offer.workers, seed=1)
        self._usual = values_of(self.controls)
        for part in self._sources:
            self.controls[part.name].changed.connect(self._take_from_run)
        for control in self.controls.values():
            control.changed.connect(self._refresh)
        appearance().changed.connect(self._refresh)
        self._refresh()

    @property
    def place(self) -> Place:
        """Where a run is to be computed that goes on or is made again."""
        try:
            if "place" not in self.controls:
                return HERE
            place: Place = self.controls["place"].read()
            return replace(place, memory=self.controls["memory"].read())
        except (ValueError, PhexploreError):
            return HERE

    def leave_place(self) -> None:
        """Forget where a run was to be computed: somebody trusted it once."""
        self.fill(place=HERE)

    def fill(self, **values: Any) -> None:
        """Fill fields by their names; those the system does not ask for are left out."""
        for name, value in values.items():
            if name in self.controls:
                self.controls[name].show_value(value)

    def read(self) -> LaunchRequest | Mapping[str, str]:
        """Return the request, or the reason per field why it is none. Fields that do not count are not read."""
        found: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for name, part in self._parts.items():
            if not self._counts(part):
                continue
            try:
                found[name] = self.controls[name].read()
            except (ValueError, TypeError, PhexploreError) as error:
                problems[name] = sentence(str(error))
        if problems:
            return problems
        read_run, asked = self._read_run(), {part.name for part in self._options}
        taken = {} if read_run is None or read_run.spec is None else {"data": str(read_run.spec.data.place)}
        settings = RunSettings(**{name: value for name, value in found.items() if name not in asked} | taken)
        options = self._system.run_options
        made = None if options is None else options(**{name: value for name, value in found.items() if name in asked})
        return LaunchRequest(settings, made)

    def show_scenario(self, scenario: Scenario) -> None:
        """Offer what depends on the scenario a run would simulate."""
        self._scenario = scenario
        stop: StopControl = self.controls["stop"]
        stop.offer(*self._offer.places(scenario))
        self._offer_runs()

    def show_runs(self, rows: tuple[RunRow, ...]) -> None:
        """Offer the answers that runs kept, and the seed of another scenario's run."""
        self._rows = rows
        self._offer_runs()

    def use_blocks(self, path: Path | None) -> None:
        """Take the blocks of the project, the demonstration where it has none; for systems that read blocks."""
        if self._system.has_geography:
            is_demo = path is None or path == resource(DEMONSTRATION_BLOCKS)
            self.fill(data=DEMONSTRATION if is_demo else str(path))

    def block(self, reason: str) -> None:
        """Say why the scenario cannot be run now; "" allows it."""
        self._blocked = reason
        self._refresh()

    def launch(self) -> None:
        """Do what the button does; where it can do nothing, say aloud why and go to the first field that is to be mended."""
        read = self.read()
        if isinstance(read, LaunchRequest):
            if not self._blocked:
                self.launched.emit(read)
            return
        name, why = next(iter(read.items()))
        announce(self, why, is_urgent=True)
        control = self.controls[name]
        (getattr(control, "line", None) or control).setFocus()

    def _read_run(self) -> RunRow | None:
        """Return the run whose answers are read, None for new ones."""
        names = (self.controls[part.name].currentData() for part in self._sources)
        return next((self._readable[name] for name in names if name in self._readable), None)

    def _counts(self, part: Field) -> bool:
        """Return whether a field has a say beside the others."""
        sources = {each.name for each in self._sources}
        if self._read_run() is not None and (part.name in TAKEN_FROM_A_RUN or part.unless in sources):
            return False
        chosen = self._parts.get(part.unless)
        if chosen is not None and isinstance(chosen.kind, Switch) and self._counts(chosen):
            return bool(self.controls[chosen.name].currentData() == chosen.default)
        return True

    def _lay_out(self) -> None:
        self._form = form = Form()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        for name, part in self._parts.items():
            control = self.controls[name]
            if isinstance(control, ListControl | CountControl) or name in {"data", "place"}:
                form.addRow(field_label(f"&{capital(part.title)}", control), control)
            else:
                form.addRow("", control)
            form.addRow("", self.reasons[name])
            if name == "seed" and self._offer.shares_noise:
                form.addRow("", self._common)
                form.addRow("", self.use_seed)
        head = row((Text(self._offer.title, bold=True, relative=1.08, wrap=True), 1), self.run)
        column(head, self._sentence, form, of=self, margins=(MARGIN, GRID + HALF, MARGIN, MARGIN))

    def _refresh(self, _signal: object = None) -> None:
        """Show what the fields mean, which of them count, and why the run cannot be started."""
        wrap = QFormLayout.RowWrapPolicy
        self._form.setRowWrapPolicy(wrap.WrapAllRows if appearance().scale >= LARGE_TEXT else wrap.WrapLongRows)
        asked = self.controls if appearance().is_expert else _COMMITTEE | unusual(self.controls, self._usual)
        for name, part in self._parts.items():
            self.controls[name].setEnabled(self._counts(part))
            self._form.setRowVisible(self.controls[name], name in asked)
        noisy = self._read_run() is not None or self.controls["mode"].currentData() is RunMode.PRIVATE
        self.controls["trials"].setEnabled(noisy)
        read = self.read()
        problems = {} if isinstance(read, LaunchRequest) else read
        data: DataControl = self.controls["data"]
        missing = "" if data.line.text().strip() else problems.get("data", "")  # nothing wrong was typed
        for name, reason in self.reasons.items():
            line = getattr(self.controls[name], "line", None)
            is_said = isinstance(self.controls[name], CountControl)  # it says so itself
            said = "" if is_said or (name == "data" and missing) else problems.get(name, "")
            reason.say(said)
            if line is not None:
                line.set_refused(said)
        self._show_partner()
        why = self._blocked or missing
        self._sentence.setText(why or self._explanation(read))
        self._sentence.set_look("attention" if why else "muted")
        self.run.setEnabled(not problems and not self._blocked)
        self.run.setToolTip(self._blocked or " ".join(problems.values()))

    def _explanation(self, read: LaunchRequest | Mapping[str, str]) -> str:
        """Return in a few sentences what such a run gives, what it is not fit for, and what it writes where that is much."""
        if self._read_run() is not None:
            return self._offer.reading
        mode = self.controls["mode"].currentData()
        if mode is not RunMode.PRIVATE:
            return self._offer.releases[mode]
        source = _SEEDED if self.controls["seed"].box.isChecked() else _UNSEEDED
        address = self.place.scheduler
        where = f" Estimated on {address}: whoever controls that machine can run code here." if address else ""
        written = ""
        if isinstance(read, LaunchRequest) and self._scenario is not None:
            written = self._offer.burden(self._scenario, read.options)
        return f"{source} {self._offer.releases[mode]}{where} {written}".rstrip()

    # What other runs offer

    def _offer_runs(self) -> None:
        asked = (self._scenario, tuple((row_.directory, row_.state) for row_ in self._rows))
        scenario = self._scenario
        if asked == self._asked or scenario is None:
            return  # rows come four times a second while a run works
        self._asked = asked
        self._readable = {
            str(row_.directory): row_
            for row_ in self._rows
            if row_.spec is not None
            and row_.state is RunState.COMPLETE
            and system_of(row_.spec.scenario) is self._system
            and self._offer.can_be_read(scenario, row_.spec)
        }
        for part in self._sources:
            words = [(f"Of {run_title(row_)}", name) for name, row_ in self._readable.items()]
            self.controls[part.name].offer([("Draw new ones", ""), *words])
        self._partner = self._find_partner(scenario) if self._offer.shares_noise else None
        self._take_from_run()
        self._refresh()

    def _take_from_run(self, _index: object = None) -> None:
        """Take data and number of trials from the run whose answers are read."""
        found = self._read_run()
        self.controls["trials"].setMaximum(MOST_TRIALS if found is None else found.trials)
        if found is not None and found.spec is not None:
            self.fill(data=str(found.spec.data.place), trials=found.trials)

    def _find_partner(self, scenario: Scenario) -> RunSpec | None:
        """Return the newest seeded run of other parameters of the system."""
        mine = fingerprint(scenario)
        for row_ in self._rows:
            spec = row_.spec
            if spec is None or system_of(spec.scenario) is not self._system or spec.mode is not RunMode.PRIVATE:
                continue
            if spec.seed is not None and fingerprint(spec.scenario) != mine:
                return spec
        return None

    def _show_partner(self) -> None:
        """Say whether the noise is that of another scenario's run, so that a comparison is not blurred by different noise."""
        seed, partner = self.controls["seed"], self._partner
        shown = partner is not None and seed.box.isChecked() and seed.isEnabled()
        same = partner is not None and seed.line.text().strip() == str(partner.seed)
        self._common.setVisible(shown)
        self.use_seed.setVisible(shown and not same)
        if partner is not None:
            self._common.setText(
                f"The seed of the run of {partner.scenario.name}: on the same data both draw common random numbers, so that a "
                "comparison shows the scenarios and not the noise."
                if same
                else f"The run of {partner.scenario.name} has seed {partner.seed}; the same seed gives both common random numbers."
            )

    def _use_seed(self) -> None:
        if self._partner is not None:
            self.fill(seed=self._partner.seed)


def _in_order(sources: tuple[Field, ...], settings: tuple[Field, ...], options: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return all fields: whose answers are read, data to seed, what the system asks, then where and how long.

    Args:
        sources: options that name another run.
        settings: what every run is asked.
        options: what the system asks beside, sources among it.
    """
    before = [part for part in settings if part.name in {"data", "mode", "trials", "seed"}]
    after = [part for part in settings if part not in before]
    return (*sources, *before, *(part for part in options if part not in sources), *after)
