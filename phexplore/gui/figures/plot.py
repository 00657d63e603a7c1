"""The plot area of a figure: a canvas that paints it, the scroll bar of its rows, and what is chosen in it."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.figures.axis import Scale
from phexplore.figures.figure import Figure
from phexplore.figures.marks import AnyMark, Path, looks_like
from phexplore.figures.walk import Items
from phexplore.gui.figures.axes import RowAxis
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.choice import Choice, HandleDrag
from phexplore.gui.figures.gestures import Gestures
from phexplore.gui.figures.layers import FigureLayers
from phexplore.gui.figures.row_bar import RowBar
from phexplore.gui.figures.viewport import Viewport
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import HALF
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.speech import Spoken, announce, speak_as

_STILL = 1 / 8
"""Pixels a stroke may move before it is painted again; what is seen is never more than twice this off."""


class Plot(QWidget):
    """A canvas that shows one `Figure`, and the scroll bar of its rows.

    Signals:
        chosen: key of the mark the user chose; None where it has none.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        speak_as(Canvas, _Spoken)
        self.canvas, self.axis, self.bar = Canvas(), RowAxis(), RowBar()
        self.viewport = Viewport(self.canvas, self.axis, self.bar, self)
        self.drag = HandleDrag(self)
        self._choice = Choice()
        self._painted: list[AnyMark] = []
        self._painted_at: tuple[QRectF, QRectF] | None = None
        self._layers = FigureLayers(self.canvas, self.viewport, self._choice, self.drag)
        self.gestures = Gestures(self.canvas, self.viewport, self._choice, self.drag, self)
        self.gestures.item_taken.connect(self.choose_item)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self.bar)
        self.canvas.resized.connect(self.fit)
        appearance().changed.connect(self._recolour)

    # What is shown

    @property
    def upright(self) -> int:
        """Pixels that names of columns take above the rows, beyond one line of text."""
        view, axis = self.canvas.view, self.canvas.bottom_axis
        return max(0, axis.rise(view.left(), view.right()) - HALF - round(lettering().height))

    @property
    def figure(self) -> Figure | None:
        """What is shown."""
        return self._choice.figure

    @property
    def items(self) -> Items:
        """What can be chosen."""
        return self._choice.items

    @property
    def chosen_key(self) -> Hashable:
        """Key of what is chosen, None for nothing."""
        return self._choice.chosen_key

    @property
    def chosen_words(self) -> str:
        """What is chosen, in words."""
        return self._choice.words

    def show_figure(self, figure: Figure) -> None:
        """Show another figure; zoom and choice stay where they still make sense."""
        before, canvas = self._choice.figure, self.canvas
        is_other = before is None or before.id != figure.id or before.has_rows is not figure.has_rows
        if before is None or (before.x, before.y) != (figure.x, figure.y):
            is_plain, rows = not (figure.cells or figure.patches), self.axis if figure.has_rows else None
            lines = {"vertical": is_plain, "horizontal": is_plain and rows is None}
            canvas.use_axes(figure.x, figure.y, rows, **lines, names_above=bool(figure.cells))
        self._choice.use(figure, is_other=is_other)
        self._layers.use(figure)
        self.bar.use(figure)
        if self.viewport.use(figure, is_other=is_other) and before is not None:
            self._refresh_changed(before, figure)
        else:
            self._refresh_all(figure)
        self._mark_row()

    def choose_key(self, key: Hashable) -> None:
        """Show this mark as chosen elsewhere; nothing is announced."""
        if key != self._choice.key:
            self._choice.set_key(key)
            self._show_choice()

    def choose_found(self, key: Hashable) -> None:
        """Choose the mark of a key, and announce it."""
        if (item := self.items.find(key)) is not None:
            self.choose_item(item)

    def choose_item(self, item: int) -> None:
        """Choose a mark by its place in the walk, and announce it."""
        if self.figure is None or not 0 <= item < len(self.items) or item == self._choice.here:
            return
        self._choice.take(item)
        self._show_choice()
        describe(self.canvas, more=self._choice.words)
        announce(self.canvas, self._choice.words)
        self.chosen.emit(self._choice.key)

    def fit(self) -> None:
        """Follow the size of the canvas and of letters; what is chosen stays in sight."""
        was_hidden, layout = self.bar.isHidden(), self.layout()
        self._layers.fit_key()
        self.viewport.fit()
        if self.bar.isHidden() is not was_hidden and layout is not None:
            # Shown while the layout gives room to the canvas, it would keep the room that it had hidden: none.
            layout.invalidate()
        if self._choice.row is not None:
            self.viewport.make_visible(self._choice.row)

    def _recolour(self, colours: Colours) -> None:
        self.canvas.recolour(colours)
        self.axis.fit()
        self.fit()

    def _show_choice(self) -> None:
        self._mark_row()
        self.canvas.refresh()
        if self._choice.row is not None:
            self.viewport.make_visible(self._choice.row)

    def _mark_row(self) -> None:
        row = self._choice.row
        if row != self.axis.chosen:
            self.axis.chosen = row
            self.axis.update()

    def _refresh_all(self, figure: Figure) -> None:
        self._painted, self._painted_at = list(figure.marks), (self.canvas.view, self.canvas.area)
        self.canvas.refresh()

    def _refresh_changed(self, before: Figure, after: Figure) -> None:
        """Paint the rows that look different from what was painted, or the names of lines: a repaint of all costs 5 ms.

        One edit changes one row, and shares and curves by less than can be seen. They are compared with what was painted
        and not with the figure before, so that small steps do not add up unseen; zoomed in, they are seen.
        """
        around = [
            (each.under, each.over, each.cells, each.points, each.patches, each.key, each.row_numbers)
            for each in (before, after)
        ]
        pixels = self.canvas.pixels
        is_seen_alike = around[0] == around[1] and self._painted_at == (pixels.view, pixels.area)
        if not is_seen_alike or after.patches or (self._choice.here is not None and not after.has_rows):
            self._refresh_all(after)
            return
        near = (
            _STILL / pixels.per_x if after.x.scale is Scale.LINEAR else 0.0,
            _STILL / pixels.per_y if after.y.scale is Scale.LINEAR else 0.0,
        )
        changed: set[int] = set()
        for row, shown, mark in zip(after.row_numbers, self._painted, after.marks, strict=True):
            if row not in changed and not looks_like(mark, shown, near, is_text_seen=after.has_rows):
                changed.add(row)
        if changed and not after.has_rows:
            self._refresh_all(after)
        elif changed:
            self._painted = [
                mark if row in changed else shown
                for row, shown, mark in zip(after.row_numbers, self._painted, after.marks, strict=True)
            ]
            self.viewport.refresh_rows(changed)
        elif not after.has_rows:
            ends = [part.xs[-1] for mark in after.marks for part in mark.parts if isinstance(part, Path) and part.xs]
            area = QRectF(pixels.area)
            if ends:  # names of lines stand right of them
                area.setLeft(pixels.x(after.x.position(min(ends))) - 2)
            self.canvas.refresh(area)


class _Spoken(Spoken):
    """A canvas to a screen reader: a chart whose value is the chosen mark in words."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas, QAccessible.Role.Chart)

    def words(self) -> str:
        plot = self.widget().parent()
        return plot.chosen_words if isinstance(plot, Plot) else ""
