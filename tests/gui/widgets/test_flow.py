from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton

from phexplore.gui.widgets.flow import FlowRow


@pytest.fixture
def row(qtbot):
    buttons = [QPushButton("A button with words") for _ in range(4)]
    for button in buttons:
        button.setFixedSize(100, 20)
    found = FlowRow(*buttons, gap=10)
    found.buttons = buttons
    qtbot.addWidget(found)
    return found


@pytest.mark.parametrize(("width", "lines"), [(430, 1), (429, 2), (210, 2), (209, 4), (100, 4), (30, 4)])
def test_that_widgets_break_into_the_lines_they_need(row, width, lines):
    assert row.heightForWidth(width) == lines * 20 + (lines - 1) * 10
    row.resize(width, 200)
    row.show()
    assert len({button.y() for button in row.buttons}) == lines


def test_that_hidden_widgets_take_no_room(row):
    row.buttons[0].setVisible(False)
    assert row.heightForWidth(320) == 20
    assert row.layout().sizeHint().width() == 320


def test_that_low_widgets_stand_in_the_middle_of_their_line(row):
    row.buttons[1].setFixedSize(100, 10)
    row.resize(430, 200)
    row.show()
    assert [button.y() for button in row.buttons] == [0, 5, 0, 0]


def test_that_the_row_is_as_narrow_as_its_widest_widget(row):
    assert row.layout().minimumSize().width() == 100
    assert row.layout().count() == 4
    assert row.layout().itemAt(9) is None
