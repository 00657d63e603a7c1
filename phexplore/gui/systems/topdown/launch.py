"""What the launch form of TopDown says, as values: from the texts of its fields to a request, or the reasons why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from phexplore.gui.run_manager.launch_request import read_seed
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place, tls_files
from phexplore.runs.spec import DEMONSTRATION, RunData, RunMode, RunSpec, StopRule
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_options import Mechanism, RounderTarget, TopDownOptions
from phexplore.systems.topdown.stop_choices import stop_rule

T = TypeVar("T")

TLS = "tls://"
TLS_WORDS = ("Certificate of the authority", "Certificate of this machine", "Key of this machine's certificate")
MECHANISM_WORDS = {
    Mechanism.TOP_DOWN: "From the root to the blocks",
    Mechanism.BLOCK_BY_BLOCK: "Block by block (baseline)",
}
TARGET_WORDS = {
    RounderTarget.FRACTION: "To the fraction (paper)",
    RounderTarget.WHOLE: "To whole numbers (production)",
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
        tls: typed paths of the certificates for a scheduler at tls://, in the order of `TLS_WORDS`.
        stops: whether the run may end early.
        stop_figure: id of the figure that may end it, "" for the coverage of the margins.
        stop_level: level of that figure.
        stop_query: query group of that figure.
        stop_error: typed limit of its Monte-Carlo error, used when the run may end early.
        again: directory of a run whose kept answers are post-processed again, "" to measure.
    """

    path: str = DEMONSTRATION
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
    tls: tuple[str, ...] = ("", "", "")
    stops: bool = False
    stop_figure: str = ""
    stop_level: str = ""
    stop_query: str = ""
    stop_error: str = "0.5 %"
    again: str = ""


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
        again: the run whose kept answers are post-processed again, None to measure.
        place: where it is estimated.
    """

    path: Path
    trials: int
    seed: int | None
    mode: RunMode
    workers: int
    stop: StopRule | None
    options: TopDownOptions
    again: Path | None = None
    place: Place = HERE

    def spec(self, scenario: Scenario, data: RunData) -> RunSpec:
        """Return the specification of the run.

        Raises:
            RunSpecError: the run named does not fit: nothing kept, other data, too few trials.
        """
        if self.again is not None:
            found = reprocess_measurements(scenario, self.again, data, trials=self.trials, options=self.options)
            return replace(found, workers=self.workers)
        noisy = self.mode is RunMode.PRIVATE
        return RunSpec(
            scenario,
            data,
            self.trials if noisy else 1,
            self.seed if noisy else 0,
            mode=self.mode,
            workers=self.workers,
            stop=self.stop if noisy else None,
            options=self.options,
        )


def read_topdown_fields(fields: TopDownFields) -> TopDownLaunch | Mapping[str, str]:
    """Return the request, or the reason per field why it is none. Fields that do not count are not read."""
    problems: dict[str, str] = {}
    measures = not fields.again
    draws = measures and fields.noisy
    path = Path(fields.path.strip()).expanduser()
    if not fields.path.strip():
        problems["path"] = "Choose a block file, or a folder with microdata of persons and units."
    elif fields.path.strip() != DEMONSTRATION and not path.exists():
        problems["path"] = f"There is nothing at {fields.path.strip()}. Check the path."
    expand = _read(problems, "expand", read_seed, fields.expand) if measures and fields.expands else None
    seed = _read(problems, "seed", read_seed, fields.seed) if draws and fields.seeded else None
    stop = (
        _read(problems, "stop_error", partial(_stop_rule, fields), fields.stop_error)
        if draws and fields.stops
        else None
    )
    place = _read(problems, "scheduler", partial(read_place, files=fields.tls), fields.scheduler)
    if problems or place is None:
        return problems
    options = TopDownOptions(
        expand=expand,
        mechanism=fields.mechanism if measures else Mechanism.TOP_DOWN,
        target=fields.target,
        microdata=fields.microdata,
        keep_measurements=measures and fields.keeps,
    )
    mode = RunMode.PRIVATE if fields.noisy or not measures else RunMode.NO_NOISE
    kept = None if measures else Path(fields.again)
    return TopDownLaunch(path, fields.trials, seed, mode, fields.workers, stop, options, kept, place)


def _stop_rule(fields: TopDownFields, limit: str) -> StopRule:
    return stop_rule(fields.stop_figure, fields.stop_level, fields.stop_query, limit)


def _read(problems: dict[str, str], name: str, parse: Callable[[str], T], text: str) -> T | None:
    """Return what was typed, or note why it cannot be read."""
    try:
        return parse(text)
    except ValueError as error:
        problems[name] = str(error)
        return None


def read_place(address: str, files: tuple[str, ...]) -> Place:
    """Return where a run is computed.

    Args:
        address: typed, "" for this machine.
        files: typed paths of certificates; they count for an address at tls://.

    Raises:
        ValueError: no address, or a certificate is missing; with none at all, Dask's own settings count.
    """
    scheduler = address.strip()
    if not scheduler:
        return HERE
    if not is_address(scheduler):
        raise ValueError(f"{scheduler!r} is no address; write it like tcp://host:8786, or leave it empty.")
    typed = [name.strip() for name in files]
    if not scheduler.startswith(TLS) or not any(typed):
        return Place(scheduler=scheduler)
    for words, name in zip(TLS_WORDS, typed, strict=True):
        if not name:
            raise ValueError(f"{words} is missing. Choose all three files, or none to use Dask's own settings.")
        if not Path(name).expanduser().is_file():
            raise ValueError(f"{words}: there is no file at {name}. Check the path.")
    authority, certificate, key = (Path(name).expanduser() for name in typed)
    return Place(scheduler=scheduler, tls=tls_files(authority, certificate, key))


def is_address(text: str) -> bool:
    """Return whether a text names a Dask scheduler: host and port, with or without the kind of connection."""
    kind, found, place = text.rpartition("://")
    host, colon, port = place.rpartition(":")
    return (not found or kind in {"tcp", "tls", "ucx", "inproc"}) and bool(host) and bool(colon) and port.isdecimal()


def topdown_explanation(fields: TopDownFields) -> str:
    """Return in one or two sentences what such a run gives and what it is not fit for."""
    if fields.again:
        return (
            "Post-processing alone, from noisy answers that were kept. Schema, levels, budgets and noise are those of that run; "
            "passes, invariants and constraints are this scenario's. It spends nothing."
        )
    if not fields.noisy:
        return "One trial from exact measurements: the published counts equal the true ones where post-processing is right."
    source = (
        "Noise from a seed: the same seed gives the same bytes. For simulation only, never for a release."
        if fields.seeded
        else "Noise from the operating system: nobody can draw it again."
    )
    address = fields.scheduler.strip()
    where = f" Estimated on {address}: whoever controls that machine can run code here." if address else ""
    return f"{source} Each trial measures every level, then estimates and rounds every family.{where}"
