"""Redraw at the pace of the screen: many changes in one frame become one, the last."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

FRAME_MS = 16
"""One frame of a 60 Hz screen."""


class Coalesced(QObject):
    """Passes on the newest of the values that arrive within one frame; the last one is never lost.

    Signals:
        due: the newest value, at most once per frame.
    """

    due = Signal(object)

    def __init__(self, parent: QObject | None = None, *, interval_ms: int = FRAME_MS) -> None:
        super().__init__(parent)
        self._waiting: list[Any] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self.flush)

    def request(self, value: Any) -> None:
        """Show `value` at the end of this frame, unless a newer one comes before."""
        self._waiting[:] = [value]
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Pass on now what is waiting."""
        self._timer.stop()
        if self._waiting:
            self.due.emit(self._waiting.pop())
