"""What the launch form says, as values: from the texts of its fields to a request, or to the reasons why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from phexplore.data.source import DEMONSTRATIONS
from phexplore.gui.run_manager.launch_request import LaunchRequest, read_seed
from phexplore.runs.spec import RunMode, StopRule, read_limit

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
