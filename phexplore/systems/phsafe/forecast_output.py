"""The figures of an S-DHC forecast as JSON, key by key as the command-line contract says, and as text."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.accuracy.proven_loss import proven_figures
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.report.forecast_json import conventions_json, epsilon_json, finite_or_none, margins_json
from phexplore.report.terminal import margin_texts, print_epsilons, print_table, tell
from phexplore.systems.phsafe.forecast import DerivedForecast, QueryForecast, forecast
from phexplore.systems.phsafe.ratios import RatioForecast, ratio_forecasts


def forecast_json(scenario: Scenario, _: Path | None = None) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    figures = forecast(scenario)
    ratios = ratio_forecasts(figures)
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
            "epsilon": [epsilon_json(figure) for figure in proven_figures(privacy.epsilons, figures.noise)],
        },
        "cells": [_query_json(scenario, entry, figures.share(entry.budget)) for entry in figures.queries],
        "derived": [_derived_json(entry) for entry in figures.derived] + [_ratio_json(entry) for entry in ratios],
    }


def _query_json(scenario: Scenario, entry: QueryForecast, share: Fraction | None) -> dict[str, Any]:
    target = scenario.phsafe.targets.get(entry.query)
    return {
        "table": entry.query.table,
        "level": entry.query.level.text,
        "tau": entry.threshold,
        "sensitivity": entry.sensitivity,
        "rho": exact_text(entry.budget),
        "bounded_rho": exact_text(entry.bounded_budget),
        "share": exact_text(share) if share is not None else None,
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
        "interval": [finite_or_none(entry.interval.low), finite_or_none(entry.interval.high)],
        "reliable": entry.interval.reliable,
        "moe": {"exact": None, "normal": finite_or_none(entry.interval.margin), "paper": None},
    }


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print the losses and every margin."""
    figures = forecast(scenario)
    privacy = figures.privacy
    symbol = privacy.framework.symbol
    tell(scenario.name)
    tell(f"{symbol} bounded {exact_text(privacy.bounded_total)}, unbounded {exact_text(privacy.total)}")
    print_epsilons(proven_figures(privacy.epsilons, figures.noise))
    rows = [
        (
            entry.query.table,
            entry.query.level.title,
            str(entry.threshold or "-"),
            exact_text(entry.budget),
            exact_text(entry.bounded_budget),
            *margin_texts(entry.margins),
        )
        for entry in figures.queries
    ]
    header = ("table", "level", "τ", symbol, f"bounded {symbol}", "MOE exact", "MOE normal", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))
