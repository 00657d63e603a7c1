"""How a cell of the budget table is drawn and edited: exact text, a refused entry stays open with its reason."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from phexplore.gui.binding.budget_row import CHECKED, Column
from phexplore.gui.binding.budget_table import COLUMN_ROLE, LOOK_ROLE, REFUSAL_ROLE, CellLook
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.exact_field import ExactLine

Index = QModelIndex | QPersistentModelIndex
_SYMBOL = 2 * GRID
_PADDING = 6
_SUBMIT = frozenset({int(Qt.Key.Key_Return), int(Qt.Key.Key_Enter), int(Qt.Key.Key_Tab), int(Qt.Key.Key_Backtab)})


class CellDelegate(QStyledItemDelegate):
    """Edits typed columns with an exact line and ticks the others.

    Signals:
        submitted: the key that ended an accepted entry, for the table to move on as a spreadsheet does.
    """

    submitted = Signal(object)

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._bubble = Bubble(viewport)
        self._index = QPersistentModelIndex()
        self._fonts: tuple[tuple[QFont, QFontMetrics], ...] = ()
        appearance().changed.connect(self._take_fonts)
        self._take_fonts()

    @property
    def reason(self) -> str:
        """Why the entry in the open editor is refused, "" when it is not."""
        return self._bubble.text

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = ExactLine(str(index.data(Qt.ItemDataRole.AccessibleTextRole)), parent)
        editor.setProperty("look", "cell")
        self._index = QPersistentModelIndex(index)
        return editor

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        self._bubble.hide()
        super().destroyEditor(editor, index)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, ExactLine) and not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()
            self._show_refusal(editor, index)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, ExactLine):
            model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, ExactLine) and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _SUBMIT:
                self._submit(watched, event.key())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._restore(watched)
                return True
        return super().eventFilter(watched, event)

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        if index.data(COLUMN_ROLE) not in CHECKED:
            return super().editorEvent(event, model, option, index)
        if event.type() == QEvent.Type.MouseButtonDblClick:
            return True  # the second click of a double click arrives as a release, too
        pressed = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if event.type() == QEvent.Type.MouseButtonRelease or (pressed and _is_space(event)):
            return toggle(model, index)
        return False

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a cell from its look alone: an edit redraws fifty of them within one frame."""
        look: CellLook = index.data(LOOK_ROLE)
        colours = appearance().colours
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(rect, QColor(colours.accent))
        elif look.paper is not None:
            painter.fillRect(rect, look.paper)
        starts = index.row() > 0 and _starts_group(look, index)
        if look.column is Column.PUBLISHED:
            _paint_tick(painter, rect, look)
        elif look.column is Column.LOCK:
            _paint_lock(painter, rect, look, selected=selected)
        else:
            repeated = look.column is Column.TABLE and index.row() > 0 and not starts
            ink = QColor(colours.accent_text) if selected else QColor(colours.muted) if repeated else look.ink
            self._paint_text(painter, rect, look, ink, bold=look.bold and not repeated)
        if index.row() > 0:
            painter.setPen(QColor(colours.ghost if starts else colours.grid))
            painter.drawLine(rect.topLeft(), rect.topRight())
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(colours.text))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_text(self, painter: QPainter, rect: QRect, look: CellLook, ink: QColor, *, bold: bool) -> None:
        font, metrics = self._fonts[bold]
        room = rect.adjusted(_PADDING, 0, -_PADDING, 0)
        painter.setFont(font)
        painter.setPen(ink)
        # A number cut off at its end would be another number: what has no room ends in an ellipsis.
        text = metrics.elidedText(look.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, look.alignment, text)

    def _take_fonts(self) -> None:
        fonts = (appearance().font(), appearance().font(bold=True))
        self._fonts = tuple((font, QFontMetrics(font)) for font in fonts)

    def _submit(self, editor: ExactLine, key: int) -> None:
        index = QModelIndex(self._index)  # type: ignore[call-overload]
        self.commitData.emit(editor)
        if self._show_refusal(editor, index):
            editor.selectAll()
            return
        self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.NoHint)
        self.submitted.emit(key)

    def _restore(self, editor: ExactLine) -> None:
        index = QModelIndex(self._index)  # type: ignore[call-overload]
        index.model().setData(index, None, REFUSAL_ROLE)
        self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.RevertModelCache)

    def _show_refusal(self, editor: ExactLine, index: Index) -> bool:
        refusal = index.data(REFUSAL_ROLE)
        editor.set_refused(refusal.full if refusal else "")
        self._bubble.say(refusal.full if refusal else "", editor.geometry())
        return refusal is not None


def toggle(model: QAbstractItemModel, index: Index) -> bool:
    """Tick or untick a cell; return whether it could be."""
    if not model.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
        return False
    checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
    state = Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked
    return bool(model.setData(index, state, Qt.ItemDataRole.CheckStateRole))


def _is_space(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() in {Qt.Key.Key_Space, Qt.Key.Key_Select}


def _starts_group(look: CellLook, index: Index) -> bool:
    """Whether the row above is of another table."""
    above: CellLook = index.sibling(index.row() - 1, index.column()).data(LOOK_ROLE)
    return above.table != look.table


def _paint_tick(painter: QPainter, rect: QRect, look: CellLook) -> None:
    """Paint a tick as the style sheet draws those of forms."""
    colours = appearance().colours
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


def _paint_lock(painter: QPainter, rect: QRect, look: CellLook, *, selected: bool) -> None:
    colours = appearance().colours
    ink = colours.accent_text if selected else colours.text if look.checked else colours.border
    picture = pixmap("locked" if look.checked else "unlocked", ink, 2 * _SYMBOL)
    target = QRect(rect.center().x() - _SYMBOL // 2, rect.center().y() - _SYMBOL // 2, _SYMBOL, _SYMBOL)
    painter.drawPixmap(target, picture)
