"""Lines to tick at the left; at the right what they say together, or why they say nothing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import Part, card, column, split, stacked
from phexplore.gui.widgets.page import picture_height, scrolling
from phexplore.gui.widgets.tick_list import TickList


class TickPage(QWidget):
    """What pages about several scenarios share. Subclasses offer lines in `refresh` and follow ticks in `follow`.

    Signals:
        failed: a `PhexploreError` of the picture.
    """

    failed = Signal(object)

    def __init__(self, session: Session, name: str, about: str) -> None:
        """Make list, title and sentence.

        Args:
            session: the project.
            name: the title while there is nothing to say.
            about: what the list is, for people who do not see it.
        """
        super().__init__()
        self._session, self._name = session, name
        self._is_touched = False
        self.list = TickList(about)
        self.list.ticked.connect(self._on_ticked)
        self.title = Text(name, relative=1.3, bold=True, wrap=True)
        self.sentence = Paragraph(look="muted")
        session.opened.connect(self._forget)

    def refresh(self) -> None:
        """Offer what there is now and show what the ticks say."""

    def follow(self) -> None:
        """Show what the ticks say."""

    def tick(self, *keys: str) -> None:
        """Tick exactly these lines."""
        self.list.tick(keys)
        self._on_ticked()

    def say_empty(self, sentence: str) -> None:
        """Say why there is nothing to show."""
        self.title.setText(self._name)
        self.sentence.setText(sentence)
        self._place.setVisible(False)

    def refuse(self, error: BaseException) -> None:
        """Say why it cannot be shown; anything but an expected failure is a bug."""
        if not isinstance(error, PhexploreError):
            raise error
        self.say_empty(error.full)

    def show_finding(self, title: str, sentence: str, *, is_visible: bool = True) -> None:
        """Say what was found above what shows it.

        Args:
            title: the finding.
            sentence: what the figures mean.
            is_visible: whether there are figures.
        """
        self.title.setText(title)
        self.sentence.setText(sentence)
        self._place.setVisible(is_visible)

    def lay_out(
        self, left: Sequence[QWidget], head: Sequence[Part], name: str, parts: Sequence[QWidget], sizes: Sequence[int]
    ) -> None:
        """Put everything in its place.

        Args:
            left: from top to bottom, the list among them.
            head: between the sentence and the parts.
            name: of the parts, for people who do not see them.
            parts: the picture, and tables below it.
            sizes: their heights in pixels at first.
        """
        self._picture = parts[0]
        self._left = card(*((each, 1) if each is self.list else each for each in left))
        self._place = scrolling(name, split(*parts, sizes=sizes, is_vertical=True))
        right = stacked(self.title, self.sentence, *head, (self._place, 1), 0, gap=HALF)
        both = Beside(self._name, self._left, right, shares=(0, 1), sizes=(32 * GRID, 100 * GRID), handle=2 * GRID)
        column(both, of=self, margins=(MARGIN, GRID, MARGIN, GRID))
        appearance().changed.connect(self.fit)
        self._picture.installEventFilter(self)
        self.fit()

    def fit(self, _colours: object = None) -> None:
        """Follow the text size and the window's: a small one scrolls."""
        picture = self._picture
        picture.setMinimumHeight(max(picture_height(self), picture.heightForWidth(picture.width())))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._picture and event.type() in {QEvent.Type.LayoutRequest, QEvent.Type.Resize}:
            self.fit()  # a finding of more lines leaves the axis its room
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def _on_ticked(self) -> None:
        self._is_touched = True
        self.follow()

    def _forget(self) -> None:
        """Tick anew when another project was opened: a name there may be another scenario's."""
        self._is_touched = False
