"""What is done with the selected cells of a table: blocks to and from spreadsheets, and the commands of its room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QTableView

from phexplore.errors import PhexploreError
from phexplore.figures.wording import counted, first_few
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.tables.blocks import block_text, read_block
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.parameter_table import Entry, ParameterColumn
from phexplore.gui.widgets.menus import open_menu

Index = QModelIndex | QPersistentModelIndex


_ALLOWED = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
"""With what a key still stands for a command; with Shift only signs such as +, which need it on many keyboards."""


@dataclass(frozen=True, slots=True)
class TableCommand:
    """What a room does with the selected cells: a line of the context menu, and a key.

    Attributes:
        text: in the menu.
        run: does it.
        is_enabled: whether it can be done now.
        key: that does it while the table has the focus; None for none.
        starts_part: whether a line parts it from the command above.
    """

    text: str
    run: Callable[[], object]
    is_enabled: Callable[[], bool]
    key: Qt.Key | None = None
    starts_part: bool = False


class TableCommands:
    """Copy, paste, fill down, and what the room adds, as keys and as the context menu."""

    def __init__(self, session: SystemSession[Any], view: QTableView, model: ParameterModel) -> None:
        self._session, self._view, self._model = session, view, model
        self.own: Sequence[TableCommand] = ()
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)

    def copy(self, *, headers: bool = False) -> None:
        """Copy the block around the selected cells: exact numbers, tab separated."""
        indexes = self._indexes()
        if indexes:
            rows = [self._model.rows[number] for number in sorted({index.row() for index in indexes})]
            block = block_text(self._model.table, rows, self._columns(indexes), headers=headers)
            QGuiApplication.clipboard().setText(block)

    def paste(self) -> bool:
        """Paste a block, as one step or not at all; return whether it was taken."""
        indexes = self._indexes()
        if not indexes:
            return self._session.report(Refusal("", "No cell is chosen.", "Click the first cell of the block."))
        rows, columns = {index.row() for index in indexes}, self._columns()
        column = columns.index(self._model.table.columns[min(index.column() for index in indexes)])
        pasted = QGuiApplication.clipboard().text()
        return self._enter(pasted, self._model.rows, columns, row=min(rows), column=column, selected=len(rows))

    def fill_down(self) -> bool:
        """Repeat the first selected row's values in the rows below it, as one step."""
        table, indexes = self._model.table, self._view.selectedIndexes()
        rows = [self._model.rows[number] for number in sorted({index.row() for index in indexes})]
        columns = [
            column
            for column in self._columns(indexes)
            if column.step is not None and not column.kind.is_checked and rows[0].place(column.key) is not None
        ]
        if len(rows) < 2 or not columns:
            return self._session.report(
                Refusal("", "There is nothing to fill down.", "Select a value and the cells below it.")
            )
        block = block_text(table, rows[:1], columns, headers=False) * (len(rows) - 1)
        return self._enter(block, rows[1:], columns, row=0, column=0, label="Fill down")

    def clear(self) -> bool:
        """Empty the selected cells that are typed in, as one step."""
        model = self._model
        places = [(model.rows[index.row()], model.table.columns[index.column()]) for index in self._indexes()]
        entries = [
            Entry(row, column, "")
            for row, column in places
            if column.step is not None and not column.kind.is_checked and column.started(row)
        ]
        if not entries:
            return self._session.report(
                Refusal("", "No chosen cell can be emptied.", "Choose a cell that is typed in.")
            )
        try:
            name, edit = model.table.plan(entries)
        except (ValueError, PhexploreError):
            return self._session.report(
                Refusal("", "Nothing was emptied: a chosen cell needs a value.", "Type another one.")
            )
        return self._session.report(self._session.edit(name, edit))

    def run_key(self, event: QKeyEvent) -> bool:
        """Do what a key stands for; return whether it stands for something."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.modifiers() & ~_ALLOWED or (_is_shifted(event) and not _is_sign(event.text())):
            return False
        else:
            known = (*self.own, *self._clearing())
            command = next((each for each in known if each.key == event.key() and each.is_enabled()), None)
            if command is None:
                return False
            command.run()
        return True

    def menu(self) -> QMenu:
        """Return the menu of the selected cells."""
        menu = QMenu(self._view)
        indexes = self._indexes()
        general = (
            TableCommand("Copy", self.copy, lambda: bool(indexes)),
            TableCommand("Copy with headers", lambda: self.copy(headers=True), lambda: bool(indexes)),
            TableCommand("Paste", self.paste, lambda: bool(indexes)),
            *self._clearing(),
            TableCommand("Fill down", self.fill_down, lambda: len({index.row() for index in indexes}) > 1),
        )
        for command in (*general, *self.own):
            if command.starts_part:
                menu.addSeparator()
            action = menu.addAction(command.text)
            action.setEnabled(command.is_enabled())
            action.triggered.connect(lambda _checked, run=command.run: run())
        return menu

    def _clearing(self) -> tuple[TableCommand, ...]:
        """Return the command that empties cells, none where the room gives its key another meaning."""
        key = Qt.Key.Key_Delete
        is_taken = any(each.key == key for each in self.own)
        return () if is_taken else (TableCommand("Clear", self.clear, lambda: bool(self._indexes()), key),)

    def _open_menu(self, position: QPoint) -> None:
        open_menu(self.menu(), self._view, position)

    def _enter(
        self,
        pasted: str,
        rows: Sequence[Any],
        columns: Sequence[ParameterColumn[Any]],
        *,
        row: int,
        column: int,
        selected: int = 1,
        label: str = "",
    ) -> bool:
        """Enter a block as one step; return whether it was taken."""
        table = self._model.table
        try:
            entries: list[Entry] = read_block(pasted, table, rows, columns, row=row, column=column, selected=selected)
            if not entries:
                self._session.done.emit("Nothing changed: the table shows these values already.")
                return True
            name, edit = table.plan(entries)
        except (ValueError, PhexploreError) as error:
            return self._session.report(Refusal("", str(error), getattr(error, "remedy", "")))
        if not self._session.report(self._session.edit(label or name, edit)):
            return False
        self._show_changed(entries)
        return True

    def _show_changed(self, entries: Sequence[Entry]) -> None:
        """Select the cells that were changed, and say which: they may be out of sight."""
        lines = {row.key: number for number, row in enumerate(self._model.rows)}
        chosen = QItemSelection()
        for row, head, _typed in (entry for entry in entries if entry.row.key in lines):
            index = self._model.index(lines[row.key], self._model.table.number(head.key))
            chosen.select(index, index)
        self._view.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        changed = first_few(list(dict.fromkeys(row.title_at(head) for row, head, _typed in entries)))
        self._session.done.emit(f"{counted(len(entries), 'value')} changed: {changed}.")

    def _indexes(self) -> list[QModelIndex]:
        """Return the selected cells, or the current one."""
        here = self._view.currentIndex()
        return self._view.selectedIndexes() or ([here] if here.isValid() else [])

    def _columns(self, indexes: Sequence[Index] | None = None) -> list[ParameterColumn[Any]]:
        """Return the columns on screen, of some cells or all."""
        chosen = None if indexes is None else {index.column() for index in indexes}
        return [
            column
            for number, column in enumerate(self._model.table.columns)
            if not self._view.isColumnHidden(number) and (chosen is None or number in chosen)
        ]


def _is_shifted(event: QKeyEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)


def _is_sign(text: str) -> bool:
    return bool(text.strip()) and text.isprintable() and not text.isalnum()
