"""One background run as the window sees it: a worker process and its events."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

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
        self._log = ""
        self._announced = self._monitor.state
        program, *arguments = command or worker_command(directory, place)
        self._process = QProcess(self)
        self._process.setProgram(program)
        self._process.setArguments(arguments)
        parameters = QProcess.UnixProcessParameters()
        parameters.flags = QProcess.UnixProcessFlag.CreateNewSession
        self._process.setUnixProcessParameters(parameters)
        self._process.started.connect(self._on_started)
        self._process.readyReadStandardOutput.connect(self._read_events)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
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
        return int(self._process.processId())

    def start(self) -> None:
        """Start the worker."""
        self._monitor.launched()
        self._announce()
        self._process.start()

    def cancel(self) -> None:
        """Ask the worker to stop; kill it if it does not within the grace period. Finished trials are kept."""
        command = self._monitor.ask_to_cancel()
        self._announce()
        if self._is_running():
            self._process.write(command)
            self._grace.start()
        else:
            self._relay_end(None)

    def pause(self) -> None:
        """Ask the worker to rest after the current piece of work."""
        self._process.write(b"pause\n")

    def resume(self) -> None:
        """Ask a resting worker to go on."""
        self._process.write(b"resume\n")

    def shut_down(self) -> None:
        """End the worker because the window closes: first by itself, after the grace period by force. Blocks."""
        if not self._is_running():
            return
        self._monitor.ask_to_cancel()
        self._process.closeWriteChannel()
        if not self._process.waitForFinished(int(GRACE_SECONDS * 1000)):
            self._kill()
            self._process.waitForFinished(int(GRACE_SECONDS * 1000))

    def _is_running(self) -> bool:
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def _on_started(self) -> None:
        with suppress(OSError, AttributeError):  # gone already, or a system without priorities
            os.setpriority(os.PRIO_PROCESS, self.process_id, _NICENESS)

    def _kill(self) -> None:
        if not self._is_running():
            return
        self._monitor.killed()
        with suppress(OSError, AttributeError):  # the group may be gone between the check and the signal
            os.killpg(self.process_id, signal.SIGKILL)
        self._process.kill()

    def _read_events(self) -> None:
        for event in self._monitor.feed(bytes(self._process.readAllStandardOutput().data())):
            self._announce()
            self.reported.emit(event)

    def _read_log(self) -> None:
        text = bytes(self._process.readAllStandardError().data()).decode(errors="replace")
        self._log = (self._log + text)[-LOG_TAIL_CHARACTERS:]

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_events()
        self._read_log()
        # Qt reports the number of the signal as the exit code of a process that did not exit by itself.
        self._relay_end(-code if status is QProcess.ExitStatus.CrashExit else code)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # the only error that is not followed by `finished`
            self._log += self._process.errorString()
            self._relay_end(None)

    def _relay_end(self, exit_code: int | None) -> None:
        self._grace.stop()
        events = self._monitor.process_gone(exit_code, self._log)
        self._announce()
        for event in events:
            self.reported.emit(event)

    def _announce(self) -> None:
        if self._monitor.state is not self._announced:
            self._announced = self._monitor.state
            self.state_changed.emit(self._announced)
