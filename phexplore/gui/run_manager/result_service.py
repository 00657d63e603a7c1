"""The window's end of the reader of results: one request at a time, the newest next, a crash is survived."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, QProcess, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.mechanism_results import MechanismAnswer, MechanismRequest
from phexplore.gui.run_manager.result_choices import ResultRequest
from phexplore.gui.run_manager.result_frames import FrameDecoder, Refused, frame
from phexplore.gui.run_manager.result_reader import ResultAnswer
from phexplore.gui.run_manager.topdown_results import TopDownAnswer, TopDownRequest

AnyRequest = ResultRequest | TopDownRequest | MechanismRequest
AnyAnswer = ResultAnswer | TopDownAnswer | MechanismAnswer
_END_MS = 1000
_LOG_TAIL = 1500


class ResultsUnreadableError(PhexploreError):
    """The results of a run cannot be shown."""


def server_command() -> list[str]:
    """Return program and arguments of the reader, from source or frozen into one binary."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--results"]
    return [sys.executable, "-m", "phexplore.gui.run_manager.result_server"]


class ResultService(QObject):
    """Reads results in a process that is started with the first request.

    A request made while one is being answered waits; a newer one takes its place. Every answer is delivered, so that a
    run that grows faster than it can be read still shows.

    Signals:
        answered: a `ResultAnswer`, a `TopDownAnswer` or a `MechanismAnswer`.
        failed: a `PhexploreError`.
    """

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None, *, command: list[str] | None = None) -> None:
        """Prepare the reader.

        Args:
            parent: owner.
            command: program and arguments to start instead of the shipped reader.
        """
        super().__init__(parent)
        self._command = command or server_command()
        self._decoder = FrameDecoder()
        self._waiting: AnyRequest | None = None
        self._asked: AnyRequest | None = None
        self._stopped = False
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    @property
    def is_busy(self) -> bool:
        """Whether something is being read."""
        return self._asked is not None

    def request(self, request: AnyRequest) -> None:
        """Read this as soon as the reader is free."""
        if self._stopped:
            return
        self._waiting = request
        self._send()

    def stop(self) -> None:
        """End the reader because the window closes. Nothing is delivered afterwards."""
        self._stopped = True
        self._waiting = self._asked = None
        if self._process.state() is QProcess.ProcessState.NotRunning:
            return
        self._process.closeWriteChannel()
        if not self._process.waitForFinished(_END_MS):
            self._process.kill()
            self._process.waitForFinished(_END_MS)

    def _send(self) -> None:
        if self._asked is not None or self._waiting is None:
            return
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self._decoder = FrameDecoder()
            program, *arguments = self._command
            self._process.start(program, arguments)
        self._asked, self._waiting = self._waiting, None
        self._process.write(frame(self._asked))

    def _read(self) -> None:
        for reply in self._decoder.feed(bytes(self._process.readAllStandardOutput().data())):
            self._asked = None
            if self._stopped:
                return
            if isinstance(reply, Refused):
                self.failed.emit(ResultsUnreadableError(reply.sentence, reply.remedy))
            else:
                self._deliver(reply)
        self._send()

    def _deliver(self, answer: AnyAnswer) -> None:
        self.answered.emit(answer)

    def _on_finished(self, code: int, _status: object) -> None:
        """A reader that ended before its answer has failed; the next request starts another one."""
        if self._stopped or self._asked is None:
            return
        self._asked = self._waiting = None
        log = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        last = log[-_LOG_TAIL:].splitlines()[-1:] or [""]
        self.failed.emit(
            ResultsUnreadableError(
                f"The results could not be read: their reader stopped (exit code {code}). {last[0]}".strip(),
                "Choose the run again; if it stops again, the run may need more memory than there is.",
            )
        )

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and not self._stopped:
            self._asked = self._waiting = None
            self.failed.emit(
                ResultsUnreadableError(
                    "The reader of results could not be started.", "Check that the program is installed completely."
                )
            )
