"""The figures of a TopDown forecast as JSON, key by key as the command-line contract says."""

from __future__ import annotations

from typing import Any

from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.systems.topdown.forecast import WITHOUT_BLOCKS, JointRelease, TopDownForecast
from phexplore.systems.topdown.spine_forecast import SpineComparison


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
            "epsilon": [epsilon_json(figure) for figure in figures.epsilons],
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
