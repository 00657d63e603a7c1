"""How cells of a table are drawn and edited: exact text, and a refused entry stays open with its reason."""

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

from phexplore.gui.tables.model import REFUSAL_ROLE
from phexplore.gui.tables.parameter_table import Cell, Kind, Tone
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.buttons import tick_side
from phexplore.gui.widgets.exact_field import ExactLine

Index = QModelIndex | QPersistentModelIndex
_SYMBOL, _SMALL_LOCK, _PADDING = 2 * GRID, 12, 6
_SUBMIT = frozenset({int(Qt.Key.Key_Return), int(Qt.Key.Key_Enter), int(Qt.Key.Key_Tab), int(Qt.Key.Key_Backtab)})


class CellPainter:
    """Draws cells with colours and fonts looked up once per picture: an edit redraws fifty of them within one frame."""

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter
        self._colours = colours = appearance().colours
        self._accent, self._edge, self._line = (QColor(c) for c in (colours.accent, colours.ghost, colours.grid))
        self._inks = {tone: QColor(getattr(colours, tone.value)) for tone in Tone}
        self._papers = {Tone.ATTENTION: QColor(colours.attention_soft), Tone.REFUSED: QColor(colours.refused_soft)}
        self._chosen = QColor(colours.accent_text)
        self._letters = (lettering(), lettering(bold=True))

    def paint(
        self,
        rect: QRect,
        cell: Cell,
        kind: Kind,
        *,
        starts: bool,
        repeated: bool,
        first: bool,
        selected: bool,
        focused: bool,
    ) -> None:
        """Draw a cell.

        Args:
            rect: in pixels.
            cell: what to draw.
            kind: of its column.
            starts: whether a group of rows begins here.
            repeated: whether the row above says the same.
            first: whether there is no row above.
            selected: whether the cell is selected.
            focused: whether the cursor is on it.
        """
        painter = self._painter
        selected = selected and cell.tone is not Tone.REFUSED  # on the accent it would read as the value
        if selected:
            painter.fillRect(rect, self._accent)
        elif (paper := self._paper(cell)) is not None:
            painter.fillRect(rect, paper)
        if kind is Kind.TICK:
            self._paint_tick(rect, cell)
        elif kind is Kind.LOCK:
            ink = self._colours.text if cell.is_checked else self._colours.outline
            self._paint_lock(rect, rect.width() // 2, _SYMBOL, ink, selected=selected, locked=cell.is_checked)
        else:
            pen = self._chosen if selected else self._inks[Tone.QUIET if repeated else cell.tone]
            self._paint_text(rect, cell.text, kind, pen, bold=cell.is_bold and not repeated)
        if cell.is_locked:
            self._paint_lock(rect, 10, _SMALL_LOCK, self._colours.muted, selected=selected, locked=True)
        if not first:
            painter.setPen(self._edge if starts else self._line)
            painter.drawLine(rect.topLeft(), rect.topRight())
        if focused:
            painter.setPen(self._inks[Tone.PLAIN])
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paper(self, cell: Cell) -> QColor | None:
        if (paper := self._papers.get(cell.tone)) is not None:
            return paper
        if cell.tint:
            paper = QColor(self._colours.accent_soft)
            paper.setAlphaF(cell.tint)
            return paper
        return QColor(self._colours.alternate) if cell.is_shaded else None

    def _paint_text(self, rect: QRect, text: str, kind: Kind, pen: QColor, *, bold: bool) -> None:
        letters = self._letters[bold]
        room = rect.width() - 2 * _PADDING
        # A number cut off at its end would be another number: what has no room ends in an ellipsis. Names differ at their end.
        mode = Qt.TextElideMode.ElideRight if kind is Kind.NUMBER else Qt.TextElideMode.ElideMiddle
        text = letters.elided(text, room, mode)
        left = rect.left() + _PADDING
        if kind is Kind.NUMBER:
            left += round(room - letters.width(text))
        self._painter.setPen(pen)
        letters.paint(self._painter, left, rect.top() + round((rect.height() - letters.height) / 2), text)

    def _paint_tick(self, rect: QRect, cell: Cell) -> None:
        """Paint a tick as the style sheet draws those of forms."""
        painter, colours = self._painter, self._colours
        side = tick_side()
        box = QRectF(0, 0, side - 1, side - 1)
        box.moveCenter(QRectF(rect).center())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = (colours.accent if cell.is_open else colours.ghost) if cell.is_checked else colours.base
        painter.setBrush(QColor(fill))
        painter.setPen(QPen(QColor(fill if cell.is_checked else colours.outline), 1))
        painter.drawRoundedRect(box, 4, 4)
        if cell.is_checked:
            painter.drawPixmap(box.adjusted(1, 1, -1, -1).toRect(), pixmap("tick", colours.accent_text, 2 * side))
        painter.restore()

    def _paint_lock(self, rect: QRect, middle: int, size: int, ink: str, *, selected: bool, locked: bool) -> None:
        picture = pixmap("locked" if locked else "unlocked", self._colours.accent_text if selected else ink, 2 * size)
        left, top = rect.left() + middle - size // 2, rect.center().y() - size // 2
        self._painter.drawPixmap(QRect(left, top, size, size), picture)


class CellDelegate(QStyledItemDelegate):
    """Edits what is typed with an exact line, and ticks the rest. The view draws its cells itself.

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
        role = Qt.ItemDataRole.AccessibleTextRole
        row = index.model().headerData(index.row(), Qt.Orientation.Vertical, role)
        editor = ExactLine(f"{row}, {index.data(role)}", parent)
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
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is None:
            return super().editorEvent(event, model, option, index)
        if event.type() == QEvent.Type.MouseButtonDblClick:
            return True  # the second click of a double click arrives as a release, too
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if event.type() != QEvent.Type.MouseButtonRelease and not (pressed and _is_space(event)):
            return False
        if not model.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        is_checked = Qt.CheckState(state) is Qt.CheckState.Checked
        wanted = Qt.CheckState.Unchecked if is_checked else Qt.CheckState.Checked
        return model.setData(index, wanted, Qt.ItemDataRole.CheckStateRole)

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


def _is_space(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() in {Qt.Key.Key_Space, Qt.Key.Key_Select}
