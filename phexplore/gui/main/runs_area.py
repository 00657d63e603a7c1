"""Runs and results, joined to the window: pages, progress strip, the tile of the last run, the folder they are kept in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.binding.room import Room
from phexplore.gui.binding.session import Session
from phexplore.gui.dialogs.messages import Message, ask
from phexplore.gui.main.project_files import left_behind_runs
from phexplore.gui.main.run_verdicts import RunVerdicts
from phexplore.gui.run_manager.last_run import LastRun
from phexplore.gui.run_manager.result_reader import reader_process
from phexplore.gui.run_manager.run_controller import DoubtedRun, RunController
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.run_manager.run_strip import RunStrip
from phexplore.gui.run_manager.shown_run import ShownRun
from phexplore.gui.widgets.stack import Stack
from phexplore.runs.belonging import RUNS_SUFFIX, runs_folder
from phexplore.runs.confidentiality import person_here
from phexplore.runs.states import RunState
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.gui.run_manager.results_page import ResultsPage
    from phexplore.gui.run_manager.runs_page import RunsPage


class RunsArea(QObject):
    """Owns the controller of the project's runs and joins the pages to the window.

    Signals:
        headline_changed: `TileContent` of the active scenario's last run with trials, None when there is none.
        opened: the `Area` to go to.
        failed: a `PhexploreError`.
        written: the `Path` of an exported file.
        completed: the `RunRow` of a run that is complete.
        noted: a sentence worth a notice.
    """

    headline_changed = Signal(object)
    opened = Signal(object)
    failed = Signal(object)
    written = Signal(object)
    completed = Signal(object)
    noted = Signal(object)

    def __init__(
        self, session: Session, data: ProjectData, home: Path, rooms: Mapping[str, Room], parent: QObject
    ) -> None:
        """Look after the runs of a project.

        Args:
            session: the project.
            data: of the project.
            home: folder of the runs of a project that is kept in no file.
            rooms: of the window, by the id of their system.
            parent: owner.
        """
        super().__init__(parent)
        self._session, self._data, self._home, self._rooms = session, data, home, rooms
        self.question: Message | None = None
        self._project = session.project
        self._has_file = self._project.path is not None
        self.controller = RunController(self._folder_of(self._project), self)
        self.page: RunsPage | None = None
        """Where runs are started and listed, made when it is first looked at."""
        self.results: dict[str, Any] = {}
        """The pages of results that were looked at, by the id of their system."""
        self._result_pages: Stack | None = None
        self._verdicts: RunVerdicts | None = None
        self._shown_system: System | None = None
        self._reader = reader_process(self)
        self._shown: dict[str, ShownRun] = {}
        self._last = LastRun(session, self.controller, self, service=self._service())
        self._last.changed.connect(self.headline_changed)
        self.controller.ended.connect(self._on_ended)
        self.controller.failed.connect(self.failed)
        self.controller.doubted.connect(self._ask_about_data)
        session.saved.connect(self._follow_project)
        data.changed.connect(self._offer_data)
        self._fetch()

    @property
    def active(self) -> tuple[RunRow, ...]:
        """Runs with a worker."""
        return self.controller.active

    def fill_strip(self, place: QHBoxLayout) -> RunStrip:
        """Put the progress of runs into the bottom bar."""
        strip = RunStrip(self.controller)
        strip.wanted.connect(self.ask_for_run)
        strip.failed.connect(self.failed)
        place.addWidget(strip)
        return strip

    def make_runs_page(self) -> QWidget:
        """Return the page that starts and lists runs."""
        from phexplore.gui.run_manager.runs_page import RunsPage

        self.page = RunsPage(self.controller, self._session)
        self.page.opened.connect(self.show_results)
        self.page.failed.connect(self.failed)
        self.page.trust_wanted.connect(self._ask_about_cluster)
        self.page.blocks_used.connect(self._data.use_blocks)
        self._offer_data()
        return self.page

    def make_results_page(self) -> QWidget:
        """Return the page of results, with that of the active scenario's system in front."""
        self._result_pages = Stack()
        self._session.settled.connect(self._follow_system)
        self._verdicts = RunVerdicts(self._session, self.controller, self._result_pages)
        self._show_results_of(system_of(self._session.scenario))
        return self._verdicts

    def _offer_data(self) -> None:
        """Offer the data of the project where a run is started."""
        if self.page is not None:
            self.page.offer_blocks(self._data.blocks)

    def _results_of(self, system: System) -> ResultsPage:
        """Return the results of a system, made when they are first looked at."""
        from phexplore.gui.run_manager.results_page import ResultsPage

        if isinstance(made := self.results.get(system.id), ResultsPage):
            return made
        page = ResultsPage(self.controller, system, self._result_pages, service=self._service())
        page.written.connect(self.written)
        self._rooms[system.id].join_results(page)
        self._shown[system.id] = shown = ShownRun(self._session, self.controller, page, page)
        if self._verdicts is not None:
            shown.followed.connect(self._verdicts.refresh)
        page.runs_wanted.connect(self.ask_for_run)
        page.failed.connect(self.failed)
        if self._result_pages is not None:
            self._result_pages.addWidget(page)
        self.results[system.id] = page
        return page

    def _service(self) -> RequestService:
        return RequestService(self._reader, self)

    def _follow_system(self, _shown: object) -> None:
        """Show the results of the active scenario's system when that changes."""
        system = system_of(self._session.scenario)
        if system is not self._shown_system:
            self._show_results_of(system)

    def _show_results_of(self, system: System) -> None:
        self._shown_system = system
        if self._result_pages is not None:
            page = self._results_of(system)
            self._result_pages.setCurrentWidget(page)
            if self._verdicts is not None:
                self._verdicts.follow(page.run)

    def ask_for_run(self) -> None:
        """Go to where a run is started."""
        self.opened.emit(Area.RUNS)

    def run_on(self, data: Path) -> None:
        """Go to where a run is started, with this data in the form of the active scenario's system."""
        self.opened.emit(Area.RUNS)
        if self.page is not None:
            self.page.form_of(system_of(self._session.scenario)).fill(data=str(data))

    def stop(self, *, discard: bool) -> None:
        """End what is running, because the window closes.

        Args:
            discard: the project was never saved and is given up, and its runs with it.
        """
        self.controller.shut_down()
        self._last.stop()
        self._reader.end(wait=True)
        for page in self.results.values():
            page.stop()
        if discard:
            shutil.rmtree(self.controller.homes.root, ignore_errors=True)

    def show_results(self, directory: Path) -> None:
        """Go to the results of a run; one of a project that was left meanwhile is not shown."""
        row = self.controller.row(directory)
        if row is None:
            gone = PhexploreError("The run is not in the open project.", "Open its project to see its results.")
            self.failed.emit(gone)
            return
        self.opened.emit(Area.RESULTS)
        system = system_of(self._session.scenario if row.spec is None else row.spec.scenario)
        self._show_results_of(system)
        self._shown[system.id].pick(row.directory)

    def _ask_about_data(self, doubted: DoubtedRun) -> None:
        """Let somebody answer for a run on data that may be confidential."""
        if doubted.doubt is None:
            return
        window = self.parent()
        self.question = ask(
            window if isinstance(window, QWidget) else None,
            "Are these data confidential?",
            f"{doubted.doubt.sentence} If you start the run all the same, your account ({person_here()}), the time and the SHA-256 "
            "of the data are written into its record.",
            action="Start all the same",
            run=lambda: self.controller.confirm(doubted),
            careful=True,
        )

    def _ask_about_cluster(self, address: str, start: Callable[[], object]) -> None:
        """Let somebody trust a scheduler, this time and for this run."""
        window = self.parent()
        self.question = ask(
            window if isinstance(window, QWidget) else None,
            "Trust this address with running code?",
            f"The run is to be estimated by the Dask scheduler at {address}. Whoever controls that machine can run code on this "
            "computer, because Dask executes what it is sent. Go on only if people you trust run it. The address is kept in no "
            "file and asked for each time.",
            action="Start on the cluster",
            run=start,
            careful=True,
        )

    def _on_ended(self, row: RunRow) -> None:
        if row.problem:
            self.failed.emit(PhexploreError(row.problem, row.remedy))
        elif self.controller.row(row.directory) is None:
            file = row.directory.parent.name.removesuffix(RUNS_SUFFIX)
            self.noted.emit(f"The run of {row.title!r} ended. It stays with {file}, where it was started.")
        elif row.state is RunState.COMPLETE:
            self.completed.emit(row)

    def _folder_of(self, project: Project) -> Path:
        """Return where new runs of a project go."""
        place = project.path or project.scratch
        return self._home if place is None else runs_folder(place)

    def _follow_project(self, project: Project) -> None:
        """Look after the runs of the open project: another one's are left, those of one just saved come along."""
        had_file, self._has_file = self._has_file, project.path is not None
        if project is not self._project:
            self._project = project
            self._reader.end()
            self.controller.leave(self._folder_of(project), discard=not had_file)
            self._fetch()
        else:
            self.controller.homes.follow(self._folder_of(project), takes_runs=not had_file)

    def _fetch(self) -> None:
        """Fetch what a program that was ended left behind when the project was saved for the first time."""
        if (path := self._project.path) is not None:
            self.controller.homes.fetch(partial(left_behind_runs, path))
