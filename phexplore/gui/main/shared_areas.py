"""The areas that serve the scenarios of every system: targets, runs, results, decision, history; made on first use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Make, Room, Surroundings
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.page import Section
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.gui.main.decision_area import DecisionArea
    from phexplore.gui.main.runs_area import RunsArea
    from phexplore.gui.targets.targets_page import TargetsPage


class SharedAreas(QObject):
    """Makes the pages that all systems share, and ends what they began.

    Signals:
        wanted: the `Area` to go to.
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
        warned: a sentence that deserves attention.
        said: a sentence worth a short message.
        written: the `Path` of a file.
        completed: the `RunRow` of a run that is complete.
        headline_changed: `TileContent` of the active scenario's last run, None when there is none.
    """

    wanted = Signal(object)
    failed = Signal(object)
    noted = Signal(object)
    warned = Signal(object)
    said = Signal(object)
    written = Signal(object)
    completed = Signal(object)
    headline_changed = Signal(object)

    def __init__(
        self,
        around: Surroundings,
        rooms: Mapping[str, Room],
        files: ProjectFiles,
        *,
        runs_home: Path,
        strip: QHBoxLayout,
        tiles: Callable[[], tuple[TileContent, ...]],
    ) -> None:
        """Make nothing yet.

        Args:
            around: session, settings and data of the window, and the window.
            rooms: by the id of their system.
            files: opens and saves the project.
            runs_home: folder of the runs of a project that is kept in no file.
            strip: where the progress of runs is shown.
            tiles: the figures of the headline.
        """
        super().__init__(around.window)
        self._around, self._rooms, self._files = around, rooms, files
        self._runs_home, self._strip, self._tiles = runs_home, strip, tiles
        self._runs: RunsArea | None = None
        self._decision: DecisionArea | None = None
        self._targets: TargetsPage | None = None

    @property
    def runs(self) -> RunsArea:
        """The runs of the project, looked after from first use on."""
        if self._runs is None:
            from phexplore.gui.main.runs_area import RunsArea  # loads the charts; the window is on screen before that

            around = self._around
            runs = self._runs = RunsArea(around.session, around.data, self._runs_home, self._rooms, around.window)
            runs.fill_strip(self._strip)
            runs.headline_changed.connect(self.headline_changed)
            runs.opened.connect(self.wanted)
            runs.failed.connect(self.failed)
            runs.written.connect(self.written)
            runs.noted.connect(self.warned)
            runs.completed.connect(self.completed)
        return self._runs

    @property
    def decision(self) -> DecisionArea:
        """The area of decisions."""
        if self._decision is None:
            from phexplore.gui.main.decision_area import DecisionArea

            around = self._around
            decision = self._decision = DecisionArea(
                around.session,
                lambda: self._rooms[system_of(around.session.scenario).id],
                self.runs.controller,
                self._files,
                around.settings,
                self._tiles,
                around.window,
            )
            decision.written.connect(self.written)
            decision.said.connect(self.said)
            decision.failed.connect(self.failed)
        return self._decision

    @property
    def targets(self) -> TargetsPage:
        """The page of targets."""
        if self._targets is None:
            from phexplore.gui.targets.targets_page import TargetsPage

            questions = {room.system.id: room.questions() for room in self._rooms.values()}
            page = TargetsPage(self._around.session, self._around.window, runs=self.runs.controller, own=questions)
            page.failed.connect(self.failed)
            page.noted.connect(self.noted)
            page.runs_wanted.connect(partial(self.wanted.emit, Area.RUNS))
            self._targets = page
        return self._targets

    def makers(self) -> dict[Hashable, Make]:
        """Return what makes the page of each area."""
        return {
            Area.TARGETS: lambda: self.targets,
            Area.RUNS: lambda: self._runs_page(results=False),
            Area.RESULTS: lambda: self._runs_page(results=True),
            Area.DECISION: lambda: self.decision.page,
            Area.HISTORY: self._make_history,
        }

    @property
    def is_running(self) -> bool:
        """Whether a run has a worker."""
        return self._runs is not None and bool(self._runs.active)

    def show_decision(self, tab: DecisionTab) -> None:
        """Go to a step of a decision."""
        self.wanted.emit(Area.DECISION)
        self.decision.page.show_tab(tab)

    def start_meeting(self) -> None:
        """Fill the screen with today's sliders."""
        self.decision.start_meeting()

    def stop(self, *, discard: bool) -> None:
        """Finish or end what was begun, because the window closes.

        Args:
            discard: the project was never saved and is given up, and its runs with it.
        """
        if self._runs is not None:
            self._runs.stop(discard=discard)
        for begun in (self._decision, self._targets):
            if begun is not None:
                begun.stop()

    def _runs_page(self, *, results: bool) -> QWidget:
        return self.runs.make_results_page() if results else self.runs.make_runs_page()

    def _make_history(self) -> QWidget:
        from phexplore.gui.editors.history_panel import HistoryPanel

        page = QWidget(self._around.window)
        column = QVBoxLayout(page)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.addWidget(Section("History", "", HistoryPanel(self._around.session)))
        return page
