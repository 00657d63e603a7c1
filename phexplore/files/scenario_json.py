"""Scenario and workbook as readable JSON values, and back with every problem listed."""

from __future__ import annotations

from typing import Any

from phexplore.files.agenda_json import decode_goals, decode_rules, encode_agenda
from phexplore.files.json_text import plain_values
from phexplore.library import bring
from phexplore.model.diff import Change
from phexplore.model.fields import Declared, Field, declared_fields, decode, encode
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.kinds import Problems, Text, object_of
from phexplore.model.scenario import METHODS, Scenario
from phexplore.model.shipped_names import files_named
from phexplore.model.workbook import Workbook

Json = dict[str, Any]
OWN_FILES = "library"
"""The key of the user's files that a scenario names."""


def encode_scenario(scenario: Scenario) -> Json:
    """Return the scenario as JSON; budgets are exact text such as "0.002619" or "1/3". The user's files it names go with it."""
    own = files_named(scenario.method)
    return {**encode(scenario), **({OWN_FILES: own} if own else {})}


def decode_scenario(value: Any, *path: str) -> Scenario:
    """Read a scenario.

    Args:
        value: what `encode_scenario` returned, parsed from JSON.
        path: where it stands, for messages.

    Raises:
        InputProblemsError: every field that cannot be read.
    """
    problems = Problems(path)
    holder = problems.parsed(value, object_of, ()) or {}
    problems.parsed(holder.get(OWN_FILES, {}), lambda files: bring(object_of(files)), (OWN_FILES,))
    problems.finish()
    scenario = decode(Scenario, holder, problems, ())
    problems.finish()
    assert scenario is not None  # noqa: S101 - without a problem there is a value
    return scenario


def encode_workbook(workbook: Workbook) -> Json:
    """Return the workbook as JSON."""
    return {
        "active": workbook.active,
        "comparison": workbook.comparison,
        "scenarios": [encode_scenario(scenario) for scenario in workbook.scenarios],
        **{key: value for key, value in encode_agenda(workbook).items() if value},
    }


def decode_workbook(value: Any, *path: str) -> Workbook:
    """Read a workbook.

    Raises:
        InputProblemsError: every field that cannot be read.
    """
    problems = Problems(path)
    holder = problems.parsed(value, object_of, ()) or {}
    entries = holder.get("scenarios")
    if not isinstance(entries, list) or not entries:
        raise InputProblemsError([Issue((*path, "scenarios"), "no scenario is in the file", "Open an earlier copy.")])
    scenarios: list[Scenario] = []
    for number, entry in enumerate(entries):
        try:
            scenarios.append(decode_scenario(entry, *path, "scenarios", str(number)))
        except InputProblemsError as error:
            problems.issues.extend(error.issues)
    problems.finish()
    text = Text().read
    stated = {
        "active": (text, scenarios[0].name),
        "comparison": (text, ""),
        "rules": (decode_rules, ()),
        "goals": (decode_goals, {}),
    }
    found = {
        key: problems.parsed(holder[key], parse, (key,)) if key in holder else usual
        for key, (parse, usual) in stated.items()
    }
    problems.finish()
    workbook: Workbook | None = problems.parsed(found, lambda known: Workbook(tuple(scenarios), **known), ())
    problems.finish()
    assert workbook is not None  # noqa: S101 - without a problem there is a value
    return workbook


def encode_change(change: Change) -> Json:
    """Return one change as JSON, values as exact text."""
    kind = change.field.kind
    before, after = (None if value is None else kind.entry.encode(value) for value in (change.before, change.after))
    key = {} if kind.keys is None else {"key": kind.keys.encode(change.key)}
    return {"field": change.word, **key, "from": before, "to": after}


def decode_change(value: Any, parameters: type[Declared] | None = None) -> Change:
    """Read one change.

    Args:
        value: what `encode_change` returned.
        parameters: the class of the parameters that change; any that this process knows when None.

    Raises:
        ValueError, TypeError, KeyError, PhexploreError: it cannot be read.
    """
    field = _field(value["field"], [parameters] if parameters else list(METHODS.values()))
    before, after = (None if value[end] is None else field.kind.entry.read(value[end]) for end in ("from", "to"))
    return Change(field, None if field.kind.keys is None else field.kind.keys.read(value["key"]), before, after)


_WORDS: dict[type[Declared], dict[str, Field]] = {}


def _field(word: str, classes: list[type[Declared]]) -> Field:
    known: list[type[Declared]] = [Scenario, *classes]
    for cls in known:
        if cls not in _WORDS:
            _WORDS[cls] = {field.word: field for field in declared_fields(cls)}
        if (field := _WORDS[cls].get(word)) is not None:
            return field
    raise ValueError(f"no parameter is called {word!r}")


def stated_scenario(content: str) -> dict[str, Any] | None:
    """Return the JSON of a single scenario as `export --format subspace-json` writes it, None for other files."""
    try:
        value = plain_values(content, "", "")
    except InputProblemsError:
        return None
    method = value.get("method") if isinstance(value, dict) else None
    return value if isinstance(method, dict) and "kind" in method else None
