"""What an action of the window is called on the command line: one table, for the palette, menus and the log of actions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from phexplore.gui.main.exporting import export_formats

UNSAVED = "PROJECT.phx"
"""Stands for a project that has no file yet."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What the window works on.

    Attributes:
        project: its file, None before it is saved.
        scenario: name of the active one.
        reference: a preset id or the name of another scenario it is compared with, "" for nothing.
        scenarios: names of all in the project.
    """

    project: Path | None
    scenario: str
    reference: str
    scenarios: tuple[str, ...]

    def named(self, scenario: str) -> str:
        """Return a scenario of the project, or a preset, as a command takes it."""
        if scenario not in self.scenarios:
            return shlex.quote(scenario)
        file = str(self.project) if self.project is not None else UNSAVED
        return shlex.quote(file if len(self.scenarios) == 1 else f"{file}#{scenario}")


_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "file.new": "phexplore presets",
        "run.new": "phexplore run {this} --data demo --trials 20 --seed 1 --out runs/new",
        "decide.compare": "phexplore compare {this} {other}",
        "decide.approve": "phexplore approve {this} --who NAME --role ROLE",
        "decide.bundle": "phexplore bundle {this} --out decision.zip",
        "view.overview": "phexplore forecast {this}",
        "view.budgets": "phexplore forecast {this} --json",
        "view.targets": "phexplore solve {this}",
        "view.runs": "phexplore run {this} --data demo --trials 20 --seed 1 --out runs/new",
        "view.results": "phexplore report runs/new --format html --out report.html",
        "view.decision": "phexplore compare {this} {other}",
        "view.issues": "phexplore check {this}",
        "help.glossary": "phexplore --help",
    }
)
_EXPORT = "file.export-"


def hint_of(action_id: str, subject: Subject) -> str:
    """Return the command line that does the same, "" where there is none: taste, undo and places of the window.

    Args:
        action_id: of the table of actions.
        subject: what the window works on.
    """
    this = subject.named(subject.scenario)
    if action_id.startswith(_EXPORT):
        (line,) = (each for each in export_formats() if each.id == action_id.removeprefix(_EXPORT))
        (form, *_) = line.formats.values()
        return f"phexplore export {this} --format {form} --out FILE"
    other = subject.named(subject.reference) if subject.reference else "OTHER.phx"
    return _HINTS.get(action_id, "").format(this=this, other=other)
