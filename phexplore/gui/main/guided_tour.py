"""A first look around: a card that goes from place to place, with a frame around what it speaks of. Never modal."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.resources import resource

_WIDTH = 46 * GRID
_FRAME = 3
_APART = 2
"""Between a place and its frame: around a button of the frame's colour the frame would not be seen."""
_MOVED = frozenset({QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.LayoutRequest})


@dataclass(frozen=True, slots=True)
class Stop:
    """One place of the tour.

    Attributes:
        title: what it is.
        text: what it is for.
        place: name of the widget that is framed.
        area: where it is seen.
    """

    title: str
    text: str
    place: str
    area: Area


def tour_stops() -> tuple[Stop, ...]:
    """Return the stops, in order."""
    entries = tomllib.loads(resource("tour.toml").read_text(encoding="utf-8"))["stops"]
    return tuple(Stop(each["title"], each["text"], each["place"], Area(each["area"])) for each in entries)


class _Outline(QWidget):
    """A frame around a place; the pointer goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Frame around the place the tour speaks of")

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(appearance().colours.accent_ink), _FRAME))
        edge = _FRAME / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge), HALF, HALF)


class GuidedTour(QFrame):
    """Shows the stops one after the other inside a window.

    Enter or → goes on, ← goes back, Esc ends; the window can be used meanwhile.

    Signals:
        ended: the card was closed, at the last stop or before.
    """

    ended = Signal()

    def __init__(self, window: QWidget, go: Callable[[Area], object], places: Mapping[str, QWidget]) -> None:
        """Make the card; `begin` shows it.

        Args:
            window: what it is shown in.
            go: makes an area visible.
            places: that can be framed, by their names in the stops.
        """
        super().__init__(window)
        self._window, self._go, self.places, self._at = window, go, places, 0
        self._stops = tour_stops()
        self._watched: QWidget | None = None
        self.setProperty("look", "card")
        self.setAutoFillBackground(True)
        self._outline = _Outline(window)
        self._title = Text(bold=True, relative=1.25, wrap=True)
        self._text = Text(wrap=True)
        self._count = Text(look="muted")
        self.back = TextButton("Back", run=lambda: self.show_stop(self._at - 1))
        self.onward = TextButton("Next", look="primary", name="Next stop of the tour", run=self._advance)
        self.end = TextButton("End the tour", look="link", run=self.finish)
        buttons = row((self._count, 1), self.end, self.back, self.onward)
        self._column = column(self._title, self._text, buttons, of=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
        self.hide()
        self._outline.hide()
        window.installEventFilter(self)

    @property
    def stop(self) -> Stop:
        """The stop being shown."""
        return self._stops[self._at]

    def begin(self) -> None:
        """Show the first stop."""
        self.show()
        self.show_stop(0)

    def show_stop(self, number: int) -> None:
        """Go to a stop; numbers outside the tour are brought to its ends."""
        self._at = min(max(number, 0), len(self._stops) - 1)
        stop, is_last = self.stop, self._at == len(self._stops) - 1
        self._go(stop.area)
        if self._watched is not None:
            self._watched.removeEventFilter(self)
        self._watched = self.places[stop.place]
        self._watched.installEventFilter(self)
        self._title.setText(stop.title)
        self._text.setText(stop.text)
        self._count.setText(f"{self._at + 1} of {len(self._stops)}")
        self.setAccessibleName(f"{stop.title}. {stop.text}")
        self.back.setEnabled(self._at > 0)
        self.onward.setText("Done" if is_last else "Next")
        self.end.setVisible(not is_last)
        self.onward.setFocus()
        # Pages that were just shown are laid out in the next turn of the event loop.
        QTimer.singleShot(0, self, self._settle)

    def leave(self, area: Area) -> None:
        """End where somebody goes elsewhere than the stop is: the card would lie over what it does not speak of."""
        if area is not self.stop.area:
            self.finish()

    def finish(self) -> None:
        """Take card and frame away."""
        self._window.removeEventFilter(self)
        if self._watched is not None:
            self._watched.removeEventFilter(self)
        self._outline.deleteLater()
        self.deleteLater()
        self.ended.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self.finish()
            case Qt.Key.Key_Right:
                self._advance()
            case Qt.Key.Key_Left:
                self.show_stop(self._at - 1)
            case _:
                super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched in {self._window, self._watched} and event.type() in _MOVED:
            QTimer.singleShot(0, self, self._settle)
        return False

    def _advance(self) -> None:
        if self._at == len(self._stops) - 1:
            self.finish()
        else:
            self.show_stop(self._at + 1)

    def _settle(self) -> None:
        """Put the frame around the place, and the card beside it inside the window."""
        if self.isHidden():
            return
        room = self._window.rect().adjusted(GRID, GRID, -GRID, -GRID)
        self.setFixedWidth(min(_WIDTH * appearance().scale // 100, room.width()))
        self.resize(self.width(), self._column.totalHeightForWidth(self.width()))
        place = self.places[self.stop.place]
        framed = QRect(place.mapTo(self._window, QPoint(0, 0)), place.size()) if place.isVisible() else QRect()
        self._outline.setVisible(not framed.isNull())
        around = _FRAME + _APART
        self._outline.setGeometry(framed.adjusted(-around, -around, around, around).intersected(self._window.rect()))
        self.move(self._beside(framed, room))
        self._outline.raise_()
        self.raise_()

    def _beside(self, framed: QRect, room: QRect) -> QPoint:
        """Return where the card goes: below, right of, above or left of the place, else over its lower right corner."""
        size, gap = self.size(), GRID + _FRAME + _APART
        spots = (
            QPoint(framed.left(), framed.bottom() + gap),
            QPoint(framed.right() + gap, framed.top()),
            QPoint(framed.left(), framed.top() - gap - size.height()),
            QPoint(framed.left() - gap - size.width(), framed.top()),
        )
        for spot in spots if not framed.isNull() else ():
            inside = QPoint(
                min(max(spot.x(), room.left()), room.right() - size.width()),
                min(max(spot.y(), room.top()), room.bottom() - size.height()),
            )
            if not QRect(inside, size).intersects(framed):
                return inside
        return QPoint(room.right() - size.width(), room.bottom() - size.height() - 5 * GRID)
