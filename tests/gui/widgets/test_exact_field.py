from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.exact_field import ExactField


@pytest.fixture
def taken():
    return []


@pytest.fixture
def place(qtbot, taken):
    """A field that refuses what holds an x, and another field to leave it for."""

    def take(text: str) -> str:
        if "x" in text:
            return f"{text!r} is not a number."
        taken.append(text)
        return ""

    widget = QWidget()
    widget.field, widget.other = ExactField("Budget", take, unit="people"), QLineEdit()
    column = QVBoxLayout(widget)
    column.addWidget(widget.field)
    column.addWidget(widget.other)
    qtbot.addWidget(widget)
    widget.field.set_value("1/3")
    widget.show()
    widget.field.line.setFocus()
    return widget


def _type(qtbot, place, text):
    place.field.line.selectAll()
    qtbot.keyClicks(place.field.line, text)


def test_that_enter_offers_the_text_as_it_was_typed(qtbot, place, taken) -> None:
    _type(qtbot, place, "0,0000216482")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    assert taken == ["0,0000216482"]


@pytest.mark.parametrize("scale", [100, 200])
def test_that_a_huge_number_is_seen_whole_and_an_endless_one_from_its_begin(qtbot, place, scale) -> None:
    appearance().set_scale(scale)
    line = place.field.line
    place.resize(900, 100)
    place.other.setFocus()
    place.field.set_value("1000000000000")
    qtbot.waitUntil(lambda: line.width() > line.fontMetrics().horizontalAdvance(line.text()))
    place.field.set_value("0." + 60 * "123")
    qtbot.waitUntil(lambda: line.cursorPosition() == 0)
    assert line.width() <= 2 * 14 * GRID * scale // 100


def test_that_a_refusal_moves_nothing_and_covers_neither_its_field_nor_the_one_in_use(qtbot, place) -> None:
    place.resize(300, 120)
    qtbot.waitUntil(lambda: place.other.width() > 200)
    before = place.field.geometry(), place.other.geometry()
    _type(qtbot, place, "12x")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    bubble = place.findChild(Bubble)
    assert bubble.isVisible()
    assert bubble.text == place.field.reason
    assert (place.field.geometry(), place.other.geometry()) == before
    assert not bubble.geometry().intersects(place.field.line.geometry().translated(place.field.pos()))
    place.other.setFocus()
    assert bubble.isVisible()
    assert not bubble.geometry().intersects(place.other.geometry())
    place.field.hide()
    assert not bubble.isVisible()
    place.field.show()
    assert bubble.isVisible()
    place.field.forget()
    assert not bubble.isVisible()


def test_that_a_refusal_stands_in_the_free_room_of_its_row(qtbot, place) -> None:
    place.resize(900, 120)
    qtbot.waitUntil(lambda: place.other.width() > 800)
    _type(qtbot, place, "12x")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    assert place.findChild(Bubble).x() > place.field.childrenRect().right()


def test_that_leaving_the_field_offers_what_was_typed_once(qtbot, place, taken) -> None:
    _type(qtbot, place, "2.2e-5")
    place.other.setFocus()
    assert taken == ["2.2e-5"]
    place.field.line.setFocus()
    place.other.setFocus()
    assert taken == ["2.2e-5"]


def test_that_a_refused_text_stays_with_its_reason_beside_it(qtbot, place, taken) -> None:
    _type(qtbot, place, "12x")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    assert place.field.line.text() == "12x"
    assert place.field.reason == "'12x' is not a number."
    assert place.field.line.property("refused") == "true"
    assert taken == []
    place.other.setFocus()
    assert place.field.line.text() == "12x"


def test_that_a_new_value_does_not_overwrite_a_refused_entry(qtbot, place) -> None:
    _type(qtbot, place, "12x")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    place.field.set_value("0.5")
    assert place.field.line.text() == "12x"
    qtbot.keyClick(place.field.line, Qt.Key.Key_Escape)
    assert place.field.line.text() == "0.5"
    assert place.field.reason == ""


def test_that_a_correction_clears_the_reason(qtbot, place, taken) -> None:
    _type(qtbot, place, "12x")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    _type(qtbot, place, "12")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    assert taken == ["12"]
    assert place.field.reason == ""


def test_that_escape_restores_the_value(qtbot, place, taken) -> None:
    _type(qtbot, place, "99")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Escape)
    assert place.field.line.text() == "1/3"
    assert taken == []


def test_that_the_same_text_is_no_edit(qtbot, place, taken) -> None:
    _type(qtbot, place, "1/3")
    qtbot.keyClick(place.field.line, Qt.Key.Key_Return)
    assert taken == []


def test_that_a_disabled_field_forgets_a_half_typed_entry(qtbot, place) -> None:
    _type(qtbot, place, "12x")
    place.field.setEnabled(False)
    assert place.field.line.text() == "1/3"
