"""The areas of the window."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem

from phexplore.gui.binding.areas import AREAS, Area, area_keys
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.metrics import GRID

_SYMBOLS = {
    Area.OVERVIEW: "overview",
    Area.BUDGETS: "budgets",
    Area.LEVELS: "levels",
    Area.SPINE: "spine",
    Area.TARGETS: "targets",
    Area.SCENARIO: "scenario",
    Area.EXPERIMENT: "experiment",
    Area.RUNS: "runs",
    Area.RESULTS: "results",
    Area.DECISION: "decision",
    Area.HISTORY: "history",
}


class Navigation(QListWidget):
    """The list of areas at the left.

    Signals:
        chosen: the `Area`.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "navigation")
        self.setAccessibleName("Areas")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(True)
        self.setIconSize(QSize(2 * GRID + 4, 2 * GRID + 4))
        for area in AREAS:
            self.addItem(QListWidgetItem(area.value))
        self.name_areas({}, ())
        self.currentRowChanged.connect(self._announce)
        appearance().changed.connect(self._restyle)
        self._restyle()

    @property
    def area(self) -> Area:
        """The chosen area."""
        return AREAS[max(0, self.currentRow())]

    @property
    def offered(self) -> tuple[Area, ...]:
        """The areas of the active system, from top to bottom."""
        return tuple(area for area in AREAS if self.is_offered(area))

    def is_offered(self, area: Area) -> bool:
        """Return whether the active system has this area."""
        return not self.item(AREAS.index(area)).isHidden()

    def name_areas(self, titles: Mapping[Area, str], hidden: Collection[Area]) -> None:
        """Call some areas otherwise, the others by their own name, and hide what says nothing; keys count what is left."""
        keys = area_keys(hidden)
        for number, area in enumerate(AREAS):
            title, item = titles.get(area, area.value), self.item(number)
            item.setText(title)
            item.setToolTip(f"{title} ({keys[area]})" if keys.get(area) else title)
            item.setHidden(area in hidden)

    def choose(self, area: Area) -> None:
        """Go to an area."""
        self.setCurrentRow(AREAS.index(area))

    def _announce(self, row: int) -> None:
        self._restyle()
        if row >= 0:
            self.chosen.emit(AREAS[row])

    def _restyle(self) -> None:
        for number, area in enumerate(AREAS):
            role = "accent_ink" if number == self.currentRow() else "muted"
            self.item(number).setIcon(icon(_SYMBOLS[area], appearance().colours, role=role))
        self.setFixedWidth(4 * GRID + 16 * GRID * appearance().scale // 100)
