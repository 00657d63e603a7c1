"""Fields whose entry is taken when they are left: an exact number as text, which is never rounded, or several lines.

A refused entry stays visible with its reason; Esc restores the value.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.bubble import Refusal
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import row
from phexplore.gui.widgets.number_field import Line
from phexplore.model.numbers import exact_text, parse_exact

MOST_SHOWN = 60_000
"""Letters of a text field; longer texts are kept and edited in a file."""
Take = Callable[[str], str]
"""Takes what was typed; returns why it is refused, "" when it was accepted."""


class ExactLine(Line):
    """One line of text that knows whether it was refused.

    Signals:
        offered: the text, on Enter, or when the field is left after typing.
        restored: Esc was pressed; the owner shows the value again.
    """

    offered = Signal(object)
    restored = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._reason = ""
        describe(self, name=name)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setMaxLength(400)
        self.returnPressed.connect(self._offer)

    def set_refused(self, reason: str) -> None:
        """Mark the text as refused for a reason, "" for accepted."""
        if bool(reason) == (self.property("refused") == "true") and reason in {"", self._reason}:
            return
        self._reason = reason
        self.setProperty("refused", "true" if reason else "false")
        describe(self, tip=reason, more=reason)
        self.style().unpolish(self)
        self.style().polish(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.restored.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.isModified() and event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._offer()

    def _offer(self) -> None:
        self.offered.emit(self.text())


class ExactField(QWidget):
    """An exact number with its unit; over the page the reason when an entry is refused.

    What is typed stays until it is accepted or Esc restores the value; nothing else changes meanwhile.
    """

    def __init__(self, name: str, take: Take, *, unit: str = "", width: int = 14 * GRID) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            take: called with what was typed.
            unit: shown behind the field.
            width: of the field in pixels at 100 % text size.
        """
        super().__init__()
        self._take = take
        self._value = self._rounded = ""
        self.line = ExactLine(name)
        self._width = width
        units = (Text(unit, look="muted"),) if unit else ()
        row(self.line, *units, 1, of=self)
        self._refusal = Refusal(self.line, self)
        self.setFocusProxy(self.line)
        self.line.offered.connect(self._offer)
        self.line.restored.connect(self._restore)
        appearance().changed.connect(self._fit)
        self._fit()

    @property
    def reason(self) -> str:
        """Why the text in the field is refused, "" when it is not."""
        return self._refusal.text

    def set_value(self, text: str, words: str = "") -> None:
        """Show a value, unless the user is in the middle of another entry.

        Args:
            text: exact.
            words: the same rounded, where a long fraction says nothing: a committee sees it, the exact one is in the tip;
                an expert sees the fraction and hears both. Left as it stands it changes nothing.
        """
        self._value, self._rounded = text, words if "/" in text else ""
        if not (self.line.isModified() and (self.line.hasFocus() or self.reason)):
            self._show_value()

    def forget(self) -> None:
        """Drop a half-typed or refused entry."""
        self._show_value()

    def sizeHint(self) -> QSize:
        return QSize(self._scaled(), super().sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange and not self.isEnabled():
            self.forget()

    def _scaled(self) -> int:
        return self._width * appearance().scale // 100

    def _fit(self) -> None:
        """Follow text size and depth: a number cut off at its start would be another number."""
        if not self.line.isModified():
            self._show_value()
        self.line.setMaximumWidth(self._scaled() * 2)
        self._make_room()
        self.updateGeometry()

    def _make_room(self) -> None:
        """Let a long number be wider; what still has no room shows its first digits, not its last."""
        if not self.line.hasFocus():
            self.line.setCursorPosition(0)
        needed = self.line.fontMetrics().horizontalAdvance(self.line.text()) + 3 * GRID
        self.line.setMinimumWidth(min(max(needed, self._scaled() * 3 // 4), self._scaled() * 3 // 2))

    def _offer(self, text: str) -> None:
        if text.strip() in {self._value, self._seen}:
            self._show_value()
            return
        reason = self._take(text)
        self._refusal.say(reason)
        self.line.set_refused(reason)
        self.line.setModified(bool(reason))
        if not reason:
            self._show_value()

    def _restore(self) -> None:
        self._show_value()
        self.line.selectAll()

    @property
    def _seen(self) -> str:
        """What the field shows while nobody types."""
        return self._value if appearance().is_expert else self._rounded or self._value

    def _show_value(self) -> None:
        self.line.setText(self._seen)
        self._make_room()
        self.line.setModified(False)
        self.line.set_refused("")
        is_rounded = self._seen != self._value
        describe(
            self.line,
            tip=f"Exactly {self._value}" if is_rounded else "",
            more="rounded" if is_rounded else self._rounded,
        )
        self._refusal.say("")


class CheckedField(ExactField):
    """An exact number within bounds, kept as a fraction."""

    def __init__(
        self,
        name: str,
        value: Fraction,
        problem: Callable[[Fraction], str],
        changed: Callable[[], object],
        *,
        unit: str = "",
        width: int = 9 * GRID,
    ) -> None:
        """Make the field.

        Args:
            name: for people who do not see its label.
            value: to begin with.
            problem: gives why a number is refused, "" when it is not.
            changed: called after another number was accepted.
            unit: shown behind the field.
            width: of the field in pixels at 100 % text size.
        """
        super().__init__(name, self.take, unit=unit, width=width)
        self._problem, self._changed = problem, changed
        self.show_number(value)

    def show_number(self, value: Fraction) -> None:
        """Show a number; nobody is told."""
        self.value = value
        self.set_value(exact_text(value))

    def take(self, typed: str) -> str:
        """Take what was typed; return why it is refused, "" when it was accepted."""
        try:
            value = parse_exact(typed)
        except ValueError as error:
            return f"{error}."
        if reason := self._problem(value):
            return reason
        self.value = value
        self.set_value(typed.strip())
        self._changed()
        return ""


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
        self._refusal = Refusal(self, self)
        describe(self, name=name)
        self.setTabChangesFocus(True)
        if not is_wrapped:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        appearance().changed.connect(self._fit)
        self._fit()

    @property
    def reason(self) -> str:
        """Why the lines are refused, "" when they are not."""
        return self._refusal.text

    def set_value(self, text: str) -> None:
        """Show a value, unless the user is in the middle of another entry or a refused one stands there."""
        is_too_long = len(text) > MOST_SHOWN
        count = f"{text.count(chr(10)) + 1:,} lines, too many to edit here: export the parameters and edit the file."
        self.setPlaceholderText(count if is_too_long else self._hint)
        self.setReadOnly(is_too_long)
        text = "" if is_too_long else text
        changed = text != self._value
        self._value = text
        if (changed and not self.hasFocus()) or not (self.document().isModified() or self.reason):
            self._show()

    def commit(self) -> None:
        """Take what was written."""
        text = self.toPlainText()
        if text.strip() == self._value.strip():
            self._show()
            return
        reason = self._take(text)
        describe(self, more=reason)
        if not self._refusal.say(reason):
            self._show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason and self.document().isModified():
            self.commit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if event.key() == Qt.Key.Key_Escape and (self.document().isModified() or self.reason):
            self._show()
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.commit()
        else:
            super().keyPressEvent(event)

    def _show(self) -> None:
        if self.toPlainText() != self._value:
            self.setPlainText(self._value)
        self.document().setModified(False)
        self._refusal.say("")
        describe(self, more="")

    def _fit(self, _colours: object = None) -> None:
        self.setFixedHeight((self._lines * 5 + 3) * HALF * appearance().scale // 100)
