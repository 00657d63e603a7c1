"""How long a frame of a zoom takes: 5,000 points, 5,000 rows, the margins of the 2020 parameters. Offscreen, no processes.

python benchmarks/bench_figures.py
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table
from phexplore.gui.figures.view import FigureView
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.margin_figure import margins_figure
from phexplore.systems.registry import preset

FRAMES, MARKS = 60, 5000
TARGET = 16.0
"""Milliseconds of a frame."""


def points() -> Figure:
    """Return 5,000 points of one series."""
    rng = np.random.default_rng(1)
    names = tuple(f"place {number}" for number in range(MARKS))
    series = (Series("errors", rng.lognormal(6, 2, MARKS), rng.normal(0, 20, MARKS), names),)
    return scatter_figure("points", series, ("true count", "error, people"), "Points", "", Table(()))


def rows() -> Figure:
    """Return 5,000 rows with intervals."""
    rng = np.random.default_rng(2)
    values = rng.normal(0, 20, MARKS).tolist()
    made = [
        Row(str(n), "", f"row {n}", v, v - 5, v + 5, v - 2, v + 2, 0.0, text=f"{v:.1f}") for n, v in enumerate(values)
    ]
    return row_figure("rows", made, "error, people", "Rows", "", Table(()))


def margins() -> Figure:
    """Return the margins of the 2020 parameters."""
    scenario = preset("sdhc-2020-us").scenario
    return margins_figure(forecast(scenario), scenario.phsafe.targets)


def frames(view: FigureView, act: Callable[[int], None]) -> tuple[float, float]:
    """Return the median and the 95th percentile of the milliseconds from an act to the painted frame."""
    taken = []
    for number in range(FRAMES):
        start = time.perf_counter()
        act(number)
        view.canvas.repaint()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken), sorted(taken)[int(0.95 * FRAMES)]


def main() -> int:
    """Print a line per figure; return 1 where a zoom frame takes longer than the target."""
    app = QApplication.instance() or QApplication(sys.argv)
    worst = 0.0
    for name, make in (("5,000 points", points), ("5,000 rows", rows), ("46 margins", margins)):
        figure = make()
        view = FigureView(name, "")
        view.resize(1000, 700)
        view.show()
        start = time.perf_counter()
        view.show_figure(figure)
        view.canvas.repaint()
        first = 1000 * (time.perf_counter() - start)
        app.processEvents()
        plot, middle = view.plot, view.canvas.area.center()
        zoom = frames(
            view, lambda number, plot=plot, at=middle: plot.viewport.zoom(0.9 if number % 20 < 10 else 1 / 0.9, at)
        )
        plot.viewport.show_all()
        move = frames(view, lambda number, plot=plot: plot.gestures.pointer_moved(QPointF(200 + 8 * number, 300)))
        worst = max(worst, zoom[0])
        print(
            f"{name:14} first {first:6.1f} ms   zoom {zoom[0]:5.1f} ms (95 %: {zoom[1]:5.1f})   pointer {move[0]:5.1f} ms"
        )
        view.close()
    return int(worst > TARGET)


if __name__ == "__main__":
    sys.exit(main())
