"""A kernel compiled in a thread of the window is told at the foot, with a bar that moves."""

from __future__ import annotations

import threading

from PySide6.QtCore import QCoreApplication, QEvent

from phexplore.gui.main.bars import BottomBar
from phexplore.preparing import PREPARING, listeners


def test_that_the_foot_shows_how_far_the_preparation_is(window, qtbot):
    hear = listeners[-1]
    assert window.bottom.bar.isHidden()
    thread = threading.Thread(target=hear, args=(3, 26))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: not window.bottom.bar.isHidden())
    assert (window.bottom.bar.value(), window.bottom.bar.maximum()) == (3, 26)
    assert window.bottom.message.text().startswith(PREPARING)
    hear(4, 26)
    assert window.bottom.bar.value() == 4


def test_that_nobody_is_told_after_the_foot_is_gone(qapp):
    before = list(listeners)
    bottom = BottomBar()
    assert len(listeners) == len(before) + 1
    bottom.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert listeners == before
