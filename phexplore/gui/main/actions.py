"""Everything the window can do, in one table: menus, buttons and shortcuts are made from it."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from phexplore.gui.binding.room import Action, Offer, always
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon

MOST_DONE = 2000
"""So many actions and edits are kept in the log of a window."""


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was done.

    Attributes:
        at: when, UTC.
        words: what.
        hint: the command line that does the same, "" for none.
    """

    at: datetime
    words: str
    hint: str = ""


UNSAVED = "PROJECT.phx"
"""Stands for a project that has no file yet."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What the window works on.

    Attributes:
        project: its file, None before it is saved.
        scenario: name of the active one.
        reference: a preset id or the name of another scenario it is compared with, "" for nothing.
        scenarios: names of all in the project.
    """

    project: Path | None
    scenario: str
    reference: str
    scenarios: tuple[str, ...]

    def hint(self, action: Action) -> str:
        """Return the command line that does the same, "" where there is none: taste, undo and places of the window."""
        other = self._named(self.reference) if self.reference else "OTHER.phx"
        return action.hint.format(this=self._named(self.scenario), other=other)

    def _named(self, scenario: str) -> str:
        """Return a scenario of the project, or a preset, as a command takes it."""
        if scenario not in self.scenarios:
            return shlex.quote(scenario)
        file = str(self.project) if self.project is not None else UNSAVED
        return shlex.quote(file if len(self.scenarios) == 1 else f"{file}#{scenario}")


class ActionTable(QObject):
    """Makes Qt's actions from the table and keeps them up to date."""

    def __init__(self, actions: Iterable[Action], subject: Callable[[], Subject], parent: QObject) -> None:
        """Make them.

        Args:
            actions: in the order of the menus.
            subject: what the window works on now.
            parent: owner.
        """
        super().__init__(parent)
        self._subject = subject
        self.entries: dict[str, Action] = {action.id: action for action in actions}
        self.done: deque[Done] = deque(maxlen=MOST_DONE)
        self._stated: dict[str, tuple[bool, bool]] = {}
        self._made = {action_id: self._make(action) for action_id, action in self.entries.items()}
        self._moving = [(action, self._made[action.id]) for action in self.entries.values() if not action.is_constant]
        appearance().changed.connect(self._restyle)
        self._restyle()

    def __getitem__(self, action_id: str) -> QAction:
        """Return Qt's action of an id."""
        return self._made[action_id]

    def log(self, words: str, hint: str = "") -> None:
        """Note that something was done."""
        self.done.append(Done(datetime.now(UTC), words, hint))

    def refresh(self) -> None:
        """Enable, disable and tick everything as it stands now."""
        for action, made in self._moving:
            now = action.enabled is always or action.enabled(), action.shown is always or action.shown()
            if now != self._stated.get(action.id):  # an edit changes none of a hundred
                self._stated[action.id] = now
                made.setEnabled(now[0])
                made.setVisible(now[1])
            if action.checked is not None:
                made.setChecked(action.checked())

    def restate(self, stated: Mapping[str, tuple[str, str]]) -> None:
        """Give actions another text and other keys, "" for none."""
        for action_id in stated:
            self._made[action_id].setShortcut(QKeySequence())  # two actions must not hold the same keys meanwhile
        for action_id, (text, shortcut) in stated.items():
            self.entries[action_id] = replace(self.entries[action_id], text=text, shortcut=shortcut)
            self._made[action_id].setText(text)
            self._made[action_id].setShortcut(QKeySequence(shortcut))

    def fill(self, bar: QMenuBar, titles: Mapping[str, str], extra: Mapping[str, QMenu]) -> None:
        """Fill the menu bar.

        Args:
            bar: the menu bar.
            titles: of the menus, by the first part of the ids.
            extra: menus made elsewhere, by the id of the action they stand after.
        """
        for prefix, title in titles.items():
            menu = bar.addMenu(title)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self.refresh)
            submenus: dict[str, QMenu] = {}
            for action in self.entries.values():
                if action.id.partition(".")[0] != prefix:
                    continue
                if action.starts_part:
                    menu.addSeparator()
                if action.group and action.group not in submenus:
                    submenus[action.group] = menu.addMenu(action.group)
                submenus.get(action.group, menu).addAction(self._made[action.id])
                if action.id in extra:
                    menu.addMenu(extra[action.id])

    def offers(self, titles: Mapping[str, str]) -> list[Offer]:
        """Return what can be done now, named by menu and text.

        Args:
            titles: of the menus, by the first part of the ids.
        """
        found, subject = [], self._subject()
        for action in self.entries.values():
            if action.shown() and action.enabled():
                parts = (titles[action.id.partition(".")[0]], action.group, action.text)
                words = ": ".join(part.replace("&", "").removesuffix("…") for part in parts if part)
                found.append(Offer(words, action.shortcut, self._made[action.id].trigger, subject.hint(action)))
        return found

    def _make(self, action: Action) -> QAction:
        made = QAction(action.text, self)
        made.setObjectName(action.id)
        if action.shortcut:
            made.setShortcuts([QKeySequence(keys) for keys in (action.shortcut, action.also) if keys])
        if action.is_local:
            made.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        made.setCheckable(action.checked is not None)
        made.triggered.connect(lambda: self._run(action))
        return made

    def _run(self, action: Action) -> None:
        if action.enabled():
            self.log(action.words, self._subject().hint(action))
            action.run()
        self.refresh()

    def _restyle(self) -> None:
        for action_id, action in self.entries.items():
            if action.symbol:
                self._made[action_id].setIcon(icon(action.symbol, appearance().colours))


def edit_logger(session: Session, log: Callable[[str], object]) -> Callable[[object], None]:
    """Return what notes the step that the project stands on after an update, once per step.

    Args:
        session: the open project.
        log: takes the name of a step.
    """

    def step() -> tuple[int, str]:
        project = session.project
        return project.cursor, project.labels[project.cursor]

    logged = step()

    def note(_shown: object) -> None:
        nonlocal logged
        before, logged = logged, step()
        if logged != before:
            log(logged[1] if logged[0] > before[0] else f"Back to: {logged[1]}")

    return note
