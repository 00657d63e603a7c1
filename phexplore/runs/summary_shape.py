"""The shape of ``summary.json``, checked where it is read, so that whoever uses it need not ask of what kind a value is.

A member may be missing: earlier versions wrote fewer. One that is there is of its kind. Members that nobody uses may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], bool] | dict[str, Any] | list[Any]
"""A kind, an object by its members (``*``: all others; a name with ``!``: has to be there), or a list of one shape."""


def count(value: Any) -> bool:
    """Return whether this is a whole number from 0 on."""
    return type(value) is int and value >= 0


def number(value: Any) -> bool:
    """Return whether this is a number, or null for a figure that does not exist."""
    return value is None or (type(value) in {int, float} and math.isfinite(value))


def text(value: Any) -> bool:
    """Return whether this is a text."""
    return isinstance(value, str)


def flag(value: Any) -> bool:
    """Return whether this is true or false."""
    return isinstance(value, bool)


def failed_checks(checks: Mapping[str, Any]) -> list[str]:
    """Return the names of the checks of a summary that failed: false, or a count of failures above 0."""
    return [name for name, value in checks.items() if not (value if flag(value) else value == 0)]


def single(value: Any) -> bool:
    """Return whether this is one value, not a list and not an object."""
    return text(value) or flag(value) or number(value)


def loss(value: Any) -> bool:
    """Return whether this is a privacy loss in words, or those of several parts."""
    return text(value) or (isinstance(value, list) and not misfit(value, [{"*": single}]))


_FIGURES: Shape = {"*": number}
_FIGURE: Shape = {"value!": number, "*": number}
_METRIC: Shape = {
    "level": text, "table": text, "query": text, "release": text, "mechanism": text, "cells": [count], "numbers": count,
    "regions": count, "answers": count, "trials": count, "units": count, "unbiased": flag, "as_expected": flag,
    "coverage": _FIGURE, "observed_margin": _FIGURE, "total": {"*": _FIGURE}, "noise": {"*": _FIGURE}, "truncation": _FIGURES,
    "l1": _FIGURES, "individuals_moved": _FIGURES, "sizes": [{"size!": text, "*": number}], "one_minus_tvd": _FIGURE,
    "mean_largest": _FIGURE, "quantiles": {"*": [number]}, "by_size": {"*": {"numbers": count, "*": _FIGURE}}, "*": number,
}  # fmt: skip
_LEVEL: Shape = {
    "level!": text, "structural_zeros": [text], "passes": [[text]], "rounder": [[text]],
    "queries": [{"cells": count, "variance": number, "*": text}], "*": single,
}  # fmt: skip
SUMMARY: Shape = {
    "version": count, "identity": text, "fingerprint": text, "scenario": text, "mode": text, "estimator": text, "code_version": text, "seed": number,
    "trials": count, "trials_asked": count, "reproducible": flag, "releasable": flag, "synthetic_data": flag, "provenance": {"kind": text, "source": text}, "numbers": count,
    "seconds": {"*": number}, "peak_mb": number, "checks": {"*": single}, "failsafe": count, "relaxed": count, "unfinished": count,
    "broken_totals": {"*": {"units!": count, "trials!": count, "broken!": count}},
    "privacy": {"levels": [{"*": single}], "epsilon": loss, "protected": [text], "not_protected": [text], "*": text},
    "conventions": {"*": text}, "confidentiality": {"*": single}, "coverage": _FIGURE, "violations": _FIGURES,
    "data": {"levels": [{"level!": text, "regions!": count}], "remarks": [text], "title": text, "*": count},
    "design": {"levels": [_LEVEL], "dropped": [{"*": text}], "remarks": [text], "schema": text, "scenario_schema": text},
    "metrics": [_METRIC],
    "redistricting": [{"level!": text, "query": text, "criterion!": {"share!": {"held!": count, "of!": count, "*": number}}}],
    "facility_repair": [{"level!": text, "*": count}], "production_metrics": {"queries": {"*": text}, "skipped_levels": [text], "unknown": [text]},
    "truncation": [{"table!": text, "tau": count, "or_larger": count, "sizes": [{"size!": count, "households!": count, "*": count}]}],
    "accuracy_report": [{}],
}  # fmt: skip


def misfit(value: Any, shape: Shape = SUMMARY, place: tuple[str, ...] = ()) -> str:
    """Return where a value has another shape, "" where it has this one.

    Args:
        value: plain JSON.
        shape: that it should have.
        place: where the value stands.
    """
    match shape:
        case dict() if isinstance(value, Mapping):
            named = {name.removesuffix("!"): member for name, member in shape.items()}
            missing = [name[:-1] for name in shape if name.endswith("!") and name[:-1] not in value]
            if missing:
                return " › ".join((*place, missing[0]))
            others = named.get("*")
            members = ((name, item, named.get(name, others)) for name, item in value.items())
            found = (misfit(item, of, (*place, name)) for name, item, of in members if of is not None)
            return next(filter(None, found), "")
        case [of] if isinstance(value, list):
            found = (misfit(item, of, (*place, str(place_))) for place_, item in enumerate(value, start=1))
            return next(filter(None, found), "")
        case dict() | list():
            return " › ".join(place) or "all of it"
    return "" if shape(value) else " › ".join(place)
