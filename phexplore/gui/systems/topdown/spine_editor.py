"""The keys of production's configuration that shape the geographic spine, as they are written."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, form
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_field
from phexplore.model.topdown import SpineChoice
from phexplore.spine.settings import settings_of

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
        self._built: tuple[str, ...] | None = None
        column(self._none, self._form, of=self, margins=(0, 0, GRID, 0))
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        spine = self._session.shown.method.spine
        names = tuple(name for name, _value in spine.settings)
        if names != self._built:
            self._built = names
            self._build(names)
            self._none.setVisible(not names)
        for name, value in spine.settings:
            self.fields[name].set_value(value)
            self.fields[name].line.setCursorPosition(0)

    def _build(self, names: tuple[str, ...]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        for name in names:
            title, sentence = _SETTINGS.get(name, (name.replace("_", " ").capitalize(), f"Production calls it {name}."))
            field = ExactField(title, partial(self._set, name), width=20 * GRID)
            field.line.setAlignment(Qt.AlignmentFlag.AlignLeft)
            field.setToolTip(sentence)
            self.fields[name] = field
            label = Text(title)
            label.setToolTip(f"{sentence} Production calls it {name}.")
            self._form.addRow(label, field)

    def _set(self, name: str, typed: str) -> str:
        spine = self._session.shown.method.spine
        settings = tuple((key, typed.strip() if key == name else value) for key, value in spine.settings)
        if not typed.strip():
            return "The setting needs a value. Esc restores the one it had."
        choice = SpineChoice(spine.kind, settings)
        try:
            settings_of(choice)
        except PhexploreError as error:
            return error.full
        label = f"Set {_SETTINGS.get(name, (name, ''))[0].lower()} of the spine to {typed.strip()}"
        refusal = self._session.edit(label, lambda s: set_field(s, "spine", choice))
        return refusal.full if refusal else ""
