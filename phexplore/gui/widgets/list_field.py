"""A field in which one types what a list below it shows."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget

from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.number_field import Line
from phexplore.gui.widgets.speech import say_beside

_MOVES = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})


class ListField(Line):
    """Its arrow keys move in the list."""

    def __init__(self, name: str, hint: str, of: QListWidget) -> None:
        """Make the field.

        Args:
            name: for people who do not see it.
            hint: shown while it is empty.
            of: the list.
        """
        super().__init__()
        self._list = of
        describe(self, name=name)
        self.setPlaceholderText(localised(hint))
        self.setClearButtonEnabled(True)
        self._late = QTimer(self, interval=0, singleShot=True)  # a list that is filled anew changes its line twice
        self._late.timeout.connect(self._say_chosen)
        for signal in (self.textChanged, of.currentItemChanged):
            signal.connect(lambda *_: self._late.start())

    def _say_chosen(self) -> None:
        """Say which line Enter would take: the list is moved in from here, and says nothing itself."""
        item = self._list.currentItem()
        say_beside(self, "" if item is None else item.data(Qt.ItemDataRole.AccessibleTextRole) or item.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES:
            self._list.event(event)
        else:
            super().keyPressEvent(event)
