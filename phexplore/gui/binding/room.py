"""What the window asks of a system: one object per system and window, with answers that suit any system."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine, change_lines
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import Settings
from phexplore.gui.binding.system_session import SystemSession, plain_session
from phexplore.gui.binding.tiles import DecisionPart
from phexplore.model.issues import Issue
from phexplore.systems.protocol import System


def always() -> bool:
    """Return that it can be done."""
    return True


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the window can do.

    Attributes:
        id: short name; the part before the dot is the menu it is in.
        text: in menus.
        run: does it.
        shortcut: keys, "" for none.
        enabled: whether it can be done now.
        checked: whether it is ticked now; None for actions that are not a choice.
        symbol: its picture, "" for none.
        group: submenu it is in, "" for the menu itself.
        also: further keys for people who know them from elsewhere; the menu shows the first.
        is_local: its keys are handled by the widget with the focus; the menu only shows them.
        starts_part: a line is drawn above it.
        shown: whether it is listed at all.
        hint: the command line that does the same, with {this} and {other} for the scenarios; "" for none.
    """

    id: str
    text: str
    run: Callable[[], object]
    shortcut: str = ""
    enabled: Callable[[], bool] = always
    checked: Callable[[], bool] | None = None
    symbol: str = ""
    group: str = ""
    also: str = ""
    is_local: bool = False
    starts_part: bool = False
    shown: Callable[[], bool] = always
    hint: str = ""

    @property
    def is_constant(self) -> bool:
        """Whether it can always be done, and is no choice."""
        return self.enabled is always and self.shown is always and self.checked is None

    @property
    def words(self) -> str:
        """Its text as it is read and spoken."""
        return self.text.replace("&", "").removesuffix("…")


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the palette.

    Attributes:
        words: what is read and searched.
        keys: its shortcut, "" for none.
        run: does it.
        hint: the command line that does the same, "" for none.
    """

    words: str
    keys: str
    run: Callable[[], object]
    hint: str = ""


Make = Callable[[], QWidget]
MakePicture = Callable[[], Any]
"""Makes a picture that follows the parameters: a widget with ``refresh``."""


class TableView(Protocol):
    """A table that copying and pasting act on."""

    def copy(self, *, headers: bool = False) -> None:
        """Copy the selected cells."""

    def paste(self) -> bool:
        """Paste into the selected cells."""

    def fill_down(self) -> bool:
        """Repeat the first selected row."""


class News(QObject):
    """What the parts of a window tell it.

    Signals:
        wanted: the `Area` to go to.
        failed: a `PhexploreError`.
        mended: a `PhexploreError` that was told and whose cause is gone.
        noted: a sentence about what was done.
        warned: a sentence that deserves attention.
        said: a sentence worth a short message.
        written: the `Path` of a file.
        completed: the `RunRow` of a run that is complete.
        last_run: `TileContent` of the active scenario's last run with trials, None when there is none.
    """

    wanted = Signal(object)
    failed = Signal(object)
    mended = Signal(object)
    noted = Signal(object)
    warned = Signal(object)
    said = Signal(object)
    written = Signal(object)
    completed = Signal(object)
    last_run = Signal(object)


@dataclass(frozen=True)
class Surroundings:
    """What a room may use of its window.

    Attributes:
        session: the open project.
        settings: what the window remembers.
        data: of the project.
        experiments: folder of what experiments found.
        runs: the controller of the project's runs, made on first use.
        room: of the active scenario's system.
        area: the area that is shown.
        news: what is told to the window.
        window: owner of dialogs.
    """

    session: Session
    settings: Settings
    data: ProjectData
    experiments: Path
    runs: Callable[[], Any]
    room: Callable[[], Any]
    area: Callable[[], Area]
    news: News
    window: QWidget


class Room(QObject):
    """One system in the window. Pages are made when they are first looked at; areas without one of its own are shared by all."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.LEVELS, Area.SPINE, Area.EXPERIMENT})
    """Areas that say nothing about this system."""
    for_experts: ClassVar[frozenset[Area]] = frozenset()
    """Areas that a committee is not led to."""
    titles: ClassVar[Mapping[Area, str]] = MappingProxyType({Area.BUDGETS: "Parameters"})
    """What areas are called, where it differs."""
    inspected: ClassVar[frozenset[Area]] = frozenset({Area.BUDGETS})
    """Areas whose rows the inspector explains; the overview joins them when there is room."""
    has_table: ClassVar[bool] = False
    """Whether the area of budgets is a table that copying and pasting act on."""

    libraries: ClassVar[tuple[str, ...]] = ()
    """Modules without Qt that are loaded once the window is on screen."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Modules with Qt that are loaded once the window is on screen, each after what it needs."""

    def __init__(self, system: System, around: Surroundings) -> None:
        """Furnish a system.

        Args:
            system: whose scenarios are shown.
            around: what the window offers.
        """
        super().__init__(around.window)
        self.system, self.around = system, around
        self.wanted: SignalInstance = around.news.wanted
        self.failed: SignalInstance = around.news.failed
        self.session: SystemSession[Any] = self.make_session()
        self.inspector: QWidget | None = None

    def make_session(self) -> SystemSession[Any]:
        """Return the session of this system's pages."""
        return plain_session(self.around.session, self.system, self)

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {}

    @abstractmethod
    def tiles(self) -> tuple[TileContent, ...]:
        """Return the three figures of the headline that the parameters give."""

    @abstractmethod
    def make_inspector(self) -> QWidget:
        """Return what explains the selection beside the page."""

    def show_inspector(self) -> QWidget:
        """Return the inspector, made when it is first looked at."""
        if self.inspector is None:
            self.inspector = self.make_inspector()
        return self.inspector

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the place of an issue."""
        self.wanted.emit(Area.SCENARIO if issue.path[:1] == ("conventions",) else Area.BUDGETS)

    def show_place(self, key: Any) -> None:
        """Go to a part of the parameters."""
        self.session.select(key)
        self.wanted.emit(Area.BUDGETS)

    def title_of(self, key: Any) -> str:
        """Return the title of a part of the parameters."""
        return str(key)

    def offers(self) -> list[Offer]:
        """Return the places the palette leads to, beside the actions."""
        return []

    def questions(self) -> Mapping[str, Make]:
        """Return the makers of its own tabs in the area of targets, by title."""
        return {}

    def pictures(self) -> Mapping[str, MakePicture]:
        """Return the makers of the pictures a meeting can look at, by title."""
        return {}

    def changes(self) -> tuple[ChangeLine, ...]:
        """Return every difference to the reference; empty without one."""
        return change_lines(self.session.shown)

    def decision_part(self) -> DecisionPart:
        """Return what is to be known of the parameters before a decision."""
        return DecisionPart(self.tiles()[0], tuple(line.text for line in self.changes()))

    def actions(self) -> list[tuple[str, Action]]:
        """Return actions of its own, each with the id of the action it stands behind in the menu."""
        return []

    def join_results(self, page: Any) -> None:
        """Join the page of results, when it is first looked at, to what else is chosen in the window.

        Args:
            page: takes choices by ``choose`` and tells them by ``chosen``.
        """

    @property
    def table(self) -> TableView | None:
        """The table that copying and pasting act on, made on first use; None where there is none."""
        return None

    def stop(self) -> None:
        """End what works beside the window, because it closes."""
