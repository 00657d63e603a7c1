"""The line of runs at the bottom of the window: how far, how long, pause and cancel; a click leads to the runs."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, state_words
from phexplore.gui.run_manager.runs_table import progress_words
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.labels import ElidedText
from phexplore.runs.states import RunState


class RunStrip(QWidget):
    """Shows the first run with a worker; hidden while there is none.

    Signals:
        wanted: the user wants to see the runs.
        failed: a `PhexploreError`.
    """

    wanted = Signal()
    failed = Signal(object)

    def __init__(self, controller: RunController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._row: RunRow | None = None
        self._title = TextButton("", look="link", name="Show the runs")
        self._title.clicked.connect(self.wanted)
        self._words = ElidedText(look="muted")
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of the run")
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(GRID)
        self.pause = SymbolButton("pause", "Pause the run")
        self.cancel = SymbolButton("close", "Cancel the run; finished trials are kept")
        self.pause.clicked.connect(self._pause_or_resume)
        self.cancel.clicked.connect(self._cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(self._title)
        row.addWidget(self.progress, 2)
        row.addWidget(self._words, 2)
        row.addWidget(self.pause)
        row.addWidget(self.cancel)
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
        self.pause.setAccessibleName("Resume the run" if resting else "Pause the run")
        self.pause.setToolTip(self.pause.accessibleName())
        self.pause.setEnabled(self._row.state in {RunState.RUNNING, RunState.PAUSED})
        self.cancel.setEnabled(self._row.state is not RunState.CANCELLING)

    def _pause_or_resume(self) -> None:
        if self._row is not None:
            asked = self._controller.resume if self._row.state is RunState.PAUSED else self._controller.pause
            self._attempt(asked, self._row)

    def _cancel(self) -> None:
        if self._row is not None:
            self._attempt(self._controller.cancel, self._row)

    def _attempt(self, action: object, row: RunRow) -> None:
        try:
            action(row.directory)  # type: ignore[operator]
        except PhexploreError as error:
            self.failed.emit(error)
