"""The areas of the window that TopDown has pages of its own for; the pages are loaded when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from phexplore.gui.main.navigation import Area
from phexplore.gui.main.palette import Offer
from phexplore.gui.systems.topdown.session import Place, TopDownSession
from phexplore.systems.topdown.wording import place_title

if TYPE_CHECKING:
    from phexplore.gui.main.project_data import ProjectData
    from phexplore.gui.run_manager.run_desk import RunDesk
    from phexplore.gui.systems.topdown.inspector import TopDownInspector
    from phexplore.gui.systems.topdown.pages import TopDownOverviewPage
    from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor
    from phexplore.gui.systems.topdown.spine_page import SpinePage

TOPDOWN_TITLES: Mapping[Area, str] = MappingProxyType({Area.LEVELS: "Post-processing"})
"""What areas are called while the active scenario is TopDown, where it differs."""


def make_overview(session: TopDownSession) -> TopDownOverviewPage:
    """Return the page of the overview."""
    from phexplore.gui.systems.topdown.pages import TopDownOverviewPage

    return TopDownOverviewPage(session)


def make_budgets(session: TopDownSession) -> TopDownBudgetsEditor:
    """Return the page of total and shares."""
    from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor

    return TopDownBudgetsEditor(session)


def make_processing_page(session: TopDownSession) -> QWidget:
    """Return the page of passes and rules."""
    from phexplore.gui.systems.topdown.pages import processing_page

    return processing_page(session)


def make_spine_page(session: TopDownSession, data: ProjectData, desk: RunDesk) -> SpinePage:
    """Return the page of the spine."""
    from phexplore.gui.systems.topdown.spine_page import SpinePage

    return SpinePage(session, data, desk)


def make_scenario_page(session: TopDownSession) -> QWidget:
    """Return the page of scenarios and conventions."""
    from phexplore.gui.systems.topdown.pages import topdown_scenario_page

    return topdown_scenario_page(session)


def make_inspector(session: TopDownSession) -> TopDownInspector:
    """Return the inspector."""
    from phexplore.gui.systems.topdown.inspector import TopDownInspector
    from phexplore.gui.theme.metrics import GRID

    found = TopDownInspector(session)
    found.setMinimumWidth(32 * GRID)
    return found


def place_offers(session: TopDownSession, go: Callable[[Place], object]) -> list[Offer]:
    """Return what the palette leads to: every level, and every query measured at it."""
    method = session.shown.method
    places: list[Place] = []
    for level in method.levels:
        places += [level, *(key for key in method.query_shares if key.level == level)]
    return [Offer(f"Go to {place_title(place)}", "", partial(go, place)) for place in places]
