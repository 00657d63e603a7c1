"""The figures of group sizes read from six metres away, each with its change. No Qt."""

from __future__ import annotations

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, margin_word, people, percent
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import UNKNOWN, difference
from phexplore.systems.registry import absurd_epsilon


def size_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return budget, margin at the lowest level, and whether sums hold."""
    method, figures = shown.scenario.group_sizes, shown.figures
    symbol = method.framework.symbol
    before = shown.reference.scenario.group_sizes if shown.reference is not None else None
    change, tone = "one individual more or less", Tone.NEUTRAL
    if before is not None:
        if before.framework is not method.framework:
            change, tone = "not comparable: the reference has another definition", Tone.ATTENTION
        else:
            change, tone = difference(method.total - before.total, before.total)
    if said := absurd_epsilon(shown.scenario):
        change, tone = said, Tone.ATTENTION
    loss = TileContent(f"Privacy loss {symbol}", budget_text(method.total), _levels(len(method.levels)), change, tone)
    lowest = figures.levels[-1] if figures is not None and figures.levels else None
    if lowest is None:
        margin = TileContent("Margin of one size", UNKNOWN, "", "see the issues", Tone.REFUSED)
    else:
        conventions = shown.scenario.conventions
        rule = f"{percent(conventions.confidence, places=0)}, {margin_word(conventions.margin)}, before sums are made to hold"
        margin = TileContent(
            f"Margin of one size, {lowest.level}",
            f"±{people(lowest.size_margins.by(conventions.margin))}",
            "groups",
            rule,
        )
    holds = method.mechanism.is_exact
    sums = TileContent(
        "Regions add up",
        "always" if holds else "not always",
        "",
        "whole numbers of 0 or more, total exact" if holds else "a baseline: broken sums are counted in a run",
        Tone.NEUTRAL if holds else Tone.ATTENTION,
    )
    return loss, margin, sums


def _levels(count: int) -> str:
    return f"over {count} level" + ("" if count == 1 else "s")
