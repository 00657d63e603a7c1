"""The list of runs: one row each, progress drawn in its cell, kept current without losing the selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from phexplore.gui.run_manager.run_rows import RunRow, asked_title, data_words, state_words, time_words, trials_words
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.cell_text import CellText
from phexplore.runs.events import WHOLE_RUN
from phexplore.runs.states import RunState

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

SCENARIO, STATE, PROGRESS, DATA = 0, 1, 2, 5
SHARE_ROLE = Qt.ItemDataRole.UserRole + 1
"""Part of the run that is finished (float), None while nothing can be said."""
ROW_ROLE = Qt.ItemDataRole.UserRole + 2
"""The `RunRow`."""


def progress_words(row: RunRow) -> str:
    """Return the progress in words: percent, then the time left."""
    share = row.share_done
    if share is None:
        return "…" if row.state.has_process and not row.phase else ""
    left = time_words(row.seconds_left) if row.state is RunState.RUNNING and row.phase in WHOLE_RUN else ""
    return " · ".join(part for part in (f"{int(share * 100)} %", left) if part)


COLUMNS: tuple[tuple[str, int, Callable[[RunRow], str]], ...] = (
    ("Scenario", 30, asked_title),
    ("State", 16, state_words),
    ("Progress", 18, progress_words),
    ("Trials", 14, trials_words),
    ("Started", 19, lambda row: row.started),
    ("Data", 19, lambda row: data_words(row.spec)),
)
"""Header, width in letters and text of each; scenario and data share what is left."""


class RunsModel(QAbstractTableModel):
    """The rows of the runs; news change cells, only other runs change rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[RunRow, ...] = ()

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """What is shown, from top to bottom."""
        return self._rows

    def set_rows(self, rows: tuple[RunRow, ...]) -> None:
        """Show these runs."""
        if [row.directory for row in rows] != [row.directory for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        before, self._rows = self._rows, rows
        for place, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old is not new and old != new:
                self.dataChanged.emit(self.index(place, 0), self.index(place, len(COLUMNS) - 1))

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        header, _letters, words = COLUMNS[column]
        found: Any = None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                found = localised(words(row))
            case Qt.ItemDataRole.AccessibleTextRole:
                found = localised(f"{header}: {words(row)}")
            case Qt.ItemDataRole.ToolTipRole:
                found = localised(row.problem or words(row))
            case Qt.ItemDataRole.ForegroundRole if column == STATE and row.state is RunState.FAILED:
                found = QColor(appearance().colours.refused)
            case _ if role == SHARE_ROLE:
                found = row.share_done
            case _ if role == ROW_ROLE:
                found = row
        return found

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return COLUMNS[section][0] if orientation == Qt.Orientation.Horizontal else str(section + 1)


class ProgressDelegate(CellText):
    """Paints a bar under the words of the progress."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        share = index.data(SHARE_ROLE)
        row: RunRow = index.data(ROW_ROLE)
        super().paint(painter, option, index)
        if share is None or row.state is RunState.COMPLETE:
            return
        cell = QRectF(option.rect).adjusted(HALF, 0, -GRID, -3)
        bar = QRectF(cell.left(), cell.bottom() - 4, cell.width(), 4)
        colours = appearance().colours
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.border))
        painter.drawRoundedRect(bar, 2, 2)
        painter.setBrush(QColor(colours.accent_text if chosen else colours.accent_ink))
        painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * share, bar.height()), 2, 2)
        painter.restore()


class RunsTable(QTableView):
    """Shows a `RunsModel`; one run is chosen at a time and stays chosen.

    Signals:
        chosen: the `Path` of the run the user moved to, None when there is none.
        opened: the `Path` of a run to show the results of (Enter, double click).
    """

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = RunsModel(self)
        self._chosen: Path | None = None
        self._following = False
        self.setModel(self._model)
        self.setAccessibleName("Runs of this project")
        self.setItemDelegate(CellText(self))
        self.setItemDelegateForColumn(PROGRESS, ProgressDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().setVisible(False)
        self.horizontalHeader().setHighlightSections(False)
        self.selectionModel().currentRowChanged.connect(self._on_moved)
        self.activated.connect(self._on_activated)
        appearance().changed.connect(self._measure)
        self._measure()

    @property
    def chosen_directory(self) -> Path | None:
        """The chosen run."""
        return self._chosen

    def show_rows(self, rows: tuple[RunRow, ...]) -> None:
        """Show these runs; the chosen one stays chosen, else the newest is."""
        self._following = True
        self._model.set_rows(rows)
        directories = [row.directory for row in rows]
        if self._chosen not in directories:
            self._chosen = directories[0] if directories else None
        if self._chosen is not None and self.currentIndex().row() != directories.index(self._chosen):
            self.selectRow(directories.index(self._chosen))
        self._following = False

    def relocate(self, moved: Mapping[Path, Path]) -> None:
        """Keep the chosen run chosen that was moved with its project."""
        if self._chosen is not None:
            self._chosen = moved.get(self._chosen, self._chosen)

    def choose(self, directory: Path) -> None:
        """Choose a run."""
        for place, row in enumerate(self._model.rows):
            if row.directory == directory:
                self.selectRow(place)

    def _on_moved(self, current: QModelIndex) -> None:
        if self._following:
            return
        row = current.data(ROW_ROLE) if current.isValid() else None
        self._chosen = row.directory if row is not None else None
        self.chosen.emit(self._chosen)

    def _on_activated(self, index: QModelIndex) -> None:
        self.opened.emit(index.data(ROW_ROLE).directory)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give names of scenarios and data the width that is left."""
        super().resizeEvent(event)
        self._measure()

    def _measure(self) -> None:
        letter = self.fontMetrics().averageCharWidth()
        over = max(0, self.viewport().width() - letter * sum(letters for _header, letters, _words in COLUMNS))
        more = {SCENARIO: over - over // 2, DATA: over // 2}
        for column, (_header, letters, _words) in enumerate(COLUMNS):
            self.setColumnWidth(column, letter * letters + more.get(column, 0))
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 2.1))
