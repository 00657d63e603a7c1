"""What solving found, before it is applied: the price, what changes, the rounding; or the conflict and its ways out."""

from __future__ import annotations

from functools import partial
from textwrap import fill

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.accuracy.solving_conflict import InfeasibleError, Relaxation
from phexplore.accuracy.solving_separable import SolvedGoals
from phexplore.decide.solving import (
    SolveAnswer,
    cap_lines,
    change_lines,
    direction_matters,
    headline,
    published_line,
    rounding_line,
)
from phexplore.figures.wording import budget_text, sentence
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.labels import Paragraph, Text
from phexplore.gui.widgets.layout import column
from phexplore.model.goals import title_of

TEACHING = (
    "The smallest budgets that keep every goal appear here beside the present ones, before anything is changed. Type the "
    "largest margins you can live with, add caps, and press Solve."
)
_LETTERS = 44
"""In one line of a way out."""
STALE = "Goals or parameters changed since. Solve again to see what they lead to."


class SolvePanel(QFrame):
    """The result of solving as a preview.

    Signals:
        apply_wanted: the solution is to be applied.
        way_chosen: a `Relaxation` of the goals to be taken.
    """

    apply_wanted = Signal()
    way_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setAccessibleName("Result of solving")
        self._answer: SolveAnswer | None = None
        self._title = Paragraph("Not solved yet", relative=1.15, bold=True)
        self._sentence = Paragraph(TEACHING, look="muted")
        self._note = Paragraph("", look="attention")
        self.apply = TextButton("Apply as one edit", look="primary", symbol="tick", run=self.apply_wanted)
        self._conflict = CompactList("Goals in conflict")
        self._ways = QWidget()
        self._way_column = column(of=self._ways, gap=HALF)
        self._caps = CompactList("Caps and how much of them is used")
        self._changes = CompactList("Budgets that change")
        self._directions = CompactList("Budgets that depend on the direction of rounding")
        self._parts = (
            (Text("In conflict, smallest set", bold=True), self._conflict),
            (Text("Ways out: choose one", bold=True), self._ways),
            (Text("Caps", bold=True), self._caps),
            (Text("What changes", bold=True), self._changes),
            (Text("Nearest → upward", bold=True), self._directions),
        )
        parts = (widget for pair in self._parts for widget in pair)
        apply = (self.apply, Qt.AlignmentFlag.AlignLeft)
        margins = (MARGIN, GRID + HALF, MARGIN, MARGIN)
        column(self._title, self._note, self._sentence, apply, *parts, 1, of=self, margins=margins)
        self.clear()

    @property
    def title(self) -> str:
        """The finding."""
        return self._title.text()

    @property
    def text(self) -> str:
        """The sentences below the finding."""
        return self._sentence.text()

    @property
    def ways(self) -> list[TextButton]:
        """The buttons of the ways out."""
        return self._ways.findChildren(TextButton)

    @property
    def answer(self) -> SolveAnswer | None:
        """What is shown."""
        return self._answer

    def clear(self) -> None:
        """Show that nothing was solved."""
        self._answer = None
        self._title.setText("Not solved yet")
        self._note.setText("")
        self._sentence.setText(TEACHING)
        self.apply.setVisible(False)
        self._show_parts(())

    def mark_stale(self) -> None:
        """Say that what is shown answers an older question; it can no longer be applied."""
        if self._answer is not None and not self._note.text():
            self._note.setText(STALE)
            self.apply.setEnabled(False)
            self._ways.setEnabled(False)

    def show_busy(self) -> None:
        """Say that solving takes a while."""
        self._note.setText("Solving…")

    def show_answer(self, answer: SolveAnswer) -> None:
        """Show what came back."""
        self._answer = answer
        self._note.setText("")
        self._ways.setEnabled(True)
        if answer.solved is not None:
            self._show_solution(answer, answer.solved)
        elif answer.refused is not None:
            self._show_refusal(answer.refused)

    def _show_solution(self, answer: SolveAnswer, found: SolvedGoals) -> None:
        self._title.setText(headline(found, answer.request.scenario))
        lines = [rounding_line(found), published_line(found)]
        self._sentence.setText("\n".join(each for each in lines if each))
        changes = change_lines(found)
        directions = direction_matters(found)
        self._caps.show_lines(cap_lines(found))
        self._changes.show_lines(changes or (("Nothing: the budgets are the smallest already", ""),))
        self._directions.show_lines(
            [(title_of(e.query), f"{budget_text(nearest)} → {budget_text(up)}") for e, nearest, up in directions]
        )
        self.apply.setVisible(True)
        self.apply.setEnabled(found.scenario != answer.request.scenario)
        self._show_parts((self._caps, self._changes, self._directions))

    def _show_refusal(self, error: Exception) -> None:
        self.apply.setVisible(False)
        if not isinstance(error, InfeasibleError):
            self._title.setText("This cannot be solved")
            self._sentence.setText(f"{sentence(getattr(error, 'sentence', str(error)))} {getattr(error, 'remedy', '')}")
            self._show_parts(())
            return
        self._title.setText("These goals cannot be kept together")
        self._sentence.setText(sentence(error.sentence))
        self._conflict.show_lines([(part.text, part.kind.value) for part in error.conflict])
        self._fill_ways(error.relaxations)
        self._show_parts((self._conflict, self._ways) if error.relaxations else (self._conflict,))

    def _fill_ways(self, ways: tuple[Relaxation, ...]) -> None:
        while (item := self._way_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for way in ways:
            words, tip = sentence(way.text), f"{sentence(way.text)} Changes the goals as one edit and solves again."
            choose = partial(self._choose, way)
            name = f"Way out: {way.text}"
            self._way_column.addWidget(TextButton(fill(words, _LETTERS), look="link", name=name, tip=tip, run=choose))

    def _choose(self, way: Relaxation, _checked: bool = False) -> None:
        self.way_chosen.emit(way)

    def _show_parts(self, shown: tuple[QWidget, ...]) -> None:
        for heading, part in self._parts:
            is_shown = part in shown and not (isinstance(part, CompactList) and part.rowCount() == 0)
            heading.setVisible(is_shown)
            part.setVisible(is_shown)
