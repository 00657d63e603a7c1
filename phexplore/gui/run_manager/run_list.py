"""The runs of a project as they are now, and when that is told. No widget, no file in here."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.run_manager.run_rows import RunRow, after_event
from phexplore.runs.events import Event, Failed, Finished
from phexplore.runs.queue import RunQueue
from phexplore.runs.states import RunState

_MINUTE = len("20261122T1019")
"""Letters of the name of a run's directory that say its minute."""
NEWS_MS = 250
"""Progress is shown at most four times a second."""


class RunList(QObject):
    """The row of every run, by its directory.

    Signals:
        changed: the rows (tuple of `RunRow`, newest first); at once when a state changes, else at most every 250 ms.
        progressed: the `Path` of a run with new trials, at most every 250 ms.
    """

    changed = Signal(object)
    progressed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: dict[Path, RunRow] = {}
        self._grown: set[Path] = set()
        self._news = FrameThrottle(self, interval_ms=NEWS_MS)
        self._news.due.connect(self._tell_progress)

    @property
    def newest_first(self) -> tuple[RunRow, ...]:
        """All runs, newest first, as of now."""
        return tuple(self.rows[path] for path in sorted(self.rows, key=lambda path: path.name, reverse=True))

    def tell(self) -> None:
        """Announce the rows; those of one minute say their seconds."""
        minutes = Counter(path.name[:_MINUTE] for path in self.rows)
        for path, row in self.rows.items():
            if row.is_twin != (minutes[path.name[:_MINUTE]] > 1):
                self.rows[path] = replace(row, is_twin=not row.is_twin)
        self.changed.emit(self.newest_first)

    def show_state(self, directory: Path, state: RunState) -> None:
        """Give a run its new state.

        Args:
            directory: of the run.
            state: where it is in its life.
        """
        self.rows[directory] = replace(self.rows[directory], state=state)
        self.tell()

    def add_event(self, directory: Path, event: Event) -> None:
        """Take what a worker reported; it is told with what follows shortly.

        Args:
            directory: of the run.
            event: not the last of its worker.
        """
        before = self.rows[directory]
        self.rows[directory] = after_event(before, event)
        if self.rows[directory].trials != before.trials:
            self._grown.add(directory)
        self._news.request(None)

    def add_end(self, directory: Path, final: Finished | Failed, state: RunState) -> None:
        """Take the end of a run; whoever records it tells.

        Args:
            directory: of the run.
            final: the last event of its worker.
            state: which state that left it in.
        """
        self.rows[directory] = replace(after_event(self.rows[directory], final), state=state)
        self._grown.add(directory)

    def number(self, queue: RunQueue) -> None:
        """Say of every run how many start before it."""
        for directory in list(self.rows):
            waits = None
            if directory in queue.waiting:
                waits = len(queue.active) + queue.waiting.index(directory)
            self.rows[directory] = replace(self.rows[directory], waits_behind=waits)
        self.tell()

    def _tell_progress(self, _nothing: object) -> None:
        grown, self._grown = self._grown, set()
        self.tell()
        for directory in grown:
            self.progressed.emit(directory)
