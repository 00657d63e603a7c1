from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QWheelEvent
from PySide6.QtWidgets import QApplication

from phexplore.figures.stops import log_stops, people_stops
from phexplore.gui.widgets.stop_slider import StopSlider


@pytest.fixture
def slider(qtbot):
    found = StopSlider("Margin", people_stops(3), lambda value: f"{value} people")
    qtbot.addWidget(found)
    found.show()
    found.moves, found.releases = [], []
    found.moved.connect(found.moves.append)
    found.released.connect(lambda: found.releases.append(1))
    return found


def test_that_stops_are_exact_ascending_and_even_on_a_logarithmic_scale() -> None:
    stops = log_stops(-6, 1)
    assert stops[0] == Fraction(1, 10**6)
    assert stops[-1] == 10
    assert len(stops) == 7 * 96 + 1
    steps = [math.log10(later / earlier) for earlier, later in pairwise(stops)]
    assert all(0.6 / 96 < step < 2.1 / 96 for step in steps)
    assert all(Fraction(str(float(stop))) == stop for stop in stops)


def test_that_people_come_in_whole_numbers() -> None:
    stops = people_stops(3)
    assert stops[:5] == (1, 2, 3, 4, 5)
    assert all(stop.denominator == 1 for stop in stops)
    assert stops[-1] == 1000


def test_that_setting_a_value_tells_nobody_and_finds_the_nearest_stop(slider) -> None:
    slider.set_value(Fraction(1999, 100))
    assert slider.moves == []
    slider.setValue(slider.value() + 1)
    assert slider.moves == [21]


@pytest.mark.parametrize(("value", "end"), [(None, 0), (Fraction(1, 1000), 0), (Fraction(10**9), -1)])
def test_that_values_beyond_the_ends_stay_at_the_end(slider, value, end) -> None:
    slider.set_value(Fraction(20))
    slider.set_value(value)
    assert slider.value() == (slider.maximum() if end else 0)


def test_that_keys_step_and_releasing_the_key_ends_the_step(qtbot, slider) -> None:
    slider.set_value(Fraction(5))
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert slider.moves == [6]
    assert slider.releases == [1]


def test_that_dragging_moves_many_times_and_releases_once(qtbot, slider) -> None:
    slider.resize(400, 24)
    slider.set_value(Fraction(1))
    handle = QPoint(8, 12)
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=handle)
    for x in range(20, 200, 6):
        qtbot.mouseMove(slider, QPoint(x, 12))
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(200, 12))
    assert len(slider.moves) > 5
    assert slider.moves == sorted(slider.moves)
    assert slider.releases == [1]


def test_that_the_wheel_changes_nothing(slider) -> None:
    slider.set_value(Fraction(5))
    wheel = QWheelEvent(
        QPointF(10, 10),
        QPointF(10, 10),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(slider, wheel)
    assert slider.moves == []


def test_that_the_reference_is_marked(slider) -> None:
    slider.resize(400, 24)
    before = slider.grab().toImage()
    slider.set_mark(Fraction(300))
    assert slider.grab().toImage() != before


@pytest.mark.defect("S6")
def test_that_a_screen_reader_gets_the_value_and_not_the_position(slider) -> None:
    slider.set_value(Fraction(451, 2))
    assert slider.accessibleDescription() == "451/2 people"
    slider.set_safe_range((Fraction(100), None), "Safe from 100 people")
    assert slider.accessibleDescription() == "451/2 people. Safe from 100 people"
    slider.setValue(0)
    assert slider.accessibleDescription() == "1 people. Safe from 100 people"
    slider.set_safe_range(None)
    slider.set_value(None)
    assert slider.accessibleDescription() == ""


def test_that_a_screen_reader_gets_and_sets_people_and_not_a_position(slider) -> None:
    slider.set_value(Fraction(50042, 100))
    heard = QAccessible.queryAccessibleInterface(slider)
    number = heard.valueInterface()
    assert heard.role() is QAccessible.Role.Slider
    assert number.currentValue() == pytest.approx(500.42)  # between two stops: what it stands for, not where it stands
    assert (number.minimumValue(), number.maximumValue()) == (1.0, 1000.0)
    number.setCurrentValue(20.2)
    assert slider.moves == [20]
    assert slider.releases == [1]
    assert heard.text(QAccessible.Text.Value) == "20 people"


@pytest.mark.parametrize(("shown", "step"), [("0.032742", 1e-6), ("1,068.5 people", 0.1), ("500 people", 1.0)])
def test_that_a_screen_reader_says_as_many_decimals_as_are_shown(qtbot, shown, step) -> None:
    slider = StopSlider("Budget", log_stops(-6, 1), lambda _value: shown)
    qtbot.addWidget(slider)
    slider.set_value(Fraction(32742, 10**6))
    number = QAccessible.queryAccessibleInterface(slider).valueInterface()
    assert number.minimumStepSize() == pytest.approx(step)  # without one, Orca said 0.0 of every small budget
