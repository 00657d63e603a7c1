"""What is wrong with the scenario: every issue with its remedy, and a way to its place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStackedLayout, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.cell_text import WrappedText
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import stacked
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.issues import Issue, Severity


class IssuesPanel(QWidget):
    """A list, errors first.

    Signals:
        opened: the `Issue` whose place the user wants to see.
        counted: (errors, warnings).
    """

    opened = Signal(object)
    counted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._issues: tuple[Issue, ...] | None = None
        self.list = QListWidget()
        self.list.setAccessibleName("Issues of the scenario")
        self.list.setWordWrap(True)
        self.list.setItemDelegate(WrappedText(self.list))
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        ready = Text("Ready to run and to export.", look="muted")
        nothing = stacked(ready, 1, margins=(MARGIN, GRID, MARGIN, GRID))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.list)
        self._stack.addWidget(nothing)
        self._seen = WhenSeen(self, self._redraw, appearance().changed)
        session.settled.connect(self._refresh)
        self._refresh()

    @property
    def counts(self) -> tuple[int, int]:
        """Errors and warnings."""
        issues = self._issues or ()
        errors = sum(issue.severity is Severity.ERROR for issue in issues)
        return errors, len(issues) - errors

    def _refresh(self, _shown: object = None) -> None:
        issues = self._session.shown.issues
        if issues == self._issues:
            return
        self._issues = issues
        self._seen.request()
        self.counted.emit(self.counts)

    def _redraw(self) -> None:
        self.list.clear()
        for issue in self._issues or ():
            item = QListWidgetItem(_symbol(issue), localised(f"{issue.sentence} {issue.remedy}"))
            item.setForeground(QColor(appearance().colours.text))
            item.setToolTip(localised(f"{issue.place}. Click to go there."))
            item.setData(Qt.ItemDataRole.UserRole, issue)
            word = "Error" if issue.severity is Severity.ERROR else "Warning"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, localised(f"{word}: {issue.sentence} {issue.remedy}"))
            self.list.addItem(item)
        self._stack.setCurrentIndex(0 if self._issues else 1)

    def _open(self, item: QListWidgetItem) -> None:
        self.opened.emit(item.data(Qt.ItemDataRole.UserRole))


def _symbol(issue: Issue) -> QIcon:
    is_error = issue.severity is Severity.ERROR
    return icon("error" if is_error else "warning", appearance().colours, role="refused" if is_error else "attention")
