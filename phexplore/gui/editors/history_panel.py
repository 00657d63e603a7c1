"""Every step of the project, click to go there."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from phexplore.gui.binding.history_list import IS_CURRENT_ROLE, STEP_ROLE, TIME_ROLE, HistoryList
from phexplore.gui.binding.session import Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, ROW_PADDING
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.when_seen import WhenSeen

Index = QModelIndex | QPersistentModelIndex


class _StepDelegate(QStyledItemDelegate):
    """Draws the time of a step at the right and a mark at the current one."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(0, QFontMetrics(appearance().font()).height() + ROW_PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect = QRect(option.rect)
        time, small = str(index.data(TIME_ROLE)), appearance().font(relative=0.92)
        room = QFontMetrics(small).horizontalAdvance(time) + 3 * GRID
        option.rect = rect.adjusted(0, 0, -room, 0)
        super().paint(painter, option, index)
        painter.save()
        painter.setPen(QColor(appearance().colours.muted))
        painter.setFont(small)
        painter.drawText(
            rect.adjusted(0, 0, -GRID, 0), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), time
        )
        if index.data(IS_CURRENT_ROLE):
            painter.fillRect(
                QRect(rect.left(), rect.top() + 2, 4, rect.height() - 4), QColor(appearance().colours.accent)
            )
        painter.restore()


class HistoryPanel(QWidget):
    """The list of steps. Undone steps are in italics and can be gone back to until the next edit."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.model = HistoryList(session, self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_StepDelegate(self.list))
        self.list.setUniformItemSizes(True)
        # A long step ends in …, its time is never out of sight; the tip has all of both.
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Steps of the project")
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.activated.connect(self._go)
        self.list.clicked.connect(self._go)
        self._summary = Text(look="muted", wrap=True)
        column(self._summary, (self.list, 1), of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _go(self, index: QModelIndex) -> None:
        self._session.go_to(index.data(STEP_ROLE))

    def _refresh(self, _update: object = None) -> None:
        project = self._session.project
        cursor, undone = project.cursor, len(project.steps) - 1 - project.cursor
        words = f"{cursor + 1} step" + ("" if cursor == 0 else "s")
        more = f", {undone} undone" if undone else ""
        self._summary.setText(
            f"{words}{more}. Click a step to see the project as it was; nothing is lost until you edit."
        )
        if self.list.currentIndex().row() != self.model.cursor:
            self.list.setCurrentIndex(self.model.index(self.model.cursor))
