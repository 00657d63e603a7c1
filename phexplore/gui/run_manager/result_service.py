"""The window's end of the reader of results: one process for all views, one request at a time, a crash is survived."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, QProcess, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.mechanism_results import MechanismAnswer, MechanismRequest
from phexplore.gui.run_manager.result_frames import FrameDecoder, Refused, frame
from phexplore.gui.systems.phsafe.result_choices import ResultRequest
from phexplore.gui.systems.phsafe.result_reader import ResultAnswer
from phexplore.gui.systems.topdown.results import TopDownAnswer, TopDownRequest

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


class ReaderProcess(QObject):
    """The process that reads for all views of a window, started with the first request: one at a time, each view in its turn."""

    def __init__(self, parent: QObject | None = None, *, command: list[str] | None = None) -> None:
        """Prepare the reader.

        Args:
            parent: owner.
            command: program and arguments to start instead of the shipped reader.
        """
        super().__init__(parent)
        self._command = command or server_command()
        self._decoder = FrameDecoder()
        self._turns: list[ResultService] = []
        self._asked: ResultService | None = None
        self._process: QProcess | None = None

    @property
    def process_id(self) -> int:
        """The process, 0 while there is none."""
        return 0 if self._process is None else int(self._process.processId())

    def give_turn(self, view: ResultService) -> None:
        """Answer what a view waits for once it is its turn."""
        if view not in self._turns:
            self._turns.append(view)
        self._send()

    def forget(self, view: ResultService) -> None:
        """Deliver nothing more to a view."""
        self._turns = [each for each in self._turns if each is not view]

    def end(self, *, wait: bool = False) -> None:
        """End the process and forget what was asked: the project is left. The next request starts another one.

        Args:
            wait: whether to return only once it is gone.
        """
        views = {*self._turns, *([self._asked] if self._asked is not None else [])}
        self._turns, self._asked = [], None
        for view in views:
            view.drop()
        process, self._process = self._process, None
        if process is None:
            return
        for signal in (process.readyReadStandardOutput, process.finished, process.errorOccurred):
            signal.disconnect()
        process.finished.connect(process.deleteLater)
        process.kill()
        if wait:
            process.waitForFinished(_END_MS)

    def _send(self) -> None:
        while self._asked is None and self._turns:
            view = self._turns.pop(0)
            if (request := view.take_turn()) is None:
                continue
            if self._process is None or self._process.state() is QProcess.ProcessState.NotRunning:
                self._process = self._started()
            self._asked = view
            self._process.write(frame(request))

    def _started(self) -> QProcess:
        process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._decoder = FrameDecoder()
        program, *arguments = self._command
        process.start(program, arguments)
        return process

    def _read(self) -> None:
        if self._process is None:
            return
        for reply in self._decoder.feed(bytes(self._process.readAllStandardOutput().data())):
            view, self._asked = self._asked, None
            if view is not None:
                view.take_reply(reply)
        self._send()

    def _on_finished(self, code: int, _status: object) -> None:
        """A reader that ended before its answer has failed; the next request starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.deleteLater()
        log = bytes(process.readAllStandardError().data()).decode(errors="replace").strip()
        last = log[-_LOG_TAIL:].splitlines()[-1:] or [""]
        self._give_up(
            f"The results could not be read: their reader stopped (exit code {code}). {last[0]}".strip(),
            "Choose the run again; if it stops again, the run may need more memory than there is.",
        )

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._give_up(
                "The reader of results could not be started.", "Check that the program is installed completely."
            )

    def _give_up(self, sentence: str, remedy: str) -> None:
        view, self._asked = self._asked, None
        if view is not None:
            view.take_failure(ResultsUnreadableError(sentence, remedy))
        self._send()


class ResultService(QObject):
    """What one view asks the reader for.

    A request made while one is being answered waits; a newer one takes its place. Every answer is delivered, so that a
    run that grows faster than it can be read still shows.

    Signals:
        answered: a `ResultAnswer`, a `TopDownAnswer` or a `MechanismAnswer`.
        failed: a `PhexploreError`.
    """

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None, *, reader: ReaderProcess | None = None) -> None:
        """Prepare to ask.

        Args:
            parent: owner.
            reader: of the window; one of its own by default.
        """
        super().__init__(parent)
        self._reader = reader or ReaderProcess(self)
        self._is_own = reader is None
        self._waiting: AnyRequest | None = None
        self._asked: AnyRequest | None = None
        self._stopped = False

    @property
    def is_busy(self) -> bool:
        """Whether something is being read, or waits to be."""
        return self._asked is not None or self._waiting is not None

    def request(self, request: AnyRequest) -> None:
        """Read this as soon as the reader is free."""
        if self._stopped:
            return
        self._waiting = request
        if self._asked is None:
            self._reader.give_turn(self)

    def stop(self) -> None:
        """Ask nothing more because the window closes. Nothing is delivered afterwards."""
        self._stopped = True
        self._reader.forget(self)
        self.drop()
        if self._is_own:
            self._reader.end(wait=True)

    def drop(self) -> None:
        """Forget what was asked."""
        self._waiting = self._asked = None

    def take_turn(self) -> AnyRequest | None:
        """Return what is to be read now, None for nothing any more."""
        self._asked, self._waiting = self._waiting, None
        return self._asked

    def take_reply(self, reply: AnyAnswer | Refused) -> None:
        """Deliver what the reader says."""
        self._asked = None
        if self._stopped:
            return
        if isinstance(reply, Refused):
            self.failed.emit(ResultsUnreadableError(reply.sentence, reply.remedy))
        else:
            self.answered.emit(reply)
        if self._waiting is not None:
            self._reader.give_turn(self)

    def take_failure(self, error: PhexploreError) -> None:
        """Say that the reader gave no answer; what waits for it would fare no better."""
        self.drop()
        if not self._stopped:
            self.failed.emit(error)
