"""See the trade-off: the curve, what one per cent buys, what can be left out, what a parameter moves, what a guess gains."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from phexplore.decide.figures import frontier_figure
from phexplore.decide.frontier import FrontierPoint, Weighting
from phexplore.decide.sensitivity import leave_out
from phexplore.figures.wording import percent
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.targets.frontier_answers import TradeAnswer, TradeRequest, trade_off
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, labelled
from phexplore.gui.widgets.page import Section
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.numbers import parse_exact
from phexplore.model.workbook import add_scenario

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
_CHART_HEIGHT = 44 * GRID
_WIDE = 120 * GRID
"""From this width on two pictures stand side by side, at normal text size."""


class FrontierView(QWidget):
    """Pictures and sentences about what privacy loss buys.

    Signals:
        failed: a `PhexploreError` of a chart.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._left_chosen = ""
        self._prior, self._relative = Fraction(1, 2), Fraction(1, 20)
        self._asked: TradeRequest | None = None
        self.answer: TradeAnswer | None = None
        self._worker = Latest(trade_off, self)
        self._worker.finished.connect(self._show)
        self._worker.failed.connect(self.failed)
        self.curve = FigureView("Trade-off", _TEACHING)
        self.prices = FigureView("Marginal price", "What one per cent more budget buys appears here.")
        self.left = FigureView("Availability", "What leaving out a level frees appears here.")
        self.leverage = FigureView("Sensitivity", "What a parameter does to a margin appears here.")
        self._make_controls()
        self._lay_out()
        for chart in self.charts:
            chart.failed.connect(self.failed)
        self.curve.key_activated.connect(self._load_point)
        self.curve.key_selected.connect(self._on_chosen)
        self.left.key_activated.connect(self.drop)
        self.left.key_selected.connect(self._on_left_chosen)
        self._seen = WhenSeen(self, self._ask)
        session.settled.connect(self._seen.request)
        self._seen.request()

    @property
    def charts(self) -> tuple[FigureView, ...]:
        """All pictures."""
        return (self.curve, self.prices, self.left, self.leverage)

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self._worker.stop()

    def load(self, point: FrontierPoint) -> None:
        """Add a point of the curve as a scenario and work on it."""
        label = f"Add {point.scenario.name} of the trade-off"
        if self._session.report(self._session.edit_workbook(label, lambda book: add_scenario(book, point.scenario))):
            self.noted.emit(f"“{self._session.scenario.name}” was added and is being edited.")

    def drop(self, name: str) -> None:
        """Leave out a level or a query, as one step."""
        entry = next((each for each in self.answer.left_out if each.name == name), None) if self.answer else None
        if entry is not None:
            self._session.report(
                self._session.edit(f"Leave out {name}", lambda scenario: leave_out(scenario, entry.queries))
            )

    def _make_controls(self) -> None:
        self.weights = Chooser("Whose margins count how much")
        for weighting, words in _WEIGHTS.items():
            self.weights.addItem(words, weighting)
        self.weights.currentIndexChanged.connect(self._ask)
        self.load_button = TextButton("Load point as scenario", symbol="plus")
        self.load_button.setEnabled(False)
        self.load_button.clicked.connect(self._load_chosen)
        self.curve.controls.addWidget(FlowRow(self.weights, self.load_button, gap=GRID))
        self.parts = Chooser("What could be left out")
        self.parts.addItem("Whole levels", True)
        self.parts.addItem("Single queries", False)
        self.parts.currentIndexChanged.connect(self._ask)
        self.drop_button = TextButton("Leave out the chosen one")
        self.drop_button.setEnabled(False)
        self.drop_button.clicked.connect(self._drop_chosen)
        self.left.controls.addWidget(FlowRow(self.parts, self.drop_button, gap=GRID))
        self.prior = ExactField(
            "How often the better guess is right without the release", self._take_prior, width=9 * GRID
        )
        self.prior.set_value("1/2")
        self.relative = ExactField("Largest margin of a reliable count, percent of it", self._take_relative,
                                   unit="% of the count", width=9 * GRID)  # fmt: skip
        self.relative.set_value("5")
        self._risk = Paragraph("", relative=1.1)
        self._risk_more = Paragraph("", look="muted")
        self._reliable = CompactList("Reliable from")

    def _lay_out(self) -> None:
        place = QScrollArea(self)
        place.setWidgetResizable(True)
        place.setFrameShape(QFrame.Shape.NoFrame)
        place.setAccessibleName("Trade-off")
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(place)
        content = QWidget(place)
        column = QVBoxLayout(content)
        column.setContentsMargins(MARGIN, GRID, MARGIN, MARGIN)
        column.setSpacing(GRID)
        directions = QBoxLayout.Direction
        self._rows = [QBoxLayout(directions.LeftToRight), QBoxLayout(directions.LeftToRight)]
        for row, pair in zip(self._rows, ((self.curve, self.prices), (self.left, self.leverage)), strict=True):
            row.setSpacing(GRID)
            for chart in pair:
                row.addWidget(chart, 1)
            column.addLayout(row)
        words = QGridLayout()
        words.setSpacing(GRID)
        guess = Section(
            "A worst-case guess",
            "Somebody who knows everything about everybody else guesses which of two records one person has.",
            labelled("Right without the release, as a share", self.prior), self._risk, self._risk_more,
        )  # fmt: skip
        reliable = Section(
            "Reliable from N people",
            "The smallest count whose margin of error is at most this part of it.",
            labelled("Margin at most", self.relative), self._reliable,
        )  # fmt: skip
        self._rows.append(QBoxLayout(directions.LeftToRight))
        self._rows[-1].setSpacing(GRID)
        self._rows[-1].addWidget(guess, 1)
        self._rows[-1].addWidget(reliable, 1)
        column.addLayout(self._rows[-1])
        column.addStretch(1)
        place.setWidget(content)
        appearance().changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self, _colours: object = None) -> None:
        scale = appearance().scale
        directions = QBoxLayout.Direction
        is_narrow = self.width() < _WIDE * scale // 100
        for row in self._rows:
            row.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)
        for chart in self.charts:
            chart.setMinimumHeight(_CHART_HEIGHT * scale // 100)

    def _take_prior(self, typed: str) -> str:
        try:
            prior = parse_exact(typed)
        except ValueError as error:
            return f"{error}."
        if not Fraction(1, 2) <= prior < 1:
            return "The better of two guesses is right with a share from 1/2 to below 1."
        self._prior = prior
        self.prior.set_value(typed.strip())
        self._ask()
        return ""

    def _take_relative(self, typed: str) -> str:
        try:
            relative = parse_exact(typed) / 100
        except ValueError as error:
            return f"{error}."
        if not 0 < relative <= 1:
            return "Enter more than 0 and at most 100."
        self._relative = relative
        self.relative.set_value(typed.strip())
        self._ask()
        return ""

    def _ask(self, _signal: object = None) -> None:
        self._asked = TradeRequest(
            self._session.scenario, self.weights.currentData(), self.parts.currentData(), self._prior, self._relative
        )
        self._worker.request(self._asked)

    def _show(self, found: TradeAnswer) -> None:
        if found.request is not self._asked:
            return
        self.answer = found
        if found.curve is None or found.prices is None:
            self.curve.show_empty(found.refused)
            self.prices.show_empty(found.refused)
        else:
            self.curve.show_figure(frontier_figure(found.curve, found.loss))
            self.prices.show_figure(found.prices)
        self.left.show_figure(found.left_bars)
        self.leverage.show_figure(found.leverage)
        self._reliable.show_lines(found.reliable)
        self._show_risk(found)
        self._on_chosen()

    def _show_risk(self, found: TradeAnswer) -> None:
        if found.risk is None:
            self._risk.setText("Without a limit on the loss a guess can be certain.")
            self._risk_more.setText("")
            return
        self._risk.setText(found.risk.sentence())
        lines = [_BOUND]
        if found.risk.gaussian is not None:
            share = Fraction(found.risk.gaussian).limit_denominator(10**6)
            lines.append(
                f"Against Gaussian noise of this ρ, the best such guess is right in {percent(share)} of cases."
            )
        self._risk_more.setText("\n".join(lines))

    def _on_chosen(self, _point: object = None) -> None:
        self.load_button.setEnabled(self.curve.chosen_key is not None)

    def _on_left_chosen(self, name: str) -> None:
        self._left_chosen = name
        self.drop_button.setEnabled(True)

    def _load_chosen(self) -> None:
        if (number := self.curve.chosen_key) is not None:
            self._load_point(number)

    def _load_point(self, number: object) -> None:
        if self.answer is not None and self.answer.curve is not None and isinstance(number, int):
            self.load(self.answer.curve.points[number])

    def _drop_chosen(self) -> None:
        self.drop_button.setEnabled(False)
        self.drop(self._left_chosen)
