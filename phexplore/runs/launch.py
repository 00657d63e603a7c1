"""Running a worker as a child process without a window: what the command line does.

The window does the same with its own process class over the same `RunMonitor`.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Self

from phexplore.entry import WORKER, program_command
from phexplore.platforms import end_group, group_options
from phexplore.runs.events import Event, Failed, FinalEvent, Finished
from phexplore.runs.place import HERE, Place
from phexplore.runs.states import GRACE_SECONDS, LOG_TAIL_CHARACTERS, RunMonitor, RunState
from phexplore.runs.store import record_final

_TICK_SECONDS = 0.2
"""How often the loop looks at the clock while nothing happens; Windows hears Ctrl-C only then."""

_DRAIN_SECONDS = 1.0
"""How long to wait for the rest of the output of a process that is gone: a grandchild may hold the pipe open."""


def worker_command(directory: Path, place: Place = HERE) -> list[str]:
    """Return program and arguments of the worker of a run directory.

    Args:
        directory: of the run.
        place: where it is computed; the address of a scheduler comes from whoever starts the run, never from a file.
    """
    return program_command(WORKER, str(directory.absolute()), *place.arguments())


class WorkerProcess:
    """A worker in a session of its own, followed through its events.

    Use as a context manager: leaving it ends the worker and everything it started.
    """

    def __init__(self, directory: Path, command: Sequence[str] | None = None) -> None:
        """Prepare the run.

        Args:
            directory: of the run, as the store made it.
            command: program and arguments to start instead of the shipped worker.
        """
        self.directory = directory
        self._command = list(command or worker_command(directory))
        self._monitor = RunMonitor()
        self._process: subprocess.Popen[bytes] | None = None
        self._news: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._log = ""
        self._readers: list[threading.Thread] = []
        self._deadline = float("inf")

    @property
    def state(self) -> RunState:
        """Where the run is in its life."""
        return self._monitor.state

    @property
    def process_id(self) -> int:
        """The worker's process, 0 before it is started."""
        return self._process.pid if self._process else 0

    @property
    def exit_code(self) -> int | None:
        """Status of a worker that is gone, negative for the signal that ended it; None before."""
        return self._process.poll() if self._process else None

    def events(self) -> Iterator[Event]:
        """Start the worker and yield its events; the last one is `Finished` or `Failed`, after the process is gone."""
        if self.state is RunState.QUEUED:
            self._monitor.launched()
            try:
                self._start()
            except OSError as error:
                yield from self._ending(None, str(error))
                return
        elif self._process is None:
            yield from self._ending(None, "")
            return
        while (chunk := self._next_chunk()) is not None:
            yield from self._monitor.feed(chunk)
        yield from self._end()

    def cancel(self) -> None:
        """Ask the worker to stop; it is killed if it does not within `GRACE_SECONDS`. Finished trials are kept."""
        command = self._monitor.ask_to_cancel()
        if self._process is not None:
            self._deadline = min(self._deadline, time.monotonic() + GRACE_SECONDS)
            self._send(command)

    def pause(self) -> None:
        """Ask the worker to rest after the current piece of work."""
        self._send(b"pause\n")

    def resume(self) -> None:
        """Ask a resting worker to go on."""
        self._send(b"resume\n")

    def kill(self) -> None:
        """End the worker and everything it started, at once. A run that nobody cancelled is interrupted."""
        if self._process is None or self._process.poll() is not None:
            return
        self._monitor.killed()
        with contextlib.suppress(OSError):  # the group may be gone between the check and the signal
            end_group(self._process)

    def __enter__(self) -> Self:
        """Return the process, not started yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the worker, if it still lives, and close the pipes."""
        if self._process is None:
            return
        self.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(_DRAIN_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own worker, arguments as a list, no shell
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **group_options(),
        )
        self._follow(self._read_events, self._process.stdout)
        self._follow(self._read_log, self._process.stderr)
        self._follow(self._await_exit, None)

    def _follow(self, task: Callable[..., None], pipe: IO[bytes] | None) -> None:
        thread = threading.Thread(target=task, args=() if pipe is None else (pipe,), daemon=True)
        thread.start()
        self._readers.append(thread)

    def _read_events(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed under a grandchild's hands
            while chunk := os.read(pipe.fileno(), 65536):
                self._news.put(chunk)

    def _read_log(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(pipe.fileno(), 65536):
                self._log = (self._log + chunk.decode(errors="replace"))[-LOG_TAIL_CHARACTERS:]

    def _await_exit(self) -> None:
        if self._process is not None:
            self._process.wait()
        for reader in self._readers[:2]:
            reader.join(_DRAIN_SECONDS)
        self._news.put(None)

    def _next_chunk(self) -> bytes | None:
        """Return the next output, None once the process is gone and its output read."""
        while True:
            try:
                return self._news.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                if time.monotonic() >= self._deadline:
                    self.kill()

    def _end(self) -> Iterator[Event]:
        code = self._process.wait() if self._process else None
        yield from self._ending(code, self._log)

    def _ending(self, exit_code: int | None, log: str) -> Iterator[Event]:
        for event in self._monitor.process_gone(exit_code, log):
            if isinstance(event, Finished | Failed):
                with contextlib.suppress(OSError):  # a disk that failed the worker may fail here too
                    record_final(self.directory, event, log if exit_code else "")
            yield event

    def _send(self, command: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # the worker is gone; its end is on the way
                os.write(self._process.stdin.fileno(), command)  # unbuffered: an interrupt may send in between


def run_worker(
    directory: Path, on_event: Callable[[Event], None], *, place: Place = HERE, command: Sequence[str] | None = None
) -> FinalEvent:
    """Run a worker to its end and return the final event, which is also the last one passed on.

    In the main thread, Ctrl-C asks the worker to cancel, a second Ctrl-C kills it.

    Args:
        directory: of the run, as the store made it.
        on_event: called with every event.
        place: where it is computed.
        command: program and arguments to start instead of the shipped worker.
    """
    with WorkerProcess(directory, command or worker_command(directory, place)) as worker, _interrupts(worker):
        last: Event | None = None
        for event in worker.events():
            on_event(event)
            last = event
    if not isinstance(last, Finished | Failed):
        raise RuntimeError("a run ended without a final event")  # noqa: TRY004 - a broken promise, not a wrong argument
    return last


@contextlib.contextmanager
def _interrupts(worker: WorkerProcess) -> Iterator[None]:
    """Turn Ctrl-C into a cancel for the length of the block, and a second one into a kill."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        if worker.state is RunState.CANCELLING:
            worker.kill()
        else:
            worker.cancel()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
