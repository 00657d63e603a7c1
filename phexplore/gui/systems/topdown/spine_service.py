"""The window's end of the explorer of spines: a process that holds the blocks, the newest request next, cancelled at any time."""

from __future__ import annotations

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.result_frames import FrameDecoder, Refused, frame
from phexplore.gui.run_manager.result_service import server_command
from phexplore.gui.systems.topdown.spine_views import BlocksRefused, SpineAnswer, SpineProgress, SpineRequest

_END_MS = 1000
_LOG_TAIL = 1500


class SpineUnreadableError(PhexploreError):
    """A spine cannot be shown."""


class SpineService(QObject):
    """Asks a process that is started with the first request; requests made meanwhile replace each other.

    Cancelling ends the process: nothing in it can be left half-done. The next request starts another one.

    Signals:
        answered: a `SpineAnswer` or, where the blocks cannot be read, `BlocksRefused`.
        progressed: `SpineProgress` of the request at work.
        failed: a `PhexploreError`.
        busy_changed: whether something is being worked on (bool).
    """

    answered = Signal(object)
    progressed = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None, *, command: list[str] | None = None) -> None:
        """Prepare the service.

        Args:
            parent: owner.
            command: program and arguments to start instead of the shipped process.
        """
        super().__init__(parent)
        self._command = command or server_command()
        self._waiting: SpineRequest | None = None
        self._asked: SpineRequest | None = None
        self._stopped = False
        self._decoder = FrameDecoder()
        self._process: QProcess | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something is being worked on."""
        return self._asked is not None

    def request(self, request: SpineRequest) -> None:
        """Answer this as soon as the process is free."""
        if self._stopped:
            return
        self._waiting = request
        self._send()

    def cancel(self) -> None:
        """End what is being worked on; nothing of it is delivered."""
        self._waiting = None
        if self._asked is None:
            return
        self._asked = None
        self._drop(kill=True)
        self.busy_changed.emit(False)

    def end(self) -> None:
        """End the process because the project is left. The next request starts another one."""
        self.cancel()
        self._drop(kill=True)

    def stop(self) -> None:
        """End the process because the window closes. Nothing is delivered afterwards."""
        self._stopped = True
        self._waiting = self._asked = None
        process = self._process
        self._drop(kill=False)
        if process is not None and process.state() is not QProcess.ProcessState.NotRunning:
            process.closeWriteChannel()
            if not process.waitForFinished(_END_MS):
                process.kill()
                process.waitForFinished(_END_MS)

    def _drop(self, *, kill: bool) -> None:
        """Stop listening to the process; it is thrown away once it has ended."""
        process, self._process = self._process, None
        if process is None:
            return
        for signal in (process.readyReadStandardOutput, process.finished, process.errorOccurred):
            signal.disconnect()
        if kill and process.state() is not QProcess.ProcessState.NotRunning:
            process.finished.connect(process.deleteLater)
            process.kill()

    def _start(self) -> QProcess:
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._decoder = FrameDecoder()
        program, *arguments = self._command
        process.start(program, arguments)
        return process

    def _send(self) -> None:
        if self._asked is not None or self._waiting is None:
            return
        process = self._process
        if process is None or process.state() is QProcess.ProcessState.NotRunning:
            process = self._start()
        self._asked, self._waiting = self._waiting, None
        process.write(frame(self._asked))
        self.busy_changed.emit(True)

    def _read(self) -> None:
        if self._process is None:
            return
        for reply in self._decoder.feed(bytes(self._process.readAllStandardOutput().data())):
            if self._stopped or self._process is None:
                return
            if isinstance(reply, SpineProgress):
                self.progressed.emit(reply)
                continue
            self._asked = None
            if isinstance(reply, Refused):
                self.failed.emit(SpineUnreadableError(reply.sentence, reply.remedy))
            elif isinstance(reply, SpineAnswer | BlocksRefused):
                self.answered.emit(reply)
        self._send()
        if self._asked is None:
            self.busy_changed.emit(False)

    def _on_finished(self, code: int, _status: object) -> None:
        """A process that ended before its answer has failed; the next request starts another one."""
        if self._asked is None or self._process is None:
            return
        log = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        last = log[-_LOG_TAIL:].splitlines()[-1:] or [""]
        self._give_up(
            f"The spine could not be worked out: its process stopped (exit code {code}). {last[0]}".strip(),
            "Try again; if it stops again, the blocks may need more memory than there is.",
        )

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._give_up(
                "The process that reads blocks could not be started.", "Check that the program is installed completely."
            )

    def _give_up(self, sentence: str, remedy: str) -> None:
        self._asked = self._waiting = None
        process = self._process
        self._drop(kill=False)
        if process is not None:
            QTimer.singleShot(0, process, process.deleteLater)
        self.busy_changed.emit(False)
        self.failed.emit(SpineUnreadableError(sentence, remedy))
