"""The choosers above the pictures of a spine: which areas, level, query, other spine, and run are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import field_label
from phexplore.gui.widgets.layout import column, row
from phexplore.spine.settings import SpineSettings, spine_presets
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.spine_views import MapColour, SpineAnswer, SpineStyle, SpineTab
from phexplore.systems.topdown.wording import level_title, query_title, spine_preset_title

_FITS = {
    Fit.TOP_DOWN: "Level by level, as TopDown fits",
    Fit.AT_ONCE: "All at once: the best linear estimate",
}
_SHOWN: Mapping[SpineTab, tuple[str, ...]] = {
    SpineTab.TREE: ("name", "area"),
    SpineTab.DISTANCE: ("name", "other"),
    SpineTab.MARGINS: ("name", "query", "fit", "other", "run"),
    SpineTab.LEVELS: ("query", "fit", "other", "run"),
    SpineTab.FAN_OUT: ("level", "other"),
    SpineTab.BYPASSED: (),
    SpineTab.MAP: ("level", "colour", "shapes"),
}
REFERENCE = "reference"
"""Stands for the spine of what the scenario is compared with."""
FITTING, NO_RUN = "fitting", "none"
"""Stand for the newest run of exactly these parameters and blocks, and for none."""


class SpineChoices(QWidget):
    """A row of choosers, as many as the picture needs.

    Signals:
        changed: something was chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = SpineStyle()
        self._reference: tuple[str, SpineSettings] | None = None
        self.name = Chooser("Class of areas", letters=14)
        self.level = Chooser("Level", letters=10)
        self.query = Chooser("Query group", letters=14)
        self.fit = Chooser("How measurements become estimates", letters=16)
        for fit, words in _FITS.items():
            self.fit.addItem(words, fit)
        self.other = Chooser("Spine to compare with", letters=14)
        self.area = QLineEdit()
        self.area.setAccessibleName("Code of an area to make up from units")
        self.area.setPlaceholderText("code, e.g. 4459000")
        self.area.setMaximumWidth(20 * GRID)
        self.area.editingFinished.connect(self._area_typed)
        self.run = Chooser("Run to draw over the prediction", letters=14)
        self.colour = Chooser("What the map colours")
        for colour in MapColour:
            self.colour.addItem(colour.value, colour)
        self.shapes = TextButton("Shapes…", name="Choose the file of the map's shapes")
        self.shapes.clicked.connect(self._browse)
        fields = {
            "name": ("&Areas", self.name),
            "level": ("&Level", self.level),
            "query": ("&Query", self.query),
            "fit": ("F&it", self.fit),
            "other": ("Compared &with", self.other),
            "area": ("Ma&ke up", self.area),
            "run": ("&Errors of", self.run),
            "colour": ("Sho&w", self.colour),
            "shapes": ("", self.shapes),
        }
        self._parts = {key: _beside(words, widget) for key, (words, widget) in fields.items()}
        column(FlowRow(*self._parts.values(), gap=GRID), of=self)
        for chooser in (self.name, self.level, self.query, self.fit, self.other, self.run, self.colour):
            chooser.currentIndexChanged.connect(self._chosen)
        self.offer_others(None)
        self.offer_runs(())
        self.show_tab(SpineTab.TREE)

    @property
    def look(self) -> SpineStyle:
        """Which numbers are looked at; the run is filled in by the page, which knows the runs."""
        return self._look

    @property
    def run_choice(self) -> str | Path:
        """The chosen run: `FITTING`, `NO_RUN`, or its directory."""
        return self.run.currentData() or FITTING

    def other_spine(self) -> tuple[str, SpineSettings]:
        """Return words and settings of the spine that is compared with."""
        chosen = self.other.currentData()
        if chosen == REFERENCE and self._reference is not None:
            return self._reference
        preset = spine_presets().get(chosen or "standard", spine_presets()["standard"])
        return _lower(spine_preset_title(preset.id)), preset.settings

    def show_tab(self, tab: SpineTab) -> None:
        """Show the choosers of a picture."""
        self._look = replace(self._look, tab=tab)
        for key, part in self._parts.items():
            part.setVisible(key in _SHOWN[tab])

    def use_shapes(self, path: Path | None) -> None:
        """Draw the map with the shapes of a file, or with none."""
        self._look = replace(self._look, shapes="" if path is None else str(path))
        self.changed.emit()

    def make_up(self, area: str) -> None:
        """Show which units make up an area."""
        self._look = replace(self._look, area=area)
        self.area.setText(area)

    def offer_others(self, reference: tuple[str, SpineSettings] | None) -> None:
        """Offer the presets and the reference's spine to compare with."""
        if reference == self._reference and self.other.count():
            return
        self._reference = reference
        entries: list[tuple[str, object]] = [
            (spine_preset_title(preset.id), preset.id) for preset in spine_presets().values()
        ]
        if reference is not None:
            entries.append((reference[0], REFERENCE))
        self.other.offer(entries)

    def offer_runs(self, runs: Sequence[tuple[str, Path]]) -> None:
        """Offer runs whose errors can be drawn over the prediction."""
        entries: list[tuple[str, object]] = [("The newest fitting run", FITTING), ("No run", NO_RUN), *runs]
        self.run.offer(entries)

    def settle(self, answer: SpineAnswer) -> None:
        """Show what an answer was about, and what can be chosen from."""
        look = answer.look
        self.name.offer([(f"{each.title} ({each.areas:,})", each.name) for each in answer.blocks.classes])
        self.level.offer([(level_title(name), name) for name, _ in answer.levels[:-1]])
        self.query.offer([(query_title(name), name) for name in answer.queries])
        self._look = replace(self._look, name=look.name, level=look.level, query=look.query)
        for chooser, value in ((self.name, look.name), (self.level, look.level), (self.query, look.query)):
            chooser.select(value)

    def _chosen(self, _index: int) -> None:
        before = self._look
        name = self.name.currentData() or ""
        self._look = replace(
            before,
            name=name,
            level=self.level.currentData() or "",
            query=self.query.currentData() or "total",
            fit=self.fit.currentData() or Fit.TOP_DOWN,
            area=before.area if name == before.name else "",
            colour=self.colour.currentData() or MapColour.MARGIN,
        )
        if self._look.area != before.area:
            self.area.setText(self._look.area)
        self.changed.emit()

    def _area_typed(self) -> None:
        typed = self.area.text().strip()
        if typed != self._look.area:
            self._look = replace(self._look, area=typed)
            self.changed.emit()

    def _browse(self) -> None:
        kinds = "Shapes (*.geojson *.geojson.gz *.json *.json.gz);;All files (*)"
        ask_to_open(self, "Choose the shapes", self.use_shapes, kinds=kinds, folder=self._look.shapes)


def _lower(title: str) -> str:
    """Return a title as it stands inside a sentence."""
    return title if title.startswith("AIAN") else title[0].lower() + title[1:]


def _beside(words: str, widget: QWidget) -> QWidget:
    both = QWidget()
    row(*((field_label(words, widget), widget) if words else (widget,)), of=both)
    return both
