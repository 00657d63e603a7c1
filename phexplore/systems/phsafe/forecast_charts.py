"""Figures of a scenario before any run: margins, shares of the privacy loss, and what ρ means as (ε, δ)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from phexplore.accounting.zcdp import epsilon
from phexplore.figures.look import (
    ACCENT,
    ATTENTION,
    BORDER,
    GHOST,
    INK,
    LEVEL_LOOKS,
    MUTED,
    PAGE_WIDTH,
    Chart,
    people_axis,
    plain_number,
)
from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours
from phexplore.model.keys import Iteration, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.forecast import Forecast
from phexplore.systems.phsafe.query_rows import QueryRows, query_panels, row_places
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot
from phexplore.systems.phsafe.table10 import Table10Row, keeps_target, percent_text, table10_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_HAIRLINE = 0.004
"""A part of a bar narrower than this share of the longest bar would vanish behind a white edge."""

_KEY_CHARACTERS = 44
"""Of the compared scenario's name: the key stays on one line."""

_LABELLED_SHARE = 0.035
"""A part of a bar narrower than this has no room for its own number."""

CURVE_DELTAS = tuple(Fraction(1, 10**power) for power in range(16, 3, -1))
"""δ of the curve, 1e-16 to 1e-4: around the 1e-10 of the production certificates."""


def scenario_charts(snapshot: ScenarioSnapshot) -> tuple[Chart, ...]:
    """Return the figures of a scenario, most asked for first; those that would say nothing are left out."""
    charts = [margins_chart(snapshot)]
    if isinstance(snapshot.forecast.privacy.total, Fraction) and snapshot.forecast.privacy.total > 0:
        charts.append(shares_chart(snapshot))
        if snapshot.forecast.privacy.framework is PrivacyFramework.ZCDP:
            charts.append(epsilon_chart(snapshot.forecast))
    return tuple(charts)


def convention_name(conventions: Conventions) -> str:
    """Return the margin convention in two words, e.g. ``normal, z = 1.645``."""
    if conventions.margin is MarginConvention.NORMAL and conventions.confidence == Fraction(9, 10):
        return f"normal, z = {exact_text(conventions.z)}"
    return {MarginConvention.PAPER: "paper, ⌊1.64 σ⌋"}.get(conventions.margin, conventions.margin.value)


def confidence_text(conventions: Conventions) -> str:
    """Return the confidence, e.g. ``90 %``."""
    return f"{exact_text(conventions.confidence * 100)} %"


def margins_chart(snapshot: ScenarioSnapshot) -> Chart:
    """Return the dot plot of every margin with its target and, when there is one, the compared scenario's margin."""
    rows = table10_rows(snapshot.scenario, snapshot.forecast)
    compared = snapshot.comparison.forecast if snapshot.comparison else None
    height = row_places(row.query for row in rows).inches
    finding = margins_finding(rows, snapshot.forecast.conventions)

    def draw(figure: FigureBase) -> None:
        _draw_margins(figure, rows, snapshot.forecast.conventions, compared, _comparison_name(snapshot))

    return Chart("margins", finding, _margins_description(rows, snapshot), PAGE_WIDTH, height, draw)


def margins_finding(rows: Sequence[Table10Row], conventions: Conventions) -> str:
    """Return what the margins say: how many targets are kept, and the worst miss."""
    published = [row for row in rows if row.published]
    if not published:
        return "Nothing is published: every budget is 0"
    judged = [(row, keeps) for row in published if (keeps := keeps_target(row, conventions)) is not None]
    missed = [row for row, keeps in judged if not keeps]
    if not judged:
        low, high = _range([margin for row in published if (margin := _margin(row, conventions)) is not None])
        return f"The margins of {len(published)} queries lie between {low} and {high} people"
    if not missed:
        return f"All {len(judged)} margins keep their target, to the nearest person"
    worst = max(missed, key=lambda row: (_margin(row, conventions) or 0) / float(row.target or 1))
    reached = plain_number(round(_margin(worst, conventions) or 0))
    what = f"{worst.query.title}, {reached} instead of {exact_text(worst.target or Fraction(0))}"
    if len(missed) == 1:
        return f"One of {len(judged)} margins misses its target: {what}"
    return f"{len(missed)} of {len(judged)} margins miss their target, most of all\n{what}"


def _range(margins: Sequence[float]) -> tuple[str, str]:
    return plain_number(round(min(margins))), plain_number(round(max(margins)))


def _margin(row: Table10Row, conventions: Conventions) -> float | None:
    return None if row.margins is None else row.margins.by(conventions.margin)


def _comparison_name(snapshot: ScenarioSnapshot) -> str:
    return snapshot.comparison.name if snapshot.comparison else ""


def _margins_description(rows: Sequence[Table10Row], snapshot: ScenarioSnapshot) -> str:
    conventions = snapshot.forecast.conventions
    unpublished = sum(not row.published for row in rows)
    return (
        f"Dot plot on a logarithmic axis: the {confidence_text(conventions)} margin of error of one basis cell for each "
        f"of {len(rows) - unpublished} published queries, nation left and states right, {convention_name(conventions)} "
        f"convention, with its target as a tick. Not published: {unpublished or 'none'}. "
        "The same figures stand in the table of parameters."
    )


def _draw_margins(
    figure: FigureBase, rows: Sequence[Table10Row], conventions: Conventions, compared: Forecast | None, name: str
) -> None:
    lines = row_places(row.query for row in rows)
    panels = query_panels(figure, lines)
    low, high = _limits(rows, conventions, compared)
    for region, axes in panels.items():
        people_axis(axes, low=low, high=high)
        for row in rows:
            if row.query.level.region is region:
                _draw_row(axes, row, lines.place(row.query), conventions, low)
        if compared is not None:
            _draw_compared(axes, rows, region, lines, compared, conventions)
    panels[Region.NATION].set_xlabel(
        f"{confidence_text(conventions)} margin ({convention_name(conventions)}), log scale"
    )
    panels[Region.STATE].set_xlabel("people; denominators: housing units")
    _margins_key(figure, name)


def _limits(rows: Sequence[Table10Row], conventions: Conventions, compared: Forecast | None) -> tuple[float, float]:
    values = [margin for row in rows if (margin := _margin(row, conventions))]
    values += [float(row.target) for row in rows if row.target is not None]
    if compared is not None:
        values += [
            margin for entry in compared.queries if entry.margins and (margin := entry.margins.by(conventions.margin))
        ]
    if not values:
        return 1, 1000
    return min(values) / 2.2, max(values) * 3.2


def _draw_row(axes: Axes, row: Table10Row, place: float, conventions: Conventions, low: float) -> None:
    margin = _margin(row, conventions)
    if margin is None:
        axes.text(low * 1.08, place, "not published", color=MUTED, va="center", fontsize=7, style="italic")
        return
    if row.target is not None:
        axes.plot([float(row.target)], [place], "|", color=INK, markersize=9, markeredgewidth=1.2, zorder=3)
    missed = keeps_target(row, conventions) is False
    colour = ATTENTION if missed else ACCENT
    axes.plot([max(margin, low * 1.15)], [place], "D" if missed else "o", color=colour, markersize=4.5, zorder=4)
    text = "no noise" if margin == 0 else plain_number(round(margin) if margin >= 10 else margin)
    # Right of both marks, unless the target lies so far off that the number would seem to belong to it.
    beyond = row.target is not None and float(row.target) > 1.2 * margin > 0
    anchor = margin if beyond or margin == 0 else max(margin, float(row.target or 0))
    axes.annotate(
        text,
        (max(anchor, low * 1.15), place),
        xytext=(-7 if beyond else 7, 0),
        textcoords="offset points",
        ha="right" if beyond else "left",
        va="center",
        fontsize=7,
        color=colour if missed else INK,
        fontweight="bold" if missed else "normal",
    )


def _draw_compared(
    axes: Axes,
    rows: Sequence[Table10Row],
    region: Region,
    lines: QueryRows,
    compared: Forecast,
    conventions: Conventions,
) -> None:
    known = {entry.query: entry.margins for entry in compared.queries}
    for row in rows:
        margins = known.get(row.query)
        if row.query.level.region is not region or margins is None:
            continue
        place = lines.place(row.query)
        axes.plot(
            [margins.by(conventions.margin)], [place], "o", mfc="none", mec=GHOST, markersize=8, mew=1.0, zorder=2
        )


def _margins_key(figure: FigureBase, compared: str) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - only figures pay for it

    marks = [
        (Line2D([], [], marker="o", color=ACCENT, linestyle="", markersize=4.5), "margin"),
        (Line2D([], [], marker="D", color=ATTENTION, linestyle="", markersize=4.5), "margin above its target"),
        (Line2D([], [], marker="|", color=INK, linestyle="", markersize=9), "target"),
    ]
    if compared:
        ghost = Line2D([], [], marker="o", mfc="none", mec=GHOST, linestyle="", markersize=8)
        marks.append((ghost, compared if len(compared) <= _KEY_CHARACTERS else compared[: _KEY_CHARACTERS - 1] + "…"))
    handles, labels = zip(*marks, strict=True)
    figure.legend(handles, labels, loc="outside lower center", ncols=len(marks), fontsize=7.5, handletextpad=0.5)


def shares_chart(snapshot: ScenarioSnapshot) -> Chart:
    """Return the stacked bars of the privacy loss per table, largest first.

    Raises:
        ValueError: there is no loss to share.
    """
    rows = table10_rows(snapshot.scenario, snapshot.forecast)
    shares = {row.query: row.share for row in rows if row.share}
    if not shares:
        raise ValueError("there is no privacy loss to share")
    per_table: dict[TableId, Fraction] = {}
    for query, share in shares.items():
        per_table[query.table] = per_table.get(query.table, Fraction(0)) + share
    order = sorted(per_table, key=lambda table: -per_table[table])
    largest = max(shares, key=lambda query: shares[query])
    finding = f"{largest.title} takes {percent_text(shares[largest], 1)} % of the privacy loss"
    description = "Stacked bars, one per table, of the share of the total privacy loss by population-group level. " + (
        "; ".join(f"{table} {percent_text(per_table[table], 1)} %" for table in order) + "."
    )

    def draw(figure: FigureBase) -> None:
        _draw_shares(figure, order, per_table, shares)

    return Chart("shares", finding, description, PAGE_WIDTH, 0.27 * len(order) + 0.95, draw)


_STACK = tuple(
    PopulationGroupLevel(region, iteration)
    for region in (Region.STATE, Region.NATION)
    for iteration in (Iteration.MAJOR_RACES, Iteration.ETHNICITY, Iteration.ALL)
)
"""The order inside a bar: the levels that take most come first and share the zero line."""


def _draw_shares(
    figure: FigureBase,
    order: Sequence[TableId],
    per_table: dict[TableId, Fraction],
    shares: dict[QueryKey, Fraction],
) -> None:
    axes = figure.subplots()
    largest = float(max(per_table.values()))
    for place, table in enumerate(order):
        start = 0.0
        for level in _STACK:
            share = float(shares.get(QueryKey(table, level), Fraction(0)))
            if not share:
                continue
            narrow = share < _HAIRLINE * largest
            axes.barh(
                place,
                share,
                left=start,
                height=0.68,
                color=LEVEL_LOOKS[level].colour,
                edgecolor=LEVEL_LOOKS[level].colour if narrow else "white",
                linewidth=0.1 if narrow else 0.5,
            )
            if share > _LABELLED_SHARE * largest / 0.5:
                axes.text(
                    start + share / 2,
                    place,
                    f"{share:.1%}".replace("%", " %"),
                    ha="center",
                    va="center",
                    color="white",
                    fontsize=7.5,
                    fontweight="bold",
                )
            start += share
        axes.text(start + largest * 0.008, place, f"{percent_text(per_table[table], 1)} %", va="center", fontsize=8)
    axes.set_yticks(range(len(order)), order, color=INK)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(0, largest * 1.1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value * 100:.0f} %")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of the total privacy loss; the levels from left to right as below")
    axes.grid(visible=True, axis="x")
    _level_key(figure, [level for level in _STACK if any(query.level == level for query in shares)])


def _level_key(figure: FigureBase, levels: Sequence[PopulationGroupLevel]) -> None:
    """Name the levels in the order they stand in the bars, so that the order tells them apart as well as the colour."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - only figures pay for it

    handles = [Patch(facecolor=LEVEL_LOOKS[level].colour) for level in levels]
    titles = [level.title for level in levels]
    figure.legend(handles, titles, loc="outside lower center", ncols=len(levels), fontsize=7.5, handletextpad=0.5)


_CURVE_NAMES = {
    Conversion.BUN_STEINKE: "ρ + 2 √(ρ ln 1/δ)",
    Conversion.ZCDP_OPTIMAL_ALPHA: "optimal α",
    Conversion.GAUSSIAN_CONTINUOUS: "Gaussian (approx.)",
}
_CURVE_STYLES = {
    Conversion.BUN_STEINKE: (MUTED, "--", 1.3),
    Conversion.ZCDP_OPTIMAL_ALPHA: (ACCENT, "-", 2.0),
    Conversion.GAUSSIAN_CONTINUOUS: (GHOST, ":", 1.5),
}


def epsilon_chart(forecast: Forecast) -> Chart:
    """Return the (ε, δ) curves of the headline ρ under the named conversions, with the headline δ marked.

    Raises:
        ValueError: the loss is 0, unlimited, or not zCDP.
    """
    rho, conventions = forecast.headline, forecast.conventions
    if isinstance(rho, Unlimited) or rho == 0 or forecast.privacy.framework is not PrivacyFramework.ZCDP:
        raise ValueError("only a finite, positive ρ has an (ε, δ) curve")
    values = {conversion: epsilon(rho, conventions.delta, conversion) for conversion in Conversion}
    delta, tightest = power_text(float(conventions.delta)), values[Conversion.ZCDP_OPTIMAL_ALPHA]
    side = "Bounded" if conventions.neighbours is Neighbours.BOUNDED else "Unbounded"
    finding = f"{side} ρ = {exact_text(rho)} means ε = {tightest:.2f} at δ = {delta}"
    description = (
        f"Curves of ε against δ for {side.lower()} ρ = {exact_text(rho)}. At δ = {delta}: "
        + ", ".join(f"{_CURVE_NAMES[conversion]}: {value:.3f}" for conversion, value in values.items())
        + "."
    )

    def draw(figure: FigureBase) -> None:
        _draw_epsilon(figure, rho, conventions.delta, values)

    return Chart("epsilon", finding, description, PAGE_WIDTH, 2.9, draw)


def _draw_epsilon(figure: FigureBase, rho: Fraction, delta: Fraction, values: dict[Conversion, float]) -> None:
    axes = figure.subplots()
    deltas = sorted({*CURVE_DELTAS, delta})
    curves = {conversion: [epsilon(rho, point, conversion) for point in deltas] for conversion in values}
    low, high = min(map(min, curves.values())), max(map(max, curves.values()))
    for conversion, curve in curves.items():
        colour, line, width = _CURVE_STYLES[conversion]
        axes.plot([float(point) for point in deltas], curve, line, color=colour, linewidth=width)
        axes.plot([float(delta)], [values[conversion]], "o", color=colour, markersize=5, zorder=4)
    axes.axvline(float(delta), color=BORDER, linewidth=1, zorder=0)
    axes.set_xscale("log")
    axes.set_xlim(float(deltas[0]) / 2, float(deltas[-1]) * 2)
    axes.set_ylim(low - 0.12 * (high - low), high + 0.06 * (high - low))
    axes.xaxis.set_major_formatter(lambda value, _: power_text(value))
    axes.set_xlabel("δ (log scale)")
    axes.set_ylabel("ε")
    axes.grid(visible=True, axis="y")
    gap = 0.075 * (high - low)
    ends = {conversion: curve[-1] for conversion, curve in curves.items()}
    _label_curves(axes, float(deltas[-1]), ends, gap, values)


def _label_curves(
    axes: Axes, place: float, ends: dict[Conversion, float], gap: float, values: dict[Conversion, float]
) -> None:
    """Write name and marked value at the end of each curve, moved apart where the curves are close."""
    order = sorted(ends, key=lambda conversion: ends[conversion])
    for conversion, height in zip(order, spread([ends[conversion] for conversion in order], gap), strict=True):
        strong = conversion is Conversion.ZCDP_OPTIMAL_ALPHA
        axes.annotate(
            f"{values[conversion]:.2f}  {_CURVE_NAMES[conversion]}",
            (place, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=ACCENT if strong else MUTED,
            fontweight="bold" if strong else "normal",
            fontsize=8,
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights moved as little as needed so that neighbours keep a gap, around the same middle."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    if not placed:
        return placed
    shift = (sum(placed) - sum(heights)) / len(placed)
    return [height - shift for height in placed]


def power_text(value: float) -> str:
    """Return a power of ten in print, e.g. ``10⁻¹⁰``; other values in e-notation."""
    mantissa, _, exponent = f"{value:.0e}".partition("e")
    if mantissa != "1":
        return f"{value:.0e}"
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
