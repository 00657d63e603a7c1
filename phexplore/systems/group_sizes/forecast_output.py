"""The figures of a forecast of group sizes as JSON with the keys of the command-line contract, as text and as a table."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from phexplore.catalog.presets import errata_of
from phexplore.figures.wording import to_places
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.report.terminal import margin_texts, print_epsilons, print_guarantees, print_table, tell
from phexplore.systems.group_sizes.forecast import GroupSizesForecast, LevelForecast, forecast, forecast_group_sizes
from phexplore.systems.group_sizes.presets import group_sizes_presets


def forecast_json(scenario: Scenario, _: Path | None = None) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    method = scenario.group_sizes
    figures = forecast_group_sizes(method, scenario.conventions)
    zcdp = figures.framework is PrivacyFramework.ZCDP
    return {
        "scenario": scenario.name,
        "framework": figures.framework.value,
        "mechanism": method.mechanism.value,
        "largest": method.largest,
        "conventions": {**conventions_json(figures.conventions), "neighbours": "unbounded"},
        "privacy": {
            "rho": exact_text(figures.total) if zcdp else None,
            "pure_epsilon": None if zcdp else exact_text(figures.total),
            "epsilon": [epsilon_json(figure) for figure in forecast(scenario).stated()],
            "protected": list(figures.protected),
            "not_protected": list(figures.not_protected),
            "published_chain_total": (
                exact_text(figures.published_chain_total) if figures.published_chain_total is not None else None
            ),
        },
        "levels": [
            {"level": level.level, "regions": level.regions, "share": exact_text(level.share)}
            for level in figures.levels
        ],
        "cells": [_level_json(method, level) for level in figures.levels],
        "derived": _derived_json(method, figures),
        "errata": list(errata_of(group_sizes_presets(), scenario)),
    }


def _level_json(method: GroupSizes, level: LevelForecast) -> dict[str, Any]:
    noise = level.noise.noise
    return {
        "level": level.level,
        "query": "cumulative sizes" if method.mechanism.is_cumulative else "sizes",
        "cells": level.answers,
        "share": exact_text(level.share),
        "rho": exact_text(level.budget) if isinstance(noise, DiscreteGaussian) else None,
        "epsilon": exact_text(level.budget) if isinstance(noise, TwoSidedGeometric) else None,
        "sensitivity": {"l1": level.noise.sensitivity, "squared_l2": level.noise.sensitivity},
        "distribution": noise.name,
        "scale": exact_text(noise.scale) if isinstance(noise, TwoSidedGeometric) else None,
        "sigma2": exact_text(noise.sigma2) if isinstance(noise, DiscreteGaussian) else None,
        "sigma": level.sigma,
        "moe": margins_json(level.answer_margins),
    }


def _derived_json(method: GroupSizes, figures: GroupSizesForecast) -> list[dict[str, Any]]:
    """Return the margins of single sizes where cumulative ones are measured."""
    if not method.mechanism.is_cumulative:
        return []
    return [
        {"level": level.level, "query": "sizes", "kind": "difference", "moe": margins_json(level.size_margins)}
        for level in figures.levels
    ]


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    figures = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    method = scenario.group_sizes
    symbol = figures.framework.symbol
    tell(scenario.name)
    tell(f"mechanism {method.mechanism.value}, sizes 1 to {method.largest:,}")
    tell(f"{symbol} {exact_text(figures.total)} (one individual of a group more or less)")
    print_epsilons(forecast(scenario).stated())
    if figures.published_chain_total is not None:
        shown = exact_text(figures.published_chain_total)
        tell(f"with the paper's own noise on the chain it would be {symbol} {shown}")
    print_guarantees(figures.protected, figures.not_protected, errata_of(group_sizes_presets(), scenario))
    rows = [
        (
            level.level,
            f"{level.regions:,}",
            f"{level.answers:,}",
            exact_text(level.share),
            f"{float(level.budget):.6g}",
            str(level.noise.sensitivity),
            to_places(level.sigma),
            *margin_texts(level.answer_margins)[:2],
            margin_texts(level.size_margins)[0],
        )
        for level in figures.levels
    ]
    header = ("level", "regions", "answers", "share", symbol, "Δ", "σ", "MOE exact", "MOE normal", "MOE of one size")
    print_table(header, rows, right=range(1, 10))


_COLUMNS = ("LEVEL", "REGIONS", "ANSWERS", "MECHANISM", "FRAMEWORK", "SHARE", "BUDGET", "SENSITIVITY", "NOISE", "SIGMA",
            "MOE_EXACT", "MOE_NORMAL", "ONE_SIZE_MOE_EXACT", "ONE_SIZE_MOE_NORMAL")  # fmt: skip


def forecast_csv(scenario: Scenario, _: Scenario | None = None, __: datetime | None = None) -> bytes:
    """Return a line per level: its budget, noise and margins. RFC 4180, UTF-8."""
    method = scenario.group_sizes
    lines = (
        [
            level.level,
            level.regions,
            level.answers,
            method.mechanism.value,
            method.framework.value,
            exact_text(level.share),
            exact_text(level.budget),
            level.noise.sensitivity,
            level.noise.noise.name,
            f"{level.sigma:.9g}",
            level.answer_margins.exact,
            f"{level.answer_margins.normal:.6f}",
            level.size_margins.exact,
            f"{level.size_margins.normal:.6f}",
        ]
        for level in forecast_group_sizes(method, scenario.conventions).levels
    )
    return csv_bytes([_COLUMNS, *lines])
