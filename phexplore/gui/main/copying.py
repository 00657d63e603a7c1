"""Ctrl+C in any table or list: the chosen rows with their headers, as text a spreadsheet takes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTableView, QTreeView, QWidget

from phexplore.files.spreadsheet import safe_cell
from phexplore.gui.widgets.menus import offer

_KNOWN = "copies_rows"


def rows_text(view: QAbstractItemView) -> str:
    """Return the chosen rows of a view, all of them when none is chosen, tab-separated; several columns get headers."""
    model, parent = view.model(), view.rootIndex()
    columns = _columns(view)
    chosen = sorted({index.row() for index in view.selectedIndexes()}) or list(range(model.rowCount(parent)))

    def text(value: object) -> str:
        return "" if value is None else safe_cell(str(value).replace("\t", " ").replace("\n", " "))

    lines = [[text(model.index(row, column, parent).data()) for column in columns] for row in chosen]
    if len(columns) > 1:
        lines.insert(0, [text(model.headerData(column, Qt.Orientation.Horizontal)) for column in columns])
    return "".join("\t".join(line) + "\n" for line in lines)


def _columns(view: QAbstractItemView) -> list[int]:
    """Return the columns that can be seen. Models of lists do not say that they have one."""
    if not isinstance(view, QTableView | QTreeView):
        return [0]
    count = view.model().columnCount(view.rootIndex())
    return [column for column in range(count) if not view.isColumnHidden(column)]


class TableCopies(QObject):
    """Watches which table or list has the focus; those that copy by themselves are left alone."""

    def __init__(self, application: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        application.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Copy on the system's key for it: views themselves would copy the one current cell."""
        if (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.matches(QKeySequence.StandardKey.Copy)
            and isinstance(watched, QAbstractItemView)
        ):
            QGuiApplication.clipboard().setText(rows_text(watched))
            return True
        return False

    def _on_focus(self, _before: QWidget | None, after: QWidget | None) -> None:
        if (
            not isinstance(after, QAbstractItemView)
            or hasattr(after, "commands")
            or hasattr(after, "copy")
            or after.property(_KNOWN)
        ):
            return
        after.setProperty(_KNOWN, True)
        after.installEventFilter(self)
        if after.contextMenuPolicy() == Qt.ContextMenuPolicy.DefaultContextMenu:
            offer(after, {"Copy with headers": lambda: QGuiApplication.clipboard().setText(rows_text(after))})
