"""Pages on top of each other, of which only the one on screen asks for room; with tabs, made when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.layout import Lean
from phexplore.gui.widgets.reading_order import put_in_order
from phexplore.gui.widgets.speech import Spoken, speak_as

Make = Callable[[QWidget], QWidget]
"""Makes the content of a tab as a child of this widget."""
_CLAIM = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
_NO_CLAIM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)


class Stack(QStackedWidget):
    """A stack as small as its current page may be: a wide page out of sight does not widen the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        speak_as(
            QStackedWidget, lambda stack: Spoken(stack, QAccessible.Role.Client)
        )  # else "layered pane" before each page
        self._claims: dict[QWidget, QSizePolicy] = {}
        self._in_front: QWidget | None = None
        self.currentChanged.connect(self._give_room)

    def addWidget(self, widget: QWidget) -> int:
        """Add a page; it claims room when it is shown."""
        self._claims[widget] = widget.sizePolicy()
        widget.setSizePolicy(_NO_CLAIM)
        number = super().addWidget(widget)
        self._give_room()
        return number

    def _give_room(self, _number: int = 0) -> None:
        current = self.currentWidget()
        if current is self._in_front:
            return
        if self._in_front is not None:
            self._in_front.setSizePolicy(_NO_CLAIM)
        self._in_front = current
        if current is not None:
            current.setSizePolicy(self._claims[current])


class LazyTabs(QTabWidget):
    """A tab per key; a wide one out of sight does not widen the window.

    Signals:
        made: the key of a tab and its content, once for each.
    """

    made = Signal(object, object)

    def __init__(
        self,
        makers: Mapping[Any, Make],
        parent: QWidget | None = None,
        titles: Mapping[Any, str] | None = None,
        *,
        name: str = "Pictures of the results",
    ) -> None:
        """Make empty tabs.

        Args:
            makers: of the content, in the order of the tabs.
            parent: owner.
            titles: on the tabs; the values of an enumeration by default.
            name: for people who do not see the tabs.
        """
        super().__init__(parent)
        self._makers = dict(makers)
        self._places: dict[Any, QWidget] = {}
        self._contents: dict[Any, QWidget] = {}
        self.setAccessibleName(name)
        self.setDocumentMode(True)
        self.setUsesScrollButtons(True)
        for tab in self._makers:
            place = Lean(self)
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._places[tab] = place
            self.addTab(place, titles[tab] if titles is not None else str(tab.value))
        self.currentChanged.connect(self._give_room)
        self._give_room()

    @property
    def tab(self) -> Any:
        """The tab in front."""
        return list(self._makers)[self.currentIndex()]

    def keep_under_tabs(self, bar: QWidget) -> None:
        """Show a bar between the tabs and the content in front: other filters do not move the tabs."""

        def follow(_number: int = 0) -> None:
            layout = self.currentWidget().layout() if self.currentWidget() is not None else None
            if isinstance(layout, QVBoxLayout):
                layout.insertWidget(0, bar)
                bar.show()
                put_in_order(self)

        self.currentChanged.connect(follow)
        follow()

    def offer_by_depth(self, few: Mapping[Any, str]) -> None:
        """Offer a committee these alone, under these titles, and an expert every tab; without any, both see every tab."""
        self._few = dict(few)
        self._titles = [self.tabText(number) for number in range(self.count())]
        appearance().changed.connect(self._follow_depth)
        self._follow_depth()

    def _follow_depth(self, _colours: object = None) -> None:
        is_expert = appearance().is_expert
        for number, tab in enumerate(self._makers):
            self.setTabText(number, self._titles[number] if is_expert else self._few.get(tab, self._titles[number]))
        self.offer(self._few if self._few and not is_expert else self._makers)

    @property
    def offered(self) -> tuple[Any, ...]:
        """The tabs that can be chosen."""
        return tuple(tab for number, tab in enumerate(self._makers) if self.isTabVisible(number))

    @property
    def contents(self) -> tuple[Any, ...]:
        """What was looked at so far."""
        return tuple(self._contents.values())

    def offer(self, tabs: Container[Any]) -> None:
        """Hide all but these; one alone needs no bar to choose it from."""
        for number, tab in enumerate(self._makers):
            self.setTabVisible(number, tab in tabs)
        self.tabBar().setVisible(len(self.offered) > 1)

    def show_tab(self, tab: Any) -> Any:
        """Bring a tab to the front, also one that was not offered; return its content."""
        number = list(self._makers).index(tab)
        self.setTabVisible(number, True)
        self.tabBar().setVisible(len(self.offered) > 1)
        self.setCurrentIndex(number)
        return self[tab]

    def make_as_shown(self) -> None:
        """Make the content of every tab that comes to the front, and now of the first."""
        self.currentChanged.connect(lambda _number: self[self.tab])
        self[self.tab]

    def __getitem__(self, tab: Any) -> Any:
        """Return the content of a tab, made on first use."""
        if tab not in self._contents:
            place = self._places[tab]
            content = self._contents[tab] = self._makers[tab](place)
            layout = place.layout()
            if layout is not None:
                layout.addWidget(content)
            put_in_order(self)
            self.made.emit(tab, content)
        return self._contents[tab]

    def _give_room(self, _number: int = 0) -> None:
        for place in self._places.values():
            place.setSizePolicy(_CLAIM if place is self.currentWidget() else _NO_CLAIM)
