"""Small work on files beside the window: one thread, everything in its order, results on the thread of the window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.binding.collector import collector


@dataclass(frozen=True, slots=True, eq=False)
class _Done:
    future: Future[Any]
    then: Callable[[Any], object]


class FileTasks(QObject):
    """Does tasks one after the other. Must be stopped before it goes.

    Signals:
        failed: the `PhexploreError` of a task. Other exceptions are raised in the thread of the window: they are bugs.
        busy_changed: whether a task is waiting or being done (bool), at each beginning and end.
    """

    failed = Signal(object)
    busy_changed = Signal(object)
    _returned = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="file-tasks")
        self._open = 0
        self._collector = collector()
        self._collector.hold()
        self._stopped = False
        # Queued, also for a task that was done at once: a result never arrives before `do` has returned.
        self._returned.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether a task is waiting or being done."""
        return self._open > 0

    def do(self, task: Callable[[], Any], then: Callable[[Any], object]) -> None:
        """Do `task` in the thread, then call `then` with its result in the thread of the window."""
        if self._stopped:
            return
        self._open += 1
        self._pool.submit(task).add_done_callback(lambda future: self._returned.emit(_Done(future, then)))
        self.busy_changed.emit(True)

    def stop(self) -> None:
        """Finish what was begun, forget what waits. Nothing is delivered afterwards."""
        if self._stopped:
            return
        self._stopped = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._collector.release()

    def _deliver(self, done: _Done) -> None:
        self._open -= 1
        if self._stopped:
            return
        error = done.future.exception()
        if error is None:
            done.then(done.future.result())
        self.busy_changed.emit(self.is_busy)
        if isinstance(error, PhexploreError):
            self.failed.emit(error)
        elif error is not None:
            raise error
