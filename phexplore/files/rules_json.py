"""Decision rules as readable JSON, and back with every problem listed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import read_text
from phexplore.files.json_text import MOST_VALUES, plain_values
from phexplore.library import own_entries, text_of
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.rules import Bound, Measure, Rule

_OPTIONAL = {"place": "", "figure": "", "least_people": 500, "tolerance": "0.05"}
_KEYS = ("measure", "at_most", "at_least", *_OPTIONAL)


def encode_rule(rule: Rule) -> dict[str, Any]:
    """Return one rule as JSON; what has its usual value is left out."""
    key = "at_most" if rule.bound is Bound.AT_MOST else "at_least"
    found: dict[str, Any] = {"measure": rule.measure.value, key: exact_text(rule.limit)}
    further = {
        "place": rule.place,
        "figure": rule.figure,
        "least_people": rule.least_people,
        "tolerance": exact_text(rule.tolerance),
    }
    return found | {name: value for name, value in further.items() if value != _OPTIONAL[name]}


def write_rules(rules: Sequence[Rule]) -> bytes:
    """Return rules as a file."""
    content = {"rules": [encode_rule(rule) for rule in rules]}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def read_rules(text: str, name: str = "rules.json") -> tuple[Rule, ...]:
    """Read rules.

    Args:
        text: of the file.
        name: of the file, for problems.

    Raises:
        InputProblemsError: every rule that cannot be read.
    """
    value = plain_values(text, name, "Correct it here.", most=MOST_VALUES)
    entries = value.get("rules") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise InputProblemsError([Issue((name,), "The file holds no list of rules.", 'Write {"rules": [ … ]}.')])
    if not entries:
        raise InputProblemsError([Issue((name,), "The file holds no rule.", "Write one, e.g. the margin of a query.")])
    rules, issues = [], []
    for number, entry in enumerate(entries, start=1):
        try:
            rules.append(decode_rule(entry))
        except (ValueError, TypeError, PhexploreError) as error:
            remedy = error.remedy if isinstance(error, PhexploreError) else "Correct the rule."
            issues.append(Issue((name, f"rule {number}"), f"{error}".rstrip(".") + ".", remedy))
    if issues:
        raise InputProblemsError(issues)
    return tuple(rules)


def own_rules() -> dict[str, tuple[Rule, ...]]:
    """Return the sets of rules of the user's library, by name."""
    return dict(own_entries("rules", lambda path: read_rules(text_of(path), path.name)))


def rules_named(text: str) -> tuple[Rule, ...]:
    """Return the rules of a file, or those of the user's library called so.

    Raises:
        InputProblemsError: there is neither, or every rule that cannot be read.
    """
    path = Path(text)
    own = {} if path.exists() else own_rules()
    return own[text] if text in own else read_rules(read_text(path), path.name)


def decode_rule(value: Any) -> Rule:
    """Read one rule.

    Raises:
        ValueError, TypeError, PhexploreError: it cannot be read.
    """
    if not isinstance(value, dict):
        raise TypeError("a rule is an object")
    if unknown := sorted(set(value) - set(_KEYS)):
        raise ValueError(f"the key {unknown[0]!r} is unknown; known are {', '.join(_KEYS)}")
    bounds = [key for key in ("at_most", "at_least") if key in value]
    if len(bounds) != 1:
        raise ValueError("a rule has exactly one of at_most and at_least")
    given = {**_OPTIONAL, **value}
    if not isinstance(given["least_people"], int) or isinstance(given["least_people"], bool):
        raise TypeError(f"least_people is a whole number, got {given['least_people']!r}")
    known = [measure.value for measure in Measure]
    if given.get("measure") not in known:
        raise ValueError(f"the measure is one of {', '.join(known)}, got {given.get('measure')!r}")
    return Rule(
        Measure(given["measure"]),
        Bound.AT_MOST if bounds == ["at_most"] else Bound.AT_LEAST,
        _number(value[bounds[0]]),
        _text(given["place"]),
        _text(given["figure"]),
        given["least_people"],
        _number(given["tolerance"]),
    )


def _number(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"a number is expected, got {value!r}")
    return parse_exact(value if isinstance(value, str) else repr(value))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text is expected, got {value!r}")
    return value
