"""The project file (.phx): versioned, readable JSON with every scenario and the whole edit log.

The first version of the workbook is written in full, every later one as the changes that led to it, so that thousands
of steps stay small and undo works after reopening. The current workbook is written in full too: people read it, and
reading compares it with the replayed log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.agenda_json import decode_goals, decode_rules, encode_agenda
from phexplore.files.approval_json import decode_decisions, encode_decisions
from phexplore.files.json_text import plain_values
from phexplore.files.scenario_json import (
    decode_change,
    decode_scenario,
    decode_workbook,
    encode_change,
    encode_scenario,
    encode_workbook,
)
from phexplore.model.approval import Decision
from phexplore.model.diff import apply, diff
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook

FORMAT = "phexplore project"
VERSION = 1


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One named step of the edit log: label, time (ISO 8601 UTC) and the workbook it led to."""

    label: str
    at: str
    workbook: Workbook


@dataclass(frozen=True, slots=True)
class ProjectContent:
    """What a project file holds.

    Attributes:
        steps: all versions, the first one included, undone ones too.
        cursor: index of the current version.
        issues: what could not be read but did not prevent opening.
        decisions: who recommended and approved what, oldest first; undo does not touch them.
    """

    steps: tuple[LoggedStep, ...]
    cursor: int
    issues: tuple[Issue, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def workbook(self) -> Workbook:
        """The current version."""
        return self.steps[self.cursor].workbook


_SHARED: Mapping[str, Callable[[Workbook], Any]] = {
    "order": lambda workbook: list(workbook.names),
    "active": lambda workbook: workbook.active,
    "comparison": lambda workbook: workbook.comparison,
}
_AGENDA = ("rules", "goals")


def encode_step(before: Workbook, step: LoggedStep) -> dict[str, Any]:
    """Return a step as JSON: what changed from `before`, per scenario.

    Args:
        before: the version it leads on from.
        step: the version after it.
    """
    touched = _touched(before.scenarios, step.workbook.scenarios)
    added = {scenario.name: encode_scenario(scenario) for known, scenario in touched if known is None}
    differences = {scenario.name: diff(known, scenario) for known, scenario in touched if known is not None}
    edited = {name: [encode_change(change) for change in changes] for name, changes in differences.items() if changes}
    entry: dict[str, Any] = {"label": step.label, "at": step.at}
    if edited:
        entry["edited"] = edited
    if added:
        entry["added"] = added
    for key, encode in _SHARED.items():
        if (value := encode(step.workbook)) != encode(before):
            entry[key] = value
    if any(getattr(step.workbook, key) != getattr(before, key) for key in _AGENDA):
        now, then = encode_agenda(step.workbook), encode_agenda(before)
        entry |= {key: now[key] for key in _AGENDA if now[key] != then[key]}
    return entry


def _touched(before: Sequence[Scenario], after: Sequence[Scenario]) -> list[tuple[Scenario | None, Scenario]]:
    """Return the scenarios that are other objects than before, each with its earlier version, None for a new one."""
    if len(before) == len(after):  # looking up names costs a hundred times the edit of one of two hundred scenarios
        pairs: list[tuple[Scenario | None, Scenario]] = []
        for old, new in zip(before, after, strict=True):
            if old is not new:
                if old.name != new.name:
                    break
                pairs.append((old, new))
        else:
            return pairs
    known = {scenario.name: scenario for scenario in before}
    return [(known.get(scenario.name), scenario) for scenario in after if known.get(scenario.name) is not scenario]


def _edited(scenario: Scenario, changes: Sequence[Any]) -> Scenario:
    parameters = type(scenario.method)
    return apply(tuple(decode_change(change, parameters) for change in changes), scenario)


def decode_step(before: Workbook, entry: Mapping[str, Any]) -> LoggedStep:
    """Return the step that leads on from `before`.

    Args:
        before: the version it leads on from.
        entry: plain JSON of one step.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, PhexploreError: the entry cannot be read.
    """
    edited = {name: _edited(before.find(name), changes) for name, changes in entry.get("edited", {}).items()}
    if entry.keys() & {"added", "order"}:
        known = {scenario.name: scenario for scenario in before.scenarios} | edited
        for name, value in entry.get("added", {}).items():
            known[name] = decode_scenario(value, "log")
        scenarios = tuple(known[name] for name in entry.get("order", before.names))
    else:
        scenarios = tuple([edited.get(scenario.name, scenario) for scenario in before.scenarios])
    workbook = Workbook(
        scenarios,
        entry.get("active", before.active),
        entry.get("comparison", before.comparison),
        decode_rules(entry["rules"]) if "rules" in entry else before.rules,
        decode_goals(entry["goals"]) if "goals" in entry else before.goals,
    )
    return LoggedStep(str(entry["label"]), str(entry.get("at", "")), workbook)


def write_project(content: ProjectContent) -> bytes:
    """Return the bytes of a project file; the same content gives the same bytes."""
    steps = content.steps
    log = [encode_step(before.workbook, step) for before, step in pairwise(steps)]
    first = {"label": steps[0].label, "at": steps[0].at, "workbook": encode_workbook(steps[0].workbook)}
    value = {
        "format": FORMAT,
        "version": VERSION,
        "workbook": encode_workbook(content.workbook),
        "cursor": content.cursor,
        "first": first,
        "log": log,
        **({"decisions": encode_decisions(content.decisions)} if content.decisions else {}),
    }
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def read_project(text: str, *, name: str) -> ProjectContent:
    """Read a project file.

    A damaged log is cut at its first unreadable step and named in `issues`; the current workbook wins.

    Args:
        text: of the file.
        name: of the file, for problems.

    Raises:
        InputProblemsError: not a project file, from a newer program, or its workbook cannot be read.
    """
    value = _object(text, name)
    del text  # a refusal keeps what its frames hold, while another attempt reads the file again
    version = value.get("version")
    if type(version) is not int or version > VERSION or version < 1:
        raise InputProblemsError(
            [Issue((name, "version"), f"The file has version {version!r}; this program reads 1 to {VERSION}.",
                   "Open it with a newer phexplore.")]
        )  # fmt: skip
    current = decode_workbook(value.get("workbook"), name, "workbook")
    decisions = decode_decisions(value.get("decisions", []), name)
    steps, issues = _replay(value, name, current)
    cursor = value.get("cursor")
    if isinstance(cursor, int) and 0 <= cursor < len(steps) and steps[cursor].workbook == current:
        return ProjectContent(tuple(steps), cursor, tuple(issues), decisions)
    issues.append(
        Issue(
            (name, "log"),
            "The edit log does not lead to the saved parameters; the saved parameters were opened.",
            "Undo goes back to them only as far as the log could be read.",
            Severity.WARNING,
        )
    )
    steps.append(LoggedStep("Opened the saved parameters", "", current))
    return ProjectContent(tuple(steps), len(steps) - 1, tuple(issues), decisions)


def _object(text: str, name: str) -> Mapping[str, Any]:
    remedy = "Ask for the project again, or open an earlier copy (.phx.previous) of it."
    value = plain_values(text, name, remedy)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputProblemsError([Issue((name,), f"Not a project file: its format is not {FORMAT!r}.", remedy)])
    return value


def _replay(value: Mapping[str, Any], name: str, current: Workbook) -> tuple[list[LoggedStep], list[Issue]]:
    issues: list[Issue] = []
    try:
        first = value["first"]
        steps = [LoggedStep(str(first["label"]), str(first.get("at", "")), decode_workbook(first["workbook"], name))]
    except (KeyError, TypeError, AttributeError, PhexploreError):
        return [LoggedStep("Open", "", current)], [_damaged(name, 0)]
    log = value.get("log", [])
    for number, entry in enumerate(log if isinstance(log, Sequence) else [], start=1):
        try:
            steps.append(decode_step(steps[-1].workbook, entry))
        except (ValueError, TypeError, KeyError, AttributeError, PhexploreError):
            issues.append(_damaged(name, number))
            break
    return steps, issues


def _damaged(name: str, number: int) -> Issue:
    return Issue(
        (name, "log"),
        f"Step {number} of the edit log cannot be read.",
        "Earlier steps and the saved parameters are complete.",
        Severity.WARNING,
    )


def single(workbook: Workbook, label: str, at: str) -> ProjectContent:
    """Return the content of a new project.

    Args:
        workbook: its first version.
        label: of its only step.
        at: when, as ISO 8601 with offset.
    """
    return ProjectContent((LoggedStep(label, at, workbook),), 0)


def with_cursor(content: ProjectContent, cursor: int) -> ProjectContent:
    """Return the content with another version current.

    Args:
        content: of a project.
        cursor: index of the version in `content.steps`.
    """
    return replace(content, cursor=cursor)
