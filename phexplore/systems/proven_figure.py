"""The proven ε over δ, with the slack of the published conversion above it: one picture for every system with discrete Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.proven_loss import epsilon_curve, largest_of_pairs, slack
from phexplore.figures.axis import Axis, Tick
from phexplore.figures.figure import Figure, nothing
from phexplore.figures.marks import Dash, Dot, Mark, Path, Role, Rule
from phexplore.figures.table import AtLeast, AtMost, Table
from phexplore.figures.wording import power_text
from phexplore.model.conventions import Conversion
from phexplore.model.rounded import rounded_up
from phexplore.systems.protocol import Forecast

POWERS = tuple(range(5, 16))
"""−log₁₀ of the δ that are drawn."""
TEACHING = "The proven privacy curve appears here for releases with discrete Gaussian noise and a budget above 0."
_EXPLAIN = (
    "Each noisy answer has discrete Gaussian noise; the proven ε follows from the variances of all answers, not from ρ. The curve is "
    "a bracket: its ends are proven, with every rounding error counted, and lie closer together than the line is wide. It holds for "
    "two data sets that differ as the neighbours say; nothing else about the release changes."
)


def proven_figure(forecast: Forecast, delta: Fraction) -> Figure:
    """Return the bracket of ε over δ with the zCDP bound above it; the smaller δ to the right.

    Args:
        forecast: of a scenario.
        delta: that is marked.
    """
    side, total = forecast.loss.neighbours, forecast.loss.bound
    parts = forecast.noise.get(side)
    if not parts or not total:
        return nothing("proven", TEACHING)
    marked = _power(delta)
    powers = sorted({*map(float, POWERS), marked})
    deltas = [delta if power == marked else Fraction(1, 10 ** round(power)) for power in powers]
    found = epsilon_curve(parts, deltas)
    published = [epsilon(total, each, Conversion.ZCDP_OPTIMAL_ALPHA) for each in deltas]
    highs = tuple(each.high for each in found)
    at, bound = found[powers.index(marked)], published[powers.index(marked)]
    xs = tuple(powers)
    name = f"δ = {power_text(delta)}"
    title = f"Proven: ε ≤ {rounded_up(at.high, 4)} at {name}; the zCDP bound of {rounded_up(bound, 4)} has slack of {slack(bound, at.high):.2f}"
    marks = (
        Mark(
            "published",
            (Path(xs, tuple(published), 1, 1.8, Dash.DASHED), Dot(marked, bound, 1)),
            text="the zCDP bound",
        ),
        Mark(
            "proven",
            (Path(xs, highs, 0, 2.4), Dot(marked, at.high, 0)),
            text="proven",
        ),
    )
    halves = forecast.halves()
    moved = largest_of_pairs(halves, delta).high if halves else 0.0
    paths = f" On the nominal path; on any path of a spine whose units gave budgets away ε ≤ {rounded_up(moved, 4)}."
    return Figure(
        "proven",
        title,
        f"Under {side.value} neighbors. The shaded band is what the published conversion states beyond what is spent: "
        f"{slack(bound, at.high):.4f} at {name}. The bracket is at most {rounded_up(at.high - at.low, 7)} wide.{paths if moved else ''}",
        Axis(
            "δ, the chance that the guarantee does not hold (smaller to the right)",
            domain=(xs[0], xs[-1]),
            ticks=tuple(Tick(float(power), power_text(Fraction(1, 10**power))) for power in (5, 7, 9, 11, 13, 15)),
        ),
        Axis("ε", is_round=True),
        marks,
        partial(_numbers, deltas, found, published),
        under=(
            Path(xs, highs, 0, 0.0, lows=tuple(each.low for each in found)),
            Path(xs, tuple(published), Role.REFERENCE, 0.0, lows=highs),
            Rule(x=marked, text=name, width=1.2),
        ),
        explain=_EXPLAIN,
    )


def _power(delta: Fraction) -> float:

    return round(-math.log10(delta), 12)


def _numbers(deltas: list[Fraction], found: tuple[tuple[float, float], ...], published: list[float]) -> Table:
    return Table(
        ("δ", "proven ε at least", "proven ε at most", "zCDP, optimal α", "slack"),
        tuple(
            (f"{float(delta):.3g}", AtLeast(low), AtMost(high), bound, slack(bound, high))
            for delta, (low, high), bound in zip(deltas, found, published, strict=True)
        ),
    )
