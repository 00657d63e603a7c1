"""How cells of the budget table are drawn: from their looks alone, an edit redraws fifty of them within one frame."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from phexplore.gui.systems.phsafe.budget_row import Column
from phexplore.gui.systems.phsafe.budget_table import CellStyle
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID

_SYMBOL = 2 * GRID
_PADDING = 6


class CellPainter:
    """Draws cells with colours and fonts looked up once per picture."""

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter
        self._colours = appearance().colours
        self._accent, self._accent_text = QColor(self._colours.accent), QColor(self._colours.accent_text)
        self._muted, self._text = QColor(self._colours.muted), QColor(self._colours.text)
        self._edge, self._line = QColor(self._colours.ghost), QColor(self._colours.grid)
        self._letters = (lettering(), lettering(bold=True))

    def paint(self, rect: QRect, look: CellStyle, *, starts: bool, first: bool, selected: bool, focused: bool) -> None:
        """Draw a cell.

        Args:
            rect: in pixels.
            look: what to draw.
            starts: whether the row above is of another table.
            first: whether there is no row above.
            selected: whether the cell is selected.
            focused: whether the cursor is on it.
        """
        painter = self._painter
        if selected:
            painter.fillRect(rect, self._accent)
        elif look.paper is not None:
            painter.fillRect(rect, look.paper)
        if look.column is Column.PUBLISHED:
            self._paint_tick(rect, look)
        elif look.column is Column.LOCK:
            self._paint_lock(rect, look, selected=selected)
        else:
            repeated = look.column is Column.TABLE and not first and not starts
            ink = self._accent_text if selected else self._muted if repeated else look.ink
            self._paint_text(rect, look, ink, bold=look.bold and not repeated)
        if not first:
            painter.setPen(self._edge if starts else self._line)
            painter.drawLine(rect.topLeft(), rect.topRight())
        if focused:
            painter.setPen(self._text)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_text(self, rect: QRect, look: CellStyle, ink: QColor, *, bold: bool) -> None:
        letters = self._letters[bold]
        room = rect.width() - 2 * _PADDING
        # A number cut off at its end would be another number: what has no room ends in an ellipsis.
        text = letters.elided(look.text, room)
        left = rect.left() + _PADDING
        if not look.alignment & Qt.AlignmentFlag.AlignLeft.value:
            spare = room - letters.width(text)
            left += round(spare if look.alignment & Qt.AlignmentFlag.AlignRight.value else spare / 2)
        self._painter.setPen(ink)
        letters.paint(self._painter, left, rect.top() + round((rect.height() - letters.height) / 2), text)

    def _paint_tick(self, rect: QRect, look: CellStyle) -> None:
        """Paint a tick as the style sheet draws those of forms."""
        painter, colours = self._painter, self._colours
        checked, enabled = look.checked, bool(look.flags & Qt.ItemFlag.ItemIsUserCheckable)
        box = QRectF(0, 0, _SYMBOL - 1, _SYMBOL - 1)
        box.moveCenter(QRectF(rect).center())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = (colours.accent if enabled else colours.ghost) if checked else colours.base
        painter.setBrush(QColor(fill))
        painter.setPen(QPen(QColor(fill if checked else colours.outline), 1))
        painter.drawRoundedRect(box, 4, 4)
        if checked:
            painter.drawPixmap(box.adjusted(1, 1, -1, -1).toRect(), pixmap("tick", colours.accent_text, 2 * _SYMBOL))
        painter.restore()

    def _paint_lock(self, rect: QRect, look: CellStyle, *, selected: bool) -> None:
        colours = self._colours
        ink = colours.accent_text if selected else colours.text if look.checked else colours.border
        picture = pixmap("locked" if look.checked else "unlocked", ink, 2 * _SYMBOL)
        target = QRect(rect.center().x() - _SYMBOL // 2, rect.center().y() - _SYMBOL // 2, _SYMBOL, _SYMBOL)
        self._painter.drawPixmap(target, picture)
