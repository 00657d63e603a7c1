"""The figures of a forecast as JSON, key by key as the command-line contract says; bundles hold the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from phexplore.accuracy.forecast import DerivedForecast, EpsilonFigure, Forecast, QueryForecast
from phexplore.accuracy.margins import Margins
from phexplore.accuracy.ratios import RatioForecast
from phexplore.accuracy.topdown_forecast import WITHOUT_BLOCKS, JointRelease, TopDownForecast
from phexplore.model.conventions import Conventions
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario

if TYPE_CHECKING:
    from phexplore.accuracy.spine_forecast import SpineComparison


def forecast_json(scenario: Scenario, figures: Forecast, ratios: tuple[RatioForecast, ...]) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    privacy = figures.privacy
    zcdp = privacy.framework is PrivacyFramework.ZCDP
    return {
        "scenario": scenario.name,
        "framework": privacy.framework.value,
        "conventions": conventions_json(figures.conventions),
        "privacy": {
            "rho": exact_text(privacy.total) if zcdp else None,
            "bounded_rho": exact_text(privacy.bounded_total) if zcdp else None,
            "pure_epsilon": None if zcdp else exact_text(privacy.total),
            "bounded_pure_epsilon": None if zcdp else exact_text(privacy.bounded_total),
            "epsilon": [_epsilon_json(figure) for figure in privacy.epsilons],
        },
        "cells": [_query_json(scenario, entry) for entry in figures.queries],
        "derived": [_derived_json(entry) for entry in figures.derived] + [_ratio_json(entry) for entry in ratios],
    }


def conventions_json(conventions: Conventions) -> dict[str, Any]:
    """Return the conventions with exact numbers as text and a float beside them where checks compare."""
    return {
        "neighbours": conventions.neighbours.value,
        "margin": conventions.margin.value,
        "z": exact_text(conventions.z),
        "confidence": exact_text(conventions.confidence),
        "rounding": conventions.rounding.value,
        "rounding_step": exact_text(conventions.rounding_step),
        "delta": float(conventions.delta),
    }


def _epsilon_json(figure: EpsilonFigure) -> dict[str, Any]:
    return {
        "delta": float(figure.delta),
        "value": figure.value,
        "conversion": figure.conversion.value if figure.conversion else "pure-dp",
        "neighbours": figure.neighbours.value,
        "rho": exact_text(figure.rho) if figure.rho is not None else None,
    }


def _query_json(scenario: Scenario, entry: QueryForecast) -> dict[str, Any]:
    target = scenario.phsafe.targets.get(entry.query)
    return {
        "table": entry.query.table,
        "level": entry.query.level.text,
        "tau": entry.threshold,
        "sensitivity": entry.sensitivity,
        "rho": exact_text(entry.budget),
        "bounded_rho": exact_text(entry.bounded_budget),
        "share": exact_text(entry.share) if entry.share is not None else None,
        "sigma": entry.sigma,
        "target": exact_text(target) if target is not None else None,
        "moe": margins_json(entry.margins),
    }


def _derived_json(entry: DerivedForecast) -> dict[str, Any]:
    return {
        "table": entry.table,
        "level": entry.level.text,
        "cell": entry.cell,
        "label": entry.label,
        "kind": entry.kind.value,
        "source": entry.source,
        "source_cells": list(entry.source_cells),
        "moe": margins_json(entry.margins),
    }


def _ratio_json(entry: RatioForecast) -> dict[str, Any]:
    return {
        "table": entry.table,
        "level": entry.level.text,
        "cell": entry.cell,
        "label": entry.label,
        "kind": "ratio",
        "expected": {
            "numerator": entry.numerator,
            "denominator": entry.denominator,
            "of": entry.counts_of,
        },
        "ratio": entry.interval.ratio,
        "interval": [_finite(entry.interval.low), _finite(entry.interval.high)],
        "reliable": entry.interval.reliable,
        "moe": {"exact": None, "normal": _finite(entry.interval.margin), "paper": None},
    }


def margins_json(margins: Margins | None) -> dict[str, Any]:
    """Return the three margins; all null for a query that is not published."""
    if margins is None:
        return {"exact": None, "normal": None, "paper": None}
    return {"exact": margins.exact, "normal": margins.normal, "paper": margins.paper}


def _finite(value: float) -> float | None:
    """JSON has no infinity: an unbounded end is null."""
    return value if math.isfinite(value) else None


def topdown_json(
    scenario: Scenario,
    figures: TopDownForecast,
    joint: JointRelease | None,
    errata: tuple[str, ...],
    predicted: SpineComparison | None = None,
) -> dict[str, Any]:
    """Return the content of ``forecast --json`` for TopDown.

    Args:
        scenario: the parameters.
        figures: what needs no blocks.
        joint: with the part released beside this one.
        errata: of the preset.
        predicted: margins on the scenario's spine over some blocks, None without blocks.
    """
    zcdp = figures.framework is PrivacyFramework.ZCDP
    return {
        "scenario": scenario.name,
        "framework": figures.framework.value,
        "schema": scenario.topdown.schema,
        "conventions": {**conventions_json(figures.conventions), "neighbours": "bounded"},
        "privacy": {
            "rho": exact_text(figures.total) if zcdp else None,
            "pure_epsilon": None if zcdp else exact_text(figures.total),
            "epsilon": [_epsilon_json(figure) for figure in figures.epsilons],
            "block_within": [
                {"level": loss.name, "rho": exact_text(loss.rho), "epsilon": loss.epsilon}
                for loss in figures.block_within
            ],
            "attributes": [
                {"attribute": loss.name, "rho": exact_text(loss.rho), "epsilon": loss.epsilon}
                for loss in figures.attributes
            ],
            "joint_release": _joint_json(joint),
        },
        "levels": [
            {"level": level, "share": exact_text(scenario.topdown.level_shares[level])}
            for level in scenario.topdown.levels
        ],
        "cells": [
            {
                "level": entry.key.level,
                "query": entry.key.query,
                "cells": entry.cells,
                "share": exact_text(entry.share),
                "rho": exact_text(entry.budget),
                "sigma2": exact_text(entry.sigma2) if entry.sigma2 is not None else None,
                "sigma": entry.sigma,
                "moe": margins_json(entry.margins),
            }
            for entry in figures.entries
        ],
        "derived": [],
        "spine": _spine_json(scenario, predicted),
        "errata": list(errata),
    }


def _spine_json(scenario: Scenario, predicted: SpineComparison | None) -> dict[str, Any]:
    choice = scenario.topdown.spine
    found: dict[str, Any] = {"kind": choice.kind, "settings": dict(choice.settings)}
    if predicted is None:
        return {**found, "blocks": None, "note": WITHOUT_BLOCKS}
    return {**found, "blocks": predicted.this.spine.geography.blocks, "note": None, **predicted.json()}


def _joint_json(joint: JointRelease | None) -> dict[str, Any] | None:
    if joint is None:
        return None
    return {
        "with": joint.partner,
        "rho": exact_text(joint.rho),
        "epsilon": joint.epsilon,
        "sum_of_epsilons": joint.sum_of_epsilons,
        "epsilon_bun_steinke": joint.loose_epsilon,
    }
