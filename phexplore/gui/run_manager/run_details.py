"""One run: how far it is and how long it takes in a line at the bottom of the window; the chosen one in full, with its log."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QProgressBar, QWidget

from phexplore.gui.run_manager.run_controller import RunController
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
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, Text, describe
from phexplore.gui.widgets.layout import column, row
from phexplore.runs.states import RunState

_SYMBOLS = {
    RunAction.PAUSE: "pause",
    RunAction.RESUME: "run",
    RunAction.CANCEL: "close",
    RunAction.RERUN: "redo",
    RunAction.OPEN: "results",
    RunAction.DELETE: "trash",
}
_FOLLOWS = {RunAction.PAUSE: RunAction.RESUME, RunAction.RESUME: RunAction.PAUSE}
"""Where the keyboard goes when an action is no longer possible; from the others to the results, which change nothing."""


class FailureCard(QFrame):
    """Why a run failed, what to do, and the details for a bug report."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "refused")
        self.details = ""
        self._sentence = Text(bold=True, wrap=True)
        self._remedy = Text(wrap=True)
        tip = "Copy the reason and the end of the log, for a bug report"
        copy = TextButton("Copy details", look="link", tip=tip, run=self.copy_details)
        margins = (GRID + HALF, GRID, GRID + HALF, GRID)
        column(self._sentence, self._remedy, (copy, Qt.AlignmentFlag.AlignLeft), of=self, gap=HALF, margins=margins)
        self.hide()

    def show_row(self, row: RunRow) -> None:
        """Show the failure of a run, nothing when it did not fail."""
        self.setVisible(bool(row.problem))
        self._sentence.setText(row.problem)
        self._remedy.setText(row.remedy)
        self._remedy.setVisible(bool(row.remedy))
        self.details = "\n".join(part for part in (row.problem, row.remedy, str(row.directory), row.details) if part)

    def copy_details(self) -> None:
        """Put the details on the clipboard."""
        QGuiApplication.clipboard().setText(self.details)


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
        self.row: RunRow | None = None
        """The run shown."""
        self._title = Text(bold=True, relative=1.15)
        self._facts = Text(look="muted", wrap=True)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = progress_bar("Progress of the chosen run")
        self._words = Text()
        self.failure = FailureCard()
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName("Log of the chosen run")
        self.log.setPlaceholderText("What the run reports appears here.")
        self.buttons = {action: self._button(action) for action in RunAction}
        self._place = ElidedText(look="muted")
        facts = (self._title, self._facts, self._place, self._words, self.progress, self.failure)
        margins = (MARGIN, GRID + HALF, MARGIN, GRID + HALF)
        column(*facts, FlowRow(*self.buttons.values(), gap=GRID), (self.log, 1), 0, of=self, margins=margins)
        appearance().changed.connect(self._follow_depth)
        self._follow_depth()

    def _follow_depth(self, _colours: object = None) -> None:
        """Leave the log and the directory to experts."""
        self.log.setVisible(appearance().is_expert)
        if (row := self.row) is not None:
            self._show_facts(row)

    def show_row(self, row: RunRow | None) -> None:
        """Show a run, or nothing."""
        if row is not None and row == self.row:
            return
        before, self.row = self.row, row
        self.setVisible(row is not None)
        if row is None:
            return
        self._title.setText(row.title)
        self._show_facts(row)
        self._show_progress(row)
        self.failure.show_row(row)
        self._offer_actions(row)
        if before is None or before.directory != row.directory or before.notes != row.notes:
            self._show_log(row)

    def _show_facts(self, row: RunRow) -> None:
        made = f"made {row.started}" if row.started else ""
        facts = [f"{trials_words(row)} trials", kind_words(row.spec, in_full=appearance().is_expert)]
        facts += [data_words(row.spec), made]
        self._facts.setText(" · ".join(part for part in facts if part))
        self._place.say(str(row.directory) if appearance().is_expert else "")

    def _offer_actions(self, row: RunRow) -> None:
        """Offer what is possible now; the keyboard stays off what nobody meant, e.g. off Cancel after Pause."""
        focused = next((action for action, button in self.buttons.items() if button.hasFocus()), None)
        refusals = {action: refusal(row, action) for action in self.buttons}
        for action in sorted(refusals, key=lambda each: refusals[each] is not None):
            if action is focused and refusals[action] is not None:
                follower = _FOLLOWS.get(action, RunAction.OPEN)
                self.buttons[RunAction.OPEN if refusals[follower] is not None else follower].setFocus()
            self.buttons[action].setEnabled(refusals[action] is None)
            self.buttons[action].setToolTip(refusals[action] or "")

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
        self.log.setPlainText("\n".join(map(localised, row.notes)))
        if at_end:
            bar.setValue(bar.maximum())

    def _button(self, action: RunAction) -> TextButton:
        def ask() -> None:
            if self.row is not None:
                self.asked.emit(action, self.row.directory)

        return TextButton(action.value, name=f"{action.value} (chosen run)", symbol=_SYMBOLS[action], run=ask)


def progress_bar(name: str) -> QProgressBar:
    """Return a thin bar.

    Args:
        name: for people who do not see it.
    """
    bar = QProgressBar()
    bar.setAccessibleName(name)
    bar.setTextVisible(False)
    bar.setFixedHeight(GRID)
    return bar


class RunStrip(QWidget):
    """Shows the first run with a worker; hidden while there is none.

    Signals:
        wanted: the user wants to see the runs.
    """

    wanted = Signal()

    def __init__(self, controller: RunController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._row: RunRow | None = None
        self._title = TextButton("", look="link", name="Show the runs", run=self.wanted)
        self._words = ElidedText(look="muted")
        self.progress = progress_bar("Progress of the run")
        self.pause = SymbolButton("pause", "Pause the run", run=self._pause_or_resume)
        self.cancel = SymbolButton("close", "Cancel the run; finished trials are kept", run=self._cancel)
        row(self._title, (self.progress, 2), (self._words, 2), self.pause, self.cancel, of=self)
        controller.changed.connect(self._show)
        self._show(controller.rows)

    def _show(self, _rows: object) -> None:
        active = self._controller.active
        self.setVisible(bool(active))
        self._row = active[0] if active else None
        if self._row is None:
            return
        waiting = sum(1 for row in self._controller.rows if row.state is RunState.QUEUED)
        more = f", {waiting} waiting" if waiting else ""
        self._title.setText(f"{self._row.title}{more}")
        share = self._row.share_done
        self.progress.setRange(0, 0 if share is None else 1000)
        if share is not None:
            self.progress.setValue(round(share * 1000))
        self._words.setText(" · ".join(part for part in (state_words(self._row), progress_words(self._row)) if part))
        resting = self._row.state is RunState.PAUSED
        self.pause.set_symbol("run" if resting else "pause")
        name = "Resume the run" if resting else "Pause the run"
        describe(self.pause, name=name, tip=name)
        self.pause.setEnabled(self._row.state in {RunState.RUNNING, RunState.PAUSED})
        self.cancel.setEnabled(self._row.state is not RunState.CANCELLING)

    def _pause_or_resume(self) -> None:
        if (shown := self._row) is not None:
            act = self._controller.resume if shown.state is RunState.PAUSED else self._controller.pause
            self._controller.attempt(lambda: act(shown.directory))

    def _cancel(self) -> None:
        if (shown := self._row) is not None:
            self._controller.attempt(lambda: self._controller.cancel(shown.directory))
