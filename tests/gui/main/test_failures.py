from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from phexplore.errors import PhexploreError
from phexplore.files.failure_log import failure_details
from phexplore.gui.dialogs.messages import show_failure
from phexplore.gui.main.failures import FailureHook, failure_words


@pytest.fixture
def hook(qapp):
    said, saved = [], []
    found = FailureHook(
        lambda sentence, details: said.append((sentence, details)), lambda: saved.append(len(said)) is None
    )
    found.said, found.saved = said, saved
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    found.install()
    yield found
    sys.excepthook, threading.excepthook, sys.unraisablehook = before


def _raise(error):
    try:
        raise error
    except type(error) as caught:
        sys.excepthook(type(caught), caught, caught.__traceback__)


def test_that_a_bug_is_said_with_details_after_the_journal_is_saved(hook, capsys) -> None:
    _raise(RuntimeError("the reason"))
    ((sentence, details),) = hook.said
    assert "(RuntimeError)" in sentence
    assert "nothing was lost" in sentence
    assert "_raise" in details
    assert hook.saved == [0]
    assert "the reason" in capsys.readouterr().err
    assert "the reason" not in sentence + details


def test_that_edits_that_are_in_the_window_only_are_not_called_safe() -> None:
    sentence, _ = failure_words(RuntimeError("x"), "", is_kept=False)
    assert "save the project under another name now" in sentence
    assert "nothing was lost" not in sentence


def test_that_an_expected_failure_speaks_its_own_words() -> None:
    sentence, _ = failure_words(PhexploreError("The disk is full.", "Free some space."), "")
    assert sentence == "The disk is full. Free some space."


def test_that_a_failure_in_a_thread_is_shown_by_the_window(qtbot, hook) -> None:
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(hook.said))
    assert "ZeroDivisionError" in hook.said[0][0]


def test_that_failures_while_one_is_shown_open_no_second_dialog_and_are_all_written_down(qtbot, capsys) -> None:
    written, shown = [], []

    def say(sentence, details):
        shown.append(show_failure(None, "Something went wrong", sentence, details=details))
        return shown[-1]

    found = FailureHook(say, lambda: True, record=written.append)
    for number in range(50):
        found._on_main(ValueError, ValueError(str(number)), None)
    assert (len(shown), len(written)) == (1, 50)
    shown[0].close()
    found._on_main(KeyError, KeyError("after"), None)
    assert len(shown) == 2
    shown[1].close()


def test_that_details_say_where_and_hold_no_value_of_the_data(capsys) -> None:
    value_of_data = "44007000500 SMITH"

    def parse(value):
        return int(value)

    try:
        try:
            parse(value_of_data)
        except ValueError as error:
            raise PhexploreError(f"{value_of_data} is no number.") from error
    except PhexploreError as error:
        details = failure_details(error)
    assert "SMITH" not in details
    assert "in parse: return int(value)" in details
    assert details.index("PhexploreError") < details.index("caused by") < details.index("ValueError")
    assert str(Path.home()) not in details


def test_that_a_recursion_without_end_gives_short_details() -> None:
    def again():
        return again()

    try:
        again()
    except RecursionError as error:
        details = failure_details(error)
    assert len(details.splitlines()) < 60
    assert "calls in the middle are left out" in details


def test_that_a_failure_while_an_object_is_taken_apart_is_written_down(capsys) -> None:
    written = []
    found = FailureHook(lambda *_words: None, lambda: True, record=written.append)
    before = sys.unraisablehook

    class Fragile:
        def __del__(self):
            raise OSError("data")

    try:
        sys.unraisablehook = found._on_unraisable
        item = Fragile()
        del item
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert "OSError" in written[0]
    assert "data" not in written[0].replace('raise OSError("data")', "")


def test_that_an_exception_in_a_slot_reaches_dialog_and_log_in_the_program(tmp_path) -> None:
    """The whole program: a slot fails, a thread fails, the report is in the log, the program goes on and ends well."""
    code = """
import sys, threading
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from phexplore.gui.main import start
from phexplore.gui.dialogs.messages import Message

def dialogs():
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, Message) and w.isVisible()]

def watch(window):
    def fail():
        raise ValueError("SECRET")
    def look():
        if (open := dialogs()):
            open[0].copy_details()
            print(len(open), repr(QApplication.clipboard().text()), flush=True)
            open[0].close()
            if len(seen) == 1:
                threading.Thread(target=lambda: {}["SECRET"]).start()
            else:
                window.leave_without_asking()
            seen.append(1)
    seen = [0]
    QTimer.singleShot(0, window, fail)
    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(20)

sys.exit(start.main(None, watch))
"""
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, **places, "QT_QPA_PLATFORM": "offscreen"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("1 ")
    assert "ValueError" in first
    assert "KeyError" in second
    (log,) = tmp_path.rglob("phexplore.log")
    assert "SECRET" not in (first + second + log.read_text(encoding="utf-8")).replace(
        'raise ValueError("SECRET")', ""
    ).replace('{}["SECRET"]', "")
    assert list(tmp_path.rglob("crash-*.txt")) == []


def test_that_the_keyboard_still_ends_the_program(hook, capsys) -> None:
    _raise(KeyboardInterrupt())
    assert hook.said == []
