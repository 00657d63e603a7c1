"""Draft, recommended, approved, superseded: who decides what about exactly these parameters, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal

from phexplore.decide.approving import DEEDS, clock_sentence, decision_about, standing, superseded_sentence
from phexplore.decide.rule_evaluation import JudgeAnswer, JudgeRequest, judge, judge_everything
from phexplore.document.decided_versions import decided_version, opened_version
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.figures.table import Table
from phexplore.figures.wording import bound_text, counted
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Tasks
from phexplore.gui.binding.tiles import DecisionPart
from phexplore.gui.decision.decision_summary import decision_summary
from phexplore.gui.decision.dialogs import DecisionSheet
from phexplore.gui.decision.run_citations import RunCitations, run_offers
from phexplore.gui.decision.status import TONES
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.labels import Paragraph, Reason, Text, describe
from phexplore.gui.widgets.layout import form, row, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.pointers import PAGE
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.moments import minute_text
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import loss_of

Save = Callable[[Callable[[], object]], object]
"""Saves the project, asking for a name if there is none, then goes on."""
_ARROW = "  →  "
_INSTEAD = "Not yet"
_ABOUT = "A decision applies to exactly the parameters shown now. Approved parameters remain in the list; a later edit creates a copy."


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """What somebody confirmed on a sheet: everything a decision is made of, as it was shown there."""

    project: Project
    scenario: Scenario
    status: Status
    who: str
    role: str
    note: str
    runs: frozenset[str]


class ApprovePage(Page):
    """The status of the active scenario, the form of a decision, and all decisions of the project.

    Signals:
        decided: the `Decision` that was recorded.
        bundle_wanted: somebody wants to write the bundle.
    """

    decided = Signal(object)
    bundle_wanted = Signal()

    def __init__(
        self, session: Session, controller: RunController, save: Save, part: Callable[[], DecisionPart]
    ) -> None:
        """Make the page.

        Args:
            session: the project.
            controller: its runs.
            save: saves the project; a decision counts when it is on disk.
            part: what the system of the active scenario says before a decision.
        """
        super().__init__("Approve")
        self.setProperty(PAGE, "docs/decisions_of_committees.md#approving-bundling-verifying")
        self._session, self._controller, self._save, self._part = session, controller, save, part
        self._waiting: _Confirmed | None = None
        self._decisions: tuple[Decision, ...] = ()
        self._losses: dict[str, str] = {}
        self.sheet: DecisionSheet | None = None
        self._tasks = Tasks(self)
        self._tasks.failed.connect(self._refuse)
        self._make_fields()
        for field in (self.who, self.role, self.note):
            field.textEdited.connect(lambda _text: self.reason.say(""))
        self._fields = form(
            ("&Becomes", self.next),
            ("&Who", self.who),
            ("R&ole", self.role),
            ("&Note", self.note),
            ("Suppo&rting runs", self.runs, self.runs.list),
        )
        left = Qt.AlignmentFlag.AlignLeft
        # Withdrawing is far from the button that approves: no gesture may hit both.
        record = stacked(self._no_record, self.table, row(self.open, 1), (self.withdraw, left))
        self.record_section = Section("Decisions of this project", "", record)
        for section in (
            Section("Status", "", stacked(self.status, self.sentence, self._way, self._mark, gap=HALF)),
            Section(
                "Decide",
                _ABOUT,
                stacked(self._fields, self.reason, LargeTextRows((self._hint, 1), row(1, self.bundle, self.button))),
            ),
            self.record_section,
        ):
            self._insert(section)
        self._seen = WhenSeen(
            self, self.refresh, session.settled, session.saved, controller.changed, appearance().changed
        )
        session.opened.connect(self._forget)
        self.refresh()

    def stop(self) -> None:
        """Finish what was begun, because the window closes."""
        self._tasks.stop()

    def refresh(self) -> None:
        """Show what holds now."""
        project = self._session.project
        found = standing(project)
        self.status.setText(found.status.title)
        self.status.set_look(TONES[found.status])
        self.sentence.setText(found.sentence)
        self._way.setText(_ARROW.join(status.title for status in Status))
        self._mark.setText(f"Parameters {found.fingerprint}")
        self._mark.setVisible(appearance().is_expert)
        self.next.offer((each.title, each) for each in found.following if each is not Status.SUPERSEDED)
        self.withdraw.setVisible(Status.SUPERSEDED in found.following)
        self.runs.show_offers(run_offers(self._controller.rows, self._session.scenario))
        if self._waiting is not None and {path.name for path in self.runs.chosen} >= self._waiting.runs:
            self._decide(self._waiting)
        self._show_deed()
        headers = ("Decision", "Scenario", "Privacy loss", "Who", "Role", "When (UTC)", "Note", "Runs", "Fingerprint")
        self._decisions, is_expert = found.decisions, appearance().is_expert
        rows = tuple(_row(one, self._loss_of(project, one), has_codes=is_expert) for one in found.decisions)
        self.table.set_numbers(Table(headers, rows))
        self.open.setVisible(bool(rows))
        self.table.setVisible(bool(rows))
        self._no_record.setVisible(not rows)

    def open_decided(self) -> None:
        """Work on the parameters of the decision in the current row, the newest where none is chosen."""
        chosen = self.table.currentIndex()
        one, session = self._decisions[chosen.row() if chosen.isValid() else 0], self._session
        label = f"Open {one.scenario}, {one.status.value} by {one.who}"
        steps = session.project.steps
        refusal = session.edit_workbook(label, lambda book: opened_version(book, steps, one))
        self.reason.say("" if refusal is None else refusal.full)

    def _loss_of(self, project: Project, one: Decision) -> str:
        """Return the privacy loss of the parameters of a decision, from the log."""
        if one.fingerprint not in self._losses:
            found = decided_version(project.steps, one)
            self._losses[one.fingerprint] = "not in the history" if found is None else _loss_words(found)
        return self._losses[one.fingerprint]

    def record(self) -> None:
        """Open the sheet that shows what is decided about; only its main button records the decision in the form."""
        status = self.next.currentData()
        if not isinstance(status, Status) or not self.button.isEnabled():
            return
        self.reason.say("")
        if not self.who.text().strip() or not self.role.text().strip():
            self.reason.say("A decision names a person and a role. Say who decides, and in which capacity.")
            (self.who if not self.who.text().strip() else self.role).setFocus()
            return
        scenario, workbook = self._session.scenario, self._session.project.workbook
        order = self._confirmed(status, self.who.text(), self.role.text(), self.note.text())
        cited = tuple((path, scenario, self.runs.title(path)) for path in self.runs.chosen)
        request = JudgeRequest(workbook.rules, (), cited)
        if cited and workbook.rules:
            # A summary is read in tenths of a second where there are many runs: the window goes on meanwhile.
            self._tasks.do(partial(judge_everything, request), partial(self._ask, order))
            self._show_deed()
        else:
            self._ask(order, JudgeAnswer(request, ()))

    def _ask(self, order: _Confirmed, judged: JudgeAnswer) -> None:
        """Open the sheet.

        Args:
            order: what was in the form.
            judged: how the runs that are cited do on the rules.
        """
        self._show_deed()
        scenario, status = order.scenario, order.status
        if self._session.scenario is not scenario or self._session.project is not order.project:
            self.reason.say("The parameters were edited meanwhile. Look at them, then decide again.")
            return
        entries = decision_summary(
            self._session.shown,
            self._part(),
            [title for *_, title in judged.request.runs],
            judge(judged.request.rules, scenario),
            judged.columns,
            judged.unread,
        )
        sentence = (
            f"{scenario.name} becomes {status.title} in the name of {order.who.strip()}, {order.role.strip()}. "
            f"{superseded_sentence(order.project, status)}{clock_sentence(order.project, datetime.now(UTC))}Undo does not take a decision back."
        )
        action = DEEDS[status].split()[0]
        sheet = DecisionSheet(
            self, f"{DEEDS[status]}?", sentence, scenario.name, action=action, instead=_INSTEAD, entries=entries
        )
        self._open(sheet, lambda: order)

    def ask_to_withdraw(self) -> None:
        """Open the sheet that asks who withdraws these parameters, and why."""
        scenario = self._session.scenario
        who, role, note = LineField("Who withdraws"), LineField("In which capacity"), LineField("Why")
        why = "Why: the reason is kept with the decision"
        fields = (("Who withdraws", who), ("In which capacity", role), (why, note))
        sentence = (
            f"{scenario.name} becomes superseded. These parameters can never be approved again, and undo does not take it back. "
            f"{clock_sentence(self._session.project, datetime.now(UTC))}"
        ).rstrip()
        title = f"{DEEDS[Status.SUPERSEDED]}?"
        sheet = DecisionSheet(
            self, title, sentence, scenario.name, action="Withdraw", instead="Keep them", fields=fields
        )
        self._open(sheet, lambda: self._confirmed(Status.SUPERSEDED, who.text(), role.text(), note.text()))

    def _open(self, sheet: DecisionSheet, order: Callable[[], _Confirmed]) -> None:
        self.sheet = sheet
        sheet.finished.connect(lambda: setattr(self, "sheet", None))
        sheet.open_for(lambda: self._save_first(order()))

    def _confirmed(self, status: Status, who: str, role: str, note: str) -> _Confirmed:
        runs = () if status is Status.SUPERSEDED else self.runs.chosen
        names = frozenset(path.name for path in runs)
        return _Confirmed(self._session.project, self._session.scenario, status, who, role, note, names)

    def _save_first(self, order: _Confirmed) -> None:
        """Save the project if it has edits that are not saved, then decide."""
        self.reason.say("")
        if self._session.project.is_clean:
            self._decide(order)
        else:
            self._save(partial(self._decide_where_runs_are, order, self._controller.homes.root))

    def _decide_where_runs_are(self, order: _Confirmed, before: Path) -> None:
        """Decide after a save; the runs of a project saved for the first time move beside it, which may take a while."""
        if order.runs and self._controller.homes.root != before:
            self._waiting = order
            self._hint.setText("Waiting for the runs to be moved beside the project.")
        else:
            self._decide(order)

    def _decide(self, order: _Confirmed) -> None:
        self._waiting = None
        runs = tuple(path for path in self.runs.chosen if path.name in order.runs)
        if len(runs) < len(order.runs):
            self.reason.say(
                "A run that the decision rests on can no longer be cited; nothing was decided. Look at the runs again."
            )
            return
        make = partial(
            decision_about,
            order.scenario,
            order.status,
            who=order.who,
            role=order.role,
            now=datetime.now(UTC),
            note=order.note,
            runs=runs,
        )
        self._tasks.do(make, partial(self._take, order.project))
        self._show_deed()

    def _take(self, project: Project, decision: Decision) -> None:
        self._show_deed()
        session = self._session
        if project is not session.project:
            return
        if decision.fingerprint != fingerprint(session.scenario):
            self.reason.say(
                "The parameters were edited meanwhile; nothing was decided. Look at them, then decide again."
            )
            return
        try:
            session.project.decide(decision, is_clock_right=True)  # the sheet showed both times
        except PhexploreError as error:
            self._refuse(error)
            return
        self._clear()
        session.mark_saved()
        self.refresh()
        self.table.setFocus()  # the form is disabled, and keys must not reach whatever would come next
        self.decided.emit(decision)

    def _refuse(self, error: PhexploreError) -> None:
        self._show_deed()
        self.reason.say(error.full)

    def _forget(self) -> None:
        """Empty the form when another project was opened: what stands in it was about the one before."""
        self._waiting = None
        self._losses = {}
        self._clear()
        self.next.offer(())  # a choice that is still offered would stay
        self.reason.say("")

    def _clear(self) -> None:
        for field in (self.who, self.role, self.note):
            field.clear()
        self.runs.untick()

    def _make_fields(self) -> None:
        self.status = Text(relative=2.0, bold=True)
        self.sentence = Paragraph()
        self._way = Paragraph(look="muted")
        self._mark = Paragraph(look="muted")
        self.next = Chooser("What the parameters become", run=self._show_deed)
        self.who = LineField("Who decides", example="name of the person")
        self.role = LineField("In which capacity", example="e.g. Chair of the committee")
        self.note = LineField("Why", example="e.g. vote of 1 July, 6 to 1")
        for field in (self.who, self.role, self.note):
            field.returnPressed.connect(self.record)
        self.runs = RunCitations("Runs the decision rests on")
        self.button = TextButton("Approve these parameters", look="primary", symbol="tick", run=self.record)
        name = "Withdraw these parameters, with a reason"
        self.withdraw = TextButton("Withdraw…", name=name, run=self.ask_to_withdraw)
        name = "Write the bundle of this decision"
        self.bundle = TextButton("Write the bundle…", name=name, run=self.bundle_wanted)
        name = "Open the parameters of the chosen decision"
        self.open = TextButton("Open these parameters", name=name, run=self.open_decided)
        self.reason = Reason()
        self._hint = Text(look="muted", wrap=True)
        self.table = NumbersTable()
        self.table.setAccessibleName("Decisions of this project")
        self.table.setMinimumHeight(16 * GRID)
        self.table.doubleClicked.connect(self.open_decided)
        self._no_record = Text(
            "Every recommendation, approval and withdrawal is listed here, with who, role, time and note. Undo does not touch them.",
            look="muted",
            wrap=True,
        )

    def _show_deed(self) -> None:
        status = self.next.currentData()
        can_decide = status is not None and not self._tasks.is_busy
        for widget in (self.next, self.who, self.role, self.note, self.runs, self.button):
            widget.setEnabled(can_decide)
        self._fields.setRowVisible(self.next, status is not None)
        if status is None:
            self.button.setText("No further decision possible")
            self._hint.setText(
                "These parameters are decided about. Edit the scenario to make a new draft"
                + (", or withdraw them below." if not self.withdraw.isHidden() else ".")
            )
            self.button.setToolTip(self._hint.text())
            return
        self.button.setToolTip("")
        self.button.setText(f"{DEEDS[status]}…")
        describe(self.button, name=DEEDS[status])
        is_clean = self._session.project.is_clean
        self._hint.setText("" if is_clean else "The project is saved first: a decision counts when it is on disk.")


def _loss_words(scenario: Scenario) -> str:
    loss = loss_of(scenario)
    return f"{loss.framework.symbol} = {bound_text(loss.total)}"


def _row(one: Decision, loss: str, *, has_codes: bool) -> tuple[str, ...]:
    runs = ", ".join(f"{run.name} ({counted(run.trials, 'trial')})" for run in one.runs)
    if not has_codes and one.runs:
        runs = f"{counted(len(one.runs), 'run')} of {' and '.join(f'{run.trials:,}' for run in one.runs)} trials"
    runs = runs or "no run was cited"
    note = one.note or "no note was left"
    return (
        one.status.title,
        one.scenario,
        loss,
        one.who,
        one.role,
        minute_text(one.at),
        note,
        runs,
        one.fingerprint[:12] + "…",
    )
