"""What a run does: a frozen value that embeds everything that decides its result."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from phexplore import __version__
from phexplore.errors import PhexploreError
from phexplore.lazy import lazy
from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, Record, declared, declared_fields, decode, encode, parameter, read
from phexplore.model.fingerprint import fingerprint
from phexplore.model.kinds import Exact, Flag, Optional, Problems, RunDirectory, Supplied, Text, Whole
from phexplore.model.numbers import parse_exact
from phexplore.model.provenance import UNMARKED, Provenance, ProvenanceKind
from phexplore.model.scenario import Scenario
from phexplore.resources import resource

if TYPE_CHECKING:
    from phexplore.data.digest import FilesDigest
    from phexplore.data.provenance import PopulationMark

# Every command knows what a run is; those that read or start none load no reader.
_find_source = lazy("phexplore.data.source", "find_source")
_digest_files = lazy("phexplore.data.digest", "digest_files")
_digest_blocks = lazy("phexplore.data.digest", "digest_blocks")
_provenance_of = lazy("phexplore.published.origins", "provenance_of")
_decode_scenario = lazy("phexplore.files.scenario_json", "decode_scenario")
_encode_scenario = lazy("phexplore.files.scenario_json", "encode_scenario")

SPEC_VERSION = 3
"""Version of ``spec.json``. Version 1 had an unprotected mark of synthetic data and the address of a scheduler: neither is
believed. Version 2 had that mark instead of the provenance."""

FORMER_MARK = 2
"""The last version with a mark of synthetic data instead of the provenance."""

LARGEST_SEED = 2**63 - 1
"""Seeds are kept within what every file format and form holds."""


class RunSpecError(PhexploreError):
    """A specification that cannot be read, or was altered."""


class RunDataError(PhexploreError):
    """The data of a run is unreadable or has changed."""


class RunMode(enum.Enum):
    """What a run releases. The value is the word in files and on the command line."""

    PRIVATE = "private"
    """Basis cells with noise, as production's private mode."""
    NO_NOISE = "no-noise"
    """Basis cells exactly as truncated: production's private mode at infinite budget."""
    NON_PRIVATE = "non-private"
    """All cells exactly, nothing truncated: production's non-private mode."""


MODE_WORDS = {
    RunMode.PRIVATE: "with noise",
    RunMode.NO_NOISE: "truncated, no noise",
    RunMode.NON_PRIVATE: "exact counts",
}
"""What is released, for people."""


@declared
class RunData(Declared):
    """The input of a run, nailed to its content.

    Attributes:
        path: absolute path, as the readers take it.
        sha256: 64 hexadecimal digits over the names and contents of the files that are read.
        size_bytes: of these files together.
        provenance: the origin of these files, derived from their content or from a mark of exactly these bytes.
        blocks: whether these are block-level data, which other readers take.
    """

    path: str = parameter(Supplied())
    sha256: str = parameter(Text())
    size_bytes: int = parameter(Whole())
    provenance: Provenance = parameter(Record(Provenance), default=UNMARKED)
    blocks: bool = parameter(Flag(), default=False, is_omitted=True)

    @property
    def is_open(self) -> bool:
        """Whether the files state that no record is confidential: they are synthetic, published, or imputed from such."""
        return self.provenance.kind is not ProvenanceKind.REAL

    @property
    def place(self) -> Path:
        """Where the data are now: the demonstration's blocks move with the program, which may be another version, or elsewhere."""
        path = Path(self.path)
        if path.exists() or not path.as_posix().endswith(f"/{DEMONSTRATION_BLOCKS}"):
            return path
        shipped = resource(DEMONSTRATION_BLOCKS)
        return shipped if shipped.stat().st_size == self.size_bytes else path

    def verify(self, *, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Check that the data is still what the run was made for.

        Args:
            on_progress: called with bytes read and bytes in all; may raise to stop.

        Raises:
            InputProblemsError: files are missing.
            RunDataError: files are unreadable, or their content changed.
        """
        describe = describe_blocks if self.blocks else describe_data
        found = describe(self.place, on_progress=on_progress)
        if found.sha256 != self.sha256:
            raise RunDataError(
                f"The data in {self.path} is not what the run was made for: its content has changed.",
                "Put the original files back, or start a new run on the changed data.",
            )
        if self.is_open and not found.is_open:
            raise RunDataError(
                f"The data in {self.path} no longer carry the mark of origin that the run was made with.",
                "Put their provenance.json back, or start a new run, which asks whether they are confidential.",
            )


def describe_data(path: Path, *, on_progress: Callable[[int, int], None] | None = None) -> RunData:
    """Return the population at `path` with the SHA-256 of the content that would be read, in pieces of 1 MiB.

    Reading takes about one second per gigabyte and releases the interpreter, so a window may do it in a thread.

    Args:
        path: what the readers take: a directory, one of its three files, ``demo`` or ``demo-pr``.
        on_progress: called with bytes read and bytes in all; may raise to stop.

    Raises:
        InputProblemsError: files are missing; all of them are listed.
        RunDataError: files are unreadable.
    """
    source = _find_source(path)
    files = {
        file.relative_to(source.directory).as_posix(): file
        for frame in sorted(source.files)
        for file in source.files[frame]
    }
    digest = _digest_of(path, lambda: _digest_files(files, on_progress))
    place = path if path.exists() else source.directory
    return RunData(str(place.absolute()), digest.sha256, digest.size, _marked(source.provenance, digest.hashes))


def describe_blocks(path: Path, *, on_progress: Callable[[int, int], None] | None = None) -> RunData:
    """Return block-level data with the SHA-256 of the content that would be read.

    Args:
        path: what the readers of block data take: a file, or a directory with one of persons and one of units.
        on_progress: called with bytes read and bytes in all; may raise to stop.

    Raises:
        InputProblemsError: files are missing.
        RunDataError: files are unreadable.
    """
    digest = _digest_of(path, lambda: _digest_blocks(path, on_progress))
    return RunData(str(path.absolute()), digest.sha256, digest.size, _provenance_of(path), blocks=True)


def _digest_of(path: Path, read_files: Callable[[], FilesDigest]) -> FilesDigest:
    try:
        return read_files()
    except OSError as error:
        raise RunDataError(
            f"The data at {path} cannot be read ({error.strerror or error}).", "Check that you may read these files."
        ) from error


DEMONSTRATION = "demo"
"""The name of the shipped data of every method."""

DEMONSTRATION_BLOCKS = "synthetic/demo-blocks.csv.gz"
"""The shipped blocks, among the program's resources."""


def data_of(scenario: Scenario, path: Path) -> RunData:
    """Return the input of a run of this scenario: a population, block-level data or a table.

    ``demo`` means the shipped data of the method, unless a file here is called so.

    Args:
        scenario: that is to be run.
        path: of the data, or ``demo``.

    Raises:
        InputProblemsError: files are missing.
        RunDataError: files are unreadable.
    """
    if scenario.method.data_kind is DataKind.POPULATION:
        return describe_data(path)
    return describe_blocks(data_path(path, scenario))


def data_path(path: Path, scenario: Scenario) -> Path:
    """Return where the data are: ``demo`` means the shipped data of the method, unless a file here is called so.

    Args:
        path: of the data, or ``demo``.
        scenario: that is to be run.
    """
    if str(path) == DEMONSTRATION and not path.exists():
        return Path(resource(scenario.method.demonstration))
    return path


def _marked(mark: PopulationMark | None, hashes: Mapping[str, str]) -> Provenance:
    """Return the provenance that a mark states of exactly these bytes; a stale mark next to other files proves nothing."""
    if mark is None:
        return UNMARKED
    marked = {name: file.sha256 for name, file in mark.files.items()}
    return mark.provenance if all(marked.get(name) == digest for name, digest in hashes.items()) else UNMARKED


@declared
class StopRule(Declared):
    """Stop before the last trial once the result is precise enough.

    The coverage of the scenario's margin is averaged over all published numbers of a trial; trials are independent, so
    the standard deviation of these averages over √trials is the Monte-Carlo error of the overall coverage.

    Another figure of a trial can be watched instead: its standard deviation over √trials is compared.

    Attributes:
        coverage_error: stop when that error is at most this: in (0, 1), for another figure above 0, in its unit.
        minimum_trials: never stop before, at least 2.
        figure: what is watched instead of the coverage, e.g. ``County/total/mae`` of a TopDown run; "" for the
            coverage.
    """

    coverage_error: Fraction = parameter(Exact(above=0), title="limit of a figure's error")
    minimum_trials: int = parameter(Whole(2), default=10, title="least number of trials for an error")
    figure: str = parameter(Text(), default="", is_omitted=True)

    def agree(self) -> None:
        """Refuse a limit that every coverage keeps."""
        if not self.figure and self.coverage_error >= 1:
            raise ValueError(f"the limit of the coverage's error lies between 0 and 1, got {self.coverage_error}")


_STOP = Optional(Record(StopRule))


class _RunOptions(NamedTuple):
    """The word of a system's run options in ``spec.json``, and their class; None for a system without any."""

    word: str
    declared: type[Declared] | None


_OPTIONS: dict[type[Any], _RunOptions] = {}


def register_options(parameters: type[Any], word: str, declared: type[Declared] | None) -> None:
    """Say what runs of a system can be asked beyond their scenario.

    Args:
        parameters: the class of the system's parameters.
        word: in ``spec.json``.
        declared: the class of the options, None for none.
    """
    _OPTIONS[parameters] = _RunOptions(word, declared)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that decides the result of a run.

    Attributes:
        scenario: embedded, so edits made later do not reach the run.
        data: the input.
        trials: how many, at least 1; with a stop rule the most there can be.
        seed: trial i draws from ``spawn_key=(i,)`` of it, so order, number of workers and resuming change no byte.
            None = entropy of the operating system: not reproducible, the only kind fit for a release.
        mode: what is released.
        workers: trials computed at the same time; changes no byte.
        stop: an earlier end, None for exactly `trials`.
        code_version: of the program that made the run.
        options: what the run is asked beyond its scenario, of the class its system declares; None for nothing.
        version: of the specification's format, which decides what its identity covers.
        salt: random digits that keep the identity of a run on confidential records from confirming a guess of them; "" for others.
    """

    scenario: Scenario
    data: RunData
    trials: int
    seed: int | None
    mode: RunMode = RunMode.PRIVATE
    workers: int = 1
    stop: StopRule | None = None
    code_version: str = __version__
    options: Declared | None = None
    version: int = SPEC_VERSION
    salt: str = ""

    def __post_init__(self) -> None:
        """Refuse values outside their range."""
        if self.trials < 1:
            raise ValueError(f"a run has at least 1 trial, got {self.trials}")
        if self.workers < 1:
            raise ValueError(f"a run has at least 1 worker, got {self.workers}")
        if self.seed is not None and not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"a seed lies between 0 and {LARGEST_SEED}, got {self.seed}")
        if self.options is not None and type(self.options) is not _options_of(self.scenario).declared:
            raise ValueError(f"{type(self.options).__name__} are no options of a run of this scenario")

    @property
    def runs_read(self) -> tuple[Path, ...]:
        """The directories of other runs that this one reads."""
        parts = () if self.options is None else declared_fields(type(self.options))
        named = [getattr(self.options, part.name) for part in parts if isinstance(part.kind, RunDirectory)]
        return tuple(Path(text) for text in named if text)

    @property
    def provenance(self) -> Provenance:
        """The origin of every count of the run: that of the data, imputed where the run fills in a part of it."""
        found = self.data.provenance
        seeds = () if self.options is None else declared_fields(type(self.options))
        seed = next((getattr(self.options, part.name) for part in seeds if part.option == "--expand"), None)
        by_method = getattr(self.scenario.method, "filled_in", "")
        filled_in = by_method if seed is None else f"characteristics filled in by --expand {seed}"
        if not filled_in or found.is_synthetic:
            return found
        return Provenance(ProvenanceKind.IMPUTED, f"{found.words}, {found.source}; {filled_in}")

    @property
    def is_reproducible(self) -> bool:
        """Whether running it again gives the same bytes: always, unless noise came from the operating system."""
        return self.seed is not None or self.mode is not RunMode.PRIVATE

    @property
    def is_releasable(self) -> bool:
        """Whether one trial could be released: noise that nobody can draw again."""
        return self.seed is None and self.mode is RunMode.PRIVATE

    @property
    def identity(self) -> str:
        """64 hexadecimal digits: equal exactly when the result would be the same, wherever the data lies."""
        return _digest(_identifying(self))

    def repeats(self, other: RunSpec) -> bool:
        """Return whether this run does what `other` does, which an earlier version of the format may describe."""
        return replace(self, version=other.version, salt=other.salt).identity == other.identity

    def extends(self, other: RunSpec) -> bool:
        """Return whether this run only asks for more trials of `other`, so the other's trials can be kept.

        True for equal runs as well. Another stop rule or number of workers changes no trial either.
        """
        return replace(self, trials=other.trials, stop=other.stop).repeats(other) and self.trials >= other.trials


def _identifying(spec: RunSpec) -> Mapping[str, Any]:
    return {
        "spec_version": spec.version,
        "fingerprint": fingerprint(spec.scenario),
        "conventions": encode(spec.scenario.conventions),
        "data": spec.data.sha256,
        "trials": spec.trials,
        "seed": spec.seed,
        "mode": spec.mode.value,
        "stop": _STOP.encode(spec.stop),
        "code_version": spec.code_version,
        **({} if spec.options is None else {_options_of(spec.scenario).word: spec.options.canonical()}),
        **_identifying_data(spec),
        **({"salt": spec.salt} if spec.salt else {}),
    }


def _identifying_data(spec: RunSpec) -> Mapping[str, Any]:
    provenance, blocks = spec.data.provenance, {"blocks": spec.data.blocks}
    if spec.version <= FORMER_MARK:
        return {} if spec.version == 1 else {"synthetic": provenance.is_synthetic, **blocks}
    return {"provenance": provenance.json(), **blocks}


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def encode_spec(spec: RunSpec) -> dict[str, Any]:
    """Return the specification as JSON, with its identity and a seal over all of it."""
    content = {
        "version": spec.version,
        "identity": spec.identity,
        "mode": spec.mode.value,
        "trials": spec.trials,
        "seed": spec.seed,
        "reproducible": spec.is_reproducible,
        "releasable": spec.is_releasable,
        "workers": spec.workers,
        "stop": _STOP.encode(spec.stop),
        "code_version": spec.code_version,
        "data": _encode_data(spec),
        **({} if spec.version <= FORMER_MARK else {"provenance": spec.provenance.json()}),
        "fingerprint": fingerprint(spec.scenario),
        "scenario": _encode_scenario(spec.scenario),
        **({} if spec.options is None else {_options_of(spec.scenario).word: encode(spec.options)}),
        **({"salt": spec.salt} if spec.salt else {}),
    }
    return content if spec.version == 1 else content | {"seal": _digest(content)}


def _encode_data(spec: RunSpec) -> dict[str, Any]:
    """Return the input as JSON, with the key ``synthetic`` of every version; the former ones have no provenance."""
    plain = encode(spec.data)
    # In the order of the former versions.
    after: dict[str, Any] = {name: plain.pop(name) for name in ("blocks", "provenance") if name in plain}
    if spec.version <= FORMER_MARK:
        after.pop("provenance", None)
    return {**plain, "synthetic": spec.data.provenance.is_synthetic, **after}


def _decode_data(content: Mapping[str, Any], version: int) -> RunData:
    plain = {name: value for name, value in content.items() if name != "synthetic"}
    is_synthetic = Flag().read(content.get("synthetic", False))
    if version <= FORMER_MARK:
        kind = ProvenanceKind.SYNTHETIC if is_synthetic and version > 1 else ProvenanceKind.REAL
        return read(RunData, plain | {"provenance": Provenance(kind, f"specification of version {version}").json()})
    data = read(RunData, plain)
    if is_synthetic is not data.provenance.is_synthetic:
        raise ValueError("'synthetic' and 'provenance' contradict each other")
    return data


def decode_spec(content: Any, place: str = "spec.json") -> RunSpec:
    """Read a specification.

    Args:
        content: what `encode_spec` returned, parsed from JSON.
        place: the file, for messages.

    Raises:
        RunSpecError: it cannot be read, was made by a newer version, or was altered.
        InputProblemsError: its scenario cannot be read; every problem is listed.
    """
    try:
        if (version := Whole().read(content["version"])) > SPEC_VERSION:
            raise RunSpecError(
                f"{place} was written by a newer version of the program (format {version}, "
                f"this one reads up to {SPEC_VERSION}).",
                "Open it with that version.",
            )
        scenario = _decode_scenario(content["scenario"], place)
        spec = RunSpec(
            scenario=scenario,
            data=_decode_data(content["data"], version),
            trials=Whole().read(content["trials"]),
            seed=Optional(Whole()).read(content["seed"]),
            mode=RunMode(content["mode"]),
            workers=Whole().read(content["workers"]),
            stop=_STOP.read(content["stop"]),
            code_version=str(content["code_version"]),
            options=_decode_options(scenario, content),
            version=version,
            salt=Text().read(content.get("salt", "")),
        )
        unsealed = {name: value for name, value in content.items() if name != "seal"}
        intact = content["identity"] == spec.identity and (version == 1 or content["seal"] == _digest(unsealed))
        intact &= version <= FORMER_MARK or content["provenance"] == spec.provenance.json()
    except (KeyError, TypeError, ValueError) as error:
        raise RunSpecError(
            f"{place} is not a run specification ({type(error).__name__}: {error}).",
            "Start the run again from its scenario.",
        ) from error
    if not intact:
        raise RunSpecError(
            f"{place} was altered after the run was made: its identity or its seal is another.",
            "Start a new run from the scenario; results of an altered run cannot be trusted.",
        )
    return spec


def _options_of(scenario: Scenario) -> _RunOptions:
    return _OPTIONS.get(type(scenario.method), _RunOptions("", None))


def _decode_options(scenario: Scenario, content: Mapping[str, Any]) -> Declared | None:
    if type(scenario.method) not in _OPTIONS:
        # Read without its options a specification would seem altered.
        raise RunSpecError(
            "The system of this run is not known to this process.",
            "Import phexplore.systems.registry before runs are read.",
        )
    word, declared = _options_of(scenario)
    if declared is None or word not in content:
        return None
    problems = Problems((word,))
    options = decode(declared, content[word], problems, ())
    if problems.issues:
        raise ValueError(f"{problems.issues[0].place}: {problems.issues[0].sentence}")
    return options


def read_limit(text: str) -> Fraction:
    """Read the limit of the coverage's error, e.g. ``0.5 %`` or ``0.005``.

    Raises:
        ValueError: not a number, or not strictly between 0 and 100 %.
    """
    limit = parse_exact(text)
    if not 0 < limit < 1:
        raise ValueError(f"The limit lies between 0 and 100 %, got {text.strip()}. Enter for example 0.5 %.")
    return limit
