"""Several figures of the same data in one frame, with a chooser."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QComboBox, QWidget

from phexplore.figures.figure import Figure
from phexplore.gui.figures.view import FigureView
from phexplore.gui.widgets.labels import field_label


class FigureChoice(FigureView):
    """Shows one of several figures; the others are made when they are chosen."""

    def __init__(self, name: str, teaching: str, kinds: tuple[str, ...], parent: QWidget | None = None) -> None:
        """Build the frame.

        Args:
            name: what the figures are, for screen readers and file names.
            teaching: what will be here and the one action that fills it.
            kinds: what can be chosen, the first one to begin with.
            parent: owner.
        """
        super().__init__(name, teaching, parent)
        self._figures: Mapping[str, Callable[[], Figure]] = {}
        self.kind = QComboBox(self)
        self.kind.setAccessibleName("Kind of picture")
        self.kind.addItems(kinds)
        self.kind.currentIndexChanged.connect(self._redraw)
        self.controls.addWidget(field_label("&Show as", self.kind))
        self.controls.addWidget(self.kind)
        self.controls.addStretch(1)

    def show_figures(self, figures: Mapping[str, Callable[[], Figure]]) -> None:
        """Show the chosen one of these figures, by kind."""
        self._figures = figures
        self._redraw()

    def _redraw(self, _index: int = 0) -> None:
        make = self._figures.get(self.kind.currentText())
        if make is not None:
            self.show_figure(make())
