"""A row of widgets that breaks into lines where there is no room, like words in a text."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QLayoutItem, QSizePolicy, QWidget, QWidgetItem

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.layout import NONE, Margins, Part, filled


class FlowLayout(QLayout):
    """Lays its items out from left to right, then in further lines."""

    def __init__(self, parent: QWidget, *, gap: int, between: int) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._gap, self._between = gap, between
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._shown()]
        return QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, area: QRect, *, move: bool) -> int:
        """Place the items, or only find out how high they are together."""
        lines: list[list[tuple[QLayoutItem, QRect]]] = [[]]
        x = area.left()
        for item in self._shown():
            size = item.sizeHint()
            if size.width() > area.width() and item.hasHeightForWidth():
                size = QSize(area.width(), item.heightForWidth(area.width()))
            if lines[-1] and x + size.width() > area.left() + area.width():
                x = area.left()
                lines.append([])
            lines[-1].append((item, QRect(x, 0, min(size.width(), area.width()), size.height())))
            x += size.width() + self._gap
        y = area.top()
        for line in lines:
            height = max((place.height() for _item, place in line), default=0)
            for item, place in line if move else ():
                item.setGeometry(place.translated(0, y + (height - place.height()) // 2))
            y += height + self._between
        return y - self._between - area.top()


class FlowRow(QWidget):
    """A widget that holds others in a `FlowLayout`."""

    def __init__(self, *widgets: QWidget, gap: int, between: int | None = None) -> None:
        """Make the row.

        Args:
            widgets: from left to right.
            gap: between them.
            between: its lines, the gap if None.
        """
        super().__init__()
        self.flow = FlowLayout(self, gap=gap, between=gap if between is None else between)
        for widget in widgets:
            self.flow.addWidget(widget)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)


LARGE_TEXT = 150
"""Percent of text size from which on what stands beside each other at normal size stands in rows."""


class LargeTextRows(QBoxLayout):
    """Holds layouts beside each other, and below each other while the text is large or they need more room than there is."""

    def __init__(self, *parts: Part, of: QWidget | None = None, gap: int = GRID, margins: Margins = NONE) -> None:
        """Hold parts.

        Args:
            parts: from left to right.
            of: the widget they fill, None for a layout within another one.
            gap: between them.
            margins: around them.
        """
        super().__init__(QBoxLayout.Direction.LeftToRight)
        held = (part[0] if isinstance(part, tuple) else part for part in parts)
        self._held = [part for part in held if not isinstance(part, int)]
        if of is not None:
            of.setLayout(self)
        filled(self, parts, gap, margins)
        appearance().changed.connect(self._follow)
        self._follow()

    def minimumSize(self) -> QSize:
        return QSize(max((size.width() for size in self._least()), default=0), super().minimumSize().height())

    def setGeometry(self, rect: QRect) -> None:
        self._follow(room=rect.width())
        super().setGeometry(rect)

    def _least(self) -> list[QSize]:
        return [(part if isinstance(part, QLayout) else QWidgetItem(part)).minimumSize() for part in self._held]

    def _follow(self, _colours: object = None, *, room: int = 0) -> None:
        needed = sum(size.width() + self.spacing() for size in self._least()) if room else 0
        is_narrow = appearance().scale >= LARGE_TEXT or needed > room
        wanted = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        if wanted != self.direction():
            self.setDirection(wanted)
