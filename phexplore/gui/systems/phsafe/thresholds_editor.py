"""Truncation thresholds: one τ per table, and what stays when it changes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QRadioButton, QWidget

from phexplore.catalog.tables import TableProduct, truncated_tables
from phexplore.figures.wording import people
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import Refusal
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_table import parse_threshold
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.systems.phsafe.budget_edits import Keep, edit_threshold

_HEADS = ("Table", "", "τ, people", "", "Sensitivity Δ", "Margins", "Reference")


class ThresholdsEditor(QWidget):
    """One line per truncated table. More people counted means less truncation bias and more noise."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.keep_budgets = QRadioButton("Keep the budgets: margins follow")
        self.keep_margins = QRadioButton("Keep the margins: budgets follow")
        self.keep_budgets.setChecked(True)
        group = QButtonGroup(self)
        group.addButton(self.keep_budgets)
        group.addButton(self.keep_margins)
        words = Text("When a threshold changes:", look="muted")
        choice = row(words, self.keep_budgets, self.keep_margins, 1, gap=2 * GRID)
        self._lines = [_Line(session, product, self) for product in truncated_tables()]
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID + GRID // 2)
        grid.setVerticalSpacing(GRID // 2)
        for number, title in enumerate(_HEADS):
            grid.addWidget(Text(title, look="muted"), 0, number)
        for number, line in enumerate(self._lines, start=1):
            for place, widget in enumerate(line.widgets):
                grid.addWidget(widget, number, place, Qt.AlignmentFlag.AlignVCenter)
        grid.setColumnStretch(1, 1)
        column(choice, grid, of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    @property
    def fields(self) -> dict[str, ExactField]:
        """The field of each table."""
        return {line.product.id: line.field for line in self._lines}

    @property
    def keep(self) -> Keep:
        """What stays when a threshold changes."""
        return Keep.MARGINS if self.keep_margins.isChecked() else Keep.BUDGETS

    def _refresh(self, _update: object = None) -> None:
        for line in self._lines:
            line.show(self._session.shown)


class _Line:
    """The widgets of one table."""

    def __init__(self, session: PlainSession, product: TableProduct, owner: ThresholdsEditor) -> None:
        self.product = product
        self._session, self._owner = session, owner
        name = f"Truncation threshold of {product.id}"
        self.field = ExactField(name, self._take, width=8 * GRID)
        name = f"Count one person less per household in {product.id}"
        self._less = SymbolButton("down", name, bordered=True, run=lambda: self._step(-1))
        name = f"Count one person more per household in {product.id}"
        self._more = SymbolButton("up", name, bordered=True, run=lambda: self._step(1))
        self._less.setAutoRepeat(True)
        self._more.setAutoRepeat(True)
        self._title = Text(product.id, bold=True)
        self._title.setToolTip(product.title)
        self._what = Text(product.title, look="muted", wrap=True)
        self._what.setMinimumWidth(16 * GRID)
        self._sensitivity, self._margins, self._reference = Text(), Text(), Text(look="muted")
        steps = QWidget()
        row(self._less, self._more, of=steps, gap=2)
        self.widgets = (
            self._title,
            self._what,
            self.field,
            steps,
            self._sensitivity,
            self._margins,
            self._reference,
        )

    def show(self, shown: ScenarioView) -> None:
        """Show the threshold and what it leads to."""
        table, thresholds = self.product.id, shown.scenario.phsafe.thresholds
        people_counted = thresholds.get(table)
        self.field.set_value("" if people_counted is None else str(people_counted))
        self._less.setEnabled(people_counted is not None and people_counted > 1)
        entries = [entry for entry in shown.figures.queries if entry.query.table == table]
        self._sensitivity.setText(f"{entries[0].sensitivity} people" if entries else "")
        convention = shown.scenario.conventions.margin
        margins = sorted(entry.margins.by(convention) for entry in entries if entry.margins is not None)
        low, high = (people(margins[0]), people(margins[-1])) if margins else ("", "")
        self._margins.setText(f"{low} to {high} people" if low != high else f"{low} people" if low else "not published")
        self._reference.setText("")
        if shown.reference is not None:
            other = shown.reference.scenario.phsafe.thresholds.get(table)
            same = other == people_counted
            self._reference.setText("same" if same else f"τ was {other}")
            self._reference.set_look("muted" if same else "accent")

    def _take(self, typed: str) -> str:
        try:
            people_counted = parse_threshold(typed)
        except ValueError as error:
            return Refusal(typed, str(error)).full
        refusal = self._set(people_counted)
        return refusal.full if refusal else ""

    def _step(self, change: int) -> None:
        self.field.forget()
        people_counted = self._session.scenario.phsafe.thresholds[self.product.id] + change
        self._session.report(self._set(people_counted))

    def _set(self, people_counted: int) -> Refusal | None:
        table, keep = self.product.id, self._owner.keep
        label = f"Set τ of {table} to {people_counted}, keeping {keep.value}"
        return self._session.edit(label, lambda scenario: edit_threshold(scenario, table, people_counted, keep))
