"""Work of 4 ms to 2 s beside the window: one thread, the newest request wins, stale results are dropped."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.collector import collector


class Latest(QObject):
    """Runs `work` on the newest request; requests made meanwhile replace each other. Must be stopped before it goes.

    The work must hold the interpreter only briefly (numpy, files); a Python loop in a thread makes the window stutter and
    belongs into a run.

    Signals:
        finished: the result of the newest request, on the thread of this object.
        failed: the exception `work` raised for the newest request.
    """

    finished = Signal(object)
    failed = Signal(object)
    _returned = Signal(object)

    def __init__(self, work: Callable[[Any], Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="latest")
        self._waiting: list[Any] = []
        self._busy = False
        self._stopped = False
        self._collector = collector()
        self._collector.hold()
        self._returned.connect(self._deliver)

    @property
    def is_busy(self) -> bool:
        """Whether something is being computed."""
        return self._busy

    def request(self, value: Any) -> None:
        """Compute `work(value)`; forget requests that have not been started."""
        if self._stopped:
            return
        self._waiting[:] = [value]
        self._start()

    def stop(self) -> None:
        """Forget what waits and wait for what is being computed. Nothing is delivered afterwards."""
        if self._stopped:
            return
        self._stopped = True
        self._waiting.clear()
        self._pool.shutdown(wait=True)
        self._collector.release()

    def _start(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        self._pool.submit(self._work, self._waiting.pop()).add_done_callback(self._returned.emit)

    def _deliver(self, future: Future[Any]) -> None:
        self._busy = False
        if self._stopped:
            return
        is_newest = not self._waiting
        self._start()
        if not is_newest:
            return
        error = future.exception()
        if error is None:
            self.finished.emit(future.result())
        else:
            self.failed.emit(error)
