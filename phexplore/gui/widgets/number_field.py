"""Fields for a line of text, and for a whole number: runs and signatures are counted in it, never budgets."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QLineEdit, QSpinBox

from phexplore.gui.theme.metrics import GRID
from phexplore.gui.theme.number_style import localised


class LineField(QLineEdit):
    """A line of text."""

    def __init__(self, name: str, text: str = "", *, example: str = "", is_secret: bool = False) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            text: to begin with.
            example: shown while it is empty.
            is_secret: whether what is typed is not shown.
        """
        super().__init__(text)
        self.setAccessibleName(name)
        self.setPlaceholderText(localised(example))
        if is_secret:
            self.setEchoMode(QLineEdit.EchoMode.Password)


class NumberField(QSpinBox):
    """A whole number; the wheel scrolls the page and never changes the number by accident."""

    def __init__(self, name: str, least: int, most: int, value: int) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            least: smallest number.
            most: largest number.
            value: to begin with.
        """
        super().__init__()
        self.setAccessibleName(name)
        self.setRange(least, most)
        self.setValue(value)
        self.setGroupSeparatorShown(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(GRID, 0, 0, 0)  # the style sheet pads the box, not the line in it

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
