from __future__ import annotations

import zipfile

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtSvg import QSvgRenderer

from phexplore.figures.figure import row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.gui.figures.sheet import PictureError
from phexplore.gui.figures.view import FigureView

NUMBERS = Table(("a", "b"), ((1, 2), (3, 4)))


def finding(title="a", summary="b", numbers=NUMBERS):
    return row_figure("rows", [Row("k", "g", "n", 1.0)], "people", title, summary, numbers)


@pytest.fixture
def frame(qtbot):
    found = FigureView("Test chart", "What will be here.")
    qtbot.addWidget(found)
    found.resize(500, 300)
    found.show()
    return found


def test_that_an_empty_chart_teaches_and_offers_no_copy(frame):
    assert frame.is_empty
    assert frame.accessibleDescription() == "What will be here."
    assert not frame._copy_button.isEnabled()
    assert frame.numbers.rows == ()


def test_that_a_finding_is_title_sentence_and_table(frame):
    frame.show_figure(finding("The finding", "One sentence."))
    assert not frame.is_empty
    assert (frame.title, frame.summary, frame.numbers) == ("The finding", "One sentence.", NUMBERS)
    for widget in (frame, frame.canvas, frame.table):
        assert widget.accessibleDescription() == "The finding. One sentence."


def test_that_the_table_is_made_only_when_somebody_looks(frame):
    made = []

    def numbers():
        made.append(1)
        return NUMBERS

    frame.show_figure(finding(numbers=numbers))
    frame.show_figure(finding(numbers=numbers))
    assert made == []
    frame.show_table(visible=True)
    assert made == [1]
    assert frame.table.isVisible()
    frame.show_figure(finding(numbers=numbers))
    assert made == [1, 1]


def test_that_the_numbers_are_copied_with_headers(frame):
    frame.show_figure(finding())
    frame.menu.copy_numbers()
    assert QGuiApplication.clipboard().text() == "a\tb\n1\t2\n3\t4\n"


def test_that_the_picture_is_copied_sharper_than_the_screen(frame):
    frame.show_figure(finding("A title", "b"))
    frame.menu.copy_picture()
    image = QGuiApplication.clipboard().image()
    assert image.width() >= 2 * frame.canvas.width()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_that_the_picture_is_saved_by_its_suffix(frame, tmp_path, suffix):
    frame.show_figure(finding("A title to find", "b"))
    path = tmp_path / f"picture{suffix}"
    frame.menu.save_picture(path)
    match suffix:
        case ".png":
            assert QImage(str(path)).width() >= 3 * frame.canvas.width()
        case ".svg":
            assert "A title to find" in path.read_text(encoding="utf-8")
            assert QSvgRenderer(str(path)).isValid()
        case ".pdf":
            content = path.read_bytes()
            assert content.startswith(b"%PDF")
            assert content.count(b"/Type /Page\n") == 1


@pytest.mark.parametrize(
    ("suffix", "inside"), [(".pptx", "ppt/slides/slide1.xml"), (".xlsx", "xl/worksheets/sheet2.xml")]
)
def test_that_the_picture_is_saved_as_a_slide_and_beside_its_numbers(frame, tmp_path, suffix, inside):
    frame.show_figure(finding("A title to find", "b"))
    path = tmp_path / f"picture{suffix}"
    frame.menu.save_picture(path)
    with zipfile.ZipFile(path) as archive:
        assert inside in archive.namelist()
        assert any(name.endswith(".png") for name in archive.namelist())
        words = b"".join(archive.read(name) for name in archive.namelist() if name.endswith(".xml"))
    assert (b"A title to find" if suffix == ".pptx" else b"<v>4</v>") in words


def test_that_another_suffix_is_refused_with_its_name(frame, tmp_path):
    with pytest.raises(PictureError, match=r"\.bmp") as refused:
        frame.menu.save_picture(tmp_path / "picture.bmp")
    assert ".svg" in refused.value.remedy


def test_that_a_folder_that_is_not_there_is_an_error_for_people(frame, tmp_path):
    frame.show_figure(finding())
    with pytest.raises(PictureError, match="could not be written"):
        frame.menu.save_picture(tmp_path / "missing" / "picture.png")


def test_that_a_failed_save_is_told_by_the_frame(frame, tmp_path, qtbot):
    frame.show_figure(finding())
    with qtbot.waitSignal(frame.failed) as told:
        frame.menu.attempt(frame.menu.save_picture, tmp_path / "missing" / "picture.svg")
    assert isinstance(told.args[0], PictureError)


def test_that_every_control_has_a_name(frame):
    assert frame._table_button.accessibleName() == "Test chart: show as table"
    assert frame._copy_button.accessibleName() == "Test chart: copy"
    assert frame.canvas.accessibleName() == "Test chart, picture"
    assert frame.table.accessibleName() == "Test chart, table"
