"""The guard at the door: data that look like confidential census input are not tuned on without somebody answering for it.

Parameters chosen by looking at runs on confidential records reveal something about these records, outside every accounting. The
program cannot know what is confidential. It takes for it what has one line per person, household or housing unit and no mark of
its own generator or converters; tables of counts are published or not, which nobody can see from them.
"""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.issues import InputProblemsError
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.runs.events import Note
from phexplore.runs.journal import EventJournal
from phexplore.runs.spec import RunData
from phexplore.runs.store import EVENTS_FILE
from phexplore.runs.writing import write_error

UNMARKED = (
    "These data carry no mark of this program's generator or converters. If they are confidential, parameters chosen by "
    "looking at this run reveal something about them: tune on synthetic or public data. That the run went on all the same "
    "is written into its log."
)


@dataclass(frozen=True, slots=True)
class Doubt:
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
            f"{self.path} holds records of persons or housing units and carries no mark of this program's generator or converters. "
            "If the records are confidential, every parameter chosen by looking at this run reveals something about them, and no "
            "privacy accounting covers that. Tune on synthetic or public data."
        )


def doubt_about(scenario: Scenario, data: RunData) -> Doubt | None:
    """Return what speaks against using these data, None for marked data and for tables of counts."""
    if data.synthetic or not _has_records(scenario, Path(data.path)):
        return None
    return Doubt(data.path, data.sha256)


def person_here() -> str:
    """Return the name of the account that uses the program."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "an account without a name"


def record_override(directory: Path, doubt: Doubt, who: str, now: datetime | None = None) -> None:
    """Write into the record of a run who started it in spite of the warning, when, and on which content.

    Raises:
        WriteError: it cannot be written; then the run must not start.
    """
    at = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    text = f"Warned that {doubt.path} may be confidential (SHA-256 {doubt.sha256}), {who} started this run at {at} all the same."
    try:
        with EventJournal(directory / EVENTS_FILE) as journal:
            journal.add(Note(text))
    except OSError as error:
        raise write_error(directory / EVENTS_FILE, error) from error


def _has_records(scenario: Scenario, path: Path) -> bool:
    """Return whether data have one line per person, household or unit; what cannot be read is refused later, by its reader."""
    match scenario.method:
        case PhSafe():
            return True
        case TopDown():
            return _has_block_records(path)
        case GroupSizes():
            return path.is_dir() or _has_columns(path)
    return False


def _has_block_records(path: Path) -> bool:
    from phexplore.data.blocks.census_1940_reading import looks_like_1940  # noqa: PLC0415 - brings numpy
    from phexplore.data.blocks.delimited import read_head, read_header  # noqa: PLC0415 - as above
    from phexplore.data.blocks.microdata_reading import recognise  # noqa: PLC0415 - as above

    if path.is_dir():
        return any(_has_block_records(file) for file in sorted(path.iterdir()) if file.is_file())
    try:
        # The full count of 1940 is public: its 72 years are over.
        return not looks_like_1940(read_head(path)) and recognise(read_header(path)) is not None
    except InputProblemsError:
        return False


def _has_columns(path: Path) -> bool:
    from phexplore.data.blocks.delimited import read_header  # noqa: PLC0415 - brings numpy
    from phexplore.data.regions.group_records import COLUMNS  # noqa: PLC0415 - as above

    try:
        return set(COLUMNS) <= set(read_header(path).names)
    except InputProblemsError:
        return False
