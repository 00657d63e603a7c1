"""Questions to a program beside the window: one process for all views, one question at a time, a crash is survived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from phexplore import entry
from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import FrameDecoder, Progress, Refused, frame
from phexplore.gui.binding.process_service import Ended, ProcessService


class RequestFailedError(PhexploreError):
    """A question that was not answered."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What is said when a process fails.

    Attributes:
        stopped: what did not come about because the process stopped; exit code and last message follow.
        remedy: what to do then.
        missing: that it could not be started.
    """

    stopped: str
    remedy: str
    missing: str


class RequestProcess(QObject):
    """The process that answers for all views of a window, started with the first question: one at a time, each view in its turn."""

    def __init__(
        self, command: Sequence[str], wording: Wording, parent: QObject | None = None, *, is_single: bool = False
    ) -> None:
        """Prepare the process.

        Args:
            command: program and arguments.
            wording: what is said when it fails.
            parent: owner.
            is_single: whether it ends after one answer, which is told when it is gone.
        """
        super().__init__(parent)
        self._command, self._wording, self._is_single = command, wording, is_single
        self._decoder = FrameDecoder()
        self._turns: list[RequestService] = []
        self._asked: RequestService | None = None
        self._held: list[Any] = []
        self._process: ProcessService | None = None

    @property
    def process_id(self) -> int:
        """The process, 0 while there is none."""
        return 0 if self._process is None else self._process.process_id

    def give_turn(self, view: RequestService) -> None:
        """Answer what a view waits for once it is its turn."""
        if view not in self._turns:
            self._turns.append(view)
        self._send()

    def forget(self, view: RequestService) -> None:
        """Deliver nothing more to a view."""
        self._turns = [each for each in self._turns if each is not view]

    def end(self, *, wait: bool = False) -> None:
        """End the process and forget what was asked: the project is left. The next question starts another one.

        Args:
            wait: whether to return only once it is gone.
        """
        views = {*self._turns, *([self._asked] if self._asked is not None else [])}
        self._turns, self._asked, self._held = [], None, []
        for view in views:
            view.drop()
        process, self._process = self._process, None
        if process is not None:
            process.abandon()
            if wait:
                process.wait()

    def _send(self) -> None:
        while self._asked is None and self._turns:
            if self._is_single and self._process is not None:
                return  # until it is gone
            view = self._turns.pop(0)
            if (request := view.take_turn()) is None:
                continue
            self._asked = view
            if self._process is None:
                self._start()
            if self._process is not None:
                self._process.write(frame(request))
                if self._is_single:
                    self._process.close_input()

    def _start(self) -> None:
        process = self._process = ProcessService(self)
        process.wrote.connect(self._read)
        process.ended.connect(self._on_ended)
        self._decoder = FrameDecoder()
        process.start(self._command)

    def _read(self, chunk: bytes) -> None:
        process = self._process
        for reply in self._decoder.feed(chunk):
            if self._process is not process:
                return  # ended by who heard the reply before: the rest answers what nobody asks any more
            if isinstance(reply, Progress):
                if self._asked is not None:
                    self._asked.take_progress(reply.value)
            elif self._is_single:
                self._held = [reply]
            else:
                self._deliver(reply)
        self._send()

    def _deliver(self, reply: Any) -> None:
        view, self._asked = self._asked, None
        if view is not None:
            view.take_reply(reply)

    def _on_ended(self, end: Ended) -> None:
        """A process that ended before its answer has failed; the next question starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.deleteLater()
        held, self._held = self._held, []
        if held:
            self._deliver(held[0])
        elif end.code is None:
            self._give_up(self._wording.missing, "Check that the program is installed completely.")
        else:
            last = end.lines[-1] if end.lines else ""
            self._give_up(f"{self._wording.stopped} (exit code {end.code}). {last}".strip(), self._wording.remedy)
        self._send()

    def _give_up(self, sentence: str, remedy: str) -> None:
        view, self._asked = self._asked, None
        if view is not None:
            view.take_failure(RequestFailedError(sentence, remedy))


class RequestService(QObject):
    """What one view asks a process for.

    A question asked while one is being answered waits; a newer one takes its place. Every answer is delivered, so that
    what grows faster than it can be read still shows.

    Signals:
        answered: the answer.
        progressed: what is said before the answer is there.
        failed: a `PhexploreError`.
        busy_changed: whether something is being worked on (bool).
    """

    answered = Signal(object)
    progressed = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, process: RequestProcess, parent: QObject | None = None, *, is_alone: bool = False) -> None:
        """Prepare to ask.

        Args:
            process: answers.
            parent: owner.
            is_alone: whether nobody else asks the process, which ends with this service then.
        """
        super().__init__(parent)
        self._process, self._is_alone = process, is_alone
        self._waiting: Any = None
        self._asked: Any = None
        self._told = self._stopped = False

    @property
    def process_id(self) -> int:
        """The process that answers, 0 while there is none."""
        return self._process.process_id

    @property
    def is_busy(self) -> bool:
        """Whether something is being worked on, or waits to be."""
        return self._asked is not None or self._waiting is not None

    def request(self, request: Any) -> None:
        """Answer this as soon as the process is free."""
        if self._stopped:
            return
        self._waiting = request
        if self._asked is None:
            self._process.give_turn(self)
        self._tell_busy()

    def end(self) -> None:
        """End the process and what is being worked on; nothing of it is delivered. The next question starts another one."""
        self._process.end()
        self.drop()

    def stop(self) -> None:
        """Ask nothing more because the window closes. Nothing is delivered afterwards."""
        self._stopped = True
        self._process.forget(self)
        self._waiting = self._asked = None
        if self._is_alone:
            self._process.end(wait=True)

    def drop(self) -> None:
        """Forget what was asked."""
        self._waiting = self._asked = None
        self._tell_busy()

    def take_turn(self) -> Any:
        """Return what is to be answered now, None for nothing any more."""
        self._asked, self._waiting = self._waiting, None
        return self._asked

    def take_progress(self, value: Any) -> None:
        """Deliver what is said before the answer."""
        if not self._stopped:
            self.progressed.emit(value)

    def take_reply(self, reply: Any) -> None:
        """Deliver what the process says."""
        self._asked = None
        if self._stopped:
            return
        if isinstance(reply, Refused):
            self.failed.emit(RequestFailedError(reply.sentence, reply.remedy))
        else:
            self.answered.emit(reply)
        if self._waiting is not None:
            self._process.give_turn(self)
        self._tell_busy()

    def take_failure(self, error: PhexploreError) -> None:
        """Say that the process gave no answer; what waits for it would fare no better."""
        self._waiting = self._asked = None
        self._tell_busy()
        if not self._stopped:
            self.failed.emit(error)

    def _tell_busy(self) -> None:
        if self.is_busy is not self._told and not self._stopped:
            self._told = self.is_busy
            self.busy_changed.emit(self._told)


RESULTS = Wording(
    "The results could not be read: their reader stopped",
    "Choose the run again; if it stops again, the run may need more memory than there is.",
    "The reader of results could not be started.",
)
BLOCKS = Wording(
    "The spine could not be worked out: its process stopped",
    "Try again; if it stops again, the blocks may need more memory than there is.",
    "The process that reads blocks could not be started.",
)


def reader_process(
    parent: QObject | None = None, *, wording: Wording = RESULTS, command: Sequence[str] | None = None
) -> RequestProcess:
    """Return a process that reads.

    Args:
        parent: owner.
        wording: what is said when it fails.
        command: program and arguments to start instead of the shipped reader.
    """
    return RequestProcess(command or entry.program_command(entry.READER), wording, parent)
