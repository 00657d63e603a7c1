"""Sliders of a whole column of shares: drag one and see the unlocked rest move."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.stops import log_stops
from phexplore.figures.wording import people, share_percent, significant
from phexplore.gui.binding.session import Refusal
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.shares import (
    Key,
    Quantity,
    ShareCell,
    cell_of,
    edit_of,
    lock_edit,
    query_rows,
)
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import ElidedText, Figure, Text
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.model.scenario import Scenario
from phexplore.model.shares import largest_share
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.edits import query_column, set_level_share, set_query_share
from phexplore.systems.topdown.wording import level_title, place_title, query_title, share_exact

STOPS = (Fraction(0), *log_stops(-5, 0))
"""Shares of the sliders: from a hundred-thousandth on three digits, evenly spread on a logarithmic scale, and 0."""


class ShareSlider(QWidget):
    """One share: name, slider, exact field, lock, and what it comes to. A drag is one step of the history.

    While a slider is dragged every move starts from the shares it had when the drag began: going up and back again
    changes nothing.

    Signals:
        entered: the `Key` the user is at.
    """

    entered = Signal(object)

    def __init__(self, session: TopDownSession, key: Key, name: str) -> None:
        super().__init__()
        self._session, self.key = session, key
        self._start: Scenario | None = None
        title = place_title(key)
        self.name = ElidedText(name)
        self.name.setMinimumWidth(17 * GRID)
        self.slider = StopSlider(f"Share of {title}", STOPS, share_percent)
        self.field = ExactField(f"Share of {title}", self._take, width=13 * GRID)
        # A fraction cut off at its start would be another number.
        self.field.line.setMinimumWidth(13 * GRID)
        self.percent = Figure(look="muted")
        self.percent.setFixedWidth(9 * GRID)
        self.result = Figure(look="muted")
        self.lock = SymbolButton("unlocked", f"Lock the share of {title}", checkable=True)
        self.lock.clicked.connect(self._toggle_lock)
        self.slider.moved.connect(self._drag)
        self.slider.released.connect(self._release)
        self.slider.sliderPressed.connect(lambda: self.entered.emit(self.key))

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        """Its parts, for a row of a grid."""
        return (self.name, self.slider, self.field, self.percent, self.result, self.lock)

    def follow(self, key: Key) -> None:
        """Stand for another share."""
        if key == self.key:
            return
        self.key, title = key, place_title(key)
        self.field.forget()
        self.slider.setAccessibleName(f"Share of {title}")
        self.field.line.setAccessibleName(f"Share of {title}")
        self.lock.setAccessibleName(f"Lock the share of {title}")
        self.name.setText(title)

    def show_cell(self, shown: TopDownShown) -> None:
        """Show the share as it stands."""
        cell = cell_of(shown, self.key)
        is_measured = cell.share is not None
        for widget in (self.slider, self.field):
            widget.setEnabled(is_measured and not cell.is_locked)
        self.lock.setEnabled(is_measured)
        self.lock.setChecked(cell.is_locked)
        self.lock.set_symbol("locked" if cell.is_locked else "unlocked")
        self.slider.set_value(cell.share)
        self.slider.set_mark(cell.before)
        self.field.set_value("" if cell.share is None else share_exact(cell.share))
        self.percent.setText("not measured" if cell.share is None else share_percent(cell.share))
        self.result.setText(_result(cell, shown))
        self.name.set_look("accent" if cell.is_changed else "")

    def _take(self, typed: str) -> str:
        shown = self._session.shown
        try:
            label, edit = edit_of(cell_of(shown, self.key), Quantity.FRACTION, typed, shown)
        except PhexploreError as error:
            return Refusal(typed, error.sentence, error.remedy).full
        except ValueError as error:
            return Refusal(typed, str(error)).full
        refusal = self._session.edit(label, edit)
        return refusal.full if refusal else ""

    def _drag(self, stop: Fraction) -> None:
        self.field.forget()
        start = self._start = self._start or self._session.scenario
        method = start.topdown
        key = self.key
        if isinstance(key, str):
            share = min(stop, largest_share(method.level_shares, key, method.locked_levels))
        else:
            share = min(stop, largest_share(query_column(method, key.level), key, method.locked_queries))

        def edit(_scenario: Scenario) -> Scenario:
            return set_level_share(start, key, share) if isinstance(key, str) else set_query_share(start, key, share)

        label = f"Set the share of {place_title(key)} to {share_percent(share)}"
        self._session.report(self._session.edit(label, edit, merge_key=("topdown share", place_title(key))))

    def _release(self) -> None:
        self._start = None
        self._session.end_merge()
        self.show_cell(self._session.shown)

    def _toggle_lock(self) -> None:
        label, edit = lock_edit([self.key], locked=not cell_of(self._session.shown, self.key).is_locked)
        self._session.report(self._session.edit(label, edit))


class ShareSliders(QWidget):
    """The sliders of one column: of the levels, or of the query groups of a level.

    Signals:
        entered: the `Key` the user is at.
    """

    entered = Signal(object)

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self._level: str | None = None
        self._lines: list[ShareSlider] = []
        self._names: tuple[str, ...] = ()
        self.title = Text(bold=True, relative=1.08)
        self._about = Text(look="muted", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GRID + GRID // 2)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.title)
        column.addWidget(self._about)
        column.addLayout(self._grid)
        column.addStretch(1)
        session.updated.connect(self._on_updated)

    @property
    def lines(self) -> tuple[ShareSlider, ...]:
        """The sliders, from top to bottom."""
        return tuple(self._lines)

    def show_column(self, level: str | None) -> None:
        """Show the query groups of a level, or the levels for None."""
        self._level = level
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _on_updated(self, _update: object) -> None:
        if self.isVisible():  # thirty fields cost more than a frame leaves; they are brought up to date when shown
            self._refresh()

    def _refresh(self) -> None:
        shown = self._session.shown
        method = shown.method
        if self._level is not None and self._level not in method.levels:
            self._level = None
        names = method.levels if self._level is None else query_rows(method)
        if names != self._names or [line.key for line in self._lines] != [self._key(name) for name in names]:
            self._build(names)
        for line in self._lines:
            line.show_cell(shown)

    def _key(self, name: str) -> Key:
        return name if self._level is None else LevelQuery(self._level, name)

    def _build(self, names: tuple[str, ...]) -> None:
        for line in self._lines:
            for widget in line.widgets:
                self._grid.removeWidget(widget)
                widget.deleteLater()
            line.deleteLater()
        self._names = names
        self._lines = []
        for number, name in enumerate(names):
            words = level_title(name) if self._level is None else query_title(name)
            line = ShareSlider(self._session, self._key(name), words)
            line.setParent(self)
            line.hide()
            line.entered.connect(self.entered)
            self._lines.append(line)
            for place, widget in enumerate(line.widgets):
                self._grid.addWidget(widget, number, place, Qt.AlignmentFlag.AlignVCenter)
                widget.show()
        symbol = self._session.shown.method.framework.symbol
        if self._level is None:
            self.title.setText("Levels")
            self._about.setText(f"How the total {symbol} is divided.")
        else:
            self.title.setText(f"Query groups at {level_title(self._level)}")
            self._about.setText(f"How the {symbol} of this level is divided.")


def _result(cell: ShareCell, shown: TopDownShown) -> str:
    if cell.share is None:
        return ""
    words = f"{shown.method.framework.symbol} {significant(cell.budget)}"
    if cell.entry is not None and cell.entry.margins is not None:
        words += f", ±{people(cell.entry.margins.by(shown.scenario.conventions.margin))}"
    return words
