from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QVBoxLayout, QWidget

from phexplore.gui.widgets.stack import Stack


@pytest.fixture
def page(qtbot):
    def make(width):
        found, content = QWidget(), QWidget()
        content.setMinimumWidth(width)
        QVBoxLayout(found).addWidget(content)
        return found

    return make


def test_that_a_wide_page_out_of_sight_does_not_widen_the_stack(qtbot, page) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    stack = Stack()
    QVBoxLayout(around).addWidget(stack)
    narrow, wide = page(100), page(900)
    stack.addWidget(narrow)
    stack.addWidget(wide)
    around.show()
    assert around.minimumSizeHint().width() < 200
    stack.setCurrentWidget(wide)
    qtbot.waitUntil(lambda: around.minimumSizeHint().width() >= 900)
    stack.setCurrentWidget(narrow)
    qtbot.waitUntil(lambda: around.minimumSizeHint().width() < 200)


def test_that_a_reader_says_nothing_of_the_stack_before_the_words_of_a_page(qtbot, page) -> None:
    stack = Stack()
    qtbot.addWidget(stack)
    stack.addWidget(page(100))
    assert QAccessible.queryAccessibleInterface(stack).role() is QAccessible.Role.Client


def test_that_pages_fill_the_stack(qtbot, page) -> None:
    stack = Stack()
    qtbot.addWidget(stack)
    for width in (10, 20):
        stack.addWidget(page(width))
    stack.resize(300, 200)
    stack.show()
    assert stack.currentWidget().size() == stack.size()
    stack.setCurrentIndex(1)
    assert stack.currentWidget().size() == stack.size()
