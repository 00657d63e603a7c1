"""A chart as it leaves the window: title, sentence and picture below each other, on paper of the theme."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter, QPixmap

from phexplore.errors import PhexploreError
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import HALF, MARGIN
from phexplore.gui.theme.number_style import localised, wrappable
from phexplore.gui.widgets.labels import Paragraph

_DPI = 96
"""Vector files use the resolution of the screen: recorded parts of a plot are scaled by the ratio of the two."""
_FILE_SCALE = 3.0


class PictureError(PhexploreError):
    """A picture could not be written."""


class Sheet:
    """Two lines of words over a plot."""

    def __init__(self, words: Sequence[Paragraph], canvas: Canvas) -> None:
        """Take what stands on the sheet.

        Args:
            words: title and sentence.
            canvas: the plot.
        """
        self._canvas = canvas
        self._lines: list[tuple[QRect, Paragraph]] = []
        self._top = MARGIN
        for label in words:
            area = QRect(MARGIN, self._top, canvas.width(), 10_000)
            used = QFontMetrics(label.font()).boundingRect(
                area, Qt.TextFlag.TextWordWrap, wrappable(localised(label.text()))
            )
            self._lines.append((QRect(MARGIN, self._top, canvas.width(), used.height()), label))
            self._top += used.height() + HALF
        self._size = QSize(canvas.width() + 2 * MARGIN, self._top + canvas.height() + MARGIN)

    def image(self, scale: float) -> QPixmap:
        """Return the sheet as an image.

        Args:
            scale: pixels per screen pixel.
        """
        image = QPixmap(self._size * scale)
        image.setDevicePixelRatio(scale)
        self._paint_on(image)
        return image

    def save(self, path: Path) -> None:
        """Write the sheet as PNG, SVG or PDF, by the suffix.

        Raises:
            PictureError: another suffix, or the file cannot be written.
        """
        title, summary = (label.text() for _, label in self._lines)
        match path.suffix.lower():
            case ".png":
                done = self.image(_FILE_SCALE).save(str(path))
            case ".svg":
                from PySide6.QtSvg import QSvgGenerator

                drawing = QSvgGenerator()
                drawing.setFileName(str(path))
                drawing.setResolution(_DPI)
                drawing.setSize(self._size)
                drawing.setViewBox(QRect(QPoint(0, 0), self._size))
                drawing.setTitle(title)
                drawing.setDescription(summary)
                done = self._paint_on(drawing)
            case ".pdf":
                page = QPdfWriter(str(path))
                page.setResolution(_DPI)
                page.setTitle(title)
                size = QPageSize(QSize(round(self._size.width() * 0.75), round(self._size.height() * 0.75)))
                page.setPageLayout(QPageLayout(size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
                done = self._paint_on(page)
            case suffix:
                raise wrong_suffix(suffix)
        if not done:
            raise PictureError(f"{path} could not be written.", "Choose another folder, or free some space.")

    def _paint_on(self, device: QPaintDevice) -> bool:
        painter = QPainter()
        if not painter.begin(device):
            return False
        colours = appearance().colours
        painter.fillRect(QRect(QPoint(0, 0), self._size), QColor(colours.base))
        for (area, label), colour in zip(self._lines, (colours.text, colours.muted), strict=True):
            painter.setFont(label.font())
            painter.setPen(QColor(colour))
            painter.drawText(area, Qt.TextFlag.TextWordWrap, wrappable(localised(label.text())))
        painter.translate(MARGIN, self._top)
        self._canvas.paint_on(painter)
        return painter.end()


def wrong_suffix(suffix: str) -> PictureError:
    """Return what is said of a file of another kind."""
    return PictureError(f"A picture cannot be saved as {suffix!r}.", "Choose .png, .svg, .pdf, .pptx or .xlsx.")
