"""What the page of runs asks of the form that starts a run, whatever the system."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import RunData, RunSpec


class Launch(Protocol):
    """A run to be made once its data is described."""

    @property
    def path(self) -> Path:
        """The data, or the name of a demonstration."""

    @property
    def place(self) -> Place:
        """Where it is computed."""

    def spec(self, scenario: Scenario, data: RunData) -> RunSpec:
        """Return the specification of the run."""


class LaunchPart(QFrame):
    """A form that starts runs.

    Signals:
        launched: the `Launch` the user wants.
    """

    launched = Signal(object)

    @property
    def place(self) -> Place:
        """Where a run is to be computed that goes on or is made again."""
        return HERE

    def leave_place(self) -> None:
        """Forget where a run was to be computed: somebody trusted it once."""

    def show_scenario(self, scenario: Scenario) -> None:
        """Offer what depends on the scenario a run would simulate."""

    def show_runs(self, rows: tuple[RunRow, ...]) -> None:
        """Offer what earlier runs can be used for."""

    def use_blocks(self, path: Path | None) -> None:
        """Take the data of the project, where it has any."""

    def refusal(self, _scenario: Scenario) -> str:
        """Return why a scenario without errors cannot be simulated yet, "" where it can."""
        return ""

    def block(self, reason: str) -> None:
        """Say why the scenario cannot be run now; "" allows it."""

    def launch(self) -> None:
        """Do what the button does."""
