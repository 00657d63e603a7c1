"""Runs and results, joined to the window: pages, progress strip, the tile of the last run, the folder they are kept in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.decide.rule_evaluation import judge
from phexplore.decide.verdict_words import verdict_detail, verdict_summary
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.request_service import RequestService, reader_process
from phexplore.gui.binding.room import Room, Surroundings
from phexplore.gui.binding.session import Session
from phexplore.gui.dialogs.messages import Message, ask
from phexplore.gui.main.project_files import left_behind_runs
from phexplore.gui.run_manager.last_run import LastRun, ShownRun, reservation
from phexplore.gui.run_manager.run_controller import DoubtedRun, RunController
from phexplore.gui.run_manager.run_details import RunStrip
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.widgets.labels import Paragraph, describe
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.stack import Stack
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.rules import Outcome
from phexplore.model.scenario import Scenario
from phexplore.runs.belonging import RUNS_SUFFIX, runs_folder
from phexplore.runs.confidentiality import person_here
from phexplore.runs.states import RunState
from phexplore.runs.store import load_summary
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.gui.run_manager.results_page import ResultsPage
    from phexplore.gui.run_manager.runs_page import RunsPage


class ResultPages(QWidget):
    """The results of every system, with what is to be known of the run that is shown above them.

    Attributes:
        pages: those that were looked at, by the id of their system.
    """

    def __init__(
        self, session: Session, controller: RunController, make: Callable[[System, QWidget], ResultsPage]
    ) -> None:
        """Show the results of the active scenario's system.

        Args:
            session: whose rules are judged.
            controller: of the runs.
            make: makes the page of a system in a place.
        """
        super().__init__()
        self._session, self._controller, self._make = session, controller, make
        self.pages: dict[str, ResultsPage] = {}
        self._shown: dict[str, ShownRun] = {}
        self._system: System | None = None
        self._read: tuple[Path, int, object] | None = None
        self._stack = Stack()
        column((self._stack, 1), of=self, gap=0)
        self._seen = WhenSeen(self, self._refresh, session.settled, controller.changed)
        session.settled.connect(self._follow_system)
        self._follow_system()

    def pick(self, row: RunRow) -> None:
        """Show the results of a run."""
        system = system_of(self._session.scenario if row.spec is None else row.spec.scenario)
        self._show_system(system)
        self._shown[system.id].pick(row.directory)

    def _follow_system(self, _view: object = None) -> None:
        """Show the results of the active scenario's system when that changes."""
        if (system := system_of(self._session.scenario)) is not self._system:
            self._show_system(system)

    def _show_system(self, system: System) -> None:
        self._system = system
        if system.id not in self.pages:
            page = self.pages[system.id] = self._make(system, self._stack)
            self._stack.addWidget(page)
            self._shown[system.id] = shown = ShownRun(self._session, self._controller, page)
            shown.followed.connect(self._seen.request)
            page.run.currentIndexChanged.connect(self._seen.request)
        self._stack.setCurrentWidget(self.pages[system.id])
        self._seen.request()

    def _refresh(self) -> None:
        if self._system is None:
            return
        page = self.pages[self._system.id]
        row = None if page.directory is None else self._controller.row(page.directory)
        page.reservation.say("" if row is None else reservation(self._session.scenario, row))
        self._judge(page.verdicts, row)

    def _judge(self, line: Paragraph, row: RunRow | None) -> None:
        rules = self._session.project.workbook.rules
        if not rules or row is None or row.spec is None:
            line.hide()
            self._read = None
            return
        wanted = (row.directory, row.trials, rules)
        if wanted == self._read:
            return
        self._read = wanted
        try:
            summary = load_summary(row.directory)
        except PhexploreError:
            summary = None
        line.setVisible(summary is not None)
        if summary is None:
            self._read = None  # it is written when the run ends
            return
        verdicts = judge(rules, row.spec.scenario, summary)
        line.setText(verdict_summary(verdicts))
        describe(line, tip="\n\n".join(map(verdict_detail, verdicts)))
        outcomes = {each.outcome for each in verdicts}
        line.set_look("refused" if Outcome.FAIL in outcomes else "good" if outcomes == {Outcome.PASS} else "")


class RunsArea(QObject):
    """Owns the controller of the project's runs and joins the pages to the window."""

    def __init__(self, around: Surroundings, home: Path, rooms: Mapping[str, Room], strip: QHBoxLayout) -> None:
        """Look after the runs of a project.

        Args:
            around: what the window offers.
            home: folder of the runs of a project that is kept in no file.
            rooms: of the window, by the id of their system.
            strip: where the progress of runs is shown.
        """
        super().__init__(around.window)
        self._around, self._session, self._news = around, around.session, around.news
        self._home, self._rooms = home, rooms
        self.question: Message | None = None
        self._project = self._session.project
        self._has_file = self._project.path is not None
        self.controller = RunController(self._folder_of(self._project), self)
        self.page: RunsPage | None = None
        """Where runs are started and listed, made when it is first looked at."""
        self.shown: ResultPages | None = None
        """The pages of results, made when they are first looked at."""
        self._reader = reader_process(self)
        self._last = LastRun(self._session, self.controller, self, service=self._service())
        self._last.changed.connect(self._news.last_run)
        self.controller.ended.connect(self._on_ended)
        self.controller.failed.connect(self._news.failed)
        self.controller.doubted.connect(self._ask_about_data)
        self._session.saved.connect(self._follow_project)
        around.data.changed.connect(self._offer_data)
        line = RunStrip(self.controller)
        line.wanted.connect(self.ask_for_run)
        strip.addWidget(line)
        self._fetch()

    def make_runs_page(self) -> QWidget:
        """Return the page that starts and lists runs."""
        from phexplore.gui.run_manager.runs_page import RunsPage

        self.page = RunsPage(self.controller, self._session)
        self.page.opened.connect(self.show_results)
        self.page.trust_wanted.connect(self._ask_about_cluster)
        self.page.blocks_used.connect(self._around.data.use_blocks)
        self._offer_data()
        return self.page

    def make_results_page(self) -> QWidget:
        """Return the page of results, with that of the active scenario's system in front."""
        self.shown = ResultPages(self._session, self.controller, self._make_results)
        return self.shown

    @property
    def results(self) -> Mapping[str, ResultsPage]:
        """The pages of results that were looked at, by the id of their system."""
        return {} if self.shown is None else self.shown.pages

    def _offer_data(self) -> None:
        """Offer the data of the project where a run is started."""
        if self.page is not None:
            self.page.offer_blocks(self._around.data.blocks)

    def _make_results(self, system: System, place: QWidget) -> ResultsPage:
        from phexplore.gui.run_manager.results_page import ResultsPage

        page = ResultsPage(self.controller, system, place, service=self._service())
        page.written.connect(self._news.written)
        page.runs_wanted.connect(self.ask_for_run)
        page.failed.connect(self._news.failed)
        page.mended.connect(self._news.mended)
        self._rooms[system.id].join_results(page)
        return page

    def _service(self) -> RequestService:
        return RequestService(self._reader, self)

    def last_summary(self, scenario: Scenario) -> Mapping[str, Any] | None:
        """Return the summary of the complete last run of exactly these parameters, None where there is none."""
        return self._last.summary_of(scenario)

    def ask_for_run(self) -> None:
        """Go to where a run is started."""
        self._news.wanted.emit(Area.RUNS)

    def run_on(self, data: Path, **values: Any) -> None:
        """Go to where a run is started, with this data, and other fields, in the form of the active scenario's system."""
        self._news.wanted.emit(Area.RUNS)
        if self.page is not None:
            self.page.form_of(system_of(self._session.scenario)).fill(data=str(data), **values)

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
            self._news.failed.emit(gone)
            return
        self._news.wanted.emit(Area.RESULTS)
        if self.shown is not None:
            self.shown.pick(row)

    def _ask_about_data(self, doubted: DoubtedRun) -> None:
        """Let somebody answer for a run on data that may be confidential."""
        if doubted.doubt is None:
            return
        self.question = ask(
            self._around.window,
            "Are these data confidential?",
            f"{doubted.doubt.sentence} If you start the run all the same, your account ({person_here()}), the time and the SHA-256 "
            "of the data are written into its record.",
            action="Start all the same",
            run=lambda: self.controller.confirm(doubted),
            careful=True,
        )

    def _ask_about_cluster(self, address: str, start: Callable[[], object]) -> None:
        """Let somebody trust a scheduler, this time and for this run."""
        self.question = ask(
            self._around.window,
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
            self._news.failed.emit(PhexploreError(row.problem, row.remedy))
        elif self.controller.row(row.directory) is None:
            file = row.directory.parent.name.removesuffix(RUNS_SUFFIX)
            self._news.warned.emit(f"The run of {row.title!r} ended. It stays with {file}, where it was started.")
        elif row.state is RunState.COMPLETE:
            self._news.completed.emit(row)

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
