"""The proven privacy curve of the active scenario, with what its slack could buy; stays open beside the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QWidget

from phexplore.figures.figure import Figure, nothing
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.pointers import PAGE
from phexplore.systems.proven_figure import TEACHING, proven_figure

_LIMITS = (
    "Proven from the variance of every discrete Gaussian answer, for two data sets that differ as the neighbours say. Counts that are "
    "published exactly have no protection, and where units of a spine gave budgets away ε differs a little from path to path."
)


_SCREEN_PART = 0.9


class ProvenCurve(QDialog):
    """Follows every edit; the curve is computed beside the window."""

    def __init__(self, parent: QWidget | None, session: Session, less_noise: Callable[[], object]) -> None:
        """Show the curve of a session.

        Args:
            parent: owner.
            session: tells what is shown.
            less_noise: adds the scenario that spends the slack.
        """
        super().__init__(parent)
        self.setProperty(PAGE, "docs/proven_epsilon.md")
        self._session = session
        self.setWindowTitle("Proven privacy curve")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        wanted = QSize(100 * GRID, 70 * GRID) * (appearance().scale / 100)
        self.resize(wanted.boundedTo(self.screen().availableSize() * _SCREEN_PART))
        self.figure = FigureView("Proven privacy curve", TEACHING)
        self.less_noise = TextButton("Add as a scenario: same converted ε, narrower margins", run=less_noise)
        self._work = Latest(_drawn, self)
        self._work.finished.connect(self._show)
        self.finished.connect(self._work.stop)
        content = QWidget()
        column((self.figure, 1), Text(_LIMITS, look="muted", wrap=True), of=content)
        column(
            (scrolling("Proven privacy curve", content), 1),
            (self.less_noise, Qt.AlignmentFlag.AlignRight),
            of=self,
            margins=(MARGIN, MARGIN, MARGIN, MARGIN),
        )
        session.settled.connect(self._request)
        self._request()

    def _request(self, _view: object = None) -> None:
        self._work.request(self._session.shown)

    def _show(self, drawn: tuple[ScenarioView, Figure]) -> None:
        view, figure = drawn
        if view is self._session.shown:
            self.figure.show_figure(figure)
            self.less_noise.setEnabled(bool(figure.marks))


def _drawn(view: ScenarioView) -> tuple[ScenarioView, Figure]:
    if view.forecast is None:
        return view, nothing("proven", TEACHING)
    return view, proven_figure(view.forecast, view.scenario.conventions.delta)
