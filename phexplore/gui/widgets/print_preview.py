"""A PDF before it is printed: the preview shows the very pages of the file, and prints them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QMarginsF, QRectF, Qt
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter
from PySide6.QtPrintSupport import QPrinter, QPrintPreviewDialog
from PySide6.QtWidgets import QComboBox, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.widgets.pointers import PAGE

_MOST_DPI, _POINTS = 200, 72


class PrintingError(PhexploreError):
    """A report cannot be printed from here."""


class PdfPreview(QPrintPreviewDialog):
    """Shows the pages of a PDF and prints them. The file is read at once and may go away."""

    def __init__(self, parent: QWidget, path: Path) -> None:
        """Read the file.

        Args:
            parent: owner.
            path: of the file.

        Raises:
            PrintingError: the library that draws the pages is not installed.
        """
        try:
            import pypdfium2
        except ImportError as error:
            raise PrintingError(
                "The pages cannot be shown: the Python package pypdfium2 is not installed.",
                "Install it with `pip install 'phexplore[pdf]'`, or export the report as PDF and print that.",
            ) from error
        self.pages = pypdfium2.PdfDocument(path.read_bytes())
        # The dialog draws on it to its end and does not own it.
        self._paper = QPrinter(QPrinter.PrinterMode.HighResolution)
        size = QPageSize(QPageSize.PageSizeId.A4)
        self._paper.setPageLayout(QPageLayout(size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
        self._paper.setFullPage(True)
        self._paper.setDocName(path.stem)
        super().__init__(self._paper, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Print {path.stem}")
        self.setProperty(PAGE, "docs/decisions_of_committees.md#the-report")
        self.setAccessibleName(f"Preview of {path.stem}, {len(self.pages)} pages")
        self.paintRequested.connect(lambda target: print_pages(self.pages, target))
        for field in self.findChildren(QComboBox):
            if (zoom := field.lineEdit()) is not None:
                # The room of a field of its own would cut the letters in the one it stands in.
                zoom.setStyleSheet("border: none; padding: 0; background: transparent")
        self.resize(parent.window().size())


def print_pages(pages: Any, printer: QPrinter) -> None:
    """Draw the pages of a PDF, or those that were chosen, on a printer, each as large as its paper and in its middle.

    Args:
        pages: the opened file.
        printer: to draw on.
    """
    painter = QPainter()
    if not painter.begin(printer):
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    first, last = (printer.fromPage() or 1), (printer.toPage() or len(pages))
    for number in range(first, min(last, len(pages)) + 1):
        if number > first:
            printer.newPage()
        image = page_image(pages[number - 1], min(printer.resolution(), _MOST_DPI))
        room = QRectF(painter.viewport())
        size = image.size().scaled(room.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
        shown = QRectF(0, 0, size.width(), size.height())
        shown.moveCenter(room.center())
        painter.drawImage(shown, image)
    painter.end()


def page_image(page: Any, dpi: int) -> QImage:
    """Return a page of a PDF as a picture.

    Args:
        page: of an opened file.
        dpi: dots per inch.
    """
    drawn = page.render(scale=dpi / _POINTS, rev_byteorder=True)
    form = QImage.Format.Format_RGBA8888 if drawn.n_channels == 4 else QImage.Format.Format_RGB888
    return QImage(bytes(drawn.buffer), drawn.width, drawn.height, drawn.stride, form).copy()
