"""The first look around: by keyboard, inside the window, never in the way of what it speaks of."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication

from phexplore.gui.binding.settings import TOUR
from phexplore.gui.main.guided_tour import _Outline
from phexplore.gui.main.tour_stops import tour_stops
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import program_icon


@pytest.fixture
def toured(qtbot, window):
    window.show()
    qtbot.waitUntil(lambda: window.navigation.currentRow() >= 0)
    window.take_tour()
    qtbot.waitUntil(window.tour.isVisible)
    return window


def settle(qtbot):
    qtbot.wait(20)


def titles(window):
    return [stop.title for stop in tour_stops(window)]


def test_that_enter_goes_through_all_stops_and_ends(qtbot, toured) -> None:
    seen = []
    for _ in titles(toured):
        seen.append(toured.tour.stop.title)
        settle(qtbot)
        qtbot.keyClick(toured.tour.onward, Qt.Key.Key_Space)
    assert seen == titles(toured)
    assert toured.tour is None


def test_that_arrows_go_on_and_back_and_escape_ends(qtbot, toured) -> None:
    names = titles(toured)
    qtbot.keyClick(toured.tour, Qt.Key.Key_Left)
    assert toured.tour.stop.title == names[0]
    qtbot.keyClick(toured.tour, Qt.Key.Key_Right)
    qtbot.keyClick(toured.tour, Qt.Key.Key_Right)
    assert toured.tour.stop.title == names[2]
    qtbot.keyClick(toured.tour, Qt.Key.Key_Left)
    assert toured.tour.stop.title == names[1]
    qtbot.keyClick(toured.tour, Qt.Key.Key_Escape)
    assert toured.tour is None
    settle(qtbot)
    assert not [frame for frame in toured.findChildren(_Outline) if frame.isVisible()]


@pytest.mark.parametrize("scale", [100, 200])
def test_that_the_card_stays_inside_the_window_and_beside_small_places(qtbot, toured, scale) -> None:
    appearance().set_scale(scale)
    for number, stop in enumerate(tour_stops(toured)):
        toured.tour.show_stop(number)
        settle(qtbot)
        card = toured.tour.geometry()
        assert toured.rect().contains(card), stop.title
        place = stop.place()
        framed = QRect(place.mapTo(toured, QPoint(0, 0)), place.size())
        if place is not toured.pages:
            assert not card.intersects(framed), stop.title


def test_that_the_tour_is_offered_once(qtbot, window) -> None:
    window.show()
    window.offer_tour()
    assert window.settings.read(TOUR)
    assert "New here?" in window.notice.text
    window.notice.hide()
    window.offer_tour()
    assert not window.notice.text


def test_that_it_does_not_hide_what_is_said_already(window) -> None:
    window.show()
    window.notice.say("Something else")
    window.offer_tour()
    assert window.notice.text == "Something else"
    assert not window.settings.read(TOUR)


def test_that_the_program_has_a_picture(qapp) -> None:
    assert isinstance(QApplication.instance(), QApplication)
    for size in (16, 48, 256):
        picture = program_icon().pixmap(size, size).toImage()
        assert {picture.pixelColor(x, size // 2).name() for x in range(size)} >= {"#14324a"}
