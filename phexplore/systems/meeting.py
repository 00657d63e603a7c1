"""What a meeting may move: one exact number each, with its stops, its edit and a sentence about what it buys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.figures.stops import log_stops
from phexplore.figures.wording import capital, people
from phexplore.model.fields import Declared, Field, declared_fields
from phexplore.model.kinds import Exact
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.noise.draws import NoisyAnswer

_STOPS = log_stops(-2, 2)


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
        is_likely: whether a meeting is likely to be about it: a large part of the loss.
        answer: gives an answer whose noise it decides, None for none.
    """

    key: str
    title: str
    unit: str
    stops: tuple[Fraction, ...]
    read: Callable[[Scenario], Fraction | None]
    edit: Callable[[Scenario, Fraction], Scenario]
    words: Callable[[Fraction], str]
    effect: Callable[[Scenario], str]
    is_likely: bool = False
    answer: Callable[[Scenario], NoisyAnswer | None] = lambda _: None


Margins = Callable[[Scenario], Mapping[str, float | None]]
"""Gives the margin of every measured query by its place, None when it is not published."""


def declared_parameters(scenario: Scenario, margins: Margins) -> tuple[MeetingParameter, ...]:
    """Return the positive exact numbers that parameters declare: their privacy loss.

    Args:
        scenario: of a system without a list of its own.
        margins: of a version of it.
    """
    method: Any = scenario.method
    parts = declared_fields(type(method)) if isinstance(method, Declared) else ()
    return tuple(_declared(part, margins) for part in parts if part.kind == Exact(above=0) and part.is_parameter)


def _declared(part: Field, margins: Margins) -> MeetingParameter:
    def read(scenario: Scenario) -> Fraction | None:
        value: Any = getattr(scenario.method, part.name)
        return value if isinstance(value, Fraction) else None

    def edit(scenario: Scenario, value: Fraction) -> Scenario:
        changed: Any = {part.name: value}
        return replace(scenario, method=replace(scenario.method, **changed))

    def effect(scenario: Scenario) -> str:
        try:
            known = [margin for margin in margins(scenario).values() if margin is not None]
        except PhexploreError as error:
            return error.sentence
        if not known:
            return ""
        low, high = people(min(known)), people(max(known))
        return (
            f"The margin of one answer is ± {low}."
            if low == high
            else f"Margins of one answer from ± {low} to ± {high}."
        )

    title = capital(part.title)
    return MeetingParameter(part.name, title, part.symbol, _STOPS, read, edit, exact_text, effect, is_likely=True)
