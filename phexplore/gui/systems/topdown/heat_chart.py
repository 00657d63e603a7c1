"""Where does the privacy go, and what does it buy? Query groups by levels, one hue, numbers in the cells."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from phexplore.gui.figures.controls import field_label
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.topdown.heat import QUANTITIES, heat_figure
from phexplore.gui.systems.topdown.scenario_view import TopDownShown
from phexplore.gui.widgets.buttons import Chooser

TEACHING = "What every measurement costs and buys appears here as soon as a query group is measured: enter a share."


class HeatView(FigureView):
    """The heat table of query groups by levels, with a chooser of what it shows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Measurements by level and query", TEACHING, parent)
        self._shown: TopDownShown | None = None
        self.quantity = Chooser("What the heat table shows")
        for quantity in QUANTITIES:
            self.quantity.addItem(quantity.value, quantity)
        self.quantity.currentIndexChanged.connect(self._show_again)
        self.controls.addWidget(field_label("Sho&w", self.quantity))
        self.controls.addWidget(self.quantity)
        self.controls.addStretch(1)

    def show_version(self, shown: TopDownShown) -> None:
        """Show the measurements of a version."""
        self._shown = shown
        self._show_again()

    def _show_again(self, _index: int = 0) -> None:
        if self._shown is not None:
            self.show_figure(heat_figure(self._shown, self.quantity.currentData()))
