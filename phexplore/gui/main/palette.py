"""Everything the window can do, found by typing: the actions of the one table, and every row of the budget table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from phexplore.gui.binding.actions import Action, Offer
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.labels import Text

_MOVES = frozenset({Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown})


def offers_of(actions: Sequence[Action], titles: dict[str, str], trigger: Callable[[str], object]) -> list[Offer]:
    """Return what can be done now, named by menu and text.

    Args:
        actions: the table.
        titles: of the menus, by the first part of the ids.
        trigger: does the action of an id.
    """
    found = []
    for action in actions:
        if not action.enabled():
            continue
        parts = (titles[action.id.partition(".")[0]], action.group, action.text)
        words = ": ".join(part.replace("&", "").removesuffix("…") for part in parts if part)
        found.append(Offer(words, action.shortcut, partial(trigger, action.id), action.hint()))
    return found


def matching(offers: Sequence[Offer], typed: str) -> list[Offer]:
    """Return the offers in which every typed word occurs; those with a word that starts like the first come first."""
    wanted = typed.lower().split()
    found = [offer for offer in offers if all(word in offer.words.lower() for word in wanted)]
    if not wanted:
        return found
    return sorted(found, key=lambda offer: not any(w.startswith(wanted[0]) for w in _words(offer)))


def _words(offer: Offer) -> list[str]:
    return offer.words.lower().replace("(", " ").replace(":", " ").split()


class Palette(QDialog):
    """A field and a list: type, go up and down, press Enter."""

    def __init__(self, parent: QWidget, offers: Sequence[Offer]) -> None:
        super().__init__(parent)
        self._offers = tuple(offers)
        self._shown: list[Offer] = []
        self.setWindowTitle("Find a command or a parameter")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(72 * GRID, 48 * GRID)
        self.search = QLineEdit()
        self.search.setAccessibleName("What to do, or the row to go to")
        self.search.setPlaceholderText("Type what to do, or a row such as PH3 state")
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._take)
        self.search.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands and parameters that match")
        self.list.itemClicked.connect(self._take)
        self.list.currentRowChanged.connect(self._show_hint)
        self._hint = Text(look="muted", wrap=True)
        self._hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._none = Text("Nothing matches. Try fewer or other words.", look="muted")
        column = QVBoxLayout(self)
        for widget in (self.search, self.list, self._hint, self._none):
            column.addWidget(widget)
        self._fill()
        self.search.setFocus()

    @property
    def shown(self) -> tuple[str, ...]:
        """What is listed."""
        return tuple(offer.words for offer in self._shown)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys of the field move in the list."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            self.list.event(event)
            return True
        return False

    def _fill(self, _typed: str = "") -> None:
        self._shown = matching(self._offers, self.search.text())
        self.list.clear()
        for offer in self._shown:
            item = QListWidgetItem(f"{offer.words}    {offer.keys}" if offer.keys else offer.words)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, offer.words)
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
