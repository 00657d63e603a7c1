from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QPushButton, QTabWidget, QToolButton, QWidget

from phexplore.gui.theme.appearance import BASE_POINT_SIZE, Appearance, ThemeChoice, appearance, qt_palette
from phexplore.gui.theme.colours import DARK, LIGHT, THEMES, contrast

PAIRS = [
    ("WindowText", "Window"),
    ("Text", "Base"),
    ("Text", "AlternateBase"),
    ("ButtonText", "Button"),
    ("HighlightedText", "Highlight"),
    ("ToolTipText", "ToolTipBase"),
    ("PlaceholderText", "Base"),
    ("Link", "Base"),
]


def test_that_there_is_one_appearance_per_application(qapp) -> None:
    assert appearance() is appearance()
    assert len(qapp.findChildren(Appearance)) == 1


def test_that_a_theme_is_switched_at_run_time(qapp, qtbot) -> None:
    with qtbot.waitSignal(appearance().changed) as changed:
        appearance().choose(ThemeChoice.DARK)
    assert changed.args == [DARK]
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == DARK.window
    appearance().choose(ThemeChoice.LIGHT)
    assert qapp.palette().color(QPalette.ColorRole.Window).name() == LIGHT.window


@pytest.mark.parametrize(("asked", "given"), [(50, 100), (100, 100), (150, 150), (300, 200)])
def test_that_the_text_size_stays_between_100_and_200_percent(qapp, asked, given) -> None:
    appearance().set_scale(asked)
    assert appearance().scale == given
    assert qapp.font().pointSizeF() == pytest.approx(9 * given / 100)
    assert appearance().font(relative=2).pointSizeF() == pytest.approx(18 * given / 100)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize(("ink", "paper"), PAIRS)
def test_that_the_palette_is_readable(qapp, theme, ink, paper) -> None:
    palette = qt_palette(theme)
    colours = [palette.color(getattr(QPalette.ColorRole, role)).name() for role in (ink, paper)]
    assert contrast(*colours) >= 4.5


def test_that_qt_keeps_the_references_of_none(qapp) -> None:
    """PySide6 6.12.0 on Python < 3.12 loses a reference to None per call and aborts the process."""
    label = QLabel()
    before = sys.getrefcount(None)
    for number in range(1000):
        label.setText(str(number))
    assert abs(sys.getrefcount(None) - before) < 100


def test_that_a_text_size_reaches_every_widget_at_once_without_styling_it_anew(qtbot):
    """Styling anew took a thousandth of a second for each of thousands of widgets."""
    window = QWidget()
    qtbot.addWidget(window)
    button = QPushButton("a button", window)
    window.show()
    styled = []

    class Watch(QObject):
        def eventFilter(self, _watched, event):
            styled.extend([event.type()] if event.type() is QEvent.Type.StyleChange else [])
            return False

    watch = Watch()
    button.installEventFilter(watch)
    told = []
    heard = appearance().changed.connect(lambda _colours: told.append(button.font().pointSizeF()))
    appearance().set_scale(150)
    appearance().disconnect(heard)
    assert told == [pytest.approx(1.5 * BASE_POINT_SIZE)]
    assert not styled
    appearance().choose(ThemeChoice.DARK)
    assert styled  # a theme does


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_that_tabs_without_room_show_arrows_that_can_be_hit(qtbot, theme) -> None:
    before = appearance().choice
    appearance().choose(theme)
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    for number in range(12):
        tabs.addTab(QWidget(), f"A question, number {number}")
    tabs.resize(500, 200)
    tabs.show()
    tabs.setCurrentIndex(5)
    arrows = [arrow for arrow in tabs.tabBar().findChildren(QToolButton) if arrow.isVisible()]
    assert len(arrows) == 2
    for arrow in arrows:
        assert arrow.width() >= 24
        assert arrow.height() >= 24
        seen = arrow.grab(arrow.rect().adjusted(4, 4, -4, -4)).toImage()
        assert len({seen.pixelColor(x, y).name() for x in range(seen.width()) for y in range(seen.height())}) > 1
    appearance().choose(before)
