"""Decision rules: what must hold before somebody may say yes, and how every scenario and run does on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from phexplore.decide.rule_evaluation import judge, never_judged
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text, write_atomically
from phexplore.files.rules_json import read_rules, write_rules
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.verdicts import rule_title, verdict_detail, verdict_summary, verdict_text
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.targets.rule_form import RuleForm
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN, ROW_PADDING
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.stack import Stack
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.rules import REDISTRICTING, Outcome, Rule, Verdict
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import set_rules
from phexplore.runs.store import load_summary

_FILES = "Rules (*.json);;All files (*)"
_MOST_RUNS = 20
_NO_RULES = "No decision rules yet"
_TEACHING = (
    "A rule says what must hold before somebody may say yes, e.g. at least 95 % of areas with 500 people or more "
    "within ±5 points. Every scenario and run of the project is judged by it, with the distance to the limit."
)
_ROLES = {Outcome.PASS: "good", Outcome.FAIL: "refused", Outcome.NOT_JUDGED: "muted"}


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What is judged: rules, scenarios, and runs with the scenario each was made of."""

    rules: tuple[Rule, ...]
    scenarios: tuple[Scenario, ...]
    runs: tuple[tuple[Path, Scenario], ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAnswer:
    """Names and verdicts, a column each: scenarios first, then runs."""

    request: JudgeRequest
    columns: tuple[tuple[str, tuple[Verdict, ...]], ...]


def judge_everything(request: JudgeRequest) -> JudgeAnswer:
    """Return the verdicts on every scenario and run; a run that cannot be read is left out."""
    columns = [(scenario.name, judge(request.rules, scenario)) for scenario in request.scenarios]
    for directory, scenario in request.runs:
        try:
            summary = load_summary(directory)
        except PhexploreError:
            continue
        if summary is not None:
            columns.append((f"Run {directory.name}", judge(request.rules, scenario, summary)))
    return JudgeAnswer(request, tuple(columns))


class RulesView(QWidget):
    """An editable list of rules with a column of verdicts per scenario and run.

    Signals:
        failed: a `PhexploreError`, e.g. of a file.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session, runs: ProjectRuns | None = None) -> None:
        super().__init__()
        self._session, self._runs = session, runs
        self._asked: JudgeRequest | None = None
        self.answer: JudgeAnswer | None = None
        self._worker = Latest(judge_everything, self)
        self._worker.finished.connect(self._show)
        self._worker.failed.connect(self.failed)
        self.form = RuleForm()
        self.table = self._make_table()
        self._reason = Text(look="refused", wrap=True)
        self._finding = Paragraph("", relative=1.15, bold=True)
        self._lay_out()
        self._seen = WhenSeen(self, self._ask)
        session.settled.connect(self._seen.request)
        if runs is not None:
            runs.changed.connect(self._seen.request)
        self._seen.request()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The project's rules."""
        return self._session.project.workbook.rules

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self._worker.stop()

    def add(self) -> None:
        """Add the rule in the form."""
        if self._reads_form():
            rule = self.form.rule()
            self._commit(f"Add the rule: {rule.title}", (*self.rules, rule))

    def change(self) -> None:
        """Put the rule in the form in place of the chosen one."""
        row = self._row()
        if row is not None and self._reads_form():
            rule = self.form.rule()
            self._commit(f"Change a rule to: {rule.title}", (*self.rules[:row], rule, *self.rules[row + 1 :]))

    def remove(self) -> None:
        """Remove the chosen rule."""
        row = self._row()
        if row is not None:
            self._commit(f"Remove the rule: {self.rules[row].title}", self.rules[:row] + self.rules[row + 1 :])

    def add_published(self) -> None:
        """Add the criterion that decided the redistricting data of 2020."""
        self._commit(f"Add the rule: {REDISTRICTING.title}", (*self.rules, REDISTRICTING))

    def read_file(self, path: Path) -> None:
        """Add the rules of a file."""
        try:
            found = read_rules(read_text(path), path.name)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        kept = tuple(rule for rule in found if rule not in self.rules)
        self._commit(f"Read rules from {path.name}", (*self.rules, *kept))

    def write_file(self, path: Path) -> None:
        """Write all rules."""
        try:
            write_atomically(path, write_rules(self.rules))
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self.noted.emit(f"{path.name} was written to {path.parent}.")

    def _commit(self, label: str, rules: tuple[Rule, ...]) -> None:
        self._session.report(self._session.edit_workbook(label, lambda book: set_rules(book, rules)))

    def _reads_form(self) -> bool:
        reason = self.form.problem()
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        return not reason

    def _row(self) -> int | None:
        row = self.table.currentRow()
        return row if 0 <= row < len(self.rules) else None

    def _ask(self, _signal: object = None) -> None:
        book = self._session.project.workbook
        active = book.scenario
        self._offer_what_can_be_judged(active)
        others = tuple(each for each in book.scenarios if each.name != active.name)
        self._asked = JudgeRequest(book.rules, (active, *others), self._listed())
        self._worker.request(self._asked)

    def _offer_what_can_be_judged(self, scenario: Scenario) -> None:
        self.form.offer_for(scenario)
        reason = never_judged(REDISTRICTING.measure, scenario)
        for button in (self.published, self._empty.button):
            if button is not None:
                button.setEnabled(not reason)
                button.setToolTip(f"Not for this scenario: {reason}" if reason else "")
        why = f" The criterion of 2020 is not for this scenario: {reason}." if reason else ""
        self._empty.set_text(_NO_RULES, _TEACHING + why)

    def _listed(self) -> tuple[tuple[Path, Scenario], ...]:
        rows = self._runs.rows if self._runs is not None else ()
        found = [(row.directory, row.spec.scenario) for row in rows if row.spec is not None and row.trials]
        return tuple(found[:_MOST_RUNS])

    def _show(self, found: JudgeAnswer) -> None:
        if found.request is not self._asked:
            return
        self.answer = found
        rules = found.request.rules
        self.pages.setCurrentIndex(1 if rules else 0)
        name, verdicts = found.columns[0]
        self._finding.setText(f"{name}: {verdict_summary(verdicts)}" if rules else "")
        self.table.setColumnCount(len(found.columns))
        self.table.setRowCount(len(rules))
        self.table.setHorizontalHeaderLabels([column for column, _ in found.columns])
        for place, (column, _) in enumerate(found.columns):
            if (head := self.table.horizontalHeaderItem(place)) is not None:
                head.setToolTip(column)
        self.table.setVerticalHeaderLabels([rule_title(rule) for rule in rules])
        for place, (column, judged) in enumerate(found.columns):
            for row, verdict in enumerate(judged):
                self.table.setItem(row, place, self._item(column, verdict))
        self._fit()
        self._on_row()

    def _item(self, column: str, verdict: Verdict) -> QTableWidgetItem:
        item = QTableWidgetItem(verdict_text(verdict))
        detail = verdict_detail(verdict)
        item.setToolTip(detail)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{column}, {detail}")
        item.setForeground(QColor(getattr(appearance().colours, _ROLES[verdict.outcome])))
        return item

    def _on_row(self, *_cells: object) -> None:
        row = self._row()
        self._change.setEnabled(row is not None)
        self._remove.setEnabled(row is not None)
        if row is not None:
            self.form.show_rule(self.rules[row])

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 0)
        table.setAccessibleName("Rules and verdicts")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setWordWrap(True)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for header in (table.horizontalHeader(), table.verticalHeader()):
            header.setHighlightSections(False)
        table.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.currentCellChanged.connect(self._on_row)
        return table

    def _fit(self, _colours: object = None) -> None:
        metrics = self.table.fontMetrics()
        self.table.verticalHeader().setDefaultSectionSize(metrics.height() + ROW_PADDING + HALF)
        widest = metrics.horizontalAdvance("✓ 1,234 people, 1,234 people missing") + 2 * GRID
        for place in range(self.table.columnCount()):
            self.table.setColumnWidth(place, widest)

    def _choose_file(self, *, reads: bool) -> None:
        dialog = QFileDialog(self, "Open rules" if reads else "Save rules", "rules.json", _FILES)
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

    def _lay_out(self) -> None:
        reads = SymbolButton("open", "Open a file of rules", text="Open…", bordered=True)
        reads.clicked.connect(lambda: self._choose_file(reads=True))
        writes = SymbolButton("save", "Save the rules as a file", text="Save…", bordered=True)
        writes.clicked.connect(lambda: self._choose_file(reads=False))
        self.published = TextButton("Add the criterion of 2020", name="Add the redistricting criterion of 2020")
        self.published.clicked.connect(self.add_published)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(MARGIN, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(FlowRow(self.published, reads, writes, gap=GRID))
        column.addWidget(self._finding)
        self.pages = Stack()
        self._empty = EmptyPlace(
            "targets",
            _NO_RULES,
            _TEACHING,
            action="Add the criterion of 2020",
            run=self.add_published,
        )
        self.pages.addWidget(self._empty)
        self.pages.addWidget(self.table)
        column.addWidget(self.pages, 1)
        right = QWidget()
        form = QVBoxLayout(right)
        form.setContentsMargins(GRID, GRID + HALF, MARGIN, GRID)
        form.setSpacing(GRID)
        form.addWidget(Text("A rule", bold=True, relative=1.08))
        form.addWidget(self.form)
        form.addWidget(self._reason)
        self._reason.hide()
        add = TextButton("Add as new rule", look="primary", symbol="plus")
        add.clicked.connect(self.add)
        self._change = TextButton("Change the chosen rule")
        self._change.clicked.connect(self.change)
        self._remove = TextButton("Remove the chosen rule")
        self._remove.clicked.connect(self.remove)
        for button in (add, self._change, self._remove):
            form.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        form.addStretch(1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(left)
        splitter.addWidget(scrolling("The fields of a rule", right))
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([100 * GRID, 44 * GRID])
        around = QHBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(splitter)
        appearance().changed.connect(self._ask)
