from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from phexplore.errors import CancelledError
from phexplore.preparing import PREPARING
from phexplore.runs.events import Decoder, Event, Failed, Note, Outcome, Paused, PhaseDone, Progress, Resumed
from phexplore.runs.reporting import Control, Reporter, TimeLeft, Wish, WorkerWatch, listen


class Pipe:
    """A reporter whose pipe the test reads."""

    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.reporter = Reporter(self.write_end)

    def events(self) -> list[Event]:
        os.close(self.write_end)
        decoder, found = Decoder(), list[Event]()
        while chunk := os.read(self.read_end, 65536):
            found += decoder.feed(chunk)
        os.close(self.read_end)
        return found


@pytest.fixture
def pipe() -> Pipe:
    return Pipe()


class Clock:
    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_that_progress_is_sent_at_most_twenty_times_a_second_and_always_at_its_end(pipe: Pipe) -> None:
    watch = WorkerWatch(pipe.reporter, Control(), Clock(0.01))
    for done in range(1, 101):
        watch.progress("trials", done, 100)
    events = pipe.events()
    assert len(events) == 21
    assert events[-1] == Progress("trials", 100, 100, 0.0)


def test_that_the_phase_comes_back_after_the_solver_was_prepared(pipe: Pipe) -> None:
    watch = WorkerWatch(pipe.reporter, Control(), Clock(0.01))
    watch.progress("trials", 1, 4)
    watch.prepare_solver(3, 70)
    watch.prepare_solver(4, 70)
    for _ in range(2):
        watch.checkpoint()
    trials = Progress("trials", 1, 4)
    assert pipe.events() == [trials, Progress(PREPARING, 3, 70), Progress(PREPARING, 4, 70), trials]


def test_that_the_time_left_follows_the_pace_of_this_start_alone() -> None:
    left = TimeLeft(started=100.0, already=50)
    assert left.estimate(100.0, 50, 100) is None
    assert left.estimate(110.0, 60, 100) == pytest.approx(40.0)
    left.add_pause(5.0)
    assert left.estimate(115.0, 60, 100) == pytest.approx(40.0)
    assert left.estimate(200.0, 60, 0) is None


def test_that_nothing_is_reported_after_the_end(pipe: Pipe) -> None:
    assert pipe.reporter.claim_end()
    assert not pipe.reporter.claim_end()
    pipe.reporter.report(Note("too late"))
    pipe.reporter.send_end(Failed("x"))
    assert pipe.events() == [Failed("x")]


def test_that_a_reader_that_left_is_no_error() -> None:
    pipe = Pipe()
    os.close(pipe.read_end)
    pipe.reporter.report(Note("nobody hears this"))
    os.close(pipe.write_end)


def test_that_a_phase_reports_its_length(pipe: Pipe) -> None:
    clock = Clock(0.5)
    with WorkerWatch(pipe.reporter, Control(), clock).phase("read"):
        clock()
    assert pipe.events() == [PhaseDone("read", 1.0)]


def test_that_a_pause_is_announced_and_costs_no_time(pipe: Pipe) -> None:
    control = Control()
    times: Iterator[float] = iter([0.0, 10.0, 70.0, 80.0])  # begins, pauses, goes on, ends
    watch = WorkerWatch(pipe.reporter, control, lambda: next(times))
    with watch.phase("count"):
        control.set(Wish.PAUSE)
        waker = threading.Thread(target=lambda: control.set(Wish.GO_ON))
        resting = threading.Thread(target=watch.checkpoint)
        resting.start()
        while not resting_seen(watch):
            pass
        waker.start()
        resting.join()
        waker.join()
    assert pipe.events() == [Paused(), Resumed(), PhaseDone("count", 20.0)]


def resting_seen(watch: WorkerWatch) -> bool:
    with watch._lock:
        return watch._resting == 1


def test_that_a_checkpoint_stops_a_cancelled_run(pipe: Pipe) -> None:
    control = Control()
    watch = WorkerWatch(pipe.reporter, control)
    watch.checkpoint()
    control.set(Wish.STOP)
    with pytest.raises(CancelledError):
        watch.checkpoint()
    pipe.events()


def test_that_a_wish_to_stop_stays() -> None:
    control = Control()
    control.set(Wish.STOP)
    control.set(Wish.GO_ON)
    assert control.wish is Wish.STOP
    assert control.wait_while_paused() is Wish.STOP


@pytest.mark.defect("T16")
@pytest.mark.parametrize(
    ("spoken", "outcome"),
    [
        (b"pause\n", Outcome.INTERRUPTED),
        (b"cancel\n", Outcome.CANCELLED),
        (b"can" + b"cel\nresume\n", Outcome.CANCELLED),
        (b"cancel", Outcome.INTERRUPTED),
        (b"dance\n\n", Outcome.INTERRUPTED),
        (b"", Outcome.INTERRUPTED),
    ],
)
def test_that_the_end_of_the_pipe_stops_once_and_only_a_person_cancels(spoken: bytes, outcome: Outcome) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, spoken)
    os.close(write_end)
    control, cancelled = Control(), []
    listen(read_end, control, lambda: cancelled.append(True))
    os.close(read_end)
    assert control.wish is Wish.STOP
    assert cancelled == [True]
    assert control.outcome is outcome
