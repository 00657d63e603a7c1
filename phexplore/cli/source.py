"""SCENARIO on the command line: a preset id, a project file, or a production parameter file."""

from __future__ import annotations

import json
from pathlib import Path

from phexplore.catalog.presets import presets
from phexplore.errors import UnknownNameError
from phexplore.files.phsafe_config import read_config
from phexplore.files.project_file import FORMAT, read_project
from phexplore.files.whole import read_text
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario


def load_scenario(text: str) -> Scenario:
    """Return the scenario that `text` names.

    Args:
        text: a preset id, ``FILE.phx``, ``FILE.phx#NAME``, or the path of a production ``config.json``.

    Raises:
        UnknownNameError: neither a preset nor a file.
        InputProblemsError: the file cannot be understood.
    """
    if (found := presets().get(text)) is not None:
        return found.scenario
    path, name = Path(text), ""
    if not path.exists() and "#" in text:
        before, _, name = text.rpartition("#")
        path = Path(before)
    if not path.exists():
        raise UnknownNameError("preset or file", text, list(presets()))
    return _from_file(path, name)


def _from_file(path: Path, name: str) -> Scenario:
    content = read_text(path)
    if path.suffix == ".phx" or _is_project(content):
        workbook = read_project(content, name=path.name).workbook
        return workbook.find(name) if name else workbook.scenario
    if name:
        raise InputProblemsError(
            [Issue((path.name,), f"The file holds one scenario, so #{name} names nothing.", "Leave out the #.")]
        )
    scenario, _ = read_config(content, name=path.name)
    return scenario


def _is_project(content: str) -> bool:
    try:
        value = json.loads(content)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("format") == FORMAT
