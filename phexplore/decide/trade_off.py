"""The trade-off of a scenario: curve, prices, candidates to drop, risk.

Args:
    found: the trade-off as computed.
    left: the candidates to drop, with the budget that each frees and its loss, the largest first.
    request: what the trade-off is asked about.
    loss: the name of the privacy loss, e.g. ``bounded ρ``.
    symbol: the symbol of the privacy loss, e.g. ``ρ``.
    doubles: whether the loss is the bounded one, twice the sum of the budgets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from phexplore.accuracy.budget_model import LeftOut, margin_of
from phexplore.catalog.tables import counted_together
from phexplore.decide.frontier import Frontier, FrontierError, FrontierPoint, PricedQuery, Weighting, frontier
from phexplore.decide.risk import GuessRisk, guess_risk
from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale, number_text
from phexplore.figures.figure import Figure, bar_figure, nothing
from phexplore.figures.marks import Bar, Dash, Dot, Mark, Part, Path, Role, Shape, Words
from phexplore.figures.table import Table
from phexplore.figures.wording import CONVERTED, budget_text, capital, people, with_unit
from phexplore.model.goals import Key, title_of
from phexplore.model.numbers import parse_exact
from phexplore.model.rounded import percent, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import budgets_of, loss_of, system_of

_PERCENT = Fraction(1, 100)
_MOST = 400
"""Bars of a picture."""
_SMALLEST = 1e-9
_EXPLAIN = (
    "For every total, budgets that make the weighted sum of squared margins smallest are found by the condition that every "
    "query has the same marginal price. One per cent more of the total always buys half a per cent less margin."
)


Counted = Callable[[Key], str]
"""Returns what an answer of a query counts."""


@dataclass(frozen=True, slots=True)
class TradeRequest:
    """What is asked.

    Attributes:
        scenario: the parameters.
        weighting: whose margins count how much.
        whole_levels: leave out whole levels, else single queries.
        prior: how often the likelier of two guesses is right without the release.
        relative: largest margin of a reliable count, as a part of it.
    """

    scenario: Scenario
    weighting: Weighting = Weighting.PRESENT
    whole_levels: bool = True
    prior: Fraction = Fraction(1, 2)
    relative: Fraction = Fraction(1, 20)


@dataclass(frozen=True, slots=True, eq=False)
class TradeAnswer:
    """What came back.

    Attributes:
        request: the question.
        curve: None where there is no trade-off.
        frontier: the same as a picture; without a trade-off it says why.
        prices: what one per cent of the total buys where, most people first; likewise.
        left_out: what can be left out, most freed first.
        left_bars: the same as a picture.
        risk: of a worst-case guess; None without a bound.
        reliable: from how many people counts are reliable: query, words.
    """

    request: TradeRequest
    curve: Frontier | None
    frontier: Figure
    prices: Figure
    left_out: tuple[LeftOut, ...]
    left_bars: Figure
    risk: GuessRisk | None
    reliable: tuple[tuple[str, str], ...]


def trade_off(request: TradeRequest) -> TradeAnswer:
    """Return everything about the trade-off of a scenario; what cannot be drawn is said in the answer."""
    scenario = request.scenario
    system = budgets_of(scenario)
    counted = partial(system_of(scenario).counted, scenario)
    loss = f"{'bounded ' if system.doubles else ''}{system.framework.symbol}"
    curve = None
    try:
        curve = frontier(scenario, weighting=request.weighting)
        figures = (
            frontier_figure(curve, loss, counted),
            price_bars(curve, system.framework.symbol, counted, doubles=system.doubles),
        )
    except PhexploreError as error:
        figures = (nothing("frontier", error.full), nothing("price-bars", error.full))
    left = left_out(scenario, whole_levels=request.whole_levels)
    return TradeAnswer(
        request,
        curve,
        *figures,
        left,
        left_bars(left, request, loss, doubles=system.doubles),
        _risk(request),
        reliable_lines(request),
    )


def left_out(scenario: Scenario, *, whole_levels: bool) -> tuple[LeftOut, ...]:
    """Return the budget that omitting each part frees, and its loss, the largest first.

    Args:
        scenario: with the parts.
        whole_levels: whether a part is a level of all tables, else a single query.
    """
    leaving = budgets_of(scenario).leaving
    return tuple(sorted(leaving.by_level() if whole_levels else leaving.by_query(), key=lambda entry: -entry.frees))


def _risk(request: TradeRequest) -> GuessRisk | None:
    try:
        headline = loss_of(request.scenario).bound
    except FrontierError:
        return None
    if headline is None:
        return None
    return guess_risk(budgets_of(request.scenario).framework, headline, request.prior)


_UNLOCKED = "One per cent more of the total always buys half a per cent less margin along the curve."
_LOCKED = "Locked budgets stay: more of the total changes the other margins alone."


def frontier_figure(found: Frontier, loss: str, counted: Counted) -> Figure:
    """Return the trade-off; the key of a mark is the number of its point.

    Args:
        found: the curve.
        loss: what the horizontal axis counts, e.g. "bounded ρ".
        counted: what an answer of a query counts.
    """
    if not found.points:
        return nothing("frontier", "Locks leave no room for other totals. Unlock some budgets to see the trade-off.")
    xs = [float(point.headline) for point in found.points]
    ys = [point.weighted_margin for point in found.points]
    unit = counted_together(counted(query.key) for query in found.queries)
    marks = tuple(
        Mark(number, (Dot(x, y, size=5.0),), tip=point_words(point, loss, unit))
        for number, (x, y, point) in enumerate(zip(xs, ys, found.points, strict=True))
    )
    return Figure(
        "frontier",
        frontier_title(found),
        "The curve is the smallest weighted margin for every total; the diamond is this scenario. "
        f"{_LOCKED if found.held else _UNLOCKED} Enter or a double click loads a point as a scenario.",
        Axis(loss, Scale.LOG, _padded(xs), number_text, floor=_SMALLEST, most=8),
        Axis(
            f"weighted margin, {unit}",
            Scale.LOG,
            _padded([*ys, found.present_margin, found.best_margin]),
            people,
            floor=_SMALLEST,
            most=8,
        ),
        marks,
        Table(
            (loss, f"ε at δ = 10⁻¹⁰, {CONVERTED}" if loss.endswith("ρ") else "ε", f"Weighted margin, {unit}"),
            tuple((point.headline, point.epsilon, point.weighted_margin) for point in found.points),
        ),
        under=(Path(tuple(xs), tuple(ys)),),
        over=_present(found),
        explain=_EXPLAIN,
    )


def _present(found: Frontier) -> tuple[Part, ...]:
    """Return the scenario as a diamond with its name, and how far below it the curve is."""
    ratio = float(found.points[-1].headline) / float(found.points[-1].total)
    x = float(found.present_total) * ratio
    return (
        Path((x, x), (found.present_margin, found.best_margin), Role.MISSED, 1.5, Dash.DASHED),
        Dot(x, found.present_margin, ink=Role.MISSED, shape=Shape.DIAMOND, size=6.0),
        Words(x, found.present_margin, "this scenario", is_bold=True, shift=16, rise=0.7),
    )


def _padded(values: list[float]) -> tuple[float, float]:
    logs = [math.log10(max(value, _SMALLEST)) for value in values]
    room = 0.08 * max(max(logs) - min(logs), 0.3)
    return 10 ** (min(logs) - room), 10 ** (max(logs) + room)


def frontier_title(found: Frontier) -> str:
    """Return how much the scenario could save at the same weighted margin."""
    if found.weighting is Weighting.PRESENT:
        return "The best curve for the weights that these budgets imply: this scenario lies on it by definition"
    if found.waste < 5e-4:
        return "With these weights, no other budgets save 0.1 % or more at the same weighted margin"
    share = percent(parse_exact(f"{found.waste:.6f}"))
    return f"With these weights, other budgets give the same weighted margin for {share} less"


def point_words(point: FrontierPoint, loss: str, unit: str) -> str:
    """Return a point in words.

    Args:
        point: on the curve.
        loss: what the totals are, e.g. "bounded ρ".
        unit: of the margin, e.g. "people".
    """
    converted = f", ε {rounded_up(point.epsilon, 3)} at δ = 10⁻¹⁰, {CONVERTED}" if loss.endswith("ρ") else ""
    return (
        f"{capital(loss)} {float(point.headline):.6g}{converted}\n"
        f"Weighted margin {people(point.weighted_margin)} {unit}\nDouble click loads it as a scenario"
    )


def price_bars(found: Frontier, symbol: str, counted: Counted, *, doubles: bool) -> Figure:
    """Return by how much each margin shrinks when its query alone gets one per cent of the total on top.

    Args:
        found: the curve.
        symbol: of the budget.
        counted: what an answer of a query counts.
        doubles: whether the loss is twice the sum of the budgets.
    """
    more = found.present_total * _PERCENT
    bought = sorted(((query.people_bought(float(more)), query) for query in found.queries), key=lambda pair: -pair[0])
    shown = (2 if doubles else 1) * more
    extra = f"{'bounded ' if doubles else ''}{symbol} {float(shown):.4g}"
    bars = tuple(_price_bar(gain, query, extra, counted(query.key)) for gain, query in bought[:_MOST])
    best = bought[0][1]
    unit = counted_together(counted(query.key) for query in found.queries)
    rows = tuple((query.name, query.margin, query.margin - gain, gain) for gain, query in bought)
    return bar_figure(
        "price-bars",
        bars,
        f"{unit} the margin shrinks by",
        f"1 % more ({extra}) for {best.name} alone buys {with_unit(bought[0][0], counted(best.key))} there",
        "Each bar gives all of the extra budget to that one query: the margin before, and after.",
        Table(("Query", f"Margin, {unit}", f"Margin after, {unit}", f"Bought, {unit}"), rows),
    )


def _price_bar(gain: float, query: PricedQuery, extra: str, unit: str) -> Bar:
    words = f"{people(query.margin)} → {people(query.margin - gain)}"
    tip = f"{extra} more for {query.name} alone: its margin goes from {words} {unit}."
    return Bar(query.key.text, "", query.name, gain, None, words, tip)


def left_bars(left: tuple[LeftOut, ...], request: TradeRequest, loss: str, *, doubles: bool) -> Figure:
    """Return what leaving out each part frees, with what it loses in words."""
    factor = 2 if doubles else 1
    unit = "numbers" if doubles else "answers per unit"
    bars = []
    for entry in left[:_MOST]:
        lost = f"{entry.numbers:,} {unit}" + (f", {len(entry.averages)} averages" if entry.averages else "")
        frees = budget_text(entry.frees * factor)
        tip = f"Leaving out {entry.name} frees {loss} {frees} and loses {lost}."
        if entry.averages:
            tip += f"\nNo longer possible: {', '.join(entry.averages)}."
        tip += "\nEnter or a double click leaves it out; undo brings it back."
        text = f"{percent(Fraction(entry.share).limit_denominator(10**9))}, {entry.numbers:,} {unit}"
        bars.append(Bar(entry.name, "", entry.name, entry.share * 100, None, text, tip))
    kind = "level" if request.whole_levels else "query"
    title = f"Nothing can be left out: no {kind} is published"
    if left:
        cheapest = max(left, key=lambda entry: float(entry.frees) / max(entry.numbers, 1))
        most = left[0].name
        also = "and most per number lost" if cheapest is left[0] else f"; {cheapest.name} frees most per number lost"
        title = f"Leaving out {most} frees most{'' if also.startswith(';') else ', '}{also}"
    return bar_figure(
        "left-bars",
        tuple(bars),
        f"share of the whole {loss} that is freed, percent",
        title,
        "Availability is the third side of the trade-off: what is not published costs nothing and helps nobody.",
        Table(
            ("Left out", f"Frees, {loss}", "Share of the total", f"Lost {unit}", "Lost averages"),
            tuple((e.name, e.frees * factor, e.share, e.numbers, ", ".join(e.averages)) for e in left),
        ),
        most=100.0,
    )


def reliable_from(margin: float, relative: Fraction) -> int:
    """Return the smallest count whose margin is at most this part of it, e.g. 1/20: "reliable from N people".

    Args:
        margin: half-width in people at the scenario's confidence.
        relative: largest margin as a part of the count, in (0, 1].

    Raises:
        ValueError: the part is not in (0, 1].
    """
    if not 0 < relative <= 1:
        raise ValueError(f"a relative margin lies in (0, 1], got {relative}")
    return max(1, math.ceil(Fraction(margin) / relative))


def reliable_lines(request: TradeRequest) -> tuple[tuple[str, str], ...]:
    """Return from how many people, or what else is counted, on the counts of each query are reliable, smallest first."""
    system = budgets_of(request.scenario)
    counted = partial(system_of(request.scenario).counted, request.scenario)
    found: list[tuple[int, str, str]] = []
    for key, budget in system.budgets.items():
        margin = margin_of(system, key, budget)
        if margin is not None:
            found.append((reliable_from(margin, request.relative), title_of(key), counted(key)))
    found.sort()
    return tuple((name, f"from {with_unit(number, unit)}") for number, name, unit in found)
