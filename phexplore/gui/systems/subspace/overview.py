"""The overview of releases under exact sums."""

from __future__ import annotations

from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_overview import NO_PICTURE, PlainOverview
from phexplore.gui.editors.plain_panels import PlainChangesPanel
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.figures.view import FigureView
from phexplore.gui.widgets.page import Section
from phexplore.systems.subspace import figures as subspace_figures
from phexplore.systems.subspace.forecast import Alternative, alternatives


class SubspaceOverview(PlainOverview):
    """What releases under exact sums cost and give before any run; other mechanisms on the same budget beside the chosen one."""

    def __init__(self, session: PlainSession) -> None:
        self.alternatives = FigureView(
            "Expected error by mechanism", "The expected error of every mechanism on this budget appears here."
        )
        self.margins = FigureView("Margins of the answers", "Margins of the answers appear here.")
        promise = Section("What the number means", "", PromiseText(session))
        super().__init__(session, ((self.alternatives, self.margins), (promise, PlainChangesPanel(session))))
        self._work = Latest(_alternatives, self)
        self._work.finished.connect(self._show_alternatives)
        self._work.failed.connect(self._on_failed)

    def refresh(self) -> None:
        super().refresh()
        shown = self._session.shown
        if shown.figures is None:
            self.margins.show_empty(NO_PICTURE)
            self.alternatives.show_empty(NO_PICTURE)
            return
        self.margins.show_figure(subspace_figures.margins_figure(shown.figures, shown.scenario.conventions))
        self._work.request(shown)

    def stop(self) -> None:
        """Finish what is being worked out, because the window closes."""
        self._work.stop()

    def _show_alternatives(self, found: tuple[ScenarioView, list[tuple[str, tuple[Alternative, ...]]]]) -> None:
        shown, choices = found
        if shown is self._session.shown:
            self.alternatives.show_figure(subspace_figures.alternatives_figure(shown.scenario.subspace, choices))

    def _on_failed(self, error: BaseException) -> None:
        self.alternatives.show_empty(str(error))


def _alternatives(shown: ScenarioView) -> tuple[ScenarioView, list[tuple[str, tuple[Alternative, ...]]]]:
    method = shown.scenario.subspace
    return shown, [(name, alternatives(method, name)) for name in method.releases]
