"""Pictures on tabs, each made when its tab is first looked at: a page of results opens without a stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

Make = Callable[[QWidget], QWidget]
"""Makes the picture of a tab as a child of this widget."""


class ChartTabs(QTabWidget):
    """A tab per picture.

    Signals:
        made: the key of a tab and its picture, once for each.
    """

    made = Signal(object, object)

    def __init__(self, makers: Mapping[Any, Make], parent: QWidget, titles: Mapping[Any, str] | None = None) -> None:
        """Make empty tabs.

        Args:
            makers: of the pictures, in the order of the tabs.
            parent: owner.
            titles: on the tabs; the values of an enumeration by default.
        """
        super().__init__(parent)
        self._makers = dict(makers)
        self._places: dict[Any, QWidget] = {}
        self._charts: dict[Any, QWidget] = {}
        self.setAccessibleName("Pictures of the results")
        self.setDocumentMode(True)
        for tab in self._makers:
            place = QWidget(self)
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._places[tab] = place
            self.addTab(place, titles[tab] if titles is not None else str(tab.value))

    @property
    def tab(self) -> Any:
        """The tab in front."""
        return list(self._makers)[self.currentIndex()]

    def show_tab(self, tab: Any) -> None:
        """Bring a tab to the front."""
        self.setCurrentIndex(list(self._makers).index(tab))

    def __getitem__(self, tab: Any) -> Any:
        """Return the picture of a tab, made on first use."""
        if tab not in self._charts:
            place = self._places[tab]
            chart = self._charts[tab] = self._makers[tab](place)
            layout = place.layout()
            if layout is not None:
                layout.addWidget(chart)
            self.made.emit(tab, chart)
        return self._charts[tab]
