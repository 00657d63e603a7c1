"""Runs that wait for their turn, and the workers of those whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.run_process import RunProcess
from phexplore.runs.events import Event, Failed, Finished
from phexplore.runs.place import HERE, Place
from phexplore.runs.queue import RunQueue, activate, enqueue, leave
from phexplore.runs.states import RunState

MakeProcess = Callable[..., RunProcess]
"""Of a directory and an owner, with the place as ``place``."""


class RunWorkers(QObject):
    """Starts workers one after the other.

    Signals:
        state_changed: the `Path` of a run with a worker, and its new `RunState`.
        reported: the `Path` of a run, and an `Event` of its worker that is not the last.
        ended: the `Path` of a run, the `Finished` or `Failed` of its worker, which is gone, and its `RunState`.
        queue_changed: the `RunQueue`, once all that are due have started.
    """

    state_changed = Signal(object, object)
    reported = Signal(object, object)
    ended = Signal(object, object, object)
    queue_changed = Signal(object)

    def __init__(self, make_process: MakeProcess, parent: QObject) -> None:
        super().__init__(parent)
        self.queue = RunQueue()
        self._make_process = make_process
        self._processes: dict[Path, RunProcess] = {}
        self._places: dict[Path, Place] = {}

    @property
    def runs(self) -> set[Path]:
        """Runs that wait or work."""
        return {*self.queue.waiting, *self.queue.active}

    def enqueue(self, directory: Path, place: Place) -> None:
        """Let a run wait for its turn.

        Args:
            directory: of the run.
            place: where it is computed.
        """
        self._places[directory] = place
        self.queue = enqueue(self.queue, directory)
        self._start_due()

    def withdraw(self, directory: Path) -> None:
        """Let a run wait no more."""
        self.queue = leave(self.queue, directory)

    def pause(self, directory: Path) -> None:
        """Let a run rest after the current piece of work."""
        self._processes[directory].pause()

    def resume(self, directory: Path) -> None:
        """Let a resting run go on."""
        self._processes[directory].resume()

    def cancel(self, directory: Path) -> bool:
        """Stop a run; return whether it has a worker."""
        if directory not in self._processes:
            return False
        self._processes[directory].cancel()
        return True

    def end_all(self) -> None:
        """End all workers; their finished trials stay. Blocks for at most a few seconds."""
        self.queue = RunQueue()
        for process in list(self._processes.values()):
            process.shut_down()
        for process in self._processes.values():
            process.deleteLater()
        self._processes = {}

    def _start_due(self) -> None:
        for directory in self.queue.due:
            self.queue = activate(self.queue, directory)
            process = self._make_process(directory, self, place=self._places.pop(directory, HERE))
            self._processes[directory] = process
            process.reported.connect(self._on_event)
            process.state_changed.connect(self._on_state)
            process.start()
        self.queue_changed.emit(self.queue)

    def _sender_directory(self) -> Path:
        """Return whose signal is being handled. A closure would keep the workers alive with every process."""
        sender = self.sender()
        return next(path for path, process in self._processes.items() if process is sender)

    def _on_state(self, state: RunState) -> None:
        self.state_changed.emit(self._sender_directory(), state)

    def _on_event(self, event: Event) -> None:
        directory = self._sender_directory()
        if not isinstance(event, Finished | Failed):
            self.reported.emit(directory, event)
            return
        process = self._processes.pop(directory)
        process.deleteLater()
        self.queue = leave(self.queue, directory)
        self.ended.emit(directory, event, process.state)
        self._start_due()
