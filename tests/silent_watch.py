"""A watch of a simulation that nobody looks at: it keeps what it is told, and cancels when asked to."""

from __future__ import annotations

import contextlib

from phexplore.errors import CancelledError


class SilentWatch:
    """Listens to a simulation; it can cancel at the n-th checkpoint."""

    def __init__(self, cancel_at=10**9):
        self.left, self.notes, self.names, self.moved = cancel_at, [], [], []

    def checkpoint(self):
        self.left -= 1
        if self.left <= 0:
            raise CancelledError("asked to stop")

    def progress(self, phase, done, total):
        assert done <= total, phase
        self.moved.append((phase, done, total))
        self.checkpoint()

    def note(self, text):
        self.notes.append(text)

    @contextlib.contextmanager
    def phase(self, name):
        self.names.append(name)
        yield

    def phase_done(self, name, seconds):
        assert seconds >= 0, name
