"""What stands where nothing is yet: what will be here, and the one action that fills it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, stacked

_WIDTH = 46 * GRID
_WIDEST = 54 * GRID
"""Of the sentence at large text sizes: the window must still fit a small screen."""


class EmptyPlace(QWidget):
    """A symbol, a sentence that teaches, and a button."""

    def __init__(
        self, symbol: str, title: str, sentence: str, *, action: str = "", run: Callable[[], object] | None = None
    ) -> None:
        """Make the place.

        Args:
            symbol: its picture.
            title: what will be here.
            sentence: what it is good for.
            action: text of the button, "" for none.
            run: what the button does.
        """
        super().__init__()
        self._symbol, self._run = symbol, run
        self._picture = QLabel()
        self._title = Text(title, relative=1.25, bold=True)
        self._sentence = Text(sentence, look="muted", wrap=True)
        parts: list[QWidget] = [self._picture, self._title, self._sentence]
        for label in (self._picture, self._title, self._sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = TextButton(action, look="primary", run=self._act) if action and run is not None else None
        if self.button is not None:
            parts.append(stacked(self.button, margins=(0, GRID, 0, 0)))
        column(2, *((part, Qt.AlignmentFlag.AlignHCenter) for part in parts), 3, of=self)
        appearance().changed.connect(self._restyle)
        self._restyle()

    def set_text(self, title: str, sentence: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._restyle()

    def _act(self) -> None:
        if self._run is not None:
            self._run()

    def _restyle(self) -> None:
        self._picture.setPixmap(pixmap(self._symbol, appearance().colours.ghost, 6 * GRID))
        # A centred label does not ask for the height its lines need; the width is fixed, so the height is known.
        width = min(_WIDTH * appearance().scale // 100, _WIDEST)
        self._sentence.setFixedSize(width, self._sentence.heightForWidth(width))
