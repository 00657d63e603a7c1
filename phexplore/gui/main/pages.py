"""The area of each page of the window, made when it is first looked at."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.room import Make
from phexplore.gui.widgets.stack import Stack

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

    def show_area(self, area: Hashable) -> QWidget:
        """Show an area and return its page."""
        page = self.page(area)
        self.setCurrentWidget(page)
        return page

    def prepare(self, areas: Sequence[Hashable]) -> None:
        """Make the pages of these areas one by one, with pauses, before somebody looks at them."""
        self._wanted = list(areas)
        self._idle.start()

    def _prepare_next(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # something is being dragged
        if self._wanted:
            self.page(self._wanted.pop(0))
        else:
            self._idle.stop()

    def __contains__(self, area: object) -> bool:
        """Return whether there is such a page."""
        return area in self._makers

    def page(self, area: Hashable) -> QWidget:
        """Return the page of an area, made on first use."""
        if area not in self._made:
            page = self._makers[area]()
            self._made[area] = page
            self.addWidget(page)
        return self._made[area]
