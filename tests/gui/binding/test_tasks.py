from __future__ import annotations

import gc
import threading
import weakref

import pytest

from phexplore.errors import PhexploreError
from phexplore.gui.binding.collector import Collector, collector
from phexplore.gui.binding.tasks import Tasks


@pytest.fixture
def tasks(qapp):
    found = Tasks()
    yield found
    found.stop()


def test_that_every_task_is_done_in_its_order(tasks, qtbot):
    done = []
    for number in range(20):
        tasks.do(lambda number=number: number, done.append)
    assert tasks.is_busy
    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert done == list(range(20))


def test_that_an_expected_failure_is_told_and_the_next_task_is_done(tasks, qtbot):
    failures, done = [], []
    tasks.failed.connect(failures.append)

    def refuse():
        raise PhexploreError("No room.", "Make some.")

    tasks.do(refuse, done.append)
    tasks.do(lambda: 7, done.append)
    qtbot.waitUntil(lambda: done == [7])
    assert [(error.sentence, error.remedy) for error in failures] == [("No room.", "Make some.")]


def test_that_what_was_done_is_delivered_before_the_end_of_the_work_is_told(tasks, qtbot):
    told = []
    tasks.busy_changed.connect(told.append)
    tasks.do(lambda: 7, told.append)
    qtbot.waitUntil(lambda: not tasks.is_busy)
    assert told == [True, 7, False]


def test_that_a_bug_is_raised_in_the_thread_of_the_window(tasks, qtbot):
    with qtbot.captureExceptions() as caught:
        tasks.do(lambda: 1 / 0, lambda _: None)
        qtbot.waitUntil(lambda: not tasks.is_busy)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError]


def test_that_nothing_is_delivered_after_the_end(tasks, qtbot):
    done, gate = [], threading.Event()
    tasks.do(lambda: gate.wait(10), done.append)
    gate.set()
    tasks.stop()
    tasks.do(lambda: 2, done.append)
    qtbot.wait(20)
    assert done == []


def test_that_cycles_are_collected_in_the_thread_of_the_window_only(qapp, monkeypatch):
    own = Collector(qapp)  # whatever pages of other tests still hold
    monkeypatch.setattr("phexplore.gui.binding.tasks.collector", lambda: own)
    first, second = Tasks(), Tasks()
    assert not gc.isenabled()
    first.stop()
    first.stop()
    assert not gc.isenabled()
    second.stop()
    assert gc.isenabled()


def test_that_the_timer_collects_what_has_gathered(tasks):
    class Knot:
        def __init__(self):
            self.own = self

    knots = [Knot() for _ in range(2 * gc.get_threshold()[0])]
    gone = []
    for knot in knots:
        weakref.finalize(knot, gone.append, 1)
    del knot
    knots.clear()
    assert gone == []
    collector().look()
    assert len(gone) > 0
