"""The first look around: by keyboard, inside the window, never in the way of what it speaks of."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication

from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.scenario_list import renamed
from phexplore.gui.binding.settings import TOUR
from phexplore.gui.main.guided_tour import _FRAME, _Outline, tour_stops
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import program_icon


@pytest.fixture
def toured(qtbot, window):
    window.show()
    qtbot.waitUntil(lambda: window.navigation.currentRow() >= 0)
    window.commands.take_tour()
    qtbot.waitUntil(window.commands.tour.isVisible)
    return window


def settle(qtbot):
    qtbot.wait(20)


TITLES = [stop.title for stop in tour_stops()]


def test_that_enter_goes_through_all_stops_and_ends(qtbot, toured) -> None:
    seen = []
    for _ in TITLES:
        seen.append(toured.commands.tour.stop.title)
        settle(qtbot)
        qtbot.keyClick(toured.commands.tour.onward, Qt.Key.Key_Space)
    assert seen == TITLES
    assert toured.commands.tour is None


def test_that_arrows_go_on_and_back_and_escape_ends(qtbot, toured) -> None:
    names = TITLES
    qtbot.keyClick(toured.commands.tour, Qt.Key.Key_Left)
    assert toured.commands.tour.stop.title == names[0]
    qtbot.keyClick(toured.commands.tour, Qt.Key.Key_Right)
    qtbot.keyClick(toured.commands.tour, Qt.Key.Key_Right)
    assert toured.commands.tour.stop.title == names[2]
    qtbot.keyClick(toured.commands.tour, Qt.Key.Key_Left)
    assert toured.commands.tour.stop.title == names[1]
    qtbot.keyClick(toured.commands.tour, Qt.Key.Key_Escape)
    assert toured.commands.tour is None
    settle(qtbot)
    assert not [frame for frame in toured.findChildren(_Outline) if frame.isVisible()]


def test_that_it_ends_where_somebody_goes_elsewhere_and_takes_nothing_of_the_window_away(qtbot, toured) -> None:
    tour = toured.commands.tour
    toured.navigation.choose(Area.BUDGETS)
    cells = toured.rooms["phsafe"].budgets.view.viewport()
    assert toured.commands.tour is None
    qtbot.waitUntil(lambda: not shiboken6.isValid(tour))
    assert shiboken6.isValid(cells)


def test_that_the_frame_is_seen_around_a_button_of_its_colour(qtbot, toured) -> None:
    tour = toured.commands.tour
    tour.show_stop([stop.title for stop in tour_stops()].index("Try it"))
    settle(qtbot)
    place, frame = tour.places[tour.stop.place], toured.findChild(_Outline)
    framed = QRect(place.mapTo(toured, QPoint(0, 0)), place.size())
    assert framed.left() - frame.geometry().left() > _FRAME


@pytest.mark.parametrize("scale", [100, 200])
def test_that_the_card_stays_inside_the_window_and_beside_small_places(qtbot, toured, scale) -> None:
    appearance().set_scale(scale)
    for number, stop in enumerate(tour_stops()):
        toured.commands.tour.show_stop(number)
        settle(qtbot)
        card = toured.commands.tour.geometry()
        assert toured.rect().contains(card), stop.title
        place = toured.commands.tour.places[stop.place]
        framed = QRect(place.mapTo(toured, QPoint(0, 0)), place.size())
        if place is not toured.pages:
            assert not card.intersects(framed), stop.title


def test_that_the_tour_is_offered_once(qtbot, window) -> None:
    window.show()
    window.commands.offer_tour()
    assert window.settings.read(TOUR)
    assert "New here?" in window.notice.text
    appearance().set_scale(200)
    window.resize(1280, 740)
    qtbot.waitUntil(lambda: window.bottom.geometry().contains(window.notice.geometry()))  # and not over the last run
    window.notice.hide()
    window.commands.offer_tour()
    assert not window.notice.text


def test_that_who_edits_is_not_offered_to_be_shown_around_any_longer(window) -> None:
    window.show()
    window.commands.offer_tour()
    window.session.edit_workbook("Rename", lambda book: renamed(book, book.active, "Mine"))
    assert not window.notice.text


def test_that_it_does_not_hide_what_is_said_already(window) -> None:
    window.show()
    window.notice.say("Something else")
    window.commands.offer_tour()
    assert window.notice.text == "Something else"
    assert not window.settings.read(TOUR)


def test_that_the_program_has_a_picture(qapp) -> None:
    assert isinstance(QApplication.instance(), QApplication)
    for size in (16, 48, 256):
        picture = program_icon().pixmap(size, size).toImage()
        assert {picture.pixelColor(x, size // 2).name() for x in range(size)} >= {"#14324a"}
