"""An experiment as a process beside the window: the program's own command, with its progress, stopped at any time."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically

RESULT_FILE = "figures.json"
_PROGRESS = re.compile(r"([0-9,]+) of ([0-9,]+)\b")
_END_MS = 2000


class ExperimentFailedError(PhexploreError):
    """An experiment ended without a result."""


def program() -> list[str]:
    """Return the program with its first arguments, from source or frozen into one binary."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "phexplore"]


class ExperimentProcess(QObject):
    """Runs one experiment at a time.

    Signals:
        progressed: (sentence, units done, units in all; 0 = unknown).
        finished: the `Path` of its folder, which holds `RESULT_FILE`.
        failed: a `PhexploreError`.
        busy_changed: whether one is running (bool).
    """

    progressed = Signal(object, object, object)
    finished = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None, *, command: Sequence[str] | None = None) -> None:
        """Prepare.

        Args:
            parent: owner.
            command: program to start instead of this one.
        """
        super().__init__(parent)
        self._command = list(command) if command is not None else program()
        self._folder, self._output, self._log = Path(), bytearray(), ""
        self._was_stopped = False
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._read_output)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    @property
    def is_busy(self) -> bool:
        """Whether an experiment is running."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    @property
    def folder(self) -> Path:
        """The folder of the experiment that runs, or ran last."""
        return self._folder

    def start(self, arguments: Sequence[str], folder: Path) -> None:
        """Start an experiment; refused while another one runs."""
        if self.is_busy:
            self.failed.emit(ExperimentFailedError("Another experiment is running.", "Wait for it, or stop it."))
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.failed.emit(ExperimentFailedError(f"{folder} cannot be made: {error.strerror}.", "Free some space."))
            return
        self._folder, self._output, self._log, self._was_stopped = folder, bytearray(), "", False
        first, *rest = self._command
        self._process.start(first, [*rest, *arguments])
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Stop what is running; what is finished of it is kept and taken over by the next start."""
        if self.is_busy:
            self._was_stopped = True
            self._process.terminate()

    def shut_down(self) -> None:
        """End what is running because the window closes."""
        self.stop()
        if self.is_busy and not self._process.waitForFinished(_END_MS):
            self._process.kill()
            self._process.waitForFinished(_END_MS)

    def _read_output(self) -> None:
        self._output += bytes(self._process.readAllStandardOutput().data())

    def _read_log(self) -> None:
        self._log = (self._log + bytes(self._process.readAllStandardError().data()).decode(errors="replace"))[-4000:]
        lines = [line for line in self._log.splitlines() if line.strip()]
        if lines:
            match = _PROGRESS.search(lines[-1])
            done, total = (int(part.replace(",", "")) for part in match.groups()) if match else (0, 0)
            self.progressed.emit(lines[-1].strip(), done, total)

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_output()
        self._read_log()
        self.busy_changed.emit(False)
        if self._was_stopped:
            return
        if code == 0 and status is QProcess.ExitStatus.NormalExit:
            try:
                json.loads(self._output)
                write_atomically(self._folder / RESULT_FILE, bytes(self._output))
            except (ValueError, PhexploreError) as error:
                self.failed.emit(ExperimentFailedError(f"The result cannot be kept: {error}", "Run it again."))
                return
            self.finished.emit(self._folder)
            return
        lines = [line.strip(" │╭╮╰╯─") for line in self._log.splitlines()]
        lines = [line for line in lines if line and not line.startswith(("Usage:", "Try "))]
        said = lines[-3:] or [f"The experiment ended with code {code}."]
        self.failed.emit(ExperimentFailedError(" ".join(said), "Check what stands in the form."))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self.busy_changed.emit(False)
            self.failed.emit(
                ExperimentFailedError(
                    "The experiment could not be started.", "Check that the program is installed completely."
                )
            )
