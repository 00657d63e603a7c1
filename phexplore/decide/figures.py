"""The trade-off as a figure: the smallest weighted margin for every total, and where the scenario stands beside it."""

from __future__ import annotations

import math

from phexplore.decide.frontier import Frontier, FrontierPoint
from phexplore.figures.axis import Axis, Scale, number_text
from phexplore.figures.figure import Figure, nothing
from phexplore.figures.marks import Dash, Dot, Mark, Part, Path, Role, Shape, Words
from phexplore.figures.table import Table
from phexplore.figures.wording import people, percent
from phexplore.model.numbers import parse_exact

_SMALLEST = 1e-9
_EXPLAIN = (
    "For every total, budgets that make the weighted sum of squared margins smallest are found by the condition that every "
    "query has the same marginal price. One per cent more of the total always buys half a per cent less margin."
)


def frontier_figure(found: Frontier, loss: str) -> Figure:
    """Return the trade-off; the key of a mark is the number of its point.

    Args:
        found: the curve.
        loss: what the horizontal axis counts, e.g. "bounded ρ".
    """
    if not found.points:
        return nothing("frontier", "Locks leave no room for other totals. Unlock some budgets to see the trade-off.")
    xs = [float(point.headline) for point in found.points]
    ys = [point.weighted_margin for point in found.points]
    marks = tuple(
        Mark(number, (Dot(x, y, size=5.0),), tip=point_words(point))
        for number, (x, y, point) in enumerate(zip(xs, ys, found.points, strict=True))
    )
    return Figure(
        "frontier",
        frontier_title(found),
        "The curve is the smallest weighted margin for every total; the diamond is this scenario. One per cent more of the "
        "total always buys half a per cent less margin along the curve. Enter or a double click loads a point as a scenario.",
        Axis(f"{loss} (logarithmic)", Scale.LOG, _padded(xs), number_text, floor=_SMALLEST, most=8),
        Axis(
            "weighted margin of error, people",
            Scale.LOG,
            _padded([*ys, found.present_margin, found.best_margin]),
            people,
            floor=_SMALLEST,
            most=8,
        ),
        marks,
        Table(
            (loss, "ε at δ = 10⁻¹⁰", "Weighted margin, people"),
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
    if found.waste < 5e-4:
        return "With these weights no other budgets are better: every query has the same marginal price"
    share = percent(parse_exact(f"{found.waste:.6f}"))
    return f"With these weights the same margins could be had for {share} less"


def point_words(point: FrontierPoint) -> str:
    """Return a point in words."""
    return (
        f"ρ {float(point.headline):.6g}, ε {point.epsilon:.3f} at δ = 10⁻¹⁰\n"
        f"Weighted margin {people(point.weighted_margin)} people\nDouble click loads it as a scenario"
    )
