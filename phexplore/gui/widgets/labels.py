"""Labels that keep their relative size and look when theme or text size changes."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from phexplore.gui.theme.appearance import appearance


class Text(QLabel):
    """A label with a size relative to normal text and one of the looks of the style sheet."""

    def __init__(
        self,
        text: str = "",
        *,
        relative: float = 1.0,
        bold: bool = False,
        look: str = "",
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Make the label.

        Args:
            text: plain text.
            relative: size as a multiple of normal text.
            bold: bold face.
            look: "muted", "heading", "refused", "attention" or "" of the style sheet.
            wrap: break long text into lines.
            parent: owner.
        """
        super().__init__(text, parent)
        self._relative, self._bold = relative, bold
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:  # a wrapped label takes the width it can get, in forms, too
            policy = self.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
            self.setSizePolicy(policy)
        if look:
            self.setProperty("look", look)
        if relative != 1.0 or bold:
            appearance().changed.connect(self._restyle)
            self._restyle()

    def set_look(self, look: str) -> None:
        """Change the look."""
        if self.property("look") != look:
            self.setProperty("look", look)
            self.style().unpolish(self)
            self.style().polish(self)

    def _restyle(self) -> None:
        self.setFont(appearance().font(relative=self._relative, bold=self._bold))


class ElidedText(Text):
    """One line that ends in … when there is no room; the whole text is in the tool tip."""

    def __init__(self, text: str = "", *, relative: float = 1.0, bold: bool = False, look: str = "") -> None:
        super().__init__(text, relative=relative, bold=bold, look=look)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(24)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        self.setToolTip(self.text() if shown != self.text() else "")
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            room,
            int(self.alignment() | Qt.AlignmentFlag.AlignVCenter),
            self.palette(),
            self.isEnabled(),
            shown,
            QPalette.ColorRole.WindowText,
        )


def line(*, vertical: bool = False) -> QFrame:
    """Return a thin separating line."""
    frame = QFrame()
    frame.setProperty("look", "line")
    if vertical:
        frame.setFixedWidth(1)
    else:
        frame.setFixedHeight(1)
    return frame
