"""What changed against the reference: a list that reads like sentences, and what the papers misprint."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QSizePolicy, QVBoxLayout

from phexplore.gui.systems.topdown.changes import TopDownChange, change_lines
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import ElidedText, Text


class TopDownChangesPanel(QFrame):
    """Every difference, click to go to its place; below them the misprints that the preset corrects.

    Signals:
        change_chosen: the `TopDownChange` clicked.
    """

    change_chosen = Signal(object)

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._filled: object = None
        self.setProperty("look", "card")
        self.title = Text(bold=True, relative=1.08, wrap=True)
        self._about = ElidedText(look="muted")
        self._teaching = Text(look="muted", wrap=True)
        self.list = QListWidget()
        self.list.setAccessibleName("Differences to the reference, and corrected misprints")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.list.setMinimumHeight(12 * GRID)
        self.list.itemClicked.connect(self._choose)
        self.list.itemActivated.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID + HALF, GRID, GRID)
        column.setSpacing(HALF)
        for widget in (self.title, self._about, self._teaching):
            column.addWidget(widget)
        column.addWidget(self.list, 1)

    def refresh(self) -> None:
        """Show the differences as they stand."""
        shown = self._session.shown
        lines, reference, origin = change_lines(shown), shown.reference, shown.origin
        errata = origin.errata if origin is not None else ()
        self._about.setText(f"against {reference.title}" if reference is not None else "")
        if reference is None:
            self.title.setText("What changed?")
            self._teach("Choose above what to compare with: a published preset, or another scenario of this project.")
        elif not lines:
            self.title.setText("Nothing has changed yet")
            self._teach("Change a share, the total, a pass or a rule: every difference is listed here as a sentence.")
        else:
            self.title.setText(f"{len(lines)} change" + ("" if len(lines) == 1 else "s"))
            self._teach("")
        if (lines, errata) != self._filled:
            self._filled = (lines, errata)
            self._fill(lines, errata)

    def _teach(self, sentence: str) -> None:
        self._teaching.setText(sentence)
        self._teaching.setVisible(bool(sentence))

    def _fill(self, lines: tuple[TopDownChange, ...], errata: tuple[str, ...]) -> None:
        self.list.clear()
        for line in lines:
            item = QListWidgetItem(line.text)
            item.setToolTip(line.text)
            item.setData(Qt.ItemDataRole.UserRole, line)
            self.list.addItem(item)
        for misprint in errata:
            item = QListWidgetItem(f"Corrected here: {misprint}")
            item.setToolTip(misprint)
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)
            self.list.addItem(item)

    def _choose(self, item: QListWidgetItem) -> None:
        line = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(line, TopDownChange):
            self.change_chosen.emit(line)
