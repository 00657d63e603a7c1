"""Figures about errors under exact totals: by the size of the true count, their distribution, slopes per state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.style import (
    ACCENT,
    ACCENT_SOFT,
    ATTENTION,
    BORDER,
    GHOST,
    INK,
    MUTED,
    PAGE_WIDTH,
    Chart,
    people_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

Floats = NDArray[np.float64]

MOST_BOXES = 300
"""Answers that get a box of their own; of more, evenly spread ones by size."""

_HEIGHT = 3.2


@dataclass(frozen=True, slots=True)
class Line:
    """A regression line of errors on ln of the true count.

    Attributes:
        slope: people per unit of ln count.
        intercept: people.
        label: what it is the line of.
    """

    slope: float
    intercept: float
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Errors of another mechanism on the same answers.

    Attributes:
        label: of the mechanism.
        errors: ``float64[answers]``, of one run.
        line: their regression line, None for none.
    """

    label: str
    errors: Floats
    line: Line | None = None


def by_size_chart(
    truth: Floats, errors: Floats, label: str, others: Sequence[Comparison] = (), *, finding: str = ""
) -> Chart:
    """Return box plots of errors over runs, answers ordered by true size, with other mechanisms as squares.

    Args:
        truth: ``float64[answers]``.
        errors: ``float64[trials, answers]``.
        label: of the mechanism whose errors these are.
        others: mechanisms beside it.
        finding: the title; without it what is seen of `errors`.
    """
    finding = finding or _leaning(truth, errors)
    description = (
        f"Box plots of released minus true count over {len(errors)} runs of {label}, {errors.shape[1]} answers in the order of "
        "their true count: line the median, box the middle half, whiskers the range. "
        + " ".join(f"Squares: {other.label}, one run." for other in others)
    )

    def draw(figure: FigureBase) -> None:
        _draw_by_size(figure.subplots(), truth, errors, label, others)

    return Chart("errors-by-size", finding, description, PAGE_WIDTH, _HEIGHT, draw)


def _leaning(truth: Floats, errors: Floats) -> str:
    """Say whether mean errors go with the size of the true count: the correlation with its rank, judged at 3/√n."""
    mean = errors.mean(axis=0)
    if len(mean) < 3 or mean.std() == 0 or truth.std() == 0:
        return "Errors by the size of the true count"
    ranks = np.argsort(np.argsort(truth, kind="stable"), kind="stable")
    correlation = float(np.corrcoef(ranks, mean)[0, 1])
    if abs(correlation) * math.sqrt(len(mean)) > 3:
        side = "large" if correlation > 0 else "small"
        return f"Errors lean upward for {side} counts (correlation with the rank {correlation:+.2f})"
    return f"Errors do not go with the size of the count (correlation with the rank {correlation:+.2f})"


def _draw_by_size(axes: Axes, truth: Floats, errors: Floats, label: str, others: Sequence[Comparison]) -> None:
    order = np.argsort(truth, kind="stable")
    if len(order) > MOST_BOXES:
        order = order[np.linspace(0, len(order) - 1, MOST_BOXES).round().astype(int)]
    places = np.arange(1, len(order) + 1)
    low, lower, middle, upper, high = np.quantile(errors[:, order], [0, 0.25, 0.5, 0.75, 1], axis=0)
    axes.axhline(0, color=BORDER, linewidth=1, zorder=0)
    axes.vlines(places, low, high, color=GHOST, linewidth=0.7, zorder=1)
    width = max(1.0, 160 / len(order))
    axes.vlines(places, lower, upper, color=ACCENT, linewidth=width, zorder=2, label=f"{label}, {len(errors)} runs")
    axes.plot(places, middle, linestyle="none", marker="_", color="white", markersize=3, zorder=3)
    colours = (ATTENTION, INK, MUTED)
    for number, other in enumerate(others):
        colour = colours[number % len(colours)]
        axes.plot(
            places,
            other.errors[order],
            linestyle="none",
            marker="s",
            markersize=3,
            color=colour,
            zorder=4,
            label=other.label,
        )
        if other.line is not None:
            values = other.line.intercept + other.line.slope * np.log(np.maximum(truth[order], 1))
            axes.plot(places, values, color=colour, linewidth=1.4, zorder=5, label=other.line.label)
    axes.set_xlabel(f"{len(order)} answers by true count, {_plain(truth[order[0]])} to {_plain(truth[order[-1]])}")
    axes.set_ylabel("released − true, people")
    axes.set_xlim(0, len(order) + 1)
    axes.legend(loc="upper left", fontsize=7.5, ncols=2)


def _plain(value: float) -> str:
    return f"{value:,.0f}"


def distribution_chart(errors: Floats, sigma: float, label: str) -> Chart:
    """Return the distribution of all errors with the standard deviation the formula gives.

    Args:
        errors: ``float64[trials, answers]``.
        sigma: root mean variance of the answers, people.
        label: of the mechanism.
    """
    observed = float(np.sqrt((errors**2).mean())) if errors.size else 0.0
    finding = f"Errors spread by {observed:.2f} people; the formula says {sigma:.2f}"
    description = (
        f"Histogram of released minus true count of {label}: {errors.shape[1]} answers in {len(errors)} runs. Dashed: one "
        "standard deviation by the formula to each side."
    )

    def draw(figure: FigureBase) -> None:
        axes: Axes = figure.subplots()
        reach = max(4 * sigma, 1e-9)
        axes.hist(
            np.clip(errors.reshape(-1), -reach, reach),
            bins=61,
            range=(-reach, reach),
            color=ACCENT_SOFT,
            edgecolor=ACCENT,
        )
        for side in (-sigma, sigma):
            axes.axvline(side, color=INK, linewidth=1, linestyle="--")
        axes.set_xlabel("released − true, people (the outermost bars hold everything beyond)")
        axes.set_ylabel("errors")

    return Chart("distribution", finding, description, PAGE_WIDTH, 2.4, draw)


@dataclass(frozen=True, slots=True)
class StateSlope:
    """The slope of one state.

    Attributes:
        state: its name.
        counties: how many.
        slope: people per unit of ln count.
        is_significant: negative at the 1 % level.
    """

    state: str
    counties: int
    slope: float
    is_significant: bool


def slopes_chart(slopes: Sequence[StateSlope], label: str) -> Chart:
    """Return the slope of every state, states in the order of their number of counties: the left panel of Figure 1."""
    ordered = sorted(slopes, key=lambda each: each.counties)
    negative, significant = sum(each.slope < 0 for each in ordered), sum(each.is_significant for each in ordered)
    finding = f"{label}: {negative} of {len(ordered)} slopes are negative, {significant} significantly (1 %)"
    description = (
        "Least squares slope of county errors on ln population per state with more than five counties, states by number of "
        "counties; circles: significantly negative at the 1 % level."
    )

    def draw(figure: FigureBase) -> None:
        axes: Axes = figure.subplots()
        places = np.arange(len(ordered))
        values = np.array([each.slope for each in ordered])
        axes.axhline(0, color=BORDER, linewidth=1)
        axes.vlines(places, 0, values, color=ACCENT, linewidth=2)
        marked = [place for place, each in enumerate(ordered) if each.is_significant]
        axes.plot(places, values, linestyle="none", marker="o", markersize=3, color=ACCENT)
        axes.plot(marked, values[marked], linestyle="none", marker="o", markersize=9, fillstyle="none", color=ATTENTION)
        axes.set_xticks(places, [each.state for each in ordered], rotation=90, fontsize=6)
        axes.set_ylabel("slope, people per ln(count)")
        reach = 1.1 * max(float(np.abs(values).max()), 1e-9)
        axes.set_ylim(-reach, reach)

    return Chart("slopes", finding, description, PAGE_WIDTH, 3.2, draw)


def root_mean(variances: Floats) -> float:
    """Return the root of the mean variance."""
    return math.sqrt(float(variances.mean())) if variances.size else 0.0


def systems_chart(sizes: Floats, errors: Mapping[str, Floats], unit: str, *, finding: str = "") -> Chart:
    """Return the mean absolute error of several systems per area, areas by size.

    Args:
        sizes: ``float64[areas]``, what orders them.
        errors: per system ``float64[areas]``, mean absolute errors.
        unit: of sizes and errors, e.g. ``households``.
        finding: the title; without it which system errs least.
    """
    best = min(errors, key=lambda name: float(errors[name].mean()))
    finding = finding or f"Smallest mean error: {best}, {errors[best].mean():.2f} {unit} a count"
    description = (
        f"Mean absolute error per area over runs and counts, {len(sizes)} areas by their number of {unit}; one mark per system: "
        + ", ".join(f"{name} {values.mean():.2f} on average" for name, values in errors.items())
        + "."
    )

    def draw(figure: FigureBase) -> None:
        axes: Axes = figure.subplots()
        # Systems can agree to the pixel: the first ones are drawn large and hollow around the others.
        looks = ((ATTENTION, "s", 7.0), (INK, "^", 3.5), (ACCENT, "o", 3.5), (MUTED, "D", 3.5))
        for (name, values), (colour, marker, size) in zip(errors.items(), looks, strict=False):
            fill = "none" if size > 5 else "full"
            axes.plot(
                sizes,
                values,
                linestyle="none",
                marker=marker,
                markersize=size,
                fillstyle=fill,
                color=colour,
                label=name,
            )
            axes.axhline(float(values.mean()), color=colour, linewidth=0.8)
        people_axis(axes, low=float(sizes.min()) * 0.9, high=float(sizes.max()) * 1.1)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"{unit} in the area; lines: the mean of each system")
        axes.set_ylabel(f"mean absolute error, {unit}")
        axes.legend(loc="best", fontsize=7.5)

    return Chart("systems", finding, description, PAGE_WIDTH, 3.2, draw)
