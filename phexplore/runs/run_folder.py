"""A run directory as its readers see it: what it does, where it is in its life, its trials and its summary."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import load_summary, present_trials, state_of


class RunFolder:
    """One run directory; reads nothing until it is asked.

    Attributes:
        directory: of the run.
        spec: what it does.
    """

    def __init__(self, directory: Path, spec: RunSpec) -> None:
        """Use `open` of the system's own results."""
        self.directory = directory
        self.spec = spec

    @property
    def state(self) -> RunState:
        """Where the run is in its life, as the disk tells it now."""
        return state_of(self.directory)

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials on disk, ascending."""
        return present_trials(self.directory)

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """The content of ``summary.json``, None while the run is not complete."""
        return load_summary(self.directory)
