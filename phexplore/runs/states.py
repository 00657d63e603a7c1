"""The states of a run and the rule of its last event, without process or window.

Whoever starts a worker (the command line with ``subprocess``, the window with its own process class) feeds a
`RunMonitor` with what it sees and relays what the monitor returns. The rules live here once:

* every run relays exactly one final event;
* it is relayed only after the process is gone, so that after it the directory no longer changes;
* a worker that crashes without a final event has failed, with its exit status and the end of its log;
* a run is cancelled when a person asked for it, also if its worker had to be killed;
* a run whose worker, starter or computer was stopped from outside is interrupted, neither cancelled nor failed.
"""

from __future__ import annotations

import enum
import signal
from collections.abc import Mapping
from types import MappingProxyType

from phexplore.runs.events import (
    INTERRUPTED_REMEDY,
    Decoder,
    Event,
    Failed,
    FinalEvent,
    Finished,
    Note,
    Outcome,
    Paused,
    Resumed,
    Started,
)

GRACE_SECONDS = 2.0
"""How long a worker may take to stop by itself before it is killed."""

_CRASHES = frozenset({"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"})
"""Signals by which a process ends through its own error; any other is sent by somebody or by the system."""

LOG_TAIL_CHARACTERS = 4000
"""How much of the end of a dead worker's log goes into the failure's details."""


class RunState(enum.Enum):
    """Where a run is in its life. The value is the word for people and files."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens unless the run is started again."""
        return self in _ENDS.values()

    @property
    def has_process(self) -> bool:
        """Whether a worker process belongs to this state."""
        return self in {RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.CANCELLING}


class Happening(enum.Enum):
    """What can move a run to another state."""

    LAUNCHED = "launched"
    REPORTED_START = "reported start"
    REPORTED_PAUSE = "reported pause"
    REPORTED_RESUME = "reported resume"
    CANCEL_ASKED = "cancel asked"
    ENDED_COMPLETE = "ended complete"
    ENDED_CANCELLED = "ended cancelled"
    ENDED_INTERRUPTED = "ended interrupted"
    ENDED_FAILED = "ended failed"


_ENDS = {
    Happening.ENDED_COMPLETE: RunState.COMPLETE,
    Happening.ENDED_CANCELLED: RunState.CANCELLED,
    Happening.ENDED_INTERRUPTED: RunState.INTERRUPTED,
    Happening.ENDED_FAILED: RunState.FAILED,
}

TRANSITIONS: Mapping[tuple[RunState, Happening], RunState] = MappingProxyType(
    {
        (RunState.QUEUED, Happening.LAUNCHED): RunState.STARTING,
        (RunState.QUEUED, Happening.CANCEL_ASKED): RunState.CANCELLED,
        (RunState.STARTING, Happening.REPORTED_START): RunState.RUNNING,
        (RunState.RUNNING, Happening.REPORTED_PAUSE): RunState.PAUSED,
        (RunState.PAUSED, Happening.REPORTED_RESUME): RunState.RUNNING,
        **{
            (state, Happening.CANCEL_ASKED): RunState.CANCELLING
            for state in (RunState.STARTING, RunState.RUNNING, RunState.PAUSED)
        },
        **{
            (state, happening): end
            for state in (RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.CANCELLING)
            for happening, end in _ENDS.items()
        },
    }
)
"""All moves there are. Anything else leaves the state as it is: late or repeated news are no error."""


def after(state: RunState, happening: Happening) -> RunState:
    """Return the state that follows; the same one when the happening means nothing in it.

    Args:
        state: the present one.
        happening: what the worker or a person did.
    """
    return TRANSITIONS.get((state, happening), state)


class RunMonitor:
    """Follows one run from the outside.

    Attributes:
        state: where the run is now.
    """

    def __init__(self) -> None:
        self.state = RunState.QUEUED
        self._decoder = Decoder()
        self._final: FinalEvent | None = None
        self._killed = False
        self._ended = False

    def launched(self) -> None:
        """Record that the process is being started."""
        self._move(Happening.LAUNCHED)

    def feed(self, chunk: bytes) -> list[Event]:
        """Take bytes of the worker's standard output; return the events to relay now. A final one is held back."""
        return self._relay(self._decoder.feed(chunk))

    def ask_to_cancel(self) -> bytes:
        """Record the wish to stop; return what to write to the worker's standard input.

        A queued run has no process: relay what `process_gone(None, "")` returns.
        """
        self._move(Happening.CANCEL_ASKED)
        return b"cancel\n"

    def killed(self) -> None:
        """Record that the starter killed the process: it did not stop in time, or the starter is ending."""
        self._killed = True

    def process_gone(self, exit_code: int | None, log: str) -> tuple[Event, ...]:
        """Return the last events to relay, the final one last; empty when it was relayed before.

        Args:
            exit_code: of the process; negative = ended by that signal; None = it could not be started.
            log: what it wrote to standard error.
        """
        if self._ended:
            return ()
        self._ended = True
        rest = self._relay(self._decoder.finish())
        final = self._final or self._verdict(exit_code, log)
        self._move(Happening(f"ended {'failed' if isinstance(final, Failed) else final.outcome.value}"))
        if final == Finished(Outcome.INTERRUPTED) is not self._final and exit_code is not None:
            rest.append(
                Note(f"The worker process was ended from outside ({exit_text(exit_code)}). {INTERRUPTED_REMEDY}")
            )
        return (*rest, final)

    def _verdict(self, exit_code: int | None, log: str) -> FinalEvent:
        tail = log[-LOG_TAIL_CHARACTERS:]
        if self.state in {RunState.CANCELLING, RunState.CANCELLED}:
            return Finished(Outcome.CANCELLED)
        if self._killed or (exit_code is not None and exit_code < 0 and _signal_name(exit_code) not in _CRASHES):
            return Finished(Outcome.INTERRUPTED)
        if exit_code is None:
            return Failed("The run could not be started.", "Check that the program is installed completely.", tail)
        return Failed(
            f"The run stopped unexpectedly ({exit_text(exit_code)}).",
            "Finished trials are kept. Resume the run; if it stops again, it may need more memory than there is.",
            tail,
        )

    def _relay(self, events: list[Event]) -> list[Event]:
        relayed: list[Event] = []
        for event in events:
            match event:
                case Finished() | Failed():
                    self._final = self._final or event
                    continue
                case Started():
                    self._move(Happening.REPORTED_START)
                case Paused():
                    self._move(Happening.REPORTED_PAUSE)
                case Resumed():
                    self._move(Happening.REPORTED_RESUME)
            relayed.append(event)
        return relayed

    def _move(self, happening: Happening) -> None:
        self.state = after(self.state, happening)


def exit_text(exit_code: int) -> str:
    """Return an exit status in words: ``exit code 3`` or ``killed by SIGKILL``."""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    return f"killed by {_signal_name(exit_code)}"


def _signal_name(exit_code: int) -> str:
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"
