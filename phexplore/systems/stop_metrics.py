"""Which figure of a run may end it early, and how precisely it is to be known: choices, units, limits."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phexplore.model.numbers import parse_exact
from phexplore.runs.spec import StopRule, read_limit


class Unit(enum.Enum):
    """What the limit of a figure is typed in."""

    SHARE = "share"
    """Between 0 and 1, typed like 0.5 % or 0.005."""
    PERCENT = "percent"
    """The figure itself counts percents of the truth: 0.5 and 0.5 % both mean half a percent."""
    PEOPLE = "people"
    """What the schema counts."""


@dataclass(frozen=True, slots=True)
class StopMetric:
    """A figure that can be watched.

    Attributes:
        id: as stop rules spell it; "" is the coverage of the margins.
        words: in the chooser.
        unit: of the figure.
        limit: typed at first.
        has_level: it is taken at one level.
        has_query: it is taken of one query group.
    """

    id: str
    words: str
    unit: Unit
    limit: str
    has_level: bool = True
    has_query: bool = True


COVERAGE = StopMetric("", "Coverage of the margins", Unit.SHARE, "0.5 %", has_level=False, has_query=False)


def stop_rule(metric: StopMetric, level: str, query: str, limit: str, fewest: int) -> StopRule:
    """Return the rule that the fields of a form ask for.

    Args:
        metric: what is watched.
        level: it is taken at, where it has one.
        query: it is taken of, where it has one.
        limit: typed.
        fewest: trials before which no run ends.

    Raises:
        ValueError: the limit is no number, or out of range; the message says what to type.
    """
    parts = [level] if metric.has_level else []
    if metric.has_query:
        parts.append(query)
    return StopRule(_limit_of(metric, limit), fewest, "/".join([*parts, metric.id]) if metric.id else "")


def read_stop(text: str, metrics: Sequence[StopMetric]) -> StopRule:
    """Read ``FIGURE=LIMIT``, e.g. ``County/total/mae=0.5`` or ``coverage=0.001``.

    Args:
        text: typed.
        metrics: the figures of the system that may end a run; others are read as a number and refused by the run.

    Raises:
        ValueError: it is something else; the message says what to type.
    """
    figure, sign, limit = text.rpartition("=")
    if not sign:
        raise ValueError(f"Write FIGURE=LIMIT, e.g. County/total/mae=0.5 or coverage=0.001; got {text!r}.")
    figure = "" if figure == "coverage" else figure
    metric = next((each for each in metrics if each.id == figure.rpartition("/")[2]), None)
    if metric is None and not any(each.has_level for each in metrics):
        raise ValueError(f"No figure {figure!r} ends these runs; coverage=0.001 does.")
    return StopRule(parse_exact(limit) if metric is None else _limit_of(metric, limit), figure=figure)


def _limit_of(metric: StopMetric, text: str) -> Fraction:
    if metric.unit is Unit.SHARE:
        return read_limit(text)
    is_percent = text.strip().endswith("%")
    if is_percent and metric.unit is Unit.PEOPLE:
        raise ValueError(
            f"This figure counts people or units, not percents, got {text.strip()}. Enter for example 0.5."
        )
    limit = parse_exact(text.strip().rstrip("%") if is_percent else text)
    if limit <= 0:
        raise ValueError(f"The limit is above 0, got {text.strip()}. Enter for example {metric.limit}.")
    return limit
