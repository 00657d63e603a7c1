from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QRegion
from PySide6.QtWidgets import QWidget

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import RowLabel
from phexplore.figures.marks import Dot
from phexplore.gui.figures.axes import RowAxis, _apart
from phexplore.gui.figures.canvas import Canvas, Layer
from phexplore.gui.figures.painter import paint_dot
from phexplore.gui.theme.appearance import appearance


class Drawing:
    """A layer that remembers which rows it was asked for."""

    def __init__(self) -> None:
        self.strips: list[tuple[float, float]] = []

    def draw(self, painter, pixels, colours) -> None:
        self.strips.append((pixels.top, pixels.end))
        painter.setPen(QColor(colours.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for value in range(1, 10):
            painter.drawEllipse(QPointF(pixels.x(value), pixels.y(value)), 9.5, 5.5)


@pytest.fixture
def drawing():
    return Drawing()


@pytest.fixture
def canvas(qtbot, drawing):
    found = Canvas()
    qtbot.addWidget(found)
    found.use_axes(Axis("people"), Axis("share"), None, vertical=True, horizontal=True)
    found.show_range((0.0, 10.0), (0.0, 10.0))
    found.set_layer(Layer.ABOVE, drawing.draw)
    found.resize(420, 300)
    return found


def test_that_pixels_and_values_are_inverse_and_the_corners_meet(canvas) -> None:
    pixels = canvas.pixels
    assert (pixels.x(0), pixels.x(10)) == (pixels.area.left(), pixels.area.right())
    assert (pixels.y(0), pixels.y(10)) == (pixels.area.bottom(), pixels.area.top())
    assert pixels.value_x(pixels.x(3.7)) == pytest.approx(3.7)
    assert pixels.value_y(pixels.y(8.1)) == pytest.approx(8.1)


def test_that_a_kept_plot_area_is_the_one_measured_anew(canvas) -> None:
    rows = RowAxis()
    names = [RowLabel("Children", f"Nation, group {number}", locked=False) for number in range(9)]
    for change in (
        lambda: canvas.show_range((0.0, 10.0), (0.0, 1e6)),
        lambda: canvas.resize(500, 900),
        lambda: canvas.use_axes(Axis(""), Axis("share"), rows, vertical=True, horizontal=False),
        lambda: rows.set_labels(tuple(names)),
        lambda: canvas.leave_free(head=40, most=300.0, least=200.0),
        lambda: canvas.leave_free(head=0, most=2000.0),
        lambda: appearance().set_scale(150),
    ):
        before = QRectF(canvas.area)
        change()
        kept = canvas.area
        assert canvas.area is kept
        canvas._known = None
        assert canvas.area == kept
        assert kept != before


def test_that_the_plot_area_lies_in_whole_pixels(canvas) -> None:
    """Else a strip of it would touch the axes beside it, which would be painted with every row."""
    for width in range(300, 420, 7):
        canvas.resize(width, width - 40)
        assert canvas.area.toRect().toRectF() == canvas.area


@pytest.mark.parametrize(
    "part",
    [QRect(0, 100, 420, 23), QRect(0, 0, 40, 300), QRect(200, 250, 180, 50), QRect(77, 33, 1, 1)],
)
def test_that_a_part_painted_alone_is_the_part_of_the_whole(canvas, part) -> None:
    whole = canvas.grab().toImage()
    picture = QImage(whole.size(), whole.format())
    picture.setDevicePixelRatio(whole.devicePixelRatio())
    picture.fill(QColor("magenta"))
    canvas.render(picture, part.topLeft(), QRegion(part), QWidget.RenderFlag.DrawWindowBackground)
    assert picture.copy(part) == whole.copy(part)


def test_that_a_strip_asks_its_layers_for_the_strip_alone(qtbot, canvas, drawing) -> None:
    canvas.show()
    qtbot.waitExposed(canvas)
    qtbot.waitUntil(lambda: bool(drawing.strips))
    drawing.strips.clear()
    canvas.refresh(QRectF(0, 100.2, 1000, 12.7))
    qtbot.waitUntil(lambda: bool(drawing.strips))
    assert drawing.strips == [(100.0, 113.0)]


def test_that_the_same_range_again_paints_nothing(qtbot, canvas, drawing) -> None:
    canvas.show()
    qtbot.waitExposed(canvas)
    qtbot.waitUntil(lambda: bool(drawing.strips))
    drawing.strips.clear()
    canvas.show_range((0.0, 10.0), (0.0, 10.0))
    qtbot.wait(30)
    assert drawing.strips == []


def test_that_a_picture_holds_what_the_screen_shows(canvas) -> None:
    screen = canvas.grab().toImage()
    picture = QImage(screen.size(), screen.format())
    painter = QPainter(picture)
    canvas.paint_on(painter)
    painter.end()
    assert picture == screen


def test_that_labels_of_a_narrow_axis_do_not_touch(canvas) -> None:
    axis = Axis(scale=Scale.LOG, text=str, most=12)
    canvas.use_axes(axis, Axis("share"), None, vertical=True, horizontal=True)
    canvas.show_range((0.0, 7.0), (0.0, 1.0))
    ticks = canvas.bottom_axis.ticks(0.0, 7.0)
    assert [tick.position for tick in ticks] == sorted(tick.position for tick in ticks)
    assert len(ticks) >= 8
    spans = [(20.0 * place, 20.0 * place + 35) for place in range(12)]
    shown = [spans[place] for place in _apart(spans)]
    assert len(shown) >= 5
    assert all(after[0] - before[1] >= 4 for before, after in pairwise(shown))


def test_that_a_label_moved_in_at_the_edge_gives_way_to_the_others() -> None:
    assert list(_apart([(0, 20), (40, 60), (80, 100), (95, 115)])) == [0, 1, 2]
    assert list(_apart([(0, 20), (15, 35), (30, 50)])) == [0, 2]
    assert list(_apart([])) == []


def test_that_text_of_twice_the_size_leaves_room_for_its_labels(canvas) -> None:
    before = canvas.area
    appearance().set_scale(200)
    after = canvas.area
    assert after.left() > before.left()
    assert after.bottom() < before.bottom()
    assert after.top() >= before.top()
    assert canvas.grab().toImage().pixelColor(QPoint(1, 1)) == QColor(appearance().colours.base)


def test_that_long_names_of_rows_stay_apart_where_only_their_ends_differ(qapp) -> None:
    same = "Female householder, no spouse or partner present, with own children of "
    names = (
        f"{same}4 and 5 years",
        f"{same}6 to 17 years",
        "A name of its own that is as long as the others are but begins apart",
    )
    axis = RowAxis()
    axis.set_room(500.0)
    axis.set_labels(tuple(RowLabel("", name) for name in names))
    shown = axis._shown
    assert shown[0].endswith("4 and 5 years")
    assert shown[1].endswith("6 to 17 years")
    assert shown[2].startswith("A name of its own")
    assert shown[2].endswith("…")


def test_that_the_group_of_a_single_row_is_whole_where_names_leave_it_room(qapp) -> None:
    axis = RowAxis()
    axis.set_room(780.0)
    axis.set_labels((RowLabel("Children by household type, whatever", "State, by race"), RowLabel("People", "Nation")))
    assert axis._groups["Children by household type, whatever"] == ("Children by household type, whatever",)


def test_that_the_name_of_a_chosen_row_is_bold_only_where_it_is_whole_then(qapp) -> None:
    axis = RowAxis()
    axis.set_labels((RowLabel("", "Block group 2, tract 107.02, Providence County, RI " * 2), RowLabel("", "Short")))
    assert [axis.has_bold_room(row) for row in (0, 1)] == [False, True]


def test_that_dots_grow_with_the_text(qapp) -> None:
    def inked() -> int:
        image = QImage(40, 40, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        paint_dot(painter, QPointF(20, 20), Dot(0.0), appearance().colours)
        painter.end()
        return sum(image.pixelColor(x, y) != QColor(Qt.GlobalColor.white) for x in range(40) for y in range(40))

    small = inked()
    appearance().set_scale(200)
    assert inked() > 1.8 * small
