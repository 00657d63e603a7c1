"""Figures of a run: error distributions with their analytic band, coverage, observed margins, truncation beside noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phexplore.catalog.tables import table
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
    plain_number,
)
from phexplore.model.keys import LEVELS, QueryKey, TableId
from phexplore.systems.phsafe.provenance import confidence_text
from phexplore.systems.phsafe.query_rows import query_panels, row_places
from phexplore.systems.phsafe.run_snapshot import LevelResult, QueryResult, RunSnapshot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_BAND_DEVIATIONS = 1.96
"""The band around each bar holds it in about 95 of 100 runs."""

_EXPECTED_OUTSIDE = 0.05

_BAR_COLOUR = "#c3ccd5"


def run_charts(snapshot: RunSnapshot) -> tuple[Chart, ...]:
    """Return the figures of a run, most asked for first; those that would say nothing are left out."""
    charts = []
    if snapshot.is_noisy:
        charts += [coverage_chart(snapshot), errors_chart(snapshot), observed_chart(snapshot)]
    if snapshot.truncation:
        charts += [bias_chart(snapshot), sizes_chart(snapshot)]
    return tuple(charts)


def share_text(share: float, places: int = 1) -> str:
    """Return a share in per cent, e.g. ``90.2 %``."""
    return f"{share * 100:.{places}f} %"


def errors_chart(snapshot: RunSnapshot) -> Chart:
    """Return one small error distribution per measured query, with the band in which each bar should lie."""
    names = list(dict.fromkeys(query.query.table for query in snapshot.queries))
    judged = [bar for query in snapshot.queries for bar in query.bars if bar.expected >= 5]
    inside = sum(abs(bar.observed - bar.expected) <= _BAND_DEVIATIONS * bar.spread for bar in judged)
    finding = (
        f"The noise follows its exact distribution: {share_text(inside / max(1, len(judged)))} of the bars "
        "lie in their 95 % band"
    )
    if judged and inside / len(judged) < 1 - 2 * _EXPECTED_OUTSIDE:
        finding = (
            f"Only {share_text(inside / len(judged))} of the bars lie in their 95 % band: the noise is not as stated"
        )
    description = (
        "Histograms of released minus truncated counts in people, one per measured table (rows) and population-group "
        f"level (columns), {snapshot.trials} trials pooled over areas and cells. Shaded: where each bar lies in 95 of "
        "100 runs; ticks: the scenario's margin. The outermost bars hold everything beyond. The percentage is the "
        "observed coverage of the margin."
    )

    def draw(figure: FigureBase) -> None:
        _draw_errors(figure, names, {query.query: query for query in snapshot.queries})

    return Chart("errors", finding, description, PAGE_WIDTH, 0.8 * len(names) + 0.6, draw)


_PANEL_HALF_WIDTH = 0.46
_PANEL_HEIGHT = 0.66
"""Of one distribution, where columns and lines are one unit apart."""


def _draw_errors(figure: FigureBase, names: Sequence[TableId], by_query: Mapping[QueryKey, QueryResult]) -> None:
    """Draw all distributions into one pair of axes: fifty pairs would take seconds to lay out."""
    levels = [level for level in LEVELS if any(query.level == level for query in by_query)]
    axes = figure.subplots()
    for query, result in by_query.items():
        _draw_distribution(axes, result, levels.index(query.level), len(names) - 1 - names.index(query.table))
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_ylim(-0.28, len(names) - 1 + 0.78)
    axes.set_yticks(
        [place + 0.25 for place in range(len(names))], names[::-1], color=INK, fontweight="bold", fontsize=8
    )
    axes.set_xticks(range(len(levels)), [level.title for level in levels], fontsize=7.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    _errors_key(figure)


def _errors_key(figure: FigureBase) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only figures pay for it
    from matplotlib.patches import Patch  # noqa: PLC0415 - as above

    handles = [
        Patch(facecolor=_BAR_COLOUR),
        Line2D([], [], color=ACCENT, linewidth=0.9),
        Patch(facecolor=ACCENT, alpha=0.3),
        Line2D([], [], marker="|", color=INK, linestyle="", markersize=6),
    ]
    labels = [
        "errors of the run",
        "exact distribution",
        "where a bar lies in 95 of 100 runs",
        "margin; % = its coverage",
    ]
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7.5, handletextpad=0.5)


def _draw_distribution(axes: Axes, result: QueryResult, column: int, base: int) -> None:
    """Draw one distribution around (column, base), each at its own scale: people across, errors upward."""
    bars = result.bars
    reach = bars[-1].high + 0.5
    upper = [bar.expected + _BAND_DEVIATIONS * bar.spread for bar in bars]
    lower = [max(0.0, bar.expected - _BAND_DEVIATIONS * bar.spread) for bar in bars]
    tallest = max(*upper, *(bar.observed for bar in bars))

    def across(people: float) -> float:
        return column + people / reach * _PANEL_HALF_WIDTH

    def upward(errors: float) -> float:
        return base + errors / tallest * _PANEL_HEIGHT

    edges = [across(bar.low - 0.5) for bar in bars] + [across(reach)]
    axes.stairs([upward(bar.observed) for bar in bars], edges, baseline=base, fill=True, color=_BAR_COLOUR)
    axes.stairs(
        [upward(value) for value in upper],
        edges,
        baseline=[upward(value) for value in lower],
        fill=True,
        color=ACCENT,
        alpha=0.3,
        linewidth=0,
    )
    axes.stairs([upward(bar.expected) for bar in bars], edges, baseline=None, color=ACCENT, linewidth=0.9)
    axes.plot([edges[0], edges[-1]], [base, base], color=BORDER, linewidth=0.8)
    for margin in (-result.margin, result.margin):
        place = across(max(-reach, min(reach, margin)))
        axes.plot([place, place], [base, base - 0.06], color=INK, linewidth=0.8)
        text = plain_number(round(margin)).replace("-", "−")
        axes.text(place, base - 0.08, text, ha="center", va="top", fontsize=6, color=INK)
    outside = not result.is_expected
    axes.text(
        column + _PANEL_HALF_WIDTH,
        base + _PANEL_HEIGHT,
        share_text(result.coverage.share.value),
        ha="right",
        va="top",
        fontsize=6.5,
        color=ATTENTION if outside else MUTED,
        fontweight="bold" if outside else "normal",
    )


def coverage_chart(snapshot: RunSnapshot) -> Chart:
    """Return the observed coverage of every margin with its Monte-Carlo interval, beside the exact one."""
    outside = sum(not query.is_expected for query in snapshot.queries)
    overall, confidence = snapshot.overall, confidence_text(snapshot.forecast.conventions)
    if overall is None:
        raise ValueError("a run without noise has no coverage")
    error = overall.standard_error
    if math.isfinite(snapshot.error_between_trials):
        error = max(error, snapshot.error_between_trials)
    finding = (
        f"The {confidence} margins held {overall.share.value * 100:.2f} ± {share_text(error, 2)} of the noise, "
        f"as they should ({share_text(snapshot.overall_expected, 2)})"
    )
    if abs(overall.share.value - snapshot.overall_expected) > 4 * error:
        finding = (
            f"The {confidence} margins held {share_text(overall.share.value, 2)} of the noise, "
            f"but should hold {share_text(snapshot.overall_expected, 2)}"
        )
    description = (
        f"Observed share of noise within the scenario's margin for each of {len(snapshot.queries)} measured queries, "
        "dot with its 95 % Monte-Carlo interval, and the exact share as a tick. Outside their interval: "
        f"{outside or 'none'}; about {len(snapshot.queries) * _EXPECTED_OUTSIDE:.0f} are to be expected by chance."
    )
    return _interval_chart(
        snapshot,
        ("coverage", finding, description),
        "share of the noise within the margin",
        lambda result: (result.coverage.share.value, result.coverage.share.low, result.coverage.share.high),
        lambda result: result.expected_coverage,
        lambda value: share_text(value, 0),
    )


def observed_chart(snapshot: RunSnapshot) -> Chart:
    """Return the observed margin of every query relative to the exact one, with its Monte-Carlo interval."""
    agree = sum(
        result.observed_margin.low <= result.exact_margin <= result.observed_margin.high for result in snapshot.queries
    )
    confidence = confidence_text(snapshot.forecast.conventions)
    finding = (
        f"{agree} of {len(snapshot.queries)} observed margins agree with the exact {confidence} margin "
        "within Monte-Carlo error"
    )
    description = (
        f"Observed {confidence} quantile of the size of the noise divided by the exact margin, for each measured query, "
        "dot with its 95 % Monte-Carlo interval; the tick marks 1."
    )
    return _interval_chart(
        snapshot,
        ("observed", finding, description),
        "observed margin ÷ exact margin",
        _relative_margin,
        lambda _: 1.0,
        lambda value: f"{value:.2f}",
    )


def _relative_margin(result: QueryResult) -> tuple[float, float, float]:
    if result.exact_margin == 0:
        return math.nan, math.nan, math.nan
    found = result.observed_margin
    return found.value / result.exact_margin, found.low / result.exact_margin, found.high / result.exact_margin


def _interval_chart(
    snapshot: RunSnapshot,
    texts: tuple[str, str, str],
    label: str,
    interval: Callable[[QueryResult], tuple[float, float, float]],
    expected: Callable[[QueryResult], float],
    shown: Callable[[float], str],
) -> Chart:
    queries = [result.query for result in snapshot.queries]
    rows = row_places(queries)

    def draw(figure: FigureBase) -> None:
        panels = query_panels(figure, rows)
        for result in snapshot.queries:
            axes, place = panels[result.query.level.region], rows.place(result.query)
            value, low, high = interval(result)
            outside = not low <= expected(result) <= high
            colour = ATTENTION if outside else ACCENT
            axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
            axes.plot([value], [place], "D" if outside else "o", color=colour, markersize=4)
            axes.plot([expected(result)], [place], "|", color=INK, markersize=9, markeredgewidth=1.2)
        for axes in panels.values():
            axes.locator_params(axis="x", nbins=6)
            axes.xaxis.set_major_formatter(lambda value, _: shown(value))
            axes.grid(visible=True, axis="x")
            axes.set_xlabel(label)
        _interval_key(figure)

    identity, finding, description = texts
    return Chart(identity, finding, description, PAGE_WIDTH, rows.inches, draw)


def _interval_key(figure: FigureBase) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only figures pay for it

    handles = [
        Line2D([], [], marker="o", color=ACCENT, markersize=4, linewidth=1.6),
        Line2D([], [], marker="D", color=ATTENTION, markersize=4, linewidth=1.6),
        Line2D([], [], marker="|", color=INK, linestyle="", markersize=9),
    ]
    labels = ["observed, 95 % Monte-Carlo interval", "exact value outside the interval", "exact value"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)


def bias_chart(snapshot: RunSnapshot) -> Chart:
    """Return truncation bias and noise side by side for every truncated query, both as root mean squares."""
    levels = [
        level for level in snapshot.levels if table(level.query.table).truncated and table(level.query.table).measured
    ]
    larger = [level for level in levels if _noise_size(level, snapshot) < level.bias_rmse]
    if larger:
        worst = max(larger, key=lambda level: level.bias_rmse / max(_noise_size(level, snapshot), 1e-9))
        finding = (
            f"Truncation costs more than noise in {len(larger)} of {len(levels)} truncated queries,\n"
            f"most of all {worst.query.title}: {plain_number(round(worst.bias_rmse))} against "
            f"{plain_number(round(_noise_size(worst, snapshot)))}"
        )
    else:
        finding = f"Noise outweighs truncation bias in all {len(levels)} truncated queries"
    description = (
        "Root mean square over areas, groups and cells of the truncation bias (square) and of the noise (dot), in people, "
        "for each truncated query. Truncation is the same in every trial and no margin of error covers it."
    )
    rows = row_places([level.query for level in levels])

    def draw(figure: FigureBase) -> None:
        _draw_bias(figure, levels, snapshot, rows)

    return Chart("bias", finding, description, PAGE_WIDTH, rows.inches, draw)


def _noise_size(level: LevelResult, snapshot: RunSnapshot) -> float:
    """Return the root mean square of the noise: as observed, else as the parameters promise."""
    if math.isfinite(level.noise_rmse):
        return level.noise_rmse
    return snapshot.forecast.query(level.query).sigma or 0.0


def _draw_bias(figure: FigureBase, levels: Sequence[LevelResult], snapshot: RunSnapshot, rows: Any) -> None:
    panels = query_panels(figure, rows)
    sizes = [size for level in levels for size in (level.bias_rmse, _noise_size(level, snapshot)) if size > 0]
    low, high = (min(sizes) / 2, max(sizes) * 2.5) if sizes else (0.1, 10.0)
    for axes in panels.values():
        people_axis(axes, low=low, high=high)
        axes.set_xlabel("people, root mean square (log scale)")
    for level in levels:
        axes, place = panels[level.query.level.region], rows.place(level.query)
        noise = _noise_size(level, snapshot)
        if noise > 0 and level.bias_rmse > 0:
            axes.plot([noise, level.bias_rmse], [place, place], color=BORDER, linewidth=1.2, zorder=1)
        axes.plot([max(noise, low * 1.1)], [place], "o", color=ACCENT, markersize=4.5)
        axes.plot([max(level.bias_rmse, low * 1.1)], [place], "s", color=ATTENTION, markersize=4.5)
        if level.bias_rmse == 0:
            axes.annotate(
                "none", (low * 1.1, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7
            )
    _bias_key(figure)


def _bias_key(figure: FigureBase) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only figures pay for it

    handles = [
        Line2D([], [], marker="o", color=ACCENT, linestyle="", markersize=4.5),
        Line2D([], [], marker="s", color=ATTENTION, linestyle="", markersize=4.5),
    ]
    figure.legend(handles, ["noise", "truncation bias"], loc="outside lower center", ncols=2, fontsize=7.5)


def sizes_chart(snapshot: RunSnapshot) -> Chart:
    """Return the persons cut by household size, one panel per truncated table."""
    entries = list(snapshot.truncation)
    most = max(entries, key=cut_share)
    finding = f"Truncation cuts most in {most['table']}: {_cut(most):,} persons, {share_text(cut_share(most), 2)} of the table"
    if not _cut(most):
        finding = "Truncation cuts nobody: no household exceeds its threshold"
    description = (
        "Persons by household size in each truncated table, and how many of them are cut, on a logarithmic axis. Cut: "
        + "; ".join(f"{entry['table']} (τ = {entry['tau']}) {_cut(entry):,}" for entry in entries)
        + "."
    )

    def draw(figure: FigureBase) -> None:
        _draw_sizes(figure, entries)

    return Chart("sizes", finding, description, PAGE_WIDTH, 1.75 * math.ceil(len(entries) / 3) + 0.3, draw)


def _cut(entry: Mapping[str, Any]) -> int:
    return sum(int(row["cut"]) for row in entry["sizes"])


def cut_share(entry: Mapping[str, Any]) -> float:
    """Return the share of a table's persons that truncation cuts."""
    persons = sum(int(row["persons"]) for row in entry["sizes"])
    return _cut(entry) / persons if persons else 0.0


_LARGEST_SHOWN = 20
"""Household sizes from here on share one bar."""

_SHORTEST_AXIS = 12


def _draw_sizes(figure: FigureBase, entries: Sequence[Mapping[str, Any]]) -> None:
    columns = min(3, len(entries))
    panels = figure.subplots(math.ceil(len(entries) / columns), columns, squeeze=False)
    flat = [axes for line in panels for axes in line]
    for axes in flat[len(entries) :]:
        axes.set_axis_off()
    for axes, entry in zip(flat, entries, strict=False):
        persons: dict[int, int] = {}
        cut: dict[int, int] = {}
        for row in entry["sizes"]:
            size = min(int(row["size"]), _LARGEST_SHOWN)
            persons[size] = persons.get(size, 0) + int(row["persons"])
            cut[size] = cut.get(size, 0) + int(row["cut"])
        axes.bar(persons.keys(), persons.values(), color=ACCENT_SOFT, edgecolor=GHOST, linewidth=0.4, width=0.8)
        axes.bar(cut.keys(), cut.values(), color=ATTENTION, width=0.36)
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_ylim(bottom=0.5)
        axes.set_xlim(0.2, max(_SHORTEST_AXIS, *persons) + 0.8)
        axes.axvline(float(entry["tau"]) + 0.5, color=INK, linewidth=0.9, linestyle="--")
        axes.set_title(f"{entry['table']}, τ = {entry['tau']}: {_cut(entry):,} cut", fontsize=8, pad=4)
        axes.locator_params(axis="x", integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: plain_number(value))
        axes.tick_params(labelsize=6.5)
    flat[0].set_ylabel("persons (log scale)", fontsize=7)
    _sizes_key(figure)


def _sizes_key(figure: FigureBase) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only figures pay for it
    from matplotlib.patches import Patch  # noqa: PLC0415 - as above

    handles = [
        Patch(facecolor=ACCENT_SOFT, edgecolor=GHOST, linewidth=0.4),
        Patch(facecolor=ATTENTION),
        Line2D([], [], color=INK, linewidth=0.9, linestyle="--"),
    ]
    labels = [f"persons by size of their household ({_LARGEST_SHOWN} = or larger)", "of them cut", "threshold τ"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
