"""A headline figure, read from six metres away: caption, figure, what it is, and what changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import ElidedText, Figure, Paragraph, describe, stand_on_card, stand_on_page
from phexplore.gui.widgets.layout import column, row

_STEP, _UNBOUND = 6 * GRID, 16777215


class Saying(Enum):
    """How much of a figure a line says."""

    ALL = "all"
    NO_NOTE = "without what stands after a comma beside the figure, e.g. how it is rounded"
    FIGURE = "without a note and without what changed"


class TileLine(ElidedText):
    """The same figure in one line of text, for pages whose pictures need the room; the tool tip has all of it.

    It is as wide as its words, in steps, so that a figure that changes seldom moves those beside it; see `fit_lines`.
    """

    def __init__(self) -> None:
        super().__init__()
        stand_on_page(self)
        self.says_all = False
        """Whether it says all that a tile does."""
        self._whole = self._short = self._note = ""
        self._shown: tuple[TileContent, bool] | None = None
        self._says = Saying.ALL
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        needed = Figure.sizeHint(self)
        return QSize(-(-needed.width() // _STEP) * _STEP, needed.height())

    def minimumSizeHint(self) -> QSize:
        return ElidedText.sizeHint(self)

    def show_content(self, content: TileContent) -> None:
        """Show a figure."""
        if self._shown == (content, self.says_all):
            return
        self._shown = (content, self.says_all)
        said = content.tone in {Tone.ATTENTION, Tone.REFUSED} and content.change
        self._short = tile_words(content)
        self._whole = tile_sentence(content) if said or self.says_all else self._short
        self._note = "".join(content.beside.partition(", ")[1:])
        self.show_as(self._says)
        self.set_look(content.tone.value if said else "")
        note = self._note.removeprefix(", ")
        told = (note if note not in content.exact else "", content.change, content.exact)
        describe(self, more=". ".join(filter(None, told)))

    def show_as(self, how: Saying) -> None:
        """Say all of it, or leave some to the tool tip."""
        self._says = how
        self.setText(self._words(how))

    def width_saying(self, how: Saying) -> int:
        """Return the width of its words, in pixels."""
        return math.ceil(lettering().width(self._words(how))) + 2

    def _words(self, how: Saying) -> str:
        words = self._short if how is Saying.FIGURE else self._whole
        return words if how is Saying.ALL else words.replace(self._note, "", 1)


def fit_lines(lines: Sequence[TileLine], room: int, *, breaks: bool = False) -> None:
    """Let lines say what there is room for: a figure is never cut, notes and changes are left out as a whole.

    Notes go first, then what changed, the widest first. Where the figures alone are too wide for one row, the row breaks.

    Args:
        lines: from left to right.
        room: for all of them, in pixels, without the gaps between them.
        breaks: whether the row may break before anything is left out.
    """
    saying = dict.fromkeys(lines, Saying.ALL)
    widths = {line: line.width_saying(Saying.ALL) for line in lines}
    for how in (Saying.NO_NOTE, Saying.FIGURE) if sum(widths.values()) > room else ():
        narrower = {line: line.width_saying(how) for line in lines}
        for line in sorted(lines, key=lambda line: narrower[line] - widths[line]):
            if widths[line] > room or (not breaks and sum(widths.values()) > room):
                saying[line], widths[line] = how, narrower[line]
    for line, how in saying.items():
        line.show_as(how)
    is_tight = sum(line.sizeHint().width() for line in lines) > room
    for line, width in widths.items():
        # The room kept for changes goes first.
        line.setMaximumWidth(min(width, room) if is_tight and room > 0 else _UNBOUND)


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
        self._shown: TileContent | None = None
        self._caption = ElidedText(look="muted", relative=0.92)
        self._value = Figure(relative=2.0, bold=True)
        self._beside = ElidedText(look="muted")
        self._change = Paragraph(relative=0.92) if wraps else ElidedText(relative=0.92)
        stand_on_card(self._caption, self._value, self._beside, self._change)
        if wraps:
            self._change.setMinimumHeight(2 * self._change.fontMetrics().lineSpacing())
        figures = row((self._value, Qt.AlignmentFlag.AlignBottom))
        figures.addWidget(self._beside, 1, Qt.AlignmentFlag.AlignBottom)
        margins = (2 * GRID, GRID + 2, 2 * GRID, GRID + 2)
        # The figures of all tiles stand on one line, however many lines the changes below them have.
        column(self._caption, figures, self._change, *((1,) if wraps else ()), of=self, gap=HALF // 2, margins=margins)

    def show_content(self, content: TileContent) -> None:
        """Show a figure."""
        if content == self._shown:
            return
        self._shown = content
        self._caption.setText(content.caption)
        self._value.setText(content.value)
        self._beside.setText(content.beside)
        self._change.setText(content.change)
        self._change.set_look("muted" if content.tone is Tone.NEUTRAL else content.tone.value)
        describe(self, name=f"{tile_words(content)}. {content.change}".strip(), more=content.exact)
