"""Figures about errors of group sizes: by size and level, by mechanism, and the time they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phexplore.figures.style import ACCENT, ATTENTION, GHOST, INK, MUTED, PAGE_WIDTH, Chart, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

COLOURS = (ACCENT, ATTENTION, INK, GHOST, "#0f7b5f", "#8a3ffc", MUTED)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def _logarithmic(axes: Axes, *, horizontal: bool = False) -> None:
    """Make an axis logarithmic, labelled in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - as late as the figure

    if horizontal:
        axes.set_xscale("log")
    else:
        axes.set_yscale("log")
    axis = axes.xaxis if horizontal else axes.yaxis
    axis.set_major_locator(LogLocator(base=10))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axis.set_minor_formatter(NullFormatter())


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a figure.

    Attributes:
        label: of the line.
        places: along the axis.
        values: positive ones are drawn.
        spreads: standard deviations, None for none.
    """

    label: str
    places: tuple[float, ...]
    values: tuple[float, ...]
    spreads: tuple[float, ...] | None = None


def errors_by_size_chart(metrics: Sequence[Mapping[str, Any]], finding: str = "") -> Chart:
    """Return the mean absolute error of a region's number of groups by size, a line per level.

    Args:
        metrics: as ``summary.json`` holds them.
        finding: the title; without it where errors are largest.
    """
    names = [str(entry["size"]) for entry in metrics[0]["sizes"]]

    def draw(figure: FigureBase) -> None:
        axes = figure.subplots()
        for number, level in enumerate(metrics):
            values = [entry["l1"] / level["regions"] for entry in level["sizes"]]
            places = [place for place, value in enumerate(values) if value > 0]
            axes.plot(
                places,
                [values[place] for place in places],
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                label=f"{level['level']} ({level['regions']:,})",
            )
        _logarithmic(axes)
        axes.set_xticks(range(len(names)), names)
        axes.set_xlabel("size of the group")
        axes.set_ylabel("mean absolute error per region, groups")
        axes.grid(visible=True, axis="y")
        axes.legend()

    description = (
        "Mean absolute error of the number of groups of each size in a region, over all trials, one line per level."
    )
    return Chart("errors-by-size", finding or _where_largest(metrics), description, PAGE_WIDTH, 3.2, draw)


def _where_largest(metrics: Sequence[Mapping[str, Any]]) -> str:
    widest = metrics[0]["sizes"]
    worst = max(widest, key=lambda entry: entry["l1"])
    return f"Errors at {metrics[0]['level']} are largest for size {worst['size']}: {worst['l1']:,.1f} groups"


def errors_by_level_chart(metrics: Sequence[Mapping[str, Any]]) -> Chart:
    """Return the L1 error of every level with its standard deviation over trials."""

    def draw(figure: FigureBase) -> None:
        axes = figure.subplots()
        places = range(len(metrics))
        values = [level["l1"]["mean"] for level in metrics]
        spreads = [level["l1"]["sd"] or 0.0 for level in metrics]
        axes.bar(places, values, yerr=spreads, color=ACCENT, width=0.5, capsize=4, ecolor=INK)
        _logarithmic(axes)
        axes.set_xticks(places, [str(level["level"]) for level in metrics])
        axes.set_ylabel("L1 error, groups")
        axes.grid(visible=True, axis="y")

    first, last = metrics[0], metrics[-1]
    finding = (
        f"L1 error from {first['l1']['mean']:,.0f} at {first['level']} to {last['l1']['mean']:,.0f} at {last['level']}"
    )
    description = (
        "Sum of absolute errors over all regions and sizes of a level, mean over trials, with standard deviation."
    )
    return Chart("errors-by-level", finding, description, PAGE_WIDTH, 2.8, draw)


def lines_chart(
    chart_id: str,
    finding: str,
    description: str,
    series: Sequence[Series],
    axis: tuple[str, str],
    *,
    log_x: bool = True,
) -> Chart:
    """Return lines over a logarithmic vertical axis.

    Args:
        chart_id: of the figure.
        finding: its title.
        description: for readers who cannot see it.
        series: the lines.
        axis: labels of the horizontal and the vertical axis.
        log_x: whether the horizontal axis is logarithmic.
    """

    def draw(figure: FigureBase) -> None:
        axes: Axes = figure.subplots()
        for number, line in enumerate(series):
            axes.errorbar(
                line.places,
                line.values,
                yerr=line.spreads,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=line.label,
            )
        _logarithmic(axes)
        if log_x:
            _logarithmic(axes, horizontal=True)
        axes.set_xlabel(axis[0])
        axes.set_ylabel(axis[1])
        axes.grid(visible=True, axis="y")
        axes.legend(fontsize=7)

    return Chart(chart_id, finding, description, PAGE_WIDTH, 3.4, draw)
