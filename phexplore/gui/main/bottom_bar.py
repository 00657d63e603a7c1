"""The line at the bottom: runs at the left, the number of issues at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout

from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.labels import ElidedText

_MESSAGE_MS = 6000
"""How long a short message stays."""


class BottomBar(QFrame):
    """Holds the run strip and the button that opens the list of issues."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "bar")
        self.message = ElidedText(look="muted")
        self.issues = SymbolButton("tick", "Show the issues", text="No issues", checkable=True)
        self.strip_place = QHBoxLayout()
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, HALF, GRID, HALF)
        row.setSpacing(GRID)
        row.addWidget(self.message, 1)
        row.addLayout(self.strip_place, 3)
        row.addWidget(self.issues, 0, Qt.AlignmentFlag.AlignRight)
        self._clock = QTimer(self, singleShot=True, interval=_MESSAGE_MS)
        self._clock.timeout.connect(lambda: self.message.setText(""))

    def say(self, text: str) -> None:
        """Show a short message for a while."""
        self.message.setText(text)
        self._clock.start()

    def count_issues(self, counts: tuple[int, int]) -> None:
        """Show how many errors and warnings there are."""
        errors, warnings = counts
        words = [f"{errors} error" + ("" if errors == 1 else "s")] if errors else []
        words += [f"{warnings} warning" + ("" if warnings == 1 else "s")] if warnings else []
        text = ", ".join(words) or "No issues"
        self.issues.setText(text)
        self.issues.setAccessibleName(f"Show the issues: {text}")
        if errors:
            self.issues.set_symbol("error", role="refused")
        elif warnings:
            self.issues.set_symbol("warning", role="attention")
        else:
            self.issues.set_symbol("tick", role="good")
