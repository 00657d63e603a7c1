"""Keep Python's collector of cycles in the thread of the window.

The collector runs in whatever thread happens to allocate. When that is a thread beside the window, it deletes the widgets
it finds in cycles there, and Qt crashes. While anything works in such a thread, collection is therefore switched off and
done by a timer of the window's own thread.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QCoreApplication, QObject, QTimer

LOOK_MS = 1000
_NAME = "collector of cycles"
_OLDEST_EVERY = 60
"""The oldest generation is looked at once a minute at most: it takes the longest."""


class Collector(QObject):
    """Collects on a timer as long as somebody holds it."""

    def __init__(self, application: QCoreApplication) -> None:
        super().__init__(application)
        self.setObjectName(_NAME)
        self._holders = 0
        self._looks = 0
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    @property
    def is_held(self) -> bool:
        """Whether collection is confined to the thread of the window."""
        return self._holders > 0

    def hold(self) -> None:
        """Confine collection; every hold needs its release."""
        self._holders += 1
        gc.disable()
        self._timer.start()

    def release(self) -> None:
        """Give collection back to Python when nobody holds it any more."""
        self._holders = max(0, self._holders - 1)
        if not self._holders:
            self._timer.stop()
            gc.enable()

    def look(self) -> None:
        """Collect the generations that are full, by Python's own thresholds."""
        self._looks += 1
        counts, limits = gc.get_count(), gc.get_threshold()
        if counts[0] > limits[0]:
            gc.collect(0)
        if counts[1] > limits[1]:
            gc.collect(1)
        if counts[2] > limits[2] and self._looks >= _OLDEST_EVERY:
            self._looks = 0
            gc.collect(2)


def collector() -> Collector:
    """Return the collector of the running application, made on first use.

    Raises:
        TypeError: there is no application yet.
    """
    application = QCoreApplication.instance()
    if application is None:
        raise TypeError("collecting in the thread of the window needs an application")
    found = application.findChild(QObject, _NAME)
    return found if isinstance(found, Collector) else Collector(application)
