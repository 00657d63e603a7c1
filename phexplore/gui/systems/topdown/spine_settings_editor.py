"""The settings of a scenario's spine: as live controls, and as the keys of production's configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import refusal_of
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton, TickBox
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import column, form, row, stacked
from phexplore.gui.widgets.number_field import NumberField
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import EditRefusedError, set_field
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import SpineChoice
from phexplore.spine.geodict import geodict_of
from phexplore.spine.settings import (
    AIAN_AREAS_2020,
    AIAN_RANGES,
    KINDS,
    SpineSettings,
    changed_choice,
    settings_of,
    spine_presets,
)
from phexplore.systems.topdown.spine_views import AreaClass
from phexplore.systems.topdown.spine_words import (
    BYPASS_SENTENCES,
    KIND_SENTENCES,
    SETTINGS,
    TARGETS,
    setting_words,
    target_tip,
)
from phexplore.systems.topdown.wording import spine_preset_title, spine_title

_CHOICES = ("grouping", "redefine_counties", "tract_groups", "bypass")
_NUMBERS = ("fanout_cutoff", "entity_threshold", "bypass_cutoff")
_ALWAYS = 7
"""Classes of areas that can be ticked whatever the blocks have codes of: the first ones."""
_NO_LEVEL = "This scenario has no level of tract groups: they carry no budget, and no count follows them."
_STOPS = tuple(map(Fraction, range(101)))
_MOST = 10**6
_OWN = "Own settings"


class SpineSettingsEditor(QWidget):
    """Preset, kind, areas that block groups follow, cutoffs, bypassing."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._classes: tuple[str, ...] = ()
        self._make()
        self._lay_out()
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def offer_classes(self, classes: Sequence[AreaClass]) -> None:
        """Offer the classes that the blocks have codes of, too."""
        found = tuple(each.name for each in classes if each.name in TARGETS)
        if found != self._classes:
            self._classes = found
            for name in found:
                if name not in self.targets:
                    self._add_target(name)
            self._refresh()

    # Building

    def _make(self) -> None:
        self.preset = Chooser("Preset of the spine", letters=12)
        self.preset.addItem(_OWN, "")
        for number, preset in enumerate(spine_presets().values(), start=1):
            self.preset.addItem(spine_preset_title(preset.id), preset.id)
            self.preset.setItemData(number, f"{preset.title}\n{preset.source}", Qt.ItemDataRole.ToolTipRole)
        self.preset.currentIndexChanged.connect(self._use_preset)
        self.kind = _chooser("Kind of spine", {kind: spine_title(kind) for kind in KINDS}, self._set_kind)
        self.aian = TickBox("Tribal areas stand &apart")
        self.aian.setToolTip(
            f"A branch of their own in every state: {len(AIAN_AREAS_2020)} of {len(AIAN_RANGES)} classes, as in 2020."
        )
        self.aian.clicked.connect(self._set_aian)
        self.targets: dict[str, QCheckBox] = {}
        self._ticks = column(gap=HALF)
        for name in list(TARGETS)[:_ALWAYS]:
            self._add_target(name)
        self.choosers = {name: self._chooser(name) for name in _CHOICES}
        self.numbers = {name: self._number_field(name) for name in _NUMBERS}
        self.slider = StopSlider("Fan-out cutoff, slider", _STOPS, lambda stop: f"{stop}")
        self.slider.setMinimumWidth(8 * GRID)
        self.slider.moved.connect(lambda stop: self._set_number("fanout_cutoff", int(stop)))
        self.slider.released.connect(self._session.project.end_merge)
        self.reset = TextButton("As in the reference", name="Take the spine from the reference", run=self._reset)
        self._about, self._rule = Text(look="muted", wrap=True), Text(look="muted", wrap=True)
        self._export, self._no_level = Text(look="attention", wrap=True), Text(look="attention", wrap=True)

    def _lay_out(self) -> None:
        def head(text: str) -> Text:
            return Text(text, bold=True)

        choosers, numbers = self.choosers, self.numbers
        most = "A block group holds at most √n + this many of the n blocks of its tract."
        self._shaping = stacked(
            *(head("Block groups follow"), self._ticks, head("Fan-out cutoff")),
            row((self.slider, 1), numbers["fanout_cutoff"]),
            *(Text(most, look="muted", wrap=True), choosers["grouping"]),
        )
        self._merging = stacked(Text("Entity threshold", look="muted"), numbers["entity_threshold"])
        self._branching = stacked(
            *(head("Redefine counties"), choosers["redefine_counties"]),
            *(head("Groups of tracts"), choosers["tract_groups"], self._merging, self._no_level),
        )
        self._limits = stacked(Text("Bypass cutoff", look="muted"), numbers["bypass_cutoff"])
        column(
            PlaceIssues(self._session, frozenset({"spine"})),
            *(head("Preset"), self.preset, head("Kind"), self.kind, self._about, self.aian),
            *(self._shaping, self._branching),
            *(head("Bypassing"), choosers["bypass"], self._rule, self._limits, self._export),
            *((self.reset, Qt.AlignmentFlag.AlignLeft), 1),
            of=self,
            margins=(0, 0, GRID, 0),
        )

    def _add_target(self, name: str) -> None:
        tick = TickBox(TARGETS[name])
        tick.setAccessibleName(f"Block groups follow: {TARGETS[name]}")
        tick.setToolTip(target_tip(name))
        tick.clicked.connect(lambda _checked: self._toggle(name))
        self.targets[name] = tick
        self._ticks.addWidget(tick)

    def _chooser(self, name: str) -> Chooser:
        title, tip, values = SETTINGS[name]

        def choose(_index: int) -> None:
            value = chooser.currentData()
            self._change(f"{title}: {values[value]}", **{name: value})

        chooser = _chooser(title, values, choose, tip)
        return chooser

    def _number_field(self, name: str) -> NumberField:
        title, tip, _ = SETTINGS[name]
        field = NumberField(title, 0, _MOST, 0)
        describe(field, tip=tip)
        field.valueChanged.connect(partial(self._set_number, name))
        field.editingFinished.connect(self._session.project.end_merge)
        return field

    # What is shown

    def _settings(self) -> SpineSettings | None:
        """Return the settings, None where they cannot be read: the issues say why."""
        try:
            return settings_of(self._session.shown.method.spine)
        except PhexploreError:
            return None

    def _refresh(self, _update: object = None) -> None:
        shown, settings = self._session.shown, self._settings()
        reference = shown.reference
        other = reference.scenario.topdown.spine if reference is not None else None
        self.reset.setEnabled(other is not None and other != shown.method.spine)
        for widget in (self.kind, self.aian, self._shaping, self._branching, self.choosers["bypass"]):
            widget.setEnabled(settings is not None)
        if settings is None:
            return
        alike = [preset.id for preset in spine_presets().values() if preset.settings == settings]
        is_branched = settings.kind != "standard"
        is_lost = settings.tract_groups != "none" and "Tract_Group" not in shown.method.levels
        refused = geodict_of(shown.method.spine).inexpressible
        self.preset.select(alike[0] if alike else "")
        self.kind.select(settings.kind)
        for name, chooser in self.choosers.items():
            chooser.select(getattr(settings, name))
        self.aian.setChecked(bool(settings.aian_areas))
        for name, tick in self.targets.items():
            tick.setChecked(name in settings.targets)
        for name, field in self.numbers.items():
            with QSignalBlocker(field):
                field.setValue(getattr(settings, name))
        self.slider.set_value(Fraction(settings.fanout_cutoff))
        self._about.setText(KIND_SENTENCES[settings.kind])
        self._rule.setText(BYPASS_SENTENCES[settings.bypass])
        self._export.setText(f"No production file: {' '.join(refused)}" if refused else "")
        self._no_level.setText(_NO_LEVEL if is_lost else "")
        for widget, is_seen in (
            (self.aian, is_branched),
            (self._branching, is_branched),
            (self._shaping, settings.shapes_block_groups),
            (self._merging, settings.tract_groups == "production"),
            (self._no_level, is_lost),
            (self._limits, settings.bypass == "as-in-2020" and is_branched),
            (self._export, bool(refused)),
        ):
            widget.setVisible(is_seen)

    # Edits

    def _edit(self, label: str, change: Callable[[SpineChoice], SpineChoice], merge: object = None) -> None:
        def edit(scenario: Scenario) -> Scenario:
            return set_field(scenario, "spine", change(scenario.topdown.spine))

        self._session.report(self._session.edit(label, edit, merge_key=merge))

    def _change(self, label: str, *, merge: object = None, **values: object) -> None:
        settings = self._settings()
        if settings is None or all(getattr(settings, name) == value for name, value in values.items()):
            return
        after = replace(settings, **values)  # type: ignore[arg-type]
        self._edit(label, lambda spine: changed_choice(spine, after), merge)
        self._refresh()

    def _use_preset(self, _index: int) -> None:
        chosen = spine_presets().get(self.preset.currentData())
        if chosen is not None:
            after = chosen.settings
            self._edit(f"Use the spine preset {chosen.id}", lambda spine: changed_choice(spine, after))
        self._refresh()

    def _set_number(self, name: str, value: int) -> None:
        label = f"Set the {SETTINGS[name].title.lower()} of the spine to {value}"
        self._change(label, merge=("spine", name), **{name: value})

    def _set_kind(self, _index: int) -> None:
        kind, settings = self.kind.currentData(), self._settings()
        if settings is None or kind == settings.kind:
            return
        after = settings.with_kind(kind)
        self._edit(f"Use the spine “{spine_title(kind)}”", lambda spine: changed_choice(spine, after))
        self._refresh()

    def _set_aian(self, checked: bool) -> None:
        areas = AIAN_AREAS_2020 if checked else ()
        self._change("Set tribal areas apart" if checked else "Leave tribal areas where they are", aian_areas=areas)

    def _toggle(self, target: str) -> None:
        settings = self._settings()
        if settings is None:
            return
        after = settings.with_target_turned(target)
        verb = "follow" if target in after.targets else "ignore"
        self._change(f"Let block groups {verb} {TARGETS[target].lower()}", targets=after.targets)

    def _reset(self) -> None:
        reference = self._session.shown.reference
        if reference is not None:
            self._edit(f"Take the spine from {reference.title}", lambda _spine: reference.scenario.topdown.spine)


def _chooser(name: str, words: Mapping[str, str], run: Callable[[int], None], tip: str = "") -> Chooser:
    chooser = Chooser(name, tip=tip, letters=12, options=[(text, value) for value, text in words.items()])
    for number, text in enumerate(words.values()):
        chooser.setItemData(number, text, Qt.ItemDataRole.ToolTipRole)
    chooser.currentIndexChanged.connect(run)
    return chooser


class SpineKeysEditor(QWidget):
    """Every key that production's configuration has of the spine, as text; each change is one step."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._none = Text("The standard spine has no keys of its own.", look="muted", wrap=True)
        self.fields: dict[str, ExactField] = {}
        self._form = form()
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        column(self._none, self._form, of=self, margins=(0, 0, GRID, 0))
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        values = dict(self._session.shown.method.spine.settings)
        if tuple(values) != tuple(self.fields):
            self._build(tuple(values))
        self._none.setVisible(not values)
        for name, value in values.items():
            self.fields[name].set_value(value)
            self.fields[name].line.setCursorPosition(0)

    def _build(self, names: tuple[str, ...]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        for name in names:
            title, tip, _ = setting_words(name)
            field = self.fields[name] = ExactField(title, partial(self._set, name), width=20 * GRID)
            field.line.setAlignment(Qt.AlignmentFlag.AlignLeft)
            label = Text(title)
            for widget in (field, label):
                widget.setToolTip(f"{tip} Production calls it {name}.".strip())
            self._form.addRow(label, field)

    def _set(self, name: str, typed: str) -> str:
        def step() -> Step:
            spine, text = self._session.shown.method.spine, typed.strip()
            if not text:
                raise EditRefusedError("The setting needs a value.", "Esc restores the one it had.")
            settings = tuple((key, text if key == name else value) for key, value in spine.settings)
            choice = replace(spine, settings=settings)
            settings_of(choice)
            label = f"Set {setting_words(name).title.lower()} of the spine to {text}"
            return label, lambda scenario: set_field(scenario, "spine", choice)

        return refusal_of(self._session, step)
