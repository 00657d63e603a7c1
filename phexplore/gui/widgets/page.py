"""A scrolling page of titled sections."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.labels import Text


class Section(QFrame):
    """A framed part of a page: a title, a sentence that says what it is for, and content."""

    def __init__(self, title: str, sentence: str, *contents: QWidget) -> None:
        super().__init__()
        self.setProperty("look", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + 4, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text(title, bold=True, relative=1.08))
        if sentence:
            column.addWidget(Text(sentence, look="muted", wrap=True))
        for content in contents:
            column.addWidget(content)


class Page(QScrollArea):
    """Sections below each other; scrolls when there is no room."""

    def __init__(self, name: str, sections: Sequence[QWidget]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(MARGIN)
        for section in sections:
            column.addWidget(section)
        column.addStretch(1)
        self.setWidget(content)
