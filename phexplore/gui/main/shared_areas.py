"""The areas that serve the scenarios of every system: targets, runs, results, decision, history; made on first use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Make, Room, Surroundings
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.layout import stacked
from phexplore.gui.widgets.page import Section
from phexplore.model.scenario import Scenario

if TYPE_CHECKING:
    from phexplore.gui.main.decision_area import DecisionArea
    from phexplore.gui.main.runs_area import RunsArea
    from phexplore.gui.targets.targets_page import TargetsPage


class SharedAreas:
    """Makes the pages that all systems share, and ends what they began."""

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
            around: what the window offers.
            rooms: by the id of their system.
            files: opens and saves the project.
            runs_home: folder of the runs of a project that is kept in no file.
            strip: where the progress of runs is shown.
            tiles: the figures of the headline.
        """
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

            self._runs = RunsArea(self._around, self._runs_home, self._rooms, self._strip)
        return self._runs

    @property
    def decision(self) -> DecisionArea:
        """The area of decisions."""
        if self._decision is None:
            from phexplore.gui.main.decision_area import DecisionArea

            self._decision = DecisionArea(self._around, self.runs.controller, self._files, self._tiles)
        return self._decision

    @property
    def targets(self) -> TargetsPage:
        """The page of targets."""
        if self._targets is None:
            from phexplore.gui.targets.targets_page import TargetsPage

            around, news = self._around, self._around.news
            questions = {room.system.id: room.questions() for room in self._rooms.values()}

            def sweeps() -> Path:
                """Return the folder of the runs of sweeps, beside the runs of the project."""
                root = self.runs.controller.homes.root
                return root.with_name(f"{root.name}-sweeps")

            page = TargetsPage(
                around.session,
                around.window,
                runs=self.runs.controller,
                own=questions,
                sweeps=sweeps,
                data=around.data,
            )
            page.failed.connect(news.failed)
            page.noted.connect(news.noted)
            page.runs_wanted.connect(partial(news.wanted.emit, Area.RUNS))
            self._targets = page
        return self._targets

    def makers(self) -> dict[Hashable, Make]:
        """Return what makes the page of each area."""
        return {
            Area.TARGETS: lambda: self.targets,
            Area.RUNS: lambda: self.runs.make_runs_page(),  # noqa: PLW0108 - they are made on first use
            Area.RESULTS: lambda: self.runs.make_results_page(),  # noqa: PLW0108 - as above
            Area.DECISION: lambda: self.decision.page,
            Area.HISTORY: self._make_history,
        }

    def last_summary(self, scenario: Scenario) -> Mapping[str, Any] | None:
        """Return the summary of the complete last run of exactly these parameters, None where none is looked after yet."""
        return None if self._runs is None else self._runs.last_summary(scenario)

    @property
    def is_running(self) -> bool:
        """Whether a run has a worker."""
        return self._runs is not None and bool(self._runs.controller.active)

    def show_decision(self, tab: DecisionTab) -> None:
        """Go to a step of a decision."""
        self._around.news.wanted.emit(Area.DECISION)
        self.decision.page.show_tab(tab)

    def show_vary(self) -> None:
        """Go to where parameters are varied."""
        from phexplore.gui.targets.targets_page import VARY

        self._around.news.wanted.emit(Area.TARGETS)
        self.targets.show_tab(VARY)

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

    def _make_history(self) -> QWidget:
        from phexplore.gui.editors.history_panel import HistoryPanel

        history = Section("History", "", HistoryPanel(self._around.session))
        return stacked(history, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
