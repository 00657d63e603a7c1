"""The pictures of a TopDown scenario that a meeting can look at."""

from __future__ import annotations

from phexplore.gui.binding.room import LivePicture
from phexplore.gui.figures.view import FigureView
from phexplore.gui.systems.topdown.heat_chart import HeatView
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.systems.topdown.figures import level_figure, semantics_figure


def levels(session: TopDownSession) -> LivePicture:
    """Return how the loss is divided among levels."""
    chart = FigureView("Privacy loss by level", "How the loss is divided appears here.")

    def draw() -> None:
        shown = session.shown
        reference = shown.reference
        chart.show_figure(level_figure(shown.method, None if reference is None else reference.scenario.topdown))

    return LivePicture(chart, draw)


def semantics(session: TopDownSession) -> LivePicture:
    """Return what can be learned about one person."""
    chart = FigureView("What can be learned", "What can be learned about one person appears here.")

    def draw() -> None:
        shown = session.shown
        reference = shown.reference
        chart.show_figure(semantics_figure(shown.figures, None if reference is None else reference.figures))

    return LivePicture(chart, draw)


def heat(session: TopDownSession) -> LivePicture:
    """Return the margins by level and query."""
    chart = HeatView()
    return LivePicture(chart, lambda: chart.show_version(session.shown))
