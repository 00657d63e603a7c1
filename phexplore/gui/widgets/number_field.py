"""Fields for a line of text, and for a whole number: runs and signatures are counted in it, never budgets."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QHideEvent, QKeyEvent, QShowEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from phexplore.figures.wording import sentence
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.bubble import Refusal
from phexplore.gui.widgets.speech import tell
from phexplore.model.kinds import Whole
from phexplore.text.readers import GROUP


class Line(QLineEdit):
    """A line of text of which a screen reader hears that it has the focus before it hears where the cursor is.

    Qt tells it the other way round, after which Orca 43 takes the field for known and says nothing.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        # Told now: an empty field tells where its cursor is when it is reached first, and Orca 43 leaves off saying its name.
        self.setCursorPosition(len(text))

    def focusInEvent(self, event: QFocusEvent) -> None:
        tell(self, QAccessible.Event.Focus)
        super().focusInEvent(event)


class LineField(Line):
    """A line of text with a name."""

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
    """A whole number; what is typed and is none stays, refused, and counts as nothing until it is mended or Esc is pressed.

    The wheel scrolls the page and never changes the number by accident.

    Signals:
        judged: an entry was refused, or is refused no longer.
    """

    judged = Signal()

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
        self.setKeyboardTracking(False)  # 150.5 is not 150 on the way
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(GRID, 0, 0, 0)  # the style sheet pads the box, not the line in it
        self._refusal = Refusal(self, self)
        self.lineEdit().textEdited.connect(lambda _text: self._refuse(""))
        self.valueChanged.connect(lambda _value: self._refuse(""))

    @property
    def reason(self) -> str:
        """Why the text in the field is refused, "" when it is not."""
        return self._refusal.text

    def read(self) -> int:
        """Return the number.

        Raises:
            ValueError: what was typed is none, or out of range.
        """
        if reason := self._refusal.text or self._problem(self.lineEdit().text()):
            raise ValueError(reason)
        return self.valueFromText(self.lineEdit().text())

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        # Everything can be typed: the toolkit would leave out what does not fit, and 150.5 would be taken for 1505.
        valid = QValidator.State.Intermediate if self._problem(text) else QValidator.State.Acceptable
        return valid, text, position

    def valueFromText(self, text: str) -> int:
        return self._kind.parse(self._ungrouped(text))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        text = self.lineEdit().text()
        super().focusOutEvent(event)
        self._keep(text)

    def hideEvent(self, event: QHideEvent) -> None:
        text = self.lineEdit().text()
        super().hideEvent(event)
        self._keep(text)

    def showEvent(self, event: QShowEvent) -> None:
        text = self.lineEdit().text()
        super().showEvent(event)
        self._keep(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.reason:
            self._refuse("")
            self.lineEdit().setText(self.textFromValue(self.value()))
            return
        text = self.lineEdit().text()
        super().keyPressEvent(event)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._keep(text)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _keep(self, text: str) -> None:
        """Show again what the toolkit replaced by the number before, and say why it is refused."""
        if reason := self._problem(text):
            self.lineEdit().setText(text)
        self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        if reason == self.reason:
            return
        self.setProperty("refused", "true" if reason else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        self._refusal.say(reason)
        self.judged.emit()

    @property
    def _kind(self) -> Whole:
        return Whole(self.minimum(), self.maximum())

    def _problem(self, text: str) -> str:
        try:
            self._kind.check(self._kind.parse(self._ungrouped(text)), "the number")
        except ValueError as error:
            return sentence(str(error))
        return ""

    def _ungrouped(self, text: str) -> str:
        """Return a number with commas between its thousands, where the toolkit or a person writes other signs."""
        return re.sub(f"[ {GROUP}{re.escape(self.locale().groupSeparator())}]", ",", text.strip())
