"""The sheet between the form of a decision and the record: everything to know, confirmed by typing the scenario's name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from phexplore.figures.tile import Tone
from phexplore.gui.binding.tiles import SummaryEntry
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.ask_dialog import AskDialog
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import Part, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling

_LOOKS = {Tone.NEUTRAL: "", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}
_WIDTH, _HEIGHT = 88 * GRID, 80 * GRID


class DecisionSheet(AskDialog):
    """Asks once more. Closing it in any way but by its main button decides nothing.

    The main button stays disabled until the name is typed and every required field is filled, so neither a double click nor
    Return pressed twice can get through it.
    """

    def __init__(
        self,
        parent: QWidget,
        title: str,
        sentence: str,
        name: str,
        *,
        action: str,
        instead: str,
        entries: Sequence[SummaryEntry] = (),
        fields: Sequence[tuple[str, QLineEdit]] = (),
    ) -> None:
        """Make the sheet.

        Args:
            parent: window it lies on.
            title: the question.
            sentence: what will hold afterwards, and in whose name.
            name: of the scenario, to be typed.
            action: text of the button that does it.
            instead: text of the button that does nothing.
            entries: what there is to know.
            fields: captions and fields that must be filled.
        """
        super().__init__(parent, title, sentence, look="")
        self._name, self._required = name, tuple(field for _, field in fields)
        self.typed = LineField("Name of the scenario, to confirm", example="name of the scenario")
        self.action = TextButton(action, look="primary", run=self.accept)
        self.action.setDefault(True)
        self.action.setEnabled(False)
        self.instead = TextButton(instead, run=self.reject)
        parts: list[Part] = []
        if entries:
            place = scrolling("What is decided about", _summary(entries))
            place.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that keys scroll a long list of changes
            parts.append((place, 1))
        typed = (f"To confirm, type the name of the scenario: {name}", self.typed)
        for caption, field in (*fields, typed):
            parts.append(stacked(Paragraph(caption, look="muted"), field, gap=HALF))
            field.textChanged.connect(self._weigh)
        self.lay_out(*parts, *(() if entries else (1,)), buttons=(1, self.instead, self.action))
        room = parent.window().size()
        height = _HEIGHT if entries else self.sizeHint().height()
        self.resize(min(_WIDTH, room.width() - 4 * GRID), min(height, room.height() - 8 * GRID))

    def open_for(self, confirmed: Callable[[], object]) -> None:
        """Open and return at once; `confirmed` is called when the main button is pressed, and only then."""
        self.accepted.connect(confirmed)
        self.open()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        (*self._required, self.typed)[0].setFocus()

    def accept(self) -> None:
        if self.action.isEnabled():
            super().accept()

    def _weigh(self) -> None:
        is_filled = all(field.text().strip() for field in self._required)
        self.action.setEnabled(is_filled and _plain(self.typed.text()) == _plain(self._name))


def _plain(text: str) -> str:
    """Return a name as people compare it: whatever the capitals, spaces and ways to compose a letter."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def _summary(entries: Sequence[SummaryEntry]) -> QWidget:
    parts: list[Part] = []
    for entry in entries:
        parts.append(Text(entry.caption, bold=True, wrap=True))
        parts.append(stacked(Paragraph("\n".join(entry.lines), look=_LOOKS[entry.tone]), margins=(0, 0, 0, HALF)))
    return stacked(*parts, 1, gap=HALF, margins=(0, 0, GRID, 0))
