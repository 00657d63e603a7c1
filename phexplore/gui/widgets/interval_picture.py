"""Several intervals around zero on one scale, with their numbers: how far apart conventions are."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.theme.number_style import localised

Interval = tuple[str, float | None, str, bool]
"""Name, half-width (None = not defined), its text, and whether it is the one that counts."""


class IntervalPicture(QWidget):
    """One line per interval: name, bar, number. The one that counts is in the accent colour and bold."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._intervals: tuple[Interval, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        appearance().changed.connect(self._on_appearance)

    def show_intervals(self, intervals: Sequence[Interval]) -> None:
        """Show these intervals."""
        before, self._intervals = self._intervals, tuple(intervals)
        spoken = ", ".join(f"{name} {text}" for name, _, text, _ in self._intervals)
        self.setAccessibleName(f"{self._name}: {spoken}" if spoken else self._name)
        self.setVisible(bool(self._intervals))
        if len(before) != len(self._intervals):  # the same height needs no new layout
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(30 * GRID, self._line_height() * len(self._intervals))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = appearance().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        widest = max((width for _, width, _, _ in self._intervals if width is not None), default=0.0) or 1.0
        letters = lettering(bold=True)
        left = max((letters.width(name) for name, *_ in self._intervals), default=0.0) + 2 * GRID
        right = max((letters.width(text) for _, _, text, _ in self._intervals), default=0.0) + GRID
        height = self._line_height()
        middle = left + (self.width() - left - right) / 2
        half = (self.width() - left - right) / 2 - GRID
        for number, (name, width, text, counts) in enumerate(self._intervals):
            line = QRectF(0, number * height, self.width(), height)
            painter.setFont(appearance().font(bold=counts))
            painter.setPen(QColor(colours.text if counts else colours.muted))
            painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)
            painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), localised(text))
            if width is not None:
                reach = half * width / widest
                ink = QColor(colours.accent_ink if counts else colours.ghost)
                y = line.center().y()
                painter.setPen(QPen(ink, 2))
                painter.drawLine(QPointF(middle - reach, y), QPointF(middle + reach, y))
                for end in (middle - reach, middle + reach):
                    painter.drawLine(QPointF(end, y - 5), QPointF(end, y + 5))
        painter.setPen(QPen(QColor(colours.border), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(middle, 0), QPointF(middle, self.height()))
        painter.end()

    def _line_height(self) -> int:
        return round(lettering().height) + GRID

    def _on_appearance(self) -> None:
        self.updateGeometry()
        self.update()
