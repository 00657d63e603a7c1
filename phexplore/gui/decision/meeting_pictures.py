"""The one picture of a meeting, for the system of the active scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt

from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.charts.frame import ChartFrame
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.model.phsafe import PhSafe
from phexplore.model.topdown import TopDown


@dataclass(frozen=True, slots=True)
class Sessions:
    """The project as the views of all systems, of PHSafe and of TopDown see it."""

    whole: Session
    phsafe: PlainSession
    topdown: TopDownSession


@dataclass(frozen=True, slots=True)
class LivePicture:
    """A chart and what draws the present version in it."""

    chart: ChartFrame
    refresh: Callable[[], object]


Make = Callable[[Sessions], LivePicture]


def picture_choices(session: Session) -> dict[str, Make]:
    """Return what may be shown of the active scenario, by title."""
    match session.scenario.method:
        case PhSafe():
            return {"How wide is every margin?": _margins, "Where does the privacy go?": _shares}
        case TopDown():
            return {
                "Loss by level": _levels,
                "Margins by level and query": _heat,
                "What can be learned about one person": _semantics,
            }
        case _:
            return {}


def _margins(sessions: Sessions) -> LivePicture:
    from phexplore.gui.charts.margin_chart import MarginChart

    chart = MarginChart()
    # Only the sliders move anything: a dot that can be caught by accident would, too.
    chart.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    chart.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def refresh() -> None:
        shown = sessions.phsafe.shown
        method, reference = shown.scenario.phsafe, shown.reference
        before = reference.figures if reference is not None else None
        chart.show_forecast(shown.figures, method.targets, before, method.locks)

    return LivePicture(chart, refresh)


def _shares(sessions: Sessions) -> LivePicture:
    from phexplore.gui.charts.share_chart import PrivacyShareChart

    chart = PrivacyShareChart()
    return LivePicture(chart, lambda: chart.show_forecast(sessions.phsafe.shown.figures))


def _levels(sessions: Sessions) -> LivePicture:
    from phexplore.gui.figures.view import FigureView
    from phexplore.systems.topdown.figures import level_figure

    chart = FigureView("Privacy loss by level", "How the loss is divided appears here.")

    def draw() -> None:
        shown = sessions.topdown.shown
        reference = shown.reference
        chart.show_figure(level_figure(shown.method, None if reference is None else reference.scenario.topdown))

    return LivePicture(chart, draw)


def _semantics(sessions: Sessions) -> LivePicture:
    from phexplore.gui.figures.view import FigureView
    from phexplore.systems.topdown.figures import semantics_figure

    chart = FigureView("What can be learned", "What can be learned about one person appears here.")

    def draw() -> None:
        shown = sessions.topdown.shown
        reference = shown.reference
        chart.show_figure(semantics_figure(shown.figures, None if reference is None else reference.figures))

    return LivePicture(chart, draw)


def _heat(sessions: Sessions) -> LivePicture:
    from phexplore.gui.systems.topdown.heat_chart import HeatView

    chart = HeatView()
    return LivePicture(chart, lambda: chart.show_version(sessions.topdown.shown))
