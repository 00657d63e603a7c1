"""Files of parameters as the systems read them: projects, what production reads, workbooks, and the user's own presets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phexplore.catalog.presets import Preset
from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import plain_values
from phexplore.files.project_file import FORMAT, read_project
from phexplore.files.scenario_json import decode_scenario, stated_scenario
from phexplore.library import LibraryError, own_entries, own_title
from phexplore.model.approval import misdated
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import ParameterFile, System

Systems = Mapping[str, System]
"""All systems by id."""


def reader_of(systems: Systems, path: Path) -> ParameterFile | None:
    """Return the reader that knows a file as its own, None when no system does.

    Args:
        systems: asked in their order.
        path: of the file, which is opened where its suffix leaves a choice.
    """
    suffix = path.suffix.lower()
    return next((each for each in _of_suffix(systems, suffix) if each.recognises(path)), None)


def _of_suffix(systems: Systems, suffix: str) -> list[ParameterFile]:
    files = [each for system in systems.values() for each in system.files]
    return [each for each in files if each.suffix == suffix] or [each for each in files if not each.suffix]


def parameters_in(systems: Systems, path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a file of one scenario: what production reads, a workbook, or the JSON of this program.

    Args:
        systems: that read files.
        path: of the file.

    Raises:
        InputProblemsError: everything that is wrong with it.
    """
    readers = _of_suffix(systems, path.suffix.lower())
    if not readers[0].suffix and (stated := stated_scenario(read_text(path))) is not None:
        return decode_scenario(stated, path.name), ()
    # What nobody recognises is read by the first, which says what is missing.
    return (reader_of(systems, path) or readers[0]).read(path)


def scenario_in(systems: Systems, path: Path, name: str = "") -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a scenario, and what a reader of its file should know.

    Args:
        systems: that read files.
        path: of a project or of a file of one scenario.
        name: of a scenario of a project, "" for the active one.

    Raises:
        InputProblemsError: everything that is wrong with the file.
        UnknownNameError: the project has no such scenario.
    """
    if not _of_suffix(systems, path.suffix.lower())[0].suffix:
        content = read_text(path)
        if path.suffix == ".phx" or _is_project(content):
            project = read_project(content, name=path.name)
            issues = (*project.issues, *misdated(project.decisions, path.name, datetime.now(UTC)))
            return project.workbook.find(name) if name else project.workbook.scenario, issues
    if name:
        raise InputProblemsError(
            [Issue((path.name,), f"The file holds one scenario, so #{name} names nothing.", "Leave out the #.")]
        )
    return parameters_in(systems, path)


def _is_project(content: str) -> bool:
    value = _json_or_none(content)
    return isinstance(value, dict) and value.get("format") == FORMAT


def _json_or_none(content: str) -> Any:
    """Return what a text says as JSON, None when it is none, or more than any file this program writes."""
    try:
        return plain_values(content, "", "")
    except InputProblemsError:
        return None


def own_presets(systems: Systems, shipped: Collection[str]) -> dict[str, Preset]:
    """Return the presets of the user's library: every file of parameters there, called by its name without ending.

    Args:
        systems: that read files.
        shipped: ids that are taken.
    """
    found: dict[str, Preset] = {}
    titles = {system.parameters: system.title for system in systems.values()}

    def read(path: Path) -> Preset:
        if path.stem.lower() in {name.lower() for name in (*shipped, *found)}:
            raise LibraryError(f"Another preset is called {path.stem!r}.", "Rename the file.")
        scenario, _ = scenario_in(systems, path)
        product = f"{titles[type(scenario.method)]}, your library"
        return Preset(path.stem, own_title(scenario.name), str(path), product, scenario, is_own=True)

    found.update(own_entries("presets", read))
    return found
