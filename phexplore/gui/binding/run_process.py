"""One background run as the window sees it: a worker process and its events."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from phexplore.gui.binding.process_service import Ended, ProcessService
from phexplore.runs.launch import worker_command
from phexplore.runs.place import HERE, Place
from phexplore.runs.states import GRACE_SECONDS, LOG_TAIL_CHARACTERS, RunMonitor, RunState

_NICENESS = 10
"""Workers yield to the window: with more workers than cores its timer gaps stay below 15 ms."""


class RunProcess(QObject):
    """Starts a worker for a run directory and relays its events.

    Whatever happens to the worker, exactly one final event is relayed, and only once the process is gone: after it, the
    run directory no longer changes. The worker runs in a session of its own, so that a kill reaches its children; when
    the window dies, the end of its standard input tells it to stop.

    Signals:
        reported: every event of the worker, in order; the last is Finished or Failed.
        state_changed: the new `RunState`.
    """

    reported = Signal(object)
    state_changed = Signal(object)

    def __init__(
        self,
        directory: Path,
        parent: QObject | None = None,
        *,
        place: Place = HERE,
        command: list[str] | None = None,
    ) -> None:
        """Prepare the run.

        Args:
            directory: of the run, as the run store made it.
            parent: owner.
            place: where it is computed.
            command: program and arguments to start instead of the shipped worker.
        """
        super().__init__(parent)
        self.directory = directory
        self._monitor = RunMonitor()
        self._announced = self._monitor.state
        self._command = command or worker_command(directory, place)
        self._service = ProcessService(self, niceness=_NICENESS, in_session=True)
        self._service.wrote.connect(self._read_events)
        self._service.ended.connect(self._on_ended)
        self._grace = QTimer(self)
        self._grace.setSingleShot(True)
        self._grace.setInterval(int(GRACE_SECONDS * 1000))
        self._grace.timeout.connect(self._kill)

    @property
    def state(self) -> RunState:
        """Where the run is in its life."""
        return self._monitor.state

    @property
    def process_id(self) -> int:
        """The worker's process, 0 when there is none."""
        return self._service.process_id

    def start(self) -> None:
        """Start the worker."""
        self._monitor.launched()
        self._announce()
        self._service.start(self._command)

    def cancel(self) -> None:
        """Ask the worker to stop; kill it if it does not within the grace period. Finished trials are kept."""
        command = self._monitor.ask_to_cancel()
        self._announce()
        if self._service.is_running:
            self._service.write(command)
            self._grace.start()
        else:
            self._on_ended(Ended(None, ""))

    def pause(self) -> None:
        """Ask the worker to rest after the current piece of work."""
        self._service.write(b"pause\n")

    def resume(self) -> None:
        """Ask a resting worker to go on."""
        self._service.write(b"resume\n")

    def shut_down(self) -> None:
        """End the worker because the window closes: first by itself, after the grace period by force. Blocks."""
        if not self._service.is_running:
            return
        self._service.write(self._monitor.ask_to_cancel())
        self._service.close_input()
        if not self._service.wait(int(GRACE_SECONDS * 1000)):
            self._kill()
            self._service.wait(int(GRACE_SECONDS * 1000))

    def _kill(self) -> None:
        if self._service.is_running:
            self._monitor.killed()
            self._service.kill()

    def _read_events(self, chunk: bytes) -> None:
        for event in self._monitor.feed(chunk):
            self._announce()
            self.reported.emit(event)

    def _on_ended(self, end: Ended) -> None:
        self._grace.stop()
        events = self._monitor.process_gone(end.code, end.log[-LOG_TAIL_CHARACTERS:])
        self._announce()
        for event in events:
            self.reported.emit(event)

    def _announce(self) -> None:
        if self._monitor.state is not self._announced:
            self._announced = self._monitor.state
            self.state_changed.emit(self._announced)
