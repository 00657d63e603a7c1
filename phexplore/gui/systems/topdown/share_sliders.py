"""Sliders of shares: drag one and see the unlocked rest of its column move."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from phexplore.figures.stops import log_stops
from phexplore.figures.wording import share_percent
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.tables.slider_line import SliderLine
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.labels import ElidedText, Figure, Text, describe
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.scenario import Scenario
from phexplore.model.shares import largest_share
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.edits import query_column, set_level_share, set_query_share
from phexplore.systems.topdown.share_cells import Key, Quantity, cell_of, cost_text, query_rows
from phexplore.systems.topdown.share_typing import edit_of, lock_edit
from phexplore.systems.topdown.wording import level_title, place_title, query_title, share_exact

STOPS = (Fraction(0), *log_stops(-5, 0))
"""Shares of the sliders: from a hundred-thousandth on three digits, evenly spread on a logarithmic scale, and 0."""


class ShareLine(QObject):
    """One share: name, slider, exact field, lock, and what it comes to.

    While a slider is dragged every move starts from the shares it had when the drag began: going up and back again
    changes nothing.
    """

    def __init__(self, session: TopDownSession, key: Key, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self.key = session, key
        title = place_title(key)
        self.name = ElidedText()
        self.name.setMinimumWidth(17 * GRID)
        name, drag, width = f"Share of {title}", self._dragged, 13 * GRID
        self.line = SliderLine(session, name, STOPS, share_percent, self._typed, drag=drag, width=width, parent=self)
        self.slider, self.field = self.line.slider, self.line.field
        self.slider.per = 100
        self._words = ""
        # A fraction cut off at its start would be another number.
        self.field.line.setMinimumWidth(13 * GRID)
        self.percent, self.result = Figure(look="muted", least=9 * GRID), Figure(look="muted")
        self.field.line.textChanged.connect(self._show_percent)
        self.lock = SymbolButton("unlocked", f"Lock the share of {title}", checkable=True)
        self.lock.clicked.connect(self._toggle_lock)
        self.line.pressed.connect(lambda: session.select(self.key))
        self.widgets = (self.name, self.slider, self.field, self.percent, self.result, self.lock)

    def show_share(self, key: Key, name: str) -> None:
        """Show a share as it stands.

        Args:
            key: which one.
            name: in front of its slider.
        """
        shown, self.key = self._session.shown, key
        cell, title = cell_of(shown, key), place_title(key)
        self.line.follow(key, f"Share of {title}")
        describe(self.lock, name=f"Lock the share of {title}", tip=f"Lock the share of {title}")
        text = "" if cell.share is None else share_exact(cell.share)
        words = self._words = "" if cell.share is None else share_percent(cell.share)
        reason = "Not measured" if cell.share is None else "Locked: unlock it first" if cell.is_locked else ""
        self.line.show(cell.share, text, words, mark=cell.before, reason=reason)
        self.lock.setEnabled(cell.share is not None)
        self.lock.setChecked(cell.is_locked)
        self.lock.set_symbol("locked" if cell.is_locked else "unlocked")
        self._show_percent()
        self.result.setText(cost_text(cell, shown))
        self.name.setText(name)
        self.name.set_look("accent" if cell.is_changed else "")

    def _show_percent(self, _text: str = "") -> None:
        """Show the share in percent, unless its field does."""
        self.percent.setText(
            "" if self._words and self.field.line.text() == self._words else self._words or "not measured"
        )

    def _typed(self, typed: str) -> Step:
        shown = self._session.shown
        return edit_of(cell_of(shown, self.key), Quantity.FRACTION, typed, shown)

    def _dragged(self, stop: Fraction, start: Scenario) -> Step:
        method, key = start.topdown, self.key
        label = f"Set the share of {place_title(key)} to "
        if isinstance(key, str):
            share = min(stop, largest_share(method.level_shares, key, method.locked_levels))
            return label + share_percent(share), lambda _scenario: set_level_share(start, key, share)
        share = min(stop, largest_share(query_column(method, key.level), key, method.locked_queries))
        return label + share_percent(share), lambda _scenario: set_query_share(start, key, share)

    def _toggle_lock(self) -> None:
        step = lock_edit([self.key], locked=not cell_of(self._session.shown, self.key).is_locked)
        self._session.report(self._session.edit(*step))


class ShareSliders(QWidget):
    """The sliders of one column: of the levels, or of the query groups of a level."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._level: str | None = None
        self.lines: list[ShareLine] = []
        self.title = Text(bold=True, relative=1.08)
        self._about = Text(look="muted", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GRID + GRID // 2)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(
            0, 1
        )  # of the room that a wide window leaves, names take a part: they were cut beside it
        self._grid.setColumnStretch(1, 2)
        column(self.title, self._about, self._grid, 1, of=self, gap=GRID // 2)
        self._seen = WhenSeen(self, self._refresh, session.updated)

    def show_column(self, level: str | None) -> None:
        """Show the query groups of a level, or the levels for None."""
        self._level = level
        self._seen.request()

    def _refresh(self) -> None:
        method = self._session.shown.method
        level = self._level if self._level in method.levels else None
        keys: list[Key] = [*method.levels]
        if level is not None:
            keys = [LevelQuery(level, name) for name in query_rows(method)]
        while len(self.lines) < len(keys):
            self._add_line(keys[len(self.lines)])
        for line, key in zip(self.lines, keys, strict=False):
            line.show_share(key, level_title(key) if isinstance(key, str) else query_title(key.query))
        for number, line in enumerate(self.lines):
            for widget in line.widgets:
                widget.setVisible(number < len(keys))
        symbol = method.framework.symbol
        self.title.setText("Levels" if level is None else f"Query groups at {level_title(level)}")
        self._about.setText(f"How the {f'total {symbol}' if level is None else f'{symbol} of this level'} is divided.")

    def _add_line(self, key: Key) -> None:
        line = ShareLine(self._session, key, self)
        for place, widget in enumerate(line.widgets):
            self._grid.addWidget(widget, len(self.lines), place, Qt.AlignmentFlag.AlignVCenter)
        self.lines.append(line)
