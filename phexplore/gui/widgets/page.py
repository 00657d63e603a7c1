"""A scrolling page of titled sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.labels import Text


class Section(QFrame):
    """A framed part of a page: a title, a sentence that says what it is for, and content."""

    def __init__(self, title: str, sentence: str, *contents: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + 4, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text(title, bold=True, relative=1.08))
        if sentence:
            column.addWidget(Text(sentence, look="muted", wrap=True))
        for content in contents:
            column.addWidget(content)

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
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        self._column.setSpacing(MARGIN)
        self._column.addStretch(1)
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
    place.setWidgetResizable(True)
    place.setFrameShape(QFrame.Shape.NoFrame)
    place.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    place.setWidget(content)
    return place
