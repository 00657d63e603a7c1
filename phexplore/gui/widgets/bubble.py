"""A reason beside the field it belongs to, over whatever is there."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column

_WIDTH = 40 * GRID


class Bubble(QFrame):
    """A small frame with a sentence, placed below a rectangle of its parent, above it when there is no room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._room = parent
        self.setProperty("look", "notice-refused")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._text = Text(look="refused", wrap=True)
        column(self._text, of=self, margins=(GRID, HALF, GRID, HALF))
        self.hide()

    @property
    def text(self) -> str:
        """What is said, "" when hidden."""
        return "" if self.isHidden() else self._text.text()

    def say(self, text: str, beside: QRect) -> None:
        """Show the sentence next to a rectangle in the parent's coordinates; "" hides it."""
        if not text:
            self.hide()
            return
        self._text.setText(text)
        self._text.setFixedWidth(_WIDTH - 2 * GRID)
        self.setFixedSize(_WIDTH, self._text.heightForWidth(_WIDTH - 2 * GRID) + 2 * HALF + 2)
        room = self._room.rect()
        left = max(0, min(beside.right() - _WIDTH + 1, room.right() - _WIDTH))
        below = beside.bottom() + HALF
        top = below if below + self.height() <= room.bottom() else beside.top() - HALF - self.height()
        self.move(QPoint(left, max(0, top)))
        self.show()
        self.raise_()
