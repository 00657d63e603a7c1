"""The geographic spine: which hierarchy measurements are made on, and the settings of its optimisation."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QVBoxLayout, QWidget

from phexplore.gui.binding.topdown_session import TopDownSession
from phexplore.gui.binding.topdown_wording import SPINE_KINDS, spine_title
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.topdown import SpineChoice
from phexplore.model.topdown_edits import set_spine

_ABOUT = {
    "standard": "State, county, tract, block group, block as tabulated. Places, towns and American Indian areas cut across "
    "it, so their totals add up many noisy pieces.",
    "aian": "American Indian and Alaska Native areas form a branch of their own in every state that has them; inside the "
    "branches the standard hierarchy stays.",
    "optimised": "AIAN areas form their own branch, and blocks of a tract are grouped anew so that places, towns and group "
    "quarters are made of few pieces. Units with one child pass their budget on.",
    "prim": "The hierarchy of the 2020 DHC: counties are cut by county subdivision and place before tracts.",
}
_SETTINGS = {
    "spine": ("Production's name", "How production calls the kind of spine."),
    "geocode_length": ("Length of geocodes", "Digits of the code of a block."),
    "aian_areas": ("Types of AIAN areas", "Which types of areas form the branch of their own."),
    "strong_mcd_states": ("Strong-MCD states", "States whose towns count as places."),
    "prim_spine": ("Primitive areas", "Whether counties are cut by county subdivision and place first."),
    "use_prim_crosswalk": ("Crosswalk of primitive areas", "Whether production reads them from a supplied list."),
    "fanout_cutoff": (
        "Fan-out cutoff",
        "A group holds at most √n + this many blocks of a tract of n blocks; larger groups make fewer, wider units.",
    ),
    "bypass_cutoff": (
        "Bypass cutoff",
        "Under pure DP, parents with at most this many children and siblings may be bypassed.",
    ),
    "entity_threshold": ("Entity threshold", "Off-spine entities of at most this distance are left as they are."),
    "target_das_aian_areas": ("AIAN areas apart", "Whether American Indian areas form a branch of their own."),
    "target_orig_block_groups": ("Keep tabulation block groups", "Whether tabulated block groups are kept whole."),
    "ignore_gqs_in_block_groups": (
        "Ignore group quarters",
        "Whether blocks with different group quarters may share a block group.",
    ),
    "redefine_counties": ("Redefine counties", "Whether counties are cut anew inside AIAN areas."),
    "target_school_dists": ("School districts", "Whether school districts are kept whole."),
    "aian_sum_constraints": (
        "Sums over AIAN parts",
        "Whether the parts of a state are held in sum, not each by itself.",
    ),
}

_PRODUCTION = {"aian": "aian_spine", "optimised": "opt_spine"}


class SpineEditor(QWidget):
    """Kind and settings; each change is one step."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.kind = Chooser("Kind of spine")
        for kind in SPINE_KINDS:
            self.kind.addItem(spine_title(kind), kind)
        self.kind.currentIndexChanged.connect(self._set_kind)
        self.reset = TextButton("As in the reference", name="Take the spine from the reference")
        self.reset.clicked.connect(self._reset)
        self._about = Text(look="muted", wrap=True)
        self.fields: dict[str, ExactField] = {}
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(2 * GRID)
        self._form.setVerticalSpacing(GRID)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self._built: tuple[str, ...] | None = None
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self.kind)
        head.addStretch(1)
        head.addWidget(self.reset)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(self._about)
        column.addLayout(self._form)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        shown = self._session.shown
        spine = shown.method.spine
        self.kind.select(spine.kind)
        self._about.setText(_ABOUT.get(spine.kind, "A spine the program does not know; it is kept for production."))
        names = tuple(name for name, _value in spine.settings)
        if names != self._built:
            self._built = names
            self._build(names)
        for name, value in spine.settings:
            self.fields[name].set_value(value)
            self.fields[name].line.setCursorPosition(0)
        other = shown.reference.scenario.topdown.spine if shown.reference is not None else None
        self.reset.setEnabled(other is not None and other != spine)

    def _build(self, names: tuple[str, ...]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        for name in names:
            title, sentence = _SETTINGS.get(name, (name.replace("_", " ").capitalize(), f"Production calls it {name}."))
            field = ExactField(title, partial(self._set, name), width=24 * GRID)
            field.line.setAlignment(Qt.AlignmentFlag.AlignLeft)
            field.setToolTip(sentence)
            self.fields[name] = field
            label = Text(title)
            label.setToolTip(f"{sentence} Production calls it {name}.")
            self._form.addRow(label, field)

    def _set_kind(self) -> None:
        kind, spine = self.kind.currentData(), self._session.shown.method.spine
        if kind is None or kind == spine.kind:
            return
        settings = self._settings_for(kind)
        label = f"Use the spine “{spine_title(kind)}”"
        self._session.report(self._session.edit(label, lambda s: set_spine(s, SpineChoice(kind, settings))))

    def _settings_for(self, kind: str) -> tuple[tuple[str, str], ...]:
        """Return the reference's settings where it uses this kind, else the present ones (a standard spine has none)."""
        reference = self._session.shown.reference
        if reference is not None and (spine := reference.scenario.topdown.spine).kind == kind:
            return spine.settings
        present = self._session.shown.method.spine.settings
        if kind == "standard":
            return ()
        return tuple((name, _PRODUCTION.get(kind, value) if name == "spine" else value) for name, value in present)

    def _set(self, name: str, typed: str) -> str:
        spine = self._session.shown.method.spine
        settings = tuple((key, typed.strip() if key == name else value) for key, value in spine.settings)
        if not typed.strip():
            return "The setting needs a value. Esc restores the one it had."
        label = f"Set {_SETTINGS.get(name, (name, ''))[0].lower()} of the spine to {typed.strip()}"
        refusal = self._session.edit(label, lambda s: set_spine(s, SpineChoice(spine.kind, settings)))
        return refusal.full if refusal else ""

    def _reset(self) -> None:
        reference = self._session.shown.reference
        if reference is not None:
            spine = reference.scenario.topdown.spine
            self._session.report(
                self._session.edit(f"Take the spine from {reference.title}", lambda s: set_spine(s, spine))
            )
