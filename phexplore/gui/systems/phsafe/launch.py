"""What the launch form says, as values: from the texts of its fields to a request, or to the reasons why not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from phexplore.data.source import DEMONSTRATIONS
from phexplore.model.fields import Declared
from phexplore.model.numbers import parse_exact
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import LARGEST_SEED, RunData, RunMode, RunSpec, StopRule

MOST_TRIALS = 100_000
MOST_WORKERS = max(2, os.cpu_count() or 2)
FOLDER = "folder"
"""The choice of data that is a folder of the user's."""

DATA_WORDS = {
    "demo": "Demonstration: 51 states, synthetic",
    "demo-pr": "Demonstration: Puerto Rico, synthetic",
    FOLDER: "A folder with persons, units, geo…",
}
"""The choices of data, by id, in the order they are offered."""


@dataclass(frozen=True, slots=True)
class LaunchFields:
    """What stands in the form.

    Attributes:
        data: id of `DATA_WORDS`.
        folder: typed path, used when the data is a folder.
        trials: how many.
        mode: what is released.
        seeded: whether the noise can be drawn again.
        seed: typed seed, used when seeded.
        workers: trials at the same time.
        stops: whether the run may end early.
        stop_error: typed limit of the coverage's Monte-Carlo error, used when it may.
    """

    data: str = "demo"
    folder: str = ""
    trials: int = 20
    mode: RunMode = RunMode.PRIVATE
    seeded: bool = True
    seed: str = "1"
    workers: int = 1
    stops: bool = False
    stop_error: str = "0.5 %"


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


def read_fields(fields: LaunchFields) -> LaunchRequest | Mapping[str, str]:
    """Return the request, or the reason per field why it is none. Fields that do not count are not read."""
    problems: dict[str, str] = {}
    seed = stop = None
    path = Path(fields.data)
    if fields.data == FOLDER:
        path = Path(fields.folder.strip()).expanduser()
        if not fields.folder.strip():
            problems["folder"] = "Choose the folder that holds persons, units and geo as .csv or .parquet."
    elif fields.data not in DEMONSTRATIONS:
        problems["data"] = f"There is no demonstration {fields.data!r}."
    if fields.mode is RunMode.PRIVATE and fields.seeded:
        try:
            seed = read_seed(fields.seed)
        except ValueError as error:
            problems["seed"] = str(error)
    if fields.mode is RunMode.PRIVATE and fields.stops:
        try:
            stop = StopRule(read_limit(fields.stop_error))
        except ValueError as error:
            problems["stop_error"] = str(error)
    if problems:
        return problems
    return LaunchRequest(path, fields.trials, seed, fields.mode, fields.workers, stop)


def read_seed(text: str) -> int:
    """Read a seed.

    Raises:
        ValueError: not a whole number from 0 to the largest seed.
    """
    body = text.strip()
    if not body.isdecimal() or int(body) > LARGEST_SEED:
        raise ValueError(f"A seed is a whole number from 0 to {LARGEST_SEED:,}, got {body!r}. Enter for example 1.")
    return int(body)


def read_limit(text: str) -> Fraction:
    """Read the limit of the coverage's error, e.g. ``0.5 %`` or ``0.005``.

    Raises:
        ValueError: not a number, or not strictly between 0 and 100 %.
    """
    limit = parse_exact(text)
    if not 0 < limit < 1:
        raise ValueError(f"The limit lies between 0 and 100 %, got {text.strip()}. Enter for example 0.5 %.")
    return limit


def explanation(fields: LaunchFields) -> str:
    """Return in one sentence what such a run gives and what it is not fit for."""
    match fields.mode:
        case RunMode.NO_NOISE:
            return "One exact pass: the truncated counts, what the noise would be added to."
        case RunMode.NON_PRIVATE:
            return "One exact pass: production's counts without protection, totals too."
    source = (
        "Noise from a seed: the same seed gives the same bytes. For simulation only, never for a release."
        if fields.seeded
        else "Noise from the operating system: nobody can draw it again."
    )
    return f"{source} Each trial is a full simulated PHSafe release."
