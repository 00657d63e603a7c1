"""From a number to a decision: compare, agree, approve, hand over; each tab is made when it is first looked at."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QTabBar, QVBoxLayout, QWidget

from phexplore.gui.widgets.labels import line
from phexplore.gui.widgets.stack import Stack

Make = Callable[[], QWidget]


class DecisionTab(enum.Enum):
    """What committees do with the numbers. The value is the title."""

    COMPARE = "Compare"
    COMMITTEE = "Committee"
    MEETING = "Meeting"
    APPROVE = "Approve"
    BUNDLE = "Bundle"


class DecisionPage(QWidget):
    """Tabs, in the order a decision is made."""

    def __init__(self, makers: Mapping[DecisionTab, Make]) -> None:
        """Make empty tabs.

        Args:
            makers: of their content.
        """
        super().__init__()
        self._makers = {tab: makers[tab] for tab in DecisionTab if tab in makers}
        self._made: dict[DecisionTab, QWidget] = {}
        self.bar = QTabBar()
        self.bar.setAccessibleName("Steps of a decision")
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self._stack = Stack(self)
        for tab in self._makers:
            self.bar.addTab(tab.value)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(line())
        column.addWidget(self._stack, 1)
        self.bar.currentChanged.connect(self._show_current)
        self._show_current()

    @property
    def tab(self) -> DecisionTab:
        """The tab in front."""
        return list(self._makers)[self.bar.currentIndex()]

    def show_tab(self, tab: DecisionTab) -> QWidget:
        """Bring a tab to the front and return its content."""
        self.bar.setCurrentIndex(list(self._makers).index(tab))
        return self.content(tab)

    def content(self, tab: DecisionTab) -> QWidget:
        """Return the content of a tab, made on first use."""
        if tab not in self._made:
            made = self._made[tab] = self._makers[tab]()
            self._stack.addWidget(made)
        return self._made[tab]

    @property
    def made(self) -> tuple[QWidget, ...]:
        """What was looked at so far."""
        return tuple(self._made.values())

    def _show_current(self, _index: int = 0) -> None:
        self._stack.setCurrentWidget(self.content(self.tab))
