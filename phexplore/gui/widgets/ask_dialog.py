"""A dialog that asks: what it is about, what is asked, why it was refused, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.labels import Paragraph, Reason, Text
from phexplore.gui.widgets.layout import Part, column, row


class AskDialog(QDialog):
    """Title and sentence above, a reason and buttons below; gone when it is closed."""

    def __init__(
        self, parent: QWidget | None, title: str, sentence: str, *, width: int = 0, look: str = "muted"
    ) -> None:
        """Make the dialog.

        Args:
            parent: the window it belongs to.
            title: what it asks, also of its frame.
            sentence: what that leads to.
            width: smallest in pixels.
            look: of the sentence.
        """
        super().__init__(parent)
        self._head = (Paragraph(title, bold=True, relative=1.25), Text(sentence, look=look, wrap=True))
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(width)
        self.reason = Reason()

    def lay_out(self, *parts: Part, buttons: Sequence[Part]) -> None:
        """Put everything in its place.

        Args:
            parts: between the sentence and the reason.
            buttons: from left to right.
        """
        margins = (MARGIN, MARGIN, MARGIN, MARGIN)
        column(*self._head, *parts, self.reason, row(*buttons), of=self, margins=margins)
