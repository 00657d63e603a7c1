"""What a meeting may move of a TopDown scenario: the total, shares of levels and of queries."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from phexplore.figures.stops import log_stops
from phexplore.figures.wording import bound_text, people, share_percent
from phexplore.model.edits import set_field
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.noise.draws import NoisyAnswer
from phexplore.systems.meeting import MeetingParameter
from phexplore.systems.topdown.edits import set_level_share, set_query_share
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.wording import counted, level_title, place_title

_TOTALS = log_stops(-2, 2)
_SHARES = tuple(Fraction(n, 200) for n in range(201))
"""Half points from 0 to all."""
_MOST_LIKELY = 2


def meeting_parameters(scenario: Scenario) -> tuple[MeetingParameter, ...]:
    """Return what a meeting may move; locked shares are not offered."""
    method = scenario.topdown
    levels = [level for level in method.levels if level not in method.locked_levels]
    likely = sorted(levels, key=method.level_shares.__getitem__, reverse=True)[:_MOST_LIKELY]
    queries = [_query(key) for key in method.query_shares if key not in method.locked_queries]
    return (_total(method), *(_level(level, is_likely=level in likely) for level in levels), *queries)


def _total(method: TopDown) -> MeetingParameter:
    symbol = method.framework.symbol
    return MeetingParameter(
        "total",
        "Whole privacy loss",
        symbol,
        _TOTALS,
        lambda scenario: scenario.topdown.total,
        lambda scenario, value: set_field(scenario, "total", value),
        bound_text,
        lambda _scenario: "More loss makes every margin narrower; all shares stay.",
        is_likely=True,
        answer=_first_answer,
    )


def _level(level: str, *, is_likely: bool) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        return scenario.topdown.level_shares.get(level)

    def effect(scenario: Scenario) -> str:
        entries = [e for e in forecast_topdown(scenario.topdown, scenario.conventions).entries if e.key.level == level]
        known = [e for e in entries if e.margins is not None]
        if not known:
            return "Nothing is measured at this level."
        margins = [float(e.margins.by(scenario.conventions.margin)) for e in known if e.margins is not None]
        ends, what = f"±{people(min(margins))} to ±{people(max(margins))}", counted(scenario.topdown.schema)
        return f"Margins of one answer here from {ends} {what}, before post-processing."

    return MeetingParameter(
        f"level {level}",
        f"Share of {level_title(level)}",
        "of the loss",
        _SHARES,
        read,
        lambda scenario, value: set_level_share(scenario, level, value),
        share_percent,
        effect,
        is_likely,
        partial(_first_answer, level=level),
    )


def _query(key: LevelQuery) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        return scenario.topdown.query_shares.get(key)

    return MeetingParameter(
        f"query {key.text}",
        f"Share of {place_title(key)}",
        f"of {level_title(key.level)}",
        _SHARES,
        read,
        lambda scenario, value: set_query_share(scenario, key, value),
        share_percent,
        partial(_query_effect, key),
        answer=partial(noisy_answer, key=key),
    )


def _first_answer(scenario: Scenario, level: str = "") -> NoisyAnswer | None:
    """Return the first answer that is measured at a level, at any for ""."""
    keys = (key for key in scenario.topdown.query_shares if level in {"", key.level})
    return next((found for key in keys if (found := noisy_answer(scenario, key)) is not None), None)


def noisy_answer(scenario: Scenario, key: LevelQuery) -> NoisyAnswer | None:
    """Return one answer of a query at a level with its noise, None where it is not measured.

    Args:
        scenario: with its budgets.
        key: level and query.
    """
    conventions = scenario.conventions
    for entry in forecast_topdown(scenario.topdown, conventions).entries:
        if entry.key == key and entry.noise is not None and entry.margins is not None:
            margin = entry.margins.by(conventions.margin)
            becomes = "is measured, before post-processing, as"
            return NoisyAnswer(place_title(key), (entry.noise,), margin, conventions.confidence, becomes)
    return None


def _query_effect(key: LevelQuery, scenario: Scenario) -> str:
    for entry in forecast_topdown(scenario.topdown, scenario.conventions).entries:
        if entry.key == key and entry.margins is not None:
            margin = people(entry.margins.by(scenario.conventions.margin))
            return f"Margin of one answer ±{margin} {counted(scenario.topdown.schema)}, before post-processing."
    return "Not measured."
