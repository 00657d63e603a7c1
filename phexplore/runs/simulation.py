"""What a worker needs from a method: prepare once, write trials, sum up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from phexplore.noise.entropy import Entropy, OsEntropy, SeededEntropy
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import trial_file

Shared = TypeVar("Shared")


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
        """Report the end of a phase whose time was measured elsewhere.

        Args:
            name: of the phase.
            seconds: how long it took.
        """


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

        Args:
            trials: numbers of all finished trials, ascending.
            watch: hears of progress, and raises where the run is to stop.

        Raises:
            BudgetMismatchError: a check that guards privacy failed.
            CancelledError: the run is to stop.
        """


Maker = Callable[[RunSpec, Path, Place], Simulation]
"""Makes the simulation of a specification in its run directory, computed at a place. Reads nothing yet."""


_SEEDED = "Drawn from a seed: anyone who has it can take the noise away. For simulation only, never for release."
_FROM_SYSTEM = "Drawn from the operating system. Every trial that is released spends the budget once more."


class PreparedSimulation(Generic[Shared]):
    """What the simulations of all systems have: a specification, a directory, noise, and what all trials share."""

    exact_label = "Exact counts, not protected."
    """What trials without noise are."""

    def __init__(self, spec: RunSpec, directory: Path, place: Place = HERE) -> None:
        self._spec = spec
        self._directory = directory
        self._place = place
        self._shared: Shared | None = None

    @property
    def prepared(self) -> Shared:
        """What all trials share.

        Raises:
            RuntimeError: `prepare` was not called.
        """
        if self._shared is None:
            raise RuntimeError("the run is not prepared")
        return self._shared

    @property
    def is_private(self) -> bool:
        """Whether noise is added."""
        return self._spec.mode is RunMode.PRIVATE

    @property
    def label(self) -> str:
        """What the trials are, and what they are not fit for."""
        if not self.is_private:
            return self.exact_label
        return _SEEDED if self._spec.is_reproducible else _FROM_SYSTEM

    @property
    def mark(self) -> dict[str, object]:
        """What a file of trials says about itself: what it is not fit for, and the provenance of the data."""
        return {"label": self.label, "provenance": self._spec.provenance.json()}

    def entropy(self, index: int) -> Entropy:
        """Return where the noise of a trial comes from."""
        seed = self._spec.seed
        return OsEntropy() if seed is None else SeededEntropy(seed, (index,))

    def paths(self, trials: tuple[int, ...]) -> list[Path]:
        """Return the files of some trials."""
        return [self._directory / trial_file(index) for index in trials]


Check = bool | int


def outcome(failures: int) -> Check:
    """Return a check as the summary writes it."""
    return True if failures == 0 else failures
