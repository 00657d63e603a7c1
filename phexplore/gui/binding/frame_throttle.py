"""Redraw at the pace of the screen: many changes in one frame become one, the last."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

FRAME_MS = 16
"""One frame of a 60 Hz screen."""


class FrameThrottle(QObject):
    """Passes on the newest of the values that arrive within one frame; the last one is never lost.

    After a pause a value is passed on in the next turn of the event loop: only values that follow closely wait for the
    frame to end.

    Signals:
        due: the newest value, at most once per frame.
    """

    due = Signal(object)

    def __init__(self, parent: QObject | None = None, *, interval_ms: int = FRAME_MS) -> None:
        super().__init__(parent)
        self._waiting: list[Any] = []
        self._interval_ms = interval_ms
        self._since_last = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)

    def request(self, value: Any) -> None:
        """Show `value` within this frame, unless a newer one comes before."""
        self._waiting[:] = [value]
        if not self._timer.isActive():
            passed = self._since_last.elapsed() if self._since_last.isValid() else self._interval_ms
            self._timer.start(max(0, self._interval_ms - passed))

    def flush(self) -> None:
        """Pass on now what is waiting."""
        self._timer.stop()
        if self._waiting:
            self._since_last.start()
            self.due.emit(self._waiting.pop())
