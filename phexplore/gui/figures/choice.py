"""What can be chosen in a figure and what is, and the handle of a mark that is dragged."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QObject, QPointF, Signal

from phexplore.figures.figure import Figure
from phexplore.figures.marks import AnyMark
from phexplore.figures.scales import whole_people_near
from phexplore.figures.walk import Items, Step
from phexplore.gui.figures.map_painter import MapOutlines
from phexplore.gui.figures.pixels import Pixels

_GRIP = 11.0
"""Pixels around a handle in which it can be taken."""


class Choice:
    """The items of a figure, the chosen one, and the one under the pointer.

    Attributes:
        figure: what is shown, None for nothing.
        key: of what is chosen here or elsewhere; a figure may have no item of it.
        here: the chosen item.
        hovered: item under the pointer.
        outlines: of the units of a map.
    """

    def __init__(self) -> None:
        self.figure: Figure | None = None
        self.key: Hashable = None
        self.hovered: int | None = None
        self.outlines = MapOutlines()
        self._items: Items | None = None
        self.here: int | None = None

    @property
    def items(self) -> Items:
        """What can be chosen, found when first asked for.

        Raises:
            ValueError: no figure is shown.
        """
        if self._items is None:
            if self.figure is None:
                raise ValueError("no figure is shown")
            self._items = Items(self.figure)
        return self._items

    @property
    def chosen_key(self) -> Hashable:
        """Key of the chosen item, None for nothing."""
        return None if self.here is None else self.key

    @property
    def row(self) -> int | None:
        """The row of the chosen item, None in a plane."""
        is_row = self.here is not None and self.figure is not None and self.figure.has_rows
        return self.items.rows[self.here] if is_row and self.here is not None else None

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        return "" if self.here is None else self.items.words(self.here)

    @property
    def mark(self) -> AnyMark | None:
        """The chosen mark."""
        return self.mark_of(self.chosen_key)

    def use(self, figure: Figure, *, is_other: bool) -> None:
        """Show another figure; the choice stays where it still makes sense.

        Args:
            figure: to be shown.
            is_other: not the next state of the same picture.
        """
        self.figure, self._items = figure, None
        self.outlines.use(figure.patches)
        if self.key is not None:
            self.here = self.items.find(self.key)
        elif is_other or (self.here is not None and self.here >= len(self.items)):
            self.here = None
        if self.hovered is not None and self.hovered >= len(self.items):
            self.hovered = None

    def set_key(self, key: Hashable) -> None:
        """Choose the item of a key, or none."""
        self.key = key
        self.here = self.items.find(key) if self.figure is not None and key is not None else self.here

    def take(self, item: int) -> None:
        """Choose an item."""
        self.here, self.key = item, self.items.keys[item]

    def step(self, step: Step, page: int) -> int | None:
        """Return the item a key leads to, None where it leads nowhere."""
        return self.items.step(self.here, step, page)

    def mark_of(self, key: Hashable) -> AnyMark | None:
        """Return the mark of a key."""
        if self.figure is None or key is None:
            return None
        return next((mark for mark in self.figure.marks if mark.key == key), None)

    def at(self, point: QPointF, pixels: Pixels) -> int | None:
        """Return the item under a pixel."""
        if self.figure is None or not pixels.area.top() <= point.y() <= pixels.area.bottom():
            return None
        x, y = pixels.value_x(point.x()), pixels.value_y(point.y())
        if self.figure.patches:
            return self.items.find(self.outlines.at(self.figure, x, y))
        return self.items.nearest(x, y, pixels.per_x, pixels.per_y)

    def handled_at(self, point: QPointF, pixels: Pixels) -> AnyMark | None:
        """Return the mark whose handle is under a pixel."""
        if self.figure is None or (item := self.at(point, pixels)) is None:
            return None
        mark = self.mark_of(self.items.keys[item])
        if mark is None or mark.handle is None or mark.is_locked:
            return None
        return mark if abs(pixels.x(self.figure.x.position(mark.handle.x)) - point.x()) <= _GRIP else None


class HandleDrag(QObject):
    """A handle in the hand of the pointer or of a key.

    Signals:
        dragged: key and value, for every new value; merge these edits.
        released: key; the drag ended.
        cancelled: key; undo the merged step.
    """

    dragged = Signal(object, object)
    released = Signal(object)
    cancelled = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._key: Hashable = None
        self.value: float | None = None
        self.is_active = False

    def begin(self, mark: AnyMark) -> None:
        """Take the handle of a mark."""
        self._key, self.value, self.is_active = mark.key, None, True

    def move_to(self, choice: Choice, pixel: float, pixels: Pixels) -> None:
        """Drag to a horizontal pixel, to the roundest number it stands for where the handle takes whole ones.

        Args:
            choice: holds the mark as it is by now.
            pixel: where the pointer is.
            pixels: the map of the plot area.
        """
        mark = choice.mark_of(self._key)
        if choice.figure is None or mark is None or mark.handle is None:
            return
        axis, inside = choice.figure.x, min(max(pixel, pixels.area.left()), pixels.area.right())
        value = axis.value(pixels.value_x(inside))
        if mark.handle.is_whole:
            value = whole_people_near(value, value - axis.value(pixels.value_x(inside - 1)))
        self._set(value, mark.handle.least)

    def nudge(self, mark: AnyMark, steps: int, size: int) -> None:
        """Move the handle of a mark by a key.

        Args:
            mark: whose handle.
            steps: how many, negative to the left.
            size: of a step, in steps of the handle.
        """
        handle = mark.handle
        if handle is None or mark.is_locked:
            return
        if not self.is_active:
            self.begin(mark)
        step = handle.step * size
        value = round((handle.x if self.value is None else self.value) / step + steps) * step
        self._set(round(value) if handle.is_whole else value, handle.least)

    def end(self, *, is_cancelled: bool) -> bool:
        """Let the handle go; return whether it was moved or taken back."""
        was_active, self.is_active = self.is_active, False
        value, self.value = self.value, None
        if not was_active or (value is None and not is_cancelled):
            return False
        (self.cancelled if is_cancelled else self.released).emit(self._key)
        return True

    def _set(self, value: float, least: float) -> None:
        value = max(value, least)
        if value != self.value:
            self.value = value
            self.dragged.emit(self._key, value)
