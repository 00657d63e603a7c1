"""The page of levels and thresholds: one τ per table and what stays when it changes, and what is published at which level."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QRadioButton, QWidget

from phexplore.catalog.names import Naming, chosen_naming, spellings
from phexplore.catalog.tables import TableProduct, own_tables, tables
from phexplore.figures.wording import people
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.systems.phsafe.budget_table import parse_threshold
from phexplore.gui.tables.commands import TableCommand
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.parameter_table import (
    Cell,
    CellRow,
    Kind,
    ParameterTable,
    Step,
    Tone,
    cell_column,
    plain_plan,
)
from phexplore.gui.tables.view import ParameterView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import SymbolButton, TextButton, TickBox
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import column, emptied, row
from phexplore.gui.widgets.page import Page, Sideways
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import EditRefusedError
from phexplore.model.keys import LEVELS, QueryKey, TableId
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import Keep, edit_threshold, set_published
from phexplore.systems.phsafe.budget_model import numbers_of
from phexplore.systems.phsafe.edits import add_table

_ALL = len(LEVELS) + 1


class ThresholdsEditor(QWidget):
    """One row per truncated table. More people counted means less truncation bias and more noise."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.keep_budgets = QRadioButton("Keep the budgets: margins follow")
        self.keep_margins = QRadioButton("Keep the margins: budgets follow")
        self.keep_budgets.setChecked(True)
        about = "Most people counted per household"
        self._columns = (
            cell_column("Table", "The table that is measured", "PH1_num", row_names=lambda line: spellings(line.key)),
            cell_column("What it counts", "Title of the table", "Household type"),
            cell_column("τ, people", about, "1,000", Kind.NUMBER, step=self._step, names=("τ", "tau", "threshold")),
            cell_column("Sensitivity Δ", "What one household more changes", "1,000 people"),
            cell_column("Margins", "Narrowest and widest margin of error", "1,000 to 1,000 people"),
            cell_column("Baseline", "The threshold of the baseline", "was 1,000"),
        )
        self.table = ParameterModel(session, self._build, self)
        keys = "One row per table. Type to edit, Enter to commit, Escape to restore, + and − to step."
        self.view = ParameterView(session, self.table, "Truncation thresholds", keys, is_whole=True, tells_choice=False)
        self.view.commands.own = tuple(
            TableCommand(
                f"Count one person {word} per household", partial(self.change, by), partial(self._can, by), key
            )
            for word, by, key in (("less", -1, Qt.Key.Key_Minus), ("more", 1, Qt.Key.Key_Plus))
        )
        self.steps = tuple(
            SymbolButton(
                symbol, f"{text}: {command.text} in the chosen table", text=text, bordered=True, run=command.run
            )
            for symbol, text, command in zip(
                ("down", "up"), ("One less", "One more"), self.view.commands.own, strict=True
            )
        )
        for step in self.steps:
            step.setAutoRepeat(True)
        words = Text("When a threshold changes:", look="muted")
        keeps = FlowRow(words, self.keep_budgets, self.keep_margins, gap=2 * GRID)
        column(row((keeps, 1), *self.steps, gap=2 * GRID), self.view, of=self)
        self.view.setCurrentIndex(self.table.index(0, 2))
        appearance().changed.connect(self._follow_depth)
        self._follow_depth()

    @property
    def keep(self) -> Keep:
        """What stays when a threshold changes."""
        return Keep.MARGINS if self.keep_margins.isChecked() else Keep.BUDGETS

    def change(self, by: int) -> None:
        """Count this many people more per household in the table under the cursor."""
        if self._can(by):
            self._session.report(self._session.edit(*self._step_to(self.view.place, self._present + by)))

    def _follow_depth(self, _colours: object = None) -> None:
        """Leave out what repeats the name of the table, and from a committee what only formulas need."""
        is_expert = appearance().is_expert
        self.view.show_columns({"What it counts"}, shown=is_expert and chosen_naming() is not Naming.NAMES)
        self.view.show_columns({"Sensitivity Δ"}, shown=is_expert)

    @property
    def _present(self) -> int:
        return self._session.scenario.phsafe.thresholds.get(self.view.place, 0)

    def _can(self, by: int) -> bool:
        return self._present + by >= 1 and self.view.place is not None

    def _build(self, shown: ScenarioView) -> ParameterTable[CellRow]:
        products = [each for each in tables().values() if each.id in shown.scenario.phsafe.thresholds]
        rows = tuple(_row_of(shown, product) for product in products)
        return ParameterTable(self._columns, rows, plain_plan, "What it counts", "τ, people")

    def _step(self, line: CellRow, typed: str) -> Step:
        return self._step_to(line.key, parse_threshold(typed))

    def _step_to(self, table: TableId, threshold: int) -> Step:
        keep = self.keep
        label = f"Set the threshold of {table} to {threshold}, keeping {keep.value}"
        return label, lambda scenario: edit_threshold(scenario, table, threshold, keep)


def _row_of(shown: ScenarioView, product: TableProduct) -> CellRow:
    threshold = shown.scenario.phsafe.thresholds[product.id]
    entries = [entry for entry in shown.figures.queries if entry.query.table == product.id]
    convention = shown.scenario.conventions.margin
    margins = sorted(entry.margins.by(convention) for entry in entries if entry.margins is not None)
    low, high = (people(margins[0]), people(margins[-1])) if margins else ("", "")
    other = None if shown.reference is None else shown.reference.scenario.phsafe.thresholds.get(product.id)
    reference = "same" if other == threshold else f"was {other}" if shown.reference is not None else ""
    cells = {
        "Table": Cell(product.id, is_bold=True),
        "What it counts": Cell(product.title, Tone.QUIET),
        "τ, people": Cell(str(threshold), is_open=True),
        "Sensitivity Δ": Cell(f"{entries[0].sensitivity:,} people" if entries else ""),
        "Margins": Cell(f"{low} to {high} people" if low != high else f"{low} people" if low else "not published"),
        "Baseline": Cell(reference, Tone.QUIET if other == threshold else Tone.CHANGE),
    }
    return CellRow(product.id, product.title, cells)


class LevelsEditor(QWidget):
    """A tick per query, one per table and one per level for all of them. The number beside a tick is what it publishes."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.ticks: dict[QueryKey, QCheckBox] = {}
        self._whole: dict[str, tuple[QCheckBox, tuple[QueryKey, ...]]] = {}
        self._derived: dict[QueryKey, tuple[Text, QueryKey]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID + HALF)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(_ALL, 1)
        self._built: tuple[object, ...] = ()
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _build(self) -> None:
        """Make a line per table, again when a project brought one or one was added."""
        known, added = tuple(tables()), self._session.scenario.phsafe.budgets
        missing = {name for name in own_tables(known) if not set(tables()[name].queries) <= set(added)}
        if self._built == (known, missing):
            return
        self._built = (known, missing)
        emptied(self._grid)
        for made in (self.ticks, self._whole, self._derived):
            made.clear()
        self._add_head()
        for number, product in enumerate(tables().values(), start=1):
            if product.id in missing:
                self._offer_table(number, product)
            else:
                self._add_table(number, product)
        self._add_foot(len(tables()) + 1)

    def _offer_table(self, number: int, product: TableProduct) -> None:
        """Offer a table of the user's library that the scenario does not have yet."""
        title = Text(product.id, look="muted")
        describe(title, tip=product.title)
        self._grid.addWidget(title, number, 0)
        label = f"Add {product.id} to the scenario"

        def add() -> None:
            self._session.report(self._session.edit(label, lambda scenario: add_table(scenario, product.id)))
            self._refresh()

        self._grid.addWidget(
            TextButton("Add", name=label, tip=product.title, run=add), number, _ALL, Qt.AlignmentFlag.AlignLeft
        )

    def _add_head(self) -> None:
        for number, level in enumerate(LEVELS, start=1):
            words = f"{level.region.title}\n{level.iteration.title}"
            self._grid.addWidget(Text(words, look="muted", wrap=True), 0, number, Qt.AlignmentFlag.AlignBottom)
        self._grid.addWidget(Text("Whole\ntable", look="muted"), 0, _ALL, Qt.AlignmentFlag.AlignBottom)

    def _add_table(self, number: int, product: TableProduct) -> None:
        title = Text(product.id, bold=product.measured, look="" if product.measured else "muted")
        describe(title, tip=product.title)
        self._grid.addWidget(title, number, 0)
        for place, level in enumerate(LEVELS, start=1):
            if level not in product.levels:
                absent = Text("–", look="muted")
                describe(
                    absent,
                    name=f"{product.id} has no such level",
                    tip=f"{product.id} is not tabulated at {level.title}",
                )
                self._grid.addWidget(absent, number, place)
                continue
            source = QueryKey(product.derived_from or product.id, level)
            if product.measured:
                tick = self._tick(f"Publish {source.title}", source)
                self._grid.addWidget(tick, number, place)
            else:
                follows = Text(look="muted")
                describe(follows, tip=f"{product.id} is computed from {product.derived_from}")
                self._derived[QueryKey(product.id, level)] = (follows, source)
                self._grid.addWidget(follows, number, place)
        if product.measured:
            self._add_whole(f"Publish all levels of {product.id}", product.queries, number, _ALL)
        else:
            computed = Text("computed", look="muted")
            describe(computed, tip=f"{product.id} is computed from {product.derived_from}")
            self._grid.addWidget(computed, number, _ALL)

    def _add_foot(self, number: int) -> None:
        self._grid.addWidget(Text("Whole level", look="muted"), number, 0)
        for place, level in enumerate(LEVELS, start=1):
            queries = tuple(query for query in self.ticks if query.level == level)
            self._add_whole(f"Publish {level.title} of all tables", queries, number, place)

    def _tick(self, name: str, query: QueryKey) -> QCheckBox:
        tick = self.ticks[query] = TickBox()
        describe(tick, name=name)
        tick.clicked.connect(lambda checked: self._publish((query,), published=checked))
        tick.pressed.connect(lambda: self._session.select(query))
        return tick

    def _add_whole(self, name: str, queries: tuple[QueryKey, ...], number: int, place: int) -> None:
        tick = TickBox("all" if place == _ALL else "")
        describe(tick, name=name, tip=name)
        tick.clicked.connect(lambda: self._toggle_all(queries))
        self._whole[name] = (tick, queries)
        self._grid.addWidget(tick, number, place)

    def _toggle_all(self, queries: tuple[QueryKey, ...]) -> None:
        published = set(self._session.scenario.phsafe.published)
        self._publish(queries, published=not all(query in published for query in queries))

    def _publish(self, queries: tuple[QueryKey, ...], *, published: bool) -> None:
        def edit(scenario: Scenario) -> Scenario:
            for query in queries:
                if query in scenario.phsafe.locks and len(queries) > 1:
                    raise EditRefusedError(f"{query.title} is locked.", "Unlock it, or tick the levels one by one.")
                scenario = set_published(scenario, query, published=published)
            return scenario

        word = "Publish" if published else "Leave out"
        name = queries[0].title if len(queries) == 1 else f"{len(queries)} queries"
        self._session.report(self._session.edit(f"{word} {name}", edit))
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        self._build()
        method = self._session.scenario.phsafe
        published = set(method.published)
        for query, tick in self.ticks.items():
            _show(tick, Qt.CheckState.Checked if query in published else Qt.CheckState.Unchecked)
            locked = query in method.locks
            tick.setEnabled(not locked)
            said = f"Publish {query.title}"
            describe(tick, name=said, tip=f"{query.title} is locked" if locked else said)
            tick.setText(f"{numbers_of(query, len(method.states)):,}")
        for derived, (label, source) in self._derived.items():
            label.setText(f"{numbers_of(derived, len(method.states)):,}" if source in published else "–")
        for tick, queries in self._whole.values():
            count = sum(query in published for query in queries)
            some = Qt.CheckState.PartiallyChecked if count else Qt.CheckState.Unchecked
            _show(tick, Qt.CheckState.Checked if count == len(queries) else some)


def _show(tick: QCheckBox, state: Qt.CheckState) -> None:
    if tick.checkState() != state:
        with QSignalBlocker(tick):
            tick.setTristate(state == Qt.CheckState.PartiallyChecked)
            tick.setCheckState(state)


def levels_page(session: PlainSession) -> QWidget:
    """Return the page of thresholds and levels."""
    page = Page("Levels and thresholds")
    page.add(
        "Truncation thresholds",
        "Most people counted per household. A smaller threshold needs less noise, and leaves people of large "
        "households out of the counts.",
        lambda: ThresholdsEditor(session),
    )
    page.add(
        "Published levels",
        "A tick publishes a table at a level; the number beside it says how many numbers that is. Ticking solves the "
        "budget from the target, unticking sets it to 0. A – says that a table has no such level, or that what it is computed "
        "from is left out.",
        lambda: Sideways("Published levels", LevelsEditor(session)),
    )
    return page
