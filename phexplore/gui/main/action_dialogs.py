"""Everything the window can do, found by typing, and what was done, with the commands that do the same."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from phexplore.catalog.names import Naming, in_words
from phexplore.figures.table import Table
from phexplore.gui.binding.room import Offer
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.main.actions import Done
from phexplore.gui.main.python_log import PythonLog
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.list_field import ListField
from phexplore.gui.widgets.pointers import PAGE


def matching(offers: Sequence[Offer], typed: str) -> list[Offer]:
    """Return the offers in which every typed word occurs; those with a word that starts like the first come first."""
    wanted = typed.lower().split()
    found = [offer for offer in offers if all(word in _found_by(offer) for word in wanted)]
    if not wanted:
        return found
    return sorted(found, key=lambda offer: not any(w.startswith(wanted[0]) for w in _words(offer)))


def _found_by(offer: Offer) -> str:
    return f"{offer.words} {in_words(offer.words, Naming.NAMES)}".lower()


def _words(offer: Offer) -> list[str]:
    return _found_by(offer).replace("(", " ").replace(":", " ").split()


class Palette(QDialog):
    """A field and a list: type, go up and down, press Enter."""

    def __init__(self, parent: QWidget, offers: Sequence[Offer]) -> None:
        super().__init__(parent)
        self._offers = tuple(offers)
        self._shown: list[Offer] = []
        self.setWindowTitle("Find a command or a parameter")
        self.setProperty(PAGE, "docs/commands.md")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(72 * GRID, 48 * GRID)
        self.list = QListWidget()
        self.search = ListField("What to do, or the row to go to", "Type what to do, or a row such as PH3", self.list)
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._take)
        self.list.setAccessibleName("Commands and parameters that match")
        self.list.itemClicked.connect(self._take)
        self.list.currentRowChanged.connect(self._show_hint)
        self._hint = Text(look="muted", wrap=True)
        self._hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words = "Nothing that can be done now matches. Try fewer or other words; the menus show in grey what cannot be done now."
        self._none = Text(words, look="muted", wrap=True)
        column(self.search, (self.list, 1), self._hint, self._none, of=self, margins=(GRID, GRID, GRID, GRID))
        self._fill()
        self.search.setFocus()

    @property
    def shown(self) -> tuple[str, ...]:
        """What is listed."""
        return tuple(offer.words for offer in self._shown)

    def _fill(self, _typed: str = "") -> None:
        self._shown = matching(self._offers, self.search.text())
        self.list.clear()
        for offer in self._shown:
            item = QListWidgetItem(localised(f"{offer.words}    {offer.keys}" if offer.keys else offer.words))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, localised(offer.words))
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._none.setVisible(not self._shown)

    def _show_hint(self, row: int) -> None:
        hint = self._shown[row].hint if 0 <= row < len(self._shown) else ""
        self._hint.setText(f"On the command line: {hint}" if hint else "")

    def _take(self, _item: object = None) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._shown):
            chosen = self._shown[row]
            self.close()
            chosen.run()


HEADERS = ("Time (UTC)", "What was done", "On the command line")


def script_of(done: Sequence[Done]) -> str:
    """Return the commands among what was done, one line each, what has none as a comment."""
    return "".join(f"{each.hint}\n" if each.hint else f"# {each.words}\n" for each in done)


class ActionLogDialog(QDialog):
    """A table of actions and edits, newest last."""

    def __init__(self, parent: QWidget | None, done: Sequence[Done], python: PythonLog) -> None:
        """List what was done.

        Args:
            parent: owner.
            done: oldest first.
            python: the edits as Python.
        """
        super().__init__(parent)
        self.setWindowTitle("Log of actions")
        self.setProperty(PAGE, "docs/commands.md")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(112 * GRID, 64 * GRID)
        self.table = NumbersTable(self)
        self.table.setAccessibleName("What was done since the window was opened")
        self.table.set_numbers(
            Table(HEADERS, tuple((each.at.strftime("%H:%M:%S"), each.words, each.hint) for each in done))
        )
        script, self.python = script_of(done), python
        buttons = row(
            TextButton("Copy the table", run=self.table.copy_all),
            TextButton("Copy as a script", run=lambda: QGuiApplication.clipboard().setText(script)),
            TextButton("Copy as Python", name="Copy the edits of the scenario as Python", run=python.copy),
            TextButton("Save as notebook…", name="Save the edits of the scenario as a notebook", run=python.save),
            1,
            TextButton("Close", look="primary", run=self.close),
        )
        words = (
            "Edits are also in the history of the project, which is saved with it. This list ends with the window. As Python or as a "
            "notebook, the edits that led to the active scenario give the same fingerprint in a fresh interpreter."
        )
        about = Text(words, look="muted", wrap=True)
        column(about, (self.table, 1), buttons, of=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
