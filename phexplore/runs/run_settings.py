"""What every run is asked, whatever its system: declared once, for the form that starts a run and for its specification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phexplore.model.fields import Declared, Record, declared, parameter
from phexplore.model.kinds import Kind, Optional, Supplied, Switch, Whole
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place, memory_words, read_memory
from phexplore.runs.spec import DEMONSTRATION, LARGEST_SEED, MODE_WORDS, RunData, RunMode, RunSpec, StopRule

MOST_TRIALS = 100_000


@dataclass(frozen=True, slots=True)
class PlaceOfRun(Kind):
    """Where a run is computed; never written to a file."""


@dataclass(frozen=True, slots=True)
class Memory(Whole):
    """Bytes, typed like ``4G``."""

    @property
    def remedy(self) -> str:
        """What to do about a text that is none."""
        return "Enter an amount like 4G or 800M."

    @property
    def example(self) -> str:
        """What a field shows before anything is typed."""
        return "4G"

    def parse(self, text: str) -> int:
        """Return the bytes that a text names."""
        return read_memory(text)

    def words(self, value: Any) -> str:
        """Return bytes as `parse` takes them."""
        return memory_words(value)


@declared
class RunSettings(Declared):
    """What every run is asked; flags of the command line and rows of the form are made of it.

    Attributes:
        data: the name of shipped data, or the path of a file or folder.
        mode: what is released.
        trials: how many simulated releases. The error of a simulated margin falls with their root.
        seed: with a seed a run can be repeated byte for byte; without one, nobody can draw its noise again.
        workers: trials computed at the same time, or threads of this machine; they change no byte of the result. A TopDown trial alone uses all cores.
        place: address of a Dask scheduler. The machine there can run code here. It is asked for each time, also before Resume
            and Run again.
        memory: what the whole run may take, e.g. 4G. TopDown data that need more are estimated state by state, with the same counts.
        stop: trials end once the Monte-Carlo error of this figure (standard deviation between trials / √trials) is at most the
            limit.
    """

    data: str = parameter(Supplied(), default=DEMONSTRATION, option="--data")
    mode: RunMode = parameter(
        Switch(RunMode, MODE_WORDS), default=RunMode.PRIVATE, title="release", option="--no-noise"
    )
    trials: int = parameter(Whole(1, MOST_TRIALS), default=1, option="--trials")
    seed: int | None = parameter(
        Optional(Whole(0, LARGEST_SEED)), default=None, title="noise from a seed", option="--seed", unless="mode"
    )
    workers: int = parameter(Whole(1), default=1, option="--workers")
    place: Place = parameter(PlaceOfRun(), default=HERE, title="cluster", option="--scheduler")
    memory: int | None = parameter(Optional(Memory(1)), default=None, title="limit of memory", option="--memory")
    stop: StopRule | None = parameter(
        Optional(Record(StopRule)), default=None, title="stop early", option="--stop-at", unless="mode"
    )

    @property
    def path(self) -> Path:
        """The data."""
        return Path(self.data).expanduser()

    @property
    def where(self) -> Place:
        """Where the run is computed, and with how much memory."""
        return replace(self.place, memory=self.memory)

    def spec(self, scenario: Scenario, data: RunData, options: Declared | None) -> RunSpec:
        """Return the specification of a run; one without noise is a single trial.

        Args:
            scenario: what is simulated.
            data: as it was found at `path`.
            options: what the system asks beside.
        """
        noisy = self.mode is RunMode.PRIVATE
        return RunSpec(
            scenario,
            data,
            self.trials if noisy else 1,
            self.seed if noisy else 0,
            mode=self.mode,
            workers=self.workers,
            stop=self.stop if noisy else None,
            options=options,
        )


TAKEN_FROM_A_RUN = frozenset({"data", "mode", "seed", "stop"})
"""Settings without a say in a run that post-processes the answers another run kept."""
