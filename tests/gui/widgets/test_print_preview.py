"""What is printed is the PDF: the same number of pages, and the same dark parts of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QPageLayout
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QWidget

from phexplore.figures.style import Chart, FigureFormat, sheet_bytes

pdfium = pytest.importorskip("pypdfium2")


@pytest.fixture
def file(tmp_path):
    def draw(target):
        target.subplots().bar([1, 2, 3], [3, 1, 2])

    chart = Chart("bars", "Bars", "Three bars", 6.0, 8.0, draw)
    one, path = pdfium.PdfDocument(sheet_bytes([chart], FigureFormat.PDF)), tmp_path / "bars.pdf"
    two = pdfium.PdfDocument.new()
    for _ in range(2):
        two.import_pages(one)
    two.save(path)
    return path


def test_that_the_pages_of_the_file_are_what_is_printed(qtbot, file, tmp_path):
    from phexplore.gui.widgets.print_preview import PdfPreview, print_pages

    parent = QWidget()
    qtbot.addWidget(parent)
    preview = PdfPreview(parent, file)
    file.unlink()
    preview.open()
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    printer.setFullPage(True)
    print_pages(preview.pages, printer)
    printed = pdfium.PdfDocument(tmp_path / "printed.pdf")
    assert len(printed) == len(preview.pages) == 2
    before = np.asarray(preview.pages[1].render(scale=0.5, grayscale=True).to_numpy()).mean()
    after = np.asarray(printed[1].render(scale=0.5, grayscale=True).to_numpy())
    height = round(after.shape[1] * 8.34 / 6)
    assert abs(after[:height].mean() - before) < 12
    preview.close()


def test_that_a_page_stands_in_the_middle_of_paper_turned_on_its_side(qtbot, file, tmp_path):
    from phexplore.gui.widgets.print_preview import print_pages

    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "printed.pdf"))
    printer.setPageOrientation(QPageLayout.Orientation.Landscape)
    printer.setFullPage(True)
    print_pages(pdfium.PdfDocument(file), printer)
    drawn = np.asarray(pdfium.PdfDocument(tmp_path / "printed.pdf")[0].render(grayscale=True).to_numpy()).squeeze()
    columns = np.flatnonzero((drawn < 200).any(axis=0))
    assert abs((columns[0] + columns[-1]) / 2 - drawn.shape[1] / 2) < 0.05 * drawn.shape[1]
