"""The chosen run in full: what it does, how far it is, why it failed, its log, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QProgressBar, QVBoxLayout, QWidget

from phexplore.gui.run_manager.run_rows import (
    RunAction,
    RunRow,
    data_words,
    kind_words,
    refusal,
    state_words,
    trials_words,
)
from phexplore.gui.run_manager.runs_table import progress_words
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Text
from phexplore.runs.states import RunState
from phexplore.runs.store import started_words

_SYMBOLS = {
    RunAction.PAUSE: "pause",
    RunAction.RESUME: "run",
    RunAction.CANCEL: "close",
    RunAction.RERUN: "redo",
    RunAction.OPEN: "results",
    RunAction.DELETE: "trash",
}


class FailureCard(QFrame):
    """Why a run failed, what to do, and the details for a bug report."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "refused")
        self._details = ""
        self._sentence = Text(bold=True, wrap=True)
        self._remedy = Text(wrap=True)
        self._copy = TextButton("Copy details", look="link", symbol="")
        self._copy.setToolTip("Copy the reason and the end of the log, for a bug report")
        self._copy.clicked.connect(self.copy_details)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID + HALF, GRID, GRID + HALF, GRID)
        column.setSpacing(HALF)
        column.addWidget(self._sentence)
        column.addWidget(self._remedy)
        column.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    @property
    def details(self) -> str:
        """What a copy carries."""
        return self._details

    def show_row(self, row: RunRow) -> None:
        """Show the failure of a run, nothing when it did not fail."""
        self.setVisible(bool(row.problem))
        self._sentence.setText(row.problem)
        self._remedy.setText(row.remedy)
        self._remedy.setVisible(bool(row.remedy))
        self._details = "\n".join(part for part in (row.problem, row.remedy, str(row.directory), row.details) if part)

    def copy_details(self) -> None:
        """Put the details on the clipboard."""
        QGuiApplication.clipboard().setText(self._details)


class RunDetails(QFrame):
    """Shows one run.

    Signals:
        asked: the `RunAction` and the `Path` of the run it is asked for.
    """

    asked = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName("Chosen run")
        self._row: RunRow | None = None
        self._title = Text(bold=True, relative=1.15)
        self._facts = Text(look="muted", wrap=True)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of the chosen run")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(GRID)
        self._words = Text()
        self.failure = FailureCard()
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName("Log of the chosen run")
        self.log.setPlaceholderText("What the run reports appears here.")
        self.buttons: dict[RunAction, TextButton] = {}
        for action in RunAction:
            button = TextButton(action.value, name=f"{action.value} (chosen run)", symbol=_SYMBOLS[action])
            button.clicked.connect(lambda _checked=False, asked=action: self._ask(asked))
            self.buttons[action] = button
        self._lay_out()

    @property
    def row(self) -> RunRow | None:
        """The run shown."""
        return self._row

    def show_row(self, row: RunRow | None) -> None:
        """Show a run, or nothing."""
        if row is not None and row == self._row:
            return
        before, self._row = self._row, row
        self.setVisible(row is not None)
        if row is None:
            return
        self._title.setText(row.title)
        made = f"made {started_words(row.directory)}" if started_words(row.directory) else ""
        facts = (f"{trials_words(row)} trials", kind_words(row.spec), data_words(row.spec), made)
        self._facts.setText(" · ".join(part for part in facts if part) + f"\n{row.directory}")
        self._show_progress(row)
        self.failure.show_row(row)
        for action, button in self.buttons.items():
            reason = refusal(row, action)
            button.setEnabled(reason is None)
            button.setToolTip(reason or "")
        if before is None or before.directory != row.directory or before.notes != row.notes:
            self._show_log(row)

    def _show_progress(self, row: RunRow) -> None:
        share = row.share_done
        working = row.state.has_process
        self.progress.setVisible(working or row.state is RunState.QUEUED)
        # A range of nothing makes the bar move without an end: the worker does not know how long this phase takes.
        self.progress.setRange(0, 0 if share is None and working else 1000)
        if share is not None:
            self.progress.setValue(round(share * 1000))
        words = (state_words(row), progress_words(row) if working else "")
        self._words.setText(" · ".join(part for part in words if part))

    def _show_log(self, row: RunRow) -> None:
        bar = self.log.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        self.log.setPlainText("\n".join(row.notes))
        if at_end:
            bar.setValue(bar.maximum())

    def _ask(self, action: RunAction) -> None:
        if self._row is not None:
            self.asked.emit(action, self._row.directory)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, GRID + HALF)
        column.setSpacing(GRID)
        column.addWidget(self._title)
        column.addWidget(self._facts)
        column.addWidget(self._words)
        column.addWidget(self.progress)
        column.addWidget(self.failure)
        column.addWidget(FlowRow(*self.buttons.values(), gap=GRID))
        column.addWidget(self.log, 1)
