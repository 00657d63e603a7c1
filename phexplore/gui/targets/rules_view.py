"""Decision rules: what must hold before somebody may say yes, and how every scenario and run does on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QCompleter, QWidget

from phexplore.decide.rule_evaluation import JudgeAnswer, JudgeRequest, judge_everything, never_judged
from phexplore.decide.verdict_words import rule_title, verdict_detail, verdict_summary, verdict_text
from phexplore.errors import PhexploreError
from phexplore.figures.table import Look, Table
from phexplore.figures.wording import parse_people, ungrouped
from phexplore.files.atomic_files import read_text
from phexplore.files.rules_json import own_rules, read_rules, write_rules
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.targets.project_runs import ProjectRuns, listed_title
from phexplore.gui.targets.question_view import QuestionView
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Reason, Text
from phexplore.gui.widgets.layout import column, form, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.stack import Stack
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Outcome, Rule, Verdict
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import set_rules
from phexplore.systems.registry import loss_of, system_of

_FILES = "Rules (*.json);;All files (*)"
_MOST_RUNS = 20
_NO_RULES = "No decision rules yet"
_TEACHING = (
    "A rule states a requirement for approval, e.g. at least 95 % of areas with 500 people or more within 5 percentage "
    "points. Each rule is evaluated for every scenario and run of the project, with the distance to the limit."
)
_LOOKS = {
    Outcome.PASS: Look.GOOD,
    Outcome.FAIL: Look.REFUSED,
    Outcome.TOO_FEW: Look.ATTENTION,
    Outcome.NOT_JUDGED: Look.MUTED,
}

_MEASURES = {
    Measure.MARGIN: ("Margin of error", "people"),
    Measure.LOSS: ("Privacy loss (ρ or ε)", "as stated"),
    Measure.EPSILON: ("ε at δ = 10⁻¹⁰", "ε"),
    Measure.PROVEN: ("Proven ε at δ = 10⁻¹⁰", "ε"),
    Measure.LARGEST_GROUP: ("Areas that keep their largest group", "% of areas"),
    Measure.COVERAGE: ("Coverage of the margin", "% of numbers"),
    Measure.ERROR: ("A figure of errors", "in its unit"),
    Measure.CHECKS: ("Failed checks", "checks"),
}
_EVERYWHERE = frozenset({Measure.LOSS, Measure.EPSILON, Measure.PROVEN, Measure.CHECKS})


class RuleForm(QWidget):
    """Fields of a rule; `rule` reads them, `show_rule` fills them."""

    def __init__(self) -> None:
        super().__init__()
        measures = [(words, measure) for measure, (words, _) in _MEASURES.items()]
        self.measure = Chooser("What the rule looks at", letters=30, options=measures, run=self._follow_measure)
        self.bound = Chooser("On which side of the limit", options=[(bound.value, bound) for bound in Bound])
        self.limit = LineField("Limit of the rule")
        self.place = LineField("Where the rule holds", example="everywhere")
        tip = "A table, a level, or a query of the scenario; empty = everywhere, the worst place decides"
        self.place.setToolTip(tip)
        self._places = QStringListModel(self)
        names = QCompleter(self._places, self)
        names.setFilterMode(Qt.MatchFlag.MatchContains)
        names.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.place.setCompleter(names)
        self._codes: dict[str, str] = {}
        self.figure = LineField("Which figure of errors", example="e.g. mae")
        self.least = LineField("Least people of an area that counts")
        self.tolerance = LineField("How far a share may be off, points")
        self._only_for = {
            self.place: set(Measure) - _EVERYWHERE,
            self.figure: {Measure.ERROR},
            self.least: {Measure.LARGEST_GROUP},
            self.tolerance: {Measure.LARGEST_GROUP},
        }
        for field in (self.limit, *self._only_for):
            field.setMaxLength(200)
        self._unit = Text("", look="muted")
        self._counted, self._loss = "people", _MEASURES[Measure.LOSS][1]
        # The unit stands below the limit: beside it there is no room in a narrow window.
        self._form = form(
            ("What", self.measure), ("Is", self.bound), ("Limit", column(self.limit, self._unit, gap=HALF), self.limit),
            ("Where", self.place), ("Figure", self.figure), ("Areas from", self.least),
            ("Within percentage points", self.tolerance), of=self,
        )  # fmt: skip
        self.show_rule(REDISTRICTING)

    def offer_for(self, scenario: Scenario, places: Iterable[str] = ()) -> None:
        """Disable what no run of the scenario's system can judge; the tool tip says why.

        Args:
            scenario: that is judged first.
            places: of its forecast; they are offered by name while somebody types.
        """
        codes = dict.fromkeys(part for place in places for part in (place, *place.split("/")))
        names = {localised(system_of(scenario).place_name(code).title): code for code in codes}
        self._codes = {name.lower(): code for name, code in names.items()}
        self._places.setStringList(sorted(names))
        model = self.measure.model()
        if not isinstance(model, QStandardItemModel):
            raise TypeError("the chooser of measures has another model")
        self._counted = system_of(scenario).counted(scenario, None)
        loss = loss_of(scenario)
        self._loss = f"{loss.framework.symbol} here, {loss.neighbours.value} neighbors"
        for row in range(self.measure.count()):
            reason = never_judged(self.measure.itemData(row), scenario)
            model.item(row).setEnabled(not reason)
            model.item(row).setToolTip(f"Not for this scenario: {reason}" if reason else "")
        chosen = model.item(self.measure.currentIndex())
        if chosen is not None and not chosen.isEnabled() and not self.problem() and self.rule() == REDISTRICTING:
            self.show_rule(Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(0)))
            self.limit.clear()
        self._follow_measure()

    def rule(self) -> Rule:
        """Return what the fields say.

        Raises:
            PhexploreError: the rule says nothing or contradicts itself.
            ValueError: a number cannot be read.
        """
        measure = self.measure.currentData()
        if not self.limit.text().strip():
            raise ValueError("Enter the limit")
        limit = (parse_people if measure is Measure.MARGIN else parse_exact)(self.limit.text())
        people = ungrouped(self.least.text()).strip()
        of_groups = measure is Measure.LARGEST_GROUP
        if of_groups and not people.isdigit():
            raise ValueError(f"{people!r} is no whole number of people")
        return Rule(
            measure,
            self.bound.currentData(),
            limit / 100 if measure.is_share else limit,
            self._place() if measure not in _EVERYWHERE else "",
            self.figure.text().strip() if measure is Measure.ERROR else "",
            int(people) if of_groups else 500,
            parse_exact(self.tolerance.text()) / 100 if of_groups else Fraction(1, 20),
        )

    def _place(self) -> str:
        typed = self.place.text().strip()
        return self._codes.get(typed.lower(), typed)

    def problem(self) -> str:
        """Return why the fields are no rule, "" when they are one."""
        try:
            self.rule()
        except PhexploreError as error:
            return error.full
        except ValueError as error:
            return f"{error}."
        return ""

    def show_rule(self, rule: Rule) -> None:
        """Fill the fields."""
        self.measure.setCurrentIndex(self.measure.findData(rule.measure))
        self.bound.setCurrentIndex(self.bound.findData(rule.bound))
        self.limit.setText(exact_text(rule.limit * 100 if rule.measure.is_share else rule.limit))
        self.place.setText(
            next((name for name in self._places.stringList() if self._codes[name.lower()] == rule.place), rule.place)
        )
        self.figure.setText(rule.figure)
        self.least.setText(str(rule.least_people))
        self.tolerance.setText(exact_text(rule.tolerance * 100))
        self._follow_measure()

    def _follow_measure(self, _number: int = 0) -> None:
        measure = self.measure.currentData()
        units = {Measure.MARGIN: self._counted, Measure.LOSS: self._loss}
        self._unit.setText(units.get(measure, _MEASURES[measure][1]))
        for field, measures in self._only_for.items():
            self._form.setRowVisible(field, measure in measures)


class RulesView(QuestionView):
    """An editable list of rules, each with a line of verdict per scenario and run: beside each other they would not fit."""

    def __init__(self, session: Session, runs: ProjectRuns | None = None) -> None:
        super().__init__(session, judge_everything)
        self._runs = runs
        self._judged = 1  # lines of a rule
        self.form = RuleForm()
        self.table = NumbersTable(is_wrapped=True)  # neither a date nor a distance is cut
        self.table.setAccessibleName("Rules and verdicts")
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
        self._add_own(path.name, read)

    def _add_own(self, name: str, read: Sequence[Rule]) -> None:
        self._commit(f"Read rules from {name}", (*self.rules, *(rule for rule in read if rule not in self.rules)))

    def write_file(self, path: Path) -> None:
        """Write all rules."""
        self.write_to(path, write_rules(self.rules))

    def show_answer(self) -> None:
        columns, own = _own_runs_first(self.answer)
        rules = self.answer.request.rules
        self.pages.setCurrentIndex(1 if rules else 0)
        self.published.setVisible(bool(rules))  # the empty place offers it
        verdicts = columns[0][1]
        newest = columns[1][1] if own else verdicts
        told = any(
            now.outcome is Outcome.NOT_JUDGED is not then.outcome for now, then in zip(verdicts, newest, strict=True)
        )
        found = columns[: 1 + told]  # a run judges what no forecast can
        self.finding.setText("\n".join(f"{of}: {verdict_summary(said)}" for of, said in found) if rules else "")
        lines = [(rule, of, said[row]) for row, rule in enumerate(rules) for of, said in columns]
        rows = tuple((rule_title(rule), of, verdict_text(verdict)) for rule, of, verdict in lines)
        looks = {(row, 2): _LOOKS[verdict.outcome] for row, (_, _, verdict) in enumerate(lines)}
        details = {(row, 2): verdict_detail(verdict) for row, (_, _, verdict) in enumerate(lines)}
        self._judged = len(columns)
        self.table.set_numbers(Table(("Rule", "Scenario or run", "Verdict"), rows, looks, details))
        self._on_row()

    def _commit(self, label: str, rules: tuple[Rule, ...]) -> None:
        self._session.report(self._session.edit_workbook(label, lambda book: set_rules(book, rules)))

    def _row(self) -> int | None:
        row = self.table.currentIndex().row() // self._judged
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
        runs = [
            (row.directory, row.spec.scenario, listed_title(row)) for row in rows if row.spec is not None and row.trials
        ]
        self.ask(JudgeRequest(book.rules, (active, *others), tuple(runs[:_MOST_RUNS])))

    def _offer_what_can_be_judged(self, scenario: Scenario) -> None:
        known = self._session.shown.forecast
        self.form.offer_for(scenario, () if known is None else [entry.place for entry in known.entries])
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
        self.published.hide()
        files = self.file_buttons("rules", _FILES, self.read_file, self.write_file)
        self.pages = Stack()
        self._empty = EmptyPlace("targets", _NO_RULES, _TEACHING, action=words, run=self.add_published)
        self.pages.addWidget(self._empty)
        self.pages.addWidget(self.table)
        own = [
            TextButton(f"Add {name} (your library)", run=partial(self._add_own, name, rules))
            for name, rules in own_rules().items()
        ]
        head = FlowRow(self.published, *own, *files, gap=GRID)
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
        column(Beside("Decision rules", judged, fields, shares=(3, 1), sizes=(78 * GRID, 58 * GRID)), of=self)


def _own_runs_first(answer: JudgeAnswer) -> tuple[list[tuple[str, tuple[Verdict, ...]]], int]:
    """Return the columns with the runs of the active scenario behind it, newest first, and how many those are."""
    request = answer.request
    active, *others = answer.columns
    own = {name for _, scenario, name in request.runs if scenario.method == request.scenarios[0].method}
    scenarios = len(request.scenarios) - 1
    runs = others[scenarios:]
    mine = [each for each in runs if each[0] in own]
    return [active, *mine, *others[:scenarios], *(each for each in runs if each[0] not in own)], len(mine)
