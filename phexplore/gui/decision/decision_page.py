"""From a number to a decision: compare, agree, approve, hand over; each tab is made when it is first looked at."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

Make = Callable[[], QWidget]


class DecisionTab(enum.Enum):
    """What committees do with the numbers. The value is the title."""

    COMPARE = "Compare"
    COMMITTEE = "Committee"
    MEETING = "Meeting"
    APPROVE = "Approve"
    BUNDLE = "Bundle"


class DecisionPage(QTabWidget):
    """Tabs, in the order a decision is made."""

    def __init__(self, makers: Mapping[DecisionTab, Make]) -> None:
        """Make empty tabs.

        Args:
            makers: of their content.
        """
        super().__init__()
        self._makers = {tab: makers[tab] for tab in DecisionTab if tab in makers}
        self._made: dict[DecisionTab, QWidget] = {}
        self._places: dict[DecisionTab, QVBoxLayout] = {}
        self.setAccessibleName("Steps of a decision")
        self.setDocumentMode(True)
        for tab in self._makers:
            place = QWidget(self)
            layout = self._places[tab] = QVBoxLayout(place)
            layout.setContentsMargins(0, 0, 0, 0)
            self.addTab(place, tab.value)
        self.currentChanged.connect(self._make_current)
        self._make_current()

    @property
    def tab(self) -> DecisionTab:
        """The tab in front."""
        return list(self._makers)[self.currentIndex()]

    def show_tab(self, tab: DecisionTab) -> QWidget:
        """Bring a tab to the front and return its content."""
        self.setCurrentIndex(list(self._makers).index(tab))
        return self.content(tab)

    def content(self, tab: DecisionTab) -> QWidget:
        """Return the content of a tab, made on first use."""
        if tab not in self._made:
            made = self._made[tab] = self._makers[tab]()
            self._places[tab].addWidget(made)
        return self._made[tab]

    @property
    def made(self) -> tuple[QWidget, ...]:
        """What was looked at so far."""
        return tuple(self._made.values())

    def _make_current(self, _index: int = 0) -> None:
        if self.isVisible() or not self._made:
            self.content(self.tab)
