"""The overview of group sizes."""

from __future__ import annotations

from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.editors.plain_overview import NO_PICTURE, PlainOverview
from phexplore.gui.editors.plain_panels import PlainChangesPanel
from phexplore.gui.editors.scenario_form import PromiseText
from phexplore.gui.figures.view import FigureView
from phexplore.gui.widgets.page import Section
from phexplore.systems.group_sizes import figures as size_figures


class GroupSizesOverview(PlainOverview):
    """What a release of group sizes costs and gives before any run."""

    def __init__(self, session: PlainSession) -> None:
        self.margins = FigureView("Margins by level", "Margins of error by level appear here.")
        self.mechanisms = FigureView("Noise by mechanism", "The noise of every mechanism on this budget appears here.")
        self.shares = FigureView(
            "Privacy loss by level", "How the privacy loss is divided among the levels appears here."
        )
        promise = Section("What the number means", "", PromiseText(session))
        super().__init__(session, ((self.margins, self.mechanisms), (self.shares, promise, PlainChangesPanel(session))))

    def refresh(self) -> None:
        super().refresh()
        shown = self._session.shown
        reference = None if shown.reference is None else shown.reference.scenario.group_sizes
        self.shares.show_figure(size_figures.levels_figure(shown.scenario.group_sizes, reference))
        if shown.figures is None:
            self.margins.show_empty(NO_PICTURE)
            self.mechanisms.show_empty(NO_PICTURE)
            return
        self.margins.show_figure(
            size_figures.margins_figure(
                shown.scenario, shown.figures, None if shown.reference is None else shown.reference.figures
            )
        )
        self.mechanisms.show_figure(size_figures.mechanisms_figure(shown.scenario))
