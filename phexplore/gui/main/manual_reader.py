"""The manual of a window: opened at the page of where one is, or at one that a message names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QApplication, QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.widgets.pointers import PAGE, page_of

_PAGES: Mapping[Area, str] = {
    Area.SPINE: "docs/spines.md",
    Area.TARGETS: "docs/decisions_of_committees.md",
    Area.DECISION: "docs/decisions_of_committees.md#in-the-window-the-area-decision",
    Area.HISTORY: "docs/recovery.md",
}
"""Pages about areas that all systems share; others are about the system."""


class ManualReader:
    """Opens one viewer per window."""

    def __init__(self, window: QWidget, area: Callable[[], Area], of_system: Callable[[], str]) -> None:
        """Prepare.

        Args:
            window: owner of the viewer.
            area: that is shown.
            of_system: the page about the system of the active scenario.
        """
        self._window, self._area, self._of_system = window, area, of_system

    def show(self, page: str) -> None:
        """Show a page, e.g. ``docs/start.md#try-it``."""
        from phexplore.gui.dialogs.manual import ManualWindow

        opened = self._window.findChild(ManualWindow) or ManualWindow(self._window)
        name, _, anchor = page.partition("#")
        opened.show_page(name, anchor)
        opened.show()
        opened.raise_()
        opened.activateWindow()

    def show_here(self) -> None:
        """Show the page about what has the focus, else about what the window shows, else about the area or the system."""
        seen = (
            each for each in self._window.findChildren(QWidget) if each.isVisible() and each.window() is self._window
        )
        named = (str(page) for each in seen if (page := each.property(PAGE)))
        about = page_of(QApplication.focusWidget()) or next(named, "")
        self.show(about or _PAGES.get(self._area(), self._of_system()))
