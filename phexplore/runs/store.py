"""Runs on disk: a directory per run, files whole or absent, the manifest last.

A run directory holds

* ``spec.json``: what is to be done, frozen, with its identity;
* ``events.jsonl``: what happened, one JSON object per line with a time stamp;
* ``trial-00017.parquet``: one file per finished trial;
* ``truth.parquet``: the exact counts, confidential unless the data is synthetic;
* ``facilities.parquet``: housing units and group quarters of every block, which TopDown publishes exactly;
* ``release/``: the first trial in production's layout;
* ``measurements/``: noisy answers, where they are kept to be post-processed again;
* ``summary.json``: checks and metrics;
* ``summary-shared.json``: of a run on records treated as confidential, what of the summary others may read;
* ``log.txt``: what the worker logged;
* ``manifest.json``: the SHA-256 of all of these, written last: it is there exactly when the run is complete.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import plain_values
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.moments import day_text
from phexplore.opening import read_bytes
from phexplore.runs.events import Event, Failed, Finished, Note, Outcome, decode
from phexplore.runs.journal import EventJournal
from phexplore.runs.lock import LOCK_FILE, RunBusyError, is_locked
from phexplore.runs.spec import RunSpec, decode_spec, encode_spec
from phexplore.runs.states import RunState
from phexplore.runs.summary_shape import misfit
from phexplore.runs.writing import PART_SUFFIX, run_record, write_error, write_json
from phexplore.text.escapes import visible
from phexplore.text.quoted import quote

MANIFEST_VERSION = 1

REMEDY = "Start the run again, or take the directory from a backup."
"""What to do about a file of a run that cannot be read."""

SPEC_FILE = "spec.json"
EVENTS_FILE = "events.jsonl"
TRUTH_FILE = "truth.parquet"
FACILITIES_FILE = "facilities.parquet"
RELEASE_DIRECTORY = "release"
MEASUREMENTS_DIRECTORY = "measurements"
STATES_DIRECTORY = "states"
SUMMARY_FILE = "summary.json"
SHARED_SUMMARY_FILE = "summary-shared.json"
LOG_FILE = "log.txt"
MANIFEST_FILE = "manifest.json"

_TRIAL = re.compile(r"trial-(\d{5,})\.parquet")
_STAMP = "%Y%m%dT%H%M%SZ"
_OWN_FILES = (
    MANIFEST_FILE,
    SUMMARY_FILE,
    SHARED_SUMMARY_FILE,
    EVENTS_FILE,
    TRUTH_FILE,
    FACILITIES_FILE,
    LOG_FILE,
    LOCK_FILE,
    SPEC_FILE,
)


class RunExistsError(PhexploreError):
    """The directory holds another run."""


class RunUnreadableError(PhexploreError):
    """The directory is no run, or a part of it cannot be read."""


def trial_file(index: int) -> str:
    """Return the file name of a zero-based trial."""
    return f"trial-{index:05d}.parquet"


def present_trials(directory: Path) -> tuple[int, ...]:
    """Return the zero-based numbers of the trials on disk, ascending."""
    found = (_TRIAL.fullmatch(path.name) for path in directory.iterdir())
    return tuple(sorted(int(match.group(1)) for match in found if match))


def remove_trial(directory: Path, index: int) -> None:
    """Remove a trial: a file, or a folder with one file per state.

    Args:
        directory: of the run.
        index: zero-based.

    Raises:
        OSError: the system refuses.
    """
    _remove(directory / trial_file(index))


def _remove(path: Path) -> None:
    """Remove a file that may be missing, or a folder with all that is in it; a link is removed, never followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def load_spec(directory: Path) -> RunSpec:
    """Return the specification of a run.

    Raises:
        RunUnreadableError: the directory holds no run.
        RunSpecError, InputProblemsError: it holds one that cannot be read or was altered.
    """
    quote(directory.name)
    return decode_spec(_load_json(directory / SPEC_FILE), str(directory / SPEC_FILE))


def load_summary(directory: Path) -> dict[str, Any] | None:
    """Return the content of ``summary.json``, None when it is not written yet.

    Raises:
        RunUnreadableError: it is there but cannot be read, is of another shape, or was altered after the run was
            complete.
    """
    path, manifest = directory / SUMMARY_FILE, directory / MANIFEST_FILE
    if not path.exists():
        return None
    summary = _load_json(path)
    if manifest.exists() and _stated(manifest).get(SUMMARY_FILE) != sha256_of(path):
        raise RunUnreadableError(f"{path} was altered after the run was complete.", REMEDY)
    if place := misfit(summary):
        raise RunUnreadableError(f"{path} cannot be read: {place} is not as this program writes it.", REMEDY)
    return summary


def load_events(directory: Path) -> tuple[Event, ...]:
    """Return what happened so far, oldest first; empty when nothing was recorded, a `Note` why it cannot be read."""
    path = directory / EVENTS_FILE
    if not path.exists():
        return ()
    try:
        lines = read_bytes(path).decode(errors="replace").splitlines()
    except InputProblemsError as error:
        return (Note(f"{path} cannot be read. {error.issues[0].sentence}"),)
    return tuple(decode(line) for line in lines if line.strip())


def state_of(directory: Path) -> RunState:
    """Return the state of a run as the disk tells it.

    A run without a recorded end, whose worker is gone, was interrupted together with the program that watched it.
    """
    if (directory / MANIFEST_FILE).exists():
        return RunState.COMPLETE
    if is_locked(directory):
        return RunState.RUNNING
    events = [event for event in load_events(directory) if not isinstance(event, Note)]
    if not events:
        return RunState.QUEUED
    match events[-1]:
        case Finished(Outcome.CANCELLED):
            return RunState.CANCELLED
        case Failed():
            return RunState.FAILED
        case _:
            return RunState.INTERRUPTED


def prepare_directory(directory: Path, spec: RunSpec, *, replace: bool = False) -> Path:
    """Make a directory ready for a worker and return it.

    A new or empty directory gets the specification. One that holds the same run is left as it is: its finished trials
    count. One whose run asks for fewer trials of the same kind keeps them and asks for more.

    Args:
        directory: made if it is missing; beside a run, files that belong to none are left alone.
        spec: what to do; with a salt, only the owner may read the directory.
        replace: whether another run in the directory may be removed.

    Raises:
        RunExistsError: another run is there and may not be removed, or something that is no run.
        RunBusyError: a worker is at it.
        WriteError: the file system refuses.
    """
    if directory.exists() and is_locked(directory):
        raise RunBusyError(directory)
    held = _spec_or_none(directory)
    if held is None:
        _refuse_foreign(directory)
    elif spec.repeats(held) and spec.data.path == held.data.path:
        return directory
    elif spec.extends(held):
        _reopen(directory)
    elif replace:
        remove_run_files(directory)
    else:
        raise RunExistsError(
            f"{directory} holds another run.", "Choose another directory, or allow that run to be replaced."
        )
    if spec.salt:
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
        except OSError as error:
            raise write_error(directory, error) from error
    write_json(directory / SPEC_FILE, encode_spec(spec))
    return directory


def _refuse_foreign(directory: Path) -> None:
    """Refuse a directory with anything in it but what a worker left that died before its specification was written."""
    if not directory.exists():
        return
    if not directory.is_dir() or any(
        path.name != LOCK_FILE and not _belongs_to_run(path) for path in directory.iterdir()
    ):
        raise RunExistsError(
            f"{directory} is not empty, and it is no run that can be read.",
            "Choose another directory, or empty this one yourself; nothing in it was touched.",
        )


def _spec_or_none(directory: Path) -> RunSpec | None:
    try:
        return load_spec(directory)
    except PhexploreError:
        return None


def _reopen(directory: Path) -> None:
    """Take back what only a complete run has, the mark of completeness first."""
    for name in (MANIFEST_FILE, SUMMARY_FILE, SHARED_SUMMARY_FILE):
        try:
            (directory / name).unlink(missing_ok=True)
        except OSError as error:
            raise write_error(directory / name, error) from error


def remove_run_files(directory: Path) -> None:
    """Remove the files of a run and nothing else, the mark of completeness first.

    Raises:
        RunBusyError: a worker is at it.
        RunUnreadableError: the system refuses.
    """
    if is_locked(directory):
        raise RunBusyError(directory)
    held_a_run = (directory / SPEC_FILE).exists()
    try:
        trials = [directory / trial_file(index) for index in present_trials(directory)]
        unfinished = [path for path in directory.iterdir() if _belongs_to_run(path)]
        for path in [*(directory / name for name in _OWN_FILES), *trials, *unfinished]:
            _remove(path)
        for name in (RELEASE_DIRECTORY, MEASUREMENTS_DIRECTORY):
            if held_a_run and (directory / name).is_dir():
                shutil.rmtree(directory / name)
    except OSError as error:
        raise RunUnreadableError(
            f"The run in {directory} cannot be removed ({error.strerror or error}).", "Check that you may write there."
        ) from error


def _belongs_to_run(path: Path) -> bool:
    """Return whether a file is the unfinished form of one of the run's: ``name.part`` or ``.name.random.part``."""
    if not path.name.endswith(PART_SUFFIX):
        return False
    whole = path.name.removesuffix(PART_SUFFIX)
    if whole.startswith("."):
        whole = whole[1:].rpartition(".")[0]
    return whole in {*_OWN_FILES, STATES_DIRECTORY} or _TRIAL.fullmatch(whole) is not None


def remove_leftovers(directory: Path) -> None:
    """Remove what a worker that died left unfinished; its release is written again at the end.

    Raises:
        OSError: the system refuses.
    """
    for path in list(directory.iterdir()):
        # The states of an unfinished trial that are whole are gone on with.
        if _belongs_to_run(path) and not (path.is_dir() and _TRIAL.fullmatch(path.name.removesuffix(PART_SUFFIX))):
            _remove(path)
    if (directory / RELEASE_DIRECTORY).is_dir():
        shutil.rmtree(directory / RELEASE_DIRECTORY)


def close_run(directory: Path, identity: str) -> None:
    """Write the manifest: from now on the run is complete.

    Args:
        directory: of the run.
        identity: of its specification.

    Raises:
        WriteError: the file system refuses.
    """
    files = {
        path.relative_to(directory).as_posix(): {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in _kept_files(directory)
    }
    write_json(directory / MANIFEST_FILE, {"version": MANIFEST_VERSION, "identity": identity, "files": files})


def _kept_files(directory: Path) -> list[Path]:
    """Return the files of a run, without its lock and its manifest, in the order of their names."""
    own = [directory / name for name in _OWN_FILES if name not in {LOCK_FILE, MANIFEST_FILE}]
    trials = [directory / trial_file(index) for index in present_trials(directory)]
    parts = [path for folder in (*own, *trials) if folder.is_dir() for path in folder.iterdir()]
    further = [path for name in (RELEASE_DIRECTORY, MEASUREMENTS_DIRECTORY) for path in (directory / name).rglob("*")]
    return sorted(path for path in (*own, *trials, *parts, *further) if path.is_file())


def verify_run(directory: Path) -> tuple[Issue, ...]:
    """Return what is wrong with a complete run: files altered, missing or added since. Empty = intact.

    Raises:
        RunUnreadableError: there is no readable manifest.
    """
    stated = _stated(directory / MANIFEST_FILE)
    found = {path.relative_to(directory).as_posix(): path for path in _kept_files(directory)}
    issues = []
    for name in sorted(stated | found):
        if name not in found:
            issues.append(Issue((str(directory), name), "The file is missing.", REMEDY))
        elif name not in stated:
            issues.append(Issue((str(directory), name), "The file was added after the run was complete.", REMEDY))
        elif sha256_of(found[name]) != stated[name]:
            issues.append(Issue((str(directory), name), "The file was altered after the run was complete.", REMEDY))
    return tuple(issues)


def confirm_counts(directory: Path) -> None:
    """Confirm that exact counts and trials are those of the complete run: a bit that flipped is a wrong count. An unfinished run is not asked.

    Raises:
        RunUnreadableError: a file was altered or is missing, or there is no readable manifest.
    """
    if not (manifest := directory / MANIFEST_FILE).exists():
        return
    for name, stated in _stated(manifest).items():
        if name.partition("/")[0] == TRUTH_FILE or _TRIAL.fullmatch(name.partition("/")[0]):
            path = directory / name
            if not path.is_file():
                raise RunUnreadableError(f"{path} is missing.", REMEDY)
            if sha256_of(path) != stated:
                raise RunUnreadableError(f"{path} was altered after the run was complete.", REMEDY)


def _stated(manifest: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a run as its manifest has it; every name is one within the run."""
    content = _load_json(manifest)
    try:
        stated = {str(name): str(entry["sha256"]) for name, entry in content["files"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise RunUnreadableError(f"{manifest} is not a manifest ({error}).", REMEDY) from error
    for name in stated:
        if ".." in re.split(r"[/\\]", name):
            raise RunUnreadableError(f"{manifest} names a file outside the run: {visible(name)}.", REMEDY)
    return stated


def record_final(directory: Path, final: Finished | Failed, log: str = "") -> None:
    """Write down how a run ended whose worker could not do so itself. Call it after the process is gone.

    Does nothing when the worker wrote it, when the run is complete, or when another worker is at it.

    Args:
        directory: of the run.
        final: what the watcher relayed last.
        log: the end of the worker's standard error, added to the log.

    Raises:
        OSError: the system refuses, or what lies in the place of a record is no file.
    """
    if not directory.is_dir() or (directory / MANIFEST_FILE).exists() or is_locked(directory):
        return
    events = load_events(directory)
    if events and isinstance(events[-1], Finished | Failed):
        return
    with EventJournal(directory / EVENTS_FILE) as journal:
        journal.add(final)
    if log:
        with open(directory / LOG_FILE, "a", encoding="utf-8", opener=run_record) as file:
            file.write(log)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run as a list shows it.

    Attributes:
        directory: of the run.
        spec: what it does, None when it cannot be read.
        state: as the disk tells it.
        trials: how many are present.
        problem: why the specification cannot be read, "" otherwise.
    """

    directory: Path
    spec: RunSpec | None
    state: RunState
    trials: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RunStore:
    """A directory of runs, each in ``<utc>-<first 8 digits of its identity>``.

    Attributes:
        root: the directory; made by the first run.
    """

    root: Path

    def create(self, spec: RunSpec, now: datetime) -> Path:
        """Return a new directory with the specification, ready for a worker.

        Lists show the newest name first, so a run is always named after those that are there: a clock that was set
            back, or a second run within a second, would hide it below the older ones.

        Args:
            spec: what to do.
            now: with a time zone.

        Raises:
            WriteError: the file system refuses.
        """
        moment = now.astimezone(UTC)
        if (newest := self._newest()) is not None and newest >= moment.replace(microsecond=0):
            moment = newest + timedelta(seconds=1)
        return prepare_directory(self.root / f"{moment:{_STAMP}}-{spec.identity[:8]}", spec)

    def _newest(self) -> datetime | None:
        """Return the latest time in the name of a run, None when there is none."""
        if not self.root.is_dir():
            return None
        moments = []
        for path in self.root.iterdir():
            with suppress(ValueError):
                moments.append(datetime.strptime(path.name.partition("-")[0], _STAMP).replace(tzinfo=UTC))
        return max(moments, default=None)

    def entries(self) -> tuple[RunEntry, ...]:
        """Return all runs, the newest first. A run that cannot be read is listed with its problem."""
        if not self.root.is_dir():
            return ()
        directories = [path for path in self.root.iterdir() if (path / SPEC_FILE).exists()]
        return tuple(describe_run(path) for path in sorted(directories, reverse=True))

    def remove(self, directory: Path) -> None:
        """Remove a run, and its directory when nothing else is in it.

        Raises:
            RunBusyError: a worker is at it.
            RunUnreadableError: the system refuses.
        """
        remove_run_files(directory)
        if not any(directory.iterdir()):
            directory.rmdir()


def describe_run(directory: Path) -> RunEntry:
    """Return what a list shows of a run."""
    spec, problem = None, ""
    try:
        spec = load_spec(directory)
    except PhexploreError as error:
        problem = error.sentence
    return RunEntry(directory, spec, state_of(directory), len(present_trials(directory)), problem)


def _load_json(path: Path) -> dict[str, Any]:
    try:
        content = plain_values(read_text(path), path.name, REMEDY)
    except InputProblemsError as error:
        if not os.path.lexists(path):
            raise RunUnreadableError(f"There is no {path}.", "Choose the directory of a run.") from None
        raise RunUnreadableError(f"{path} cannot be read. {error.issues[0].sentence}", REMEDY) from error
    if not isinstance(content, dict):
        raise RunUnreadableError(f"{path} cannot be read (it holds no object).", REMEDY)
    return content


def sha256_of(path: Path) -> str:
    """Return the 64 hexadecimal digits of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def started_words(directory: Path, *, has_seconds: bool = False) -> str:
    """Return when a run was made, from the name of its directory, in local time, as ``22 Nov 10:19``; "" when unknown.

    The year is said of runs of other years.

    Args:
        directory: of the run.
        has_seconds: whether they are said, where runs of one minute are told apart by them.
    """
    stamp = directory.name[:16]
    try:
        made = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return ""
    own, now = made.astimezone(), datetime.now(UTC).astimezone()
    clock = f"{own:%H:%M:%S}" if has_seconds else f"{own:%H:%M}"
    return f"{day_text(own, has_year=own.year != now.year)} {clock}"
