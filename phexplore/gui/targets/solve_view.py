"""Solve from targets: a table of goals, caps, and the solution as a preview that is applied as one edit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from phexplore.accuracy.solving_conflict import Relaxation
from phexplore.accuracy.solving_separable import with_own_goals
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.files.goals_file import goals_json, read_goals
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.targets.caps_editor import CapsEditor
from phexplore.gui.targets.goal_rows import goal_rows, goals_of
from phexplore.gui.targets.goal_table import GoalColumn, GoalTable, cell_text, parse_goal
from phexplore.gui.targets.solve_answers import (
    Basis,
    SolveAnswer,
    SolveRequest,
    answer,
    applied,
    relaxed,
    with_targets,
)
from phexplore.gui.targets.solve_panel import SolvePanel
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN, ROW_PADDING
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, labelled, line
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.goal_edits import tied, untied, with_cap, with_floors, without_cap
from phexplore.model.goals import Cap, Goals, Key, TiedBy, title_of
from phexplore.model.issues import InputProblemsError
from phexplore.model.numbers import exact_text
from phexplore.model.workbook import Workbook, replace_active, set_goals, system_name
from phexplore.opening import read_bytes
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.systems.registry import budgets_of, system_of

_TABLE_PART, _SIDE_PART = 90 * GRID, 54 * GRID
"""Widths of table and result where nobody has moved the line between them."""
_BASIS_TIP = (
    "By itself, a query has the margin of its own noise. After least squares all measurements help; on the spine of 2020 with "
    "equal fan-outs, or exactly in every unit of block data."
)
_LONGEST_NAME, _LONGEST_NUMBER = 40, 14
"""Letters of the widest column of names and of numbers."""
_CHOSEN = "The chosen rows"
_FILES = "Goals (*.json *.csv);;All files (*)"


class SolveView(QWidget):
    """Goals in, budgets out. Nothing changes before the solution is applied.

    Signals:
        failed: a `PhexploreError`, e.g. of a file.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._asked: SolveRequest | None = None
        self._blocks: Path | None = None
        self._solver = Latest(answer, self)
        self._solver.finished.connect(self._show_answer)
        self._solver.failed.connect(self.failed)
        self.table = GoalTable(self._take_target, self._take_floor, self._lock_one, self)
        self.view = self._make_view()
        self.panel = SolvePanel()
        self.panel.apply_wanted.connect(self.apply)
        self.panel.way_chosen.connect(self.take_way)
        self.caps = CapsEditor(self._add_cap, self._remove_cap)
        self._lay_out()
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    @property
    def goals(self) -> Goals:
        """What the project asks of the active scenario."""
        return goals_of(self._session.project.workbook)

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self._solver.stop()

    # Solving

    def solve(self, *, as_in_2020: bool = False) -> None:
        """Look for the smallest budgets that keep all goals."""
        self._asked = SolveRequest(
            self._session.scenario,
            self.goals,
            as_in_2020,
            self.spend.isChecked(),
            self.basis.currentData(),
            self._blocks,
        )
        self.panel.show_busy()
        self._solver.request(self._asked)

    def _solve_plainly(self) -> None:
        self.solve()

    def apply(self) -> None:
        """Make the solution shown the parameters of the active scenario, as one step."""
        found = self.panel.answer
        if found is None or found.solved is None or not self._is_current(found):
            self.panel.mark_stale()
            return
        solved = found.solved
        label = "Solve from targets" + (", as in 2020" if found.request.as_in_2020 else "")
        if self._session.report(self._session.edit_workbook(label, lambda book: applied(book, solved))):
            self.panel.clear()
            self._refresh()
            self.noted.emit("The solution was applied. Undo takes it back as one step.")

    def take_way(self, way: Relaxation) -> None:
        """Change the goals as a way out says, as one step, and solve again."""
        found = self.panel.answer
        if found is None or not self._is_current(found):
            self.panel.mark_stale()
            return
        as_in_2020 = found.request.as_in_2020
        if self._session.report(self._session.edit_workbook(f"Relax: {way.text}", lambda book: relaxed(book, way))):
            self.solve(as_in_2020=as_in_2020)

    def _is_current(self, found: SolveAnswer) -> bool:
        return found.request.scenario is self._session.scenario and found.request.goals == self.goals

    def _show_answer(self, found: SolveAnswer) -> None:
        if found.request is not self._asked:
            return
        self.panel.show_answer(found)
        if not self._is_current(found):
            self.panel.mark_stale()
        self._refresh_rows()

    # Goals

    def set_goals(self, label: str, change: Callable[[Goals], Goals]) -> Refusal | None:
        """Change the project's goals for the system of the active scenario as one named step; return why not, or None."""

        def edit(book: Workbook) -> Workbook:
            system = system_name(book.scenario)
            return set_goals(book, system, change(book.goals.get(system, Goals())))

        return self._session.edit_workbook(label, edit)

    def chosen(self) -> tuple[Key, ...]:
        """The queries that the line above the table speaks of."""
        title = self.scope.currentData()
        if title != _CHOSEN:
            return budgets_of(self._session.scenario).scopes().get(title, ())
        rows = sorted({index.row() for index in self.view.selectionModel().selectedIndexes()})
        return tuple(self.table.rows[row].key for row in rows)

    def _take_target(self, key: Key, value: Fraction | None) -> str:
        return self._said(self._set_targets((key,), value))

    def _set_targets(self, keys: tuple[Key, ...], value: Fraction | None) -> Refusal | None:
        plural = "s" if len(keys) > 1 else ""
        label = f"Remove the target{plural} of {_named(keys)}"
        if value is not None:
            label = f"Set the target{plural} of {_named(keys)} to {exact_text(value)} people"
        return self._session.edit_workbook(label, lambda book: with_targets(book, dict.fromkeys(keys, value)))

    def _take_floor(self, key: Key, value: Fraction | None) -> str:
        label = (
            f"Set the smallest budget of {title_of(key)}" if value is not None else f"Drop the floor of {title_of(key)}"
        )
        return self._said(self.set_goals(label, lambda goals: with_floors(goals, {key: value})))

    def _said(self, refusal: Refusal | None) -> str:
        self._session.report(refusal)
        return "" if refusal is None else refusal.full

    def _take_target_of_scope(self, typed: str) -> str:
        return self._take_of_scope(typed, GoalColumn.TARGET)

    def _take_floor_of_scope(self, typed: str) -> str:
        return self._take_of_scope(typed, GoalColumn.FLOOR)

    def _take_of_scope(self, typed: str, column: GoalColumn) -> str:
        keys = self.chosen()
        if not keys:
            return "Choose rows of the table, or what the line speaks of, first."
        try:
            value = parse_goal(typed, column) if typed.strip() else None
        except ValueError as error:
            return f"{error}."
        if column is GoalColumn.FLOOR:
            refusal = self.set_goals(f"Set the smallest budget of {_named(keys)}",
                                     lambda goals: with_floors(goals, dict.fromkeys(keys, value)))  # fmt: skip
        else:
            refusal = self._set_targets(keys, value)
        return "" if refusal is None else refusal.full

    def _tie(self, equal: TiedBy) -> None:
        keys = self.chosen()
        self._session.report(
            self.set_goals(f"Tie {_named(keys)} by {equal.value}", lambda goals: tied(goals, keys, equal))
        )

    def _untie(self) -> None:
        keys = self.chosen()
        self._session.report(self.set_goals(f"Untie {_named(keys)}", lambda goals: untied(goals, keys)))

    def _lock_one(self, key: Key, locked: bool) -> None:
        self._lock((key,), locked=locked)

    def _lock(self, keys: tuple[Key, ...], *, locked: bool) -> None:
        def edit(book: Workbook) -> Workbook:
            scenario, system = book.scenario, system_name(book.scenario)
            for key in keys:
                scenario = budgets_of(scenario).with_lock(key, locked=locked)
            goals = book.goals.get(system, Goals())
            goals = goals if locked else replace(goals, locks=goals.locks - set(keys))
            return set_goals(replace_active(book, scenario), system, goals)

        self._session.report(self._session.edit_workbook(f"{'Lock' if locked else 'Unlock'} {_named(keys)}", edit))

    def _add_cap(self, cap: Cap) -> str:
        refusal = self.set_goals(f"Add the cap {cap.title}", lambda goals: with_cap(goals, cap))
        return "" if refusal is None else refusal.full

    def _remove_cap(self, number: int, _checked: bool = False) -> None:
        shown = self.goals.caps[number]

        def without(goals: Goals) -> Goals:
            return without_cap(goals, goals.caps.index(shown)) if shown in goals.caps else goals

        self._session.report(self.set_goals(f"Remove the cap {shown.title}", without))

    def forget(self) -> None:
        """Ask nothing beside the scenario's own targets and locks."""
        self._session.report(self.set_goals("Drop all goals of the project", lambda _: Goals()))

    # Files

    def read_file(self, path: Path) -> None:
        """Take the goals of a file in place of the present ones."""
        try:
            goals = read_goals(read_bytes(path), path.name, tuple(budgets_of(self._session.scenario).budgets))
        except InputProblemsError as error:
            self.failed.emit(error)
            return
        self._session.report(self.set_goals(f"Read goals from {path.name}", lambda _: goals))

    def write_file(self, path: Path) -> None:
        """Write all goals, the scenario's own targets and locks included."""
        goals = with_own_goals(budgets_of(self._session.scenario), self.goals)
        text = json.dumps(goals_json(goals), indent=1, ensure_ascii=False) + "\n"
        try:
            write_atomically(path, text.encode())
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self.noted.emit(f"{path.name} was written to {path.parent}.")

    def use_blocks(self, path: Path) -> None:
        """Let the geography of these block data count."""
        self._blocks = path
        if warning := warning_about_blocks(path):
            self.noted.emit(warning)
        self.basis.setToolTip(f"{_BASIS_TIP}\nBlock data: {path.name}")
        self.panel.mark_stale()

    def _on_basis(self, _number: int = 0) -> None:
        self.panel.mark_stale()
        if self.basis.currentData() is Basis.BLOCKS and self._blocks is None:
            dialog = QFileDialog(self, "Choose the block data", "", "Block data (*.csv *.csv.gz);;All files (*)")
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.fileSelected.connect(lambda name: self.use_blocks(Path(name)))
            dialog.open()

    def _choose_file(self, *, reads: bool) -> None:
        dialog = QFileDialog(self, "Open goals" if reads else "Save goals", "goals.json", _FILES)
        modes = QFileDialog.AcceptMode
        dialog.setAcceptMode(modes.AcceptOpen if reads else modes.AcceptSave)
        if reads:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        else:
            dialog.setDefaultSuffix("json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        act = self.read_file if reads else self.write_file
        dialog.fileSelected.connect(lambda name: act(Path(name)))
        dialog.open()

    # Showing

    def _refresh(self, _update: object = None) -> None:
        found = self.panel.answer
        if found is not None and not self._is_current(found):
            self.panel.mark_stale()
        self._refresh_rows()
        titles = budgets_of(self._session.scenario).scopes()
        names = [_CHOSEN, *titles]
        if names != [self.scope.itemData(n) for n in range(self.scope.count())]:
            self.scope.clear()
            for title in names:
                self.scope.addItem(title, title)
        self.caps.show_caps(self.goals.caps, titles)
        # The budgets of 2020 were rounded where they were solved from targets that the parameters keep.
        self.as_in_2020.setVisible(budgets_of(self._session.scenario).keeps_targets)
        self.basis.setVisible(system_of(self._session.scenario).solve_estimates is not None)

    def _refresh_rows(self) -> None:
        found = self.panel.answer
        current = found.solved if found is not None and self._is_current(found) else None
        margins = found.margins if current is not None and found is not None else {}
        self.table.show_rows(goal_rows(self._session.scenario, self.goals, current, margins))
        self._fit()

    def _make_view(self) -> QTableView:
        view = QTableView()
        view.setModel(self.table)
        view.setAccessibleName("Goals")
        view.setTabKeyNavigation(False)
        view.setWordWrap(False)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        view.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed)
        view.verticalHeader().hide()
        view.setShowGrid(False)
        view.setAlternatingRowColors(True)
        header = view.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setHighlightSections(False)
        return view

    def _fit(self, _colours: object = None) -> None:
        """Make every column as wide as what stands in it, and no wider than a long number."""
        metrics = self.view.fontMetrics()
        self.view.verticalHeader().setDefaultSectionSize(metrics.height() + ROW_PADDING)
        for column in GoalColumn:
            head = str(self.table.headerData(column, Qt.Orientation.Horizontal))
            words = max((cell_text(row, column) for row in self.table.rows), key=len, default="")
            most = metrics.horizontalAdvance("0" * (_LONGEST_NAME if column is GoalColumn.QUERY else _LONGEST_NUMBER))
            wide = min(metrics.horizontalAdvance(words), most)
            self.view.setColumnWidth(column, max(metrics.horizontalAdvance(head), wide) + 2 * GRID)

    def _lay_out(self) -> None:
        self.solve_button = TextButton("Solve", look="primary", symbol="run")
        self.solve_button.clicked.connect(self._solve_plainly)
        self.as_in_2020 = TextButton("As in 2020", name="Solve as in 2020")
        self.as_in_2020.setToolTip("Normal margins, z = 1.645, rounded to the nearest millionth: the published budgets")
        self.as_in_2020.clicked.connect(lambda: self.solve(as_in_2020=True))
        self.spend = SymbolButton("sum", "Spend what the caps leave", text="Spend the rest", checkable=True, bordered=True,
                                  tip="Raise all targeted budgets by one factor until a cap is reached")  # fmt: skip
        reads = SymbolButton("open", "Open a file of goals", text="Open…", bordered=True)
        reads.clicked.connect(lambda: self._choose_file(reads=True))
        writes = SymbolButton("save", "Save the goals as a file", text="Save…", bordered=True)
        writes.clicked.connect(lambda: self._choose_file(reads=False))
        forget = SymbolButton("trash", "Drop all goals of the project", text="Drop all", bordered=True)
        forget.clicked.connect(self.forget)
        self.basis = Chooser("Whose margins the goals are about", tip=_BASIS_TIP)
        for basis in Basis:
            self.basis.addItem(basis.value, basis)
        self.basis.currentIndexChanged.connect(self._on_basis)
        top = FlowRow(self.solve_button, self.as_in_2020, self.basis, self.spend, reads, writes, forget, gap=GRID)
        self.scope = Chooser("Queries the line speaks of", letters=20)
        self.margin = ExactField("Margin of error at most, for the queries chosen", self._take_target_of_scope,
                                 width=9 * GRID)  # fmt: skip
        self.floor = ExactField("Budget at least, for the queries chosen", self._take_floor_of_scope, width=9 * GRID)
        buttons: list[QWidget] = []
        for words, name, run in (
            ("Tie margins", "Tie the queries chosen by margin", lambda: self._tie(TiedBy.MARGIN)),
            ("Tie budgets", "Tie the queries chosen by budget", lambda: self._tie(TiedBy.BUDGET)),
            ("Untie", "Untie the queries chosen", self._untie),
            ("Lock", "Lock the queries chosen", lambda: self._lock(self.chosen(), locked=True)),
            ("Unlock", "Unlock the queries chosen", lambda: self._lock(self.chosen(), locked=False)),
        ):
            button = TextButton(words, name=name)
            button.clicked.connect(run)
            buttons.append(button)
        bulk = FlowRow(self.scope, labelled("MOE ≤", self.margin), labelled("budget ≥", self.floor), *buttons, gap=GRID)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(MARGIN, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(top)
        column.addWidget(line())
        column.addWidget(bulk)
        column.addWidget(self.view, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(left)
        splitter.addWidget(self._make_side())
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 2)
        splitter.setSizes([_TABLE_PART, _SIDE_PART])
        around = QHBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(splitter)
        appearance().changed.connect(self._fit)
        self._fit()

    def _make_side(self) -> QWidget:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(GRID, GRID, MARGIN, GRID)
        column.setSpacing(GRID + HALF)
        column.addWidget(Text("Caps", bold=True))
        column.addWidget(self.caps)
        column.addWidget(self.panel)
        column.addStretch(1)
        return scrolling("Caps and result", content)


def _named(keys: tuple[Key, ...]) -> str:
    return title_of(keys[0]) if len(keys) == 1 else f"{len(keys)} queries"
