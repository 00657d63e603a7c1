"""Which run a page of results shows: the one the user picked, else the newest complete one of the scenario that is edited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox

from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.last_run import last_run_of, runs_with_results
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, state_words, trials_words
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.runs.states import RunState


class ResultsView(Protocol):
    """A page of results as far as it concerns which run it shows."""

    run: Any

    @property
    def directory(self) -> Path | None:
        """The run shown."""

    def show_run(self, directory: Path) -> None:
        """Show the results of a run."""


def wanted_run(scenario: Scenario, rows: Sequence[RunRow], prints: dict[Path, str]) -> RunRow | None:
    """Return the run whose results are shown unasked.

    Args:
        scenario: the one that is edited.
        rows: all runs, newest first.
        prints: fingerprints found earlier, by run; completed here.
    """
    found = last_run_of(scenario, rows, prints)
    if found is not None:
        return found.row
    others = [row for row, _spec in runs_with_results(scenario, rows)]
    return next((row for row in others if row.state is RunState.COMPLETE), next(iter(others), None))


def reservation(scenario: Scenario, row: RunRow) -> str:
    """Return why the results of a run are not simply those of the scenario that is edited, "" where they are."""
    parts = []
    if row.spec is not None and fingerprint(row.spec.scenario) != fingerprint(scenario):
        parts.append(
            "The scenario was edited since this run."
            if row.spec.scenario.name == scenario.name
            else f"These are results of another scenario, {row.title!r}; {scenario.name!r} is being edited."
        )
    if row.state is not RunState.COMPLETE:
        parts.append(f"This run is not complete ({state_words(row)}): {trials_words(row)} trials.")
    return " ".join(parts)


class ShownRun(QObject):
    """Keeps a page of results on the run that is wanted.

    Signals:
        followed: the page shows what it should.
    """

    followed = Signal()

    def __init__(self, session: Session, controller: RunController, page: ResultsView, parent: QObject) -> None:
        """Follow a project and its runs.

        Args:
            session: its active scenario counts.
            controller: its runs.
            page: shows one of them; follows the controller itself.
            parent: the same page, as an owner.
        """
        super().__init__(parent)
        self._session, self._controller, self._page = session, controller, page
        self._prints: dict[Path, str] = {}
        self._picked: Path | None = None
        self._scenario = session.scenario.name
        self._seen = WhenSeen(parent, self._follow)  # type: ignore[arg-type]
        chooser: QComboBox = page.run
        chooser.activated.connect(self._on_activated)
        controller.launched.connect(self._forget_pick)
        controller.changed.connect(self._seen.request)
        session.settled.connect(self._on_settled)
        self._seen.request()

    def pick(self, directory: Path) -> None:
        """Show this run until another scenario is edited or a run is started."""
        self._picked = directory
        self._show(directory)

    def _on_activated(self, _index: int) -> None:
        self._picked = self._page.directory

    def _forget_pick(self, _directory: object) -> None:
        self._picked = None

    def _on_settled(self, _shown: object) -> None:
        if self._session.scenario.name != self._scenario:
            self._scenario, self._picked = self._session.scenario.name, None
        self._seen.request()

    def _follow(self) -> None:
        picked = None if self._picked is None else self._controller.row(self._picked)
        row = picked or wanted_run(self._session.scenario, self._controller.rows, self._prints)
        if row is not None:
            self._show(row.directory)
        self.followed.emit()

    def _show(self, directory: Path) -> None:
        if self._page.directory != directory:
            self._page.show_run(directory)
