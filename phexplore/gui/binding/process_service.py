"""Programs beside the window: started, written to, read, stopped and ended with it. Every process of the window is one of these."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QTimer, Signal
from shiboken6 import isValid

from phexplore.errors import PhexploreError
from phexplore.report.export_formats import STEP

GRACE_MS = 3000
_LOG_CHARACTERS = 20_000
_LOG_LINES = 6
_FRAMES = " │╭╮╰╯─"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        code: its exit code, minus the number of the signal that ended it; None where it could not be started.
        log: the last it wrote to its messages, or why it could not be started.
    """

    code: int | None
    log: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines of the log that say something, without the frames, hints and steps of the command line."""
        lines = [line.strip(_FRAMES) for line in self.log.splitlines()]
        return tuple(line for line in lines if line and not line.startswith(("Usage:", "Try ", STEP)))[-_LOG_LINES:]


class ProcessService(QObject):
    """One program at a time. However it ends, `ended` comes exactly once, after all it wrote.

    Signals:
        wrote: bytes it wrote as its answer.
        said: a line it wrote to its messages (str).
        ended: `Ended`.
    """

    wrote = Signal(object)
    said = Signal(object)
    ended = Signal(object)

    def __init__(self, parent: QObject | None = None, *, niceness: int = 0, in_session: bool = False) -> None:
        """Prepare.

        Args:
            parent: owner; the program ends with it.
            niceness: of the program beside the window.
            in_session: whether it has a session of its own, so that a kill reaches its children.
        """
        super().__init__(parent)
        self._niceness, self._in_session = niceness, in_session
        self._log, self._rest = "", ""
        self._process = QProcess(QCoreApplication.instance())  # no child: its program may outlive this by a moment
        self.destroyed.connect(partial(_throw_away, self._process, in_session))
        if in_session:
            parameters = QProcess.UnixProcessParameters()
            parameters.flags = QProcess.UnixProcessFlag.CreateNewSession
            self._process.setUnixProcessParameters(parameters)
        self._process.started.connect(self._on_started)
        self._process.readyReadStandardOutput.connect(self._read_answer)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._grace = QTimer(self)
        self._grace.setSingleShot(True)
        self._grace.timeout.connect(self.kill)

    @property
    def is_running(self) -> bool:
        """Whether the program is there, or being started."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    @property
    def process_id(self) -> int:
        """Of the program, 0 while there is none."""
        return int(self._process.processId())

    def start(self, command: Sequence[str]) -> None:
        """Start a program with its arguments."""
        self._log, self._rest = "", ""
        program, *arguments = command
        self._process.start(program, arguments)

    def write(self, data: bytes) -> None:
        """Write to its input."""
        self._process.write(data)

    def close_input(self) -> None:
        """End its input."""
        self._process.closeWriteChannel()

    def kill_later(self, milliseconds: int = GRACE_MS) -> None:
        """Kill the program unless it has ended by then."""
        self._grace.start(milliseconds)

    def interrupt(self) -> None:
        """Ask the program to stop as Ctrl+C does; by force after the grace period."""
        if self.is_running:
            with suppress(OSError, AttributeError):  # gone already, or a system without this signal
                os.kill(self.process_id, signal.SIGINT)
            self.kill_later()

    def kill(self) -> None:
        """End the program by force, and its children where it has a session of its own."""
        _kill(self._process, self._in_session)

    def wait(self, milliseconds: int = GRACE_MS) -> bool:
        """Wait until the program is gone; return whether it is."""
        return not self.is_running or self._process.waitForFinished(milliseconds)

    def shut_down(self) -> None:
        """End the program because the window closes. Blocks for the grace period at most."""
        self.kill()
        self.wait()

    def abandon(self) -> None:
        """Hear nothing more of the program, and end it by force."""
        self.blockSignals(True)
        self.kill()
        self.deleteLater()

    def _on_started(self) -> None:
        if self._niceness:
            with suppress(OSError, AttributeError):  # gone already, or a system without priorities
                os.setpriority(os.PRIO_PROCESS, self.process_id, self._niceness)

    def _read_answer(self) -> None:
        if chunk := bytes(self._process.readAllStandardOutput().data()):
            self.wrote.emit(chunk)

    def _read_log(self) -> None:
        text = bytes(self._process.readAllStandardError().data()).decode(errors="replace")
        self._log = (self._log + text)[-_LOG_CHARACTERS:]
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self.said.emit(line)

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._grace.stop()
        self._read_answer()
        self._read_log()
        # Qt reports the number of the signal as the exit code of a process that did not exit by itself.
        self.ended.emit(Ended(-code if status is QProcess.ExitStatus.CrashExit else code, self._log))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # the only error that is not followed by `finished`
            self.ended.emit(Ended(None, self._process.errorString()))


def _kill(process: QProcess, in_session: bool) -> None:
    if process.state() is QProcess.ProcessState.NotRunning:
        return
    if in_session:
        with suppress(OSError, AttributeError):  # the group may be gone between the check and the signal
            os.killpg(int(process.processId()), signal.SIGKILL)
    process.kill()


def _throw_away(process: QProcess, in_session: bool, _owner: object = None) -> None:
    """Delete the process of a service that is gone, once its program has ended: Qt waits, with a warning, for one that runs."""
    if isValid(process):
        process.finished.connect(process.deleteLater)
        _kill(process, in_session)
        if process.state() is QProcess.ProcessState.NotRunning:
            process.deleteLater()


class CommandError(PhexploreError):
    """Work of the command line that failed."""


class CommandProcess(QObject):
    """Runs one command of the command line at a time: long work that can be stopped and shows its lines as it goes.

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

    def __init__(self, parent: QObject | None = None, *, work: str = "The work", niceness: int = 10) -> None:
        """Prepare.

        Args:
            parent: owner.
            work: what it does, as the subject of a sentence.
            niceness: of the command beside the window.
        """
        super().__init__(parent)
        self._work = work
        self._answer = bytearray()
        self._is_stopping = False
        self._service = ProcessService(self, niceness=niceness)
        self._service.wrote.connect(self._take_answer)
        self._service.said.connect(self.said)
        self._service.ended.connect(self._on_ended)

    @property
    def is_busy(self) -> bool:
        """Whether a command is at work."""
        return self._service.is_running

    @property
    def process_id(self) -> int:
        """Of the command, 0 while there is none."""
        return self._service.process_id

    def start(self, command: Sequence[str]) -> None:
        """Start a command, program first; refused while another one is at work."""
        if self.is_busy:
            self.failed.emit(CommandError(f"{self._work} is under way already.", "Stop it, or wait until it is done."))
            return
        self._answer.clear()
        self._is_stopping = False
        self.busy_changed.emit(True)
        self._service.start(command)

    def stop(self) -> None:
        """Ask the command to stop as Ctrl+C does; by force after the grace period. What it stored stays."""
        if self.is_busy:
            self._is_stopping = True
            self._service.interrupt()

    def shut_down(self) -> None:
        """End the command because the window closes; nothing is told of it. Unfinished files are never put in place."""
        self._is_stopping = True
        self._service.shut_down()

    def _take_answer(self, chunk: bytes) -> None:
        self._answer += chunk

    def _on_ended(self, end: Ended) -> None:
        self.busy_changed.emit(False)
        if end.code is None:
            self.failed.emit(
                CommandError(f"{self._work} could not be started.", "Check that the program is installed completely.")
            )
        elif self._is_stopping:
            self.stopped.emit()
        elif end.code == 0:
            self.done.emit(self._answer.decode(errors="replace"))
        else:
            first, *rest = end.lines or (f"{self._work} ended with exit code {end.code}.",)
            self.failed.emit(CommandError(first, " ".join(rest)))
