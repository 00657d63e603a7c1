"""The worker's side of its two pipes: commands come in, events go out."""

from __future__ import annotations

import contextlib
import enum
import os
import threading
import time
from collections.abc import Callable, Iterator

from phexplore.errors import CancelledError
from phexplore.preparing import PREPARING
from phexplore.runs.events import (
    Event,
    FinalEvent,
    Note,
    Outcome,
    Paused,
    PhaseDone,
    Progress,
    Resumed,
    encode,
)
from phexplore.runs.journal import EventJournal

PROGRESS_INTERVAL_SECONDS = 0.05
"""Progress is sent at most 20 times a second: a window that reads more falls behind its own redraws."""


class Reporter:
    """Sends events to whoever started the worker and records them in the run directory. Safe to use from threads."""

    def __init__(self, handle: int) -> None:
        """Send to an open file descriptor.

        Args:
            handle: of the pipe; events that nobody reads any more are dropped.
        """
        self._handle = handle
        self._lock = threading.Lock()
        self._journal: EventJournal | None = None
        self._ended = False

    def record_in(self, journal: EventJournal | None) -> None:
        """Record events from now on, or stop doing so."""
        with self._lock:
            self._journal = journal

    def report(self, event: Event) -> None:
        """Record and send an event; nothing after the final one."""
        with self._lock:
            if not self._ended:
                self._record(event)
                self._send(event)

    def claim_end(self) -> bool:
        """Return whether the caller is the one to end the run; nothing else is reported from now on."""
        with self._lock:
            first, self._ended = not self._ended, True
            return first

    def record_end(self, event: FinalEvent) -> None:
        """Record the final event without sending it: the caller has claimed the end."""
        with self._lock:
            self._record(event)

    def send_end(self, event: FinalEvent) -> None:
        """Send the final event: the caller has claimed the end."""
        with self._lock:
            self._send(event)

    def _record(self, event: Event) -> None:
        if self._journal is not None:
            self._journal.add(event)

    def _send(self, event: Event) -> None:
        line = memoryview(encode(event).encode() + b"\n")
        with contextlib.suppress(OSError):  # the reader is gone; standard input says so too
            while line:
                line = line[os.write(self._handle, line) :]


class Wish(enum.Enum):
    """What the starter of the run wants now."""

    GO_ON = "go on"
    PAUSE = "pause"
    STOP = "stop"


class Control:
    """What the starter of the run wants, as its thread hears it and the simulation asks it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._wish = Wish.GO_ON
        self.outcome = Outcome.CANCELLED

    def set(self, wish: Wish, outcome: Outcome = Outcome.CANCELLED) -> bool:
        """Take a new wish and return whether it is the first one to stop, which is final.

        Args:
            wish: the new one.
            outcome: of a run that stops because of it.
        """
        with self._changed:
            if self._wish is Wish.STOP:
                return False
            self._wish, self.outcome = wish, outcome
            self._changed.notify_all()
            return wish is Wish.STOP

    @property
    def wish(self) -> Wish:
        """What is wanted now."""
        with self._changed:
            return self._wish

    def wait_while_paused(self) -> Wish:
        """Return the wish once it is another than to pause."""
        with self._changed:
            self._changed.wait_for(lambda: self._wish is not Wish.PAUSE)
            return self._wish


_WISHES = {b"cancel": Wish.STOP, b"pause": Wish.PAUSE, b"resume": Wish.GO_ON}


def listen(handle: int, control: Control, on_stop: Callable[[], None]) -> None:
    """Follow the commands on an open file descriptor until it ends. Unknown ones are passed over.

    The end of the file means that the program that started the run has ended: nobody cancelled the run.

    Args:
        handle: of the pipe. It is read directly, so that a thread in here never holds a lock of ``sys.stdin``.
        control: told of every command.
        on_stop: called once, after ``cancel`` or at the end of the file; ends the process where the run does not stop
            by itself.
    """
    rest = b""
    while chunk := _read(handle):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if (wish := _WISHES.get(line.strip())) is not None and control.set(wish):
                on_stop()
    if control.set(Wish.STOP, Outcome.INTERRUPTED):
        on_stop()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 4096)
    except OSError:
        return b""


class TimeLeft:
    """Estimates how long the rest of a phase takes from what this start has done of it."""

    def __init__(self, started: float, already: int) -> None:
        """Begin a phase.

        Args:
            started: clock reading in seconds.
            already: units that were done before.
        """
        self._started = started
        self._already = already
        self._paused = 0.0

    def add_pause(self, seconds: float) -> None:
        """Leave a rest out of the account."""
        self._paused += seconds

    def estimate(self, now: float, done: int, total: int) -> float | None:
        """Return the seconds left, None while nothing is known.

        Args:
            now: seconds on the clock of the constructor.
            done: units of work done.
            total: units of work in all.
        """
        fresh = done - self._already
        if fresh <= 0 or total <= 0:
            return None
        return max(0.0, (now - self._started - self._paused) / fresh * (total - done))


class WorkerWatch:
    """The simulation's view of the worker. Safe to use from threads."""

    def __init__(self, reporter: Reporter, control: Control, clock: Callable[[], float] = time.monotonic) -> None:
        self._reporter = reporter
        self._control = control
        self._clock = clock
        self._lock = threading.Lock()
        self._resting = 0
        self._rested = 0.0
        self._rest_began = 0.0
        self._phase = ""
        self._left: dict[str, TimeLeft] = {}
        self._next_progress = 0.0
        self._last: Progress | None = None
        self._prepares = False

    def prepare_solver(self, ready: int, kernels: int) -> None:
        """Say that a kernel is being compiled; passes no checkpoint, because the compiler would take its error for its own.

        Args:
            ready: kernels that have machine code.
            kernels: all that are loaded.
        """
        self._prepares = True
        self._reporter.report(Progress(PREPARING, ready, kernels))

    def checkpoint(self) -> None:
        """Rest here while the run is paused.

        Raises:
            CancelledError: the run is to stop.
        """
        if self._prepares:
            self._prepares = False
            if self._last is not None:
                self._reporter.report(self._last)
        if self._control.wish is Wish.PAUSE:
            self._rest()
        if self._control.wish is Wish.STOP:
            raise CancelledError("The run was cancelled.", "Finished trials are kept; resume the run to go on.")

    def progress(self, phase: str, done: int, total: int) -> None:
        """Report how far a phase is, at most 20 times a second but always its end, and pass a checkpoint.

        Args:
            phase: its name.
            done: units of work done.
            total: units of work in all, 0 while unknown.

        Raises:
            CancelledError: the run is to stop.
        """
        now = self._clock()
        with self._lock:
            if phase != self._phase:
                self._phase, self._next_progress = phase, now
                self._left.setdefault(
                    phase, TimeLeft(now, done)
                )  # trials that move together take turns with their ends
            due = now >= self._next_progress or done == total
            if due:
                self._next_progress = now + PROGRESS_INTERVAL_SECONDS
                left = self._left[phase].estimate(now, done, total)
        if due:
            self._last, self._prepares = Progress(phase, done, total, left), False
            self._reporter.report(self._last)
        self.checkpoint()

    def note(self, text: str) -> None:
        """Tell the user something about the run."""
        self._reporter.report(Note(text))

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure a phase, pauses left out, and report its end."""
        began, rested = self._clock(), self._rested
        yield
        self.phase_done(name, self._clock() - began - (self._rested - rested))

    def phase_done(self, name: str, seconds: float) -> None:
        """Report the end of a phase whose time was measured elsewhere.

        Args:
            name: of the phase.
            seconds: how long it took.
        """
        self._reporter.report(PhaseDone(name, round(seconds, 4)))

    def _rest(self) -> None:
        with self._lock:
            self._resting += 1
            if self._resting == 1:
                self._rest_began = self._clock()
                self._reporter.report(Paused())
        self._control.wait_while_paused()
        with self._lock:
            self._resting -= 1
            if self._resting == 0:
                seconds = self._clock() - self._rest_began
                self._rested += seconds
                for each in self._left.values():
                    each.add_pause(seconds)
                self._reporter.report(Resumed())
