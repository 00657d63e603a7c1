from __future__ import annotations

import threading

import pytest

from phexplore.gui.binding.tasks import Latest


@pytest.fixture
def gate():
    return threading.Event()


def test_that_only_the_newest_of_waiting_requests_is_computed(qtbot, gate) -> None:
    computed = []

    def work(value):
        gate.wait(10)
        computed.append(value)
        return value

    latest, results = Latest(work), []
    latest.finished.connect(results.append)
    for number in range(200):
        latest.request(number)
    gate.set()
    qtbot.waitUntil(lambda: bool(results))
    latest.stop()
    assert computed == [0, 199]
    assert results == [199]


def test_that_results_arrive_on_the_thread_of_the_window(qtbot) -> None:
    latest, threads = Latest(lambda value: value), []
    latest.finished.connect(lambda _: threads.append(threading.current_thread()))
    with qtbot.waitSignal(latest.finished):
        latest.request(1)
    latest.stop()
    assert threads == [threading.main_thread()]


def test_that_a_failure_is_delivered_with_its_exception(qtbot) -> None:
    latest = Latest(lambda value: 1 / value)
    with qtbot.waitSignal(latest.failed) as failed:
        latest.request(0)
    latest.stop()
    assert isinstance(failed.args[0], ZeroDivisionError)


def test_that_nothing_is_delivered_after_stop(qtbot, gate) -> None:
    latest, results = Latest(lambda _: gate.wait(10)), []
    latest.finished.connect(results.append)
    latest.request(1)
    gate.set()
    latest.stop()
    latest.request(2)
    qtbot.wait(20)
    assert results == []
