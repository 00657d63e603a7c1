"""The four figures of a TopDown scenario read from six metres away, each with its change. No Qt."""

from __future__ import annotations

from phexplore.accounting.zcdp import epsilon
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, margin_word, people, percent, power_text, signed_people
from phexplore.gui.binding.tiles import difference
from phexplore.gui.systems.topdown.session import TopDownShown
from phexplore.model.conventions import Conversion
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import absurd_epsilon
from phexplore.systems.topdown.wording import counted, level_title


def topdown_tiles(shown: TopDownShown) -> tuple[TileContent, ...]:
    """Return the three figures of TopDown parameters: total, ε, margin of a total."""
    return topdown_loss_tile(shown), topdown_epsilon_tile(shown), topdown_margin_tile(shown)


def topdown_loss_tile(shown: TopDownShown) -> TileContent:
    """Return the total with its change."""
    method, reference = shown.method, shown.reference
    symbol, tone, change = method.framework.symbol, Tone.NEUTRAL, ""
    if reference is not None:
        then = reference.scenario.topdown
        if then.framework is not method.framework:
            change, tone = f"not comparable: {reference.title} is in {then.framework.symbol}", Tone.ATTENTION
        else:
            change, tone = difference(method.total - then.total, then.total)
    return TileContent(f"Privacy loss, bounded {symbol}", budget_text(method.total), "", change, tone)


def topdown_epsilon_tile(shown: TopDownShown) -> TileContent:
    """Return ε of the total, and of both parts of the release together."""
    method, conventions = shown.method, shown.scenario.conventions
    said = absurd_epsilon(shown.scenario)
    if method.framework is PrivacyFramework.PURE_DP:
        tone = Tone.ATTENTION if said else Tone.NEUTRAL
        return TileContent("ε", budget_text(method.total), "pure DP", said or "no δ is needed", tone)
    value = epsilon(method.total, conventions.delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    beside = f"at δ = {power_text(conventions.delta)}, optimal α"
    joint = shown.joint
    change = "" if joint is None else f"{joint.epsilon:.2f} with {joint.partner}"
    if said:
        return TileContent("ε", f"{value:,.2f}", beside, said, Tone.ATTENTION)
    return TileContent("ε", f"{value:.2f}", beside, change)


def topdown_margin_tile(shown: TopDownShown) -> TileContent:
    """Return the margin of the total at the lowest level above blocks, where redistricting looks."""
    method, conventions = shown.method, shown.scenario.conventions
    word = counted(method.schema)
    keys = [LevelQuery(level, name) for level in method.levels[-2::-1] for name in ("total", "detailed")]
    key = next((key for key in keys if key in shown.entries and shown.entries[key].margins is not None), None)
    if key is None:
        return TileContent("Margin of a total", "none", "", "No level above the lowest has a budget")
    entry = shown.entries[key]
    margin = entry.margins.by(conventions.margin) if entry.margins is not None else 0.0
    change, tone = f"{percent(conventions.confidence, places=0)}, {margin_word(conventions.margin)}", Tone.NEUTRAL
    before = shown.reference.entries.get(key) if shown.reference is not None else None
    if before is not None and before.margins is not None:
        difference = margin - before.margins.by(conventions.margin)
        if abs(difference) >= 0.005:
            tone = Tone.ATTENTION if difference > 0 else Tone.GOOD
            change = f"{signed_people(difference)} {word}"
        else:
            change = "as in the reference"
    what = "total" if key.query == "total" else "cell"
    # Results speak of tabulated units, which an optimised spine does not have.
    whose = "" if method.spine.kind == "standard" else "the spine's "
    return TileContent(
        f"Margin of a {what}, {whose}{level_title(key.level).lower()}", f"±{people(margin)}", word, change, tone
    )
