"""Pictures on tabs, each made when its tab is first looked at: a page of results opens without a stop."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

Make = Callable[[QWidget], QWidget]
"""Makes the picture of a tab as a child of this widget."""


class ChartTabs(QTabWidget):
    """A tab per picture, named by the values of an enumeration.

    Signals:
        made: the member of the enumeration and its picture, once for each.
    """

    made = Signal(object, object)

    def __init__(self, makers: Mapping[Any, Make], parent: QWidget) -> None:
        """Make empty tabs.

        Args:
            makers: of the pictures, in the order of the tabs.
            parent: owner.
        """
        super().__init__(parent)
        self._makers = dict(makers)
        self._places: dict[enum.Enum, QWidget] = {}
        self._charts: dict[enum.Enum, QWidget] = {}
        self.setAccessibleName("Pictures of the results")
        self.setDocumentMode(True)
        for tab in self._makers:
            place = QWidget(self)
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._places[tab] = place
            self.addTab(place, str(tab.value))

    @property
    def tab(self) -> Any:
        """The tab in front."""
        return list(self._makers)[self.currentIndex()]

    def show_tab(self, tab: enum.Enum) -> None:
        """Bring a tab to the front."""
        self.setCurrentIndex(list(self._makers).index(tab))

    def __getitem__(self, tab: enum.Enum) -> Any:
        """Return the picture of a tab, made on first use."""
        if tab not in self._charts:
            place = self._places[tab]
            chart = self._charts[tab] = self._makers[tab](place)
            layout = place.layout()
            if layout is not None:
                layout.addWidget(chart)
            self.made.emit(tab, chart)
        return self._charts[tab]
