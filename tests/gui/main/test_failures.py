from __future__ import annotations

import sys
import threading

import pytest

from phexplore.errors import PhexploreError
from phexplore.gui.main.failures import FailureHook, failure_words


@pytest.fixture
def hook(qapp):
    said, saved = [], []
    found = FailureHook(lambda sentence, details: said.append((sentence, details)), lambda: saved.append(len(said)))
    found.said, found.saved = said, saved
    before = sys.excepthook, threading.excepthook
    found.install()
    yield found
    sys.excepthook, threading.excepthook = before


def _raise(error):
    try:
        raise error
    except type(error) as caught:
        sys.excepthook(type(caught), caught, caught.__traceback__)


def test_that_a_bug_is_said_with_details_after_the_journal_is_saved(hook, capsys) -> None:
    _raise(RuntimeError("the reason"))
    ((sentence, details),) = hook.said
    assert "RuntimeError: the reason" in sentence
    assert "nothing was lost" in sentence
    assert "_raise" in details
    assert hook.saved == [0]
    assert "the reason" in capsys.readouterr().err


def test_that_an_expected_failure_speaks_its_own_words() -> None:
    sentence, _ = failure_words(PhexploreError("The disk is full.", "Free some space."), "")
    assert sentence == "The disk is full. Free some space."


def test_that_a_failure_in_a_thread_is_shown_by_the_window(qtbot, hook) -> None:
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(hook.said))
    assert "ZeroDivisionError" in hook.said[0][0]


def test_that_a_failure_while_one_is_shown_opens_no_second_dialog(hook) -> None:
    hook._say = lambda sentence, _details: (hook.said.append((sentence, "")), _raise(ValueError("second")))
    _raise(ValueError("first"))
    assert len(hook.said) == 1


def test_that_the_keyboard_still_ends_the_program(hook, capsys) -> None:
    _raise(KeyboardInterrupt())
    assert hook.said == []
