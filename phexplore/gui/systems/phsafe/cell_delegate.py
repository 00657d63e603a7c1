"""How a cell of the budget table is drawn and edited: exact text, a refused entry stays open with its reason."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from phexplore.gui.systems.phsafe.budget_row import CHECKED
from phexplore.gui.systems.phsafe.budget_table import COLUMN_ROLE, REFUSAL_ROLE, STYLE_ROLE, CellStyle
from phexplore.gui.systems.phsafe.cell_painting import CellPainter
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.exact_field import ExactLine

Index = QModelIndex | QPersistentModelIndex
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
        """Draw one cell; the budget table draws its cells itself, without asking for each of them through Qt."""
        look: CellStyle = index.data(STYLE_ROLE)
        first = index.row() == 0
        above = None if first else index.sibling(index.row() - 1, index.column()).data(STYLE_ROLE)
        CellPainter(painter).paint(
            option.rect,
            look,
            starts=above is not None and above.table != look.table,
            first=first,
            selected=bool(option.state & QStyle.StateFlag.State_Selected),
            focused=bool(option.state & QStyle.StateFlag.State_HasFocus),
        )

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
