"""The figures of a TopDown forecast as JSON, key by key as the command-line contract says, and as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.catalog.presets import errata_of
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.report.forecast_json import conventions_json, epsilon_json, exact_json, margins_json
from phexplore.report.terminal import margin_texts, print_epsilons, print_guarantees, print_table, say, tell
from phexplore.spine.geography_reading import read_geography
from phexplore.systems.topdown.forecast import WITHOUT_BLOCKS, forecast_topdown
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.proven_loss import attributes_of_own, halves_on, proven_parts
from phexplore.systems.topdown.shared import forecast, joint_with_partner, proven_joint
from phexplore.systems.topdown.spine_forecast import SpineComparison, forecast_on_blocks
from phexplore.systems.topdown.spine_printing import print_variances


def forecast_json(scenario: Scenario, blocks: Path | None = None) -> dict[str, Any]:
    """Return the content of ``forecast --json`` for TopDown.

    Args:
        scenario: the parameters.
        blocks: for exact margins on the scenario's spine over them; None for none.
    """
    figures = forecast_topdown(scenario.topdown, scenario.conventions)
    predicted = None if blocks is None else on_blocks(scenario, blocks, queries=None)
    zcdp = figures.framework is PrivacyFramework.ZCDP
    proven = proven_parts(scenario.topdown, figures)
    of_own = attributes_of_own(scenario.topdown, figures)
    return {
        "scenario": scenario.name,
        "framework": figures.framework.value,
        "schema": scenario.topdown.schema,
        "conventions": {**conventions_json(figures.conventions), "neighbours": "bounded"},
        "privacy": {
            "rho": exact_text(figures.total) if zcdp else None,
            "pure_epsilon": None if zcdp else exact_text(figures.total),
            "epsilon": [epsilon_json(figure) for figure in _stated(scenario, predicted)],
            "block_within": [
                {
                    "level": loss.name,
                    "rho": exact_text(loss.rho),
                    "epsilon": loss.epsilon,
                    **exact_json(proven.get(loss.name)),
                }
                for loss in figures.block_within
            ],
            "attributes": [
                {
                    "attribute": loss.name,
                    "rho": exact_text(loss.rho),
                    "epsilon": loss.epsilon,
                    **exact_json(proven.get(loss.name)),
                    **dict(zip(("own_low", "own_high"), of_own.get(loss.name, ()), strict=False)),
                }
                for loss in figures.attributes
            ],
            "joint_release": _joint_json(scenario),
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
        "errata": list(errata_of(topdown_presets(), scenario)),
    }


def _spine_json(scenario: Scenario, predicted: SpineComparison | None) -> dict[str, Any]:
    choice = scenario.topdown.spine
    found: dict[str, Any] = {"kind": choice.kind, "settings": dict(choice.settings)}
    if predicted is None:
        return {**found, "blocks": None, "note": WITHOUT_BLOCKS}
    return {**found, "blocks": predicted.this.spine.geography.blocks, "note": None, **predicted.json()}


def _stated(scenario: Scenario, predicted: SpineComparison | None) -> tuple[EpsilonFigure, ...]:
    """Return ε with the paths that the spine has; without blocks, with all that it may have."""
    known = forecast(scenario)
    if predicted is not None:
        tree = predicted.this.allocation.tree
        known = replace(known, halves=lambda: halves_on(scenario.topdown, tree))
    return known.stated()


def _joint_json(scenario: Scenario) -> dict[str, Any] | None:
    joint = joint_with_partner(scenario)
    if joint is None:
        return None
    return {
        "with": joint.partner,
        "rho": exact_text(joint.rho),
        "epsilon": joint.epsilon,
        "sum_of_epsilons": joint.sum_of_epsilons,
        "epsilon_bun_steinke": joint.loose_epsilon,
        **exact_json(proven_joint(scenario, joint)),
    }


def print_forecast(scenario: Scenario, blocks: Path | None = None) -> None:
    """Print the losses and every margin; with blocks also the exact margins on the scenario's spine.

    Args:
        scenario: of TopDown.
        blocks: file of blocks, None for none.
    """
    figures = forecast_topdown(scenario.topdown, scenario.conventions)
    joint = joint_with_partner(scenario)
    predicted = None if blocks is None else on_blocks(scenario, blocks, queries=["total"])
    tell(scenario.name)
    tell(f"{figures.framework.symbol} {exact_text(figures.total)} ≈ {float(figures.total):.6f} (replace one record)")
    print_epsilons(_stated(scenario, predicted))
    proven = proven_parts(scenario.topdown, figures)
    for loss in figures.block_within:
        tell(
            f"ε = {epsilon_bound(loss.epsilon)} for the block within {loss.name}{_proven_words(proven.get(loss.name))}"
        )
    for loss in figures.attributes:
        tell(f"ε = {epsilon_bound(loss.epsilon)} for {loss.name} alone{_proven_words(proven.get(loss.name))}")
    if joint is not None:
        tell(
            f"with {joint.partner}: ε = {rounded_up(joint.epsilon, 3)} as one release (sum of both ε {rounded_up(joint.sum_of_epsilons, 3)}; "
            f"ρ + 2√(ρ ln 1/δ) = {rounded_up(joint.loose_epsilon, 3)}){_proven_words(proven_joint(scenario, joint))}"
        )
    print_guarantees((), (), errata_of(topdown_presets(), scenario))
    rows = [
        (
            entry.key.level,
            entry.key.query,
            f"{entry.cells:,}",
            exact_text(entry.share),
            f"{float(entry.budget):.6g}",
            *margin_texts(entry.margins),
        )
        for entry in figures.entries
    ]
    header = ("level", "query", "cells", "share", figures.framework.symbol, "MOE exact", "MOE normal", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))
    tell()
    if predicted is None:
        tell(WITHOUT_BLOCKS)
    else:
        print_variances(predicted)


def _proven_words(ends: tuple[float, float] | None) -> str:
    """Return the high end of a proven ε behind a published one, "" where nothing is proven."""
    return "" if ends is None else f", proven ε ≤ {rounded_up(ends[1], 4)}"


def on_blocks(scenario: Scenario, blocks: Path, *, queries: list[str] | None) -> SpineComparison:
    """Return the exact margins on the scenario's spine over some blocks; what is odd about the file is said.

    Args:
        scenario: of TopDown.
        blocks: file of blocks, None for none.
        queries: names of query groups, None for the usual.

    Raises:
        PhexploreError: the blocks cannot be read.
    """
    geography = read_geography(blocks)
    for issue in geography.warnings:
        say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
    return forecast_on_blocks(geography, scenario.topdown, scenario.conventions, queries=queries)
