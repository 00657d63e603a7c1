"""The main window: composition only. Every decision is taken by the values it shows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QSplitter, QVBoxLayout, QWidget

from phexplore.decide.verdict_words import with_rules
from phexplore.document.project import Project
from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area, area_keys
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.room import Make, Room, Surroundings
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import FOLDER, GEOMETRY, INSPECTOR, ISSUES, LAYOUT, TOUR, Settings
from phexplore.gui.editors.issues_panel import IssuesPanel
from phexplore.gui.main.actions import ActionTable, edit_logger
from phexplore.gui.main.bottom_bar import BottomBar
from phexplore.gui.main.commands import MENUS, Commands
from phexplore.gui.main.copying import TableCopies
from phexplore.gui.main.exporting import ExportFormat, Exports
from phexplore.gui.main.focus_order import put_behind
from phexplore.gui.main.header import HeaderBar
from phexplore.gui.main.headline_bar import HeadlineBar
from phexplore.gui.main.importing import is_readable
from phexplore.gui.main.navigation import Navigation
from phexplore.gui.main.notices import Notices
from phexplore.gui.main.pages import Pages
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.main.shared_areas import SharedAreas
from phexplore.gui.main.warmup import LIBRARIES, PARTS, Warmup
from phexplore.gui.systems.plain_room import PlainRoom
from phexplore.gui.theme.metrics import GRID, INSPECTOR_WIDTH
from phexplore.gui.widgets.labels import line
from phexplore.gui.widgets.stack import Stack
from phexplore.model.issues import Issue
from phexplore.systems.registry import system_of, systems

if TYPE_CHECKING:
    from phexplore.gui.main.guided_tour import GuidedTour

DEFAULT_SIZE = QSize(1280, 800)
_ROOM_FOR_INSPECTOR = 1560
"""Width of the window from which on the overview and the inspector stand side by side."""


class MainWindow(QMainWindow):
    """Shows a project."""

    def __init__(self, project: Project, settings: Settings, runs_home: Path) -> None:
        """Show a project.

        Args:
            project: to show.
            settings: what the window remembers.
            runs_home: folder of the runs of a project that is kept in no file.
        """
        super().__init__()
        self.settings = settings
        self.session = Session(project, self)
        self.data = ProjectData(self.session, settings, self)
        self.files = ProjectFiles(self.session, settings, self, is_running=lambda: self.areas.is_running)
        self.exports = Exports(self)
        self.notice = Notices()
        self.navigation = Navigation()
        around = Surroundings(
            self.session,
            settings,
            self.data,
            runs_home.with_name("experiments"),
            lambda: self.areas.runs.controller,
            lambda: self.navigation.area,
            self,
        )
        self.rooms: Mapping[str, Room] = {
            name: (system.room or PlainRoom)(system, around) for name, system in systems().items()
        }
        self.headline = HeadlineBar(self.session, self._tiles)
        self._inspectors = Stack()
        self.issues = IssuesPanel(self.session)
        self.bottom = BottomBar()
        self.areas = SharedAreas(
            around, self.rooms, self.files, runs_home=runs_home, strip=self.bottom.strip_place, tiles=self._tiles
        )
        self._shown_room: Room | None = None
        self._leaves_without_asking = False
        self.tour: GuidedTour | None = None
        own: dict[Hashable, Make] = {
            (name, area): make for name, room in self.rooms.items() for area, make in room.makers().items()
        }
        self.pages = Pages({**self.areas.makers(), **own})
        self.commands = Commands(self, self)
        self.actions_table = ActionTable(self.commands.table(), self)
        self.header: HeaderBar = self._make_header()
        self.actions_table.fill(self.menuBar(), MENUS, self.commands.menus)
        self._lay_out()
        self._connect()
        self._follow_system()
        self._restore()
        self._refresh()
        rooms = self.rooms.values()
        libraries = (*LIBRARIES, *(name for room in rooms for name in room.libraries))
        parts = (*PARTS, *(name for room in rooms for name in room.parts))
        self._warmup = Warmup(self, libraries, parts)
        self._warmup.done.connect(self._prepare)
        # The first page loads the charts; the window is on screen before that.
        QTimer.singleShot(0, self, self._show_first_page)

    def _restore(self) -> None:
        """Take the place and size of last time, and what every window of the program has."""
        if isinstance(application := QApplication.instance(), QApplication):
            self._copies = TableCopies(application, self)
        self.setAcceptDrops(True)
        self.setWindowTitle("phexplore")
        self.resize(DEFAULT_SIZE)
        if not (geometry := self.settings.read(GEOMETRY)).isEmpty():
            self.restoreGeometry(QByteArray(geometry))
        if not (layout := self.settings.read(LAYOUT)).isEmpty():
            self._splitter.restoreState(QByteArray(layout))
        self.navigation.setFocus()

    @property
    def room(self) -> Room:
        """What the window does for the system of the active scenario."""
        return self.rooms[system_of(self.session.scenario).id]

    @property
    def inspector(self) -> QWidget:
        """What explains the selection of the active scenario."""
        return self.room.show_inspector()

    def export(self, form: ExportFormat, path: Path) -> None:
        """Write a file beside the window."""
        self.settings.keep(FOLDER, str(path.parent))
        self.bottom.say(f"Writing {path.name}…")
        self.exports.start(form, self.session.shown, path)

    def show_palette(self) -> None:
        """Open the list of everything that can be done, and of every row of the budget table."""
        from phexplore.gui.main.palette import Palette, offers_of

        table = self.actions_table
        offers = offers_of(list(table.entries.values()), dict(MENUS), lambda name: table[name].trigger())
        Palette(self, [*offers, *self.room.offers()]).open()

    def show_issue(self, issue: Issue) -> None:
        """Go to the place of an issue."""
        self.room.go_to_issue(issue)

    def save_journal(self) -> bool:
        """Force the journal of the project to disk; return whether every edit is there."""
        return self.session.project.flush()

    def show_inspector(self, *, shown: bool) -> None:
        """Show or hide the inspector, in the areas it is of use."""
        self.settings.keep(INSPECTOR, shown)
        self._make_room()

    def show_issues(self, *, shown: bool) -> None:
        """Show or hide the list of issues."""
        self.issues.setVisible(shown)
        self.bottom.issues.setChecked(shown)
        self.settings.keep(ISSUES, shown)

    def show_log(self) -> None:
        """Open the list of what was done since the window was opened."""
        from phexplore.gui.main.action_log import ActionLogDialog

        ActionLogDialog(self, list(self.actions_table.done)).open()

    def take_tour(self) -> None:
        """Show a person around."""
        from phexplore.gui.main.guided_tour import GuidedTour
        from phexplore.gui.main.tour_stops import tour_stops

        def end() -> None:
            self.tour = None
            self.navigation.setFocus()

        if self.tour is None:
            self.tour = GuidedTour(self, tour_stops(self))
            self.tour.ended.connect(end)
        self.tour.begin()

    def offer_tour(self) -> None:
        """Offer the tour to a person who starts the program for the first time on this computer."""
        if self.settings.read(TOUR) or self.notice.text:
            return
        self.settings.keep(TOUR, True)
        self.notice.offer_tour(self.take_tour)

    def leave_without_asking(self) -> None:
        """Close, losing unsaved edits: the user said so, or a program drives the window."""
        self._leaves_without_asking = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._leaves_without_asking and self.files.ask_if_needed(self.leave_without_asking):
            event.ignore()
            return
        project = self.session.project
        if self.isVisible():
            self.settings.keep(GEOMETRY, self.saveGeometry())
            self.settings.keep(LAYOUT, self._splitter.saveState())
        self._warmup.stop()
        self.areas.stop(discard=project.path is None)
        self.exports.stop()
        for room in self.rooms.values():
            room.stop()
        project.close()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if (path := _dropped_file(event.mimeData())) is not None:
            event.acceptProposedAction()
            if path.is_dir():
                self.areas.runs.run_on(path)
            else:
                self.files.open(path)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        room = self.room
        useful = room.inspected | ({Area.OVERVIEW} if self.width() >= _ROOM_FOR_INSPECTOR else set())
        wanted = self.settings.read(INSPECTOR) and self.navigation.area in useful
        if wanted:
            inspector = room.show_inspector()
            if self._inspectors.indexOf(inspector) < 0:
                self._inspectors.addWidget(inspector)
            self._inspectors.setCurrentWidget(inspector)
        self._inspectors.setVisible(wanted)

    def _tiles(self) -> tuple[TileContent, ...]:
        return with_rules(self.room.tiles(), self.session.shown.workbook, self.session.scenario)

    def _make_header(self) -> HeaderBar:
        actions = self.actions_table
        return HeaderBar(
            self.session,
            undo=actions["edit.undo"],
            redo=actions["edit.redo"],
            run=actions["run.new"],
            approve=actions["decide.approve"],
            export=self.commands.export_menu(actions),
        )

    def _lay_out(self) -> None:
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._splitter.setProperty("look", "lined")
        self._splitter.addWidget(self.pages)
        self._splitter.addWidget(self._inspectors)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setSizes([DEFAULT_SIZE.width() - INSPECTOR_WIDTH, INSPECTOR_WIDTH])
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.navigation)
        middle.addWidget(line(vertical=True))
        middle.addWidget(self._splitter, 1)
        notices = QHBoxLayout()
        notices.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        notices.addWidget(self.notice)
        self.issues.setFixedHeight(16 * GRID)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addLayout(notices)
        column.addWidget(self.headline)
        column.addWidget(line())
        column.addLayout(middle, 1)
        column.addWidget(line())
        column.addWidget(self.issues)
        column.addWidget(self.bottom)
        self.setCentralWidget(centre)
        self.show_issues(shown=self.settings.read(ISSUES))

    def _connect(self) -> None:
        session = self.session
        session.updated.connect(self._follow_system)
        session.settled.connect(self._refresh)
        session.settled.connect(edit_logger(session, self.actions_table.log))
        session.saved.connect(self._refresh)
        session.refused.connect(self.notice.tell_refused)
        session.troubled.connect(lambda trouble: self.notice.tell_trouble(trouble, self.files.choose_to_save))
        self.navigation.chosen.connect(self._go)
        self.issues.opened.connect(self.show_issue)
        self.issues.counted.connect(self.bottom.count_issues)
        self.bottom.issues.toggled.connect(lambda shown: self.show_issues(shown=shown))
        self.bottom.count_issues(self.issues.counts)
        self.files.noted.connect(self.notice.warn)
        self.files.started.connect(lambda: self.navigation.choose(Area.OVERVIEW))
        self.files.changed.connect(self.commands.refresh_recent)
        self._connect_shared()
        for room in self.rooms.values():
            room.wanted.connect(self.navigation.choose)
            room.failed.connect(self.notice.tell_failure)

    def _connect_shared(self) -> None:
        for part in (self.exports, self.areas):
            part.written.connect(self.notice.tell_written)
            part.failed.connect(self.notice.tell_failure)
        areas = self.areas
        areas.wanted.connect(self.navigation.choose)
        areas.noted.connect(self.notice.say)
        areas.warned.connect(self.notice.warn)
        areas.said.connect(self.bottom.say)
        areas.headline_changed.connect(self.headline.show_run)
        areas.completed.connect(
            lambda row: self.notice.tell_complete(row, lambda: areas.runs.show_results(row.directory))
        )

    def _refresh(self, _signal: object = None) -> None:
        project = self.session.project
        mark = "" if project.is_clean else "*"
        self.setWindowTitle(f"{self.files.title}{mark} – {self.session.scenario.name} – phexplore")
        self.actions_table.refresh()

    def _show_first_page(self) -> None:
        if self.navigation.currentRow() < 0:
            self.navigation.choose(Area.OVERVIEW)
        self._warmup.start()

    def _prepare(self) -> None:
        """Look after the runs and make the pages that may be wanted next."""
        _ = self.areas.runs  # made on first use
        self.pages.prepare([self._page_key(area) for area in self.navigation.offered])

    def _page_key(self, area: Area) -> Hashable:
        own = (self.room.system.id, area)
        return own if own in self.pages else area

    def _go(self, area: Area) -> None:
        page = self.pages.show_area(self._page_key(area))
        self._make_room()
        put_behind(page, (self._inspectors, self.issues, self.bottom))

    def _follow_system(self, _update: object = None) -> None:
        """Show the pages of the system of the active scenario."""
        room = self.room
        if self._shown_room is room:
            return
        self._shown_room = room
        keys = area_keys(room.hidden)
        self.navigation.name_areas(room.titles, room.hidden)
        self.actions_table.restate(
            {f"view.{area.name.lower()}": (room.titles.get(area, area.value), keys.get(area, "")) for area in Area}
        )
        if self.navigation.currentRow() < 0:
            return
        if not self.navigation.is_offered(self.navigation.area):
            self.navigation.choose(Area.OVERVIEW)
        self._go(self.navigation.area)


def _dropped_file(content: QMimeData) -> Path | None:
    """Return the one file that is being dropped, if the window reads it, or the one folder: the data of a run."""
    paths = [Path(url.toLocalFile()) for url in content.urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and (is_readable(paths[0]) or paths[0].is_dir()) else None
