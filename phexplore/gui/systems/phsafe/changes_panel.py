"""What changed against the reference: a list that reads like sentences."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QSizePolicy, QVBoxLayout

from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.changes import ChangeLine, change_lines, total_line
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text
from phexplore.model.keys import QueryKey


class ChangesPanel(QFrame):
    """Every difference, click to go to its row.

    Signals:
        query_chosen: the `QueryKey` of the sentence clicked.
    """

    query_chosen = Signal(object)

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._lines: tuple[ChangeLine, ...] | None = None
        self.setProperty("look", "card")
        self.title = Paragraph(bold=True, relative=1.08)
        self._about = ElidedText(look="muted")
        self._total = ElidedText()
        self.list = QListWidget()
        self.list.setAccessibleName("Differences to the reference")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        # It takes the room it is given: what it would like to have would squeeze the picture above it.
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.list.setMinimumHeight(8 * GRID)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.itemClicked.connect(self._choose)
        self.list.itemActivated.connect(self._choose)
        self._teaching = Text(look="muted", wrap=True)
        self._teaching.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID + HALF, GRID, GRID)
        column.setSpacing(HALF)
        for widget in (self.title, self._about, self._total, self._teaching):
            column.addWidget(widget)
        column.addWidget(self.list, 1)
        column.addStretch(0)

    def refresh(self) -> None:
        """Show the differences as they stand."""
        shown = self._session.shown
        lines, reference = change_lines(shown), shown.reference
        if reference is None:
            self.title.setText("What changed?")
            self._about.setText("")
            self._teach("Choose above what to compare with: a published preset, or another scenario of this project.")
        elif not lines:
            self.title.setText("Nothing has changed yet")
            self._about.setText(f"against {reference.title}")
            self._teach("Change a threshold, a budget or a margin: every difference is listed here as a sentence.")
        else:
            count = len(lines)
            self.title.setText(f"{count} parameter" + ("" if count == 1 else "s") + " changed")
            self._about.setText(f"against {reference.title}")
            self._total.setText(total_line(shown))
            self._teaching.hide()
            self.list.show()
        if lines != self._lines:
            self._lines = lines
            self._fill(lines)

    def _teach(self, sentence: str) -> None:
        self._total.setText("")
        self._teaching.setText(sentence)
        self._teaching.show()
        self.list.hide()

    def _fill(self, lines: tuple[ChangeLine, ...]) -> None:
        self.list.clear()
        for line in lines:
            item = QListWidgetItem(line.text)
            item.setToolTip(line.text)
            item.setData(Qt.ItemDataRole.UserRole, line.query)
            self.list.addItem(item)

    def _choose(self, item: QListWidgetItem) -> None:
        query = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(query, QueryKey):
            self.query_chosen.emit(query)
