"""The settings of a scenario's spine as live controls: every change is one step, a drag is one step, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QSlider, QSpinBox, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
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
        for preset in spine_presets().values():
            self.preset.addItem(spine_preset_title(preset.id), preset.id)
            self.preset.setItemData(
                self.preset.count() - 1, f"{preset.title}\n{preset.source}", Qt.ItemDataRole.ToolTipRole
            )
        self.kind = _chooser("Kind of spine", {kind: spine_title(kind) for kind in KINDS})
        self.aian = QCheckBox("Tribal areas stand &apart")
        self.aian.setToolTip(
            f"A branch of their own in every state: {len(AIAN_AREAS_2020)} of {len(AIAN_RANGES)} classes, as in 2020."
        )
        self.targets: dict[str, QCheckBox] = {}
        self.cutoff = _Spin("Fan-out cutoff")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Fan-out cutoff, slider")
        self.slider.setRange(0, _SLIDER_MOST)
        self.slider.setPageStep(5)
        self.grouping = _chooser("Size of a block group", _GROUPINGS)
        self.tract_groups = _chooser("Groups of tracts", _TRACT_GROUPS)
        self.threshold = _Spin("Entity threshold")
        self.threshold.setToolTip(
            "Areas that no group of tracts can bring further away than this are left out of merging."
        )
        self.redefine = _chooser("Redefine counties", _REDEFINE)
        self.redefine.setToolTip("Where tribal areas take the place of counties inside their branch.")
        self.bypass = _chooser("Rule of bypassing", _BYPASS)
        self.bypass_cutoff = _Spin("Bypass cutoff")
        self.bypass_cutoff.setToolTip("Under pure DP: most units under one parent that bypassing may make.")
        self.reset = TextButton("As in the reference", name="Take the spine from the reference")
        self._about = Text(look="muted", wrap=True)
        self._rule = Text(look="muted", wrap=True)
        self._export = Text(look="attention", wrap=True)
        self._no_level = Text(look="attention", wrap=True)
        self.preset.activated.connect(self._use_preset)
        self.kind.activated.connect(self._set_kind)
        self.aian.clicked.connect(self._set_aian)
        self.cutoff.valueChanged.connect(self._set_cutoff)
        self.cutoff.editingFinished.connect(self._session.end_merge)
        self.slider.valueChanged.connect(self._slide)
        self.slider.sliderReleased.connect(self._session.end_merge)
        self.reset.clicked.connect(self._reset)
        self._choosing(self.grouping, "grouping", _GROUPINGS, "Size block groups")
        self._choosing(self.tract_groups, "tract_groups", _TRACT_GROUPS, "Groups of tracts")
        self._choosing(self.redefine, "redefine_counties", _REDEFINE, "Redefine counties")
        self._choosing(self.bypass, "bypass", _BYPASS, "Bypassing")
        for box, name in ((self.threshold, "entity_threshold"), (self.bypass_cutoff, "bypass_cutoff")):
            box.valueChanged.connect(self._setting(name, box.accessibleName()))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, GRID, 0)
        column.setSpacing(GRID)
        column.addWidget(PlaceIssues(self._session, frozenset({"spine"})))
        for label, widget in (("Preset", self.preset), ("Kind", self.kind)):
            column.addWidget(Text(label, bold=True))
            column.addWidget(widget)
        column.addWidget(self._about)
        column.addWidget(self.aian)
        self._shaping = QWidget()
        shaping = QVBoxLayout(self._shaping)
        shaping.setContentsMargins(0, 0, 0, 0)
        shaping.setSpacing(GRID)
        shaping.addWidget(Text("Block groups follow", bold=True))
        self._ticks = QVBoxLayout()
        self._ticks.setSpacing(HALF)
        shaping.addLayout(self._ticks)
        for name in _TARGETS:
            self._add_target(name)
        shaping.addWidget(Text("Fan-out cutoff", bold=True))
        row = QGridLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.slider, 0, 0)
        row.addWidget(self.cutoff, 0, 1)
        row.setColumnStretch(0, 1)
        shaping.addLayout(row)
        shaping.addWidget(
            Text("A block group holds at most √n + this many of the n blocks of its tract.", look="muted", wrap=True)
        )
        shaping.addWidget(self.grouping)
        column.addWidget(self._shaping)
        self._branching = QWidget()
        branching = QVBoxLayout(self._branching)
        branching.setContentsMargins(0, 0, 0, 0)
        branching.setSpacing(GRID)
        for label, widget in (("Redefine counties", self.redefine), ("Groups of tracts", self.tract_groups)):
            branching.addWidget(Text(label, bold=True))
            branching.addWidget(widget)
        self._threshold_label = Text("Entity threshold", look="muted")
        branching.addWidget(self._threshold_label)
        branching.addWidget(self.threshold)
        branching.addWidget(self._no_level)
        column.addWidget(self._branching)
        column.addWidget(Text("Bypassing", bold=True))
        column.addWidget(self.bypass)
        column.addWidget(self._rule)
        self._bypass_label = Text("Bypass cutoff", look="muted")
        column.addWidget(self._bypass_label)
        column.addWidget(self.bypass_cutoff)
        column.addWidget(self._export)
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

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

    def _choosing(self, chooser: Chooser, name: str, words: dict[str, str], label: str) -> None:
        chooser.activated.connect(
            lambda _index: self._change(f"{label}: {words[chooser.currentData()]}", **{name: chooser.currentData()})
        )

    def _setting(self, name: str, label: str) -> Callable[[int], None]:
        return lambda value: self._change(f"Set the {label.lower()} of the spine to {value}", **{name: value})

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
        self.preset.select(alike[0] if alike else "")
        self.kind.select(settings.kind)
        self._about.setText(_KIND_WORDS[settings.kind])
        is_branched = settings.kind != "standard"
        self.aian.setVisible(is_branched)
        _quietly(self.aian, lambda: self.aian.setChecked(bool(settings.aian_areas)))
        self._shaping.setVisible(settings.shapes_block_groups)
        self._branching.setVisible(is_branched)
        for name, tick in self.targets.items():
            _quietly(tick, partial(tick.setChecked, name in settings.targets))
        _quietly(self.cutoff, lambda: self.cutoff.setValue(settings.fanout_cutoff))
        _quietly(self.slider, lambda: self.slider.setValue(min(settings.fanout_cutoff, _SLIDER_MOST)))
        self.grouping.select(settings.grouping)
        self.tract_groups.select(settings.tract_groups)
        _quietly(self.threshold, lambda: self.threshold.setValue(settings.entity_threshold))
        merges = settings.tract_groups == "production"
        self.threshold.setVisible(merges)
        self._threshold_label.setVisible(merges)
        lost = settings.tract_groups != "none" and "Tract_Group" not in shown.method.levels
        self._no_level.setText(
            "This scenario has no level of tract groups: they carry no budget, and no count follows them."
            if lost
            else ""
        )
        self._no_level.setVisible(lost)
        self.redefine.select(settings.redefine_counties)
        self.bypass.select(settings.bypass)
        self._rule.setText(_BYPASS_WORDS[settings.bypass])
        _quietly(self.bypass_cutoff, lambda: self.bypass_cutoff.setValue(settings.bypass_cutoff))
        limits = settings.bypass == "as-in-2020" and is_branched
        self.bypass_cutoff.setVisible(limits)
        self._bypass_label.setVisible(limits)
        refused = geodict_of(shown.method.spine).inexpressible
        self._export.setText(f"No production file: {' '.join(refused)}" if refused else "")
        self._export.setVisible(bool(refused))

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
            self._session.end_merge()

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


def _quietly(widget: QWidget, act: Callable[[], object]) -> None:
    blocked = widget.blockSignals(True)
    act()
    widget.blockSignals(blocked)
