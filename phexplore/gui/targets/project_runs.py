"""The runs of the project as these views need them; the window gives their controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from phexplore.runs.spec import RunSpec


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
