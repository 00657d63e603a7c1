"""What pointer, wheel and keys do in a figure: for every figure alike.

Wheel with Ctrl (without in a map, a focused figure, or a plane on a page that does not scroll) zooms, dragging moves what is zoomed, a double click shows all again, opens a mark,
or where there is none lets the figure fill the window; keys:
arrows walk the marks, Enter opens one, + and − zoom, Ctrl with arrows moves, 0 shows all, F fills the window, Escape takes
back a drag.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QScrollArea, QToolTip, QWidget

from phexplore.figures.walk import Step
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.choice import Choice, HandleDrag
from phexplore.gui.figures.viewport import Viewport
from phexplore.gui.theme.number_style import localised

ZOOM = 0.8
"""Part of the range that one step of a zoom leaves."""
_PAN = 0.2
_STEPS = {
    Qt.Key.Key_Up: Step.UP,
    Qt.Key.Key_Down: Step.DOWN,
    Qt.Key.Key_Left: Step.LEFT,
    Qt.Key.Key_Right: Step.RIGHT,
    Qt.Key.Key_Home: Step.FIRST,
    Qt.Key.Key_End: Step.LAST,
    Qt.Key.Key_PageUp: Step.PAGE_UP,
    Qt.Key.Key_PageDown: Step.PAGE_DOWN,
}
_ZOOMS = {Qt.Key.Key_Plus: ZOOM, Qt.Key.Key_Equal: ZOOM, Qt.Key.Key_Minus: 1 / ZOOM}
_PANS = {Step.LEFT: (-_PAN, 0.0), Step.RIGHT: (_PAN, 0.0), Step.UP: (0.0, _PAN), Step.DOWN: (0.0, -_PAN)}


class Gestures(QObject):
    """Takes pointer and keys of a canvas.

    Signals:
        item_taken: number of the item (int) the user moved to.
        activated: key of the mark to open (Enter, double click).
        hovered: key under the pointer, or None.
        page_wanted: the figure is to fill the window.
    """

    item_taken = Signal(int)
    activated = Signal(object)
    hovered = Signal(object)
    page_wanted = Signal()

    def __init__(self, canvas: Canvas, viewport: Viewport, choice: Choice, drag: HandleDrag, parent: QObject) -> None:
        """Listen to a canvas.

        Args:
            canvas: where pointer and keys are used.
            viewport: is zoomed, moved and scrolled.
            choice: says what is under the pointer.
            drag: of handles.
            parent: owner.
        """
        super().__init__(parent)
        self._canvas, self._viewport, self._choice, self._drag = canvas, viewport, choice, drag
        self._pointer = QPointF()
        self._pressed: QPointF | None = None
        canvas.set_handler(self._take)
        canvas.setMouseTracking(True)

    def _take(self, event: QEvent) -> bool:
        """Use an event of the canvas; return whether it was used: an unused wheel scrolls the page around the chart."""
        match event.type(), event:
            case QEvent.Type.MouseButtonPress, QMouseEvent() if event.button() is Qt.MouseButton.LeftButton:
                self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
                self.pointer_pressed(event.position() / self._canvas.magnified)
            case QEvent.Type.MouseMove, QMouseEvent():
                self.pointer_moved(event.position() / self._canvas.magnified)
            case QEvent.Type.MouseButtonRelease, QMouseEvent() if event.button() is Qt.MouseButton.LeftButton:
                self.pointer_released(event.position() / self._canvas.magnified)
            case QEvent.Type.MouseButtonDblClick, QMouseEvent():
                self.pointer_double_clicked(event.position() / self._canvas.magnified)
            case QEvent.Type.Leave, _:
                self.pointer_left()
                return False
            case QEvent.Type.Wheel, QWheelEvent():
                return self.wheel_turned(-round(event.angleDelta().y() / 40))
            case QEvent.Type.KeyPress | QEvent.Type.KeyRelease, QKeyEvent():
                return self.key_used(event)
            case _:
                return False
        return True

    def pointer_pressed(self, point: QPointF) -> None:
        """Choose what is under the pointer, take its handle, or the picture where it is zoomed."""
        item = self._choice.at(point, self._canvas.pixels)
        handled = self._choice.handled_at(point, self._canvas.pixels)
        if item is not None:
            self.item_taken.emit(item)
        if handled is not None:
            self._drag.begin(handled)
            self._viewport.is_held = True
            self._canvas.setCursor(Qt.CursorShape.SizeHorCursor)
        elif self._viewport.is_zoomed:
            self._pressed = point

    def pointer_moved(self, point: QPointF) -> None:
        """Drag the handle or the picture, or say what is under the pointer."""
        self._pointer = point
        if self._drag.is_active:
            self._say("", point)
            self._drag.move_to(self._choice, point.x(), self._canvas.pixels)
        elif self._pressed is not None:
            start, self._pressed, area = self._pressed, point, self._canvas.area
            self._viewport.pan((start.x() - point.x()) / area.width(), (point.y() - start.y()) / area.height())
        elif self._choice.figure is not None:
            self._hover(point)

    def pointer_released(self, _point: QPointF) -> None:
        """Let go of what is dragged."""
        self._pressed = None
        self._end_drag(is_cancelled=False)

    def pointer_left(self) -> None:
        """Forget what was under the pointer."""
        self._say("", self._pointer)
        if self._choice.hovered is not None:
            self._choice.hovered = None
            self._canvas.refresh()
            self.hovered.emit(None)

    def pointer_double_clicked(self, point: QPointF) -> None:
        """Show all again, open what is under the pointer, or let the figure fill the window."""
        self._drag.is_active = False
        item = self._choice.at(point, self._canvas.pixels)
        if self._viewport.is_zoomed:
            self._viewport.show_all()
        elif item is not None and self._choice.items.keys[item] is not None:
            self.activated.emit(self._choice.items.keys[item])
        else:
            self.page_wanted.emit()

    def wheel_turned(self, steps: int) -> bool:
        """Scroll rows, or zoom."""
        is_asked = bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._choice.figure is None:
            return False
        if not is_asked and self._choice.figure.has_rows and self._viewport.has_hidden_rows:
            return self._viewport.scroll(steps)
        is_free = self._choice.figure.patches or not (self._choice.figure.has_rows or _page_scrolls(self._canvas))
        if not steps or not (is_asked or self._canvas.hasFocus() or is_free):
            return False
        self._viewport.zoom(ZOOM ** (-steps / 3), self._pointer if self._canvas.area.contains(self._pointer) else None)
        return True

    def key_used(self, event: QKeyEvent) -> bool:
        """Walk, open, zoom, move, drag: what the head of this module says."""
        if self._choice.figure is None or self._choice.figure.is_empty:
            return False
        key = Qt.Key(event.key())
        if event.type() is QKeyEvent.Type.KeyRelease:
            is_end = self._drag.is_active and not event.isAutoRepeat() and key in {Qt.Key.Key_Left, Qt.Key.Key_Right}
            if is_end:
                self._end_drag(is_cancelled=False)
            return is_end
        match key:
            case _ if key in _STEPS:
                return self._walk(_STEPS[key], event.modifiers())
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._choice.chosen_key is not None:
                self.activated.emit(self._choice.chosen_key)
            case Qt.Key.Key_F if not event.modifiers():
                self.page_wanted.emit()
            case Qt.Key.Key_Escape if self._drag.is_active:
                self._end_drag(is_cancelled=True)
            case _ if key in _ZOOMS:
                self._viewport.zoom(_ZOOMS[key], self._middle())
            case Qt.Key.Key_0 | Qt.Key.Key_Escape if self._viewport.is_zoomed:
                self._viewport.show_all()
            case _:
                return False
        return True

    def _walk(self, step: Step, modifiers: Qt.KeyboardModifier) -> bool:
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            if step not in _PANS or not self._viewport.is_zoomed:
                return False
            self._viewport.pan(*_PANS[step])
            return True
        mark = self._choice.mark
        if mark is not None and mark.handle is not None and step in {Step.LEFT, Step.RIGHT}:
            self._viewport.is_held = True
            size = 10 if modifiers & Qt.KeyboardModifier.ShiftModifier else 1
            self._drag.nudge(mark, 1 if step is Step.RIGHT else -1, size)
            return True
        target = self._choice.step(step, self._viewport.page)
        if target is not None:
            self.item_taken.emit(target)
        return target is not None

    def _end_drag(self, *, is_cancelled: bool) -> None:
        self._canvas.unsetCursor()
        self._viewport.is_held = False
        if self._drag.end(is_cancelled=is_cancelled):
            self._viewport.fit()
            self._canvas.refresh()

    def _hover(self, point: QPointF) -> None:
        choice = self._choice
        item = choice.at(point, self._canvas.pixels)
        if item != choice.hovered:
            changed, choice.hovered = (choice.hovered, item), item
            if self._choice.figure is not None and self._choice.figure.has_rows:
                self._viewport.refresh_rows({choice.items.rows[each] for each in changed if each is not None})
            self.hovered.emit(None if item is None else self._choice.items.keys[item])
        grips = choice.handled_at(point, self._canvas.pixels) is not None
        self._canvas.setCursor(Qt.CursorShape.SizeHorCursor if grips else Qt.CursorShape.ArrowCursor)
        self._say("" if item is None else self._choice.items.words(item), point)

    def _say(self, words: str, point: QPointF) -> None:
        """Show a tool tip, or none."""
        if words:
            QToolTip.showText(
                self._canvas.mapToGlobal((point * self._canvas.magnified).toPoint()), localised(words), self._canvas
            )
        else:
            QToolTip.hideText()

    def _middle(self) -> QPointF | None:
        """Return where keys zoom: at the chosen mark."""
        if self._choice.here is None:
            return None
        pixels, box = self._canvas.pixels, self._choice.items.boxes[self._choice.here]
        place = QPointF(pixels.x(box[:2].mean()), pixels.y(box[2:].mean()))
        return place if pixels.area.contains(place) else None


def _page_scrolls(canvas: QWidget) -> bool:
    """Return whether the wheel has a page around a figure to scroll."""
    place = canvas.parentWidget()
    while place is not None:
        if isinstance(place, QScrollArea) and place.verticalScrollBar().maximum():
            return True
        place = place.parentWidget()
    return False
