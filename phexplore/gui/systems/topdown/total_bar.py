"""The whole budget: ρ, or the ε it is worth under a named conversion, as exact fields and a slider."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from phexplore.accounting.zcdp import epsilon
from phexplore.figures.stops import log_stops
from phexplore.figures.wording import bound_text, conversion_title, power_text
from phexplore.gui.binding.session import refusal_of
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.tables.slider_line import SliderLine
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.labels import Figure, Text
from phexplore.gui.widgets.layout import row
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.conventions import Conversion
from phexplore.model.edits import set_field
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import rounded_up
from phexplore.systems.topdown.share_edits import set_total_by_epsilon

_STOPS = log_stops(-3, 2)
_HUGE = 1_000_000
"""From here on ε is shown whole: its decimals would push its first digits out of the field."""


class TotalBar(QFrame):
    """Edits the total. A drag is one step of the history; ε is converted to the largest ρ that does not exceed it."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName("Whole budget")
        self._symbol = Text("Total ρ", bold=True)
        self._line = SliderLine(session, "Total ρ", _STOPS, bound_text, self._total_step, width=20 * GRID, parent=self)
        self.total, self.slider = self._line.field, self._line.slider
        self.epsilon = ExactField("Total ε", self._take_epsilon, width=12 * GRID)
        self._is = Text("is ε", look="muted")
        ways = [(conversion_title(conversion), conversion) for conversion in Conversion]
        self.conversion = Chooser("Conversion from ρ to ε", tip="How ρ and δ become ε", letters=13, options=ways)
        self.conversion.currentIndexChanged.connect(self._refresh)
        self.conversion.select(Conversion.ZCDP_OPTIMAL_ALPHA)
        self._delta = Figure(look="muted")
        middle = Qt.AlignmentFlag.AlignVCenter
        loss = row((self._symbol, middle), (self.total, middle), (self.slider, 1))
        same = row((self._is, middle), (self.epsilon, middle), (self._delta, middle), (self.conversion, 1))
        LargeTextRows((loss, 1), same, of=self, margins=(2 * GRID, GRID, 2 * GRID, GRID))
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    @property
    def chosen_conversion(self) -> Conversion:
        """The conversion in use."""
        found: Conversion = self.conversion.currentData()
        return found

    def _refresh(self, _signal: object = None) -> None:
        shown = self._session.shown
        method, reference = shown.method, shown.reference
        is_zcdp = method.framework is PrivacyFramework.ZCDP
        self._symbol.setText(f"Total {method.framework.symbol}")
        mark = reference.scenario.topdown.total if reference is not None else None
        self._line.show(method.total, exact_text(method.total), bound_text(method.total), mark=mark)
        for widget in (self._is, self.epsilon, self.conversion, self._delta):
            widget.setVisible(is_zcdp)
        if is_zcdp:
            delta = shown.scenario.conventions.delta
            worth = epsilon(method.total, delta, self.chosen_conversion)
            value = rounded_up(worth, 4 if worth < _HUGE else 0)
            self.epsilon.set_value(value.replace(",", ""))
            self._delta.setText(f"at δ = {power_text(delta)}, by")

    def _total_step(self, typed: str) -> Step:
        total = parse_exact(typed)
        label = f"Set the total {self._session.shown.method.framework.symbol} to {typed.strip()}"
        return label, lambda scenario: set_field(scenario, "total", total)

    def _take_epsilon(self, typed: str) -> str:
        def step() -> Step:
            value, conversion = parse_exact(typed), self.chosen_conversion
            label = f"Set ε to {typed.strip()} ({conversion_title(conversion)})"
            return label, lambda scenario: set_total_by_epsilon(scenario, value, conversion)

        return refusal_of(self._session, step)
