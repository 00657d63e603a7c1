"""A scrolling page of titled sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from phexplore.gui.theme.metrics import GRID, MARGIN, PICTURE_PERCENT
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import Lean, column


class Section(QFrame):
    """A framed part of a page: a title, a sentence that says what it is for, and content."""

    def __init__(self, title: str, sentence: str, *contents: QWidget | int, parent: QWidget | None = None) -> None:
        """Make the part.

        Args:
            title: over it.
            sentence: what it is for, "" for none.
            contents: below each other; a number is a stretch, as in `column`.
            parent: owner.
        """
        super().__init__(parent)
        self.setProperty("look", "card")
        head = [Text(title, bold=True, relative=1.08)]
        if sentence:
            head.append(Text(sentence, look="muted", wrap=True))
        self._column = column(*head, *contents, of=self, margins=(MARGIN, GRID + 4, MARGIN, MARGIN))

    def add(self, content: QWidget) -> None:
        """Put content below what is there."""
        self._column.addWidget(content)


class Page(QScrollArea):
    """Sections below each other; scrolls when there is no room."""

    def __init__(self, name: str, sections: Sequence[QWidget] = (), parent: QWidget | None = None) -> None:
        """Make a page.

        Args:
            name: for people who do not see it.
            sections: made already; `add` makes them in their place, which is faster.
            parent: owner.
        """
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = QWidget(self)
        self._column = column(1, of=self._content, gap=MARGIN, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
        self.setWidget(self._content)
        for section in sections:
            self._insert(section)

    def add(self, title: str, sentence: str, make: Callable[[], QWidget]) -> None:
        """Add a section below the others.

        A widget that changes its parent has everything in it styled anew, so the section is in the page before it is
        filled.
        """
        section = Section(title, sentence, parent=self._content)
        self._insert(section)
        section.add(make())

    def _insert(self, section: QWidget) -> None:
        self._column.insertWidget(self._column.count() - 1, section)


def scrolling(name: str, content: QWidget) -> QScrollArea:
    """Return a place that shows all of a content where there is room and scrolls where there is not.

    Args:
        name: for people who do not see it.
        content: what is shown.
    """
    place = QScrollArea()
    place.setAccessibleName(name)
    place.setProperty("look", "page")  # filled: else the whole window behind it is painted with all that changes on it
    place.setWidgetResizable(True)
    place.setFrameShape(QFrame.Shape.NoFrame)
    place.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    if isinstance(content, Lean):
        content.setMinimumHeight(1)  # what it needs at its width is asked for, not what it would in a narrow window
    place.setWidget(content)
    return place


def picture_height(page: QWidget) -> int:
    """Return the least height of a picture on a page that scrolls: its part of the window, however large that is.

    Args:
        page: asks again when its size changes.
    """
    return -(-page.window().height() * PICTURE_PERCENT // 100)


class Sideways(QScrollArea):
    """A table of widgets as high as it is; where the page is narrower, the table alone scrolls sideways."""

    def __init__(self, name: str, content: QWidget) -> None:
        """Show all of a table.

        Args:
            name: for people who do not see it.
            content: what is shown.
        """
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = content
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        return QSize(self._content.sizeHint().width(), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        content, width = self._content, self.viewport().width()
        least = content.minimumSizeHint().width()
        high = content.heightForWidth(max(width, least)) if content.hasHeightForWidth() else content.sizeHint().height()
        self.setFixedHeight(high + (self.horizontalScrollBar().sizeHint().height() if least > width else 0))
        QTimer.singleShot(0, self, self._settle)

    def _settle(self) -> None:
        """Lay the table out anew where it was resized while it laid itself out: it would keep places of before."""
        content = self._content
        layout = content.layout()
        if layout is not None and layout.geometry() != content.contentsRect():
            layout.setGeometry(content.contentsRect())
