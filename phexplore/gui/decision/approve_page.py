"""Draft, recommended, approved, superseded: who decides what about exactly these parameters, and why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from phexplore.decide.approving import decision_about
from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Session
from phexplore.gui.charts.controls import field_label
from phexplore.gui.charts.numbers import Numbers
from phexplore.gui.charts.twin import NumbersTable
from phexplore.gui.decision.run_citations import RunCitations
from phexplore.gui.decision.standing import DEEDS, clock, run_offers, standing
from phexplore.gui.decision.status import TONES
from phexplore.gui.run_manager.chores import Chores
from phexplore.gui.run_manager.run_desk import RunDesk
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint

Save = Callable[[Callable[[], object]], object]
"""Saves the project, asking for a name if there is none, then goes on."""
_ARROW = "  →  "


class ApprovePage(Page):
    """The status of the active scenario, the form of a decision, and all decisions of the project.

    Signals:
        decided: the `Decision` that was recorded.
        bundle_wanted: somebody wants to write the bundle.
    """

    decided = Signal(object)
    bundle_wanted = Signal()

    def __init__(self, session: Session, desk: RunDesk, save: Save) -> None:
        """Make the page.

        Args:
            session: the project.
            desk: its runs.
            save: saves the project; a decision counts when it is on disk.
        """
        super().__init__("Approve")
        self._session, self._desk, self._save = session, desk, save
        self._moving: frozenset[str] = frozenset()
        self._chores = Chores(self)
        self._chores.failed.connect(self._refuse)
        self._make_fields()
        status = Section("Status", "", self._status_part())
        form = Section(
            "Decide",
            "A decision is about exactly the parameters shown now. Any later edit is a new draft; this one keeps its status.",
            self._form_part(),
        )
        self.record_section = Section("Decisions of this project", "", self._record_part())
        for section in (status, form, self.record_section):
            self._insert(section)
        self._seen = WhenSeen(self, self.refresh)
        session.settled.connect(self._seen.request)
        session.saved.connect(self._seen.request)
        desk.changed.connect(self._seen.request)
        self.refresh()

    def stop(self) -> None:
        """Finish what was begun, because the window closes."""
        self._chores.stop()

    def refresh(self) -> None:
        """Show what holds now."""
        project = self._session.project
        found = standing(project)
        self.status.setText(found.status.title)
        self.status.set_look(TONES[found.status])
        self.sentence.setText(found.sentence)
        self._way.setText(_ARROW.join(status.title for status in Status))
        self._mark.setText(f"Parameters {found.fingerprint}")
        self._fill_next(found.following)
        self._next.setEnabled(bool(found.following))
        self.runs.show_offers(run_offers(self._desk.rows, self._session.scenario))
        if self._moving and {path.name for path in self.runs.chosen} >= self._moving:
            self._moving = frozenset()
            self._decide()
        self._show_deed()
        rows = tuple(_row(one) for one in found.decisions)
        headers = ("Decision", "Scenario", "Who", "Role", "When (UTC)", "Note", "Runs", "Parameters")
        self.table.set_numbers(Numbers(headers, rows))
        self.table.setVisible(bool(rows))
        self._no_record.setVisible(not rows)

    def record(self) -> None:
        """Record the decision in the form, saving the project first if it has edits that are not saved."""
        self._say("")
        if not self.who.text().strip() or not self.role.text().strip():
            self._say("A decision names a person and a role. Say who decides, and in which capacity.")
            (self.who if not self.who.text().strip() else self.role).setFocus()
            return
        if self._session.project.is_clean:
            self._decide()
        else:
            wanted = frozenset(path.name for path in self.runs.chosen)
            self._save(partial(self._decide_where_runs_are, wanted, self._desk.root))

    def _decide_where_runs_are(self, wanted: frozenset[str], before: Path) -> None:
        """Decide after a save; the runs of a project saved for the first time move beside it, which may take a while."""
        if wanted and self._desk.root != before:
            self._moving = wanted
            self._hint.setText("Waiting for the runs to be moved beside the project.")
        else:
            self._decide()

    def _decide(self) -> None:
        scenario = self._session.scenario
        status: Status = self._next.currentData()
        make = partial(
            decision_about,
            scenario,
            status,
            who=self.who.text(),
            role=self.role.text(),
            now=datetime.now(UTC),
            note=self.note.text(),
            runs=self.runs.chosen,
        )
        self.button.setEnabled(False)
        self._chores.do(make, self._take)

    def _take(self, decision: Decision) -> None:
        self._show_deed()
        session = self._session
        if decision.fingerprint != fingerprint(session.scenario):
            self._say("The parameters were edited meanwhile; nothing was decided. Look at them, then decide again.")
            return
        try:
            session.project.decide(decision)
        except PhexploreError as error:
            self._refuse(error)
            return
        self.note.clear()
        session.mark_saved()
        self.refresh()
        self.decided.emit(decision)

    def _refuse(self, error: PhexploreError) -> None:
        self._show_deed()
        self._say(f"{error.sentence} {error.remedy}".strip())

    def _say(self, reason: str) -> None:
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))

    def _make_fields(self) -> None:
        self.status = Text(relative=2.0, bold=True)
        self.sentence = Paragraph()
        self._way = Paragraph(look="muted")
        self._mark = Paragraph(look="muted")
        self._next = Chooser("What the parameters become")
        self._next.currentIndexChanged.connect(self._show_deed)
        self.who, self.role, self.note = QLineEdit(), QLineEdit(), QLineEdit()
        for field, name, example in (
            (self.who, "Who decides", "name of the person"),
            (self.role, "In which capacity", "e.g. Chair of the committee"),
            (self.note, "Why", "e.g. vote of 1 July, 6 to 1"),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText(example)
            field.returnPressed.connect(self.record)
        self.runs = RunCitations("Runs the decision rests on")
        self.button = TextButton("Approve these parameters", look="primary", symbol="tick")
        self.button.clicked.connect(self.record)
        self.bundle = TextButton("Write the bundle…", name="Write the bundle of this decision")
        self.bundle.clicked.connect(self.bundle_wanted)
        self.reason = Text(look="refused", wrap=True)
        self.reason.hide()
        self._hint = Text(look="muted", wrap=True)
        self.table = NumbersTable()
        self.table.setAccessibleName("Decisions of this project")
        self.table.setMinimumHeight(16 * GRID)
        self._no_record = Text(
            "Every recommendation, approval and withdrawal is listed here, with who, role, time and note. Undo does not touch them.",
            look="muted",
            wrap=True,
        )

    @property
    def next(self) -> Chooser:
        """What the parameters become."""
        return self._next

    def _status_part(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        for widget in (self.status, self.sentence, self._way, self._mark):
            column.addWidget(widget)
        return part

    def _form_part(self) -> QWidget:
        part = QWidget()
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow(field_label("&Becomes", self._next), self._next)
        form.addRow(field_label("&Who", self.who), self.who)
        form.addRow(field_label("R&ole", self.role), self.role)
        form.addRow(field_label("&Note", self.note), self.note)
        form.addRow(field_label("&Rests on", self.runs.list), self.runs)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._hint, 1)
        buttons.addWidget(self.bundle)
        buttons.addWidget(self.button)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(form)
        column.addWidget(self.reason)
        column.addLayout(buttons)
        return part

    def _record_part(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._no_record)
        column.addWidget(self.table)
        return part

    def _fill_next(self, following: tuple[Status, ...]) -> None:
        if [self._next.itemData(n) for n in range(self._next.count())] == list(following):
            return
        chosen = self._next.currentData()
        blocked = self._next.blockSignals(True)
        self._next.clear()
        for status in following:
            self._next.addItem(status.title, status)
        if chosen in following:
            self._next.select(chosen)
        self._next.blockSignals(blocked)

    def _show_deed(self) -> None:
        status = self._next.currentData()
        if status is None:
            self.button.setText("Nothing may follow")
            self.button.setEnabled(False)
            self._hint.setText("Superseded parameters stay superseded. Edit the scenario: an edit makes a new draft.")
            return
        self.button.setText(DEEDS[status])
        self.button.setAccessibleName(DEEDS[status])
        self.button.setEnabled(True)
        is_clean = self._session.project.is_clean
        self._hint.setText("" if is_clean else "The project is saved first: a decision counts when it is on disk.")


def _row(one: Decision) -> tuple[str, ...]:
    runs = ", ".join(f"{run.name} ({run.trials:,} trials)" for run in one.runs) or "–"
    note = one.note or "–"
    return (one.status.title, one.scenario, one.who, one.role, clock(one.at), note, runs, one.fingerprint[:12] + "…")
