"""The settings of a scenario's spine as live controls: every change is one step, a drag is one step, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QSlider, QSpinBox, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_field
from phexplore.model.scenario import Scenario
from phexplore.spine.geodict import geodict_of
from phexplore.spine.geography import CLASS_TITLES
from phexplore.spine.settings import (
    AIAN_AREAS_2020,
    AIAN_RANGES,
    BLOCK_GROUP,
    KINDS,
    PLACE_MCD,
    QUARTERS,
    SpineSettings,
    changed_choice,
    settings_of,
    spine_presets,
)
from phexplore.systems.topdown.spine_views import AreaClass
from phexplore.systems.topdown.wording import spine_preset_title, spine_title

_KIND_WORDS = {
    "standard": "State, county, tract, block group, block as tabulated. Places, towns and tribal areas cut across it, so "
    "their totals add up many noisy pieces.",
    "aian": "Tribal areas form a branch of their own in every state that has them; inside the branches the standard "
    "hierarchy stays.",
    "optimised": "Tribal areas form their own branch, and the blocks of a tract are grouped anew so that the areas ticked "
    "below are made of few pieces.",
    "prim": "The hierarchy of the 2020 DHC: counties are cut by county subdivision and place before tracts. It needs a "
    "scenario with those levels.",
}
_GROUPINGS = {
    "production": "By production: one more may fit",
    "paper": "By the paper: ⌊√n⌋ + cutoff",
}
_TRACT_GROUPS = {
    "none": "None",
    "standard": "First four digits of the tract",
    "production": "Merged by production's rule",
    "paper": "Merged by the paper's Algorithm 2",
}
_BYPASS = {
    "as-in-2020": "As in 2020",
    "single-child": "Only children (zCDP)",
    "pure-dp": "Theorem 2 (pure DP)",
    "sum-of-squares": "Sum of squares (rejected)",
    "none": "None",
}
_BYPASS_WORDS = {
    "as-in-2020": "Only children under zCDP; under pure DP also Theorem 2, below the county and within the bypass cutoff.",
    "single-child": "A parent with one child takes over its budget; the child copies the parent. No variance rises.",
    "pure-dp": "A parent of c children is bypassed where 2 × the smallest child budget ≥ (c − 1) × its own. Under Gaussian "
    "noise bypassing two or more raises at least one variance.",
    "sum-of-squares": "A parent is bypassed where the sum of all variances falls. The paper rejects it: many small gains hide "
    "large losses. Here to be compared.",
    "none": "Every unit keeps its level's budget.",
}
_REDEFINE = {"nowhere": "Nowhere (as in 2020)", "in_strong_MCDs": "In strong-MCD states", "everywhere": "Everywhere"}
_TARGETS = (PLACE_MCD, "place", "cousub", "aiannh", "school_dist", QUARTERS, BLOCK_GROUP)
_TARGET_WORDS = {
    PLACE_MCD: "Towns or places, by state",
    "place": "Places",
    "cousub": "Towns",
    "aiannh": "Tribal areas",
    "school_dist": "School districts",
    "secondary_sd": "Secondary school districts",
    "sldu": "Upper-chamber districts",
    "sldl": "Lower-chamber districts",
    "zcta": "ZIP code areas",
    "cd": "Congressional districts",
    QUARTERS: "Group quarters apart",
    BLOCK_GROUP: "Tabulated block groups",
}
_TARGET_TIPS = {
    PLACE_MCD: "What production targets: towns where they govern (strong-MCD states), places elsewhere, outside tribal areas.",
    QUARTERS: "Blocks with different types of group quarters never share a block group (persons; units ignore it).",
}
_NO_LEVEL = "This scenario has no level of tract groups: they carry no budget, and no count follows them."
_SLIDER_MOST = 100
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
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def offer_classes(self, classes: Sequence[AreaClass]) -> None:
        """Offer the classes that the blocks have codes of, too."""
        found = tuple(each.name for each in classes if each.name in _TARGET_WORDS)
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
        self.kind = _chooser("Kind of spine", {kind: spine_title(kind) for kind in KINDS})
        self.aian = QCheckBox("Tribal areas stand &apart")
        self.aian.setToolTip(
            f"A branch of their own in every state: {len(AIAN_AREAS_2020)} of {len(AIAN_RANGES)} classes, as in 2020."
        )
        self.targets: dict[str, QCheckBox] = {}
        self._ticks = column(gap=HALF)
        for name in _TARGETS:
            self._add_target(name)
        self.cutoff = _Spin("Fan-out cutoff")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Fan-out cutoff, slider")
        self.slider.setRange(0, _SLIDER_MOST)
        self.slider.setPageStep(5)
        self.grouping = self._setting_chooser("grouping", "Size of a block group", "Size block groups", _GROUPINGS)
        self.tract_groups = self._setting_chooser("tract_groups", "Groups of tracts", "Groups of tracts", _TRACT_GROUPS)
        self.redefine = self._setting_chooser("redefine_counties", "Redefine counties", "Redefine counties", _REDEFINE)
        self.redefine.setToolTip("Where tribal areas take the place of counties inside their branch.")
        self.bypass = self._setting_chooser("bypass", "Rule of bypassing", "Bypassing", _BYPASS)
        self.threshold = self._setting_spin("entity_threshold", "Entity threshold")
        self.threshold.setToolTip(
            "Areas that no group of tracts can bring further away than this are left out of merging."
        )
        self.bypass_cutoff = self._setting_spin("bypass_cutoff", "Bypass cutoff")
        self.bypass_cutoff.setToolTip("Under pure DP: most units under one parent that bypassing may make.")
        self.reset = TextButton("As in the reference", name="Take the spine from the reference")
        self._about, self._rule = Text(look="muted", wrap=True), Text(look="muted", wrap=True)
        self._export, self._no_level = Text(look="attention", wrap=True), Text(look="attention", wrap=True)
        self.preset.activated.connect(self._use_preset)
        self.kind.activated.connect(self._set_kind)
        self.aian.clicked.connect(self._set_aian)
        self.cutoff.valueChanged.connect(self._set_cutoff)
        self.cutoff.editingFinished.connect(self._session.project.end_merge)
        self.slider.valueChanged.connect(self._slide)
        self.slider.sliderReleased.connect(self._session.project.end_merge)
        self.reset.clicked.connect(self._reset)

    def _lay_out(self) -> None:
        def head(text: str) -> Text:
            return Text(text, bold=True)

        most = "A block group holds at most √n + this many of the n blocks of its tract."
        self._shaping = stacked(
            *(head("Block groups follow"), self._ticks, head("Fan-out cutoff")),
            row((self.slider, 1), self.cutoff),
            *(Text(most, look="muted", wrap=True), self.grouping),
        )
        self._threshold_label = Text("Entity threshold", look="muted")
        self._branching = stacked(
            *(head("Redefine counties"), self.redefine, head("Groups of tracts"), self.tract_groups),
            *(self._threshold_label, self.threshold, self._no_level),
        )
        self._bypass_label = Text("Bypass cutoff", look="muted")
        column(
            PlaceIssues(self._session, frozenset({"spine"})),
            *(head("Preset"), self.preset, head("Kind"), self.kind, self._about, self.aian),
            *(self._shaping, self._branching),
            *(head("Bypassing"), self.bypass, self._rule, self._bypass_label, self.bypass_cutoff, self._export),
            *((self.reset, Qt.AlignmentFlag.AlignLeft), 1),
            of=self,
            margins=(0, 0, GRID, 0),
        )

    def _add_target(self, name: str) -> None:
        words = _TARGET_WORDS[name]
        tick = QCheckBox(words)
        tick.setAccessibleName(f"Block groups follow: {words}")
        tick.setToolTip(
            _TARGET_TIPS.get(
                name, f"Blocks in different {CLASS_TITLES.get(name, name).lower()} never share a block group."
            )
        )
        tick.clicked.connect(lambda _checked, target=name: self._toggle(target))
        self.targets[name] = tick
        self._ticks.addWidget(tick)

    def _setting_chooser(self, field: str, name: str, label: str, words: dict[str, str]) -> Chooser:
        chooser = _chooser(name, words)

        def choose() -> None:
            value = chooser.currentData()
            self._change(f"{label}: {words[value]}", **{field: value})

        chooser.activated.connect(choose)
        return chooser

    def _setting_spin(self, field: str, name: str) -> _Spin:
        box = _Spin(name)
        box.valueChanged.connect(
            lambda value: self._change(f"Set the {name.lower()} of the spine to {value}", **{field: value})
        )
        return box

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
        for widget in (self.kind, self.aian, self._shaping, self._branching, self.bypass):
            widget.setEnabled(settings is not None)
        if settings is None:
            return
        alike = [preset.id for preset in spine_presets().values() if preset.settings == settings]
        is_branched = settings.kind != "standard"
        merges = settings.tract_groups == "production"
        is_lost = settings.tract_groups != "none" and "Tract_Group" not in shown.method.levels
        refused = geodict_of(shown.method.spine).inexpressible
        for chooser, value in (
            (self.preset, alike[0] if alike else ""),
            (self.kind, settings.kind),
            (self.grouping, settings.grouping),
            (self.tract_groups, settings.tract_groups),
            (self.redefine, settings.redefine_counties),
            (self.bypass, settings.bypass),
        ):
            chooser.select(value)
        for tick, is_on in (
            (self.aian, bool(settings.aian_areas)),
            *((tick, name in settings.targets) for name, tick in self.targets.items()),
        ):
            with QSignalBlocker(tick):
                tick.setChecked(is_on)
        for box, number in (
            (self.cutoff, settings.fanout_cutoff),
            (self.slider, min(settings.fanout_cutoff, _SLIDER_MOST)),
            (self.threshold, settings.entity_threshold),
            (self.bypass_cutoff, settings.bypass_cutoff),
        ):
            with QSignalBlocker(box):
                box.setValue(number)
        self._about.setText(_KIND_WORDS[settings.kind])
        self._rule.setText(_BYPASS_WORDS[settings.bypass])
        self._export.setText(f"No production file: {' '.join(refused)}" if refused else "")
        self._no_level.setText(_NO_LEVEL if is_lost else "")
        limits = settings.bypass == "as-in-2020" and is_branched
        for widget, is_seen in (
            (self.aian, is_branched),
            (self._branching, is_branched),
            (self._shaping, settings.shapes_block_groups),
            (self.threshold, merges),
            (self._threshold_label, merges),
            (self._no_level, is_lost),
            (self.bypass_cutoff, limits),
            (self._bypass_label, limits),
            (self._export, bool(refused)),
        ):
            widget.setVisible(is_seen)

    # Edits

    def _change(self, label: str, *, merge: object = None, **values: object) -> None:
        settings = self._settings()
        if settings is None:
            return
        if all(getattr(settings, name) == value for name, value in values.items()):
            return

        def edit(scenario: Scenario) -> Scenario:
            after = replace(settings, **values)  # type: ignore[arg-type]
            return set_field(scenario, "spine", changed_choice(scenario.topdown.spine, after))

        self._session.report(self._session.edit(label, edit, merge_key=merge))
        self._refresh()

    def _use_preset(self, _index: int) -> None:
        chosen = spine_presets().get(self.preset.currentData())
        if chosen is None:
            self._refresh()
            return
        after = chosen.settings
        label = f"Use the spine preset {chosen.id}"
        self._session.report(
            self._session.edit(label, lambda s: set_field(s, "spine", changed_choice(s.topdown.spine, after)))
        )
        self._refresh()

    def _set_kind(self, _index: int) -> None:
        kind, settings = self.kind.currentData(), self._settings()
        if settings is None or kind == settings.kind:
            return
        first, was = _shipped(kind), _shipped(settings.kind)
        values: dict[str, object] = {
            "kind": kind,
            "aian_areas": () if kind == "standard" else settings.aian_areas or first.aian_areas,
            "bypass": first.bypass if settings.bypass == was.bypass else settings.bypass,
        }
        if {kind, settings.kind} & {"standard", "prim"}:
            values["targets"] = first.targets
        self._change(f"Use the spine “{spine_title(kind)}”", **values)

    def _set_aian(self, checked: bool) -> None:
        areas = AIAN_AREAS_2020 if checked else ()
        self._change("Set tribal areas apart" if checked else "Leave tribal areas where they are", aian_areas=areas)

    def _toggle(self, target: str) -> None:
        settings = self._settings()
        if settings is None:
            return
        words = _TARGET_WORDS[target].lower()
        if target in settings.targets:
            wanted = {name for name in settings.targets if name != target}
        else:
            # Towns or places by state says the same as one of the two.
            dropped = {"place": {PLACE_MCD}, "cousub": {PLACE_MCD}, PLACE_MCD: {"place", "cousub"}}.get(target, set())
            wanted = {*settings.targets, target} - dropped
        verb = "follow" if target in wanted else "ignore"
        self._change(f"Let block groups {verb} {words}", targets=_ordered(wanted, settings))

    def _set_cutoff(self, value: int) -> None:
        self._change(f"Set the fan-out cutoff of the spine to {value}", merge="spine cutoff", fanout_cutoff=value)

    def _slide(self, value: int) -> None:
        self._set_cutoff(value)
        if not self.slider.isSliderDown():
            self._session.project.end_merge()

    def _reset(self) -> None:
        reference = self._session.shown.reference
        if reference is not None:
            spine = reference.scenario.topdown.spine
            self._session.report(
                self._session.edit(f"Take the spine from {reference.title}", lambda s: set_field(s, "spine", spine))
            )


def _shipped(kind: str) -> SpineSettings:
    """Return the first shipped settings of a kind of spine."""
    return next(preset.settings for preset in spine_presets().values() if preset.settings.kind == kind)


def _ordered(wanted: set[str], settings: SpineSettings) -> tuple[str, ...]:
    """Return targets in the order of a preset that has the same ones, else with new ones behind the present ones."""
    for preset in spine_presets().values():
        if preset.settings.kind == settings.kind and set(preset.settings.targets) == wanted:
            return preset.settings.targets
    present = [name for name in settings.targets if name in wanted]
    return (*present, *sorted(wanted - set(present)))


class _Spin(QSpinBox):
    """A field for a whole number that the wheel never changes by accident."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setRange(0, _MOST)
        self.setKeyboardTracking(False)
        self.lineEdit().setTextMargins(GRID, 0, 0, 0)  # the style sheet pads the box, not the line in it
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Slider(QSlider):
    """A slider that the wheel never changes by accident."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def _chooser(name: str, words: dict[str, str]) -> Chooser:
    found = Chooser(name, letters=12)
    for value, text in words.items():
        found.addItem(text, value)
        found.setItemData(found.count() - 1, text, Qt.ItemDataRole.ToolTipRole)
    return found
