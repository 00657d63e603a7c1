"""Several lines of text that are taken when the field is left."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import HALF
from phexplore.gui.widgets.labels import Reason

MOST_SHOWN = 60_000
"""Letters of a text field; longer texts are kept and edited in a file."""


class LineText(QPlainTextEdit):
    """Lines that are taken when the field is left or Ctrl+Enter is pressed; Esc restores; a refusal stays visible."""

    def __init__(
        self, name: str, hint: str, take: Callable[[str], str], *, lines: int = 4, is_wrapped: bool = False
    ) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            hint: shown while it is empty.
            take: called with the text; returns why it is refused, "" when it was accepted.
            lines: its height.
            is_wrapped: whether long lines are broken.
        """
        super().__init__()
        self._take, self._value, self._lines, self._hint = take, "", lines, hint
        self.reason = Reason(relative=0.92)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        if not is_wrapped:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        appearance().changed.connect(self._fit)
        self._fit()

    def set_value(self, text: str) -> None:
        """Show a value, unless the user is in the middle of another entry or a refused one stands there."""
        is_too_long = len(text) > MOST_SHOWN
        count = f"{text.count(chr(10)) + 1:,} lines, too many to edit here: export the parameters and edit the file."
        self.setPlaceholderText(count if is_too_long else self._hint)
        self.setReadOnly(is_too_long)
        text = "" if is_too_long else text
        changed = text != self._value
        self._value = text
        if (changed and not self.hasFocus()) or not (self.document().isModified() or self.reason.text()):
            self._show()

    def commit(self) -> None:
        """Take what was written."""
        text = self.toPlainText()
        if text.strip() == self._value.strip():
            self._show()
            return
        reason = self._take(text)
        self.setAccessibleDescription(reason)
        if not self.reason.say(reason):
            self._show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason and self.document().isModified():
            self.commit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if event.key() == Qt.Key.Key_Escape and (self.document().isModified() or self.reason.text()):
            self._show()
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.commit()
        else:
            super().keyPressEvent(event)

    def _show(self) -> None:
        if self.toPlainText() != self._value:
            self.setPlainText(self._value)
        self.document().setModified(False)
        self.reason.say("")
        self.setAccessibleDescription("")

    def _fit(self, _colours: object = None) -> None:
        self.setFixedHeight((self._lines * 5 + 3) * HALF * appearance().scale // 100)
