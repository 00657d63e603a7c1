"""What the pictures of group sizes and of releases under exact sums show before a run, as values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from phexplore.errors import PhexploreError
from phexplore.figures.table import Table, Value
from phexplore.gui.binding.mechanism_words import SIZE_MECHANISMS, capital
from phexplore.gui.binding.shown import Shown
from phexplore.gui.binding.wording import margin_word, people, percent
from phexplore.gui.charts.topdown_bars import BarsContent, ValueBar
from phexplore.gui.charts.topdown_rows import MarkRow, RowScale, RowsContent
from phexplore.gui.systems.topdown.wording import share_percent, significant
from phexplore.model.group_sizes import SizeMechanism
from phexplore.systems.group_sizes.forecast import GroupSizesForecast, forecast_group_sizes
from phexplore.systems.subspace.forecast import Alternative, ReleaseForecast, SubspaceForecast

MOST_CLASSES = 60
"""Kinds of answers of a release that get a row; the table has them all."""


def level_margin_rows(shown: Shown, figures: GroupSizesForecast) -> RowsContent:
    """Return two rows per level: the margin of a measured answer and of the number of groups of one size."""
    convention = shown.scenario.conventions.margin
    before = shown.reference_group_sizes
    then = {level.level: level for level in before.levels} if before is not None else {}
    cumulative = shown.scenario.group_sizes.mechanism.is_cumulative
    answer = "groups of at most a size" if cumulative else "groups of one size, measured"
    rows, table = [], []
    for level in figures.levels:
        pairs = [("a size", level.size_margins, then[level.level].size_margins if level.level in then else None)]
        if cumulative:
            pairs.insert(0, ("as measured", level.answer_margins, None))
        for name, margins, was in pairs:
            value = margins.by(convention)
            old = None if was is None else was.by(convention)
            what = answer if name == "as measured" else "groups of one size"
            tip = f"{level.level}: ±{people(value)} {what}, noise {level.noise.noise.name}, σ = {level.sigma:,.4g}"
            rows.append(
                MarkRow(
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
    title = f"A size is within ±{people(lowest.size_margins.by(convention))} groups at the level {lowest.level}"
    rule = f"{percent(shown.scenario.conventions.confidence, places=0)} of the answers, {margin_word(convention)} convention"
    return RowsContent(
        tuple(rows),
        "margin of error, groups",
        title,
        f"{rule}, before sums are made to hold: that makes most errors smaller, and biased where counts are near 0; a run shows it.",
        Table(
            ("Level", "Regions", "Answers", "What", "σ, groups", "Margin, groups", "Margin in the reference, groups"),
            tuple(table),
        ),
        RowScale.LINEAR,
    )


def size_mechanism_bars(shown: Shown) -> BarsContent:
    """Return one bar per mechanism: the noise of the number of groups of one size at the lowest level, on the same budget."""
    scenario = shown.scenario
    method = scenario.group_sizes
    bars, rows = [], []
    for mechanism in SizeMechanism:
        try:
            figures = forecast_group_sizes(replace(method, mechanism=mechanism), scenario.conventions)
        except PhexploreError:
            continue
        level = figures.levels[-1]
        sigma = level.sigma * (math.sqrt(2) if mechanism.is_cumulative else 1)
        kept = "sums always hold" if mechanism.is_exact else "sums break"
        bars.append(
            ValueBar(
                None,
                "",
                SIZE_MECHANISMS[mechanism],
                sigma,
                None,
                f"σ {people(sigma)}, {kept}" + (" (chosen)" if mechanism is method.mechanism else ""),
                f"{SIZE_MECHANISMS[mechanism]}: σ = {sigma:,.4g} groups of one size, {kept}",
            )
        )
        rows.append((SIZE_MECHANISMS[mechanism], sigma, kept, "yes" if mechanism is method.mechanism else "no"))
    sigmas = {bar.value for bar in bars}
    direct, cumulative = (max(sigmas), min(sigmas)) if sigmas else (0.0, 0.0)
    lowest = method.levels[-1] if method.levels else ""
    return BarsContent(
        tuple(bars),
        "standard deviation of a size, groups",
        f"On this budget a size has σ {people(direct)} where sizes are measured, σ {people(cumulative)} from cumulative ones"
        if direct > cumulative
        else f"On this budget a size has σ {people(direct)} with every mechanism",
        f"Noise of one size at the level {lowest} before post-processing, same budget. What consistency makes of it has no formula.",
        Table(("Mechanism", "σ of a size, groups", "Sums", "Chosen"), tuple(rows)),
    )


def size_share_bars(shown: Shown) -> BarsContent:
    """Return one bar per level: its share of the budget."""
    method = shown.scenario.group_sizes
    reference = shown.reference.scenario.group_sizes if shown.reference is not None else None
    then = reference.level_shares if reference is not None else {}
    symbol = method.framework.symbol
    bars: list[ValueBar] = []
    rows: list[tuple[Value, ...]] = []
    for level in method.levels:
        share, before = method.level_shares[level], then.get(level)
        budget = method.budget(level)
        bars.append(
            ValueBar(
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
        rows.append((level, share, budget, before))
    equal = len(set(method.level_shares.values())) == 1
    return BarsContent(
        tuple(bars),
        f"share of the whole {symbol}, percent",
        "Every level takes the same share, as in the paper"
        if equal
        else "The levels take unequal shares of the privacy loss",
        "Regions of a level compose in parallel, levels add up.",
        Table(("Level", "Share", symbol, "Share in the reference"), tuple(rows)),
    )


def alternative_bars(shown: Shown, found: Sequence[tuple[str, Sequence[Alternative]]]) -> BarsContent:
    """Return one bar per mechanism and release: the expected squared error on the same budget.

    Args:
        shown: what is shown.
        found: per release what every mechanism would give.
    """
    method = shown.scenario.subspace
    bars: list[ValueBar] = []
    rows: list[tuple[Value, ...]] = []
    best: tuple[float, str] | None = None
    for release, choices in found:
        chosen = method.releases.get(release)
        for each in choices:
            name = capital(each.mechanism.title) + (f", basis {each.basis.value}" if each.basis is not None else "")
            is_chosen = chosen is not None and each.mechanism is chosen.mechanism and each.basis in {None, chosen.basis}
            rows.append((release, name, each.squared_error, each.why_not, "yes" if is_chosen else "no"))
            if each.squared_error is None:
                continue
            if best is None or each.squared_error < best[0]:
                best = (each.squared_error, name)
            text = people(each.squared_error) + (" (chosen)" if is_chosen else "")
            group = release if len(found) > 1 else ""
            bars.append(ValueBar(release, group, name, each.squared_error, None, text, f"{name}: {text} people²"))
    if best is None:
        title = "No mechanism fits these parameters; the table says why"
    else:
        title = f"Least expected error: {best[1]}"
    left_out = sum(row[2] is None for row in rows)
    more = f" {left_out} that cannot be used are in the table with the reason." if left_out else ""
    return BarsContent(
        tuple(bars),
        "expected squared error, people²",
        title,
        f"Sum over all answers of a release, analytic, same ε and δ.{more}",
        Table(("Release", "Mechanism", "Expected squared error, people²", "Why not", "Chosen"), tuple(rows)),
    )


def answer_margin_rows(shown: Shown, figures: SubspaceForecast) -> RowsContent:
    """Return one row per kind of answer: its margin."""
    convention = shown.scenario.conventions.margin
    rows: list[MarkRow] = []
    table: list[tuple[Value, ...]] = []
    for release in figures.releases:
        for kind in release.classes:
            value = kind.margins.by(convention)
            name = f"{kind.answers:,} answers" if kind.answers > 1 else f"answer {kind.first:,}"
            table.append((release.plan.name, name, kind.unit_variance, kind.variance, value))
            if len(rows) < MOST_CLASSES:
                tip = f"{name} of {release.plan.name}: variance {kind.variance:,.4g}, ±{people(value)}"
                rows.append(
                    MarkRow(
                        release.plan.name,
                        release.plan.name,
                        name,
                        value=value,
                        low=0.0,
                        high=value,
                        text=f"±{people(value)}",
                        tip=tip,
                    )
                )
    widest = max((row.value or 0.0 for row in rows), default=0.0)
    rule = f"{percent(shown.scenario.conventions.confidence, places=0)}, {margin_word(convention)} convention"
    more = f" {len(table) - len(rows):,} more kinds are in the table." if len(table) > len(rows) else ""
    factors = " ".join(_factor(release) for release in figures.releases)
    return RowsContent(
        tuple(rows),
        "margin of error, people",
        f"Every answer is within ±{people(widest)} people",
        f"{rule}. {factors}{more}",
        Table(("Release", "Answers", "Variance at unit noise", "Variance, people²", "Margin, people"), tuple(table)),
        RowScale.LINEAR,
    )


def _factor(release: ReleaseForecast) -> str:
    near = release.approximation
    name = release.plan.name
    if near.factor is None:
        return f"{name}: {near.words}."
    return f"{name}: at most {near.factor:.3f} times {near.words.removeprefix('of ')}."
