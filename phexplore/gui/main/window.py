"""The main window: composition only. Every decision is taken by the values it shows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QObject, QSize, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from phexplore.decide.verdict_words import with_rules
from phexplore.document.project import Project
from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area, area_keys
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.room import Make, News, Room, Surroundings
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import GEOMETRY, INSPECTOR, ISSUES, LAYOUT, Settings
from phexplore.gui.editors.issues_panel import IssuesPanel
from phexplore.gui.main.actions import edit_logger
from phexplore.gui.main.bars import BottomBar, HeaderBar, HeadlineBar
from phexplore.gui.main.commands import Commands
from phexplore.gui.main.copying import TableCopies
from phexplore.gui.main.exporting import Exports
from phexplore.gui.main.notices import SHOW_AROUND, SHOW_RESULTS, Notices
from phexplore.gui.main.pages import Navigation, Pages
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.main.published_files import PublishedFiles
from phexplore.gui.main.shared_areas import SharedAreas
from phexplore.gui.main.warmup import LIBRARIES, PARTS, Warmup
from phexplore.gui.systems.plain_room import PlainRoom
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, INSPECTOR_WIDTH
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.labels import line
from phexplore.gui.widgets.layout import column, row, split
from phexplore.gui.widgets.reading_order import InReadingOrder, put_in_order
from phexplore.gui.widgets.speech import announce
from phexplore.gui.widgets.stack import Stack
from phexplore.systems.registry import system_of, systems

DEFAULT_SIZE = QSize(1280, 800)
_ROOM_FOR_INSPECTOR = 1560
"""Width of the window from which on the overview and the inspector stand side by side, at normal text size."""
_ROOM_FOR_BOTH = 960
"""The same for pages the inspector belongs to; in a narrower window the inspector takes their place when it is asked for."""
_PAUSE_MS = 50
"""From the last edit of a drag to asking what can be done now."""


class KeptState(QObject):
    """Keeps that a window was made large when it is: a program that is killed closes no window."""

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        window = self.parent()
        if event.type() == QEvent.Type.WindowStateChange and isinstance(window, MainWindow) and window.isVisible():
            window.settings.keep(GEOMETRY, window.saveGeometry())
        return False


_KEPT: set[QMainWindow] = set()
"""Windows until Qt has deleted them: Python's collector would delete one that nobody holds while its parts are at work."""


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
        _KEPT.add(self)
        self.destroyed.connect(lambda: _KEPT.discard(self))
        self.settings, self.news = settings, News(self)
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
            lambda: self.room,
            lambda: self.navigation.area,
            self.news,
            self,
        )
        self.rooms: Mapping[str, Room] = {
            name: (system.room or PlainRoom)(system, around) for name, system in systems().items()
        }
        self._inspectors = Stack()
        self.issues = IssuesPanel(self.session)
        self.bottom = BottomBar()
        self.areas = SharedAreas(
            around, self.rooms, self.files, runs_home=runs_home, strip=self.bottom.strip_place, tiles=self._tiles
        )
        self.headline = HeadlineBar(self.session, self._tiles)
        self._shown_room: tuple[Room, bool] | None = None
        self._is_inspecting = self.shows_inspector = False
        self._step: tuple[object, ...] = ()
        """Where in the history what can be done was asked last."""
        self._after_drag = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._leaves_without_asking = False
        own: dict[Hashable, Make] = {
            (name, area): make for name, room in self.rooms.items() for area, make in room.makers().items()
        }
        self.pages = Pages({**self.areas.makers(), **own})
        self.commands = Commands(self, self)
        self.show_manual = self.commands.manual.show
        self.published = PublishedFiles(self, self)
        self.actions_table = self.commands.table
        self._after_drag.timeout.connect(self.actions_table.refresh)
        self.bottom.switch_depth_by(self.actions_table["view.expert"])
        self.header = HeaderBar(self.session, self.actions_table, self.commands.export_menu())
        self.commands.fill(self.menuBar())
        self._content = InReadingOrder()
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
        self._warmup.done.connect(self.headline.prove)
        # The first page loads the charts; the window is on screen before that.
        QTimer.singleShot(0, self, self._show_first_page)

    def _restore(self) -> None:
        """Take the place and size of last time, and what every window of the program has."""
        if isinstance(application := QApplication.instance(), QApplication):
            self._copies = TableCopies(application, self)
        self.installEventFilter(KeptState(self))
        self.setAcceptDrops(True)
        self.setWindowTitle("phexplore")
        self.resize(DEFAULT_SIZE)
        # What filled another screen has no place on this one, and is refused.
        self.is_placed = self.restoreGeometry(QByteArray(self.settings.read(GEOMETRY)))
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

    def show_inspector(self, *, shown: bool) -> None:
        """Show or hide the inspector, in the areas it is of use; where there is no room for both, in place of the page."""
        if _has_room(self, _ROOM_FOR_BOTH):
            self.settings.keep(INSPECTOR, shown)
        else:
            self._is_inspecting = shown
        self._make_room()

    def show_issues(self, *, shown: bool) -> None:
        """Show or hide the list of issues."""
        self.issues.setVisible(shown)
        self.bottom.issues.setChecked(shown)
        self.settings.keep(ISSUES, shown)

    def leave_without_asking(self) -> None:
        """Close, losing unsaved edits: the user said so, or a program drives the window."""
        self._leaves_without_asking = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._leaves_without_asking and self.files.ask_if_needed(self.leave_without_asking):
            event.ignore()
            return
        from phexplore.gui.dialogs.proven_curve import ProvenCurve

        project = self.session.project
        if self.isVisible():
            self.settings.keep(GEOMETRY, self.saveGeometry())
            self.settings.keep(LAYOUT, self._splitter.saveState())
        self._warmup.stop()
        self.headline.stop()
        for curve in self.findChildren(ProvenCurve):
            curve.close()
        self.areas.stop(discard=project.path is None)
        self.exports.stop()
        self.commands.exports.stop()
        self.published.shut_down()
        for room in self.rooms.values():
            room.stop()
        project.close()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := _dropped_files(event.mimeData()):
            event.acceptProposedAction()
            if len(paths) > 1:
                self.published.open(paths)
            else:
                self.files.open(paths[0])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self, _colours: object = None) -> None:
        self.navigation.leave_above(self.headline.spared)
        room, has_room = self.room, _has_room(self, _ROOM_FOR_BOTH)
        useful = room.inspected | ({Area.OVERVIEW} if _has_room(self, _ROOM_FOR_INSPECTOR) else set())
        self.shows_inspector = self.settings.read(INSPECTOR) if has_room else self._is_inspecting
        wanted = self.shows_inspector and self.navigation.area in useful
        if wanted:
            inspector = room.show_inspector()
            if self._inspectors.indexOf(inspector) < 0:
                self._inspectors.addWidget(inspector)
            self._inspectors.setCurrentWidget(inspector)
        self._inspectors.setVisible(wanted)
        self.pages.setVisible(not wanted or has_room)

    def _tiles(self) -> tuple[TileContent, ...]:
        book, scenario = self.session.shown.workbook, self.session.scenario
        return with_rules(self.room.tiles(), book, scenario, self.areas.last_summary(scenario) if book.rules else None)

    def _lay_out(self) -> None:
        sizes = [DEFAULT_SIZE.width() - INSPECTOR_WIDTH, INSPECTOR_WIDTH]
        self._splitter = split(self.pages, self._inspectors, shares=(1,), sizes=sizes)
        self._splitter.setHandleWidth(1)
        self._splitter.setProperty("look", "lined")
        self.issues.setFixedHeight(16 * GRID)
        middle = row(self.navigation, line(vertical=True), (self._splitter, 1), gap=0)
        above = (self.header, self.headline, line())
        column(*above, (middle, 1), line(), self.issues, self.bottom, of=self._content, gap=0)
        self.setCentralWidget(self._content)
        self.notice.float_over(self._content, self.bottom, self.bottom.free_room, self.headline)
        self.show_issues(shown=self.settings.read(ISSUES))

    def _connect(self) -> None:
        session, news, notice = self.session, self.news, self.notice
        session.updated.connect(self._follow_system)
        appearance().changed.connect(self._follow_system)
        session.settled.connect(self._refresh)
        session.settled.connect(edit_logger(session, self.actions_table.log))
        session.saved.connect(self._refresh)
        session.opened.connect(notice.hide)
        session.updated.connect(lambda _update: notice.drop(look="refused"))
        session.updated.connect(lambda _update: notice.drop(action=SHOW_AROUND))  # who edits is at home
        session.refused.connect(lambda refusal: notice.say(refusal.full, look="refused", cause=session))
        session.troubled.connect(lambda trouble: notice.tell_trouble(trouble, self.files.choose_to_save))
        self.navigation.chosen.connect(self._go)
        self.issues.opened.connect(lambda issue: self.room.go_to_issue(issue))  # noqa: PLW0108 - of the room by then
        self.issues.counted.connect(self.bottom.count_issues)
        self.bottom.issues.toggled.connect(lambda shown: self.show_issues(shown=shown))
        self.bottom.count_issues(self.issues.counts)
        self.files.noted.connect(lambda text: notice.warn(text, cause=self.files))
        self.files.saved.connect(lambda _path: notice.drop(cause=self.files))  # what came back is kept now
        self.files.saved.connect(lambda path: self.bottom.say(f"{path.name} was saved in {path.absolute().parent}."))
        session.done.connect(self.bottom.say)
        self.files.started.connect(lambda: self.navigation.choose(Area.OVERVIEW))
        self.files.changed.connect(self.commands.refresh_recent)
        self.files.folder_given.connect(lambda path: self.areas.runs.run_on(path))  # noqa: PLW0108 - made on first use
        self.files.published.connect(self.published.open)
        self.published.failed.connect(news.failed)
        appearance().changed.connect(self._make_room)
        news.wanted.connect(self.navigation.choose)
        news.failed.connect(notice.tell_failure)
        news.mended.connect(lambda error: notice.drop(cause=error))
        news.noted.connect(lambda text: notice.say(text, cause=news))
        for signal in (session.updated, session.saved):  # what was noted is about the version before
            signal.connect(lambda _about: notice.drop(cause=news))
        news.warned.connect(notice.warn)
        news.said.connect(self.bottom.say)
        news.written.connect(notice.tell_written)
        news.last_run.connect(self.headline.show_run)
        news.completed.connect(
            lambda row: notice.tell_complete(row, lambda: self.areas.runs.show_results(row.directory))
        )

    def _refresh(self, _signal: object = None) -> None:
        project = self.session.project
        mark = "" if project.is_clean else "*"
        self.setWindowTitle(f"{self.files.title}{mark} – {localised(self.session.scenario.name)} – phexplore")
        step = (project, project.cursor, len(project.steps), project.is_clean)
        if step == self._step:  # what can be done stays through the frames of a drag
            self._after_drag.start()
        else:
            self._step = step
            self.actions_table.refresh()

    def _show_first_page(self) -> None:
        if self.navigation.currentRow() < 0:
            self.navigation.choose(Area.OVERVIEW)
        QTimer.singleShot(0, self, self._warmup.start)  # once the page is painted, which comes before timers

    def _prepare(self) -> None:
        """Look after the runs and make the pages that may be wanted next."""
        runs = self.areas.runs  # made on first use
        # What an older run came to would be taken for news of the one just started: they have one name.
        runs.controller.launched.connect(lambda _run: self.notice.drop(action=SHOW_RESULTS))
        self.pages.prepare(self.room.system.id, self.navigation.offered)

    def _go(self, area: Area) -> None:
        self.headline.make_large(is_large=area is Area.OVERVIEW)
        self._is_inspecting = False
        is_spoken = self.navigation.hasFocus()  # its entry is
        if self._splitter.isAncestorOf(self.focusWidget()):  # else the focus falls on whatever follows what goes
            self.navigation.setFocus()
        page = self.pages.show_area(self.room.system.id, area)
        self.notice.leave_page()
        self.notice.drop(cause=self.session)  # what was refused was typed there
        if not is_spoken:
            announce(page, self.room.titles.get(area, area.value))
        self._make_room()
        put_in_order(self._content)

    def _follow_system(self, _update: object = None) -> None:
        """Show the pages of the system of the active scenario, to a committee those it decides on."""
        room, is_expert, before = self.room, appearance().is_expert, self._shown_room
        if before == (room, is_expert):
            return
        self._shown_room = (room, is_expert)
        hidden = room.hidden if is_expert else room.hidden | room.for_experts
        keys = area_keys(hidden)
        self.navigation.name_areas(room.titles, hidden)
        self.actions_table.restate(
            {f"view.{area.name.lower()}": (room.titles.get(area, area.value), keys.get(area, "")) for area in Area}
        )
        if self.navigation.currentRow() < 0:
            return
        if not self.navigation.is_offered(self.navigation.area):
            self.navigation.choose(Area.OVERVIEW)
        if before is None or before[0] is not room:
            self._go(self.navigation.area)


def _has_room(window: QWidget, width: int) -> bool:
    """Return whether a window is as wide as this would be at normal text size."""
    return window.width() * 100 >= width * appearance().scale


def _dropped_files(content: QMimeData) -> list[Path]:
    """Return the files or folders that are being dropped, none where something is no file."""
    paths = [Path(url.toLocalFile()) for url in content.urls() if url.isLocalFile()]
    return paths if len(paths) == len(content.urls()) else []
