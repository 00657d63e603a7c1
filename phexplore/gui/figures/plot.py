"""The plot area of a figure: painted on the canvas, zoomed, panned, walked, chosen and dragged, for every figure alike.

Wheel with Ctrl (or in a focused plane without) zooms, dragging moves what is zoomed, a double click shows all again; keys:
arrows walk the marks, Enter opens one, + and − zoom, Ctrl with arrows moves, 0 shows all, F fills the window, Escape takes
back a drag.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakMethod

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from phexplore.figures.axis import Axis
from phexplore.figures.figure import Figure, RowLabel
from phexplore.figures.map import equal_degrees
from phexplore.figures.marks import AnyMark, Handle
from phexplore.figures.scales import whole_people_near
from phexplore.figures.steps import Step
from phexplore.figures.table import Table
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.map_painter import MapPainter
from phexplore.gui.figures.painter import FigurePainter
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.figures.rows import RowAxis, RowView
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF

if TYPE_CHECKING:
    from phexplore.figures.walk import Items

ZOOM = 0.8
"""Part of the range that one step of a zoom leaves."""
DEEPEST = 1e-4
"""Smallest part of the whole range that can be seen."""
_GRIP = 11.0
"""Pixels around a handle in which it can be taken."""
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
Range = tuple[float, float]
_KEY_FIGURE = Figure("key", "", "", Axis(), Axis(), (), Table(()))
"""Signs of a key are drawn in a plane from 0 to 1 across and around 0 upward."""


class Plot(RowView):
    """A canvas that shows one `Figure`.

    Signals:
        chosen: key of the mark the user chose; None where it has none.
        activated: key of the mark to open (Enter, double click).
        hovered: key under the pointer, or None.
        handle_dragged: key and value, for every new value while a handle moves; merge these edits.
        handle_released: key; the drag ended.
        drag_cancelled: key; Escape was pressed, undo the merged step.
        page_wanted: the figure is to fill the window.
    """

    chosen = Signal(object)
    activated = Signal(object)
    hovered = Signal(object)
    handle_dragged = Signal(object, object)
    handle_released = Signal(object)
    drag_cancelled = Signal(object)
    page_wanted = Signal()

    def __init__(self) -> None:
        axis = RowAxis()
        super().__init__(Canvas(), axis)
        self._figure: Figure | None = None
        self._found: Items | None = None
        self._map = MapPainter()
        self._labels: tuple[RowLabel, ...] = ()
        self._by_row: dict[int, list[AnyMark]] = {}
        self._whole_x: tuple[float, Range] = (-1.0, (0.0, 1.0))
        self._here: int | None = None
        self._key: Hashable = None
        self._hovered: int | None = None
        self._zoom: tuple[Range, Range] | None = None
        self._pointer = QPointF()
        self._pressed: tuple[QPointF, tuple[Range, Range]] | None = None
        self._drag: tuple[Hashable, float | None] | None = None
        canvas = self.canvas
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.add_layer(self._paint_backgrounds, below=True)
        canvas.add_layer(self._paint)
        canvas.set_head_layer(self._paint_key)

    # What is shown

    @property
    def figure(self) -> Figure | None:
        """What is shown."""
        return self._figure

    @property
    def items(self) -> Items:
        """What can be chosen, found when first asked for."""
        if self._found is None:
            if self._figure is None:
                raise ValueError("no figure is shown")
            from phexplore.figures.walk import items_of

            self._found = items_of(self._figure)
        return self._found

    @property
    def is_zoomed(self) -> bool:
        """Whether less than all is seen."""
        return self._zoom is not None

    @property
    def chosen_key(self) -> Hashable:
        """Key of what is chosen, None for nothing."""
        return None if self._here is None else self._key

    @property
    def chosen_tip(self) -> str:
        """What is chosen, in words."""
        return "" if self._here is None or self._figure is None else self.items.tips[self._here]

    def show_figure(self, figure: Figure) -> None:
        """Show another figure; zoom and choice stay where they still make sense."""
        before, self._figure = self._figure, figure
        self._found = None
        self._labels = figure.rows
        self._by_row = _by_row(figure)
        self._whole_x = (-1.0, (0.0, 1.0))
        self._map.use(figure.patches)
        canvas = self.canvas
        if before is None or before.id != figure.id or before.has_rows is not figure.has_rows:
            self._zoom, self._here = None, None
        if before is None or (before.x, before.y) != (figure.x, figure.y):
            canvas.use_left(self.axis if figure.has_rows else None)
            canvas.bottom_axis.set_scale(figure.x.label, figure.x.values_between, figure.x.position)
            canvas.left_axis.set_scale(figure.y.label, figure.y.values_between, figure.y.position)
            canvas.set_axis_labels(figure.x.title, figure.y.title)
            is_plain = not (figure.cells or figure.patches)
            canvas.set_grid(vertical=is_plain, horizontal=is_plain and not figure.has_rows)
        self._find_choice()
        self._stretch = figure.stretch
        self._fit_head()
        # What the rows keep must not lead back here: a cycle of widgets is torn down in the wrong order.
        if self.set_rows(self._labels, partial(_called, WeakMethod(self._x_range))):
            self._refresh_changed(before, figure)
        else:
            canvas.refresh()
        self._mark()

    def choose_key(self, key: Hashable) -> None:
        """Show this mark as chosen elsewhere; nothing is announced."""
        if key != self._key:
            self._key = key
            self._find_choice()
            self._mark()
            self.canvas.refresh()
            if self._here is not None and self._figure is not None and self._figure.has_rows:
                self.make_visible(int(self.items.rows[self._here]))

    def choose_item(self, item: int) -> None:
        """Choose a mark by its place in the walk, and announce it."""
        if self._figure is None or not 0 <= item < len(self.items) or item == self._here:
            return
        self._here, self._key = item, self.items.keys[item]
        if self._figure.has_rows:
            self.make_visible(int(self.items.rows[item]))
        self._mark()
        self.canvas.refresh()
        self.canvas.setAccessibleDescription(self.items.tips[item])
        self.chosen.emit(self._key)

    # Zoom

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Show more (factor above 1) or less around a pixel, by default the middle of the plot."""
        if self._figure is None:
            return
        pixels = self.canvas.pixels
        at = at if at is not None else pixels.area.center()
        (low, high), (bottom, top) = self._seen()
        x, y = pixels.value_x(at.x()), pixels.value_y(at.y())
        self._see(
            (x - (x - low) * factor, x + (high - x) * factor), (y - (y - bottom) * factor, y + (top - y) * factor)
        )

    def pan(self, across: float, up: float) -> None:
        """Move what is seen by parts of its width and height."""
        (low, high), (bottom, top) = self._seen()
        right, rise = across * (high - low), up * (top - bottom)
        self._see((low + right, high + right), (bottom + rise, top + rise))

    def show_all(self) -> None:
        """Show everything again."""
        self._zoom = None
        self._show()
        self.canvas.refresh()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        item = self._item_at(point)
        handled = self._handle_at(point)
        if item is not None:
            self.choose_item(item)
        if handled is not None:
            self._drag = (handled.key, None)
            self.canvas.setCursor(Qt.CursorShape.SizeHorCursor)
        elif self._zoom is not None:
            self._pressed = (point, self._seen())

    def pointer_moved(self, point: QPointF) -> None:
        self._pointer = point
        if self._drag is not None:
            self._drag_to(point.x())
        elif self._pressed is not None:
            start, ((low, high), (bottom, top)) = self._pressed
            pixels = self.canvas.pixels
            right, rise = (start.x() - point.x()) / pixels.per_x, (point.y() - start.y()) / pixels.per_y
            self._see((low + right, high + right), (bottom + rise, top + rise))
        elif self._figure is not None:
            self._hover(point)

    def pointer_released(self, _point: QPointF) -> None:
        self._pressed = None
        self._end_drag(cancelled=False)

    def pointer_left(self) -> None:
        QToolTip.hideText()
        if self._hovered is not None:
            self._hovered = None
            self.canvas.refresh()
            self.hovered.emit(None)

    def pointer_double_clicked(self, point: QPointF) -> None:
        self._drag = None
        if self._zoom is not None:
            self.show_all()
        elif (item := self._item_at(point)) is not None and self.items.keys[item] is not None:
            self.activated.emit(self.items.keys[item])

    def wheel_turned(self, steps: int) -> bool:
        is_asked = bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier)
        if self._figure is None:
            return False
        if not is_asked and self._figure.has_rows and self.scroll_rows(steps):
            return True
        if not steps or not (is_asked or self.canvas.hasFocus()):
            return False
        self.zoom(ZOOM ** (-steps / 3), self._pointer if self.canvas.area.contains(self._pointer) else None)
        return True

    def key_used(self, event: QKeyEvent) -> bool:
        if self._figure is None or self._figure.is_empty:
            return False
        key = Qt.Key(event.key())
        if event.type() is QKeyEvent.Type.KeyRelease:
            ends = self._drag is not None and not event.isAutoRepeat() and key in {Qt.Key.Key_Left, Qt.Key.Key_Right}
            if ends:
                self._end_drag(cancelled=False)
            return ends
        if key in _STEPS:
            return self._walk(key, event.modifiers())
        match key:
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._here is not None and self._key is not None:
                self.activated.emit(self._key)
            case Qt.Key.Key_F if not event.modifiers():
                self.page_wanted.emit()
            case Qt.Key.Key_Escape if self._drag is not None:
                self._end_drag(cancelled=True)
            case _:
                return self._zoom_by_key(key)
        return True

    def _zoom_by_key(self, key: Qt.Key) -> bool:
        if key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom(ZOOM, self._middle())
        elif key is Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM, self._middle())
        elif key in {Qt.Key.Key_0, Qt.Key.Key_Escape} and self._zoom is not None:
            self.show_all()
        else:
            return False
        return True

    def _walk(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        step = _STEPS[key]
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            moves = {Step.LEFT: (-_PAN, 0.0), Step.RIGHT: (_PAN, 0.0), Step.UP: (0.0, _PAN), Step.DOWN: (0.0, -_PAN)}
            if step not in moves or self._zoom is None:
                return False
            self.pan(*moves[step])
            return True
        mark = self._chosen_mark()
        if mark is not None and mark.handle is not None and step in {Step.LEFT, Step.RIGHT}:
            self._nudge(
                mark, 1 if step is Step.RIGHT else -1, 10 if modifiers & Qt.KeyboardModifier.ShiftModifier else 1
            )
            return True
        target = self.items.step(self._here, step, self._page())
        if target is None:
            return False
        self.choose_item(target)
        return True

    # Choice

    def _find_choice(self) -> None:
        if self._figure is None:
            return
        if self._key is not None:
            self._here = self.items.find(self._key)
        elif self._here is not None and self._here >= len(self.items):
            self._here = None

    def _mark(self) -> None:
        row = None
        if self._here is not None and self._figure is not None and self._figure.has_rows:
            row = int(self.items.rows[self._here])
        if row != self.axis.chosen:
            self.axis.chosen = row
            self.axis.update()

    def _chosen_mark(self) -> AnyMark | None:
        return None if self._here is None else self._mark_of(self.items.keys[self._here])

    def _mark_of(self, key: Hashable) -> AnyMark | None:
        if self._figure is None or key is None:
            return None
        return next((mark for mark in self._figure.marks if mark.key == key), None)

    def _item_at(self, point: QPointF) -> int | None:
        pixels = self.canvas.pixels
        if self._figure is None or not pixels.area.top() <= point.y() <= pixels.area.bottom():
            return None
        x, y = pixels.value_x(point.x()), pixels.value_y(point.y())
        if self._figure.patches:
            return self.items.find(self._map.at(self._figure, x, y))
        found = self.items.nearest(x, y, pixels.per_x, pixels.per_y, in_rows=self._figure.has_rows)
        if (
            found is not None
            and self._figure.cells
            and not self.items.boxes[found, 0] <= x <= self.items.boxes[found, 1]
        ):
            return None
        return found

    def _hover(self, point: QPointF) -> None:
        item = self._item_at(point)
        if item != self._hovered:
            changed = [self._hovered, item]
            self._hovered = item
            if self._figure is not None and self._figure.has_rows:
                for each in changed:
                    if each is not None and each < len(self.items):
                        self.refresh_row(int(self.items.rows[each]))
            self.hovered.emit(None if item is None else self.items.keys[item])
        grips = self._handle_at(point) is not None
        self.canvas.setCursor(Qt.CursorShape.SizeHorCursor if grips else Qt.CursorShape.ArrowCursor)
        tip = "" if item is None else self.items.tips[item]
        if tip:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), tip, self.canvas)
        else:
            QToolTip.hideText()

    # Handles

    def _handle_at(self, point: QPointF) -> AnyMark | None:
        if self._figure is None or (item := self._item_at(point)) is None:
            return None
        mark = self._mark_of(self.items.keys[item])
        if mark is None or mark.handle is None or mark.is_locked:
            return None
        x = self.canvas.pixels.x(self._figure.x.position(mark.handle.x))
        return mark if abs(x - point.x()) <= _GRIP else None

    def _drag_to(self, pixel: float) -> None:
        if self._figure is None or self._drag is None or (mark := self._mark_of(self._drag[0])) is None:
            return
        pixels, axis = self.canvas.pixels, self._figure.x
        inside = min(max(pixel, pixels.area.left()), pixels.area.right())
        value = axis.value(pixels.value_x(inside))
        if mark.handle is not None and mark.handle.is_whole:
            value = whole_people_near(value, value - axis.value(pixels.value_x(inside - 1)))
        self._drag_value(mark.handle, value)

    def _nudge(self, mark: AnyMark, sign: int, times: int) -> None:
        if mark.handle is None or mark.is_locked:
            return
        handle, step = mark.handle, mark.handle.step * times
        start = handle.x if self._drag is None or self._drag[1] is None else self._drag[1]
        self._drag = self._drag or (mark.key, None)
        value = round(start / step + sign) * step
        self._drag_value(handle, round(value) if handle.is_whole else value)

    def _drag_value(self, handle: Handle | None, value: float) -> None:
        if handle is None or self._drag is None:
            return
        value = max(value, handle.least)
        if value != self._drag[1]:
            self._drag = (self._drag[0], value)
            QToolTip.hideText()
            self.handle_dragged.emit(self._drag[0], value)

    def _end_drag(self, *, cancelled: bool) -> None:
        drag, self._drag = self._drag, None
        self.canvas.unsetCursor()
        if drag is None or (drag[1] is None and not cancelled):
            return
        self._show()
        self.canvas.refresh()
        (self.drag_cancelled if cancelled else self.handle_released).emit(drag[0])

    # Ranges

    def _seen(self) -> tuple[Range, Range]:
        view = self.canvas.pixels.view
        return (view.left(), view.right()), (view.top(), view.bottom())

    def _see(self, x: Range, y: Range) -> None:
        """Show these ranges, held inside the whole."""
        figure = self._figure
        if figure is None:
            return
        whole_x, whole_y = self._whole()
        x, y = _held(x, whole_x), _held(y, whole_y)
        is_all = x == whole_x and (figure.has_rows or y == whole_y)
        self._zoom = None if is_all else (x, y)
        self._show()

    def _whole(self) -> tuple[Range, Range]:
        if self._figure is None:
            return (0.0, 1.0), (0.0, 1.0)
        width = max(self.canvas.area.width(), 100.0)
        if self._figure.patches:
            return equal_degrees(self._figure, width, self.canvas.area.height())
        return self._whole_range(width), (0.0, 1.0) if self._figure.has_rows else self._figure.y_range()

    def _whole_range(self, width: float) -> Range:
        """Return what the horizontal axis shows of everything, measured once per width."""
        if self._figure is not None and self._whole_x[0] != width:
            self._whole_x = (width, self._figure.x_range_in(width, lettering(bold=True).width, GAP))
        return self._whole_x[1]

    def _x_range(self, width: float) -> Range:
        if self._figure is None or self._drag is not None:
            return self.x_range
        if self._zoom is not None:
            return self._zoom[0]
        return self._whole_range(max(width, 100.0))

    def _show(self, value: int = 0) -> None:
        if self._figure is not None and not self._figure.has_rows:
            x, y = self._zoom or self._whole()
            self.canvas.show_range(x, y)
        else:
            super()._show(value)

    def _fit(self) -> None:
        self._whole_x = (-1.0, self._whole_x[1])
        self._fit_head()
        super()._fit()

    def _middle(self) -> QPointF | None:
        """Return where keys zoom: at the chosen mark."""
        if self._here is None or self._figure is None:
            return None
        pixels, box = self.canvas.pixels, self.items.boxes[self._here]
        place = QPointF(pixels.x(box[:2].mean()), pixels.y(box[2:].mean()))
        return place if pixels.area.contains(place) else None

    # Painting

    def _refresh_changed(self, before: Figure | None, after: Figure) -> None:
        """Paint the rows that differ from what was shown: one edit changes one row, and a repaint of all costs 5 ms."""
        is_alike = (
            before is not None
            and after.has_rows
            and len(before.marks) == len(after.marks)
            and (before.under, before.over, before.cells, before.points)
            == (after.under, after.over, after.cells, after.points)
        )
        if before is None or not is_alike:
            self.canvas.refresh()
            return
        for row, old, new in zip(after.row_numbers, before.marks, after.marks, strict=True):
            if old is not new and old != new:
                self.refresh_row(row)

    def _paint_backgrounds(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure = self._figure
        if figure is None or not figure.has_rows or figure.cells:
            return
        labels = self._labels
        stripes: dict[str, int] = {}
        if figure.is_striped:
            stripes = {group: number % 2 for number, group in enumerate(dict.fromkeys(each.group for each in labels))}
        hovered = None if self._hovered is None or self._hovered >= len(self.items) else self.items.rows[self._hovered]
        for row in self.rows_to_paint(pixels):
            fill = colours.alternate if figure.is_striped and stripes[labels[row].group] else ""
            if row == self.axis.chosen:
                fill = colours.accent_soft
            elif row == hovered:
                fill = colours.hover
            if fill:
                top, bottom = pixels.y(-row + 0.5), pixels.y(-row - 0.5)
                painter.fillRect(QRectF(pixels.area.left(), top, pixels.area.width(), bottom - top), QColor(fill))

    def _paint(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure = self._figure
        if figure is None:
            return
        brush = FigurePainter(painter, pixels, figure, colours)
        brush.paint_parts(figure.under)
        if figure.patches:
            self._map.paint(painter, pixels, figure, self.chosen_key, colours)
        elif figure.has_rows:
            self._paint_rows(brush, pixels, figure)
        else:
            for mark in figure.marks:
                brush.paint_mark(mark, 0, is_chosen=mark.key is not None and mark.key == self._key)
            brush.paint_line_names(figure.marks)
        crowd = sum(len(each.x) for each in figure.points)
        for points in figure.points:
            brush.paint_points(points, crowd=crowd)
        brush.paint_parts(figure.over)
        self._paint_chosen(painter, pixels, figure, colours)
        self._paint_drag(painter, pixels, figure, colours)

    def _paint_rows(self, brush: FigurePainter, pixels: Pixels, figure: Figure) -> None:
        """Paint the rows that are seen."""
        seen = self.rows_to_paint(pixels)
        for cell in figure.cells:
            if cell.row in seen:
                brush.paint_cell(cell)
        for row in seen:
            for mark in self._by_row.get(row, ()):
                brush.paint_mark(mark, row, is_chosen=row == self.axis.chosen)

    def _paint_chosen(self, painter: QPainter, pixels: Pixels, figure: Figure, colours: Colours) -> None:
        """Outline the chosen mark where its row does not show it, and name it in a plane."""
        if self._here is None or self._here >= len(self.items) or figure.patches:
            return
        several = figure.has_rows and len(self._labels) < len(figure.marks)
        if figure.has_rows and not figure.cells and not several:
            return
        left, right, bottom, top = self.items.boxes[self._here].tolist()
        area = QRectF(QPointF(pixels.x(left), pixels.y(top)), QPointF(pixels.x(right), pixels.y(bottom)))
        painter.setPen(QPen(QColor(colours.text), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if several:
            painter.drawRect(area.adjusted(0, 0.14 * area.height(), 0, -0.14 * area.height()))
        elif figure.cells:
            painter.drawRect(area.adjusted(1, 1, -1, -1))
        elif area.width() < 1 and area.height() < 1:
            painter.drawEllipse(area.center(), 8.0, 8.0)
            self._paint_tip(painter, area.center(), pixels, colours)
        else:
            painter.drawRect(area.adjusted(-4, -4, 4, 4))

    def _paint_tip(self, painter: QPainter, at: QPointF, pixels: Pixels, colours: Colours) -> None:
        words, letters = self.chosen_tip.split("\n")[0], lettering(bold=True)
        width = letters.width(words)
        left = min(max(at.x() + 3 * GAP, pixels.area.left() + GAP), pixels.area.right() - width - GAP)
        above = at.y() > pixels.area.top() + 2 * letters.height
        y = at.y() - letters.height if above else at.y() + letters.height
        painter.fillRect(QRectF(left - 3, y - letters.height / 2, width + 6, letters.height), QColor(colours.base))
        draw_text(painter, QPointF(left, y), words, colours.text, bold=True)

    def _paint_drag(self, painter: QPainter, pixels: Pixels, figure: Figure, colours: Colours) -> None:
        """Mark the value a handle is held at: the figure of the edit follows a moment later."""
        if self._drag is None or self._drag[1] is None or self._here is None:
            return
        x, y = pixels.x(figure.x.position(self._drag[1])), pixels.y(-int(self.items.rows[self._here]))
        painter.setPen(QPen(QColor(colours.text), 2))
        painter.drawLine(QPointF(x, y - 9), QPointF(x, y + 9))

    # Key

    def _fit_head(self) -> None:
        places = self._key_places()
        self.canvas.set_head(round(places[-1].y() + self._key_line() / 2) if places else 0)

    def _key_line(self) -> float:
        height: float = lettering().height
        return height + HALF

    def _key_places(self) -> list[QPointF]:
        found: list[QPointF] = []
        x, y = float(GAP), self._key_line() / 2
        for entry in self._figure.key if self._figure is not None else ():
            needed = lettering().width(entry.text) + 5 * GAP
            if x > GAP and x + needed > self.canvas.width():
                x, y = float(GAP), y + self._key_line()
            found.append(QPointF(x, y))
            x += needed
        return found

    def _paint_key(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        figure = self._figure
        if figure is None:
            return
        for entry, at in zip(figure.key, self._key_places(), strict=True):
            unit = Pixels(
                pixels.view, QRectF(at.x(), at.y() - 6, 18, 12), at.x(), 18.0, at.y(), -12.0, at.y() - 6, at.y() + 6
            )
            FigurePainter(painter, unit, _KEY_FIGURE, colours).paint_parts((entry.sign,))
            room = max(self.canvas.width() - at.x() - 4 * GAP, 0.0)
            draw_text(painter, at + QPointF(18 + HALF, 0), lettering().elided(entry.text, room), colours.text)


def _by_row(figure: Figure) -> dict[int, list[AnyMark]]:
    """Return the marks of every row."""
    found: dict[int, list[AnyMark]] = {}
    if figure.has_rows:
        for row, mark in zip(figure.row_numbers, figure.marks, strict=True):
            found.setdefault(row, []).append(mark)
    return found


def _called(method: WeakMethod[Callable[[float], Range]], width: float) -> Range:
    """Return what a method gives while its object lives."""
    found = method()
    return (0.0, 1.0) if found is None else found(width)


def _held(seen: Range, whole: Range) -> Range:
    """Return a range of the same width inside the whole, not narrower than can be seen."""
    length = whole[1] - whole[0]
    width = max(seen[1] - seen[0], DEEPEST * length)
    if width >= length * (1 - 1e-9):
        return whole
    middle = (seen[0] + seen[1]) / 2
    low = min(max(middle - width / 2, whole[0]), whole[1] - width)
    return low, low + width
