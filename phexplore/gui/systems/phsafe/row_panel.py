"""The row under the cursor with sliders: drag the margin and the budget follows, or the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout

from phexplore.catalog.tables import counted_in
from phexplore.errors import PhexploreError
from phexplore.figures.stops import log_stops, people_stops
from phexplore.figures.wording import budget_text, people
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_table import Column, Row, column_of, forbidden, row_of
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.tables.slider_line import SliderLine
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets import layout
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.labels import ElidedText, Text
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.systems.phsafe.budget_edits import reset_query
from phexplore.systems.phsafe.safe_ranges import safe_range

_MARGINS = people_stops(4)
_BUDGETS = log_stops(-6, 1)
State = tuple[Fraction | None, str, Fraction | None]
"""Value of a slider, text of its field, and mark of the reference."""
_NOTHING: State = (None, "", None)


class RowPanel(QFrame):
    """Edits one query with sliders and exact fields. A drag is one step of the history."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._row: Row | None = None
        self.setAccessibleName("Row editor")
        self._title = ElidedText(bold=True, relative=1.08)
        self._hint = ElidedText(look="muted")
        self.margin = self._line(Column.MARGIN, "Margin of error", _MARGINS, self._with_unit)
        self.budget = self._line(Column.BOUNDED, "Bounded budget", _BUDGETS, budget_text)
        self._budget_name = Text("Bounded ρ")
        self._unit = Text("people", look="muted")
        self.lock = SymbolButton("unlocked", "Lock the row", checkable=True, bordered=True, run=self._toggle_lock)
        self.reset = TextButton("As in the reference", name="Take the row's values from the reference", run=self._reset)
        self._lay_out()
        self._seen = WhenSeen(self, self._refresh, session.updated, session.selected)
        self._refresh()

    def _line(self, key: Column, name: str, stops: Sequence[Fraction], words: Callable[[Fraction], str]) -> SliderLine:
        step = partial(self._step, key)
        return SliderLine(self._session, f"{name} of the row", stops, words, step, parent=self)

    def _with_unit(self, value: Fraction) -> str:
        return f"{people(value)} {self._unit.text()}"

    def _lay_out(self) -> None:
        head = layout.row((self._title, 5), (self._hint, 2), self.reset, self.lock)
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(HALF)
        lines = (
            (Text("Margin of error"), self.margin.slider, self.margin.field, self._unit),
            (self._budget_name, self.budget.slider, self.budget.field),
        )
        for number, widgets in enumerate(lines):
            for place, widget in enumerate(widgets):
                grid.addWidget(widget, number, place, Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(1, 1)
        layout.column(head, grid, of=self, gap=HALF, margins=(2 * GRID, GRID, 2 * GRID, GRID))

    def _refresh(self, _signal: object = None) -> None:
        query, shown = self._session.selection, self._session.shown
        row = row_of(shown, query) if query in shown.scenario.phsafe.budgets else None
        if row is None or row != self._row:
            self._row = row
            self._show(row)

    def _show(self, row: Row | None) -> None:
        reason = "Choose a row of the table" if row is None else forbidden(Column.BUDGET, row)
        self._title.setText("No row chosen: click one to edit it with sliders" if row is None else row.title)
        self._hint.setText("" if row is None else _target_hint(row))
        if row is not None:
            self._budget_name.setText(f"Bounded {row.framework.symbol}")
            self._unit.setText(counted_in(row.key.table))
        margin, budget = (_NOTHING, _NOTHING) if row is None else _states(row)
        safe = None if row is None else safe_range(self._session.project.workbook, row.key)
        for line, (value, text, mark) in ((self.margin, margin), (self.budget, budget)):
            line.follow(None if row is None else row.key)
            line.show(value, text, mark=mark, reason=reason)
        self.margin.slider.set_safe_range(safe.margins if safe else None, safe.words if safe else "")
        self.budget.slider.set_safe_range(safe.budgets if safe else None, safe.words if safe else "")
        is_locked = row is not None and row.is_locked
        self.lock.setEnabled(row is not None)
        self.lock.setChecked(is_locked)
        self.lock.set_symbol("locked" if is_locked else "unlocked")
        self.reset.setEnabled(row is not None and not reason and row.before is not None and self._differs(row.key))

    def _differs(self, query: QueryKey) -> bool:
        reference, method = self._session.shown.reference, self._session.scenario.phsafe
        if reference is None or query not in reference.scenario.phsafe.budgets:
            return False
        other = reference.scenario.phsafe
        return (method.budgets[query], method.targets.get(query)) != (other.budgets[query], other.targets.get(query))

    def _step(self, column: Column, typed: str) -> Step:
        if self._row is None:
            raise PhexploreError("No row is chosen.", "Choose a row of the table.")
        return column_of(self._row, column).enter(self._row, typed)

    def _toggle_lock(self) -> None:
        if self._row is not None:
            self._session.report(self._session.edit(*self._step(Column.LOCK, "no" if self._row.is_locked else "yes")))

    def _reset(self) -> None:
        reference = self._session.shown.reference
        if self._row is None or reference is None:
            return
        query, source = self._row.key, reference.scenario
        label = f"Take {query.title} from {reference.title}"
        self._session.report(self._session.edit(label, lambda scenario: reset_query(scenario, query, source)))


def _target_hint(row: Row) -> str:
    if row.target is None:
        return "no target"
    standing = "not published" if not row.is_published else "met" if row.is_met else "missed"
    return f"target {exact_text(row.target)} {counted_in(row.key.table)}, {standing}"


def _states(row: Row) -> tuple[State, State]:
    """Return what the sliders of margin and bounded budget show."""
    margin, bounded, before = row.margin(), row.entry.bounded_budget, row.before
    marks: tuple[Fraction | None, Fraction | None] = (None, None)
    if before is not None and before.margins is not None and not isinstance(before.bounded_budget, Unlimited):
        marks = Fraction(before.margins.by(row.conventions.margin)), before.bounded_budget
    value = None if isinstance(bounded, Unlimited) else bounded
    text = column_of(row, Column.MARGIN).carried(row)
    return (None if margin is None else Fraction(margin), text, marks[0]), (value, exact_text(bounded), marks[1])
