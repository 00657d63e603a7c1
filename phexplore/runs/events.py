"""What a worker says about itself: one JSON object per line on its standard output.

An event is written after what it speaks of is on disk, so a `TrialDone` always refers to a whole, readable file.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from types import MappingProxyType
from typing import Any

INSIDE = "all trials"
"""The phase that moves inside its trials; its work is that of the whole run."""
WHOLE_RUN = frozenset({"trials", INSIDE})
"""Phases whose time left is that of the run."""

PHASE_WORDS = {
    "check data": "checking the data",
    "connect": "connecting",
    "read": "reading",
    "count": "counting",
    "prepare": "preparing",
    "measure": "measuring",
    "least_squares": "estimating",
    "rounder": "rounding",
    "failsafe": "checking and repairing",
    "summary": "summing up",
}
"""What people call the phases, by what is done even where nothing is to repair; ``trials`` is what it is called."""


INTERRUPTED_REMEDY = "Resume the run; finished trials are saved. If it stops again, use fewer workers: it may need more memory than there is."


class Outcome(enum.Enum):
    """How a run ended that did not fail. The value is the word in JSON."""

    COMPLETE = "complete"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Started:
    """The worker lives and has read its specification.

    Attributes:
        trials: how many the specification asks for.
        present: how many of them are already there from an earlier start.
    """

    trials: int
    present: int = 0


@dataclass(frozen=True, slots=True)
class PhaseDone:
    """A step before or after the trials has ended: reading, counting, the summary.

    Attributes:
        name: of the phase, as in the summary's ``seconds``.
        seconds: wall time, pauses left out.
    """

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class TrialDone:
    """One trial is on disk.

    Attributes:
        index: zero-based.
        seconds: wall time of this trial.
        covered: published numbers whose noise lies within the scenario's margin.
        numbers: published numbers in the trial.
    """

    index: int
    seconds: float = 0.0
    covered: int = 0
    numbers: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the current phase is; at most 20 a second.

    Attributes:
        phase: what is counted, e.g. ``trials``.
        done: units finished, those of earlier starts included.
        total: units in all; 0 = unknown.
        seconds_left: of this phase, None while nothing can be said.
    """

    phase: str
    done: int
    total: int
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth reading; also what an event of another version turns into."""

    text: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The worker rests until it is told to go on."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The worker goes on after a pause."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a run that did not fail; finished trials are kept either way."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a run that failed; finished trials are kept.

    Attributes:
        sentence: for the user.
        remedy: what to do about it.
        details: traceback or the end of the log, for a bug report; or what is wrong with the input, a line each.
        problems: how many problems of the input `details` lists; 0 when the reason is another one.
    """

    sentence: str
    remedy: str = ""
    details: str = ""
    problems: int = 0


FinalEvent = Finished | Failed
Event = Started | PhaseDone | TrialDone | Progress | Note | Paused | Resumed | FinalEvent

KINDS: Mapping[str, type[Event]] = MappingProxyType(
    {kind.__name__: kind for kind in (Started, PhaseDone, TrialDone, Progress, Note, Paused, Resumed, Finished, Failed)}
)
"""Every kind by its name in JSON."""


def encode(event: Event, **extra: str) -> str:
    """Return the event as one line of JSON without its line feed.

    Args:
        event: what happened.
        extra: further text fields for the record, such as a time stamp; decoding ignores them.
    """
    content = asdict(event)
    if isinstance(event, Finished):
        content["outcome"] = event.outcome.value
    return json.dumps({"event": type(event).__name__, **content, **extra}, ensure_ascii=True)


def decode(line: str) -> Event:
    """Return the event of one line. Never raises: what this version cannot read becomes a `Note` with the line."""
    try:
        content = json.loads(line)
        kind = KINDS[content["event"]]
        return _build(kind, content)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Note(line.strip())


def _build(kind: type[Event], content: Mapping[str, Any]) -> Event:
    """Return the event with the fields this version knows.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or of another type.
    """
    known: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in content:
            if field.default is MISSING:
                raise KeyError(field.name)
            continue
        known[field.name] = _typed(str(field.type), content[field.name])
    return kind(**known)


def _typed(annotation: str, value: Any) -> Any:
    if annotation == "Outcome":
        return Outcome(value)
    if value is None and annotation.endswith("| None"):
        return None
    number = isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64
    match annotation.removesuffix(" | None"):
        case "int" if number:
            return value
        case "float" if number or isinstance(value, float):
            return float(value)
        case "str" if isinstance(value, str):
            return value.encode(errors="backslashreplace").decode()  # half a character could not be printed
    raise TypeError(f"{value!r} is not {annotation}")


class Decoder:
    """Turns a byte stream cut anywhere into whole events."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events whose line ended in this chunk, in order."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [decode(line.decode(errors="replace")) for line in lines if line.strip()]

    def finish(self) -> list[Event]:
        """Return what the stream ended with in the middle of a line: nothing, or one event."""
        rest, self._rest = self._rest, b""
        return [decode(rest.decode(errors="replace"))] if rest.strip() else []
