"""What a meeting may move of an S-DHC scenario: margins and thresholds."""

from __future__ import annotations

from fractions import Fraction

from phexplore.catalog.tables import counted_in
from phexplore.figures.stops import people_stops
from phexplore.figures.wording import budget_text, margin_word, people
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario
from phexplore.noise.draws import NoisyAnswer
from phexplore.systems.meeting import MeetingParameter
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.forecast import forecast

_PEOPLE = people_stops(4)
_THRESHOLDS = tuple(Fraction(n) for n in range(1, 61))
_MOST_LIKELY = 3


def meeting_parameters(scenario: Scenario) -> tuple[MeetingParameter, ...]:
    """Return what a meeting may move; locked and unpublished numbers are not offered."""
    method = scenario.phsafe
    free = [query for query in method.published if query not in method.locks]
    likely = sorted(free, key=lambda query: -_finite(method.budgets[query]))[:_MOST_LIKELY]
    margins = [_margin(query, is_likely=query in likely) for query in free]
    return (*margins, *(_threshold(table) for table in method.thresholds))


def _finite(budget: Budget) -> Fraction:
    return budget if isinstance(budget, Fraction) else Fraction(0)


def _margin(query: QueryKey, *, is_likely: bool) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        if query not in scenario.phsafe.budgets:
            return None
        margins = forecast(scenario).query(query).margins
        return None if margins is None else Fraction(margins.by(scenario.conventions.margin))

    def effect(scenario: Scenario) -> str:
        entry = forecast(scenario).query(query)
        conventions = scenario.conventions
        often = f"{percent(conventions.confidence, places=None)} of published numbers are within it ({margin_word(conventions.margin)})"
        return f"Costs {budget_text(entry.bounded_budget)} of bounded loss; {often}."

    return MeetingParameter(
        f"margin {query.text}",
        f"Margin of {query.title}",
        counted_in(query.table),
        _PEOPLE,
        read,
        lambda scenario, value: edit_margin(scenario, query, value),
        lambda value: f"± {people(value)}",
        effect,
        is_likely,
        lambda scenario: noisy_answer(scenario, query),
    )


def noisy_answer(scenario: Scenario, query: QueryKey) -> NoisyAnswer | None:
    """Return one number of a query with its noise, None where it is not published.

    Args:
        scenario: with its budget.
        query: of the scenario.
    """
    found, conventions = forecast(scenario).query(query), scenario.conventions
    if found.noise is None or found.margins is None:
        return None
    return NoisyAnswer(query.title, (found.noise,), found.margins.by(conventions.margin), conventions.confidence)


def _threshold(table: TableId) -> MeetingParameter:
    return MeetingParameter(
        f"threshold {table}",
        f"Most people counted per household, {table}",
        "people",
        _THRESHOLDS,
        lambda scenario: Fraction(found) if (found := scenario.phsafe.thresholds.get(table)) is not None else None,
        lambda scenario, value: edit_threshold(scenario, table, int(value)),
        lambda value: str(int(value)),
        lambda _scenario: "Fewer means less noise and leaves people of large households out of the counts.",
    )
