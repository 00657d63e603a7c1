"""Words of a cell that are shortened to it without a cut number, and words of a line that go on in a second one."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from phexplore.gui.theme.lettering import elided
from phexplore.gui.theme.metrics import GRID

_AROUND = 4 * GRID
"""More than a cell keeps free around its words, in pixels."""
_LINE = "\u2028"
"""What Qt puts between the lines of a cell before it shows them."""
_WIDE = 10_000
"""More than any line is wide, in pixels."""


class CellText(QStyledItemDelegate):
    """Shortens the words of a cell: Qt would cut a year, or an amount, and what is left would read as another."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if not option.rect.isValid() or option.features & QStyleOptionViewItem.ViewItemFeature.WrapText:
            return
        if option.fontMetrics.horizontalAdvance(option.text) + _AROUND < option.rect.width():
            return  # most cells: asking the style costs more than painting them
        style = option.widget.style()
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, option.widget) + 1
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget).width() - 2 * margin
        lines = option.text.split(_LINE)
        option.text = _LINE.join(elided(option.fontMetrics, line, room, option.textElideMode) for line in lines)


class WrappedText(QStyledItemDelegate):
    """Gives a line the height that its words need where they are painted: Qt breaks them as if nothing were around them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        if not option.rect.isValid():
            return super().sizeHint(option, index)
        width, line = option.rect.width(), QStyleOptionViewItem(option)
        line.rect = QRect(0, 0, _WIDE, _WIDE)
        unbroken = super().sizeHint(line, index).height()
        self.initStyleOption(line, index)
        style = option.widget.style()
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, line, option.widget) + 1
        line.rect = QRect(0, 0, width, unbroken)
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, line, option.widget)
        place = QRect(0, 0, room.width() - 2 * margin, _WIDE)
        words = line.fontMetrics.boundingRect(place, Qt.TextFlag.TextWordWrap, line.text)
        return QSize(width, max(unbroken, unbroken - room.height() + words.height()))
