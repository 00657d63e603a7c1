"""Which figure of a TopDown run may end it early, and how precisely it is to be known: choices, limits, words. No Qt."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

from phexplore.model.numbers import parse_exact
from phexplore.runs.spec import StopRule, read_limit
from phexplore.systems.protocol import coverage_words
from phexplore.systems.topdown.wording import level_title, query_title

FEWEST_TRIALS = 5
"""A standard deviation of two trials is no estimate: by chance alone they often agree."""


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
        id: as `runs.topdown_watched` spells it; "" is the coverage of the margins.
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
WATCHABLE = (
    COVERAGE,
    StopMetric("redistricting", "Units of 500+ within 5 points", Unit.SHARE, "1 %", has_query=False),
    StopMetric("mae", "Mean absolute error", Unit.PEOPLE, "0.5"),
    StopMetric("rmse", "Root mean squared error", Unit.PEOPLE, "0.5"),
    StopMetric("me", "Mean error (bias)", Unit.PEOPLE, "0.5"),
    StopMetric("mape", "Mean absolute percent error", Unit.PERCENT, "0.5 %"),
    StopMetric("malpe", "Mean algebraic percent error", Unit.PERCENT, "0.5 %"),
    StopMetric("cv", "Coefficient of variation", Unit.PERCENT, "0.5 %"),
    StopMetric("taes", "Total absolute error of shares", Unit.SHARE, "0.1 %"),
    StopMetric("off-over-5", "Share off by more than 5 %", Unit.SHARE, "1 %"),
    StopMetric("off-over-10", "Share off by more than 10 %", Unit.SHARE, "1 %"),
    StopMetric("abs-max", "Largest error", Unit.PEOPLE, "5"),
)


def watchable(figure: str) -> StopMetric:
    """Return the choice with an id, the coverage for an unknown one."""
    return next((each for each in WATCHABLE if each.id == figure), COVERAGE)


def stop_rule(figure: str, level: str, query: str, limit: str) -> StopRule:
    """Return the rule that the fields of the form ask for.

    Args:
        figure: that is watched.
        level: of the tree.
        query: whose errors.
        limit: at which the run stops, as typed.

    Raises:
        ValueError: the limit is no number, or out of range; the message says what to type.
    """
    chosen = watchable(figure)
    error = _limit_of(chosen, limit)
    parts = [level] if chosen.has_level else []
    if chosen.has_query:
        parts.append(query)
    return StopRule(error, FEWEST_TRIALS, "/".join([*parts, chosen.id]) if chosen.id else "")


def _limit_of(chosen: StopMetric, text: str) -> Fraction:
    if chosen.unit is Unit.SHARE:
        return read_limit(text)
    is_percent = text.strip().endswith("%")
    if is_percent and chosen.unit is Unit.PEOPLE:
        raise ValueError(
            f"This figure counts people or units, not percents, got {text.strip()}. Enter for example 0.5."
        )
    limit = parse_exact(text.strip().rstrip("%") if is_percent else text)
    if limit <= 0:
        raise ValueError(f"The limit is above 0, got {text.strip()}. Enter for example {chosen.limit}.")
    return limit


def stop_words(stop: StopRule) -> str:
    """Return a rule in words, e.g. "stops when the mean absolute error of total at County is known to ± 0.5"."""
    if not stop.figure:
        return coverage_words(stop)
    error = float(stop.coverage_error)
    level, *rest = stop.figure.split("/")
    chosen = watchable(rest[-1])
    amount = {Unit.SHARE: f"{error * 100:g} %", Unit.PERCENT: f"{error:g} %", Unit.PEOPLE: f"{error:g}"}[chosen.unit]
    of = f" of {query_title(rest[0])}" if len(rest) > 1 else ""
    return f"stops when {chosen.words[0].lower()}{chosen.words[1:]}{of} at {level_title(level)} is known to ± {amount}"
