"""The pictures of a TopDown scenario before any run: shares of the levels, and what an attacker may learn."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from phexplore.figures.figure import Figure, bar_figure
from phexplore.figures.marks import Bar, Handle
from phexplore.figures.table import AtMost, Share, Table, Value
from phexplore.figures.wording import CONVERTED, STROKE, conversion_title, power_text, share_percent, significant
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, percent, rounded_up
from phexplore.model.topdown import TopDown
from phexplore.systems.topdown.forecast import TopDownForecast
from phexplore.systems.topdown.wording import level_title

_SHARE_STEP = 0.01
"""Percent that a key moves the end of a bar by."""


def level_figure(method: TopDown, reference: TopDown | None = None) -> Figure:
    """Return one bar per level: its share of the whole budget; its end can be dragged.

    Args:
        method: the parameters.
        reference: what they are compared with, None for nothing.
    """
    other = reference.level_shares if reference is not None else {}
    symbol = method.framework.symbol
    bars, rows = [], []
    for level in method.levels:
        share, before = method.level_shares[level], other.get(level)
        budget = method.total * share
        tip = f"{level_title(level)}: {share_percent(share)} of {symbol} {significant(method.total)}"
        if before is not None and before != share:
            tip += f"\nWas {share_percent(before)}"
        bars.append(
            Bar(
                level,
                "",
                level_title(level),
                float(share) * 100,
                None if before is None else float(before) * 100,
                f"{share_percent(share)}   {symbol} {significant(budget)}",
                f"{tip}\nDrag the end of the bar to change it; Enter edits it in the table.",
                level in method.locked_levels,
                None if level in method.locked_levels else Handle(float(share) * 100, step=_SHARE_STEP),
            )
        )
        rows.append((level, Share(share), budget, None if before is None else Share(before)))
    most = sorted(method.level_shares.items(), key=lambda pair: -pair[1])[:2]
    words = " and ".join(level_title(level) for level, _share in most)
    taken = sum((share for _level, share in most), Fraction(0))
    return bar_figure(
        "levels",
        bars,
        f"share of the whole {symbol}, percent",
        f"{words} take {percent(taken)} of the privacy loss" if len(most) > 1 else f"{words} takes all of it",
        "Units of one level hold different people, so a level costs its share once however many units it has."
        + (f" {STROKE}" if other else ""),
        Table(("Level", "Share", symbol, "Share in the reference"), tuple(rows)),
        most=100.0,
    )


def _linked(figures: TopDownForecast, proven: Mapping[str, tuple[float, float]] | None) -> str:
    """Return a sentence about attributes of which more is told than the certificates' ρ counts, "" where there are none."""
    more = [loss.name for loss in figures.attributes if (proven or {}).get(loss.name, (0.0, 0.0))[1] > loss.epsilon]
    if not more:
        return ""
    return f" The counts of housing units tell {', '.join(more)} too: the proven ε counts them, the certificates' ρ does not."


def semantics_figure(
    figures: TopDownForecast,
    before: TopDownForecast | None = None,
    proven: Mapping[str, tuple[float, float]] | None = None,
    *,
    is_plain: bool = False,
) -> Figure:
    """Return ε of everything, of one attribute, and of the block of somebody whose wider unit is known.

    Args:
        figures: forecast of the parameters.
        before: forecast of what they are compared with, None for nothing.
        proven: ends of the proven ε by level and attribute, as far as they are known.
        is_plain: leave out ε of everything, by each conversion, and say what ε is.
    """
    if figures.framework is PrivacyFramework.PURE_DP:
        before = before if before is not None and before.framework is figures.framework else None
    bars, rows = [], []
    name_of = {level_title(loss.name): loss.name for loss in figures.block_within}

    def add(group: str, name: str, rho: Fraction, value: float, was: float | None, tip: str) -> None:
        bound = (proven or {}).get(name_of.get(name, name), (0.0, None))[1]
        text = epsilon_bound(value) if bound is None else f"{epsilon_bound(value)} ({rounded_up(bound, 2)})"
        if bound is not None:
            tip += f"; proven ε ≤ {rounded_up(bound, 4)}"
        bars.append(Bar(None, group, name, value, was, text, tip))
        row: tuple[Value, ...] = (group, name, rho, AtMost(value), None if bound is None else AtMost(bound), was)
        rows.append(row)

    then = {(figure.conversion, figure.delta): figure.value for figure in before.epsilons} if before else {}
    for figure in () if is_plain else figures.epsilons:
        if figure.delta != figures.conventions.delta and figure.conversion is not None:
            continue
        name = conversion_title(figure.conversion) if figure.conversion is not None else "ε adds up"
        was = then.get((figure.conversion, figure.delta))
        delta = f" at δ = {power_text(figure.delta)}" if figure.delta else ""
        add("Everything", name, figures.total, figure.value, was, f"ε = {rounded_up(figure.value, 4)}{delta}, {name}")
    earlier = {loss.name: loss.epsilon for loss in before.block_within} if before else {}
    for loss in figures.block_within:
        title = level_title(loss.name)
        tip = f"ε = {rounded_up(loss.epsilon, 4)}: what can be learned about the block of a person known to live in a {title.lower()}"
        add("Block within", title, loss.rho, loss.epsilon, earlier.get(loss.name), tip)
    earlier = {loss.name: loss.epsilon for loss in before.attributes} if before else {}
    for loss in figures.attributes:
        tip = f"ε = {rounded_up(loss.epsilon, 4)}: what can be learned about {loss.name} of a person all else of whom is known"
        add("One attribute", loss.name, loss.rho, loss.epsilon, earlier.get(loss.name), tip)
    symbol = figures.framework.symbol
    weakest = min((*figures.block_within, *figures.attributes), key=lambda loss: loss.epsilon, default=None)
    title = "What can be learned about one person"
    if weakest is not None:
        where = level_title(weakest.name) if weakest in figures.block_within else weakest.name
        kind = f"which block of its {where.lower()} a person lives in" if weakest in figures.block_within else where
        title = f"Best protected: {kind} (ε {epsilon_bound(weakest.epsilon)})"
    return bar_figure(
        "semantics",
        bars,
        f"ε, {CONVERTED} (smaller is more private)" if symbol == "ρ" else "ε (smaller is more private)",
        title,
        "ε says how much the published numbers can tell about one person of whom all else is known: the smaller, the better."
        if is_plain
        else f"Semantics as on the production certificates, δ = 10⁻¹⁰ by the zCDP conversion with the optimal α{'; in brackets the proven ε' if proven else ''}."
        f"{_linked(figures, proven)}",
        Table(("Kind", "About", symbol, "ε", "Proven ε", "ε in the reference"), tuple(rows)),
    )
