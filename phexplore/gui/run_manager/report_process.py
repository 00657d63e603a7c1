"""Writing the report or the measurements of a run: the command line does it in a process of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from phexplore.errors import PhexploreError


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """One line of the export menu.

    Attributes:
        id: as ``phexplore report --format`` takes it.
        title: for people.
        is_folder: whether several files are written into a folder.
        suffix: of the file, "" for a folder.
    """

    id: str
    title: str
    is_folder: bool
    suffix: str = ""


FORMATS = (
    ReportFormat("csv", "Noisy measurements and figures, CSV (folder)…", is_folder=True),
    ReportFormat("html", "Report, HTML…", is_folder=False, suffix=".html"),
    ReportFormat("pdf", "Report, PDF…", is_folder=False, suffix=".pdf"),
    ReportFormat("png", "Figures, PNG (folder)…", is_folder=True),
)


class ReportFailedError(PhexploreError):
    """The report could not be written."""


def report_command(directory: Path, form: ReportFormat, out: Path) -> list[str]:
    """Return program and arguments that write a report of a run, from source or frozen into one binary."""
    program = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "phexplore"]
    return [*program, "report", str(directory), "--format", form.id, "--out", str(out)]


class ReportProcess(QObject):
    """Writes one report at a time, beside the window.

    Signals:
        written: the `Path` of the file or folder.
        failed: a `PhexploreError`.
        busy_changed: whether something is being written (bool).
    """

    written = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._out = Path()
        self._process = QProcess(self)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    @property
    def is_busy(self) -> bool:
        """Whether something is being written."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, directory: Path, form: ReportFormat, out: Path) -> None:
        """Write a report; refused while another one is being written."""
        if self.is_busy:
            self.failed.emit(ReportFailedError("Another report is being written.", "Wait until it is finished."))
            return
        self._out = out
        program, *arguments = report_command(directory, form, out)
        self._process.start(program, arguments)
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """End what is being written, because the window closes. Unfinished files are never put in place."""
        if self.is_busy:
            self._process.kill()
            self._process.waitForFinished(2000)

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self.busy_changed.emit(False)
        if code == 0 and status is QProcess.ExitStatus.NormalExit:
            self.written.emit(self._out)
            return
        text = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        lines = text.splitlines() or [f"The report of the run could not be written (exit code {code})."]
        self.failed.emit(ReportFailedError(lines[0], " ".join(lines[1:6])))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # the only error that is not followed by `finished`
            self.busy_changed.emit(False)
            self.failed.emit(
                ReportFailedError("The report could not be started.", "Check that the program is installed completely.")
            )
