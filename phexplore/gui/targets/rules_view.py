"""Decision rules: what must hold before somebody may say yes, and how every scenario and run does on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt

from phexplore.decide.rule_evaluation import judge, never_judged
from phexplore.errors import PhexploreError
from phexplore.figures.table import Table
from phexplore.files.atomic_files import read_text
from phexplore.files.rules_json import read_rules, write_rules
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.verdicts import rule_title, verdict_detail, verdict_summary, verdict_text
from phexplore.gui.figures.data_table import Look, NumbersTable
from phexplore.gui.targets.project_runs import ProjectRuns
from phexplore.gui.targets.question_view import QuestionView
from phexplore.gui.targets.rule_form import RuleForm
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Reason, Text
from phexplore.gui.widgets.layout import column, split, stacked
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
_LOOKS = {Outcome.PASS: Look.GOOD, Outcome.FAIL: Look.REFUSED, Outcome.NOT_JUDGED: Look.MUTED}


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


class RulesView(QuestionView):
    """An editable list of rules with a column of verdicts per scenario and run."""

    def __init__(self, session: Session, runs: ProjectRuns | None = None) -> None:
        super().__init__(session, judge_everything)
        self._runs = runs
        self.form = RuleForm()
        self.table = NumbersTable()
        self.table.setAccessibleName("Rules and verdicts")
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.row_chosen.connect(self._on_row)
        self.reason = Reason()
        self.finding = Paragraph("", relative=1.15, bold=True)
        self._lay_out()
        changes = () if runs is None else (runs.changed,)
        self._seen = WhenSeen(self, self._judge, session.settled, *changes)
        self._seen.request()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The project's rules."""
        return self._session.project.workbook.rules

    def add(self) -> None:
        """Add the rule in the form."""
        if not self.reason.say(self.form.problem()):
            rule = self.form.rule()
            self._commit(f"Add the rule: {rule.title}", (*self.rules, rule))

    def change(self) -> None:
        """Put the rule in the form in place of the chosen one."""
        row = self._row()
        if row is not None and not self.reason.say(self.form.problem()):
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
            read = read_rules(read_text(path), path.name)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self._commit(f"Read rules from {path.name}", (*self.rules, *(rule for rule in read if rule not in self.rules)))

    def write_file(self, path: Path) -> None:
        """Write all rules."""
        self.write_to(path, write_rules(self.rules))

    def show_answer(self) -> None:
        columns = self.answer.columns
        rules = self.answer.request.rules
        self.pages.setCurrentIndex(1 if rules else 0)
        name, verdicts = columns[0]
        self.finding.setText(f"{name}: {verdict_summary(verdicts)}" if rules else "")
        verdict_at = {
            (row, place): verdict
            for place, (_, judged) in enumerate(columns, start=1)
            for row, verdict in enumerate(judged)
        }
        texts = {at: verdict_text(verdict) for at, verdict in verdict_at.items()}
        rows = [
            (rule_title(rule), *(texts[row, place] for place in range(1, len(columns) + 1)))
            for row, rule in enumerate(rules)
        ]
        details = {at: verdict_detail(verdict) for at, verdict in verdict_at.items()}
        self.table.set_numbers(Table(("Rule", *(column for column, _ in columns)), tuple(rows)))
        self.table.resizeColumnToContents(0)
        self.table.set_looks(
            lambda row, place: _LOOKS[verdict_at[row, place].outcome] if (row, place) in verdict_at else None,
            lambda row, place: details.get((row, place), ""),
        )
        self._on_row()

    def _commit(self, label: str, rules: tuple[Rule, ...]) -> None:
        self._session.report(self._session.edit_workbook(label, lambda book: set_rules(book, rules)))

    def _row(self) -> int | None:
        row = self.table.currentIndex().row()
        return row if 0 <= row < len(self.rules) else None

    def _on_row(self, _row: object = None) -> None:
        row = self._row()
        for button in (self._change, self._remove):
            button.setEnabled(row is not None)
        if row is not None:
            self.form.show_rule(self.rules[row])

    def _judge(self) -> None:
        book = self._session.project.workbook
        active = book.scenario
        self._offer_what_can_be_judged(active)
        others = tuple(each for each in book.scenarios if each.name != active.name)
        rows = self._runs.rows if self._runs is not None else ()
        runs = [(row.directory, row.spec.scenario) for row in rows if row.spec is not None and row.trials]
        self.ask(JudgeRequest(book.rules, (active, *others), tuple(runs[:_MOST_RUNS])))

    def _offer_what_can_be_judged(self, scenario: Scenario) -> None:
        self.form.offer_for(scenario)
        reason = never_judged(REDISTRICTING.measure, scenario)
        for button in (self.published, self._empty.button):
            if button is not None:
                button.setEnabled(not reason)
                button.setToolTip(f"Not for this scenario: {reason}" if reason else "")
        why = f" The criterion of 2020 is not for this scenario: {reason}." if reason else ""
        self._empty.set_text(_NO_RULES, _TEACHING + why)

    def _lay_out(self) -> None:
        words, name = "Add the criterion of 2020", "Add the redistricting criterion of 2020"
        self.published = TextButton(words, name=name, run=self.add_published)
        files = self.file_buttons("rules", _FILES, self.read_file, self.write_file)
        self.pages = Stack()
        self._empty = EmptyPlace("targets", _NO_RULES, _TEACHING, action=words, run=self.add_published)
        self.pages.addWidget(self._empty)
        self.pages.addWidget(self.table)
        head = FlowRow(self.published, *files, gap=GRID)
        judged = stacked(head, self.finding, (self.pages, 1), margins=(MARGIN, GRID, GRID, GRID))
        add = TextButton("Add as new rule", look="primary", symbol="plus", run=self.add)
        self._change = TextButton("Change the chosen rule", run=self.change)
        self._remove = TextButton("Remove the chosen rule", run=self.remove)
        buttons = ((button, Qt.AlignmentFlag.AlignLeft) for button in (add, self._change, self._remove))
        heading = Text("A rule", bold=True, relative=1.08)
        margins = (GRID, GRID + HALF, MARGIN, GRID)
        fields = scrolling(
            "The fields of a rule", stacked(heading, self.form, self.reason, *buttons, 1, margins=margins)
        )
        parts = split(judged, fields, shares=(3, 1), sizes=(100 * GRID, 44 * GRID))
        parts.setHandleWidth(1)
        column(parts, of=self)
