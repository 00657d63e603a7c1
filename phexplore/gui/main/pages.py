"""The areas of the window: their list, and the page of each, made when it is first looked at."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QWidget

from phexplore.gui.binding.areas import AREAS, Area, area_keys
from phexplore.gui.binding.room import Make
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.stack import Stack

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


_OFFERED = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FRAME = 2
"""Pixels at both sides of every list in which the focus is seen (window.qss)."""


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
        self._order = list(AREAS)
        self._above = 0
        for area in AREAS:
            self.addItem(QListWidgetItem(area.value))
        self.name_areas({}, ())
        self.currentRowChanged.connect(self._announce)
        appearance().changed.connect(self._restyle)
        self._restyle()

    @property
    def area(self) -> Area:
        """The chosen area."""
        return self._order[max(0, self.currentRow())]

    @property
    def offered(self) -> tuple[Area, ...]:
        """The areas of the active system, from top to bottom."""
        return tuple(area for area in AREAS if self.is_offered(area))

    def is_offered(self, area: Area) -> bool:
        """Return whether the active system has this area."""
        return not self.item(self._order.index(area)).isHidden()

    def name_areas(self, titles: Mapping[Area, str], hidden: Collection[Area]) -> None:
        """Call some areas otherwise, the others by their own name, and hide what says nothing; keys count what is left.

        Hidden areas come last: the toolkit leaves them out where it counts the row that it tells a screen reader, which would say the
        name of another area. They are disabled too: its search by typed letters passes over disabled rows only.
        """
        keys, row, chosen = area_keys(hidden), self.currentRow(), self.area
        self._order.sort(key=lambda area: (area in hidden, AREAS.index(area)))
        for number, area in enumerate(self._order):
            title, item = titles.get(area, area.value), self.item(number)
            item.setText(title)
            item.setToolTip(f"{title} ({keys[area]})" if keys.get(area) else title)
            item.setHidden(area in hidden)
            item.setFlags(Qt.ItemFlag.NoItemFlags if area in hidden else _OFFERED)
        if row >= 0:
            with QSignalBlocker(self):
                self.choose(chosen)
        self._restyle()

    def leave_above(self, height: int) -> None:
        """Keep the entries in their place while what stands above grows lower, as far as all of them are seen.

        Args:
            height: by how many pixels what stands above is lower than on the overview.
        """
        self._above = height
        self._stand()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stand()

    def _stand(self) -> None:
        entries = self.visualItemRect(self.item(len(self.offered) - 1)).bottom() + 1 + self.verticalOffset()
        before = self.viewportMargins().top()
        above = max(0, min(self._above, self.viewport().height() + before - entries))
        if above != before:
            self.setViewportMargins(0, above, 0, 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():  # the headline shrinks with the first choice: a hand that shakes would choose once more
            super().mouseMoveEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()  # by its second press another area is under the pointer

    def choose(self, area: Area) -> None:
        """Go to an area."""
        self.setCurrentRow(self._order.index(area))

    def _announce(self, row: int) -> None:
        self._restyle()
        if row >= 0:
            self.chosen.emit(self._order[row])

    def _restyle(self) -> None:
        for number, area in enumerate(self._order):
            role = "accent_ink" if number == self.currentRow() else "muted"
            self.item(number).setIcon(icon(_SYMBOLS[area], appearance().colours, role=role))
        self.setFixedWidth(4 * GRID + _FRAME + 16 * GRID * appearance().scale // 100)


_PAUSE_MS = 250
"""Between two pages that are made ahead."""


class Pages(Stack):
    """Shows one area; the others are not made before they are wanted. Areas of several systems have keys of their own."""

    def __init__(self, makers: Mapping[Hashable, Make]) -> None:
        super().__init__()
        self._makers = makers
        self._made: dict[Hashable, QWidget] = {}
        self._wanted: list[Hashable] = []
        self._idle = QTimer(self)
        self._idle.setInterval(_PAUSE_MS)
        self._idle.timeout.connect(self._prepare_next)

    def show_area(self, system: str, area: Area) -> QWidget:
        """Show an area of a system, its own or the one all share, and return its page."""
        page = self._page(self._key(system, area))
        self.setCurrentWidget(page)
        return page

    def prepare(self, system: str, areas: Iterable[Area]) -> None:
        """Make the pages of these areas of a system one by one, with pauses, before somebody looks at them."""
        self._wanted = [self._key(system, area) for area in areas]
        self._idle.start()

    def _key(self, system: str, area: Area) -> Hashable:
        return (system, area) if (system, area) in self._makers else area

    def _prepare_next(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # something is being dragged
        if self._wanted:
            self._page(self._wanted.pop(0))
        else:
            self._idle.stop()

    def _page(self, area: Hashable) -> QWidget:
        if area not in self._made:
            page = self._makers[area]()
            self._made[area] = page
            self.addWidget(page)
        return self._made[area]
