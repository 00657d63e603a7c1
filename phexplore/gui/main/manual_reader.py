"""The manual of a window: opened at the page of where one is, or at one that a message names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from PySide6.QtCore import QObject
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.widgets.pointers import PAGE, page_of

KEY = "F1"
_PAGES: Mapping[Area, str] = {
    Area.SPINE: "docs/spines.md",
    Area.TARGETS: "docs/decisions_of_committees.md",
    Area.DECISION: "docs/decisions_of_committees.md#in-the-window-the-area-decision",
    Area.HISTORY: "docs/recovery.md",
}
"""Pages about areas that all systems share; others are about the system."""


class ManualReader(QObject):
    """Opens one viewer per window, from its dialogs, too."""

    def __init__(self, window: QWidget, area: Callable[[], Area], of_system: Callable[[], str]) -> None:
        """Prepare.

        Args:
            window: owner of the viewer.
            area: that is shown.
            of_system: the page about the system of the active scenario.
        """
        super().__init__(window)
        self._window, self._area, self._of_system = window, area, of_system
        if isinstance(application := QApplication.instance(), QApplication):
            application.focusWindowChanged.connect(self._reach_dialog)

    def show(self, page: str) -> None:
        """Show a page, e.g. ``docs/start.md#try-it``; a dialog that asks keeps it open above itself."""
        from phexplore.gui.dialogs.manual import ManualWindow

        asks = QApplication.activeModalWidget()
        owner = asks if asks is not None and self._window in _owners(asks) else self._window
        viewer = self._window.findChild(ManualWindow) or ManualWindow(owner)
        if viewer.parentWidget() is not owner:
            viewer.setParent(owner, viewer.windowFlags())
        name, _, anchor = page.partition("#")
        viewer.show_page(name, anchor)
        viewer.show()
        viewer.raise_()
        viewer.activateWindow()

    def show_here(self) -> None:
        """Show the page about what has the focus, else about what the window shows, else about the area or the system."""
        seen = (
            each for each in self._window.findChildren(QWidget) if each.isVisible() and each.window() is self._window
        )
        named = (str(page) for each in seen if (page := each.property(PAGE)))
        about = page_of(QApplication.focusWidget() or QApplication.activeWindow()) or next(named, "")
        self.show(about or _PAGES.get(self._area(), self._of_system()))

    def _reach_dialog(self) -> None:
        """Give a dialog of the window the key, which a modal one keeps from the window's menu."""
        dialog = QApplication.activeWindow()
        if not isinstance(dialog, QDialog) or dialog.findChild(QShortcut, KEY):
            return
        if not dialog.isModal():  # the menu's key reaches it, and the viewer; a second one would make both ambiguous
            return
        if self._window in _owners(dialog):
            key = QShortcut(KEY, dialog, self.show_here)
            key.setObjectName(KEY)
            dialog.finished.connect(lambda: _hand_back(dialog))


def _owners(widget: QWidget) -> Iterator[QWidget]:
    """Yield the windows that a window lies on, the nearest first."""
    while (owner := widget.parentWidget()) is not None:
        widget = owner.window()
        yield widget


def _hand_back(dialog: QDialog) -> None:
    """Let the manual that was opened from a dialog outlive it."""
    from phexplore.gui.dialogs.manual import ManualWindow

    viewer, owner = dialog.findChild(ManualWindow), next(_owners(dialog), None)
    if viewer is not None and owner is not None:
        viewer.setParent(owner, viewer.windowFlags())
        viewer.show()
