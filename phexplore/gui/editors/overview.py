"""The overview of a system: what it costs, what it gives, what is promised, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from phexplore.gui.editors.changes_panel import ChangesPanel
from phexplore.gui.editors.live_figure import LiveFigure
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.layout import Lean, column, row
from phexplore.gui.widgets.page import picture_height, scrolling

_Part = TypeVar("_Part", bound=QWidget)
Column = tuple[int, Sequence[tuple[QWidget, int]]]
"""Part of the width, and widgets with their parts of the height; 0 for what is as high as its text."""
_COLUMN = 46 * GRID
"""Least width of a picture beside another at normal text size."""
_THIRD = 54 * GRID
"""Where there is so much for each of three, none stands below another: each keeps its height on a large screen."""
_STACKED = 34 * GRID
"""Height of a picture where they stand below each other."""
_LEAST = 11 * GRID
"""Least height of a plot at normal text size: some rows or ticks, and its axis."""
_PEEK = 4 * GRID
"""What is seen of the parts below the first pictures, so that one knows that there is more."""
_LINES = 20 * GRID
"""Least height of a list below them: its head and some lines."""


class Overview(QWidget):
    """Pictures and sentences in two columns, in three on a large screen, below each other where there is no room.

    Where the columns are higher than the page, the first of each stand beside each other, whole, and the others in a row below them.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__()
        self._of_columns = [parts for _, parts in columns]
        self._parts = [part for parts in self._of_columns for part in parts]
        content = Lean()
        self._inner = [column(*parts) for parts in self._of_columns]
        self._columns = row(*((inner, width) for inner, (width, _) in zip(self._inner, columns, strict=True)))
        self._rest = row()
        column((self._columns, 1), self._rest, of=content, margins=(MARGIN, GRID, MARGIN, GRID))
        self._of_pictures = [
            (number, width, self._inner[number])
            for number, (width, parts) in enumerate(columns)
            if len(parts) > 1 and all(isinstance(part, LiveFigure) for part, _ in parts)
        ]
        self._is_low = False
        self._room: tuple[int, ...] = ()
        self._page = scrolling("Overview", content)
        column(self._page, of=self)
        # Once the layout that resizes a picture is done: parts taken out of it meanwhile brought the program down.
        self._after_layout = QTimer(self, singleShot=True, interval=0)
        self._after_layout.timeout.connect(self._fit)
        for chart in self.charts:
            # The parts of the height are those of the columns, not of what a picture would like to have.
            chart.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
            chart.canvas.resized.connect(self._refit)  # names stand up or lie down with its width
        appearance().changed.connect(self._fit)
        self._fit()

    @property
    def charts(self) -> tuple[LiveFigure, ...]:
        """All pictures of the page."""
        return tuple(self._of(LiveFigure))

    @property
    def changes(self) -> ChangesPanel:
        """The list of differences."""
        return next(self._of(ChangesPanel))

    def chart(self, name: str) -> LiveFigure:
        """Return a picture by its id."""
        return next(chart for chart in self.charts if chart.id == name)

    def refresh(self) -> None:
        """Draw what the session shows."""
        for chart in self.charts:
            chart.refresh()
        self.changes.refresh()
        self._fit()

    def stop(self) -> None:
        """Finish what is being drawn, because the window closes."""
        for chart in self.charts:
            chart.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _of(self, kind: type[_Part]) -> Iterator[_Part]:
        return (part for part, _ in self._parts if isinstance(part, kind))

    def _refit(self) -> None:
        """Lay out anew where the page has another room than before; an edit that takes a line of a picture moves nothing."""
        room = self.width(), self._page.viewport().height(), *(chart.plot.upright for chart in self.charts)
        if room != self._room:
            self._room = room
            self._after_layout.start()

    def _fit(self, _colours: object = None) -> None:
        """Put the pictures below each other where two beside each other would be too narrow for the text size."""
        scale = appearance().scale
        for chart in self.charts:
            chart.setVisible(chart.is_offered)
        is_narrow = self.width() < 2 * _COLUMN * scale // 100
        directions = QBoxLayout.Direction
        self._columns.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        least = picture_height(self)
        room = self._page.viewport().height() - 2 * GRID
        is_wide = self.width() >= (len(self._columns.children()) + 1) * _THIRD * scale // 100
        self._lay_low(not is_narrow and self._height(least, is_wide) > room)
        is_wide = is_wide and not self._is_low
        for number, width, inner in self._of_pictures:
            inner.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)
            offered = sum(isinstance(part, LiveFigure) and part.is_offered for part, _ in self._of_columns[number])
            self._columns.setStretch(number, width * offered if is_wide else width)
        for chart in self.charts:
            chart.canvas.setMinimumHeight(_LEAST * scale // 100)
        for parts in self._of_columns:
            for place, (part, height) in enumerate(parts):
                if height:
                    text = _LINES * scale // 100 if self._is_low else 0
                    own = least if isinstance(part, LiveFigure) else text
                    whole = room - _PEEK if self._is_low and place == 0 else 0
                    names = part.plot.upright if isinstance(part, LiveFigure) else 0
                    stacked = _STACKED * scale // 100 if is_narrow else 0
                    part.setMinimumHeight(max(max(own, stacked) + names, 0 if is_narrow else whole))

    def _height(self, least: int, is_wide: bool) -> int:
        """Return how high the highest column is, where pictures have their least height, on a large screen side by side."""
        beside = {number for number, _, _ in self._of_pictures} if is_wide else set()
        return max(
            (max if number in beside else sum)(
                0 if part.isHidden() else GRID + (least if isinstance(part, LiveFigure) else part.sizeHint().height())
                for part, _ in parts
            )
            for number, parts in enumerate(self._of_columns)
        )

    def _lay_low(self, is_low: bool) -> None:
        """Lay all but the first part of each column in a row below, or back into the columns."""
        if is_low == self._is_low:
            return
        self._is_low = is_low
        for inner, parts in zip(self._inner, self._of_columns, strict=True):
            for part, height in parts[1:]:
                if is_low:
                    self._rest.addWidget(part, 1)
                else:
                    inner.addWidget(part, height)
