"""What was done since the window was opened, with the commands that do the same: to repeat it, or to tell others."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from phexplore.figures.table import Table
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.main.actions import Done
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text

HEADERS = ("Time (UTC)", "What was done", "On the command line")


def script_of(done: Sequence[Done]) -> str:
    """Return the commands among what was done, one line each, what has none as a comment."""
    return "".join(f"{each.hint}\n" if each.hint else f"# {each.words}\n" for each in done)


class ActionLogDialog(QDialog):
    """A table of actions and edits, newest last."""

    def __init__(self, parent: QWidget | None, done: Sequence[Done]) -> None:
        super().__init__(parent)
        self._done = tuple(done)
        self.setWindowTitle("Log of actions")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(112 * GRID, 64 * GRID)
        self.table = NumbersTable(self)
        self.table.setAccessibleName("What was done since the window was opened")
        self.table.set_numbers(
            Table(HEADERS, tuple((each.at.strftime("%H:%M:%S"), each.words, each.hint) for each in done))
        )
        copy_table, copy_script = TextButton("Copy the table"), TextButton("Copy as a script")
        copy_table.clicked.connect(self.table.copy_all)
        copy_script.clicked.connect(lambda: QGuiApplication.clipboard().setText(script_of(self._done)))
        close = TextButton("Close", look="primary")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for button in (copy_table, copy_script):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(GRID)
        words = "Edits are also in the history of the project, which is saved with it. This list ends with the window."
        column.addWidget(Text(words, look="muted", wrap=True))
        column.addWidget(self.table, 1)
        column.addLayout(row)
