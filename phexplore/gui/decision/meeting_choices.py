"""What a meeting may move: one exact number each, with its stops, its edit and a sentence about what it buys. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from phexplore.figures.wording import budget_text, margin_word, people, percent, share_percent
from phexplore.gui.widgets.stop_slider import log_stops, people_stops
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.topdown.edits import set_level_share, set_query_share, set_total
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.wording import level_title, place_title

_PEOPLE = people_stops(4)
_TOTALS = log_stops(-2, 2)
_SHARES = tuple(Fraction(n, 200) for n in range(201))
"""Half points from 0 to all."""
_THRESHOLDS = tuple(Fraction(n) for n in range(1, 61))


@dataclass(frozen=True, slots=True)
class MeetingParameter:
    """A number that a meeting may move.

    Attributes:
        key: names it in this system.
        title: for people.
        unit: of the value, "" for none.
        stops: exact values the slider stands on, ascending.
        read: gives the value a scenario has, None when it has none to move.
        edit: gives the scenario with another value.
        words: gives a value as text.
        effect: gives one sentence about what the scenario gets for it.
    """

    key: str
    title: str
    unit: str
    stops: tuple[Fraction, ...]
    read: Callable[[Scenario], Fraction | None]
    edit: Callable[[Scenario, Fraction], Scenario]
    words: Callable[[Fraction], str]
    effect: Callable[[Scenario], str]


def meeting_parameters(scenario: Scenario) -> tuple[MeetingParameter, ...]:
    """Return everything of a scenario that a meeting may move; locked and unpublished numbers are not offered."""
    match scenario.method:
        case PhSafe() as method:
            margins = [_margin(query) for query in method.published if query not in method.locks]
            return (*margins, *(_threshold(table) for table in method.thresholds))
        case TopDown() as method:
            levels = [_level(level) for level in method.levels if level not in method.locked_levels]
            queries = [_query(key) for key in method.query_shares if key not in method.locked_queries]
            return (_total(method), *levels, *queries)
        case _:
            return ()


def first_choice(scenario: Scenario) -> tuple[str, ...]:
    """Return the keys of what a meeting is likely to be about: the largest shares of the loss."""
    match scenario.method:
        case PhSafe() as method:
            free = [query for query in method.published if query not in method.locks]
            spent = {query: _finite(method.budgets[query]) for query in free}
            return tuple(f"margin {query.text}" for query in sorted(free, key=lambda query: -spent[query])[:3])
        case TopDown() as method:
            levels = [level for level in method.levels if level not in method.locked_levels]
            largest = sorted(levels, key=method.level_shares.__getitem__, reverse=True)
            return ("total", *(f"level {level}" for level in largest[:2]))
        case _:
            return ()


def _finite(budget: Budget) -> Fraction:
    return budget if isinstance(budget, Fraction) else Fraction(0)


def _margin(query: QueryKey) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        if query not in scenario.phsafe.budgets:
            return None
        margins = forecast(scenario).query(query).margins
        return None if margins is None else Fraction(margins.by(scenario.conventions.margin))

    def effect(scenario: Scenario) -> str:
        entry = forecast(scenario).query(query)
        conventions = scenario.conventions
        often = f"{percent(conventions.confidence, places=0)} of published numbers are within it ({margin_word(conventions.margin)})"
        return f"Costs {budget_text(entry.bounded_budget)} of bounded loss; {often}."

    return MeetingParameter(
        f"margin {query.text}",
        f"Margin of {query.title}",
        "people",
        _PEOPLE,
        read,
        lambda scenario, value: edit_margin(scenario, query, value),
        lambda value: f"± {people(value)}",
        effect,
    )


def _threshold(table: TableId) -> MeetingParameter:
    return MeetingParameter(
        f"threshold {table}",
        f"Household size counted, τ of {table}",
        "people",
        _THRESHOLDS,
        lambda scenario: Fraction(found) if (found := scenario.phsafe.thresholds.get(table)) is not None else None,
        lambda scenario, value: edit_threshold(scenario, table, int(value)),
        lambda value: str(int(value)),
        lambda _scenario: "Fewer means less noise and leaves people of large households out of the counts.",
    )


def _total(method: TopDown) -> MeetingParameter:
    symbol = method.framework.symbol
    return MeetingParameter(
        "total",
        f"Whole privacy loss, {symbol}",
        symbol,
        _TOTALS,
        lambda scenario: scenario.topdown.total,
        set_total,
        lambda value: budget_text(value, places=4),
        lambda _scenario: "More loss makes every margin narrower; all shares stay.",
    )


def _level(level: str) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        return scenario.topdown.level_shares.get(level)

    def effect(scenario: Scenario) -> str:
        entries = [e for e in forecast_topdown(scenario.topdown, scenario.conventions).entries if e.key.level == level]
        known = [e for e in entries if e.margins is not None]
        if not known:
            return "Nothing is measured at this level."
        margins = [float(e.margins.by(scenario.conventions.margin)) for e in known if e.margins is not None]
        return f"Margins of one answer here from ± {people(min(margins))} to ± {people(max(margins))} people, before post-processing."

    return MeetingParameter(
        f"level {level}",
        f"Share of {level_title(level)}",
        "of the loss",
        _SHARES,
        read,
        lambda scenario, value: set_level_share(scenario, level, value),
        share_percent,
        effect,
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
            return f"Margin of one answer ± {people(entry.margins.by(scenario.conventions.margin))} people, before post-processing."
    return "Not measured."
