"""A run as the list shows it: a value, what events make of it, and what may be done with it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from pathlib import Path

from phexplore.catalog.names import run_name
from phexplore.data.source import DEMONSTRATIONS
from phexplore.model.fields import Declared, declared_fields
from phexplore.resources import resource
from phexplore.runs.events import (
    PHASE_WORDS,
    WHOLE_RUN,
    Event,
    Failed,
    Finished,
    Note,
    Outcome,
    Paused,
    PhaseDone,
    Progress,
    Resumed,
    Started,
    TrialDone,
)
from phexplore.runs.spec import DEMONSTRATION, MODE_WORDS, RunMode, RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import RunEntry, started_words
from phexplore.systems.registry import system_of

_STATE_WORDS = {
    RunState.QUEUED: "waiting",
    RunState.STARTING: "starting",
    RunState.RUNNING: "running",
    RunState.PAUSED: "paused",
    RunState.CANCELLING: "stopping",
    RunState.COMPLETE: "complete",
    RunState.CANCELLED: "cancelled",
    RunState.INTERRUPTED: "interrupted",
    RunState.FAILED: "failed",
}

MOST_NOTES = 199
"""Lines of the log kept in memory; the run directory keeps all."""


class RunAction(enum.Enum):
    """What can be asked of a run. The value is the word on its button."""

    PAUSE = "Pause"
    RESUME = "Resume"
    CANCEL = "Cancel"
    RERUN = "Run again"
    OPEN = "Show results"
    DELETE = "Delete"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run.

    Attributes:
        directory: of the run.
        spec: what it does, None when it cannot be read.
        state: where it is in its life.
        trials: finished trials on disk.
        phase: what the worker does, "" when unknown.
        done: units of the phase finished.
        total: units of the phase; 0 = unknown.
        seconds_left: of the phase, None while nothing can be said.
        notes: what the worker and the watcher said, oldest first.
        problem: why it failed or cannot be read.
        remedy: what to do about it.
        details: for a bug report.
        waits_behind: runs that start before this one; None when it does not wait.
        is_twin: whether another run was made in the same minute.
    """

    directory: Path
    spec: RunSpec | None
    state: RunState
    trials: int = 0
    phase: str = ""
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    notes: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    details: str = ""
    waits_behind: int | None = None
    is_twin: bool = False

    @property
    def started(self) -> str:
        """When it was made, to the minute, or to the second where that alone tells it from another; "" when unknown."""
        return started_words(self.directory, has_seconds=self.is_twin)

    @property
    def title(self) -> str:
        """The scenario it runs, or the directory when that cannot be read."""
        return self.spec.scenario.name if self.spec else self.directory.name

    @property
    def wanted(self) -> int:
        """Trials asked for; 0 when unknown."""
        return self.spec.trials if self.spec else 0

    @property
    def share_done(self) -> float | None:
        """Part of the run that is finished, in [0, 1]; None while nothing can be said."""
        if self.state is RunState.COMPLETE:
            return 1.0
        if self.phase and self.phase != "trials" and self.state.has_process:
            return self.done / self.total if self.total else None
        return min(1.0, self.trials / self.wanted) if self.wanted else None


def row_of(entry: RunEntry) -> RunRow:
    """Return the row of a run as the disk tells it."""
    return RunRow(entry.directory, entry.spec, entry.state, trials=entry.trials, problem=entry.problem)


def after_event(row: RunRow, event: Event) -> RunRow:
    """Return the row after an event of its worker, with the line of the log it makes."""
    changed, words = row, ""
    match event:
        case Started(trials=_, present=present):
            changed = replace(row, trials=present, problem="", remedy="", details="", phase="", seconds_left=None)
        case PhaseDone(name, seconds):
            changed, words = (
                replace(row, phase="", seconds_left=None),
                f"{PHASE_WORDS.get(name, name)}: {seconds:.2f} s",
            )
        case TrialDone():
            changed = replace(row, trials=row.trials + 1)
        case Progress(phase, done, total, seconds_left):
            trials = done if phase == "trials" else row.trials
            changed = replace(row, phase=phase, done=done, total=total, seconds_left=seconds_left, trials=trials)
        case Note(text):
            words = text
        case Paused():
            changed, words = replace(row, seconds_left=None), "Paused."
        case Resumed():
            words = "Resumed."
        case Failed(why, remedy, details):
            changed = replace(row, seconds_left=None, phase="", problem=why, remedy=remedy, details=details)
            words = why
        case Finished(outcome):
            changed = replace(row, seconds_left=None, phase="")
            words = (
                f"{outcome.value.capitalize()}{'' if outcome is Outcome.COMPLETE else '; finished trials are saved'}."
            )
    return replace(changed, notes=(*row.notes[-MOST_NOTES:], words)) if words else changed


def state_words(row: RunRow) -> str:
    """Return the state in words: what a waiting run waits for, which phase a working one is in."""
    words = _STATE_WORDS[row.state]
    if row.state is RunState.QUEUED and row.waits_behind:
        behind = "1 run" if row.waits_behind == 1 else f"{row.waits_behind} runs"
        return f"{words}, {behind} before it"
    if row.state is RunState.CANCELLED and 0 < row.wanted <= row.trials:
        return "stopped before the summary"
    if row.state is RunState.RUNNING and row.phase and row.phase not in WHOLE_RUN:
        return f"{words}: {PHASE_WORDS.get(row.phase, row.phase)}"
    return words


def trials_words(row: RunRow) -> str:
    """Return finished and wanted trials."""
    if not row.wanted:
        return f"{row.trials:,}"
    if row.state is RunState.COMPLETE and row.trials < row.wanted:
        return f"{row.trials:,} of at most {row.wanted:,}"
    return f"{row.trials:,} of {row.wanted:,}"


def time_words(seconds: float | None) -> str:
    """Return a time left for reading: seconds, minutes, hours, coarser the longer; "" when unknown."""
    if seconds is None:
        return ""
    if seconds < 1.5:
        return "1 s left"
    if seconds < 90:
        return f"{seconds:.0f} s left"
    minutes = seconds / 60
    if minutes < 90:
        return f"{minutes:.0f} min left"
    return f"{minutes / 60:.1f} h left"


def data_words(spec: RunSpec | None) -> str:
    """Return what the run reads, with its mark as synthetic: what came with the program by its title, files by their name."""
    if spec is None:
        return ""
    shown = Path(spec.data.path)
    own, offer = spec.scenario.method.demonstration, system_of(spec.scenario).runs
    for name, place in ({DEMONSTRATION: own} if own else DEMONSTRATIONS).items():
        if shown == resource(place):
            return offer.shipped[name]
    return f"{shown.name} ({spec.provenance.kind.value})"


def kind_words(spec: RunSpec | None, *, in_full: bool = True) -> str:
    """Return how the run works: mode, in full with seed or entropy and workers, early stop."""
    if spec is None:
        return ""
    parts = [MODE_WORDS[spec.mode]]
    if in_full and spec.mode is RunMode.PRIVATE:
        parts.append("seed from the system" if spec.seed is None else f"seed {spec.seed}")
    if in_full and spec.workers > 1:
        parts.append(f"{spec.workers} workers")
    if spec.stop is not None:
        parts.append(system_of(spec.scenario).stop_words(spec.stop))
    parts += _option_words(spec.options)
    return ", ".join(parts)


def _option_words(options: Declared | None) -> list[str]:
    """Return what a run was asked beyond its scenario, where it differs from the usual."""
    if options is None:
        return []
    wishes = [(part, getattr(options, part.name)) for part in declared_fields(type(options)) if part.option]
    return [
        (part.said or f"{part.title} {{}}").format(part.kind.words(value))
        for part, value in wishes
        if value != part.default
    ]


def refusal(row: RunRow, action: RunAction) -> str | None:
    """Return why an action is not possible now, None when it is."""
    if row.spec is None and action in {RunAction.OPEN, RunAction.RERUN, RunAction.RESUME}:
        return "The run cannot be read."
    possible, reason = {
        RunAction.PAUSE: (row.state is RunState.RUNNING, "Only a running run can be paused."),
        RunAction.RESUME: (
            row.state is RunState.PAUSED or (row.state.is_final and row.state is not RunState.COMPLETE),
            "Only a paused, cancelled, interrupted or failed run can be resumed.",
        ),
        RunAction.CANCEL: (
            not row.state.is_final and row.state is not RunState.CANCELLING,
            "The run has ended or is stopping already.",
        ),
        RunAction.DELETE: (not row.state.has_process, "Cancel the run before you delete it."),
        RunAction.OPEN: (True, ""),
        RunAction.RERUN: (True, ""),
    }[action]
    return None if possible else reason


def asked_title(row: RunRow) -> str:
    """Return the name of a run's scenario and what distinguishes the run from a usual one of it, e.g. its estimator."""
    return " · ".join((row.title, *_option_words(None if row.spec is None else row.spec.options)))


def run_title(row: RunRow) -> str:
    """Return what a run is called: scenario and what was asked, when, trials."""
    done = trials_words(row) if row.trials < row.wanted else f"{row.trials:,}"
    trials = "1 trial" if done == "1" else f"{done} trials"
    title = asked_title(row) if row.spec is None else f"{asked_title(row)}, {row.spec.provenance.words}"
    return run_name(title, row.directory.name, row.started, trials)


def run_words(row: RunRow) -> str:
    """Return one line for a run: its name and its state."""
    return f"{run_title(row)} · {state_words(row)}"
