"""The runs of the project as these views need them; the window gives their controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from phexplore.catalog.names import run_name
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import started_words


class ListedRun(Protocol):
    """One run."""

    @property
    def directory(self) -> Path:
        """Of the run."""

    @property
    def spec(self) -> RunSpec | None:
        """What it does, None when it cannot be read."""

    @property
    def trials(self) -> int:
        """Finished trials on disk."""


class ProjectRuns(Protocol):
    """All runs, and a signal when they change."""

    changed: Any

    @property
    def rows(self) -> Sequence[ListedRun]:
        """Newest first."""


def listed_title(run: ListedRun) -> str:
    """Return what a run is called: scenario, when, trials."""
    scenario = run.spec.scenario.name if run.spec is not None else ""
    trials = f"{run.trials:,} trial" + ("" if run.trials == 1 else "s")
    return run_name(scenario, run.directory.name, started_words(run.directory), trials)
