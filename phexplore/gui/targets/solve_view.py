"""Solve from targets: a table of goals, caps, and the solution as a preview that is applied as one edit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from phexplore.accuracy.solving_conflict import Relaxation
from phexplore.accuracy.solving_separable import with_own_goals
from phexplore.decide.solving import Basis, SolveAnswer, SolveRequest, answer, applied, relaxed
from phexplore.files.goals_file import goals_json, read_goals
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.tables.model import ParameterModel
from phexplore.gui.tables.view import ParameterView
from phexplore.gui.targets.goal_edits import GoalEdits, set_floors, set_locks, set_targets
from phexplore.gui.targets.goal_table import GoalColumn, GoalSession, goal_rows, goal_table, goals_words, parse_goal
from phexplore.gui.targets.question_view import QuestionView
from phexplore.gui.targets.solve_panel import APPLIED, CapsEditor, SolvePanel
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text, labelled, line
from phexplore.gui.widgets.layout import column, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.speech import said, say_beside
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.goals import Key, TiedBy
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.systems.registry import budgets_of, system_of

_TABLE_PART, _SIDE_PART = 104 * GRID, 40 * GRID
"""Widths of table and result where nobody has moved the line between them."""
_BASIS_TIP = (
    "By itself, a query has the margin of its own noise. After least squares all measurements help; on the spine of 2020 with "
    "equal fan-outs, or exactly in every unit of block data."
)
_KEYS = "One row per query. Type to edit, Enter to commit, Escape to restore, Space to lock."
_CHOSEN = "The chosen rows"
_EXPERT = frozenset(
    {GoalColumn.BUDGET, GoalColumn.SOLVED, GoalColumn.CHANGE, GoalColumn.FLOOR, GoalColumn.TIE, GoalColumn.LOCK}
)
"""Columns of numbers that a committee does not set by hand."""
_ANSWERS = frozenset({GoalColumn.SOLVED, GoalColumn.CHANGE, GoalColumn.SOLVED_MARGIN, GoalColumn.REASON})
"""Columns that are empty before anything was solved, and in a conflict: names get their room."""
_FILES = "Goals (*.json *.csv);;All files (*)"


class SolveView(QuestionView):
    """Goals in, budgets out. Nothing changes before the solution is applied."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, answer)
        self.edits = GoalEdits(session)
        self._blocks: Path | None = None
        self._solution: Scenario | None = None  # what was applied, while it stands
        self.goals = cast("Any", GoalSession(session, self))
        self.table = ParameterModel(self.goals, goal_table, self)
        self.finding = Text("", wrap=True)
        self.view = ParameterView(self.goals, self.table, "Goals", _KEYS, tells_choice=False)
        self.panel = SolvePanel()
        self.panel.apply_wanted.connect(self.apply)
        self.panel.way_chosen.connect(self.take_way)
        self.caps = CapsEditor(self.edits.add_cap, lambda number: session.report(self.edits.remove_cap(number)))
        self._lay_out()
        session.opened.connect(self._forget)
        self._seen = WhenSeen(self, self._refresh, session.updated, appearance().changed)
        self._refresh()

    # Solving

    def solve(self, *, as_in_2020: bool = False) -> None:
        """Look for the smallest budgets that keep all goals."""
        self.panel.show_busy()
        self.solves.setAccessibleDescription("")
        basis, spends = self.basis.currentData(), self.spend.isChecked()
        self.ask(SolveRequest(self._session.scenario, self.edits.goals, as_in_2020, spends, basis, self._blocks))

    def apply(self) -> None:
        """Make the solution shown the parameters of the active scenario, as one step."""
        shown = self.panel.answer
        if shown is None or shown.solved is None or not self._is_current(shown):
            self._mark_stale()
            return
        solved = shown.solved
        label = "Solve from targets" + (", as in 2020" if shown.request.as_in_2020 else "")
        if self._session.report(self._session.edit_workbook(label, lambda book: applied(book, solved))):
            self._solution = self._session.scenario
            if self.panel.apply.hasFocus():  # it goes, and keys must not reach the chooser of scenarios
                self.solves.setFocus()
            self.panel.show_applied()
            self._refresh()
            self.noted.emit(f"The solution was applied. {APPLIED}")

    def take_way(self, way: Relaxation) -> None:
        """Change the goals as a way out says, as one step, and solve again."""
        shown = self.panel.answer
        if shown is None or not self._is_current(shown):
            self._mark_stale()
            return
        as_in_2020 = shown.request.as_in_2020
        if self._session.report(self._session.edit_workbook(f"Relax: {way.text}", lambda book: relaxed(book, way))):
            self.solve(as_in_2020=as_in_2020)

    def show_answer(self) -> None:
        self.panel.show_answer(self.answer)
        say_beside(self.solves, said(self.panel.title.text()))
        if not self._is_current(self.answer):
            self._mark_stale()
        self._refresh_rows()

    def _mark_stale(self) -> None:
        self.panel.mark_stale()
        self.solves.setAccessibleDescription("")  # what it came to

    def _is_current(self, shown: SolveAnswer) -> bool:
        return shown.request.scenario is self._session.scenario and shown.request.goals == self.edits.goals

    # Goals

    def chosen(self) -> tuple[Key, ...]:
        """The queries that the line above the table speaks of."""
        title = self.scope.currentData()
        if title != _CHOSEN:
            return budgets_of(self._session.scenario).scopes().get(title, ())
        return tuple(self.view.selected_places()) if self.view.selectionModel().hasSelection() else ()

    def take_for_chosen(self, column: GoalColumn, typed: str) -> str:
        """Set targets or floors of the queries chosen to what was typed; return why not, "" when they are.

        Args:
            column: of targets or of floors.
            typed: a number, "" for none.
        """
        keys = self.chosen()
        if not keys:
            return "Choose rows of the table, or what the line speaks of, first."
        try:
            value = parse_goal(typed, column)
        except ValueError as error:
            return f"{error}."
        refusal = self.edits.make((set_floors if column is GoalColumn.FLOOR else set_targets)(keys, value))
        return "" if refusal is None else refusal.full

    # Files

    def read_file(self, path: Path) -> None:
        """Take the goals of a file in place of the present ones."""
        try:
            goals = read_goals(read_bytes(path), path.name, tuple(budgets_of(self._session.scenario).budgets))
        except InputProblemsError as error:
            self.failed.emit(error)
            return
        self._session.report(self.edits.change(f"Read goals from {path.name}", lambda _: goals))

    def write_file(self, path: Path) -> None:
        """Write all goals, the scenario's own targets and locks included."""
        goals = with_own_goals(budgets_of(self._session.scenario), self.edits.goals)
        self.write_to(path, (json.dumps(goals_json(goals), indent=1, ensure_ascii=False) + "\n").encode())

    def use_blocks(self, path: Path) -> None:
        """Let the geography of these block data count."""
        self._blocks = path
        if warning := warning_about_blocks(path):
            self.noted.emit(warning)
        self.basis.setToolTip(f"{_BASIS_TIP}\nBlock data: {path.name}")
        self._mark_stale()

    def _on_basis(self, _number: int = 0) -> None:
        self._mark_stale()
        if self.basis.currentData().needs_blocks and self._blocks is None:
            kinds = "Block data (*.csv *.csv.gz);;All files (*)"
            ask_to_open(self, "Choose the block data", self.use_blocks, kinds=kinds)

    # Showing

    def _refresh(self, _update: object = None) -> None:
        shown = self.panel.answer
        if shown is not None and not self._is_current(shown):
            self._mark_stale()
        elif shown is None and self._solution is not None and self._solution is not self._session.scenario:
            self._solution = None
            self.panel.clear()
        self._refresh_rows()
        model = budgets_of(self._session.scenario)
        titles = model.scopes()
        self.scope.offer([(title, title) for title in (_CHOSEN, *titles)])
        self.caps.show_caps(self.edits.goals.caps, titles)
        # The budgets of 2020 were rounded where they were solved from targets that the parameters keep.
        is_expert, goals = appearance().is_expert, self.edits.goals
        self.as_in_2020.setVisible(model.keeps_targets and is_expert)
        self.basis.setVisible(system_of(self._session.scenario).solve_estimates is not None and is_expert)
        self.spend.setVisible(is_expert or self.spend.isChecked())
        self._caps.setVisible(is_expert or bool(goals.caps))
        for widget in (*self._expert, self._bulk):
            widget.setVisible(is_expert)

    def _forget(self) -> None:
        """Show nothing of the project before when another one is opened."""
        self._asked = self._blocks = None
        self.basis.select(Basis.ALONE)
        self.basis.setToolTip(_BASIS_TIP)
        self.spend.setChecked(False)
        self.panel.clear()
        self._seen.request()  # not before it is seen: the next project may be of a system that is not solved

    def _refresh_rows(self) -> None:
        shown = self.panel.answer
        has_solution = shown is not None and shown.solved is not None
        hidden = (frozenset() if appearance().is_expert else _EXPERT) | (frozenset() if has_solution else _ANSWERS)
        self.view.show_columns(hidden, shown=False)
        self.view.show_columns((_EXPERT | _ANSWERS) - hidden, shown=True)
        is_shown = shown is not None and shown.solved is not None and self._is_current(shown)
        solved, margins = (shown.solved, shown.margins) if shown is not None and is_shown else (None, {})
        rows = goal_rows(self._session.scenario, self.edits.goals, solved, margins)
        self.finding.setText(goals_words(self._session.scenario, rows))
        self.goals.show_rows(rows)

    def _lay_out(self) -> None:
        edits, report = self.edits, self._session.report
        self.solves = TextButton("Solve", look="primary", symbol="run", run=self.solve)
        tip = "Normal margins, z = 1.645, rounded to the nearest millionth: the published budgets"
        name = "Solve as in 2020"
        self.as_in_2020 = TextButton("As in 2020", name=name, tip=tip, run=lambda: self.solve(as_in_2020=True))
        self.spend = SymbolButton("sum", "Spend what the caps leave", text="Spend the rest", checkable=True, bordered=True,
                                  tip="Raise all targeted budgets by one factor until a cap is reached")  # fmt: skip
        files = self.file_buttons("goals", _FILES, self.read_file, self.write_file)
        forget = SymbolButton("trash", "Drop all goals of the project", text="Drop all", bordered=True,
                              run=lambda: report(edits.forget()))  # fmt: skip
        bases = [(basis.value, basis) for basis in Basis]
        self.basis = Chooser("Whose margins the goals are about", tip=_BASIS_TIP, options=bases, run=self._on_basis)
        self._expert = (*files, forget)
        top = FlowRow(self.solves, self.as_in_2020, self.basis, self.spend, *files, forget, gap=GRID)
        self.scope = Chooser("Queries the line speaks of", letters=20)
        margin = ExactField("Margin of error at most, for the queries chosen",
                            partial(self.take_for_chosen, GoalColumn.TARGET), width=9 * GRID)  # fmt: skip
        floor = ExactField("Budget at least, for the queries chosen",
                           partial(self.take_for_chosen, GoalColumn.FLOOR), width=9 * GRID)  # fmt: skip

        def for_chosen(edit: Callable[[Sequence[Key]], Refusal | None]) -> Callable[[], object]:
            return lambda: report(edit(self.chosen()))

        def locks(keys: Sequence[Key], *, locked: bool) -> Refusal | None:
            return edits.make(set_locks(keys, locked=locked))

        self._bulk = bulk = FlowRow(
            self.scope,
            labelled("MOE ≤", margin),
            labelled("budget ≥", floor),
            *(
                TextButton(words, name=name, run=for_chosen(edit))
                for words, name, edit in (
                    ("Tie margins", "Tie the queries chosen by margin", partial(edits.tie, equal=TiedBy.MARGIN)),
                    ("Tie budgets", "Tie the queries chosen by budget", partial(edits.tie, equal=TiedBy.BUDGET)),
                    ("Untie", "Untie the queries chosen", edits.untie),
                    ("Lock", "Lock the queries chosen", partial(locks, locked=True)),
                    ("Unlock", "Unlock the queries chosen", partial(locks, locked=False)),
                )
            ),
            gap=GRID,
        )
        goals = stacked(top, line(), self.finding, bulk, (self.view, 1), margins=(MARGIN, GRID, GRID, GRID))
        margins = (GRID, GRID, MARGIN, GRID)
        self._caps = stacked(Text("Caps", bold=True), self.caps)
        side = stacked(self._caps, self.panel, 1, gap=GRID + HALF, margins=margins)
        parts = (goals, scrolling("Caps and result", side))
        column(Beside("Solve from targets", *parts, shares=(3, 1), sizes=(_TABLE_PART, _SIDE_PART)), of=self)
