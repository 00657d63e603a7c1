"""What is printed is the PDF: the same number of pages, and the same dark parts of the paper."""

from __future__ import annotations

import numpy as np
import pytest
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
