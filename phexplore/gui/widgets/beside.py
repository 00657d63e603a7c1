"""Parts of a page beside each other, or below each other where the text leaves no room for that: nothing scrolls sideways."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.layout import split
from phexplore.gui.widgets.reading_order import put_in_order

_LEAST = 34 * GRID
"""Width of a part at normal text size below which lines hold too few words; more where its content needs more."""
_NEARLY_ALL = 0.9
"""Share of the room that a part below another one has: the next one shows that there is more."""


class Beside(QScrollArea):
    """Parts with lines between them that the user moves. Below each other they have the height they need, and the page scrolls."""

    def __init__(
        self,
        name: str,
        *parts: QWidget,
        shares: Sequence[int],
        sizes: Sequence[int] = (),
        handle: int = 1,
        most: float = 0.0,
        is_last_on_top: bool = False,
    ) -> None:
        """Put parts beside each other.

        Args:
            name: of the place, for people who do not see it.
            parts: from left to right.
            shares: of further room, one per part.
            sizes: of the parts in pixels, where nobody has moved a line.
            handle: width of the lines.
            most: share of the room that a form takes, beyond its least width, so that its entries are whole.
            is_last_on_top: whether the last part, what a page is looked at for, is the first of parts below each other.
        """
        super().__init__()
        self._parts, self._shares, self._is_last_on_top = parts, shares, is_last_on_top
        self._sizes = list(sizes) or [GRID * share for share in shares]
        self._heights: list[int] = []
        self._most = most
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.splitter = split(*parts, shares=shares, sizes=sizes)
        self.splitter.setHandleWidth(handle)
        self.splitter.splitterMoved.connect(self._keep)
        self.setWidget(self.splitter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._turn()  # larger text, or another content, needs more room
        return super().eventFilter(watched, event)

    @property
    def is_stacked(self) -> bool:
        """Whether the parts are below each other."""
        return self.splitter.orientation() is Qt.Orientation.Vertical

    def _place(self, part: tuple[QWidget, int]) -> int:
        return self.splitter.indexOf(part[0])

    def _keep(self) -> None:
        """Remember how the user divides the room."""
        if not self.is_stacked:
            self._sizes = self.splitter.sizes()

    def _turn(self) -> None:
        """Put the parts beside each other if each has the width it needs then."""
        needs = [_needed_width(part) for part in self._parts]
        between = self.splitter.handleWidth() * (len(needs) - 1)
        room = self.width() - self.verticalScrollBar().sizeHint().width() - between
        is_stacked = sum(needs) > room
        needs = [
            max(need, min(_wanted_width(part), int(self._most * room), need + room - sum(needs)))
            for part, need in zip(self._parts, needs, strict=True)
        ]
        for part, need in zip(self._parts, needs, strict=True):
            part.setMinimumWidth(0 if is_stacked else need)
        if is_stacked != self.is_stacked and self._is_last_on_top:
            self.splitter.insertWidget(0 if is_stacked else len(self._parts) - 1, self._parts[-1])
            put_in_order(self)
        self.splitter.setOrientation(Qt.Orientation.Vertical if is_stacked else Qt.Orientation.Horizontal)
        below = sorted(zip(self._parts, self._shares, strict=True), key=self._place) if is_stacked else ()
        heights = [self._needed_height(part, takes_all=share > 0) for part, share in below]
        if heights != self._heights:
            self._heights = heights
            self.splitter.setMinimumHeight(sum(heights) + between if is_stacked else 0)
            self.splitter.setSizes(heights or self._sizes)

    def _needed_height(self, part: QWidget, *, takes_all: bool) -> int:
        """Return the height of a part below others: of all that it holds where that is a form, else at most nearly all there is."""
        room = self.viewport().width()
        if isinstance(part, QScrollArea) and (content := part.widget()) is not None:
            high = content.heightForWidth(room) if content.hasHeightForWidth() else content.sizeHint().height()
            return max(high, content.minimumHeight())
        least = max(part.minimumSizeHint().height(), part.minimumHeight(), part.heightForWidth(room))
        wanted = int(_NEARLY_ALL * self.height())
        return max(least, wanted if takes_all else min(wanted, part.sizeHint().height()))


def _wanted_width(part: QWidget) -> int:
    """Return the width at which everything in a part is whole; that of a place that scrolls is measured once, when it is empty."""
    if isinstance(part, QScrollArea) and (content := part.widget()) is not None:
        return content.sizeHint().width() + part.verticalScrollBar().sizeHint().width()
    return part.sizeHint().width()


def _needed_width(part: QWidget) -> int:
    """Return the width at which a part neither cuts nor scrolls what it holds."""
    least = part.minimumSizeHint().width()
    if isinstance(part, QScrollArea) and (content := part.widget()) is not None:
        least = content.minimumSizeHint().width() + part.verticalScrollBar().sizeHint().width()
    return max(least, _LEAST * appearance().scale // 100)
