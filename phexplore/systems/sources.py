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
from phexplore.opening import read_bytes
from phexplore.report.terminal import say_issues
from phexplore.systems.phsafe.config_file import read_config
from phexplore.systems.registry import presets
from phexplore.systems.topdown.ini_reading import load_ini


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


def _from_file(path: Path, name: str) -> tuple[Scenario, tuple[Issue, ...]]:
    if path.suffix.lower() == ".xlsx":
        return _from_workbook(path)
    content = read_text(path)
    if path.suffix == ".phx" or _is_project(content):
        project = read_project(content, name=path.name)
        return project.workbook.find(name) if name else project.workbook.scenario, project.issues
    if name:
        raise InputProblemsError(
            [Issue((path.name,), f"The file holds one scenario, so #{name} names nothing.", "Leave out the #.")]
        )
    if path.suffix.lower() == ".ini":
        return load_ini(path)
    if (stated := stated_scenario(content)) is not None:
        return decode_scenario(stated, path.name), ()
    return read_config(read_text(path, keep_mark=True), name=path.name)


def _from_workbook(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    from phexplore.files.sheet_grids import sheet_grids  # noqa: PLC0415 - a workbook alone pays for openpyxl
    from phexplore.systems.phsafe.workbook_read import read_workbook  # noqa: PLC0415 - a workbook alone pays for openpyxl
    from phexplore.systems.topdown.workbook_read import is_topdown_workbook, read_topdown_workbook  # noqa: PLC0415 - a workbook alone pays for openpyxl

    content = read_bytes(path)
    if is_topdown_workbook(dict(sheet_grids(content, path.name))):
        return read_topdown_workbook(content, path.name), ()
    return read_workbook(content, path.name)


def _is_project(content: str) -> bool:
    value = _json_or_none(content)
    return isinstance(value, dict) and value.get("format") == FORMAT


def _json_or_none(content: str) -> Any:
    """Return what a text says as JSON, None when it is none, or more than any file this program writes."""
    try:
        return plain_values(content, "", "")
    except InputProblemsError:
        return None
