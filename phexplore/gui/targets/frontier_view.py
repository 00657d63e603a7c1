"""The trade-off: the curve, what one percent buys, what can be left out, what a guess gains."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout

from phexplore.decide.frontier import FrontierPoint, Weighting
from phexplore.decide.risk import GuessRisk
from phexplore.decide.trade_off import TradeAnswer, TradeRequest, trade_off
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.targets.question_view import QuestionView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.exact_field import CheckedField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, labelled
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.page import Section, picture_height, scrolling
from phexplore.gui.widgets.pointers import PAGE
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.rounded import percent
from phexplore.model.workbook import add_scenario
from phexplore.systems.registry import budgets_of

_TEACHING = (
    "The smallest margins that every privacy loss can buy appear here as soon as something is published with noise."
)
_WEIGHTS = {
    Weighting.PRESENT: "Weights for which this scenario is best",
    Weighting.TARGETS: "By targets: a margin counts by its share of its target",
    Weighting.PEOPLE: "One person counts alike everywhere",
}
_BOUND = (
    "The bound holds for every mechanism of this loss and for an attacker who knows everybody else's answers; people who "
    "know less are right less often."
)
_UNLIMITED = "Without a limit on the loss a guess can be certain."
_WIDE = 120 * GRID
"""From this width on two pictures stand side by side, at normal text size."""


class FrontierView(QuestionView):
    """Pictures and sentences about what privacy loss buys."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, trade_off)
        self.setProperty(PAGE, "docs/decisions_of_committees.md#trade-offs")
        self.curve = FigureView("Trade-off", _TEACHING)
        self.prices = FigureView("Marginal price", "What one per cent more budget buys appears here.")
        self.left = FigureView("Availability", "What leaving out a level frees appears here.")
        self.charts = (self.curve, self.prices, self.left)
        self._make_controls()
        self._lay_out()
        for chart in self.charts:
            chart.failed.connect(self.failed)
        self.curve.key_activated.connect(self._load_point)
        self.curve.key_selected.connect(self._on_chosen)
        self.left.key_activated.connect(self.drop)
        self.left.key_selected.connect(self._on_chosen)
        self._seen = WhenSeen(self, self._request, session.settled)
        self._seen.request()

    def load(self, point: FrontierPoint) -> None:
        """Add a point of the curve as a scenario and work on it."""
        label = f"Add {point.scenario.name} of the trade-off"
        if self._session.report(self._session.edit_workbook(label, lambda book: add_scenario(book, point.scenario))):
            self.noted.emit(f"“{self._session.scenario.name}” was added and is being edited.")

    def drop(self, name: object) -> None:
        """Leave out a level or a query, as one step."""
        entry = next((each for each in self.answer.left_out if each.name == name), None) if self.answer else None
        if entry is not None:
            without = entry.queries
            self._session.report(
                self._session.edit(f"Leave out {name}", lambda scenario: budgets_of(scenario).leaving.without(without))
            )

    def _make_controls(self) -> None:
        weights = [(words, weighting) for weighting, words in _WEIGHTS.items()]
        self.weights = Chooser("Whose margins count how much", options=weights, run=self._request)
        self.load_button = TextButton("Load point as scenario", symbol="plus", run=self._load_chosen)
        self.load_button.setEnabled(False)
        self.curve.controls.addWidget(FlowRow(self.weights, self.load_button, gap=GRID))
        parts = [("Whole levels", True), ("Single queries", False)]
        self.parts = Chooser("What could be left out", options=parts, run=self._request)
        self.drop_button = TextButton("Leave out the chosen one", run=self._drop_chosen)
        self.drop_button.setEnabled(False)
        self.left.controls.addWidget(FlowRow(self.parts, self.drop_button, gap=GRID))
        name = "How often the better guess is right without the release"
        self.prior = CheckedField(name, Fraction(1, 2), _prior_problem, self._request)
        name = "Largest margin of a reliable count, percent of it"
        self.relative = CheckedField(name, Fraction(5), _relative_problem, self._request, unit="% of the count")
        self._risk = Paragraph("", relative=1.1)
        self._risk_more = Paragraph("", look="muted")
        self._reliable = CompactList("Reliable from")

    def _lay_out(self) -> None:
        guess = Section(
            "A worst-case guess",
            "Somebody who knows everything about everybody else guesses which of two records one person has.",
            labelled("Right without the release, as a share", self.prior), self._risk, self._risk_more, 1,
        )  # fmt: skip
        reliable = Section(
            "Reliable from which count",
            "The smallest count whose margin of error is at most this part of it.",
            labelled("Margin at most", self.relative), self._reliable,
        )  # fmt: skip
        pairs = ((self.curve, self.prices), (self.left, stacked(guess, reliable, gap=GRID)))
        self._rows = [row((one, 1), (other, 1)) for one, other in pairs]
        content = stacked(*self._rows, 1, margins=(MARGIN, GRID, MARGIN, MARGIN))
        column(scrolling("Trade-off", content), of=self)
        appearance().changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self, _colours: object = None) -> None:
        scale = appearance().scale
        directions = QBoxLayout.Direction
        is_narrow = self.width() < _WIDE * scale // 100
        for pair in self._rows:
            pair.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        for chart in self.charts:
            chart.setMinimumHeight(picture_height(self) * scale // 100)

    def _request(self, _signal: object = None) -> None:
        weighting, whole = self.weights.currentData(), self.parts.currentData()
        relative = self.relative.value / 100
        self.ask(TradeRequest(self._session.scenario, weighting, whole, self.prior.value, relative))

    def show_answer(self) -> None:
        answer: TradeAnswer = self.answer
        figures = (answer.frontier, answer.prices, answer.left_bars)
        for chart, figure in zip(self.charts, figures, strict=True):
            chart.show_figure(figure)
        self._reliable.show_lines(answer.reliable)
        self._risk.setText(_UNLIMITED if answer.risk is None else answer.risk.sentence())
        self._risk_more.setText("\n".join(_about_risk(answer.risk)))
        self._on_chosen()

    def _on_chosen(self, _point: object = None) -> None:
        self.load_button.setEnabled(self.curve.chosen_key is not None)
        self.drop_button.setEnabled(self.left.chosen_key is not None)

    def _load_chosen(self) -> None:
        self._load_point(self.curve.chosen_key)

    def _load_point(self, number: object) -> None:
        if self.answer is not None and self.answer.curve is not None and isinstance(number, int):
            self.load(self.answer.curve.points[number])

    def _drop_chosen(self) -> None:
        self.drop_button.setEnabled(False)
        self.drop(self.left.chosen_key)


def _prior_problem(prior: Fraction) -> str:
    is_share = Fraction(1, 2) <= prior < 1
    return "" if is_share else "The better of two guesses is right with a share from 1/2 to below 1."


def _relative_problem(percentage: Fraction) -> str:
    return "" if 0 < percentage <= 100 else "Enter more than 0 and at most 100."


def _about_risk(risk: GuessRisk | None) -> list[str]:
    if risk is None:
        return []
    if risk.gaussian is None:
        return [_BOUND]
    share = percent(Fraction(risk.gaussian).limit_denominator(10**6))
    return [_BOUND, f"Against Gaussian noise of this ρ, the best such guess is right in {share} of cases."]
