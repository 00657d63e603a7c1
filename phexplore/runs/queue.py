"""Which run starts next: an immutable value and functions on it, so that a window only starts and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunQueue:
    """Runs that wait and runs that have a worker.

    Attributes:
        waiting: run directories in the order they start.
        active: run directories with a worker, paused ones included.
        slots: how many may be active at once, at least 1.
        held: whether no further run starts until the queue is released.
    """

    waiting: tuple[Path, ...] = ()
    active: tuple[Path, ...] = ()
    slots: int = 1
    held: bool = False

    def __post_init__(self) -> None:
        """Refuse a queue without slots and a run that is in it twice."""
        if self.slots < 1:
            raise ValueError(f"a queue has at least 1 slot, got {self.slots}")
        everything = (*self.waiting, *self.active)
        if len(set(everything)) != len(everything):
            raise ValueError(f"a run is in the queue twice: {everything}")

    @property
    def due(self) -> tuple[Path, ...]:
        """The runs to start now, in order; tell the queue with `activate`."""
        free = 0 if self.held else max(0, self.slots - len(self.active))
        return self.waiting[:free]


def enqueue(queue: RunQueue, directory: Path) -> RunQueue:
    """Return the queue with a run at its end.

    Args:
        queue: the runs that wait and those that have a worker.
        directory: of the run.

    Raises:
        ValueError: it is in the queue already.
    """
    return replace(queue, waiting=(*queue.waiting, directory))


def activate(queue: RunQueue, directory: Path) -> RunQueue:
    """Return the queue after a waiting run got its worker.

    Args:
        queue: the runs that wait and those that have a worker.
        directory: of the run.

    Raises:
        ValueError: it does not wait.
    """
    if directory not in queue.waiting:
        raise ValueError(f"{directory} does not wait")
    return replace(queue, waiting=_without(queue.waiting, directory), active=(*queue.active, directory))


def leave(queue: RunQueue, directory: Path) -> RunQueue:
    """Return the queue without a run: it ended, or it was withdrawn while it waited.

    Args:
        queue: the runs that wait and those that have a worker.
        directory: of the run.
    """
    return replace(queue, waiting=_without(queue.waiting, directory), active=_without(queue.active, directory))


def move(queue: RunQueue, directory: Path, position: int) -> RunQueue:
    """Return the queue with a waiting run at another place among the waiting ones, 0 = next.

    Args:
        queue: the runs that wait and those that have a worker.
        directory: of the run.
        position: from 0, the next to start.

    Raises:
        ValueError: it does not wait.
    """
    if directory not in queue.waiting:
        raise ValueError(f"{directory} does not wait")
    rest = list(_without(queue.waiting, directory))
    rest.insert(min(max(position, 0), len(rest)), directory)
    return replace(queue, waiting=tuple(rest))


def hold(queue: RunQueue) -> RunQueue:
    """Return the queue that starts nothing further; active runs go on."""
    return replace(queue, held=True)


def release(queue: RunQueue) -> RunQueue:
    """Return the queue that starts runs again."""
    return replace(queue, held=False)


def _without(directories: Sequence[Path], directory: Path) -> tuple[Path, ...]:
    return tuple(each for each in directories if each != directory)
