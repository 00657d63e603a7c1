"""The area of each page of the window, made when it is first looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.stack import Stack

Make = Callable[[], QWidget]
_PAUSE_MS = 250
"""Between two pages that are made ahead."""


class Pages(Stack):
    """Shows one area; the others are not made before they are wanted. Areas of several systems have keys of their own."""

    def __init__(self, makers: Mapping[Hashable, Make]) -> None:
        super().__init__()
        self._makers = makers
        self._made: dict[Hashable, QWidget] = {}
        self._wanted: list[Hashable] = []
        self._idle = QTimer(self)
        self._idle.setInterval(_PAUSE_MS)
        self._idle.timeout.connect(self._prepare_next)

    def show_area(self, area: Hashable) -> QWidget:
        """Show an area and return its page."""
        page = self.page(area)
        self.setCurrentWidget(page)
        return page

    def prepare(self, areas: Sequence[Hashable]) -> None:
        """Make the pages of these areas one by one, with pauses, before somebody looks at them."""
        self._wanted = list(areas)
        self._idle.start()

    def _prepare_next(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # something is being dragged
        if self._wanted:
            self.page(self._wanted.pop(0))
        else:
            self._idle.stop()

    def page(self, area: Hashable) -> QWidget:
        """Return the page of an area, made on first use."""
        if area not in self._made:
            page = self._makers[area]()
            self._made[area] = page
            self.addWidget(page)
        return self._made[area]


def levels_page(session: Session, parent: QWidget) -> QWidget:
    """Return the page of thresholds and levels."""
    from phexplore.gui.systems.phsafe.levels_editor import LevelsEditor
    from phexplore.gui.systems.phsafe.thresholds_editor import ThresholdsEditor

    page = Page("Levels and thresholds", parent=parent)
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


def scenario_page(session: Session, parent: QWidget) -> QWidget:
    """Return the page of scenarios, their description and conventions."""
    from phexplore.gui.editors.conventions_editor import ConventionsEditor
    from phexplore.gui.editors.scenario_manager import ScenarioManager
    from phexplore.gui.systems.phsafe.scenario_editor import ScenarioEditor

    page = Page("Scenario", parent=parent)
    page.add(
        "Scenarios of this project",
        "Work on one, compare it with another. The bold one is being edited.",
        lambda: ScenarioManager(session),
    )
    page.add("This scenario", "", lambda: ScenarioEditor(session))
    page.add(
        "Conventions",
        "What the shown numbers mean. Changing them changes no parameter, only how margins and privacy loss are "
        "stated and how budgets are solved from now on.",
        lambda: ConventionsEditor(session),
    )
    return page


def history_page(session: Session, parent: QWidget) -> QWidget:
    """Return the page of all steps."""
    from phexplore.gui.editors.history_panel import HistoryPanel

    page = QWidget(parent)
    column = QVBoxLayout(page)
    column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
    column.addWidget(Section("History", "", HistoryPanel(session)))
    return page


def budgets_page(parent: QWidget) -> QSplitter:
    """Return the page of the budget table with the picture of its margins, still empty."""
    page = QSplitter(Qt.Orientation.Horizontal, parent)
    page.setChildrenCollapsible(False)
    page.setHandleWidth(1)
    page.setProperty("look", "lined")
    return page
