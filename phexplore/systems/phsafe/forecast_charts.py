"""Figures of a scenario before any run: margins, shares of the privacy loss, and what ρ means as (ε, δ)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from phexplore.figures.style import (
    ACCENT,
    ATTENTION,
    GHOST,
    INK,
    MUTED,
    PAGE_WIDTH,
    Chart,
    people_axis,
    plain_number,
)
from phexplore.figures.to_matplotlib import chart_of
from phexplore.model.conventions import Conventions, MarginConvention
from phexplore.model.keys import Region
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.epsilon_curves import epsilon_figure
from phexplore.systems.phsafe.forecast import Forecast
from phexplore.systems.phsafe.query_rows import QueryRows, query_panels, row_places
from phexplore.systems.phsafe.share_figure import shares_figure
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot
from phexplore.systems.phsafe.table10 import Table10Row, keeps_target, table10_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_KEY_CHARACTERS = 44
"""Of the compared scenario's name: the key stays on one line."""


def scenario_charts(snapshot: ScenarioSnapshot) -> tuple[Chart, ...]:
    """Return the figures of a scenario, most asked for first; those that would say nothing are left out."""
    charts = [margins_chart(snapshot)]
    if isinstance(snapshot.forecast.privacy.total, Fraction) and snapshot.forecast.privacy.total > 0:
        charts.append(chart_of(shares_figure(snapshot.forecast)))
        if snapshot.forecast.privacy.framework is PrivacyFramework.ZCDP:
            charts.append(chart_of(epsilon_figure(snapshot.forecast)))
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


def power_text(value: float) -> str:
    """Return a power of ten in print, e.g. ``10⁻¹⁰``; other values in e-notation."""
    mantissa, _, exponent = f"{value:.0e}".partition("e")
    if mantissa != "1":
        return f"{value:.0e}"
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
