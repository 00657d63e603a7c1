"""What a worker needs from a method: prepare once, write trials, sum up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from phexplore.runs.place import Place
from phexplore.runs.spec import RunSpec


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """What the progress of a run and its stop rule need of a trial.

    Attributes:
        covered: directly measured numbers whose noise lies within the scenario's margin.
        numbers: directly measured numbers in the trial.
        watched: the figure that the stop rule names; None where it watches the coverage.
    """

    covered: int
    numbers: int
    watched: float | None = None

    @property
    def share(self) -> float:
        """What the stop rule watches: the named figure, else the share covered; 0 when nothing is measured."""
        if self.watched is not None:
            return self.watched
        return self.covered / self.numbers if self.numbers else 0.0


class Watch(Protocol):
    """The simulation's side of the worker: say how far it is, and stop when asked."""

    def checkpoint(self) -> None:
        """Rest here while the run is paused.

        Raises:
            CancelledError: the run is to stop.
        """

    def progress(self, phase: str, done: int, total: int) -> None:
        """Report how far a phase is, and pass a `checkpoint`.

        Args:
            phase: its name.
            done: units finished.
            total: units in all, 0 = unknown.

        Raises:
            CancelledError: the run is to stop.
        """

    def note(self, text: str) -> None:
        """Tell the user something about the run."""

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return the context that measures the time of a phase and reports its end."""

    def phase_done(self, name: str, seconds: float) -> None:
        """Report the end of a phase whose time was measured elsewhere."""


class Simulation(Protocol):
    """One method's part of a run. Used by one worker; `write_trial` by several of its threads at once."""

    def prepare(self, watch: Watch) -> None:
        """Read the input and count what all trials share, and write the exact counts.

        Raises:
            PhexploreError: the input cannot be used.
            CancelledError: the run is to stop.
        """

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Draw one trial and write it.

        Args:
            index: zero-based; with a seed it alone decides the content.
            path: the unfinished file; the caller flushes and renames it.
        """

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial written by an earlier start.

        Raises:
            PhexploreError: the file cannot be read; it is drawn again.
        """

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write what comes after the last trial and return the method's part of ``summary.json``.

        Raises:
            BudgetMismatchError: a check that guards privacy failed.
            CancelledError: the run is to stop.
        """


Maker = Callable[[RunSpec, Path, Place], Simulation]
"""Makes the simulation of a specification in its run directory, computed at a place. Reads nothing yet."""


Check = bool | int


def outcome(failures: int) -> Check:
    """Return a check as the summary writes it."""
    return True if failures == 0 else failures
