"""Above the results: whose run is shown when it is not simply that of the scenario, and how it does on the decision rules."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from phexplore.decide.rule_evaluation import judge
from phexplore.decide.verdict_words import verdict_detail, verdict_summary
from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.run_manager.shown_run import reservation
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.labels import Paragraph
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.rules import Outcome
from phexplore.runs.store import load_summary


class RunVerdicts(QWidget):
    """Results with what is to be known of the run above them; hidden while there is nothing."""

    def __init__(self, session: Session, controller: RunController, content: QWidget) -> None:
        """Put a line above results.

        Args:
            session: whose rules are judged.
            controller: of the runs.
            content: the results.
        """
        super().__init__()
        self._session, self._controller = session, controller
        self._chooser: QComboBox | None = None
        self._read: tuple[Path, int, object] | None = None
        self.reservation = Paragraph("", look="attention", bold=True)
        self.line = Paragraph("", bold=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._place = QWidget()
        around = QVBoxLayout(self._place)
        around.setContentsMargins(MARGIN, GRID, MARGIN, 0)
        for paragraph in (self.reservation, self.line):
            around.addWidget(paragraph)
            paragraph.hide()
        column.addWidget(self._place)
        column.addWidget(content, 1)
        self._seen = WhenSeen(self, self._refresh)
        session.settled.connect(self._seen.request)
        controller.changed.connect(self._seen.request)
        self._seen.request()

    def refresh(self) -> None:
        """Look at the run that is chosen again."""
        self._seen.request()

    def follow(self, chooser: QComboBox) -> None:
        """Judge the run that is chosen here."""
        if chooser is not self._chooser:
            self._chooser = chooser
            chooser.currentIndexChanged.connect(self._seen.request)
        self._seen.request()

    def _refresh(self) -> None:
        directory = self._chooser.currentData() if self._chooser is not None else None
        row = self._controller.row(directory) if isinstance(directory, Path) else None
        self.reservation.setText("" if row is None else reservation(self._session.scenario, row))
        self.reservation.setVisible(bool(self.reservation.text()))
        self._judge(row)
        self._place.setVisible(not (self.reservation.isHidden() and self.line.isHidden()))

    def _judge(self, row: RunRow | None) -> None:
        rules = self._session.project.workbook.rules
        if not rules or row is None or row.spec is None:
            self.line.hide()
            self._read = None
            return
        wanted = (row.directory, row.trials, rules)
        if wanted == self._read:
            return
        self._read = wanted
        try:
            summary = load_summary(row.directory)
        except PhexploreError:
            summary = None
        self.line.setVisible(summary is not None)
        if summary is None:
            self._read = None  # it is written when the run ends
            return
        verdicts = judge(rules, row.spec.scenario, summary)
        self.line.setText(verdict_summary(verdicts))
        self.line.setToolTip("\n\n".join(verdict_detail(each) for each in verdicts))
        failed = any(each.outcome is Outcome.FAIL for each in verdicts)
        self.line.set_look("refused" if failed else "good")
