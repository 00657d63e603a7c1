"""A run that a form asks for, and the fields that every such form reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from phexplore.model.fields import Declared
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import LARGEST_SEED, RunData, RunMode, RunSpec, StopRule

MOST_TRIALS = 100_000


MOST_WORKERS = max(2, os.cpu_count() or 2)


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """A run to be made once its data is described.

    Attributes:
        path: of the data, or the name of a demonstration.
        trials: how many.
        seed: None = entropy of the operating system.
        mode: what is released.
        workers: trials at the same time.
        stop: an earlier end.
        place: where it is computed: here.
        options: what the run is asked beside, None for nothing.
    """

    path: Path
    trials: int
    seed: int | None
    mode: RunMode
    workers: int
    stop: StopRule | None
    place: Place = HERE
    options: Declared | None = None

    def spec(self, scenario: Scenario, data: RunData) -> RunSpec:
        """Return the specification of the run."""
        trials = self.trials if self.mode is RunMode.PRIVATE else 1
        stop = self.stop if self.mode is RunMode.PRIVATE else None
        seed = self.seed if self.mode is RunMode.PRIVATE else 0
        return RunSpec(
            scenario,
            data,
            trials,
            seed,
            mode=self.mode,
            workers=min(self.workers, trials),
            stop=stop,
            options=self.options,
        )


def read_seed(text: str) -> int:
    """Read a seed.

    Raises:
        ValueError: not a whole number from 0 to the largest seed.
    """
    body = text.strip()
    if not body.isdecimal() or int(body) > LARGEST_SEED:
        raise ValueError(f"A seed is a whole number from 0 to {LARGEST_SEED:,}, got {body!r}. Enter for example 1.")
    return int(body)
