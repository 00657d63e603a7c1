from __future__ import annotations

import os
import sys

import pytest
from PySide6.QtCore import QObject
from shiboken6 import delete, isValid

from phexplore.gui.binding.process_service import ProcessService


@pytest.mark.parametrize("in_session", [False, True])
@pytest.mark.parametrize("leave", [ProcessService.abandon, ProcessService.kill, ProcessService.is_running.fget])
def test_that_a_program_ends_with_its_owner_and_qt_warns_of_none(qtbot, qtlog, leave, in_session) -> None:
    owner = QObject()
    service = ProcessService(owner, in_session=in_session)
    service.start([sys.executable, "-c", "input()"])
    process = service._process
    assert process.waitForStarted()
    number = service.process_id
    leave(service)
    delete(owner)
    assert not isValid(service)
    qtbot.waitUntil(lambda: not isValid(process))
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    assert not [each.message for each in qtlog.records if "Destroyed while process" in each.message]


def test_that_a_process_that_ended_before_goes_with_its_owner(qtbot) -> None:
    owner = QObject()
    service = ProcessService(owner)
    with qtbot.waitSignal(service.ended):
        service.start([sys.executable, "-c", ""])
    process = service._process
    delete(owner)
    qtbot.waitUntil(lambda: not isValid(process))
