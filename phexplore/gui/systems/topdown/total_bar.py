"""The whole budget: ρ, or the ε it is worth under a named conversion, as exact fields and a slider."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout

from phexplore.accounting.zcdp import epsilon
from phexplore.figures.stops import log_stops
from phexplore.figures.wording import budget_text, conversion_title, power_text
from phexplore.gui.binding.session import Refusal
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.labels import Figure, Text
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.conventions import Conversion
from phexplore.model.edits import set_field
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.topdown.share_edits import set_total_by_epsilon

_STOPS = log_stops(-3, 2)


class TotalBar(QFrame):
    """Edits the total. A drag is one step of the history; ε is converted to the largest ρ that does not exceed it."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.setAccessibleName("Whole budget")
        self._symbol = Text("Total ρ", bold=True)
        self.total = ExactField("Total ρ", self._take_total, width=20 * GRID)
        self.slider = StopSlider("Total ρ", _STOPS, budget_text)
        self.epsilon = ExactField("Total ε", self._take_epsilon, width=12 * GRID)
        self._is = Text("is ε", look="muted")
        self.conversion = Chooser("Conversion from ρ to ε", tip="How ρ and δ become ε", letters=13)
        for conversion in Conversion:
            self.conversion.addItem(conversion_title(conversion), conversion)
        self.conversion.select(Conversion.ZCDP_OPTIMAL_ALPHA)
        self.conversion.currentIndexChanged.connect(self._refresh)
        self._delta = Figure(look="muted")
        rho, worth = QHBoxLayout(), QHBoxLayout()
        for row in (rho, worth):
            row.setSpacing(GRID)
        rho.addWidget(self._symbol, 0, Qt.AlignmentFlag.AlignVCenter)
        rho.addWidget(self.total, 0, Qt.AlignmentFlag.AlignVCenter)
        rho.addWidget(self.slider, 1)
        for widget in (self._is, self.epsilon, self._delta):
            worth.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        worth.addWidget(self.conversion, 1, Qt.AlignmentFlag.AlignVCenter)
        both = LargeTextRows(self)
        both.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        both.setSpacing(GRID)
        both.addLayout(rho, 1)
        both.addLayout(worth)
        self.slider.moved.connect(self._drag)
        self.slider.released.connect(session.end_merge)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
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
        self.total.set_value(exact_text(method.total))
        self.slider.set_value(method.total)
        self.slider.set_mark(reference.scenario.topdown.total if reference is not None else None)
        for widget in (self._is, self.epsilon, self.conversion, self._delta):
            widget.setVisible(is_zcdp)
        if is_zcdp:
            delta = shown.scenario.conventions.delta
            self.epsilon.set_value(f"{epsilon(method.total, delta, self.chosen_conversion):.4f}")
            self._delta.setText(f"at δ = {power_text(delta)}, by")

    def _take_total(self, typed: str) -> str:
        try:
            wanted = parse_exact(typed)
        except ValueError as error:
            return Refusal(typed, str(error)).full
        symbol = self._session.shown.method.framework.symbol
        refusal = self._session.edit(
            f"Set the total {symbol} to {typed.strip()}", lambda s: set_field(s, "total", wanted)
        )
        return refusal.full if refusal else ""

    def _take_epsilon(self, typed: str) -> str:
        try:
            wanted = parse_exact(typed)
        except ValueError as error:
            return Refusal(typed, str(error)).full
        conversion = self.chosen_conversion
        label = f"Set ε to {typed.strip()} ({conversion_title(conversion)})"
        refusal = self._session.edit(label, lambda s: set_total_by_epsilon(s, wanted, conversion))
        return refusal.full if refusal else ""

    def _drag(self, stop: Fraction) -> None:
        self.total.forget()
        symbol = self._session.shown.method.framework.symbol
        label = f"Set the total {symbol} to {exact_text(stop)}"
        self._session.report(
            self._session.edit(label, lambda s: set_field(s, "total", stop), merge_key=("topdown total", "slider"))
        )
