"""Work of 4 ms to 2 s beside the window: one thread, everything in its order or the newest alone, results on the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance

from phexplore.errors import PhexploreError
from phexplore.gui.binding.collector import collector


@dataclass(frozen=True, slots=True, eq=False)
class _Done:
    future: Future[Any]
    then: Callable[[Any], object]
    refuse: Callable[[BaseException], object] | None


class Tasks(QObject):
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
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tasks")
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

    def do(
        self,
        task: Callable[[], Any],
        then: Callable[[Any], object],
        refuse: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Do a task in the thread.

        Args:
            task: what is done.
            then: takes its result in the thread of the window.
            refuse: takes its exception there; `failed` tells it by default.
        """
        if self._stopped:
            return
        self._open += 1
        self._pool.submit(task).add_done_callback(lambda future: self._returned.emit(_Done(future, then, refuse)))
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
        elif done.refuse is not None:
            done.refuse(error)
        self.busy_changed.emit(self.is_busy)
        if done.refuse is not None:
            return
        if isinstance(error, PhexploreError):
            self.failed.emit(error)
        elif error is not None:
            raise error


class Latest(QObject):
    """Does the same work for the newest request; requests made meanwhile replace each other. Must be stopped before it goes.

    The work must hold the interpreter only briefly (numpy, files); a Python loop in a thread makes the window stutter and
    belongs into a run.

    Signals:
        finished: the result of the newest request, on the thread of this object.
        failed: the exception the work raised for the newest request.
    """

    finished = Signal(object)
    failed = Signal(object)

    def __init__(self, work: Callable[[Any], Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._tasks = work, Tasks(self)
        self._waiting: list[Any] = []

    @property
    def is_busy(self) -> bool:
        """Whether something is being computed."""
        return self._tasks.is_busy

    def request(self, value: Any) -> None:
        """Compute `work(value)`; forget requests that have not been started."""
        self._waiting[:] = [value]
        self._start()

    def stop(self) -> None:
        """Forget what waits and wait for what is being computed. Nothing is delivered afterwards."""
        self._waiting.clear()
        self._tasks.stop()

    def _start(self) -> None:
        if self._waiting and not self.is_busy:
            told = partial(self._tell, self.finished), partial(self._tell, self.failed)
            self._tasks.do(partial(self._work, self._waiting.pop()), *told)

    def _tell(self, signal: SignalInstance, value: object) -> None:
        is_newest = not self._waiting
        self._start()
        if is_newest:
            signal.emit(value)
