from __future__ import annotations

import importlib
import sys
import threading

import pytest
from PySide6.QtCore import QTimer

from phexplore.gui.binding.collector import collector
from phexplore.gui.main.warmup import LIBRARIES, PARTS, Warmup


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Make a module that says in which thread it was loaded."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(name, body=""):
        (tmp_path / f"{name}.py").write_text(f"import threading\nthread = threading.current_thread().name\n{body}")
        made.append(name)
        return name

    yield make
    for name in made:
        sys.modules.pop(name, None)


def test_that_libraries_load_in_a_thread_and_parts_in_the_windows_own(qtbot, module) -> None:
    warmup = Warmup(None, [module("warm_library")], [module("warm_part"), module("warm_other")])
    with qtbot.waitSignal(warmup.done):
        warmup.start()
    assert sys.modules["warm_library"].thread == "warm-up"
    assert sys.modules["warm_part"].thread == sys.modules["warm_other"].thread == threading.main_thread().name
    warmup.stop()


def test_that_parts_load_in_turns_of_the_event_loop(qtbot, module) -> None:
    """What the user does meanwhile comes between two of them."""
    turns = importlib.import_module(module("warm_turns", "count = 0"))
    timer = QTimer()
    timer.timeout.connect(lambda: setattr(turns, "count", turns.count + 1))
    timer.start(0)
    parts = [module(name, "import warm_turns\nat = warm_turns.count") for name in ("warm_first", "warm_second")]
    warmup = Warmup(None, [], parts)
    with qtbot.waitSignal(warmup.done):
        warmup.start()
    timer.stop()
    first, second = (sys.modules[name].at for name in parts)
    assert second > first
    warmup.stop()


def test_that_widgets_are_not_collected_in_the_thread(qtbot, module) -> None:
    before = collector()._holders
    warmup = Warmup(None, [module("warm_held")], [])
    with qtbot.waitSignal(warmup.done):
        warmup.start()
        assert collector()._holders == before + 1
    warmup.stop()
    warmup.stop()
    assert collector()._holders == before


def test_that_nothing_is_loaded_after_the_window_closed(qtbot, module) -> None:
    done = []
    warmup = Warmup(None, [], [module("warm_never")])
    warmup.done.connect(lambda: done.append(1))
    warmup.stop()
    warmup.start()
    qtbot.wait(50)
    assert done == []
    assert "warm_never" not in sys.modules


def test_that_everything_named_exists(qtbot, window) -> None:
    named = {*LIBRARIES, *PARTS}.union(*((*room.libraries, *room.parts) for room in window.rooms.values()))
    qtbot.waitUntil(lambda: named <= set(sys.modules))
