"""What a project asks of its scenarios, as JSON: decision rules, and goals by system. Exact, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from phexplore.files.goals_file import goals_json
from phexplore.files.rules_json import decode_rule, encode_rule
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.goals import Cap, CapOn, Goals, Key, Tie, TiedBy
from phexplore.model.numbers import parse_exact
from phexplore.model.rules import Rule
from phexplore.model.scenario import METHODS
from phexplore.model.topdown import LEVEL_QUERY
from phexplore.model.workbook import Workbook


def encode_agenda(workbook: Workbook) -> dict[str, Any]:
    """Return rules and goals of a workbook, both possibly empty."""
    return {
        "rules": [encode_rule(rule) for rule in workbook.rules],
        "goals": {system: goals_json(goals) for system, goals in workbook.goals.items()},
    }


def decode_rules(value: Any) -> tuple[Rule, ...]:
    """Read rules.

    Raises:
        ValueError, TypeError, PhexploreError: they cannot be read.
    """
    if not isinstance(value, list):
        raise TypeError(f"a list of rules is expected, got {value!r}")
    return tuple(decode_rule(entry) for entry in value)


def decode_goals(value: Any) -> dict[str, Goals]:
    """Read goals by system.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, PhexploreError: they cannot be read.
    """
    if not isinstance(value, dict):
        raise TypeError(f"goals by system are expected, got {value!r}")
    known = {cls.__name__.casefold(): getattr(cls, "query_key", LEVEL_QUERY) for cls in METHODS.values()}
    return {str(system): _goals(entry, known.get(system, LEVEL_QUERY).read) for system, entry in value.items()}


def _goals(value: Any, parse: Callable[[str], Key]) -> Goals:
    return Goals(
        {parse(text): parse_exact(number) for text, number in value.get("targets", {}).items()},
        {parse(text): parse_exact(number) for text, number in value.get("floors", {}).items()},
        tuple(_cap(entry, parse) for entry in value.get("caps", [])),
        tuple(
            Tie(tuple(parse(text) for text in entry["queries"]), TiedBy(entry.get("equal", TiedBy.MARGIN.value)))
            for entry in value.get("ties", [])
        ),
        frozenset(parse(text) for text in value.get("locks", [])),
    )


def _cap(value: Mapping[str, Any], parse: Callable[[str], Key]) -> Cap:
    on = next((each for each in CapOn if each.value in value), None)
    if on is None:
        raise ValueError(f"a cap limits one of {', '.join(each.value for each in CapOn)}")
    usual = Cap(on, parse_exact(value[on.value]))
    chosen = value.get("queries")
    return Cap(
        on,
        usual.limit,
        None if chosen is None else frozenset(parse(text) for text in chosen),
        Neighbours(value.get("neighbours", usual.neighbours.value)),
        parse_exact(value["delta"]) if "delta" in value else usual.delta,
        Conversion(value.get("conversion", usual.conversion.value)),
    )
