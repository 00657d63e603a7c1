"""What the launch form of group sizes and of releases under exact sums says, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from phexplore.gui.run_manager.launch_request import LaunchRequest, read_seed
from phexplore.runs.spec import DEMONSTRATION, RunMode, StopRule, read_limit


@dataclass(frozen=True, slots=True)
class CountsFields:
    """What stands in the form.

    Attributes:
        shipped: whether the counts that came with the program are used.
        path: typed path of the data, used when they are not.
        trials: how many.
        noisy: whether noise is drawn; else one trial from exact counts.
        seeded: whether the noise can be drawn again.
        seed: typed seed, used when seeded.
        workers: trials at the same time.
        stops: whether the run may end early.
        stop_error: typed limit of the coverage's Monte-Carlo error, used when it may.
    """

    shipped: bool = True
    path: str = ""
    trials: int = 10
    noisy: bool = True
    seeded: bool = True
    seed: str = "1"
    workers: int = 1
    stops: bool = False
    stop_error: str = "0.5 %"


def read_counts_fields(fields: CountsFields) -> LaunchRequest | Mapping[str, str]:
    """Return the request, or the reason per field why it is none. Fields that do not count are not read."""
    problems: dict[str, str] = {}
    path = Path(DEMONSTRATION)
    if not fields.shipped:
        path = Path(fields.path.strip()).expanduser()
        if not fields.path.strip():
            problems["path"] = "Choose the file with the counts."
        elif not path.exists():
            problems["path"] = f"There is nothing at {fields.path.strip()}. Check the path."
    seed, stop = None, None
    if fields.noisy and fields.seeded:
        try:
            seed = read_seed(fields.seed)
        except ValueError as error:
            problems["seed"] = str(error)
    if fields.noisy and fields.stops:
        try:
            stop = StopRule(read_limit(fields.stop_error), minimum_trials=2)
        except ValueError as error:
            problems["stop_error"] = str(error)
    if problems:
        return problems
    mode = RunMode.PRIVATE if fields.noisy else RunMode.NO_NOISE
    return LaunchRequest(path, fields.trials, seed, mode, fields.workers, stop)


def counts_explanation(fields: CountsFields) -> str:
    """Return in one or two sentences what such a run gives and what it is not fit for."""
    if not fields.noisy:
        return "One trial without noise: what comes out must equal what went in."
    source = (
        "Noise from a seed: the same seed gives the same bytes. For simulation only, never for a release."
        if fields.seeded
        else "Noise from the operating system: nobody can draw it again. Every trial that is released spends the budget once more."
    )
    return f"{source} Every trial is checked: what must be exact is compared to the last unit."
