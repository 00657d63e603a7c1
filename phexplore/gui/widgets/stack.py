"""Pages on top of each other, of which only the one on screen asks for room."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

_NO_CLAIM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)


class Stack(QStackedWidget):
    """A stack as small as its current page may be: a wide page out of sight does not widen the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._claims: dict[QWidget, QSizePolicy] = {}
        self._in_front: QWidget | None = None
        self.currentChanged.connect(self._give_room)

    def addWidget(self, widget: QWidget) -> int:
        """Add a page; it claims room when it is shown."""
        self._claims[widget] = widget.sizePolicy()
        widget.setSizePolicy(_NO_CLAIM)
        number = super().addWidget(widget)
        self._give_room()
        return number

    def _give_room(self, _number: int = 0) -> None:
        current = self.currentWidget()
        if current is self._in_front:
            return
        if self._in_front is not None:
            self._in_front.setSizePolicy(_NO_CLAIM)
        self._in_front = current
        if current is not None:
            current.setSizePolicy(self._claims[current])
