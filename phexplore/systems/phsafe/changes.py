"""Differences between two scenarios as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from phexplore.catalog.tables import counted_in
from phexplore.figures.wording import counted, people
from phexplore.model.diff import Change, changed_values
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.systems.phsafe.forecast import Forecast


def change_sentence(change: Change, before: Forecast, after: Forecast) -> str:
    """Return one change, its effect on people first: ``PH3 (State, A-G): margin 20.0 people → 25.8 people; unbounded ρ 0.66 → 0.4``.

    Args:
        change: what differs.
        before: figures of the first scenario, for the margin it had.
        after: figures of the second.
    """
    values = f"{shown_value(change.before)} → {shown_value(change.after)}"
    key = change.key.title if isinstance(change.key, QueryKey) else str(change.key or "")
    match change.word:
        case "budget" if isinstance(change.key, QueryKey):
            old, new = _margin(before, change.key), _margin(after, change.key)
            was, now = before.privacy.framework.symbol, after.privacy.framework.symbol
            values = values if was == now else f"{shown_value(change.before)} → {now} {shown_value(change.after)}"
            margins = f"still {new}" if old == new else f"{old} → {new}"
            return f"{key}: margin {margins}; unbounded {was} {values}"
        case "target":
            return f"{key}: margin target {values}"
        case "threshold":
            old, new = _sensitivity(before, change.key), _sensitivity(after, change.key)
            return f"{key}: truncation threshold {values}; sensitivity {old} → {new} people"
        case _:
            return f"{change.word.capitalize()}: {' → '.join(changed_values(change))}"


def visible_changes(changes: Iterable[Change], before: Forecast, after: Forecast) -> tuple[tuple[Change, ...], int]:
    """Return the changes with a visible effect, the largest first, and the number of the other budgets.

    Args:
        changes: of parameters.
        before: figures of the baseline.
        after: present figures.
    """
    sized: list[tuple[float, Change]] = []
    hidden = 0
    then, now = ({entry.query: entry.margins for entry in each.queries} for each in (before, after))
    for change in changes:
        if change.word == "budget" and isinstance(change.key, QueryKey):
            old, new = then.get(change.key), now.get(change.key)
            same = before.privacy.framework is after.privacy.framework
            if same and old and new and _margin(before, change.key) == _margin(after, change.key):
                hidden += 1
                continue
            first, last = (each and each.by(after.conventions.margin) for each in (old, new))
        else:
            first, last = change.before, change.after
        sized.append((_relative(first, last), change))
    sized.sort(key=lambda pair: -pair[0])
    return tuple(change for _, change in sized), hidden


def adjusted_line(hidden: int) -> str:
    """Return the line about budgets whose change no margin shows."""
    return f"{counted(hidden, 'budget')} adjusted, margins unchanged"


def change_sentences(changes: Iterable[Change], before: Forecast, after: Forecast) -> tuple[str, ...]:
    """Return the visible changes as sentences, the largest first, then one line about the others.

    Args:
        changes: of parameters.
        before: figures of the baseline.
        after: present figures.
    """
    visible, hidden = visible_changes(changes, before, after)
    return (
        *(change_sentence(change, before, after) for change in visible),
        *([adjusted_line(hidden)] if hidden else ()),
    )


def _relative(first: object, last: object) -> float:
    if not isinstance(first, (int, float, Fraction)) or not isinstance(last, (int, float, Fraction)) or not first:
        return math.inf
    return abs(float(last) - float(first)) / abs(float(first))


def _margin(forecast: Forecast, query: QueryKey) -> str:
    margins = next((entry.margins for entry in forecast.queries if entry.query == query), None)
    if margins is None:
        return "not published"
    return f"{people(margins.by(forecast.conventions.margin))} {counted_in(query.table)}"


def _sensitivity(forecast: Forecast, table: object) -> str:
    return next((str(entry.sensitivity) for entry in forecast.queries if entry.query.table == table), "none")


def shown_value(value: Any) -> str:
    """Return a value as a sentence has it: exact, ∞ for a budget without bound, none for none."""
    match value:
        case None:
            return "none"
        case Unlimited():
            return "∞"
        case Fraction():
            return exact_text(value)
        case _:
            return str(value)
