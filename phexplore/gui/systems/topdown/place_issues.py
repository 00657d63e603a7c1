"""Issues at the place they are about: a sentence and its remedy, beside what has to be changed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.model.issues import Issue, Severity

_MOST = 2
"""Lines, the last of them how many more there are: they take their room from the table."""


class PlaceIssues(QFrame):
    """Hidden while there is nothing wrong with the parameters it stands beside."""

    def __init__(self, session: TopDownSession, kinds: frozenset[str]) -> None:
        """Make the list.

        Args:
            session: what is shown.
            kinds: first words of the paths of the issues that belong here, e.g. "queries".
        """
        super().__init__()
        self._session, self._kinds = session, kinds
        self._issues: tuple[Issue, ...] = ()
        self._text = Text(wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column(self._text, of=self, margins=(GRID + HALF, HALF, GRID + HALF, HALF))
        self.hide()
        session.settled.connect(self._refresh)
        self._refresh()

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What is said."""
        return self._issues

    def _refresh(self, _shown: object = None) -> None:
        issues = tuple(issue for issue in self._session.shown.issues if issue.path and issue.path[0] in self._kinds)
        if issues == self._issues:
            return
        self._issues = issues
        shown = issues if len(issues) <= _MOST else issues[: _MOST - 1]
        lines = [f"{issue.sentence} {issue.remedy}" for issue in shown]
        if len(shown) < len(issues):
            lines.append(f"{len(issues) - len(shown)} more: see the list of issues below.")
        self._text.setText("\n".join(lines))
        is_refused = any(issue.severity is Severity.ERROR for issue in issues)
        look = "refused" if is_refused else "attention"
        self.setProperty("look", f"notice-{look}")
        self._text.set_look(look)
        self.style().unpolish(self)
        self.style().polish(self)
        self.setAccessibleName("Issues here: " + " ".join(lines))
        self.setVisible(bool(issues))
