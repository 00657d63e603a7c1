"""The pictures of group sizes before any run: margins and shares by level, the noise of every mechanism."""

from __future__ import annotations

import math
from dataclasses import replace

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure, bar_figure, row_figure
from phexplore.figures.marks import Bar, Row
from phexplore.figures.table import Share, Table, Value
from phexplore.figures.wording import STROKE, margin_word, people, share_percent, significant
from phexplore.model.conventions import MarginConvention
from phexplore.model.group_sizes import SIZE_MECHANISMS, GroupSizes, SizeMechanism
from phexplore.model.rounded import ABSENT, percent
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import TwoSidedGeometric
from phexplore.systems.group_sizes.forecast import GroupSizesForecast, forecast_group_sizes


def scenario_figures(scenario: Scenario, compared: Scenario | None) -> tuple[Figure, ...]:
    """Return the pictures of the parameters: margins by level, the noise of every mechanism, the loss by level.

    Args:
        scenario: of group sizes, without errors.
        compared: what its margins stand beside, None for nothing.
    """
    before = None if compared is None else compared.group_sizes
    found = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    then = None if before is None else forecast_group_sizes(before, scenario.conventions)
    return (
        margins_figure(scenario, found, then),
        mechanisms_figure(scenario),
        levels_figure(scenario.group_sizes, before),
    )


def margins_figure(scenario: Scenario, figures: GroupSizesForecast, before: GroupSizesForecast | None = None) -> Figure:
    """Return two rows per level: the margin of a measured answer and of the number of groups of one size.

    Args:
        scenario: the parameters.
        figures: their forecast.
        before: forecast of what they are compared with, None for nothing.
    """
    convention = scenario.conventions.margin
    then = {level.level: level for level in before.levels} if before is not None else {}
    cumulative = scenario.group_sizes.mechanism.is_cumulative
    answer = "groups of at most a size" if cumulative else "groups of one size, measured"
    rows, table = [], []
    for level in figures.levels:
        was = then.get(level.level)
        pairs = [("one size", level.size_margins, None if was is None else was.size_margins)]
        if cumulative:
            # Where the reference measures the sizes themselves, an answer has the margin of a size: it is none of at most a size.
            has_answers = was is not None and was.answer_margins != was.size_margins
            pairs.insert(
                0, ("at most a size", level.answer_margins, was.answer_margins if was and has_answers else None)
            )
        for name, margins, earlier in pairs:
            value = margins.by(convention)
            old = None if earlier is None else earlier.by(convention)
            what = answer if name == "at most a size" else "groups of one size"
            tip = f"{level.level}: ±{people(value)} {what}, noise {level.noise.noise.name}, σ = {level.sigma:,.4g}"
            rows.append(
                Row(
                    level.level,
                    level.level,
                    name,
                    value=value,
                    low=0.0,
                    high=value,
                    tick=old,
                    text=f"±{people(value)}",
                    tip=tip,
                )
            )
            table.append((level.level, level.regions, level.answers, what, level.sigma, value, old))
    lowest = figures.levels[-1]
    title = f"The number of groups of one size has a margin of ±{people(lowest.size_margins.by(convention))} at the level {lowest.level}"
    rule = (
        f"{percent(scenario.conventions.confidence, places=None)} of the answers, {margin_word(convention)} convention"
    )
    if convention is MarginConvention.NORMAL and cumulative and isinstance(lowest.noise.noise, TwoSidedGeometric):
        # As in the accuracy report of PHSafe under pure differential privacy (`accuracy/margins.py`).
        rule += " (one noisy answer by the quantile of its noise, sums by their standard deviation)"
    return row_figure(
        "margins",
        rows,
        "margin of error, groups",
        title,
        f"{rule}, before sums are made to hold: that makes most errors smaller, and biased where counts are near 0; a run shows it."
        + (f" {STROKE}" if then else ""),
        Table(
            ("Level", "Regions", "Answers", "What", "σ, groups", "Margin, groups", "Margin in the reference, groups"),
            tuple(table),
        ),
    )


def mechanisms_figure(scenario: Scenario) -> Figure:
    """Return one bar per mechanism: the noise of the number of groups of one size at the lowest level, on the same budget."""
    method = scenario.group_sizes
    bars, rows = [], []
    noise: dict[bool, str] = {}
    for mechanism in SizeMechanism:
        try:
            figures = forecast_group_sizes(replace(method, mechanism=mechanism), scenario.conventions)
        except PhexploreError:
            continue
        level = figures.levels[-1]
        sigma = level.sigma * (math.sqrt(2) if mechanism.is_cumulative else 1)
        noise[mechanism.is_cumulative] = people(sigma)
        kept = "sums always hold" if mechanism.is_exact else "sums break"
        bars.append(
            Bar(
                None,
                "",
                SIZE_MECHANISMS[mechanism],
                sigma,
                None,
                f"σ {people(sigma)}" + (", chosen" if mechanism is method.mechanism else ""),
                f"{SIZE_MECHANISMS[mechanism]}: σ = {sigma:,.4g} groups of one size, {kept}",
            )
        )
        rows.append((SIZE_MECHANISMS[mechanism], sigma, kept, "yes" if mechanism is method.mechanism else "no"))
    direct, cumulative = noise.get(False, ABSENT), noise.get(True, ABSENT)
    lowest = method.levels[-1] if method.levels else ""
    return bar_figure(
        "mechanisms",
        tuple(bars),
        "standard deviation of a size, groups",
        f"On this budget a size has σ {direct} where sizes are measured, σ {cumulative} from cumulative ones"
        if direct != cumulative
        else f"On this budget a size has σ {direct} with every mechanism",
        f"Noise of one size at the level {lowest} before post-processing, same budget. The baselines break sums, the others never. What consistency makes of the noise has no formula.",
        Table(("Mechanism", "σ of a size, groups", "Sums", "Chosen"), tuple(rows)),
    )


def levels_figure(method: GroupSizes, reference: GroupSizes | None = None) -> Figure:
    """Return one bar per level: its share of the budget.

    Args:
        method: the parameters.
        reference: what they are compared with, None for nothing.
    """
    then = reference.level_shares if reference is not None else {}
    symbol = method.framework.symbol
    bars: list[Bar] = []
    rows: list[tuple[Value, ...]] = []
    for level in method.levels:
        share, before = method.level_shares[level], then.get(level)
        budget = method.budget(level)
        bars.append(
            Bar(
                level,
                "",
                level,
                float(share) * 100,
                None if before is None else float(before) * 100,
                f"{share_percent(share)}   {symbol} {significant(budget)}",
                f"{level}: {share_percent(share)} of {symbol} {significant(method.total)}",
                level in method.locked_levels,
            )
        )
        rows.append((level, Share(share), budget, None if before is None else Share(before)))
    equal = len(set(method.level_shares.values())) == 1
    return bar_figure(
        "levels",
        tuple(bars),
        f"share of the whole {symbol}, percent",
        "Every level takes the same share, as in the paper"
        if equal
        else "The levels take unequal shares of the privacy loss",
        "Regions of a level compose in parallel, levels add up." + (f" {STROKE}" if then else ""),
        Table(("Level", "Share", symbol, "Share in the reference"), tuple(rows)),
        most=100.0,
    )
