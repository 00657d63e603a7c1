"""The button that chooses which runs are compared with the one looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from phexplore.gui.systems.topdown.compare_reader import MOST_RUNS
from phexplore.gui.widgets.buttons import TextButton


class OtherRuns(TextButton):
    """Opens a menu of runs with a tick each.

    Signals:
        changed: other runs were chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Compare with…", name="Runs to compare with")
        self.setParent(parent)
        self._entries: list[tuple[str, Path]] = []
        self._menu = QMenu(self)
        self._menu.setAccessibleName("Runs to compare with")
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)

    @property
    def chosen(self) -> tuple[Path, ...]:
        """The runs with a tick."""
        return tuple(action.data() for action in self._menu.actions() if action.isChecked())

    def offer(self, entries: Sequence[tuple[str, Path]]) -> None:
        """Offer these runs; ticks stay where they can."""
        if list(entries) == self._entries:
            return
        held = set(self.chosen)
        self._entries = list(entries)
        self._menu.clear()
        for words, directory in entries:
            action = QAction(words, self._menu)
            action.setData(directory)
            action.setCheckable(True)
            action.setChecked(directory in held)
            action.toggled.connect(self._on_toggled)
            self._menu.addAction(action)
        self._say()

    def show_chosen(self, directories: Sequence[Path]) -> None:
        """Tick exactly these runs, without telling anybody."""
        for action in self._menu.actions():
            blocked = action.blockSignals(True)
            action.setChecked(action.data() in directories)
            action.blockSignals(blocked)
        self._say()

    def choose_first(self, shown: Path | None) -> None:
        """Tick the newest run that is not the one shown, without telling anybody."""
        self.show_chosen([directory for _words, directory in self._entries if directory != shown][:1])

    def _on_toggled(self, _checked: bool) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        count = len(self.chosen)
        self.setText(f"Compare with {count}…" if count else "Compare with…")
        full = count >= MOST_RUNS - 1  # the run looked at is one of them
        for action in self._menu.actions():
            action.setEnabled(action.isChecked() or not full)
