"""Figures of a TopDown run: error distributions per level, errors by size, bias of small counts, the redistricting criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.figures.style import ACCENT, ATTENTION, BORDER, INK, MUTED, PAGE_WIDTH, Chart, people_axis, plain_number
from phexplore.metrics.topdown.distribution import ErrorDistribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

COLOURS = ("#00395c", "#0072b2", "#3f95cc", "#7a3600", "#bb5200", "#e06c10", "#56626e")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
"""Levels from the widest down; colour is never alone."""

BINS = 31
SHOWN = 0.98
"""Share of the errors inside a distribution's frame."""

_BAR_COLOUR = "#9fb4c6"
_REQUIRED = 0.95
_ZERO = 0.6
"""Where counts of 0 stand on a logarithmic axis."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelDistribution:
    """The errors of one query at one level.

    Attributes:
        level: name.
        query: name.
        errors: over units, answers and trials.
    """

    level: str
    query: str
    errors: ErrorDistribution


def distributions_chart(found: Sequence[LevelDistribution], trials: int) -> Chart:
    """Return one error distribution per level (rows) and query (columns), each at its own scale."""
    levels = list(dict.fromkeys(each.level for each in found))
    queries = list(dict.fromkeys(each.query for each in found))
    first = [each for each in found if each.query == queries[0]]
    finding = f"On average the {queries[0]} is off by " + ", ".join(
        f"{each.errors.mean_absolute:,.1f} in a {_word(each.level)}" for each in first[-3:]
    )
    description = (
        f"Histograms of published minus true counts in people, {trials} trials pooled over units and answers; one row per geographic "
        f"level, one column per query. Each frame holds {SHOWN:.0%} of its errors; the figure is the mean absolute error, the tick marks "
        "no error."
    )

    def draw(figure: FigureBase) -> None:
        _draw_distributions(figure, found, levels, queries)

    return Chart("distributions", finding, description, PAGE_WIDTH, 0.85 * len(levels) + 0.4, draw)


def _draw_distributions(
    figure: FigureBase, found: Sequence[LevelDistribution], levels: Sequence[str], queries: Sequence[str]
) -> None:
    axes = figure.subplots()
    for each in found:
        column, base = queries.index(each.query), len(levels) - 1 - levels.index(each.level)
        _draw_distribution(axes, each.errors, column, base)
    axes.set_xlim(-0.5, len(queries) - 0.5)
    axes.set_ylim(-0.3, len(levels) - 0.2)
    titles = [_word(level) for level in reversed(levels)]
    axes.set_yticks([place + 0.25 for place in range(len(levels))], titles, color=INK, fontweight="bold", fontsize=8)
    axes.set_xticks(range(len(queries)), list(queries), fontsize=7.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _draw_distribution(axes: Axes, errors: ErrorDistribution, column: int, base: int) -> None:
    if not errors.total:
        return
    reach = max(1, errors.sizes().quantile(SHOWN))
    width = -(-(2 * reach + 1) // BINS)
    inside = np.abs(errors.errors) <= reach
    edges = np.arange(-reach - 0.5, reach + 0.5 + width, width)
    heights, _ = np.histogram(errors.errors[inside], bins=edges, weights=errors.counts[inside])
    half = 0.44
    across = column + edges / edges[-1] * half
    axes.stairs(base + heights / max(1, heights.max()) * 0.62, across, baseline=base, fill=True, color=_BAR_COLOUR)
    axes.plot([column - half, column + half], [base, base], color=BORDER, linewidth=0.8)
    axes.plot([column, column], [base, base - 0.05], color=INK, linewidth=0.8)
    for sign in (-1, 1):
        text = plain_number(reach if sign > 0 else -reach).replace("-", "−")
        axes.text(column + sign * half, base - 0.04, text, ha="center", va="top", fontsize=6, color=MUTED)
    axes.text(
        column + half, base + 0.66, f"{errors.mean_absolute:,.2f}", ha="right", va="top", fontsize=6.5, color=ACCENT
    )


def sizes_chart(metrics: Sequence[Mapping[str, Any]], query: str) -> Chart:
    """Return the mean absolute error of a query by the size of the true count, a line per level."""
    lines = {
        str(entry["level"]): _by_size(entry, "mae") for entry in metrics if entry["query"] == query and entry["by_size"]
    }
    # A logarithmic axis has no place for errors that are exactly 0, such as that of a kept total.
    lines = {level: kept for level, points in lines.items() if (kept := [point for point in points if point[1] > 0])}
    level, points = next(reversed(lines.items()), ("", [(0.0, 0.0)]))
    finding = (
        f"Mean absolute error of the {query}: {points[0][1]:,.1f} people in the smallest {_word(level)}s, "
        f"{points[-1][1]:,.1f} in the largest"
    )
    description = (
        f"Mean absolute error of the {query} in people (vertical) against the class of the true count (horizontal, both "
        "logarithmic), one line per level: " + "; ".join(f"{_word(level)}" for level in lines) + "."
    )

    def draw(figure: FigureBase) -> None:
        axes = figure.subplots()
        for number, (level, points) in enumerate(lines.items()):
            sizes, values = zip(*points, strict=True)
            axes.plot(
                sizes,
                values,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                label=_word(level),
            )
        highest = max((size for points in lines.values() for size, _ in points), default=10.0)
        people_axis(axes, low=0.5, high=max(10.0, highest * 3))
        axes.set_yscale("log")
        _plain(axes)
        axes.set_xlabel("true count, start of its class (0 at the left edge)")
        axes.set_ylabel("mean absolute error, people")
        axes.legend(fontsize=7.5, ncols=2)

    return Chart("sizes", finding, description, PAGE_WIDTH, 3.0, draw)


def _by_size(entry: Mapping[str, Any], figure: str) -> list[tuple[float, float]]:
    points = []
    for label, figures in entry["by_size"].items():
        start = float(label.split("-")[0].split(" ")[0].replace(",", ""))
        value = figures[figure]["value"]
        if value is not None:
            points.append((max(start, _ZERO), float(value)))
    return points


def bias_chart(metrics: Sequence[Mapping[str, Any]], query: str) -> Chart:
    """Return the mean error of a query by the size of the true count: small counts are raised, large ones pay for it."""
    lines = {
        str(entry["level"]): _by_size(entry, "me") for entry in metrics if entry["query"] == query and entry["by_size"]
    }
    shown = {level: points for level, points in list(lines.items())[-3:] if points}
    level, points = next(reversed(shown.items()), ("", [(0.0, 0.0)]))
    named = {_ZERO: "0 changes", 1.0: "1 to 9 change"}
    changes = [f"{named[start]} by {_signed(value)} on average" for start, value in points if start in named]
    finding = f"{query.capitalize()} counts of a {_word(level)}: {', '.join(changes) or 'none is below 10'}"
    description = (
        f"Mean error (published minus true, people) of the answers of {query} by the class of the true count, at the lowest levels. No "
        "count can fall below 0, so small ones rise and the sums they share are paid for by large ones."
    )

    def draw(figure: FigureBase) -> None:
        axes = figure.subplots()
        axes.axhline(0, color=BORDER, linewidth=0.8)
        for number, (level, points) in enumerate(shown.items()):
            sizes, values = zip(*points, strict=True)
            place = len(lines) - len(shown) + number
            axes.plot(
                sizes,
                values,
                color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                markersize=4,
                linewidth=1.2,
                label=_word(level),
            )
        highest = max((size for points in shown.values() for size, _ in points), default=10.0)
        people_axis(axes, low=0.5, high=max(10.0, highest * 3))
        _plain(axes)
        axes.set_xlabel("true count, start of its class (0 at the left edge)")
        axes.set_ylabel("mean error, people")
        axes.legend(fontsize=7.5)

    return Chart("bias", finding, description, PAGE_WIDTH, 2.8, draw)


def redistricting_chart(entries: Sequence[Mapping[str, Any]]) -> Chart:
    """Return the share of units whose largest group keeps its share, per level, with its Wilson interval."""
    judged = [entry for entry in entries if entry["criterion"]["units"]]
    missed = [_word(entry["level"]) for entry in judged if not entry["criterion"]["met"]]
    finding = (
        "The largest group keeps its share within 5 points often enough at every level"
        if not missed
        else f"The redistricting criterion is missed at: {', '.join(missed)}"
    )
    least = judged[0]["criterion"]["least_people"] if judged else 500
    description = (
        f"Share of units with at least {least} people in which the largest race and ethnicity group's share is within 5 percentage points "
        "of its true share; dot with its 95 % Wilson interval, units and trials pooled; the line is the 95 % that are required."
    )

    def draw(figure: FigureBase) -> None:
        axes = figure.subplots()
        axes.axvline(_REQUIRED, color=ATTENTION, linewidth=1, linestyle="--")
        for place, entry in enumerate(reversed(judged)):
            share = entry["criterion"]["share"]
            axes.plot([share["low"], share["high"]], [place, place], color=ACCENT, linewidth=1.6)
            axes.plot([share["value"]], [place], color=ACCENT, marker="o", markersize=4)
        names = [f"{_word(entry['level'])} ({entry['criterion']['units']:,})" for entry in reversed(judged)]
        axes.set_yticks(range(len(names)), names)
        lowest = min((entry["criterion"]["share"]["low"] for entry in judged), default=0.9)
        axes.set_xlim(min(0.9, lowest - 0.02), 1.004)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.grid(visible=True, axis="x")
        axes.set_xlabel("share of units within 5 points")

    return Chart("redistricting", finding, description, PAGE_WIDTH, 0.34 * max(1, len(judged)) + 0.8, draw)


def _word(level: str) -> str:
    return level.replace("_", " ").lower() if level != "US" else level


def _signed(value: float) -> str:
    return f"{value:+,.2f}".replace("-", "−")


def _plain(axes: Axes) -> None:
    """Label the vertical axis in plain numbers; formulas are switched off in all figures."""
    from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: PLC0415 - only figures pay for it

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value).replace("-", "−")))
    axes.yaxis.set_minor_locator(NullLocator())
