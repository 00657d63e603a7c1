"""The figures of group sizes and subspace releases read from six metres away, each with its change. No Qt."""

from __future__ import annotations

import math
from fractions import Fraction

from phexplore.figures.wording import budget_text, margin_word, people, percent, power_text, significant
from phexplore.gui.binding.headline import TileContent, Tone
from phexplore.gui.binding.shown import Shown
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import absurd_epsilon

_UNKNOWN = "–"


def size_tiles(shown: Shown) -> tuple[TileContent, ...]:
    """Return budget, margin at the lowest level, and whether sums hold."""
    method, figures = shown.scenario.group_sizes, shown.group_sizes
    symbol = method.framework.symbol
    before = shown.reference.scenario.group_sizes if shown.reference is not None else None
    change, tone = "one individual more or less", Tone.NEUTRAL
    if before is not None:
        if before.framework is not method.framework:
            change, tone = "not comparable: the reference has another definition", Tone.ATTENTION
        else:
            change, tone = _difference(method.total - before.total, before.total)
    if said := absurd_epsilon(shown.scenario):
        change, tone = said, Tone.ATTENTION
    loss = TileContent(f"Privacy loss {symbol}", budget_text(method.total), _levels(len(method.levels)), change, tone)
    lowest = figures.levels[-1] if figures is not None and figures.levels else None
    if lowest is None:
        margin = TileContent("Margin of one size", _UNKNOWN, "", "see the issues", Tone.REFUSED)
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


def _difference(moved: Fraction, was: Fraction) -> tuple[str, Tone]:
    if moved == 0:
        return "as in the reference", Tone.NEUTRAL
    sign, tone = ("+", Tone.ATTENTION) if moved > 0 else ("−", Tone.GOOD)
    return f"{sign}{significant(abs(moved))} ({sign}{percent(abs(moved) / was)})", tone


def subspace_tiles(shown: Shown) -> tuple[TileContent, ...]:
    """Return ε and δ, what is published exactly, and the expected error of an answer."""
    method, figures = shown.scenario.subspace, shown.subspace
    before = shown.reference.scenario.subspace if shown.reference is not None else None
    change, tone = "one record replaced", Tone.NEUTRAL
    if before is not None:
        change, tone = _difference(method.epsilon - before.epsilon, before.epsilon)
    if said := absurd_epsilon(shown.scenario):
        change, tone = said, Tone.ATTENTION
    beside = f"δ = {power_text(method.delta)}" if method.delta else "pure, no δ"
    loss = TileContent("Privacy loss ε", budget_text(method.epsilon), beside, change, tone)
    if figures is None:
        missing = TileContent("Published exactly", _UNKNOWN, "", "see the issues", Tone.REFUSED)
        return loss, missing, TileContent("Expected error", _UNKNOWN, "", "see the issues", Tone.REFUSED)
    seen = figures.disclosure
    exact = TileContent(
        "Published exactly",
        _UNKNOWN if seen.rank is None else f"{seen.rank:,}",
        f"of {seen.cells:,} dimensions",
        "not protected by any ε: see the overview"
        if not seen.determined
        else f"{seen.determined:,} cells follow from them",
        Tone.ATTENTION if seen.determined else Tone.NEUTRAL,
    )
    return loss, exact, _error_tile(shown.scenario, shown)


def _error_tile(scenario: Scenario, shown: Shown) -> TileContent:
    figures = shown.subspace
    if figures is None or not figures.releases:
        return TileContent("Expected error", _UNKNOWN)
    first = figures.releases[0]
    error = math.sqrt(first.squared_error / first.plan.space.size)
    change, tone = first.plan.release.mechanism.title, Tone.NEUTRAL
    if shown.reference is not None:
        from phexplore.errors import PhexploreError
        from phexplore.systems.subspace.forecast import forecast_subspace

        try:
            other = forecast_subspace(shown.reference.scenario.subspace, shown.reference.scenario.conventions).releases[
                0
            ]
        except (PhexploreError, IndexError):
            other = None
        if other is not None and other.plan.space.size == first.plan.space.size:
            was = math.sqrt(other.squared_error / other.plan.space.size)
            if abs(error - was) < 0.0005 * max(was, 1e-12):
                change = "as in the reference"
            else:
                change = f"{'+' if error > was else '−'}{people(abs(error - was))} against the reference"
                tone = Tone.ATTENTION if error > was else Tone.GOOD
    name = "" if len(scenario.subspace.releases) == 1 else f", {first.plan.name}"
    return TileContent(f"Expected error of an answer{name}", f"{people(error)}", "root mean square", change, tone)
