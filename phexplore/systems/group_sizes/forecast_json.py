"""The figures of a forecast of group sizes as JSON, with the keys of the command-line contract and its own."""

from __future__ import annotations

from typing import Any

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.systems.group_sizes.forecast import GroupSizesForecast, LevelForecast


def group_sizes_json(scenario: Scenario, figures: GroupSizesForecast, errata: tuple[str, ...]) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    method = scenario.group_sizes
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
            "epsilon": [epsilon_json(figure) for figure in figures.epsilons],
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
        "errata": list(errata),
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
