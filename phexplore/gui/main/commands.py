"""The table of everything the window can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from phexplore.gui.binding.actions import Action
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Room, TableView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import FOLDER
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.main.actions import ActionTable
from phexplore.gui.main.command_hints import Subject, hint_of
from phexplore.gui.main.exporting import ExportFormat, Exports, export_formats
from phexplore.gui.main.project_files import ProjectFiles
from phexplore.gui.main.shared_areas import SharedAreas
from phexplore.gui.main.view_commands import ViewCommands, ViewedWindow
from phexplore.systems.registry import system_of

MENUS: Mapping[str, str] = {
    "file": "&File", "edit": "&Edit", "run": "&Run", "decide": "&Decide", "view": "&View", "help": "&Help",
}  # fmt: skip


class CommandedWindow(ViewedWindow, Protocol):
    """What the actions need of the window."""

    session: Session
    files: ProjectFiles
    exports: Exports

    @property
    def room(self) -> Room: ...

    rooms: Mapping[str, Room]
    areas: SharedAreas

    def close(self) -> bool: ...
    def export(self, form: ExportFormat, path: Path) -> None: ...
    def show_palette(self) -> None: ...
    def show_log(self) -> None: ...
    def take_tour(self) -> None: ...


class Commands:
    """Builds the table for a window.

    Args:
        window: what the actions act on.
        parent: the same window as a widget, owner of menus and dialogs.
    """

    def __init__(self, window: CommandedWindow, parent: QWidget) -> None:
        self._window = window
        self._parent = parent
        self.recent = QMenu("Open &recent", parent)
        self.recent.setToolTipsVisible(True)
        self._formats = export_formats()
        self.menus: Mapping[str, QMenu] = {"file.open": self.recent}
        self.refresh_recent()

    def table(self) -> list[Action]:
        """Return all actions, in the order of the menus."""
        actions = [
            *self._file(),
            *self._edit(),
            *self._run(),
            *self._decide(),
            *ViewCommands(self._window).table(),
            *self._help(),
        ]
        for room in self._window.rooms.values():
            for before, action in room.actions():
                actions.insert(1 + [each.id for each in actions].index(before), action)
        return [replace(action, hint=self._hinter(action.id)) for action in actions]

    def export_menu(self, actions: ActionTable) -> QMenu:
        """Return a menu of the exports for the header."""
        menu = QMenu(self._parent)
        for form in self._formats:
            menu.addAction(actions[f"file.export-{form.id}"])
        menu.aboutToShow.connect(actions.refresh)
        return menu

    def refresh_recent(self) -> None:
        """List the files opened lately."""
        self.recent.clear()
        files = self._window.settings.recent_files()
        for path in files:
            action = self.recent.addAction(path.name)
            action.setToolTip(str(path))
            action.triggered.connect(lambda _checked, file=path: self._window.files.open(file))
        self.recent.setEnabled(bool(files))

    def _file(self) -> list[Action]:
        window, files = self._window, self._window.files
        exports = [
            Action(
                f"file.export-{form.id}",
                f"{form.title}…",
                self._exporter(form),
                shortcut="Ctrl+E" if number == 0 else "",
                enabled=lambda: not window.exports.is_busy,
                shown=self._exportable(form),
                group="&Export",
            )
            for number, form in enumerate(self._formats)
        ]
        return [
            Action("file.new", "&New from preset…", self._new, "Ctrl+N", symbol="plus"),
            Action("file.open", "&Open…", files.choose_to_open, "Ctrl+O", symbol="open"),
            Action("file.save", "&Save", files.save, "Ctrl+S", enabled=self._is_dirty, symbol="save", starts_part=True),
            Action("file.save-as", "Save &as…", files.choose_to_save, "Ctrl+Shift+S"),
            Action(
                "file.import",
                "&Import parameters…",
                files.choose_to_import,
                "Ctrl+I",
                symbol="import",
                starts_part=True,
            ),
            *exports,
            Action("file.quit", "&Quit", window.close, "Ctrl+Q", starts_part=True),
        ]

    def _edit(self) -> list[Action]:
        session = self._window.session
        view = self._table
        return [
            Action(
                "edit.undo", "&Undo", session.undo, "Ctrl+Z", enabled=lambda: session.project.can_undo, symbol="undo"
            ),
            Action(
                "edit.redo",
                "&Redo",
                session.redo,
                "Ctrl+Shift+Z",
                also="Ctrl+Y",
                enabled=lambda: session.project.can_redo,
                symbol="redo",
            ),
            Action(
                "edit.copy",
                "&Copy",
                view(lambda t: t.copy()),
                "Ctrl+C",
                self._is_table,
                is_local=True,
                starts_part=True,
            ),
            Action(
                "edit.copy-headers",
                "Copy with &headers",
                view(lambda t: t.copy(headers=True)),
                "Ctrl+Shift+C",
                self._is_table,
            ),
            Action("edit.paste", "&Paste", view(lambda t: t.paste()), "Ctrl+V", self._is_table, is_local=True),
            Action("edit.fill-down", "&Fill down", view(lambda t: t.fill_down()), "Ctrl+D", self._is_table),
        ]

    def _run(self) -> list[Action]:
        return [
            Action("run.new", "&New run…", lambda: self._window.navigation.choose(Area.RUNS), "Ctrl+R", symbol="run")
        ]

    def _decide(self) -> list[Action]:
        show = self._window.areas.show_decision
        return [
            Action("decide.compare", "&Compare scenarios and runs", lambda: show(DecisionTab.COMPARE), "Ctrl+K"),
            Action("decide.committee", "C&ommittee: members' proposals", lambda: show(DecisionTab.COMMITTEE), "Ctrl+J"),
            Action("decide.meeting", "Start the &meeting", self._window.areas.start_meeting, "F11", symbol="run"),
            Action("decide.meeting-sliders", "Choose the meeting's &sliders…", lambda: show(DecisionTab.MEETING)),
            Action(
                "decide.approve",
                "&Approve…",
                lambda: show(DecisionTab.APPROVE),
                "Ctrl+Shift+A",
                symbol="tick",
                starts_part=True,
            ),
            Action("decide.bundle", "Write or check a &bundle…", lambda: show(DecisionTab.BUNDLE), "Ctrl+B"),
        ]

    def _help(self) -> list[Action]:
        return [
            Action(
                "help.palette",
                "&Find a command or a parameter…",
                self._window.show_palette,
                "Ctrl+Shift+P",
                symbol="search",
            ),
            Action("help.glossary", "&Glossary", self._show_glossary, "F1"),
            Action("help.log", "&Log of actions", self._window.show_log),
            Action("help.tour", "&Tour of the window", self._window.take_tour),
            Action("help.about", "&About phexplore", self._show_about),
        ]

    def _show_glossary(self) -> None:
        from phexplore.gui.dialogs.glossary import GlossaryDialog

        GlossaryDialog(self._parent).open()

    def _show_about(self) -> None:
        from phexplore.gui.dialogs.about import show_about

        show_about(self._parent)

    def _new(self) -> None:
        from phexplore.gui.dialogs.preset_dialog import PresetDialog

        PresetDialog(self._parent, self._window.files.new).open()

    def _is_dirty(self) -> bool:
        return not self._window.session.project.is_clean

    def _is_table(self) -> bool:
        return self._window.navigation.area is Area.BUDGETS and self._window.room.has_table

    def _table(self, act: Callable[[TableView], object]) -> Callable[[], object]:
        def run() -> None:
            if (view := self._window.room.table) is not None:
                act(view)

        return run

    def _hinter(self, action_id: str) -> Callable[[], str]:
        def hint() -> str:
            session = self._window.session
            book = session.shown.workbook
            return hint_of(action_id, Subject(session.project.path, book.active, book.comparison, tuple(book.names)))

        return hint

    def _exportable(self, form: ExportFormat) -> Callable[[], bool]:
        window = self._window
        return lambda: system_of(window.session.scenario).id in form.formats

    def _exporter(self, form: ExportFormat) -> Callable[[], object]:
        def choose() -> None:
            window = self._window
            path = window.session.project.path
            folder = path.parent if path is not None else Path(window.settings.read(FOLDER))
            dialog = QFileDialog(
                self._parent, form.title, str(folder / form.file_name), f"{form.title} (*{form.suffix})"
            )
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(form.suffix[1:])
            dialog.selectFile(form.file_name)
            dialog.fileSelected.connect(lambda name: window.export(form, Path(name)))
            dialog.open()

        return choose
