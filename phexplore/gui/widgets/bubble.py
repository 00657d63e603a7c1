"""A sentence in a small frame over the page: what is refused says why and pushes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.speech import announce

_WIDTH, _LEAST = 40 * GRID, 24 * GRID
"""In pixels at 100 % text size: above or below a field, and the least that is enough beside it."""
_PLACING = frozenset({QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide})


class Bubble(QFrame):
    """A sentence over its parent; clicks go through it."""

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
        """Show the sentence below a rectangle in the parent's coordinates, above it when there is no room; "" hides it."""
        if not text:
            self.hide()
            return
        room, size = self._room.rect(), self.fit(text)
        left = max(0, min(beside.right() - size.width() + 1, room.right() - size.width()))
        below = beside.bottom() + HALF
        top = below if below + size.height() <= room.bottom() else beside.top() - HALF - size.height()
        self.stand(QPoint(left, max(0, top)))

    def fit(self, text: str, most: int = 0) -> QSize:
        """Take a sentence, and as much room as it needs; return how much that is.

        Args:
            text: the sentence.
            most: width in pixels; 0 for the usual one.
        """
        self._text.setText(text)
        self._text.ensurePolished()
        width = most or _WIDTH * appearance().scale // 100
        inside = min(width - 2 * GRID - 2, self._text.fontMetrics().horizontalAdvance(self._text.text()) + GRID)
        self._text.setFixedWidth(inside)
        self.setFixedSize(inside + 2 * GRID + 2, self._text.heightForWidth(inside) + 2 * HALF + 2)
        return self.size()

    def stand(self, at: QPoint) -> None:
        """Show it at a point of the parent."""
        self.move(at)
        self.show()
        self.raise_()


class Refusal(QObject):
    """Why a field refuses what was typed: in the free room of its row, else below or above it.

    The bubble lies over the page the field is on, scrolls with it, and stands where it does not cover the control in use.
    """

    def __init__(self, field: QWidget, place: QWidget) -> None:
        """Make it without a bubble: most fields never refuse anything.

        Args:
            field: what is typed into.
            place: what holds the field; the room to the right of what it holds is free.
        """
        super().__init__(place)
        self._field, self._place = field, place
        self._page: QWidget | None = None
        self.bubble: Bubble | None = None
        self.text = ""

    def say(self, reason: str) -> bool:
        """Show a reason, "" for none; return whether there is one."""
        is_new, self.text = reason != self.text, reason
        if reason and self.bubble is None:
            self._begin()
        if is_new:
            announce(self._field, reason, is_urgent=True)
        self._follow()
        return bool(reason)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if self.text and event.type() in _PLACING:
            self._follow()
        return False

    def _begin(self) -> None:
        """Make the bubble over what scrolls with the field, else over the window, and follow whatever moves the field."""
        above = [self._field]
        while not above[-1].isWindow() and (widget := above[-1].parentWidget()) is not None:
            above.append(widget)
            if (port := widget.parentWidget()) is not None and isinstance(port.parentWidget(), QScrollArea):
                break
        self._page, self.bubble = above[-1], Bubble(above[-1])
        self._field.destroyed.connect(self.bubble.deleteLater)
        for each in above:
            each.installEventFilter(self)
        appearance().changed.connect(self._follow)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def _follow(self, *_signal: object) -> None:
        page, bubble = self._page, self.bubble
        if page is None or bubble is None:
            return
        if not self.text or not self._field.isVisible():
            bubble.hide()
            return
        seen, used = page.visibleRegion().boundingRect(), QApplication.focusWidget()
        taken = _within(page, used if used is not None and page.isAncestorOf(used) else self._field)
        places = list(self._places(page, bubble, seen))
        free = (each for each in places if seen.contains(each) and not each.intersects(taken))
        chosen = next(free, places[0])
        bubble.fit(self.text, chosen.width())
        bubble.stand(chosen.topLeft())

    def _places(self, page: QWidget, bubble: Bubble, seen: QRect) -> Iterator[QRect]:
        """Yield where the bubble may stand, the best place first.

        Args:
            page: it lies on.
            bubble: takes the size it would have there.
            seen: what is seen of the page.
        """
        field, place = _within(page, self._field), _within(page, self._place)
        end = self._place.childrenRect().right() + GRID
        size = bubble.fit(self.text)
        if (free := place.width() - end) >= min(size.width(), _LEAST * appearance().scale // 100):
            beside = bubble.fit(self.text, free)
            yield QRect(QPoint(place.left() + end, field.center().y() - beside.height() // 2), beside)
        left = max(seen.left(), min(field.left(), seen.right() - size.width()))
        yield QRect(QPoint(left, field.bottom() + HALF), size)
        yield QRect(QPoint(left, field.top() - HALF - size.height()), size)


def _within(page: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(page, QPoint(0, 0)), widget.size())
