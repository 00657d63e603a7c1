"""Pictures about truncation thresholds: the people cut away, the noise, and both together, per threshold.

Args:
    found: bias and noise by threshold.
    name: of what was studied.
    present: the scenario's threshold.
"""

from __future__ import annotations

from functools import partial

from phexplore.figures.axis import Axis, Scale, Tick
from phexplore.figures.figure import Figure, KeyEntry
from phexplore.figures.marks import Box, Dot, Fill, Mark, Part, Path, Role, Words
from phexplore.figures.table import Table
from phexplore.figures.wording import people
from phexplore.model.numbers import parse_exact
from phexplore.model.rounded import percent
from phexplore.systems.phsafe.truncation_study import ThresholdPoint, TruncationStudy

_FLOOR = 0.1
"""People at the lower end of the axis: what is smaller has no bar."""


def threshold_figure(found: TruncationStudy, name: str, present: int) -> Figure:
    """Return two bars per threshold on a logarithmic axis, and a line of the root mean square; keys are thresholds.

    Args:
        found: bias and noise by threshold.
        name: of what was studied.
        present: the scenario's threshold.
    """
    highest = max(max(abs(point.bias), point.deviation, point.rmse) for point in found.points)
    first, last = found.points[0].threshold, found.points[-1].threshold
    taus = tuple(float(point.threshold) for point in found.points)
    roots = tuple(max(point.rmse, _FLOOR) for point in found.points)
    return Figure(
        "thresholds",
        study_title(found, name, present),
        study_summary(found),
        Axis(
            "truncation threshold τ, people counted per household",
            domain=(first - 0.7, last + 0.7),
            ticks=tuple(Tick(tau, f"{tau:g}") for tau in taus),
        ),
        Axis("people", Scale.LOG, (_FLOOR, max(highest, 10.0) * 10**0.35), people, floor=_FLOOR, most=9),
        tuple(_mark(point) for point in found.points),
        partial(study_numbers, found),
        over=(Path(taus, roots, Role.TEXT, 1.6), *_dots(taus, roots), *_names(found, present)),
        key=(
            KeyEntry(Box(0, 1, -0.4, 0.4, Role.MISSED, Fill.HATCHED), "cut by truncation"),
            KeyEntry(Box(0, 1, -0.4, 0.4, Role.MAIN, Fill.SOFT), "noise, σ"),
            KeyEntry(Path((0.0, 1.0), (0.0, 0.0), Role.TEXT, 1.6), "root mean square"),
        ),
    )


def _mark(point: ThresholdPoint) -> Mark:
    tau, parts = point.threshold, []
    if abs(point.bias) >= _FLOOR:
        parts.append(Box(tau - 0.4, tau - 0.02, _FLOOR, abs(point.bias), Role.MISSED, Fill.HATCHED))
    if point.deviation >= _FLOOR:
        parts.append(Box(tau, tau + 0.38, _FLOOR, point.deviation, Role.MAIN, Fill.SOFT))
    return Mark(tau, tuple(parts), tip=point_words(point)) if parts else Mark(tau, (_at(tau),), tip=point_words(point))


def _at(tau: int) -> Part:
    return Box(tau - 0.4, tau + 0.38, _FLOOR, _FLOOR, Role.MUTED)


def _dots(taus: tuple[float, ...], roots: tuple[float, ...]) -> tuple[Part, ...]:
    return tuple(Dot(x, y, Role.TEXT, is_hollow=True, size=3.0) for x, y in zip(taus, roots, strict=True))


def _names(found: TruncationStudy, present: int) -> tuple[Part, ...]:
    """Name the best and the present threshold above their bars."""
    names: dict[int, list[str]] = {found.best: ["best"]}
    if present in {point.threshold for point in found.points}:
        names.setdefault(present, []).append("now")
    words: list[Part] = []
    for number, (threshold, each) in enumerate(names.items()):
        point = found.point(threshold)
        highest = max(point.rmse, abs(point.bias), point.deviation, _FLOOR)
        words.append(Words(threshold, highest, ", ".join(each), is_bold=True, align=0.5, rise=1.0 + 0.9 * (number % 2)))
    return tuple(words)


def study_title(found: TruncationStudy, name: str, present: int) -> str:
    """Return the finding: the best threshold, and what the present one costs beside it.

    Args:
        found: the study.
        name: of the query.
        present: the scenario's τ.
    """
    best = found.point(found.best)
    known = {point.threshold: point for point in found.points}
    if present == found.best or present not in known:
        return f"{name}: τ = {found.best} has the smallest RMSE, {people(best.rmse)} people"
    now = known[present]
    return (
        f"{name}: τ = {found.best} has the smallest RMSE, {people(best.rmse)} people; τ = {present} has {people(now.rmse)} "
        f"(bias {people(now.bias)}, margin ±{people(now.margin)})"
    )


def study_summary(found: TruncationStudy) -> str:
    """Return one sentence: what the bars are, and over whom."""
    words = (
        "Hatched: people truncation cuts away, always the same. Plain: standard deviation of the noise. Line: both together, root "
        f"mean square. Over {found.sizes.households:,} households with {found.sizes.people:,} people ({found.sizes.of})."
    )
    return words + (" The largest size is open: the true loss is larger than shown." if found.sizes.is_open else "")


def point_words(point: ThresholdPoint) -> str:
    """Return one threshold in words."""
    return (
        f"τ = {point.threshold}: bias {people(point.bias)} people, noise σ {people(point.deviation)}, margin "
        f"±{people(point.margin)}, RMSE {people(point.rmse)}.\n"
        f"It cuts {_share(point.people_cut)} of the people and {_share(point.households_cut)} of the households."
    )


def _share(value: float) -> str:
    return percent(parse_exact(f"{value:.9f}"), places=3)


def study_numbers(found: TruncationStudy) -> Table:
    """Return the data table."""
    headers = ("τ", "Bias, people", "Noise σ, people", "Margin, people", "RMSE, people", "People cut, share",
               "Households cut, share", "Budget")  # fmt: skip
    return Table(
        headers,
        tuple(
            (p.threshold, p.bias, p.deviation, p.margin, p.rmse, p.people_cut, p.households_cut, p.budget)
            for p in found.points
        ),
    )
