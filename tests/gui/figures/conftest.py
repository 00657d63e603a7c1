"""Charts shown on a surface of a fixed size, so that pixels can be pointed at."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QColor

from phexplore.systems.phsafe.forecast import forecast


@pytest.fixture(autouse=True)
def no_leftovers(qapp):
    """Delete what a test closed: without a running event loop closed widgets stay, and every later theme restyles them."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(scope="session")
def figures(us):
    """The forecast of the 2020 parameters."""
    return forecast(us)


@pytest.fixture
def shown(qtbot):
    """Show a chart and return it."""

    def show(chart, width=900, height=640):
        qtbot.addWidget(chart)
        chart.resize(width, height)
        chart.show()
        qtbot.waitExposed(chart)
        return chart

    return show


@pytest.fixture
def colours_in():
    """Return the set of colours in a picture of a widget."""

    def collect(widget):
        image = widget.grab().toImage()
        return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(0, image.height(), 3)}

    return collect
