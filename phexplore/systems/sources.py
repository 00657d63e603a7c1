"""SCENARIO on the command line: a preset id, a project file, or a production parameter file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.errors import UnknownNameError
from phexplore.library import LibraryError, refused
from phexplore.model.diff import diff
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say_issues
from phexplore.systems.registry import find_preset, presets, systems

if TYPE_CHECKING:
    from phexplore.systems.protocol import ParameterFile


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
    if (found := find_preset(text)) is not None:
        return found.scenario, ()
    path, name = Path(text), ""
    if not path.exists() and "#" in text:
        before, _, name = text.rpartition("#")
        path = Path(before)
    if not path.exists():
        for own, error in refused("presets").items():
            if own.stem == text:
                if isinstance(error, InputProblemsError):
                    raise error
                raise LibraryError(f"{own}: {error}", error.remedy)
        raise UnknownNameError("preset or file", text, list(presets()))
    from phexplore.systems.parameter_files import scenario_in  # noqa: PLC0415 - a preset needs no reader of files

    scenario, issues = scenario_in(systems(), path, name)
    return (scenario, issues) if path.suffix == ".phx" else _named_apart(path, scenario, issues)


def parameter_file(path: Path) -> ParameterFile | None:
    """Return the reader that knows a file as its own, None when no system does."""
    from phexplore.systems.parameter_files import reader_of  # noqa: PLC0415 - a preset needs no reader of files

    return reader_of(systems(), path)


def read_parameters(path: Path) -> tuple[Scenario, tuple[Issue, ...]]:
    """Read a file of one scenario: what production reads, a workbook, or the JSON of this program.

    Raises:
        InputProblemsError: everything that is wrong with it.
    """
    from phexplore.systems.parameter_files import parameters_in  # noqa: PLC0415 - a preset needs no reader of files

    return _named_apart(path, *parameters_in(systems(), path))


def _named_apart(path: Path, scenario: Scenario, issues: tuple[Issue, ...]) -> tuple[Scenario, tuple[Issue, ...]]:
    """Return parameters of a file under a name that no preset has: an edited copy of a preset is not that preset."""
    preset = find_preset(scenario.baseline) if scenario.baseline else None
    if preset is None or preset.scenario.name != scenario.name:
        return scenario, issues
    changes = diff(preset.scenario, replace(scenario, note=preset.scenario.note))
    if not changes:
        return scenario, issues
    count = "1 parameter differs" if len(changes) == 1 else f"{len(changes)} parameters differ"
    note = Issue(
        (path.name,),
        f"{count} from {preset.title}.",
        "To review the differences, compare both scenarios.",
        Severity.WARNING,
    )
    named = f"{scenario.name} (edited in {path.name})".replace("#", "-")
    return replace(scenario, name=named), (*issues, note)
