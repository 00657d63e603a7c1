"""A headline figure, read from six metres away: caption, figure, what it is, and what changed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import ElidedText, Figure, Paragraph, describe
from phexplore.gui.widgets.layout import column, row

_STEP, UNBOUND = 6 * GRID, 16777215


class TileLine(ElidedText):
    """The same figure in one line of text, for pages whose pictures need the room; the tool tip has all of it.

    It is as wide as its words, in steps, so that a figure that changes seldom moves those beside it; see `fit_lines`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.says_all = False
        """Whether it says all that a tile does."""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        needed = Figure.sizeHint(self)
        return QSize(-(-needed.width() // _STEP) * _STEP, needed.height())

    def minimumSizeHint(self) -> QSize:
        return ElidedText.sizeHint(self)

    def show_content(self, content: TileContent) -> None:
        """Show a figure."""
        said = content.tone in {Tone.ATTENTION, Tone.REFUSED} and content.change
        self.setText(tile_sentence(content) if said or self.says_all else tile_words(content))
        self.set_look(content.tone.value if said else "")
        describe(self, more=". ".join(filter(None, (content.change, content.exact))))


def fit_lines(lines: Sequence[TileLine], room: int) -> None:
    """Let lines beside each other be no wider than fits: first without the room kept for changes, then the widest gives.

    Args:
        lines: from left to right.
        room: for all of them, in pixels, without the gaps between them.
    """
    needs = [Figure.sizeHint(line).width() for line in lines]
    widest, left = max(needs), room
    for count, need in zip(range(len(needs), 0, -1), sorted(needs), strict=True):
        if need * count > left:
            widest = left // count
            break
        left -= need
    is_tight = sum(line.sizeHint().width() for line in lines) > room
    for line, need in zip(lines, needs, strict=True):
        line.setMaximumWidth(max(min(need, widest), 1) if is_tight else UNBOUND)


def tile_words(content: TileContent) -> str:
    """Return caption and figure in one line."""
    beside = content.beside
    is_second = any(map(str.isdigit, beside)) and beside[:1].isalnum() and not beside.startswith("of ")
    return f"{content.caption}: {content.value}{',' * is_second} {beside}".strip()


def tile_sentence(content: TileContent) -> str:
    """Return all that a tile says in one line."""
    return f"{tile_words(content)} ({content.change})" if content.change else tile_words(content)


class Tile(QFrame):
    """Shows one figure large. The texts come ready; a tile decides nothing."""

    def __init__(self, parent: QWidget | None = None, *, wraps: bool = False) -> None:
        """Show nothing yet.

        Args:
            parent: owner.
            wraps: whether what changed has two lines, where nobody points at it for the rest.
        """
        super().__init__(parent)
        self.setProperty("look", "card")
        self._caption = ElidedText(look="muted", relative=0.92)
        self._value = Figure(relative=2.0, bold=True)
        self._beside = ElidedText(look="muted")
        self._change = Paragraph(relative=0.92) if wraps else ElidedText(relative=0.92)
        if wraps:
            self._change.setMinimumHeight(2 * self._change.fontMetrics().lineSpacing())
        figures = row((self._value, Qt.AlignmentFlag.AlignBottom))
        figures.addWidget(self._beside, 1, Qt.AlignmentFlag.AlignBottom)
        margins = (2 * GRID, GRID + 2, 2 * GRID, GRID + 2)
        column(self._caption, figures, self._change, of=self, gap=HALF // 2, margins=margins)

    def show_content(self, content: TileContent) -> None:
        """Show a figure."""
        self._caption.setText(content.caption)
        self._value.setText(content.value)
        self._beside.setText(content.beside)
        self._change.setText(content.change)
        self._change.set_look("muted" if content.tone is Tone.NEUTRAL else content.tone.value)
        describe(self, name=f"{tile_words(content)}. {content.change}".strip(), more=content.exact)
