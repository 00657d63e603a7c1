"""The page of scenarios, of the active one, and of conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.editors.conventions_editor import ConventionsEditor
from phexplore.gui.editors.scenario_manager import ScenarioManager
from phexplore.gui.widgets.page import Page


def scenario_page(session: SystemSession[Any], make_form: Callable[[], QWidget], conventions: str) -> QWidget:
    """Return the page.

    Args:
        session: of the system.
        make_form: makes the form of the active scenario.
        conventions: a sentence about what they mean for this system.
    """
    page = Page("Scenario")
    page.add(
        "Scenarios of this project",
        "Work on one, compare it with another. The bold one is being edited.",
        lambda: ScenarioManager(session.whole),
    )
    page.add("This scenario", "", make_form)
    page.add(
        "Conventions",
        f"What the shown numbers mean. Changing them changes no parameter. {conventions}",
        lambda: ConventionsEditor(session.whole),
    )
    return page
