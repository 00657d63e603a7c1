"""The table of everything the window can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.gui.binding.areas import AREAS, Area
from phexplore.gui.binding.room import Action, News, Room, TableView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import (
    DEPTH,
    ISSUES,
    NAMES,
    NUMBERS,
    TEXT_SIZE,
    THEME,
    TOUR,
    Settings,
)
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.editors.issues_panel import IssuesPanel
from phexplore.gui.main.actions import ActionTable, Subject
from phexplore.gui.main.bars import HeaderBar
from phexplore.gui.main.export_controls import ExportControls
from phexplore.gui.main.exporting import Exports
from phexplore.gui.main.manual_reader import KEY, ManualReader
from phexplore.gui.main.notices import Notices
from phexplore.gui.main.pages import Navigation
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.main.python_log import PythonLog
from phexplore.gui.main.shared_areas import SharedAreas
from phexplore.gui.theme.appearance import LARGEST_SCALE, SMALLEST_SCALE, ThemeChoice, appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.number_style import NumberStyle, number_style
from phexplore.gui.widgets.labels import rewrite_labels
from phexplore.lazy import lazy
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.less_noise import less_noise
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.gui.main.guided_tour import GuidedTour

MENUS: Mapping[str, str] = {
    "file": "&File", "edit": "&Edit", "run": "&Run", "decide": "&Decide", "view": "&View", "help": "&Help",
}  # fmt: skip
_STYLES = {
    NumberStyle.SYSTEM: "As the system",
    NumberStyle.POINT: "Decimal point: 1,234.5",
    NumberStyle.COMMA: "Decimal comma: 1 234,5",
}
_NAMINGS = {
    Naming.NAMES: "Names, as people say them",
    Naming.CODES: "Codes, as production writes them",
    Naming.BOTH: "Both",
}
_THEMES = {ThemeChoice.SYSTEM: "As the system", ThemeChoice.LIGHT: "Light", ThemeChoice.DARK: "Dark"}
_SCALE_STEP = 25
_ask_for_comment = lazy("phexplore.gui.decision.comments", "ask_for_comment")
_COMPARE = "phexplore compare {this} {other}"
_RUN = "phexplore run {this} --data demo --trials 20 --seed 1 --out runs/new"
_VARY = "phexplore sweep {this} --grid grid.json --out sweep.csv"
_AREA_HINTS = {
    Area.OVERVIEW: "phexplore forecast {this}",
    Area.BUDGETS: "phexplore forecast {this} --json",
    Area.TARGETS: "phexplore solve {this}",
    Area.RUNS: _RUN,
    Area.RESULTS: "phexplore report runs/new --format html --out report.html",
    Area.DECISION: _COMPARE,
}


class CommandedWindow(Protocol):
    """What the actions need of the window."""

    session: Session
    settings: Settings
    news: News
    files: ProjectFiles
    exports: Exports
    navigation: Navigation
    notice: Notices
    issues: IssuesPanel
    rooms: Mapping[str, Room]
    areas: SharedAreas
    shows_inspector: bool

    @property
    def room(self) -> Room: ...
    @property
    def header(self) -> HeaderBar: ...
    @property
    def headline(self) -> QWidget: ...
    @property
    def pages(self) -> QWidget: ...
    def menuBar(self) -> QMenuBar: ...
    def close(self) -> bool: ...
    def show_inspector(self, *, shown: bool) -> None: ...

    def show_issues(self, *, shown: bool) -> None: ...


class Commands:
    """Builds the table for a window.

    Args:
        window: what the actions act on.
        parent: the same window as a widget, owner of menus and dialogs.
    """

    def __init__(self, window: CommandedWindow, parent: QWidget) -> None:
        self._window, self._parent = window, parent
        self.tour: GuidedTour | None = None
        self.recent = QMenu("Open &recent", parent)
        self._python = PythonLog(parent, window.session, window.news, window.files.folder)
        self.recent.setToolTipsVisible(True)
        self.exports = ExportControls(window, parent)
        area, of_system = (lambda: window.navigation.area), (lambda: system_of(window.session.scenario).manual)
        self.manual = ManualReader(parent, area, of_system)
        self.refresh_recent()
        window.session.opened.connect(self.refresh_recent)
        parts = (self._file(), self._edit(), self._run_and_decide(), self._view(), self._help())
        actions = [action for part in parts for action in part]
        for room in window.rooms.values():
            for before, action in room.actions():
                actions.insert(1 + [each.id for each in actions].index(before), action)
        self.table = ActionTable(actions, self._subject, parent)
        for exports in (window.exports, self.exports.prints):
            # The keys of an action that was switched off while a file was written work again at once.
            for ended in (exports.written, exports.failed):
                ended.connect(lambda _: QTimer.singleShot(0, parent, self.table.refresh))
        self.table["help.manual"].setShortcutContext(
            Qt.ShortcutContext.ApplicationShortcut
        )  # in windows beside it, too

    def fill(self, bar: QMenuBar) -> None:
        """Fill the menu bar."""
        self.table.fill(bar, MENUS, {"file.open": self.recent})

    def export_menu(self) -> QMenu:
        """Return a menu of the exports for the header."""
        menu = QMenu(self._parent)
        for form in self.exports.formats:
            menu.addAction(self.table[f"file.export-{form.id}"])
        menu.aboutToShow.connect(self.table.refresh)
        return menu

    def refresh_recent(self) -> None:
        """List the files opened lately."""
        self.recent.clear()
        files = [path for path in self._window.settings.recent_files() if path != self._window.session.project.path]
        for path in files:
            action = self.recent.addAction(f"{path.name}\t{_folder(path)}")
            action.setToolTip(str(path))
            action.triggered.connect(lambda _checked, file=path: self._window.files.open(file))
        self.recent.setEnabled(bool(files))

    def show_palette(self) -> None:
        """Open the list of everything that can be done, and of every row of the budget table."""
        from phexplore.gui.main.action_dialogs import Palette

        Palette(self._parent, [*self.table.offers(MENUS), *self._window.room.offers()]).open()

    def show_log(self) -> None:
        """Open the list of what was done since the window was opened."""
        from phexplore.gui.main.action_dialogs import ActionLogDialog

        ActionLogDialog(self._parent, list(self.table.done), self._python).open()

    def take_tour(self) -> None:
        """Show a person around."""
        from phexplore.gui.main.guided_tour import GuidedTour

        def end() -> None:
            self.tour = None
            window.navigation.setFocus()

        window, header = self._window, self._window.header
        if self.tour is None:
            places = {
                "scenario": header.scenario, "headline": window.headline, "areas": window.navigation,
                "page": window.pages, "run": header.run, "export": header.export, "menus": window.menuBar(),
            }  # fmt: skip
            self.tour = GuidedTour(self._parent, window.navigation.choose, places)
            self.tour.ended.connect(end)
            window.navigation.chosen.connect(self.tour.leave)
        self.tour.begin()

    def offer_tour(self) -> None:
        """Offer the tour to a person who starts the program for the first time on this computer."""
        window = self._window
        if window.settings.read(TOUR) or window.notice.text:
            return
        window.settings.keep(TOUR, True)
        window.notice.offer_tour(self.take_tour)

    # The menus

    def _file(self) -> list[Action]:
        window, files = self._window, self._window.files
        is_dirty, new = (lambda: not window.session.project.is_clean), partial(_choose_preset, self._parent, files)
        load = files.choose_to_import
        return [
            Action("file.new", "&New from preset…", new, "Ctrl+N", symbol="plus", hint="phexplore presets"),
            Action("file.open", "&Open…", files.choose_to_open, "Ctrl+O", symbol="open"),
            Action("file.save", "&Save", files.save, "Ctrl+S", enabled=is_dirty, symbol="save", starts_part=True),
            Action("file.save-as", "Save &as…", files.choose_to_save, "Ctrl+Shift+S"),
            Action("file.import", "&Import parameters…", load, "Ctrl+I", symbol="import", starts_part=True),
            *self.exports.actions(),
            Action("file.notebook", "Save what was done as a &notebook…", self._python.save, starts_part=True),
            Action("file.close", "&Close project", partial(_close_project, files), "Ctrl+W", starts_part=True),
            Action("file.quit", "&Quit", window.close, "Ctrl+Q"),
        ]

    def _edit(self) -> list[Action]:
        session, table, is_table = self._window.session, self._on_table, self._is_table
        copy, headed = table(lambda view: view.copy()), table(lambda view: view.copy(headers=True))
        paste, fill = table(lambda view: view.paste()), table(lambda view: view.fill_down())
        comment = lambda: _ask_for_comment(self._parent, self._window.settings, self._window.room)  # noqa: E731 - the room of by then
        can_undo, can_redo = (lambda: session.project.can_undo), (lambda: session.project.can_redo)
        return [
            Action("edit.undo", "&Undo", session.undo, "Ctrl+Z", can_undo, symbol="undo"),
            Action("edit.redo", "&Redo", session.redo, "Ctrl+Shift+Z", can_redo, symbol="redo", also="Ctrl+Y"),
            Action("edit.copy", "&Copy", copy, "Ctrl+C", is_table, is_local=True, starts_part=True),
            Action("edit.copy-headers", "Copy with &headers", headed, "Ctrl+Shift+C", is_table),
            Action("edit.paste", "&Paste", paste, "Ctrl+V", is_table, is_local=True),
            Action("edit.fill-down", "&Fill down", fill, "Ctrl+D", is_table),
            Action("edit.comment", "Co&mment…", comment, "Ctrl+T", starts_part=True),
            Action("edit.python", "Copy what was done as P&ython", self._python.copy, starts_part=True),
        ]

    def _run_and_decide(self) -> list[Action]:
        areas = self._window.areas
        compare, committee, meeting, approve, bundle = (partial(areas.show_decision, tab) for tab in DecisionTab)
        approving = "phexplore approve {this} --who NAME --role ROLE"
        bundling = "phexplore bundle {this} --out decision.zip"
        start = lambda: areas.decision.start_meeting()  # noqa: E731, PLW0108 - the area is made on first use
        run = partial(self._window.navigation.choose, Area.RUNS)
        return [
            Action("run.new", "&New run…", run, "Ctrl+R", symbol="run", hint=_RUN),
            Action("run.vary", "&Vary…", areas.show_vary, "Ctrl+Shift+R", hint=_VARY),
            Action("decide.compare", "&Compare scenarios and runs", compare, "Ctrl+K", hint=_COMPARE),
            Action(
                "decide.proven",
                "Proven &privacy curve…",
                self._show_proven,
                "Ctrl+Shift+E",
                hint="phexplore forecast {this}",
            ),
            Action(
                "decide.less-noise",
                "Add: same converted ε, &narrower margins",
                self._add_less_noise,
                hint="phexplore less-noise {this} --out less.phx",
            ),
            Action("decide.committee", "C&ommittee: members' proposals", committee, "Ctrl+J"),
            Action("decide.meeting", "Start the &meeting", start, "F11", symbol="run"),
            Action("decide.meeting-sliders", "Choose the meeting's &sliders…", meeting),
            Action(
                "decide.approve", "&Approve…", approve, "Ctrl+Shift+A", symbol="tick", starts_part=True, hint=approving
            ),
            Action("decide.bundle", "Write or check a &bundle…", bundle, "Ctrl+B", hint=bundling),
        ]

    def _show_proven(self) -> None:
        from phexplore.gui.dialogs.proven_curve import ProvenCurve

        for curve in self._parent.findChildren(ProvenCurve):  # one is enough: it follows every edit
            curve.close()
        ProvenCurve(self._parent, self._window.session, self._add_less_noise).show()

    def _add_less_noise(self) -> None:
        session, told = self._window.session, []

        def add(workbook: Workbook) -> Workbook:
            found = less_noise(workbook.scenario)
            told.append(found.sentence)
            added = add_scenario(workbook, found.scenario)
            told.insert(0, f"{added.active} was added to the list; {workbook.active} is still being edited.")
            return activate(added, workbook.active)

        if session.report(session.edit_workbook("Add: same converted ε, narrower margins", add)):
            self._window.notice.say(" ".join(told))

    def _view(self) -> list[Action]:
        window, navigation, settings, look = self._window, self._window.navigation, self._window.settings, appearance()

        def scale(change: int) -> None:
            look.set_scale(look.scale + change if change else SMALLEST_SCALE)
            settings.keep(TEXT_SIZE, look.scale)

        def write_numbers(style: NumberStyle) -> None:
            look.write_numbers(style)
            rewrite_labels()
            settings.keep(NUMBERS, style)

        def call_things(naming: Naming) -> None:
            look.call_things(naming)
            rewrite_labels()
            settings.keep(NAMES, naming)

        def go_deeper(depth: Depth) -> None:
            look.show_depth(depth)
            rewrite_labels()
            settings.keep(DEPTH, depth)

        def colour(choice: ThemeChoice) -> None:
            look.choose(choice)
            settings.keep(THEME, choice)

        areas = [
            Action(
                f"view.{area.name.lower()}", area.value, partial(navigation.choose, area),
                enabled=partial(navigation.is_offered, area), shown=partial(navigation.is_offered, area),
                checked=_is(lambda: navigation.area, area), hint=_AREA_HINTS.get(area, ""),
            )
            for area in AREAS
        ]  # fmt: skip
        themes = [
            Action(
                f"view.theme-{choice.value}", title, partial(colour, choice), checked=_is(lambda: look.choice, choice),
                group="&Theme", starts_part=choice is ThemeChoice.SYSTEM,
            )
            for choice, title in _THEMES.items()
        ]  # fmt: skip
        styles = [
            Action(
                f"view.numbers-{style.value}", title, partial(write_numbers, style),
                checked=_is(number_style, style), group="N&umbers",
            )
            for style, title in _STYLES.items()
        ]  # fmt: skip
        namings = [
            Action(
                f"view.names-{naming.value}", title, partial(call_things, naming),
                checked=_is(chosen_naming, naming), group="Na&mes or codes",
            )
            for naming, title in _NAMINGS.items()
        ]  # fmt: skip
        is_expert = lambda: look.is_expert  # noqa: E731 - asked each time
        depth = Action(
            "view.expert", "E&xpert: show everything",
            lambda: go_deeper(Depth.COMMITTEE if look.is_expert else Depth.EXPERT), "Ctrl+Shift+D",
            checked=is_expert, starts_part=True,
        )  # fmt: skip
        larger, smaller = partial(scale, _SCALE_STEP), partial(scale, -_SCALE_STEP)
        inspect = lambda: window.show_inspector(shown=not window.shows_inspector)  # noqa: E731 - as the next one
        list_issues = lambda: window.show_issues(shown=window.issues.isHidden())  # noqa: E731 - one line of the table
        inspects, lists = lambda: window.shows_inspector, partial(settings.read, ISSUES)
        check = "phexplore check {this}"
        return [
            *(*areas, *themes, *styles, *namings, depth),
            Action("view.larger", "&Larger text", larger, "Ctrl++", lambda: look.scale < LARGEST_SCALE),
            Action("view.smaller", "&Smaller text", smaller, "Ctrl+-", lambda: look.scale > SMALLEST_SCALE),
            Action("view.normal", "&Normal text", partial(scale, 0), "Ctrl+0"),
            Action("view.inspector", "&Inspector", inspect, "F4", checked=inspects, starts_part=True),
            Action("view.issues", "Iss&ues", list_issues, "F8", checked=lists, hint=check),
        ]

    def _help(self) -> list[Action]:
        find = "&Find a command or a parameter…"
        return [
            Action("help.palette", find, self.show_palette, "Ctrl+Shift+P", symbol="search"),
            Action("help.manual", "&Manual", self.manual.show_here, KEY, hint="phexplore --help"),
            Action("help.glossary", "&Glossary", partial(_show_glossary, self._parent), "Shift+F1"),
            Action("help.log", "&Log of actions", self.show_log),
            Action("help.tour", "&Tour of the window", self.take_tour),
            Action("help.about", "&About phexplore", partial(_show_about, self._parent)),
        ]

    # What they do

    def _is_table(self) -> bool:
        return self._window.navigation.area is Area.BUDGETS and self._window.room.has_table

    def _on_table(self, act: Callable[[TableView], object]) -> Callable[[], object]:
        def run() -> None:
            if (view := self._window.room.table) is not None:
                act(view)

        return run

    def _subject(self) -> Subject:
        session = self._window.session
        book = session.shown.workbook
        return Subject(session.project.path, book.active, book.comparison, tuple(book.names))


def _folder(path: Path) -> str:
    """Return the folder of a file, from the home directory on where it lies there."""
    folder, home = path.parent, Path.home()
    return f"~/{folder.relative_to(home)}".removesuffix("/.") if folder.is_relative_to(home) else str(folder)


def _is(read: Callable[[], object], value: object) -> Callable[[], bool]:
    return lambda: read() is value


def _choose_preset(parent: QWidget, files: ProjectFiles) -> None:
    from phexplore.gui.dialogs.preset_dialog import PresetDialog

    PresetDialog(parent, files.new).open()


def _close_project(files: ProjectFiles) -> None:
    """Go back to what the program starts with."""
    from phexplore.gui.main.project_files import DEMONSTRATION
    from phexplore.systems.registry import preset

    files.new(preset(DEMONSTRATION))


def _show_glossary(parent: QWidget) -> None:
    from phexplore.gui.dialogs.help import GlossaryDialog

    GlossaryDialog(parent).open()


def _show_about(parent: QWidget) -> None:
    from phexplore.gui.dialogs.help import show_about

    show_about(parent)
