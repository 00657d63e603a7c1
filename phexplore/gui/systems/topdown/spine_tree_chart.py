"""The tree of a spine as an icicle: one row per level, one interval per unit, as wide as its blocks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from phexplore.figures.figure import RowLabel
from phexplore.gui.figures.axes import RowAxis
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.colours import blended, categories_on, ink_on
from phexplore.gui.figures.frame import ChartFrame
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.systems.topdown.spine_tree import Fill, Run, SpineTree, Unit, zoomed
from phexplore.gui.systems.topdown.spine_views import TreeContent
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP
from phexplore.systems.topdown.wording import plural_level

_ZOOM = 0.8
_KEY_ROW = 0.6
"""Room above the root for what the looks mean, as a part of a row."""
_LEGEND = {
    Fill.OWN: "its level's budget",
    Fill.RAISED: "bypassed: budget of its only child added",
    Fill.COPIED: "copies its parent, not measured",
    Fill.ADDED: "added to make up the area",
    Fill.SUBTRACTED: "subtracted",
}
_TEACHING = "The units of the spine appear here, level below level."


class _LowCanvas(Canvas):
    """A canvas that is content with a few rows."""

    def sizeHint(self) -> QSize:
        return QSize(480, 200)


class SpineTreeChart(ChartFrame):
    """The picture, with zoom by wheel, drag and keys, and a chosen unit.

    Signals:
        unit_chosen: the `Unit` under inspection.
    """

    unit_chosen = Signal(object)

    def __init__(self, name: str, teaching: str = _TEACHING, parent: QWidget | None = None) -> None:
        self._axis = RowAxis()
        self._tree: SpineTree | None = None
        self._chosen: Unit | None = None
        self._view = (0.0, 1.0)
        self._pointer = QPointF()
        self._dragged_from: tuple[float, tuple[float, float]] | None = None
        self._has_moved = False
        canvas = _LowCanvas(left=self._axis)
        super().__init__(name, teaching, canvas, parent)
        canvas.set_handler(self)
        canvas.setMouseTracking(True)
        canvas.set_grid(vertical=False, horizontal=False)
        canvas.set_axis_labels("blocks, in the order of the spine", "")
        canvas.bottom_axis.set_scale(lambda value: f"{value:,.0f}" if value == round(value) else "")
        canvas.add_layer(self._draw)
        canvas.resized.connect(self._fit_labels)

    @property
    def tree(self) -> SpineTree | None:
        """The tree that is shown."""
        return self._tree

    @property
    def chosen(self) -> Unit | None:
        """The unit under inspection."""
        return self._chosen

    @property
    def seen(self) -> tuple[float, float]:
        """The range of blocks that is seen."""
        return self._view

    def show_tree(self, content: TreeContent) -> None:
        """Show another tree; zoom and choice stay where they still make sense."""
        before, kept = self._tree, None
        if before is not None and self._chosen is not None:
            kept = (before.levels[self._chosen.level].name, before.code(self._chosen))
        tree = self._tree = SpineTree(content)
        if before is None or before.blocks != tree.blocks:
            self._view = (0.0, float(tree.blocks))
        self._chosen = tree.find(*kept) if kept is not None else None
        if self._chosen is None:
            self._chosen = Unit(0, 0)
        self._axis.set_labels(tuple(RowLabel("", label) for label in tree.labels()))
        self.show_finding(self._finding(tree), self._sentence(tree), tree.level_numbers)
        self._show_range()
        self.unit_chosen.emit(self._chosen)

    def choose(self, unit: Unit) -> None:
        """Inspect a unit, and bring it into view."""
        tree = self._tree
        if tree is None:
            return
        self._chosen = unit
        first, last = tree.interval(unit)
        low, high = self._view
        if last <= low or first >= high:
            middle, half = (first + last) / 2, (high - low) / 2
            self._view = zoomed(middle - half, middle + half, 1.0, middle, tree.blocks)
        self._show_range()
        self.unit_chosen.emit(unit)

    def zoom(self, factor: float, at: float | None = None) -> None:
        """Show more (factor above 1) or fewer blocks around a place, by default the chosen unit or the middle."""
        tree = self._tree
        if tree is None:
            return
        low, high = self._view
        if at is None:
            at = (low + high) / 2
            if self._chosen is not None:
                first, last = tree.interval(self._chosen)
                middle = (first + last) / 2
                at = middle if low <= middle <= high else at
        self._view = zoomed(low, high, factor, at, tree.blocks)
        self._show_range()

    def zoom_to(self, unit: Unit) -> None:
        """Let a unit fill the picture."""
        if self._tree is not None:
            first, last = self._tree.interval(unit)
            room = max((last - first) * 0.02, 0.5)
            self._view = zoomed(first - room, last + room, 1.0, (first + last) / 2, self._tree.blocks)
            self._show_range()

    def show_all(self) -> None:
        """Show every block."""
        if self._tree is not None:
            self._view = (0.0, float(self._tree.blocks))
            self._show_range()

    # Pointer and keys: what a Handler of the canvas does

    def pointer_pressed(self, point: QPointF) -> None:
        self._dragged_from = (point.x(), self._view)
        self._has_moved = False

    def pointer_moved(self, point: QPointF) -> None:
        self._pointer = point
        tree = self._tree
        if tree is None:
            return
        if self._dragged_from is not None:
            start, (low, high) = self._dragged_from
            shift = (start - point.x()) / max(self.canvas.area.width(), 1.0) * (high - low)
            self._has_moved = self._has_moved or abs(start - point.x()) > GAP / 2
            if self._has_moved:
                self._view = zoomed(low + shift, high + shift, 1.0, (low + high) / 2 + shift, tree.blocks)
                self._show_range()
            return
        unit = self._unit_at(point)
        if unit is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(self.canvas.mapToGlobal(point.toPoint()), tree.sentence(unit), self.canvas)

    def pointer_released(self, point: QPointF) -> None:
        was_drag, self._dragged_from = self._has_moved, None
        if not was_drag and (unit := self._unit_at(point)) is not None:
            self.choose(unit)

    def pointer_left(self) -> None:
        """Nothing follows the pointer."""

    def pointer_double_clicked(self, point: QPointF) -> None:
        if (unit := self._unit_at(point)) is not None:
            self.choose(unit)
            self.zoom_to(unit)

    def wheel_turned(self, steps: int) -> bool:
        tree = self._tree
        if tree is None or not steps:
            return False
        at = self.canvas.pixels.value_x(self._pointer.x())
        inside = self._view[0] <= at <= self._view[1]
        self.zoom(_ZOOM ** (-steps / 3), at if inside else None)
        return True

    def key_used(self, event: QKeyEvent) -> bool:
        tree, unit = self._tree, self._chosen
        if event.type() is QKeyEvent.Type.KeyRelease or tree is None or unit is None:
            return False
        moves: dict[Qt.Key, Callable[[], Unit | None]] = {
            Qt.Key.Key_Up: lambda: tree.parent(unit),
            Qt.Key.Key_Down: lambda: tree.first_child(unit),
            Qt.Key.Key_Left: lambda: tree.sibling(unit, -1),
            Qt.Key.Key_Right: lambda: tree.sibling(unit, 1),
            Qt.Key.Key_PageUp: lambda: tree.sibling(unit, -10),
            Qt.Key.Key_PageDown: lambda: tree.sibling(unit, 10),
        }
        key = Qt.Key(event.key())
        if key in moves:
            if (target := moves[key]()) is not None:
                self.choose(target)
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.zoom_to(unit)
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom(_ZOOM)
        elif key is Qt.Key.Key_Minus:
            self.zoom(1 / _ZOOM)
        elif key is Qt.Key.Key_Home or (key is Qt.Key.Key_Escape and self._view[1] - self._view[0] < tree.blocks):
            self.show_all()
        else:
            return False
        return True

    def _unit_at(self, point: QPointF) -> Unit | None:
        pixels = self.canvas.pixels
        if self._tree is None or not pixels.area.contains(point):
            return None
        return self._tree.unit_at(round(-pixels.value_y(point.y())), pixels.value_x(point.x()))

    def _show_range(self) -> None:
        if self._tree is not None:
            self.canvas.show_range(self._view, (-len(self._tree.levels) + 0.5, 0.5 + _KEY_ROW))
            self._axis.chosen = self._chosen.level if self._chosen is not None else None
            self._axis.update()
            self.canvas.refresh()

    def _fit_labels(self) -> None:
        self._axis.set_room(self.canvas.width())

    @staticmethod
    def _finding(tree: SpineTree) -> str:
        counts = [f"{len(level.codes):,} {plural_level(level.name, len(level.codes))}" for level in tree.levels]
        return f"This spine has {', '.join(counts[1:] or counts)}"

    @staticmethod
    def _sentence(tree: SpineTree) -> str:
        bypassed = sum(units for _, units in tree.content.bypassed)
        first = f"{bypassed:,} units were bypassed. " if bypassed else ""
        area = ""
        if tree.content.area:
            area = f"{tree.content.parts:,} units make up {tree.content.area}. "
        return f"{first}{area}Arrows walk the tree, + and − zoom, Enter fills the picture with a unit, Home shows all."

    # Drawing

    def _draw(self, painter: QPainter, pixels: Pixels, colours: Colours) -> None:
        tree = self._tree
        if tree is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        columns = max(int(pixels.area.width()), 1)
        for number in range(len(tree.levels)):
            top, bottom = pixels.y(-number + 0.42), pixels.y(-number - 0.42)
            for run in tree.runs(number, *self._view, columns):
                self._draw_run(
                    painter,
                    QRectF(pixels.area.left() + run.left, top, run.right - run.left, bottom - top),
                    run,
                    colours,
                )
            self._draw_codes(painter, pixels, number, tree, colours)
        if self._chosen is not None:
            self._draw_chosen(painter, pixels, tree, self._chosen, colours)
        self._draw_key(painter, pixels, tree, colours)

    def _draw_run(self, painter: QPainter, room: QRectF, run: Run, colours: Colours) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(_colour(run.fill, colours, odd=run.odd)))
        painter.drawRect(room)
        if run.fill in {Fill.COPIED, Fill.SUBTRACTED}:
            pattern = Qt.BrushStyle.BDiagPattern if run.fill is Fill.COPIED else Qt.BrushStyle.DiagCrossPattern
            painter.setBrush(QBrush(QColor(blended(colours.muted, colours.base, 0.5)), pattern))
            painter.drawRect(room)
        if room.width() >= 3:
            painter.setPen(QPen(QColor(colours.base), 1))
            painter.drawLine(room.topRight(), room.bottomRight())

    def _draw_codes(self, painter: QPainter, pixels: Pixels, number: int, tree: SpineTree, colours: Colours) -> None:
        """Write the codes of units that are wide enough."""
        low, high = self._view
        first, last = tree.unit_at(number, max(low, 0.0)), tree.unit_at(number, min(high, tree.blocks) - 1e-9)
        if first is None or last is None:
            return
        widest = (high - low) / max(pixels.area.width(), 1.0) * lettering().width("000000")
        if (last.place - first.place + 1) * widest > 4 * (high - low):
            return
        for place in range(first.place, last.place + 1):
            unit = Unit(number, place)
            begin, end = tree.interval(unit)
            left, right = max(pixels.x(begin), pixels.area.left()), min(pixels.x(end), pixels.area.right())
            code = tree.code(unit)
            for text in (code, code[-6:], code[-4:]):
                if lettering().width(text) + GAP <= right - left:
                    ink = ink_on(_colour(tree.fill(unit), colours, odd=bool(place % 2)))
                    draw_text(painter, QPointF((left + right) / 2, pixels.y(-number)), text, ink, align=0.5)
                    break

    def _draw_chosen(self, painter: QPainter, pixels: Pixels, tree: SpineTree, unit: Unit, colours: Colours) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for each in tree.path(unit)[: unit.level + 1]:
            begin, end = tree.interval(each)
            left, right = pixels.x(begin), pixels.x(end)
            room = QRectF(left, pixels.y(-each.level + 0.42), max(right - left, 2.0), 0)
            room.setBottom(pixels.y(-each.level - 0.42))
            painter.setPen(QPen(QColor(colours.text), 3 if each == unit else 1))
            painter.drawRect(room.adjusted(0, 0, -1, -1).intersected(pixels.area.adjusted(-2, -2, 2, 2)))

    def _draw_key(self, painter: QPainter, pixels: Pixels, tree: SpineTree, colours: Colours) -> None:
        """Say above the root's row what the looks mean; only those that occur."""
        used = [fill for fill in Fill if fill is not Fill.OWN and tree.uses(fill)]
        x = pixels.area.left() + GAP
        height = lettering().height
        top = max(pixels.y(0.5 + _KEY_ROW / 2) - height / 2, pixels.area.top())
        for fill in used:
            words = _LEGEND[fill]
            room = lettering().width(words) + height + 3 * GAP
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.base))
            painter.drawRect(QRectF(x - GAP / 2, top, room - GAP, height + 2))
            self._draw_run(painter, QRectF(x, top + 2, height - 2, height - 3), Run(0, 1, fill), colours)
            draw_text(painter, QPointF(x + height + GAP / 2, top + height / 2 + 1), words, colours.text)
            x += room


def _colour(fill: Fill, colours: Colours, *, odd: bool = False) -> str:
    first, second, *more = categories_on(colours)
    if fill is Fill.OWN:
        return blended(first, colours.base, 0.34 if odd else 0.22)
    if fill is Fill.RAISED:
        return blended(first, colours.base, 0.85 if odd else 0.75)
    if fill is Fill.COPIED:
        return blended(colours.muted, colours.base, 0.25)
    ink = second if fill is Fill.ADDED else (more or [second])[0]
    return blended(ink, colours.base, 0.9 if odd else 0.8)
