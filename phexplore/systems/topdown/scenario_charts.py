"""Figures of a TopDown scenario before any run: margins by level and query, where the loss goes, what can be learned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phexplore.figures.style import ACCENT, BORDER, INK, MUTED, PAGE_WIDTH, Chart, plain_number
from phexplore.figures.to_matplotlib import chart_of
from phexplore.model.conventions import Conventions
from phexplore.model.numbers import exact_text
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.figures import level_figure, semantics_figure
from phexplore.systems.topdown.forecast import TopDownForecast

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

_ROW, _HEAD = 0.27, 0.75
"""Inches of a row, and of everything around the rows."""
_DARK = 0.55
"""Part of the colour scale from which numbers are written in white."""


def level_word(level: str) -> str:
    """Return a level for people."""
    return level if level == "US" else level.replace("_", " ").lower()


def topdown_scenario_charts(
    method: TopDown, figures: TopDownForecast, compared: TopDown | None = None
) -> tuple[Chart, ...]:
    """Return the figures of a scenario, most asked for first."""
    charts = [chart_of(level_figure(method, compared)), heat_chart(method, figures)]
    if figures.attributes or figures.block_within:
        charts.append(chart_of(semantics_figure(figures)))
    return tuple(charts)


def margins_of(figures: TopDownForecast) -> dict[LevelQuery, float]:
    """Return the margin of one answer by level and query, of what is measured."""
    convention = figures.conventions.margin
    return {entry.key: float(entry.margins.by(convention)) for entry in figures.entries if entry.margins is not None}


def heat_chart(method: TopDown, figures: TopDownForecast) -> Chart:
    """Return the margin of every query group at every level as numbers on a tint: the darker, the wider."""
    margins = margins_of(figures)
    queries = list(dict.fromkeys(key.query for key in method.query_shares))
    narrow, wide = _ends(margins)
    confidence = confidence_words(figures.conventions)
    finding = "Nothing is measured"
    if narrow is not None and wide is not None:
        finding = (
            f"One answer is measured to ± {_people(margins[narrow])} people at best ({narrow.query}, {level_word(narrow.level)}), "
            f"\nto ± {_people(margins[wide])} at worst ({wide.query}, {level_word(wide.level)})"
        )
    description = (
        f"Table of numbers on a tint: {confidence} margin of error of one answer in people, a row per query group, a column per level; "
        "the darker, the wider; empty where a query is not asked. Before post-processing, which makes most of them smaller."
    )

    def draw(figure: FigureBase) -> None:
        _draw_heat(figure, method.levels, queries, margins)

    return Chart("margins", finding, description, PAGE_WIDTH, 0.8 + _ROW * len(queries), draw)


def _ends(margins: Mapping[LevelQuery, float]) -> tuple[LevelQuery | None, LevelQuery | None]:
    if not margins:
        return None, None
    return min(margins, key=margins.__getitem__), max(margins, key=margins.__getitem__)


def _draw_heat(
    figure: FigureBase, levels: Sequence[str], queries: Sequence[str], margins: Mapping[LevelQuery, float]
) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - only figures pay for it

    axes = figure.subplots()
    logs = [math.log10(max(value, 0.01)) for value in margins.values()] or [0.0]
    low, high = min(logs), max(logs)
    for row, query in enumerate(reversed(queries)):
        for column, level in enumerate(levels):
            value = margins.get(LevelQuery(level, query))
            if value is None:
                axes.text(column, row, "–", ha="center", va="center", fontsize=7, color=MUTED)
                continue
            part = (math.log10(max(value, 0.01)) - low) / ((high - low) or 1.0)
            tint = tuple(1 - part * (1 - channel) for channel in _rgb(ACCENT))
            axes.add_patch(
                Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=tint, edgecolor=BORDER, linewidth=0.4)
            )
            ink = "#ffffff" if part > _DARK else INK
            axes.text(column, row, _people(value), ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.set_ylim(-0.5, len(queries) - 0.5)
    axes.set_yticks(range(len(queries)), [_short(query) for query in reversed(queries)], fontsize=7.5, color=INK)
    axes.set_xticks(range(len(levels)), [level_word(level) for level in levels], fontsize=7.5, color=INK)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def confidence_words(conventions: Conventions) -> str:
    """Return the confidence, e.g. ``90 %``."""
    return f"{exact_text(conventions.confidence * 100)} %"


def _percent(share: float, places: int = 2) -> str:
    return f"{share * 100:.{places}f} %"


def _people(value: float) -> str:
    return plain_number(round(value)) if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _short(query: str) -> str:
    words = query.replace(" * ", " × ")
    return words if len(words) <= 34 else words[:33] + "…"


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue
