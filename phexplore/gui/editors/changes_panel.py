"""What changed against the reference: a list that reads like sentences, and the misprints that the preset corrects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QSizePolicy

from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.labels import ElidedText, Paragraph, stand_on_card
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.systems.registry import find_preset


@dataclass(frozen=True, slots=True)
class Changes:
    """What a system says of the differences to the reference.

    Attributes:
        lines: gives every difference.
        hint: what can be changed, for who changed nothing yet.
        total: gives what all differences cost together, "" for nothing to say.
    """

    lines: Callable[[], tuple[ChangeLine, ...]]
    hint: str
    total: Callable[[], str] = str


class ChangesPanel(QFrame):
    """Every difference, click to go to its place.

    Signals:
        chosen: the `ChangeLine` clicked.
    """

    chosen = Signal(object)

    def __init__(self, session: SystemSession[Any], changes: Changes) -> None:
        """Follow a session.

        Args:
            session: of the system.
            changes: what it says of the differences.
        """
        super().__init__()
        self._session, self._changes = session, changes
        self._filled: object = None
        self.setProperty("look", "card")
        self.title = Paragraph(bold=True, relative=1.08)
        self._about = ElidedText(look="muted")
        self._total = ElidedText()
        self._teaching = Paragraph(look="muted")
        stand_on_card(self.title, self._about, self._total, self._teaching)
        self.list = QListWidget()
        self.list.setAccessibleName("Differences to the reference, and corrected misprints")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        # It takes the room it is given: what it would like to have would squeeze the picture above it.
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.list.setMinimumHeight(6 * GRID)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.itemClicked.connect(self._choose)
        self.list.itemActivated.connect(self._choose)
        parts = (self.title, self._about, self._total, self._teaching, (self.list, 1), 0)
        column(*parts, of=self, gap=HALF, margins=(2 * GRID, GRID + HALF, GRID, GRID))
        self._seen = WhenSeen(self, self.refresh)
        session.settled.connect(self._seen.request)
        appearance().changed.connect(self._seen.request)
        self._seen.request()

    def refresh(self) -> None:
        """Show the differences as they stand."""
        reference, lines = self._session.shown.reference, self._changes.lines()
        origin = find_preset(self._session.scenario.baseline)
        errata = () if origin is None or not appearance().is_expert else origin.errata
        count = sum(line.count for line in lines)
        title, teaching = f"{count:,} parameter" + ("" if count == 1 else "s") + " changed", ""
        if reference is None:
            title = "What changed?"
            teaching = "Choose above what to compare with: a published preset, or another scenario of this project."
        elif not lines:
            title, teaching = "Nothing has changed yet", self._changes.hint
        self.title.setText(title)
        self._about.say("" if reference is None else f"against {reference.title}")
        self._total.say(self._changes.total() if lines else "")
        self._teaching.say(teaching)
        if (lines, errata) != self._filled:
            self._filled = (lines, errata)
            self.list.clear()
            for line in lines:
                self._add(line.text).setData(Qt.ItemDataRole.UserRole, line)
            for misprint in errata:
                item = self._add(f"Corrected here: {misprint}")
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)
            self.list.setVisible(bool(lines or errata))

    def rewrite(self) -> None:
        """Show the same lines again, after another style of numbers or names was chosen."""
        self._filled = None
        self._seen.request()

    def _add(self, text: str) -> QListWidgetItem:
        item = QListWidgetItem(localised(text))
        item.setToolTip(localised(text))
        self.list.addItem(item)
        return item

    def _choose(self, item: QListWidgetItem) -> None:
        line = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(line, ChangeLine):
            self.chosen.emit(line)
