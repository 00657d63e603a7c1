"""The row under the cursor with sliders: drag the margin and the budget follows, or the other way round."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.stops import log_stops, people_stops
from phexplore.figures.wording import budget_text, people
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_row import Column, Row, check_edit, copied, edit_of, exact, forbidden, row_of
from phexplore.gui.systems.phsafe.safe_ranges import safe_range
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import ElidedText, Text
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.systems.phsafe.budget_edits import reset_query

_MARGINS = people_stops(4)
_BUDGETS = log_stops(-6, 1)


class RowPanel(QFrame):
    """Edits one query with sliders and exact fields. A drag is one step of the history."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self._row: Row | None = None
        self.setAccessibleName("Row editor")
        self._title = ElidedText(bold=True, relative=1.08)
        self._hint = ElidedText(look="muted")
        self.margin_slider = StopSlider("Margin of error of the row", _MARGINS, lambda value: f"{people(value)} people")
        self.budget_slider = StopSlider("Bounded budget of the row", _BUDGETS, budget_text)
        self.margin_field = ExactField("Margin of error of the row", lambda text: self._take(Column.MARGIN, text))
        self.budget_field = ExactField("Bounded budget of the row", lambda text: self._take(Column.BOUNDED, text))
        self._margin_name = Text("Margin of error")
        self._budget_name = Text("Bounded ρ")
        self.lock = SymbolButton("unlocked", "Lock the row", checkable=True, bordered=True)
        self.reset = TextButton("As in the reference", name="Take the row's values from the reference")
        self._lay_out()
        self.margin_slider.moved.connect(self._drag_margin)
        self.budget_slider.moved.connect(self._drag_budget)
        self.margin_slider.released.connect(session.end_merge)
        self.budget_slider.released.connect(session.end_merge)
        self.lock.clicked.connect(self._toggle_lock)
        self.reset.clicked.connect(self._reset)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        session.selected.connect(self._seen.request)
        self._refresh()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._title, 3)
        head.addWidget(self._hint, 2)
        head.addWidget(self.reset)
        head.addWidget(self.lock)
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(HALF)
        rows = (
            (self._margin_name, self.margin_slider, self.margin_field, Text("people", look="muted")),
            (self._budget_name, self.budget_slider, self.budget_field, Text("", look="muted")),
        )
        for number, widgets in enumerate(rows):
            for place, widget in enumerate(widgets):
                grid.addWidget(widget, number, place, Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        column.setSpacing(HALF)
        column.addLayout(head)
        column.addLayout(grid)
        QWidget.setTabOrder(self.margin_slider, self.margin_field)
        QWidget.setTabOrder(self.margin_field, self.budget_slider)
        QWidget.setTabOrder(self.budget_slider, self.budget_field)
        QWidget.setTabOrder(self.budget_field, self.reset)
        QWidget.setTabOrder(self.reset, self.lock)

    def _refresh(self, _signal: object = None) -> None:
        query = self._session.selection
        shown = self._session.shown
        row = row_of(shown, query) if query is not None and query in shown.scenario.phsafe.budgets else None
        if row == self._row and row is not None:
            return
        if row is None or self._row is None or row.query != self._row.query:
            self._forget_entries()
        self._row = row
        self._show(row)

    def _forget_entries(self) -> None:
        """Drop half-typed entries: they belong to the row that was left."""
        for field in (self.margin_field, self.budget_field):
            field.forget()

    def _show(self, row: Row | None) -> None:
        reason = "Choose a row of the table" if row is None else forbidden(Column.BUDGET, row)
        for widget in (self.margin_slider, self.budget_slider, self.margin_field, self.budget_field):
            widget.setEnabled(row is not None and not reason)
            widget.setToolTip(reason)
        self.lock.setEnabled(row is not None)
        self.reset.setEnabled(row is not None and not reason and row.before is not None and self._differs(row.query))
        if row is None:
            self._title.setText("No row chosen")
            self._hint.setText("Click a row to edit it with sliders")
            self._show_nothing()
            return
        symbol = row.framework.symbol
        self._title.setText(row.query.title)
        self._budget_name.setText(f"Bounded {symbol}")
        self._hint.setText(self._target_hint(row))
        margin = row.margin()
        self.margin_slider.set_value(Fraction(margin) if margin is not None else None)
        self.margin_field.set_value(copied(Column.MARGIN, row))
        bounded = row.entry.bounded_budget
        self.budget_slider.set_value(None if isinstance(bounded, Unlimited) else bounded)
        self.budget_field.set_value(exact(Column.BOUNDED, row))
        self._show_marks(row)
        self._show_safe_ranges(row)
        self.lock.setChecked(row.is_locked)
        self.lock.set_symbol("locked" if row.is_locked else "unlocked")

    def _show_nothing(self) -> None:
        """Empty the fields: the values of the row before belong to no row now."""
        for slider in (self.margin_slider, self.budget_slider):
            slider.set_value(None)
            slider.set_mark(None)
            slider.set_safe_range(None)
        self.margin_field.set_value("")
        self.budget_field.set_value("")
        self.lock.setChecked(False)
        self.lock.set_symbol("unlocked")

    def _show_marks(self, row: Row) -> None:
        before = row.before
        if before is None or before.margins is None or isinstance(before.bounded_budget, Unlimited):
            self.margin_slider.set_mark(None)
            self.budget_slider.set_mark(None)
            return
        self.margin_slider.set_mark(Fraction(before.margins.by(row.conventions.margin)))
        self.budget_slider.set_mark(before.bounded_budget)

    def _show_safe_ranges(self, row: Row) -> None:
        """Draw where budget and margin can go with the row's target kept and no cap of the project exceeded."""
        found = safe_range(self._session.project.workbook, row.query)
        if found is None:
            self.budget_slider.set_safe_range(None)
            self.margin_slider.set_safe_range(None)
            return
        self.budget_slider.set_safe_range(found.budgets, found.words)
        self.margin_slider.set_safe_range(found.margins, found.words)

    def _target_hint(self, row: Row) -> str:
        if row.target is None:
            return "no target"
        return f"target {exact_text(row.target)} people, " + ("met" if row.is_met else "missed")

    def _differs(self, query: QueryKey) -> bool:
        reference, method = self._session.shown.reference, self._session.scenario.phsafe
        if reference is None or query not in reference.scenario.phsafe.budgets:
            return False
        other = reference.scenario.phsafe
        return (method.budgets[query], method.targets.get(query)) != (other.budgets[query], other.targets.get(query))

    def _take(self, column: Column, typed: str) -> str:
        refusal = self._enter(column, typed)
        return refusal.full if refusal else ""

    def _drag_margin(self, stop: Fraction) -> None:
        self._drag(Column.MARGIN, stop, self.margin_field)

    def _drag_budget(self, stop: Fraction) -> None:
        self._drag(Column.BOUNDED, stop, self.budget_field)

    def _drag(self, column: Column, stop: Fraction, field: ExactField) -> None:
        if self._row is None:
            return
        field.forget()
        key = ("slider", column.value, self._row.query.text)
        self._session.report(self._enter(column, exact_text(stop), merge_key=key))

    def _enter(self, column: Column, typed: str, *, merge_key: object = None) -> Refusal | None:
        if self._row is None:
            return None
        try:
            label, edit = edit_of(column, self._row, typed)
        except (ValueError, PhexploreError) as error:
            return Refusal(typed, str(error), getattr(error, "remedy", ""))
        return self._session.edit(label, edit, merge_key=merge_key)

    def _toggle_lock(self) -> None:
        if self._row is not None:
            label, edit = check_edit(Column.LOCK, self._row, checked=not self._row.is_locked)
            self._session.report(self._session.edit(label, edit))

    def _reset(self) -> None:
        reference = self._session.shown.reference
        if self._row is None or reference is None:
            return
        query, source = self._row.query, reference.scenario
        label = f"Take {query.title} from {reference.title}"
        self._session.report(self._session.edit(label, lambda scenario: reset_query(scenario, query, source)))
