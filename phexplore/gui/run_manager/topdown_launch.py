"""What the launch form of TopDown says, as values: from the texts of its fields to a request, or the reasons why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from phexplore.gui.run_manager.launch import read_limit, read_seed
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunData, RunMode, RunSpec, StopRule
from phexplore.runs.topdown_options import Mechanism, RounderTarget, TopDownOptions

T = TypeVar("T")

MECHANISM_WORDS = {
    Mechanism.TOP_DOWN: "TopDown: from the root to the blocks",
    Mechanism.BLOCK_BY_BLOCK: "Block by block: the baseline",
}
TARGET_WORDS = {
    RounderTarget.FRACTION: "To the fraction, as the paper prints",
    RounderTarget.WHOLE: "To the rounded fraction, as production",
}


@dataclass(frozen=True, slots=True)
class TopDownFields:
    """What stands in the form.

    Attributes:
        path: typed path of the data, a file or a folder.
        expands: whether data of 16 cells are expanded to the full schema.
        expand: typed seed of the expansion, used when they are.
        trials: how many.
        noisy: whether noise is drawn; else one trial from exact measurements.
        seeded: whether the noise can be drawn again.
        seed: typed seed, used when seeded.
        workers: threads.
        mechanism: how histograms are estimated.
        target: of the rounder.
        microdata: whether microdata and tables are written.
        keeps: whether noisy answers are kept.
        scheduler: address of a Dask scheduler, "" for this machine.
        stops: whether the run may end early.
        stop_error: typed limit of the coverage's Monte-Carlo error, used when it may.
    """

    path: str = ""
    expands: bool = False
    expand: str = "1"
    trials: int = 4
    noisy: bool = True
    seeded: bool = True
    seed: str = "1"
    workers: int = 2
    mechanism: Mechanism = Mechanism.TOP_DOWN
    target: RounderTarget = RounderTarget.FRACTION
    microdata: bool = False
    keeps: bool = False
    scheduler: str = ""
    stops: bool = False
    stop_error: str = "0.5 %"


@dataclass(frozen=True, slots=True)
class TopDownLaunch:
    """A run to be made once its data is described.

    Attributes:
        path: of the data.
        trials: how many.
        seed: None = entropy of the operating system.
        mode: with noise, or from exact measurements.
        workers: threads.
        stop: an earlier end.
        options: what TopDown is asked beyond the scenario.
    """

    path: Path
    trials: int
    seed: int | None
    mode: RunMode
    workers: int
    stop: StopRule | None
    options: TopDownOptions

    def spec(self, scenario: Scenario, data: RunData) -> RunSpec:
        """Return the specification of the run."""
        noisy = self.mode is RunMode.PRIVATE
        return RunSpec(
            scenario,
            data,
            self.trials if noisy else 1,
            self.seed if noisy else 0,
            mode=self.mode,
            workers=self.workers,
            stop=self.stop if noisy else None,
            topdown=self.options,
        )


def read_topdown_fields(fields: TopDownFields) -> TopDownLaunch | Mapping[str, str]:
    """Return the request, or the reason per field why it is none. Fields that do not count are not read."""
    problems: dict[str, str] = {}
    path = Path(fields.path.strip()).expanduser()
    if not fields.path.strip():
        problems["path"] = "Choose a block file, or a folder with microdata of persons and units."
    elif not path.exists():
        problems["path"] = f"There is nothing at {fields.path.strip()}. Check the path."
    expand = _read(problems, "expand", read_seed, fields.expand) if fields.expands else None
    seed = _read(problems, "seed", read_seed, fields.seed) if fields.noisy and fields.seeded else None
    limit = _read(problems, "stop_error", read_limit, fields.stop_error) if fields.noisy and fields.stops else None
    stop = None if limit is None else StopRule(limit, minimum_trials=2)
    scheduler = fields.scheduler.strip()
    if scheduler and not _is_address(scheduler):
        problems["scheduler"] = f"{scheduler!r} is no address; write it like tcp://host:8786, or leave it empty."
    if problems:
        return problems
    options = TopDownOptions(
        expand=expand,
        mechanism=fields.mechanism,
        target=fields.target,
        microdata=fields.microdata,
        keep_measurements=fields.keeps,
        scheduler=scheduler,
    )
    mode = RunMode.PRIVATE if fields.noisy else RunMode.NO_NOISE
    return TopDownLaunch(path, fields.trials, seed, mode, fields.workers, stop, options)


def _read(problems: dict[str, str], name: str, parse: Callable[[str], T], text: str) -> T | None:
    """Return what was typed, or note why it cannot be read."""
    try:
        return parse(text)
    except ValueError as error:
        problems[name] = str(error)
        return None


def _is_address(text: str) -> bool:
    kind, found, place = text.rpartition("://")
    host, colon, port = place.rpartition(":")
    return (not found or kind in {"tcp", "tls", "ucx", "inproc"}) and bool(host) and bool(colon) and port.isdecimal()


def topdown_explanation(fields: TopDownFields) -> str:
    """Return in one or two sentences what such a run gives and what it is not fit for."""
    if not fields.noisy:
        return "One trial from exact measurements: the published counts equal the true ones where post-processing is right."
    source = (
        "Noise from a seed: the same seed gives the same bytes. For simulation only, never for a release."
        if fields.seeded
        else "Noise from the operating system: nobody can draw it again."
    )
    where = f" Estimated on {fields.scheduler.strip()}." if fields.scheduler.strip() else ""
    return f"{source} Each trial measures every level, then estimates and rounds every family.{where}"
