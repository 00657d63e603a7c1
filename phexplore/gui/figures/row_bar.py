"""The scroll bar of rows: it shows where rows lie that ask for attention or differ from the reference."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar

from phexplore.figures.figure import Figure
from phexplore.figures.marks import AnyMark, Dot, Ink, Role
from phexplore.gui.figures.painter import colour_of
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.labels import describe

_HEIGHT = 3
_TOLD = ((Role.REFERENCE, "changed"), (Role.MISSED, "marked for attention"))


class RowBar(QScrollBar):
    """A vertical scroll bar with a stroke for every told row, so that one out of sight is found."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.setAccessibleName("Scroll the rows")
        self._figure: Figure | None = None
        self._told: tuple[Figure | None, dict[int, Role]] = (None, {})

    def use(self, figure: Figure) -> None:
        """Tell of the rows of another figure; painted again where their strokes may be others."""
        before, self._figure = self._figure, figure
        if (
            before is None
            or (before.key, before.row_numbers) != (figure.key, figure.row_numbers)
            or any(
                old is not new and _dots(old) != _dots(new) for old, new in zip(before.marks, figure.marks, strict=True)
            )
        ):
            self.update()

    @property
    def told(self) -> dict[int, Role]:
        """The rows that have a stroke, found out once per figure when somebody looks."""
        figure = self._figure
        if self._told[0] is not figure and figure is not None:
            # Elsewhere a dot of the reference stands in every row, and is another run's.
            explained = {entry.sign.ink for entry in figure.key if isinstance(entry.sign, Dot)} | {Role.MISSED}
            rows: dict[int, Role] = {}
            for row, mark in zip(figure.row_numbers, figure.marks, strict=True) if figure.has_rows else ():
                inks = explained & _dots(mark)
                for role, _words in _TOLD:
                    if role in inks:
                        rows[row] = role
            self._told = (figure, rows)
            counts = [(list(rows.values()).count(role), words) for role, words in _TOLD]
            said = ", ".join(f"{count} {words}" for count, words in reversed(counts) if count)
            describe(self, tip=f"Strokes show where rows lie: {said}" if said else "")
        return self._told[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not (told := self.told) or self._figure is None:
            return
        painter, colours = QPainter(self), appearance().colours
        height, count = self.height() - _HEIGHT, max(len(self._figure.rows) - 1, 1)
        for row, role in told.items():
            stroke = QRectF(0, height * row / count, self.width(), _HEIGHT)
            painter.fillRect(stroke, QColor(colour_of(role, colours)))


def _dots(mark: AnyMark) -> set[Ink]:
    return {part.ink for part in mark.parts if isinstance(part, Dot)}
