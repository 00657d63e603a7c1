"""The table of shares on screen: selection, clipboard and keyboard as people know them from a spreadsheet."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyleOptionViewItem, QTableView

from phexplore.gui.binding.session import Refusal
from phexplore.gui.systems.phsafe.budget_table import REFUSAL_ROLE, STYLE_ROLE
from phexplore.gui.systems.phsafe.cell_delegate import CellDelegate
from phexplore.gui.systems.phsafe.table_block import PasteRefusedError
from phexplore.gui.systems.topdown.session import Place, TopDownSession
from phexplore.gui.systems.topdown.share_table import KEY_ROLE, LEVEL_ROW, NAME_COLUMNS, ShareStyle, ShareTable
from phexplore.gui.systems.topdown.shares import Key, cell_of, lock_edit, measured_edit
from phexplore.gui.systems.topdown.table_block import plan_share_paste, shares_text
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.metrics import GRID, ROW_PADDING
from phexplore.model.topdown import LevelQuery

Index = QModelIndex | QPersistentModelIndex
_LOCK = 12
_PADDING = 6
_LONGEST_SHARE = "1,234/4,099"


class SharePainter:
    """Draws cells with colours and fonts looked up once per picture."""

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter
        self._colours = colours = appearance().colours
        self._accent, self._accent_text = QColor(colours.accent), QColor(colours.accent_text)
        self._edge, self._line, self._text = QColor(colours.ghost), QColor(colours.grid), QColor(colours.text)
        self._letters = (lettering(), lettering(bold=True))

    def paint(self, rect: QRect, look: ShareStyle, *, first: bool, selected: bool, focused: bool) -> None:
        """Draw a cell.

        Args:
            rect: in pixels.
            look: what to draw.
            first: whether there is no row above.
            selected: whether the cell is selected.
            focused: whether the cursor is on it.
        """
        painter, letters = self._painter, self._letters[look.bold]
        if selected:
            painter.fillRect(rect, self._accent)
        elif look.paper is not None:
            painter.fillRect(rect, look.paper)
        room = rect.width() - 2 * _PADDING
        # A number cut off at its end would be another number: what has no room ends in an ellipsis.
        text = letters.elided(look.text, room)
        left = rect.left() + _PADDING
        if not look.alignment & Qt.AlignmentFlag.AlignLeft.value:
            left += round(room - letters.width(text))
        painter.setPen(self._accent_text if selected else look.ink)
        letters.paint(painter, left, rect.top() + round((rect.height() - letters.height) / 2), text)
        if look.is_locked:
            picture = pixmap("locked", self._colours.accent_text if selected else self._colours.muted, 2 * _LOCK)
            painter.drawPixmap(QRect(rect.left() + 4, rect.center().y() - _LOCK // 2, _LOCK, _LOCK), picture)
        if not first:
            painter.setPen(self._edge if look.starts_group else self._line)
            painter.drawLine(rect.topLeft(), rect.topRight())
        if focused:
            painter.setPen(self._text)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))


class ShareDelegate(CellDelegate):
    """Edits shares with an exact line."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell; the view draws its cells itself, without asking for each of them through Qt."""
        SharePainter(painter).paint(
            option.rect,
            index.data(STYLE_ROLE),
            first=index.row() == 0,
            selected=bool(option.state & QStyle.StateFlag.State_Selected),
            focused=bool(option.state & QStyle.StateFlag.State_HasFocus),
        )


class ShareView(QTableView):
    """Shows the shares; Space measures a query group or stops it, L locks, F shows exact fractions."""

    place_entered = Signal(object)
    """The `Place` of the cell the cursor came to."""

    def __init__(self, session: TopDownSession, table: ShareTable) -> None:
        super().__init__()
        self._session, self._table = session, table
        self._following = False
        self.setModel(table)
        self.setAccessibleName("Shares of levels and query groups")
        self.setAccessibleDescription(
            "One row per query group, one column per level. Type to edit, Enter to commit, Escape to restore, Space to "
            "measure a query group or to stop, L to lock."
        )
        self.cells = ShareDelegate(self.viewport())
        self.cells.submitted.connect(self._move_on)
        self.setItemDelegate(self.cells)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        heads = self.horizontalHeader()
        heads.setHighlightSections(False)
        heads.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        heads.setMinimumSectionSize(3 * GRID)
        table.modelReset.connect(self._measure)
        appearance().changed.connect(self._measure)
        self._measure()

    @property
    def place(self) -> Place:
        """What the cursor is on: a query at a level, a level, or nothing."""
        found = self.currentIndex().data(KEY_ROLE) if self.currentIndex().isValid() else None
        return found if isinstance(found, LevelQuery | str) else None

    def show_place(self, place: Place) -> None:
        """Put the cursor on a share."""
        if place is None or place == self.place:
            return
        found = self._table.place_of(place)
        if found is not None:
            self._following = True
            self.setCurrentIndex(self._table.index(*found))
            self._following = False

    def selected_keys(self) -> list[Key]:
        """Return the shares in the selected cells, row by row."""
        indexes = self.selectedIndexes() or [self.currentIndex()]
        ordered = sorted(indexes, key=lambda index: (index.row(), index.column()))
        return [key for index in ordered if isinstance(key := index.data(KEY_ROLE), LevelQuery | str)]

    def copy(self, *, headers: bool = False) -> None:
        """Copy the selected block: exact numbers, tab separated."""
        indexes = self.selectedIndexes() or [self.currentIndex()]
        rows = sorted({index.row() for index in indexes if index.isValid()})
        columns = sorted({index.column() for index in indexes if index.isValid()})
        grid = [[self._table.key_at(row, column) for column in columns] for row in rows]
        if any(key is not None for line in grid for key in line):
            shown = self._session.shown
            QGuiApplication.clipboard().setText(shares_text(grid, self._table.quantity, shown, headers=headers))

    def paste(self) -> bool:
        """Paste a block, as one step or not at all; return whether it was taken."""
        indexes = self.selectedIndexes() or [self.currentIndex()]
        if not indexes[0].isValid():
            return self._session.report(Refusal("", "No cell is chosen.", "Click the first cell of the block."))
        row, column = min(index.row() for index in indexes), min(index.column() for index in indexes)
        selected = len({index.row() for index in indexes})
        return self._paste(QGuiApplication.clipboard().text(), row, column, selected)

    def _paste(self, pasted: str, row: int, column: int, selected: int = 1) -> bool:
        table = [
            [self._table.key_at(down, right) for right in range(self._table.columnCount())]
            for down in range(self._table.rowCount())
        ]
        try:
            plan = plan_share_paste(
                pasted, table, self._table.quantity, self._session.shown, row=row, column=column, selected=selected
            )
        except PasteRefusedError as error:
            return self._session.report(Refusal("", error.sentence, error.remedy))
        return plan.count == 0 or self._session.report(self._session.edit(plan.label, plan.edit))

    def fill_down(self) -> bool:
        """Repeat the first selected row's shares in the rows below it, as one step."""
        indexes = self.selectedIndexes()
        rows, columns = sorted({i.row() for i in indexes}), sorted({i.column() for i in indexes})
        first = [[self._table.key_at(rows[0], column) for column in columns]] if rows else []
        if len(rows) < 2 or any(key is None for line in first for key in line):
            return self._session.report(
                Refusal("", "There is nothing to fill down.", "Select a share and the cells below it.")
            )
        shown = self._session.shown
        line = shares_text(first, self._table.quantity, shown, headers=False)
        return self._paste(line * (len(rows) - 1), rows[1], columns[0])

    def toggle_lock(self) -> None:
        """Lock the selected shares, or unlock them if all are locked."""
        shown = self._session.shown
        keys = [key for key in self.selected_keys() if cell_of(shown, key).share is not None]
        if not keys:
            return
        label, edit = lock_edit(keys, locked=not all(cell_of(shown, key).is_locked for key in keys))
        self._session.report(self._session.edit(label, edit))

    def toggle_measured(self) -> None:
        """Measure the query group under the cursor at its level, or stop."""
        place, shown = self.place, self._session.shown
        if isinstance(place, LevelQuery):
            label, edit = measured_edit(shown, place, measured=place not in shown.method.query_shares)
            self._session.report(self._session.edit(label, edit))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        here = self.currentIndex()
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.key() == Qt.Key.Key_Space:
            self.toggle_measured()
        elif event.key() == Qt.Key.Key_L and plain:
            self.toggle_lock()
        elif event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._step(1, 0)
        elif event.key() == Qt.Key.Key_Escape and here.data(REFUSAL_ROLE) is not None:
            self._table.setData(here, None, REFUSAL_ROLE)
        elif plain and event.text() and (event.text().isdigit() or event.text() in "./,±"):
            self._type_over(event)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells from their looks: Qt would ask the model a dozen questions for each of them."""
        canvas = QPainter(self.viewport())
        canvas.fillRect(event.rect(), QColor(appearance().colours.base))
        cells, chosen, here = SharePainter(canvas), self.selectionModel(), self.currentIndex()
        area, has_focus = event.rect(), self.hasFocus()
        columns = [
            (column, self.columnViewportPosition(column), self.columnWidth(column))
            for column in range(self._table.columnCount())
        ]
        columns = [each for each in columns if each[1] <= area.right() and each[1] + each[2] >= area.left()]
        for row in range(self._table.rowCount()):
            top, height = self.rowViewportPosition(row), self.rowHeight(row)
            if top > area.bottom() or top + height < area.top():
                continue
            for column, left, width in columns:
                cells.paint(
                    QRect(left, top, width, height),
                    self._table.look(row, column),
                    first=row == 0,
                    selected=chosen.isSelected(self._table.index(row, column)),
                    focused=has_focus and row == here.row() and column == here.column(),
                )
        canvas.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill_width()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and not self._following:
            self.place_entered.emit(current.data(KEY_ROLE))

    def _type_over(self, event: QKeyEvent) -> None:
        """Open the editor with the typed character, as a spreadsheet does."""
        if self.edit(self.currentIndex(), QAbstractItemView.EditTrigger.AllEditTriggers, event):
            editor = self.indexWidget(self.currentIndex()) or QGuiApplication.focusObject()
            if hasattr(editor, "setText"):
                editor.setText(event.text())
                if hasattr(editor, "setModified"):
                    editor.setModified(True)

    def _move_on(self, key: int) -> None:
        steps = {int(Qt.Key.Key_Tab): (0, 1), int(Qt.Key.Key_Backtab): (0, -1)}
        self._step(*steps.get(key, (1, 0)))

    def _step(self, down: int, right: int) -> None:
        here = self.currentIndex()
        target = here.sibling(here.row() + down, here.column() + right) if here.isValid() else here
        if target.isValid():
            self.setCurrentIndex(target)

    def _measure(self) -> None:
        """Fit rows and columns to the font, once: never to the contents."""
        normal, bold = QFontMetrics(appearance().font()), QFontMetrics(appearance().font(bold=True))
        self.verticalHeader().setDefaultSectionSize(normal.height() + ROW_PADDING)
        self.setColumnWidth(1, normal.horizontalAdvance("1,227,744") + 2 * GRID)
        for column in range(NAME_COLUMNS, self._table.columnCount()):
            title = str(self._table.headerData(column, Qt.Orientation.Horizontal))
            widest = max(bold.horizontalAdvance(_LONGEST_SHARE), normal.horizontalAdvance(title))
            self.setColumnWidth(column, widest + 2 * GRID + 2)
        self._fill_width()

    def _fill_width(self) -> None:
        """Give the names what the levels leave, at least room for a long one."""
        metrics = QFontMetrics(appearance().font())
        names = [str(self._table.index(row, 0).data()) for row in range(LEVEL_ROW, self._table.rowCount())]
        widest = min(max((metrics.horizontalAdvance(name) for name in names), default=0) + 2 * GRID, 36 * GRID)
        others = sum(self.columnWidth(column) for column in range(1, self._table.columnCount()))
        self.setColumnWidth(0, max(widest, self.viewport().width() - others))
