"""The page of runs: start one, watch the queue, look into one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.launch_form import LaunchForm, LaunchRequest
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_details import RunDetails
from phexplore.gui.run_manager.run_rows import RunAction, RunRow
from phexplore.gui.run_manager.runs_table import RunsTable
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, split, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.stack import Stack
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.issues import Severity
from phexplore.runs.place import HERE, Place
from phexplore.runs.states import RunState
from phexplore.systems.protocol import System
from phexplore.systems.registry import system_of

FORM_WIDTH = 42 * GRID
EMPTY_TITLE = "No run yet"
EMPTY_SENTENCE = (
    "A run simulates the whole release many times beside the window, with the real algorithm. It shows "
    "whether the margins hold and how single numbers come out. Start one at the left."
)


class RunsPage(QWidget):
    """Launch form, queue and the chosen run.

    Signals:
        opened: the `Path` of the run whose results are wanted.
        blocks_used: the `Path` of the blocks a TopDown run was started on.
        trust_wanted: the address (str) of a scheduler somebody has to trust, and what starts the run then.
    """

    opened = Signal(object)
    trust_wanted = Signal(str, object)
    blocks_used = Signal(object)

    def __init__(self, controller: RunController, session: Session, parent: QWidget | None = None) -> None:
        """Show the runs of a project.

        Args:
            controller: starts and follows runs.
            session: its active scenario is what a new run simulates.
            parent: owner.
        """
        super().__init__(parent)
        self._controller, self._session = controller, session
        self._forms, self._stack = Stack(), Stack()
        self._blocks: Path | None = None
        self.forms: dict[str, LaunchForm] = {}
        """The forms that were looked at, by the id of their system."""
        self.table = RunsTable()
        self.details = RunDetails()
        chosen = scrolling("Chosen run", self.details)
        self._lists = split(self.table, chosen, shares=(3, 2), is_vertical=True)
        self.empty = EmptyPlace("runs", EMPTY_TITLE, EMPTY_SENTENCE, action="Start a run", run=self.start_run)
        self._busy = Text(look="muted")
        self._lay_out()
        self.table.chosen.connect(self._show_chosen)
        self.table.opened.connect(self._open)
        self.details.asked.connect(self._do)
        controller.launched.connect(self.table.choose)
        controller.relocated.connect(self.table.relocate)
        controller.changed.connect(self._show_rows)
        controller.busy_changed.connect(self._show_busy)
        session.opened.connect(self._forget)
        WhenSeen(self, self._allow, session.settled)
        self._show_rows(controller.rows)
        self._allow()
        self._show_busy(controller.is_busy)

    def start_run(self) -> None:
        """Start a run with what stands in the form of the active scenario's system."""
        self._allow()  # the form has not followed edits made while the page was hidden
        self._active_form.launch()

    def form_of(self, system: System) -> LaunchForm:
        """Return the form that starts runs of a system, made on first use."""
        if system.id not in self.forms:
            form = self.forms[system.id] = LaunchForm(system, self._forms)
            form.use_blocks(self._blocks)
            self._forms.addWidget(form)
            form.launched.connect(self._launch)
            form.show_runs(self._controller.rows)
        return self.forms[system.id]

    def _forget(self) -> None:
        """Drop the forms of the project before: estimator, trials and area are those of a project."""
        for form in self.forms.values():
            self._forms.removeWidget(form)
            form.deleteLater()
        self.forms.clear()
        self._allow()

    def offer_blocks(self, path: Path | None) -> None:
        """Put the blocks of the project into the forms that take blocks, the demonstration's where it has none."""
        self._blocks = path
        for form in self.forms.values():
            form.use_blocks(path)

    @property
    def _active_form(self) -> LaunchForm:
        return self.form_of(system_of(self._session.scenario))

    def _launch(self, request: LaunchRequest) -> None:
        scenario = self._session.scenario
        if system_of(scenario).has_geography and request.settings.path.is_file():
            self.blocks_used.emit(request.settings.path.absolute())
        self._trusting(request.settings.place, self._active_form, lambda: self._controller.launch(scenario, request))

    def _trusting(self, place: Place, form: LaunchForm | None, start: Callable[[], object]) -> None:
        """Start; on a cluster only after somebody trusts its scheduler, this time and for this run."""
        if not place.scheduler:
            start()
            return

        def go_on() -> None:
            if form is not None:
                form.leave_place()
            self._controller.attempt(start)

        self.trust_wanted.emit(place.scheduler, go_on)

    def _form_for(self, row: RunRow | None, action: RunAction) -> LaunchForm | None:
        """Return the form whose address says where a run is to go on, None for here."""
        starts = action is RunAction.RERUN or (row is not None and row.state is not RunState.PAUSED)
        if not starts or row is None or row.spec is None:
            return None
        return self.forms.get(system_of(row.spec.scenario).id)

    def _show_rows(self, rows: tuple[RunRow, ...]) -> None:
        self.table.show_rows(rows)
        for form in self.forms.values():
            form.show_runs(rows)
        self._stack.setCurrentWidget(self._lists if rows else self.empty)
        self._show_chosen(self.table.chosen_directory)

    def _show_chosen(self, directory: Path | None) -> None:
        self.details.show_row(None if directory is None else self._controller.row(directory))

    def _show_busy(self, busy: bool) -> None:
        self._busy.setText("Reading files…" if busy else "")

    def _allow(self, _shown: object = None) -> None:
        errors = [issue for issue in self._session.shown.issues if issue.severity is Severity.ERROR]
        more = f" ({len(errors)} such issues)" if len(errors) > 1 else ""
        reason = f"The scenario cannot be run: {errors[0].sentence} {errors[0].remedy}{more}" if errors else ""
        form = self._active_form
        scenario = self._session.scenario
        form.show_scenario(scenario)
        form.block(reason or system_of(scenario).runs.refusal(scenario))
        self._forms.setCurrentWidget(form)

    def _open(self, directory: Path) -> None:
        self._do(RunAction.OPEN, directory)

    def _do(self, action: RunAction, directory: Path) -> None:
        if action is RunAction.DELETE:
            self._ask_to_delete(directory)
            return
        if action is RunAction.OPEN:
            self.opened.emit(directory)
            return
        if action in {RunAction.RESUME, RunAction.RERUN}:
            form = self._form_for(self._controller.row(directory), action)
            place = HERE if form is None else form.place
            begin = self._controller.resume if action is RunAction.RESUME else self._controller.repeat
            self._controller.attempt(lambda: self._trusting(place, form, lambda: begin(directory, place)))
            return
        stop = self._controller.pause if action is RunAction.PAUSE else self._controller.cancel
        self._controller.attempt(lambda: stop(directory))

    def _ask_to_delete(self, directory: Path) -> None:
        row = self._controller.row(directory)
        if row is None:
            return
        question = QMessageBox(self)
        question.setIcon(QMessageBox.Icon.Question)
        question.setTextFormat(Qt.TextFormat.PlainText)
        question.setWindowTitle("Delete run")
        question.setText(f"Delete the run of {row.title!r} and its {row.trials:,} trials?")
        question.setInformativeText("The files are removed from the disk. This cannot be undone.")
        delete = question.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        question.addButton(QMessageBox.StandardButton.Cancel)
        delete.clicked.connect(lambda: self._controller.attempt(lambda: self._controller.remove(directory)))
        question.finished.connect(question.deleteLater)
        question.open()

    def _lay_out(self) -> None:
        for part in (self._lists, self.empty):
            self._stack.addWidget(part)
        start = scrolling("Start a run", stacked(self._forms, self._busy, 1))
        sizes = (FORM_WIDTH, 3 * FORM_WIDTH)
        both = Beside("Runs", start, self._stack, shares=(0, 1), sizes=sizes, handle=GRID, most=0.33)
        column(both, of=self, margins=(MARGIN, GRID, MARGIN, GRID))
