"""The window's end of the process that makes, signs and checks bundles: one errand at a time, with progress, cancellable."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, QProcess, Signal

from phexplore.decide.bundle_jobs import Began, BundleJob
from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.result_frames import FrameDecoder, Refused, frame

_END_MS = 2000
_LOG_TAIL = 1500


class ErrandFailedError(PhexploreError):
    """A bundle could not be made or checked."""


def worker_command() -> list[str]:
    """Return program and arguments of the worker, from source or frozen into one binary."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--errand"]
    return [sys.executable, "-m", "phexplore.gui.decision.errand_worker"]


class ErrandProcess(QObject):
    """Carries out one order at a time beside the window.

    Signals:
        began: `Began` of every step.
        done: a `BundleReport` or `KeyMade`.
        failed: a `PhexploreError`.
        busy_changed: whether something is being done (bool).
    """

    began = Signal(object)
    done = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None, *, command: list[str] | None = None) -> None:
        super().__init__(parent)
        self._command = command or worker_command()
        self._decoder = FrameDecoder()
        self._answer: object = None
        self._is_cancelled = False
        self._is_stopped = False
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    @property
    def is_busy(self) -> bool:
        """Whether something is being done."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, order: BundleJob) -> None:
        """Carry out an order; refused while another one is being carried out."""
        if self.is_busy:
            self.failed.emit(ErrandFailedError("Another bundle is being worked on.", "Wait until it is finished."))
            return
        self._decoder, self._answer, self._is_cancelled = FrameDecoder(), None, False
        program, *arguments = self._command
        self._process.start(program, arguments)
        self._process.write(frame(order))
        self._process.closeWriteChannel()
        self.busy_changed.emit(True)

    def cancel(self) -> None:
        """Stop what is being done. A file that was not finished is never put in place."""
        if self.is_busy:
            self._is_cancelled = True
            self._process.kill()

    def stop(self) -> None:
        """End what is being done, because the window closes; nothing is told any more."""
        self._is_stopped = True
        if self.is_busy:
            self._process.kill()
            self._process.waitForFinished(_END_MS)

    def _read(self) -> None:
        for reply in self._decoder.feed(bytes(self._process.readAllStandardOutput().data())):
            if isinstance(reply, Began):
                self.began.emit(reply)
                continue
            self._answer = reply

    def _on_finished(self, code: int, _status: object) -> None:
        """Tell what came of it when the process is gone, so that the next order can follow at once."""
        self._read()
        answer, self._answer = self._answer, None
        self.busy_changed.emit(False)
        if self._is_stopped:
            return
        if isinstance(answer, Refused):
            self.failed.emit(ErrandFailedError(answer.sentence, answer.remedy))
        elif answer is not None:
            self.done.emit(answer)
        elif self._is_cancelled:
            self.failed.emit(ErrandFailedError("Stopped. No bundle was written."))
        else:
            self._tell_crash(code)

    def _tell_crash(self, code: int) -> None:
        log = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        last = log[-_LOG_TAIL:].splitlines()[-1:] or [""]
        self.failed.emit(
            ErrandFailedError(
                f"The bundle could not be worked on: the program beside the window stopped (exit code {code}). {last[0]}".strip(),
                "Try again; if it stops again, please report it.",
            )
        )

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # the only error that is not followed by `finished`
            self.busy_changed.emit(False)
            self.failed.emit(
                ErrandFailedError(
                    "The program beside the window did not start.", "Check that it is installed completely."
                )
            )
