"""Which runs of a scenario count: the last one, whose figure is at the top of the window, and the one whose results are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError
from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.binding.request_service import RequestService, reader_process
from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, state_words, trials_words
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import load_summary
from phexplore.systems.run_results import RunAnswer, RunRequest

if TYPE_CHECKING:
    from phexplore.gui.run_manager.results_page import ResultsPage

_READING = TileContent("Last run", "…", "", "The results of the run are being read")
_UNREADABLE = TileContent("Last run", "unreadable", "", "Results says why", Tone.ATTENTION)
EDITED = "the scenario was edited since"


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run of a scenario.

    Attributes:
        row: of the run.
        is_current: it was made with exactly the parameters the scenario has now.
    """

    row: RunRow
    is_current: bool


def last_run_of(scenario: Scenario, rows: Sequence[RunRow], prints: dict[Path, str] | None = None) -> FoundRun | None:
    """Return the newest run with trials of a scenario, None when there is none.

    A complete run comes before one that is at work or was cancelled, and one with exactly these parameters before one of the
    same name with others: its figures are those of what is shown.

    Args:
        scenario: the one that is shown.
        rows: all runs, newest first.
        prints: fingerprints found earlier, by run; completed here.
    """
    known = {} if prints is None else prints
    ready = runs_with_results(scenario, rows)
    if not ready:  # every edit asks, and a fingerprint costs as much as a tile
        return None
    mine = fingerprint(scenario)
    for complete in (True, False):
        candidates = [(row, spec) for row, spec in ready if (row.state is RunState.COMPLETE) is complete]
        current = next((row for row, spec in candidates if _print_of(row, spec, known) == mine), None)
        if current is not None:
            return FoundRun(current, is_current=True)
        named = next((row for row, spec in candidates if spec.scenario.name == scenario.name), None)
        if named is not None:
            return FoundRun(named, is_current=False)
    return None


def runs_with_results(scenario: Scenario, rows: Sequence[RunRow]) -> list[tuple[RunRow, RunSpec]]:
    """Return the runs with finished trials of the scenario's system, newest first."""
    return [
        (row, row.spec)
        for row in rows
        if row.trials and row.spec is not None and type(row.spec.scenario.method) is type(scenario.method)
    ]


def _print_of(row: RunRow, spec: RunSpec, known: dict[Path, str]) -> str:
    if row.directory not in known:
        known[row.directory] = fingerprint(spec.scenario)
    return known[row.directory]


class LastRun(QObject):
    """Reads the figure of the active scenario's last run, again when it has more trials or the scenario changes.

    Signals:
        changed: the `TileContent` to show, also while it is read; None when the scenario has no run with trials.
    """

    changed = Signal(object)

    def __init__(
        self, session: Session, controller: RunController, parent: QObject, *, service: RequestService | None = None
    ) -> None:
        """Follow a project and its runs.

        Args:
            session: its active scenario counts.
            controller: its runs.
            parent: owner.
            service: reads the results; one of its own by default.
        """
        super().__init__(parent)
        self._session, self._controller = session, controller
        self._reader = service or RequestService(reader_process(self), self, is_alone=True)
        self._reader.answered.connect(self._take)
        self._reader.failed.connect(self._on_unreadable)
        self._prints: dict[Path, str] = {}
        self._found: FoundRun | None = None
        self._tile: TileContent | None = None
        self._of: Scenario | None = None
        self._summary: tuple[Path, Mapping[str, Any] | None] | None = None
        controller.changed.connect(self._follow)
        session.settled.connect(self._follow)

    def stop(self) -> None:
        """End reading because the window closes."""
        self._reader.stop()

    def summary_of(self, scenario: Scenario) -> Mapping[str, Any] | None:
        """Return the summary of the complete last run of exactly these parameters, None where there is none.

        Args:
            scenario: that is shown; an edit is followed a moment later, and until then has no run.
        """
        found = self._found
        if (
            found is None
            or not found.is_current
            or scenario is not self._of
            or found.row.state is not RunState.COMPLETE
        ):
            return None
        directory = found.row.directory
        if self._summary is None or self._summary[0] != directory:
            try:
                self._summary = directory, load_summary(directory)
            except PhexploreError:
                self._summary = directory, None
        return self._summary[1]

    def _follow(self, _signal: object = None) -> None:
        scenario = self._session.scenario
        is_other, self._of = scenario is not self._of, scenario
        before, self._found = self._found, last_run_of(scenario, self._controller.rows, self._prints)
        if self._found is None:
            self._tile = None
            if before is not None:
                self.changed.emit(None)
            return
        row = self._found.row
        if before is None or (before.row.directory, before.row.trials) != (row.directory, row.trials):
            self._tile = None  # until the answer, what is shown keeps the words about the trials it is of
            if before is None or before.row.directory != row.directory:
                self.changed.emit(_READING)
            self._reader.request(RunRequest(row.directory))
        elif (before.is_current, before.row.state) != (self._found.is_current, row.state) or (
            is_other and self._found.is_current  # what the rules say of the run counts for this version, too
        ):
            self._show()

    def _take(self, answer: RunAnswer) -> None:
        if self._found is None or answer.request.directory != self._found.row.directory:
            return
        if answer.waiting:  # the figure of a part of the trials would be taken for that of the run
            self._reader.request(answer.request)
            return
        self._tile = answer.headline
        self._show()

    def _show(self) -> None:
        if self._tile is None or self._found is None:
            return
        if not self._found.is_current:
            self.changed.emit(marked(self._tile, "edited since", EDITED))
        elif (row := self._found.row).state is not RunState.COMPLETE:
            state = state_words(row)
            self.changed.emit(marked(self._tile, state.partition(":")[0], f"{state}: {trials_words(row)} trials"))
        else:
            self.changed.emit(self._tile)

    def _on_unreadable(self, _error: PhexploreError) -> None:
        """Say so in the tile; the page of results says why. A run that is no longer wanted may well be gone."""
        if self._found is None:
            return
        self._tile = None
        self.changed.emit(_UNREADABLE)


def marked(tile: TileContent, brief: str, words: str) -> TileContent:
    """Return the figure with what speaks against relying on it, in brief beside "Last run" too: a narrow line has no room for all."""
    caption = tile.caption.replace("Last run", f"Last run ({brief})", 1)
    return replace(tile, caption=caption, change=words, tone=Tone.ATTENTION)


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

    def __init__(self, session: Session, controller: RunController, page: ResultsPage) -> None:
        """Follow a project and its runs.

        Args:
            session: its active scenario counts.
            controller: its runs.
            page: shows one of them; follows the controller itself, and owns this.
        """
        super().__init__(page)
        self._session, self._controller, self._page = session, controller, page
        self._prints: dict[Path, str] = {}
        self._picked: Path | None = None
        self._scenario = session.scenario.name
        self._seen = WhenSeen(page, self._follow)
        page.run.activated.connect(self._on_activated)
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
