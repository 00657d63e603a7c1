from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from phexplore.gui.widgets.when_seen import WhenSeen


class Counting(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.drawn = 0
        self.seen = WhenSeen(self, self.refresh)

    def refresh(self) -> None:
        self.drawn += 1


@pytest.fixture
def counting(qtbot):
    found = Counting()
    qtbot.addWidget(found)
    return found


def test_that_a_widget_in_sight_is_refreshed_with_every_request(counting) -> None:
    counting.show()
    for _ in range(3):
        counting.seen.request()
    assert counting.drawn == 3


def test_that_a_widget_out_of_sight_is_refreshed_once_when_it_is_shown(counting) -> None:
    for _ in range(3):
        counting.seen.request()
    assert counting.drawn == 0
    counting.show()
    assert counting.drawn == 1
    counting.hide()
    counting.show()
    assert counting.drawn == 1
