"""The pictures of an S-DHC scenario that a meeting can look at."""

from __future__ import annotations

from PySide6.QtCore import Qt

from phexplore.gui.binding.room import LivePicture
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.charts.margin_chart import MarginChart
from phexplore.gui.charts.share_chart import PrivacyShareChart


def margins(session: PlainSession) -> LivePicture:
    """Return the margins of all queries; only the sliders move anything."""
    chart = MarginChart()
    # A dot that can be caught by accident would move something, too.
    chart.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    chart.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def refresh() -> None:
        shown = session.shown
        method, reference = shown.scenario.phsafe, shown.reference
        before = reference.figures if reference is not None else None
        chart.show_forecast(shown.figures, method.targets, before, method.locks)

    return LivePicture(chart, refresh)


def shares(session: PlainSession) -> LivePicture:
    """Return where the privacy loss goes."""
    chart = PrivacyShareChart()
    return LivePicture(chart, lambda: chart.show_forecast(session.shown.figures))
