"""Large maps: gestures move pictures, the picture of a view is that of its polygons, areas are true."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage

from phexplore.figures.map import area_true, bounds, map_figure, stretch_at
from phexplore.figures.marks import Patch
from phexplore.figures.table import Table
from phexplore.gui.figures import map_painter
from phexplore.gui.figures.view import FigureView

SIDE = 40


def patches() -> tuple[Patch, ...]:
    square = np.array([[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01], [0, 0]])
    return tuple(
        Patch(
            f"{row:02d}{place:02d}",
            (area_true(np.add(square, [0.011 * place - 71, 0.011 * row + 41])),),
            float(row - place),
            "x",
        )
        for row in range(SIDE)
        for place in range(SIDE)
    )


@pytest.fixture
def shown(qtbot):
    view = FigureView("Map", "x")
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    qtbot.waitExposed(view)
    view.show_figure(map_figure("map", patches(), "people", ("t", "s"), Table(("x",), ((1,),)), is_signed=True))
    view.canvas.grab()
    return view


def painted(view: FigureView) -> QImage:
    return view.canvas.grab().toImage()


def test_that_a_gesture_paints_no_polygon_and_the_picture_at_rest_is_that_of_the_polygons(shown, qtbot, monkeypatch):
    counted = []
    real = map_painter.polygons

    def counting(*given):
        counted.append(len(given[-1]))
        return real(*given)

    monkeypatch.setattr(map_painter, "polygons", counting)
    before = painted(shown)
    assert counted == []
    shown.plot.viewport.zoom(0.93, QPointF(300, 300))
    moved = painted(shown)
    assert counted == []
    assert moved != before
    qtbot.waitUntil(
        lambda: sum(counted) > map_painter._DIRECTLY and not shown.plot._layers._pictures._slices.isActive()
    )
    at_rest = painted(shown)
    monkeypatch.setattr(map_painter, "_DIRECTLY", 10 * SIDE**2)
    shown.canvas.update()
    direct = painted(shown)
    pixels = shown.canvas.area.toAlignedRect().adjusted(4, 4, -4, -4)
    one, other = (
        np.array(each.copy(pixels).convertToFormat(QImage.Format.Format_RGB32).constBits())
        for each in (at_rest, direct)
    )
    # Grid lines lie below the polygons, so a picture covers them in the gaps between: a small part of the pixels.
    assert np.mean(one != other) < 0.03


def test_that_another_figure_is_painted_at_once(shown):
    before = painted(shown)
    other = tuple(Patch(each.key, each.rings, -each.value, each.tip) for each in patches())
    shown.show_figure(map_figure("map", other, "people", ("t", "s"), Table(("x",), ((1,),)), is_signed=True))
    assert painted(shown) != before


def test_that_areas_are_true_at_every_latitude():
    for latitude in (18.0, 41.5, 64.0, 71.0):
        low, high = latitude, latitude + 0.5
        ring = np.array([[-72, low], [-71, low], [-71, high], [-72, high], [-72, low]])
        x, y = np.radians(area_true(ring).astype(np.float64)).T
        drawn = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
        assert drawn == pytest.approx(np.radians(1) * (np.sin(np.radians(high)) - np.sin(np.radians(low))), rel=1e-3)
        assert stretch_at(float(area_true(ring)[0, 1])) == pytest.approx(np.cos(np.radians(latitude)) ** 2, rel=1e-4)


def test_that_the_pointer_finds_the_polygon_and_its_words(shown):
    chosen = []
    shown.key_selected.connect(chosen.append)
    left, right, bottom, top = bounds(patches()[SIDE * 3 + 5 : SIDE * 3 + 6])
    pixels = shown.canvas.pixels
    shown.plot.gestures.pointer_pressed(QPointF(pixels.x((left + right) / 2), pixels.y((bottom + top) / 2)))
    assert chosen == ["0305"]
