"""The budget table with the picture of its margins, and the page of thresholds and levels."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from phexplore.gui.binding.settings import PICTURE, Settings
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budgets_editor import BudgetsEditor
from phexplore.gui.widgets.page import Page

ROOM_FOR_PICTURE = 1560
"""Width of the window from which on the table and its picture stand side by side."""


class BudgetsPage(QSplitter):
    """The table, and the picture beside it where there is room."""

    def __init__(self, session: PlainSession, picture: QWidget, settings: Settings) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._settings = settings
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.setProperty("look", "lined")
        self.editor = BudgetsEditor(session, self)
        self.picture = picture
        for number, (widget, stretch) in enumerate(((self.editor, 3), (self.picture, 2))):
            self.addWidget(widget)
            self.setStretchFactor(number, stretch)
        self.make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.make_room()

    def make_room(self) -> None:
        """Show the picture if it is wanted and the window is wide enough."""
        self.picture.setVisible(self._settings.read(PICTURE) and self.window().width() >= ROOM_FOR_PICTURE)


def levels_page(session: PlainSession) -> QWidget:
    """Return the page of thresholds and levels."""
    from phexplore.gui.systems.phsafe.levels_editor import LevelsEditor
    from phexplore.gui.systems.phsafe.thresholds_editor import ThresholdsEditor

    page = Page("Levels and thresholds")
    page.add(
        "Truncation thresholds",
        "Most people counted per household. A smaller threshold needs less noise, and leaves people of large "
        "households out of the counts.",
        lambda: ThresholdsEditor(session),
    )
    page.add(
        "Published levels",
        "A tick publishes a table at a level; the number beside it says how many numbers that is. Ticking solves the "
        "budget from the target, unticking sets it to 0.",
        lambda: LevelsEditor(session),
    )
    return page
