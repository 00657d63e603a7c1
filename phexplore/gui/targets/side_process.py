"""The command line as a process beside the window: long work that can be stopped and shows its lines as it goes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from phexplore.errors import PhexploreError

_NICENESS = 10
_GRACE_MS = 3000
_LOG_LINES = 400


class SideWorkError(PhexploreError):
    """Work beside the window that failed."""


def phexplore_command(arguments: Sequence[str]) -> list[str]:
    """Return program and arguments of the command line, from source or frozen into one binary."""
    program = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "phexplore"]
    return [*program, *arguments]


class SideProcess(QObject):
    """Runs one command at a time.

    Signals:
        said: a line the command wrote to its messages (str).
        done: all it wrote as its answer (str); only when it ended well.
        stopped: it was stopped by the user.
        failed: a `PhexploreError`.
        busy_changed: whether it is at work (bool).
    """

    said = Signal(object)
    done = Signal(object)
    stopped = Signal()
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rest, self._lines = "", [""]
        self._answer = bytearray()
        self._is_stopping = False
        self._process = QProcess(self)
        self._process.started.connect(self._on_started)
        self._process.readyReadStandardError.connect(self._read_lines)
        self._process.readyReadStandardOutput.connect(self._read_answer)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._grace = QTimer(self)
        self._grace.setSingleShot(True)
        self._grace.setInterval(_GRACE_MS)
        self._grace.timeout.connect(self._process.kill)

    @property
    def is_busy(self) -> bool:
        """Whether a command is at work."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, command: Sequence[str]) -> None:
        """Start a command, program first; refused while another one is at work."""
        if self.is_busy:
            self.failed.emit(SideWorkError("This is at work already.", "Stop it, or wait until it has finished."))
            return
        self._rest, self._lines, self._is_stopping = "", [], False
        self._answer.clear()
        program, *arguments = command
        self._process.start(program, arguments)
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Ask the command to stop as Ctrl+C does; by force after the grace period. What it stored stays."""
        if not self.is_busy:
            return
        self._is_stopping = True
        with suppress(OSError, AttributeError):  # gone already, or a system without this signal
            os.kill(int(self._process.processId()), signal.SIGINT)
        self._grace.start()

    def shut_down(self) -> None:
        """End the command because the window closes."""
        if self.is_busy:
            self._is_stopping = True
            self._process.kill()
            self._process.waitForFinished(_GRACE_MS)

    def _on_started(self) -> None:
        with suppress(OSError, AttributeError):  # gone already, or a system without priorities
            os.setpriority(os.PRIO_PROCESS, int(self._process.processId()), _NICENESS)

    def _read_answer(self) -> None:
        self._answer += bytes(self._process.readAllStandardOutput().data())

    def _read_lines(self) -> None:
        text = self._rest + bytes(self._process.readAllStandardError().data()).decode(errors="replace")
        *lines, self._rest = text.split("\n")
        for line in lines:
            self._lines = [*self._lines[-_LOG_LINES:], line]
            self.said.emit(line)

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._grace.stop()
        self._read_answer()
        self._read_lines()
        self.busy_changed.emit(False)
        if self._is_stopping:
            self.stopped.emit()
        elif code == 0 and status is QProcess.ExitStatus.NormalExit:
            self.done.emit(self._answer.decode(errors="replace"))
        else:
            lines = [line for line in (*self._lines, self._rest) if line.strip()][-6:]
            first, *rest = lines or [f"The work beside the window ended with exit code {code}."]
            self.failed.emit(SideWorkError(first, " ".join(rest)))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # the only error that is not followed by `finished`
            self.busy_changed.emit(False)
            self.failed.emit(
                SideWorkError("The work could not be started.", "Check that the program is installed completely.")
            )
