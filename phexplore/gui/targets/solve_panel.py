"""Beside the table of goals: caps on the privacy loss, and what solving found before it is applied, or the conflict and its ways out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    margin_lines,
    plain_rounding_line,
    published_line,
    rounding_line,
)
from phexplore.errors import PhexploreError
from phexplore.figures.wording import budget_text, capital, sentence
from phexplore.gui.binding.session import Refusal
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, Paragraph, Text, labelled
from phexplore.gui.widgets.layout import column, emptied, row
from phexplore.model.goals import Cap, CapOn, Key, title_of
from phexplore.model.numbers import parse_exact

_ON = {
    CapOn.BOUNDED: "bounded ρ",
    CapOn.UNBOUNDED: "unbounded ρ",
    CapOn.EPSILON: "ε (δ = 10⁻¹⁰)",
    CapOn.PROVEN: "proven ε (δ = 10⁻¹⁰)",
}
_ALL = "All queries"


class CapsEditor(QWidget):
    """Shows caps and offers another; edits are passed on."""

    def __init__(self, add: Callable[[Cap], Refusal | None], remove: Callable[[int], object]) -> None:
        """Make the editor.

        Args:
            add: takes a cap; returns why it is refused, None when it was accepted.
            remove: takes the place of a cap.
        """
        super().__init__()
        self._add, self._remove = add, remove
        self._caps: tuple[Cap, ...] | None = None
        self._scopes: Mapping[str, tuple[Key, ...]] = {}
        self.on = Chooser("What is capped", options=[(f"Cap on {words}", on) for on, words in _ON.items()])
        self.scope = Chooser("Queries that the cap counts", letters=18)
        self.limit = ExactField("Limit of the new cap", self._take, width=12 * GRID)
        self.add = SymbolButton("plus", "Add the cap", text="Add", bordered=True, run=self.limit.line.returnPressed)
        self._lines = column(gap=HALF)
        limit, scope = labelled("at most", self.limit), labelled("over", self.scope)
        column(self._lines, FlowRow(self.on, limit, scope, self.add, gap=GRID), of=self, gap=HALF)

    def show_caps(self, caps: Sequence[Cap], scopes: Mapping[str, tuple[Key, ...]]) -> None:
        """Show these caps, and what a further one can count."""
        self._scopes = scopes
        self.scope.offer([(title, title) for title in scopes])
        if tuple(caps) == self._caps:
            return
        self._caps = tuple(caps)
        emptied(self._lines)
        for number, cap in enumerate(self._caps):
            self._lines.addWidget(self._line(number, cap))

    def _line(self, number: int, cap: Cap) -> QWidget:
        remove = SymbolButton("close", f"Remove the cap: {cap.title}", run=lambda: self._remove(number))
        place = QWidget()
        row((ElidedText(capital(cap.title)), 1), remove, of=place)
        return place

    def _take(self, typed: str) -> str:
        title = self.scope.currentData()
        queries = None if title == _ALL or title is None else frozenset(self._scopes[title])
        try:
            cap = Cap(self.on.currentData(), parse_exact(typed), queries)
        except ValueError as error:
            return f"{error}."
        except PhexploreError as error:
            return error.full
        refusal = self._add(cap)
        return "" if refusal is None else refusal.full


TEACHING = (
    "The smallest budgets that keep every goal appear here beside the present ones, before anything is changed. Type the "
    "largest margins you can live with and press Solve."
)
_LETTERS = 44
"""In one line of a way out."""
APPLIED = "The budgets are those of the solution now. Undo takes it back as one step."
STALE = "Goals or parameters changed since. Solve again to see what they lead to."


class SolvePanel(QFrame):
    """The result of solving as a preview.

    Signals:
        apply_wanted: the solution is to be applied.
        way_chosen: a `Relaxation` of the goals to be taken.

    Attributes:
        answer: what is shown, None for nothing.
        title: the finding.
        sentence: what stands below it.
    """

    apply_wanted = Signal()
    way_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "card")
        self.setAccessibleName("Result of solving")
        self.answer: SolveAnswer | None = None
        self.title = Paragraph(relative=1.15, bold=True)
        self.sentence = Paragraph(look="muted")
        self._note = Paragraph("", look="attention")
        self.apply = TextButton("Apply as one edit", look="primary", symbol="tick", run=self.apply_wanted)
        self._conflict = CompactList("Goals in conflict", is_wrapped=True)
        self._ways = QWidget()
        self._way_column = column(of=self._ways, gap=HALF)
        self._caps = CompactList("Caps and how much of them is used")
        self._changes = CompactList("What changes", is_stacked=True, is_wrapped=True)
        self._directions = CompactList(
            "Budgets that depend on the direction of rounding", is_stacked=True, is_wrapped=True
        )
        self._parts = (
            (Text("In conflict", bold=True), self._conflict),
            (Text("Ways out: choose one", bold=True), self._ways),
            (Text("Caps", bold=True), self._caps),
            (Text("What changes", bold=True), self._changes),
            (Text("Rounded to the nearest → upward", bold=True), self._directions),
        )
        parts = (widget for pair in self._parts for widget in pair)
        apply = (self.apply, Qt.AlignmentFlag.AlignLeft)
        margins = (MARGIN, GRID + HALF, MARGIN, MARGIN)
        column(self.title, self._note, self.sentence, apply, *parts, 1, of=self, margins=margins)
        self.clear()
        appearance().changed.connect(self._follow_depth)

    @property
    def ways(self) -> list[TextButton]:
        """The buttons of the ways out."""
        return self._ways.findChildren(TextButton)

    def clear(self) -> None:
        """Show that nothing was solved."""
        self.answer = None
        self.title.setText("Not solved yet")
        self._note.setText("")
        self.sentence.setText(TEACHING)
        self.apply.setVisible(False)
        self._show_parts(())

    def show_applied(self) -> None:
        """Show that the budgets are those of the solution that stood here."""
        self.clear()
        self.title.setText("Applied")
        self.sentence.setText(APPLIED)

    def mark_stale(self) -> None:
        """Say that what is shown answers an older question; it can no longer be applied."""
        if self.answer is not None and not self._note.text():
            self._note.setText(STALE)
            self.apply.setEnabled(False)
            self._ways.setEnabled(False)

    def _follow_depth(self, _colours: object = None) -> None:
        if self.answer is not None:
            note = self._note.text()
            self.show_answer(self.answer)
            if note == STALE:
                self.mark_stale()
            else:
                self._note.setText(note)

    def show_busy(self) -> None:
        """Say that solving takes a while."""
        self._note.setText("Solving…")

    def show_answer(self, answer: SolveAnswer) -> None:
        """Show what came back."""
        self.answer = answer
        self._note.setText("")
        self._ways.setEnabled(True)
        if answer.solved is not None:
            self._show_solution(answer, answer.solved)
        elif answer.refused is not None:
            self._show_refusal(answer.refused)

    def _show_solution(self, answer: SolveAnswer, found: SolvedGoals) -> None:
        is_expert, loss = appearance().is_expert, headline(found, answer.request.scenario)
        self.title.setText(loss if is_expert else f"Privacy loss, {loss[0].lower()}{loss[1:]}")
        lines = [rounding_line(found) if is_expert else plain_rounding_line(found), published_line(found)]
        self.sentence.setText("\n".join(each for each in lines if each))
        changes = change_lines(found) if is_expert or answer.margins else margin_lines(found)
        directions = direction_matters(found) if is_expert else ()
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
            self.title.setText("This cannot be solved")
            self.sentence.setText(f"{sentence(getattr(error, 'sentence', str(error)))} {getattr(error, 'remedy', '')}")
            self._show_parts(())
            return
        self.title.setText("These goals cannot be kept together")
        self.sentence.setText(sentence(error.sentence))
        self._conflict.show_lines([(part.text, part.kind.value) for part in error.conflict])
        self._fill_ways(error.relaxations)
        self._show_parts((self._conflict, self._ways) if error.relaxations else (self._conflict,))

    def _fill_ways(self, ways: tuple[Relaxation, ...]) -> None:
        for old in self.ways:
            old.setParent(None)
            old.deleteLater()
        for way in ways:
            words, tip = sentence(way.text), f"{sentence(way.text)} Changes the goals as one edit and solves again."
            choose = partial(self._choose, way)
            name = f"Way out: {way.text}"
            self._way_column.addWidget(
                TextButton(fill(localised(words), _LETTERS), look="link", name=name, tip=tip, run=choose)
            )

    def _choose(self, way: Relaxation, _checked: bool = False) -> None:
        self.way_chosen.emit(way)

    def _show_parts(self, shown: tuple[QWidget, ...]) -> None:
        for heading, part in self._parts:
            is_shown = part in shown and not (isinstance(part, CompactList) and part.rowCount() == 0)
            heading.setVisible(is_shown)
            part.setVisible(is_shown)
