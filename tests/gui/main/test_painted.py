"""What an edit paints: what changed, and nothing of what lies behind it."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from phexplore.gui.binding.areas import Area
from phexplore.systems.phsafe.budget_edits import edit_margin

_EDITS = 4


class _Painted(QObject):
    """Adds up the pixels of paint events, by widget, and knows how long nothing was painted."""

    def __init__(self):
        super().__init__()
        self.pixels = {}
        self.last = time.monotonic()

    def still(self):
        return time.monotonic() - self.last > 0.3

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            exposed = sum(part.width() * part.height() for part in event.region())
            self.pixels[watched] = self.pixels.get(watched, 0) + exposed
            self.last = time.monotonic()
        return False


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
@pytest.mark.parametrize("area", [Area.OVERVIEW, Area.BUDGETS])
def test_that_an_edit_paints_nothing_behind_the_page(window, qtbot, query, size, area):
    window.resize(*size)
    window.show()
    window.navigation.choose(area)
    window.session.select(query)
    if area is Area.OVERVIEW:
        qtbot.waitUntil(lambda: not window.pages.currentWidget().charts[0].is_empty)
    window.session.edit("Edit", lambda scenario: edit_margin(scenario, query, Fraction(76)))  # now it is not saved
    painted = _Painted()
    QApplication.instance().installEventFilter(painted)
    qtbot.waitUntil(painted.still)  # the proof has followed and the pages made ahead are made
    # What an edit paints is in every one of them; a line of the navigation that was late is in one.
    found = [_pixels_of_edit(window, qtbot, query, painted, Fraction(77 + count)) for count in range(_EDITS)]
    QApplication.instance().removeEventFilter(painted)
    whole = size[0] * size[1]
    assert all(seen > 0.03 * whole for seen, _behind in found)  # the figures and the picture, or the row
    assert min(behind for _seen, behind in found) < 0.05 * whole
    assert min(seen for seen, _behind in found) < 1.2 * whole


def _pixels_of_edit(window, qtbot, query, painted, margin):
    painted.pixels.clear()
    window.session.edit("Edit", lambda scenario: edit_margin(scenario, query, margin))
    qtbot.waitUntil(lambda: bool(painted.pixels) and painted.still())
    names = {"MainWindow", "QSplitter", "Pages", "Overview", "Stack", "BudgetsPage", "BudgetsEditor"}
    behind = sum(pixels for each, pixels in painted.pixels.items() if type(each).__name__ in names)
    return sum(painted.pixels.values()), behind


def test_that_figures_that_nobody_sees_are_written_when_they_are_shown(window, qtbot, query):
    window.show()
    window.navigation.choose(Area.OVERVIEW)
    window.session.edit("Edit", lambda scenario: edit_margin(scenario, query, Fraction(77)))
    said = window.headline.tiles[1]._value.text()
    window.navigation.choose(Area.BUDGETS)
    assert said in window.headline._lines[1].text()
    window.session.edit("Edit", lambda scenario: edit_margin(scenario, query, Fraction(33)))
    qtbot.wait(50)
    line = window.headline._lines[0].text()
    window.navigation.choose(Area.OVERVIEW)
    assert window.headline.tiles[0]._value.text() in line
