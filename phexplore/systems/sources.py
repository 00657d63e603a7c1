"""SCENARIO on the command line: a preset id, a project file, or a production parameter file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phexplore.errors import UnknownNameError
from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import plain_values
from phexplore.files.project_file import FORMAT, read_project
from phexplore.files.scenario_json import decode_scenario, stated_scenario
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say_issues
from phexplore.systems.protocol import ParameterFile
from phexplore.systems.registry import presets, systems


def load_scenario(text: str) -> Scenario:
    """Return the scenario that `text` names; what a reader of its file should know is said beside the output.

    Args:
        text: a preset id, ``FILE.phx``, ``FILE.phx#NAME``, or the path of a production ``config.json``, a DAS ``.ini``
            or a workbook (``.xlsx``).

    Raises:
        UnknownNameError: neither a preset nor a file.
        InputProblemsError: the file cannot be understood.
    """
    scenario, warnings = load_with_warnings(text)
    say_issues(warnings)
    return scenario


def load_with_warnings(text: str) -> tuple[Scenario, tuple[Issue, ...]]:
    """Return the scenario that `text` names, and what a reader of its file should know; see `load_scenario`."""
    if (found := presets().get(text)) is not None:
        return found.scenario, ()
    path, name = Path(text), ""
    if not path.exists() and "#" in text:
        before, _, name = text.rpartition("#")
        path = Path(before)
    if not path.exists():
        raise UnknownNameError("preset or file", text, list(presets()))
    return _from_file(path, name)


def parameter_file(path: Path) -> ParameterFile | None:
    """Return the reader that knows a file as its own, None when no system does."""
    suffix = path.suffix.lower()
    return next((each for each in _of_suffix(suffix) if each.recognises(path)), None)


def _of_suffix(suffix: str) -> list[ParameterFile]:
    files = [each for system in systems().values() for each in system.files]
    return [each for each in files if each.suffix == suffix] or [each for each in files if not each.suffix]


def read_parameters(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a file of one scenario: what production reads, a workbook, or the JSON of this program.

    Raises:
        InputProblemsError: everything that is wrong with it.
    """
    readers = _of_suffix(path.suffix.lower())
    if not readers[0].suffix and (stated := stated_scenario(read_text(path))) is not None:
        return decode_scenario(stated, path.name), ()
    # What nobody recognises is read by the first, which says what is missing.
    return (parameter_file(path) or readers[0]).read(path)


def _from_file(path: Path, name: str) -> tuple[Scenario, tuple[Issue, ...]]:
    if not _of_suffix(path.suffix.lower())[0].suffix:
        content = read_text(path)
        if path.suffix == ".phx" or _is_project(content):
            project = read_project(content, name=path.name)
            return project.workbook.find(name) if name else project.workbook.scenario, project.issues
    if name:
        raise InputProblemsError(
            [Issue((path.name,), f"The file holds one scenario, so #{name} names nothing.", "Leave out the #.")]
        )
    return read_parameters(path)


def _is_project(content: str) -> bool:
    value = _json_or_none(content)
    return isinstance(value, dict) and value.get("format") == FORMAT


def _json_or_none(content: str) -> Any:
    """Return what a text says as JSON, None when it is none, or more than any file this program writes."""
    try:
        return plain_values(content, "", "")
    except InputProblemsError:
        return None
