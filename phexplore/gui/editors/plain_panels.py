"""What changed against the reference, and the inspector, of group sizes and of releases under exact sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from phexplore.gui.binding.change_texts import change_texts
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.labels import ElidedText, Text
from phexplore.systems.registry import presets

Explained = tuple[str, Sequence[tuple[str, str]]]
"""A title, and pairs of heading and text."""


class PlainChangesPanel(QFrame):
    """Every difference as a sentence; below them the misprints that the preset corrects."""

    def __init__(self, session: PlainSession) -> None:
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
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID + HALF, GRID, GRID)
        column.setSpacing(HALF)
        for widget in (self.title, self._about, self._teaching):
            column.addWidget(widget)
        column.addWidget(self.list, 1)

    def refresh(self) -> None:
        """Show the differences as they stand."""
        shown = self._session.shown
        lines, reference = change_texts(shown), shown.reference
        origin = presets().get(shown.scenario.baseline)
        errata = origin.errata if origin is not None else ()
        self._about.setText(f"against {reference.title}" if reference is not None else "")
        if reference is None:
            self.title.setText("What changed?")
            teaching = "Choose above what to compare with: a published preset, or another scenario of this project."
        elif not lines:
            self.title.setText("Nothing has changed yet")
            teaching = "Change a parameter: every difference is listed here as a sentence."
        else:
            self.title.setText(f"{len(lines)} change" + ("" if len(lines) == 1 else "s"))
            teaching = ""
        self._teaching.setText(teaching)
        self._teaching.setVisible(bool(teaching))
        if (lines, errata) != self._filled:
            self._filled = (lines, errata)
            self.list.clear()
            for text in (*lines, *(f"Corrected here: {misprint}" for misprint in errata)):
                item = QListWidgetItem(text)
                item.setToolTip(text)
                self.list.addItem(item)


class PlainInspector(QScrollArea):
    """Where the numbers of the selection come from and what they promise."""

    def __init__(self, session: PlainSession, explain: Callable[[ScenarioView, str | None], Explained]) -> None:
        """Explain the selection of a session.

        Args:
            session: with a selection.
            explain: what there is to say about it.
        """
        super().__init__()
        self._session, self._explain = session, explain
        self.setAccessibleName("Inspector")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(32 * GRID)
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        self._column.setSpacing(GRID)
        self.title = Text(bold=True, relative=1.25, wrap=True)
        self._column.addWidget(self.title)
        self.parts: list[tuple[Text, Text]] = []
        self._column.addStretch(1)
        self.setWidget(content)
        self._frames = FrameThrottle(self)
        self._frames.due.connect(self._refresh)
        session.updated.connect(self._frames.request)
        session.selected.connect(self._request)
        self._refresh()

    def refresh_now(self) -> None:
        """Show the current state without waiting for the end of the frame."""
        self._frames.flush()

    def _request(self, _name: object) -> None:
        self._frames.request(True)

    def _refresh(self, _signal: object = None) -> None:
        title, parts = self._explain(self._session.shown, self._session.selection)
        self.title.setText(title)
        while len(self.parts) < len(parts):
            pair = (Text(bold=True, wrap=True), Text(wrap=True))
            for widget in pair:
                self._column.insertWidget(self._column.count() - 1, widget)
            self.parts.append(pair)
        for number, (heading, body) in enumerate(self.parts):
            there = number < len(parts)
            heading.setText(parts[number][0] if there else "")
            body.setText(parts[number][1] if there else "")
            heading.setVisible(there)
            body.setVisible(there)
