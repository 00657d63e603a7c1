"""What a meeting may move of a TopDown scenario: the total, shares of levels and of queries."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from phexplore.figures.stops import log_stops
from phexplore.figures.wording import budget_text, people, share_percent
from phexplore.model.edits import set_field
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
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
        f"Whole privacy loss, {symbol}",
        symbol,
        _TOTALS,
        lambda scenario: scenario.topdown.total,
        lambda scenario, value: set_field(scenario, "total", value),
        lambda value: budget_text(value, places=4),
        lambda _scenario: "More loss makes every margin narrower; all shares stay.",
        is_likely=True,
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
    )


def _query_effect(key: LevelQuery, scenario: Scenario) -> str:
    for entry in forecast_topdown(scenario.topdown, scenario.conventions).entries:
        if entry.key == key and entry.margins is not None:
            margin = people(entry.margins.by(scenario.conventions.margin))
            return f"Margin of one answer ±{margin} {counted(scenario.topdown.schema)}, before post-processing."
    return "Not measured."
