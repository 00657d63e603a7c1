"""Warnings about data that may be confidential, and the record of them, before any reader of records.

Parameters chosen from runs on confidential records reveal information about these records that no privacy accounting
covers. The program cannot know what is confidential. It assumes so for all data whose provenance is real, except tables of
counts per block: the Bureau publishes such tables, and the file does not show whether it is published.
"""

from __future__ import annotations

import getpass
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.model.data_kinds import DataKind
from phexplore.model.issues import InputProblemsError
from phexplore.model.provenance import ProvenanceKind
from phexplore.model.scenario import Scenario
from phexplore.runs.disclosure import HELD_BACK, SEEDED, shared_summary
from phexplore.runs.events import Note
from phexplore.runs.journal import EventJournal
from phexplore.runs.spec import RunData, RunMode, RunSpec
from phexplore.runs.store import EVENTS_FILE, load_spec, load_summary
from phexplore.runs.writing import write_error

TREATED_AS_CONFIDENTIAL = "These data carry no mark of synthetic or published origin: treated as confidential."

UNMARKED = (
    f"{TREATED_AS_CONFIDENTIAL} If they are confidential, parameters chosen by looking at this run reveal something about "
    "them: tune on synthetic or public data. That the run went on all the same is written into its log."
)

COMPARED = (
    f"A sweep compares the errors of runs, which are not released for confidential data. {TREATED_AS_CONFIDENTIAL}"
)

_COUNTS = "These data are a table of counts by block, not records. The table does not show whether it is published."


@dataclass(frozen=True, slots=True)
class ConfidentialityWarning:
    """Data that may be confidential.

    Attributes:
        path: of the data.
        sha256: of its content.
    """

    path: str
    sha256: str

    @property
    def sentence(self) -> str:
        """What a person should know before a run on these data starts."""
        return (
            f"{self.path} contains records of persons or housing units, or counts of them. {TREATED_AS_CONFIDENTIAL} Every parameter chosen from "
            "results on them reveals information that no privacy accounting covers. Use synthetic or public data for tuning."
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether data are treated as confidential, and why.

    Attributes:
        confidential: whether they are treated as confidential: records without a mark.
        sentence: why.
    """

    confidential: bool
    sentence: str

    def json(self) -> dict[str, Any]:
        """Return the answer as it is recorded in what comes out."""
        return {"treated_as_confidential": self.confidential, "sentence": self.sentence}


def answer_about(scenario: Scenario, data: RunData) -> Answer:
    """Return whether data are treated as confidential, and why.

    Args:
        scenario: that is to be run.
        data: input of the run.
    """
    if warning_about(scenario, data) is not None:
        return Answer(confidential=True, sentence=TREATED_AS_CONFIDENTIAL)
    return Answer(confidential=False, sentence=data.provenance.sentence if data.is_open else _COUNTS)


def answer_about_records(data: RunData) -> Answer:
    """Return whether a population of persons, units and geography is treated as confidential, and why."""
    return Answer(not data.is_open, data.provenance.sentence if data.is_open else TREATED_AS_CONFIDENTIAL)


def warning_about_blocks(path: Path) -> str:
    """Return what to say before block data are read without a run, "" for tables of counts."""
    return ConfidentialityWarning(str(path), "").sentence if _is_real(path) and _has_block_records(path) else ""


def open_table(path: Path) -> Path:
    """Return the path of a table to compare releases with, unless its counts are confidential: the output contains the noise.

    Raises:
        PhexploreError: it has no mark.
    """
    if _is_real(path):
        raise PhexploreError(f"{path}: {TREATED_AS_CONFIDENTIAL}", "Name a synthetic or published table.")
    return path


def _is_real(path: Path) -> bool:
    from phexplore.published.origins import provenance_of  # noqa: PLC0415 - brings numpy

    return provenance_of(path).kind is ProvenanceKind.REAL


def salt_for(doubt: ConfidentialityWarning | None) -> str:
    """Return random digits that only a run on doubted data contains, so that its identity confirms no guess; "" for others."""
    return "" if doubt is None else secrets.token_hex(16)


def is_confidential(spec: RunSpec, summary: Mapping[str, Any] | None) -> bool:
    """Return whether the exact counts of a run are treated as confidential, also when its data are gone.

    Args:
        spec: what the run does.
        summary: content of its ``summary.json``; None or one of an earlier version says nothing.
    """
    if spec.data.is_open:
        return False
    recorded = (summary or {}).get("confidentiality")
    if spec.salt or (isinstance(recorded, Mapping) and recorded.get("treated_as_confidential") is True):
        return True
    if recorded is None and not Path(spec.data.path).exists():
        return True
    return warning_about(spec.scenario, spec.data) is not None


def is_confidential_run(directory: Path) -> bool:
    """Return whether the records of the run in a directory are treated as confidential."""
    return is_confidential(load_spec(directory), load_summary(directory))


def refuse_confidential(directory: Path) -> None:
    """Refuse to write errors of a run on records that are treated as confidential.

    Raises:
        PhexploreError: its records are.
    """
    if is_confidential_run(directory):
        raise PhexploreError(HELD_BACK, "Name a run on synthetic or published data.")


def refuse_release(directory: Path) -> None:
    """Refuse to write the counts of a run on confidential records that no noise protects.

    Raises:
        PhexploreError: they have no noise, or noise that can be drawn again.
    """
    spec = load_spec(directory)
    if not spec.is_releasable and is_confidential_run(directory):
        exact = f"The run added no noise, so its tables would be exact counts. {TREATED_AS_CONFIDENTIAL}"
        sentence = SEEDED if spec.mode is RunMode.PRIVATE else exact
        raise PhexploreError(sentence, "Name a run with noise and without a seed.")


def spec_to_leave(directory: Path) -> RunSpec:
    """Return the specification of a run on confidential records.

    Raises:
        PhexploreError: its identity has no salt, so that it confirms a guess of the data.
    """
    if not (spec := load_spec(directory)).salt:
        raise PhexploreError(
            f"The identity of the run {directory} was computed from the exact counts of confidential data, without a salt.",
            "Simulate again with this version.",
        )
    return spec


def summary_to_leave(directory: Path) -> dict[str, Any] | None:
    """Return the part of a run's summary that may be released; None before the run is complete."""
    summary = load_summary(directory)
    if summary is None or not is_confidential_run(directory):
        return summary
    spec_to_leave(directory)
    return shared_summary(summary)


def warning_about(scenario: Scenario, data: RunData) -> ConfidentialityWarning | None:
    """Return a warning about these data, None for marked data and for tables of counts by block.

    Args:
        scenario: that is to be run.
        data: input of the run.
    """
    if data.is_open or not _may_be_confidential(scenario, Path(data.path)):
        return None
    return ConfidentialityWarning(data.path, data.sha256)


def person_here() -> str:
    """Return the name of the account that uses the program."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "an account without a name"


def close_to_others(directory: Path) -> None:
    """Make the files of a run, and all that this process writes from now on, readable by their owner only."""
    os.umask(0o077)
    directory.chmod(0o700)
    for path in directory.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


def record_override(directory: Path, warning: ConfidentialityWarning, who: str, now: datetime | None = None) -> None:
    """Write into the record of a run who started it in spite of the warning, when, and on which content.

    Args:
        directory: of the run.
        warning: that was shown.
        who: started the run.
        now: when; None for the clock.

    Raises:
        WriteError: it cannot be written; then the run must not start.
    """
    at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    text = f"Warned that {warning.path} may be confidential (SHA-256 {warning.sha256}), {who} started this run at {at} all the same."
    try:
        with EventJournal(directory / EVENTS_FILE) as journal:
            journal.add(Note(text))
    except OSError as error:
        raise write_error(directory / EVENTS_FILE, error) from error


def _may_be_confidential(scenario: Scenario, path: Path) -> bool:
    """Return whether unmarked data can be confidential: all except tables by block; a reader refuses unreadable data."""
    return scenario.method.data_kind is not DataKind.BLOCKS or _has_block_records(path)


def _has_block_records(path: Path) -> bool:
    from phexplore.data.blocks.census_1940_reading import looks_like_1940  # noqa: PLC0415 - brings numpy
    from phexplore.data.blocks.delimited import read_head, read_header  # noqa: PLC0415 - as above
    from phexplore.data.blocks.microdata_reading import recognise  # noqa: PLC0415 - as above

    if path.is_dir():
        return any(_has_block_records(file) for file in sorted(path.iterdir()) if file.is_file())
    try:
        return looks_like_1940(read_head(path)) or recognise(read_header(path)) is not None
    except InputProblemsError:
        return False
