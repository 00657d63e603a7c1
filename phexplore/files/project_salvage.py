"""What can still be read of a damaged project file, and the names of what cannot.

A project file is written with one top-level member per line, so that a part that is damaged does not take the others with it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.json_text import require_whole_characters
from phexplore.files.project_file import FORMAT, LoggedStep, ProjectContent, decode_step
from phexplore.files.scenario_json import decode_workbook
from phexplore.model.approval import Decision
from phexplore.model.fields import read
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.workbook import Workbook
from phexplore.opening import read_bytes

_MEMBER = re.compile(r'^ "(format|version|workbook|cursor|first|log|decisions)": ?', re.MULTILINE)
_ITEM = re.compile(r"^  \{", re.MULTILINE)
_END = re.compile(r"^(?: |\[)\]", re.MULTILINE)
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, PhexploreError)
_REMEDY = "Everything else was opened as a new project; the damaged file was not changed."


def salvage_project(path: Path) -> ProjectContent:
    """Return what can be read of a damaged project file; its `issues` name every part that cannot.

    Raises:
        InputProblemsError: neither the saved parameters nor a step of the edit log can be read.
    """
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    parts, name, is_project = _parts(text), path.name, FORMAT in text[:200]
    del text  # its parts are copies
    issues: list[Issue] = []
    workbook = _workbook(parts.get("workbook", ""))
    steps = _steps(parts, name, issues)
    decisions = _decisions(parts.get("decisions", "[]"), name, issues)
    if not is_project or (workbook is None and not steps):
        remedy = "Open an earlier copy (.phx.previous) of it."
        raise InputProblemsError([Issue((name,), "Nothing of this project can be read.", remedy)])
    if workbook is None:
        issues.append(
            _lost(name, "workbook", "The saved parameters cannot be read; the last readable step was opened.")
        )
        return ProjectContent(tuple(steps), len(steps) - 1, tuple(issues), decisions)
    cursor = _cursor(parts.get("cursor", ""))
    if not (cursor < len(steps) and steps[cursor].workbook == workbook):
        if not any(issue.path[-1] in {"first", "log"} for issue in issues):
            issues.append(_lost(name, "log", "The edit log does not lead to the saved parameters; they were opened."))
        cursor, steps = len(steps), [*steps, LoggedStep("Opened the saved parameters", "", workbook)]
    return ProjectContent(tuple(steps), cursor, tuple(issues), decisions)


def _parts(text: str) -> Mapping[str, str]:
    """Return the text of every top-level member, the last one of a name."""
    places = list(_MEMBER.finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    return {place.group(1): text[place.end() : end] for place, end in zip(places, ends, strict=False)}


def _value(text: str, start: int = 0) -> Any:
    """Return the value that begins at a place of a text; what follows it does not count."""
    value, end = json.JSONDecoder().raw_decode(text, start)
    require_whole_characters(value, text, start, end)
    return value


def _cursor(text: str) -> int:
    """Return the index of the current step, one that no log has when it cannot be read."""
    try:
        value = _value(text)
    except _UNREADABLE:
        return sys.maxsize
    return value if isinstance(value, int) and value >= 0 else sys.maxsize


def _workbook(text: str) -> Workbook | None:
    try:
        return decode_workbook(_value(text), "")
    except _UNREADABLE:
        return None


def _steps(parts: Mapping[str, str], name: str, issues: list[Issue]) -> list[LoggedStep]:
    try:
        first = _value(parts.get("first", ""))
        steps = [LoggedStep(str(first["label"]), str(first["at"]), decode_workbook(first["workbook"], name))]
    except _UNREADABLE:
        issues.append(_lost(name, "first", "The beginning of the edit log cannot be read, and so none of its steps."))
        return []
    log = parts.get("log", "")
    for number, item in enumerate(_ITEM.finditer(log), start=1):
        try:
            steps.append(decode_step(steps[-1].workbook, _value(log, item.end() - 1)))
        except _UNREADABLE:
            issues.append(_lost(name, "log", f"The edit log cannot be read from step {number} on."))
            break
    else:
        if not _END.search(log):
            issues.append(_lost(name, "log", f"The edit log ends after step {len(steps) - 1}: the file was cut off."))
    return steps


def _decisions(text: str, name: str, issues: list[Issue]) -> tuple[Decision, ...]:
    """Return the decisions up to the first that cannot be read: nothing is guessed about who approved what."""
    found: list[Decision] = []
    try:
        if text.strip().startswith("[") and not _ITEM.search(text):
            _value(text)
        found.extend(read(Decision, _value(text, item.end() - 1)) for item in _ITEM.finditer(text))
    except _UNREADABLE:
        issues.append(_lost(name, "decisions", f"Decision {len(found) + 1} cannot be read, and those after it."))
    return tuple(found)


def _lost(name: str, part: str, sentence: str) -> Issue:
    return Issue((name, part), sentence, _REMEDY, Severity.WARNING)
