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
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from phexplore.gui.binding.budget_row import CHECKED, Column
from phexplore.gui.binding.budget_table import COLUMN_ROLE, REFUSAL_ROLE, ROW_ROLE
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.exact_field import ExactLine

Index = QModelIndex | QPersistentModelIndex
_SYMBOL = 2 * GRID
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

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        features = QStyleOptionViewItem.ViewItemFeature
        option.features &= ~features.HasCheckIndicator
        if index.data(COLUMN_ROLE) is Column.TABLE and not _starts_group(index):
            colours = appearance().colours
            option.palette.setColor(option.palette.ColorRole.Text, QColor(colours.muted))
            option.font = appearance().font()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        paper = index.data(Qt.ItemDataRole.BackgroundRole)
        if paper is not None:  # the style sheet's item rules do not paint it
            painter.fillRect(rect, paper)
        super().paint(painter, option, index)
        column = index.data(COLUMN_ROLE)
        if column is Column.PUBLISHED:
            _paint_tick(painter, rect, index)
        elif column is Column.LOCK:
            _paint_lock(painter, rect, index)
        if index.row() > 0:
            colours = appearance().colours
            painter.save()
            painter.setPen(QPen(QColor(colours.ghost if _starts_group(index) else colours.grid), 1))
            painter.drawLine(rect.topLeft(), rect.topRight())
            painter.restore()

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


def _starts_group(index: Index) -> bool:
    """Whether the row above is of another table."""
    if index.row() == 0:
        return True
    above = index.sibling(index.row() - 1, index.column()).data(ROW_ROLE)
    here = index.data(ROW_ROLE)
    return bool(above.query.table != here.query.table)


def _paint_tick(painter: QPainter, rect: QRect, index: Index) -> None:
    """Paint a tick as the style sheet draws those of forms."""
    colours = appearance().colours
    checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
    enabled = bool(index.flags() & Qt.ItemFlag.ItemIsUserCheckable)
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


def _paint_lock(painter: QPainter, rect: QRect, index: Index) -> None:
    colours = appearance().colours
    locked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
    picture = pixmap("locked" if locked else "unlocked", colours.text if locked else colours.border, 2 * _SYMBOL)
    target = QRect(rect.center().x() - _SYMBOL // 2, rect.center().y() - _SYMBOL // 2, _SYMBOL, _SYMBOL)
    painter.drawPixmap(target, picture)
