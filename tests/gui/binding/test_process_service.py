from __future__ import annotations

import sys

from PySide6.QtCore import QObject, QProcess
from shiboken6 import delete, isValid

from phexplore.gui.binding.process_service import ProcessService


def test_that_an_abandoned_program_outlives_its_owner_until_it_has_finished(qtbot, qtlog) -> None:
    owner = QObject()
    service = ProcessService(owner)
    service.start([sys.executable, "-c", "input()"])
    process = service.findChild(QProcess)
    assert process.waitForStarted()
    service.abandon()
    delete(owner)
    assert not [each.message for each in qtlog.records if "Destroyed while process" in each.message]
    qtbot.waitUntil(lambda: not isValid(service))
