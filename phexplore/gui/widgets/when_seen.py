"""Refresh a widget while it can be seen, and once when it comes into sight: pages in the background cost an edit nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class WhenSeen(QObject):
    """Passes on requests to refresh a widget, or keeps them until it is shown."""

    _is_stale = False
    """Of the class: events may still come when the attributes of a page that is let go are gone."""

    def __init__(self, widget: QWidget, refresh: Callable[[], object], *signals: Any) -> None:
        """Watch a widget.

        Args:
            widget: that is refreshed.
            refresh: a bound method of it; it is not kept alive.
            signals: that ask for it.
        """
        super().__init__(widget)
        self._refresh = WeakMethod(refresh)
        for signal in signals:
            signal.connect(self.request)

    def request(self, _signal: object = None) -> None:
        """Refresh now, or when the widget is shown."""
        widget, was_stale = self.parent(), self._is_stale
        self._is_stale = isinstance(widget, QWidget) and not widget.isVisible()
        if not isinstance(widget, QWidget) or not self._is_stale:
            self._run()
        elif not was_stale:  # what is seen tells nobody of its events
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._is_stale and event.type() == QEvent.Type.Show:
            self._is_stale = False
            watched.removeEventFilter(self)
            self._run()
        return False

    def _run(self) -> None:
        refresh = self._refresh()
        if refresh is not None:
            refresh()
