"""The figures of a forecast as JSON, key by key as the command-line contract says; bundles hold the same."""

from __future__ import annotations

import math
from typing import Any

from phexplore.accuracy.margins import Margins
from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.model.conventions import Conventions
from phexplore.model.fields import encode
from phexplore.model.numbers import exact_text


def conventions_json(conventions: Conventions) -> dict[str, Any]:
    """Return the conventions with exact numbers as text and a float beside them where checks compare."""
    return {**encode(conventions), "delta": float(conventions.delta)}


def epsilon_json(figure: EpsilonFigure, unconverted: str = "pure-dp") -> dict[str, Any]:
    """Return one ε with what it was computed from.

    Args:
        figure: to be stated.
        unconverted: what an ε is called that comes from no conversion.
    """
    stated = {
        "delta": float(figure.delta),
        "value": figure.value,
        "conversion": figure.conversion.value if figure.conversion else unconverted,
        "neighbours": figure.neighbours.value,
        "rho": exact_text(figure.rho) if figure.rho is not None else None,
    }
    if figure.low is not None:
        stated |= {"low": figure.low, "high": figure.value}
    if figure.bypass_high is not None:
        stated["bypass_high"] = figure.bypass_high
    return stated


def exact_json(bracket: tuple[float, float] | None) -> dict[str, float]:
    """Return the proven ends of an ε that stands beside others; nothing without."""
    return {} if bracket is None else {"exact_low": bracket[0], "exact_high": bracket[1]}


def margins_json(margins: Margins | None) -> dict[str, Any]:
    """Return the three margins; all null for a query that is not published."""
    if margins is None:
        return {"exact": None, "normal": None, "paper": None}
    return {"exact": margins.exact, "normal": margins.normal, "paper": margins.paper}


def finite_or_none(value: float) -> float | None:
    """JSON has no infinity: an unbounded end is null."""
    return value if math.isfinite(value) else None
