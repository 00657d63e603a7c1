"""The pictures of an S-DHC scenario that a meeting can look at."""

from __future__ import annotations

from PySide6.QtCore import Qt

from phexplore.gui.binding.room import LivePicture
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.figures.view import FigureView
from phexplore.systems.phsafe.margin_figure import TEACHING, margins_figure
from phexplore.systems.phsafe.share_figure import shares_figure


def margins(session: PlainSession) -> LivePicture:
    """Return the margins of all queries; only the sliders move anything."""
    chart = FigureView("Margins of error", TEACHING)
    # A dot that can be caught by accident would move something, too.
    chart.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    chart.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def refresh() -> None:
        shown = session.shown
        method, reference = shown.scenario.phsafe, shown.reference
        before = reference.figures if reference is not None else None
        chart.show_figure(margins_figure(shown.figures, method.targets, before, method.locks))

    return LivePicture(chart, refresh)


def shares(session: PlainSession) -> LivePicture:
    """Return where the privacy loss goes."""
    chart = FigureView("Privacy loss by table", "Where the privacy loss goes appears here.")
    return LivePicture(chart, lambda: chart.show_figure(shares_figure(session.shown.figures)))
