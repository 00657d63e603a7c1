"""The key of the population-group levels: a swatch and a word each, hatched for states."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from phexplore.gui.charts.colours import LevelMark, ink_on, level_mark
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.lettering import draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF, MARGIN
from phexplore.model.keys import LEVELS, Iteration, Region

SWATCH = 12
THINNEST_HATCH = 3.0
"""Where a hatch would not be seen, in pixels."""


def paint_mark(painter: QPainter, area: QRectF, mark: LevelMark) -> None:
    """Fill a rectangle with the look of a level."""
    painter.fillRect(area, QColor(mark.fill))
    if mark.hatched and area.width() > THINNEST_HATCH:
        painter.fillRect(area, _hatch(mark.fill))


@lru_cache(maxsize=32)
def _hatch(fill: str) -> QBrush:
    ink = QColor(ink_on(fill))
    ink.setAlphaF(0.28)
    return QBrush(ink, Qt.BrushStyle.BDiagPattern)


class LevelKey(QWidget):
    """One line: Nation with its three iterations, State with its three."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Key of the levels")
        self.setAccessibleDescription("Nation plain and blue, State hatched and orange; A-G lighter, H-I lightest.")
        appearance().changed.connect(self._follow_theme)

    def sizeHint(self) -> QSize:
        return QSize(round(lettering().width("Nation all A-G H-I State all A-G H-I") + 9 * MARGIN), 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, round(lettering().height) + HALF)

    def paintEvent(self, event: QPaintEvent) -> None:
        _ = event
        painter, colours = QPainter(self), appearance().colours
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = 0.0, self.height() / 2
        for region in Region:
            draw_text(painter, QPointF(x, y), region.title, colours.muted)
            x += lettering().width(region.title) + GAP
            for level in (level for level in LEVELS if level.region is region):
                paint_mark(painter, QRectF(x, y - SWATCH / 2, SWATCH, SWATCH), level_mark(level, colours))
                word = "all" if level.iteration is Iteration.ALL else level.iteration.title
                draw_text(painter, QPointF(x + SWATCH + HALF, y), word, colours.text)
                x += SWATCH + HALF + lettering().width(word) + GAP
            x += MARGIN
        painter.end()

    def _follow_theme(self, _colours: object) -> None:
        self.updateGeometry()
        self.update()
