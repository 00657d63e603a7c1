"""Labels of choosers beside a picture."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QWidget


class FieldLabel(QLabel):
    """A label as wide as its words: Qt rounds their advance down, and the last letter loses a column of pixels."""

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(2, 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


def field_label(words: str, field: QWidget) -> QLabel:
    """Return a label whose mnemonic leads to a field.

    Args:
        words: with & before the letter of the mnemonic.
        field: what the label names.
    """
    label = FieldLabel(words)
    label.setBuddy(field)
    return label
