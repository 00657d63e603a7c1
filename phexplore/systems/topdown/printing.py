"""The forecast of a TopDown scenario for people."""

from __future__ import annotations

from pathlib import Path

from phexplore.catalog.presets import errata_of
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import margin_texts, print_epsilons, print_guarantees, print_table, tell
from phexplore.systems.topdown.block_forecast import on_blocks
from phexplore.systems.topdown.forecast import WITHOUT_BLOCKS, forecast_topdown
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.shared import joint_with_partner
from phexplore.systems.topdown.spine_printing import print_variances


def print_forecast(scenario: Scenario, blocks: Path | None = None) -> None:
    """Print the losses and every margin; with blocks also the exact margins on the scenario's spine."""
    figures = forecast_topdown(scenario.topdown, scenario.conventions)
    joint = joint_with_partner(scenario)
    predicted = None if blocks is None else on_blocks(scenario, blocks, queries=["total"])
    tell(scenario.name)
    tell(f"{figures.framework.symbol} {exact_text(figures.total)} ≈ {float(figures.total):.6f} (replace one record)")
    print_epsilons(figures.epsilons)
    for loss in figures.block_within:
        tell(f"ε = {loss.epsilon:.2f} for the block within {loss.name}")
    for loss in figures.attributes:
        tell(f"ε = {loss.epsilon:.2f} for {loss.name} alone")
    if joint is not None:
        tell(
            f"with {joint.partner}: ε = {joint.epsilon:.3f} as one release (sum of both ε {joint.sum_of_epsilons:.3f}; "
            f"ρ + 2√(ρ ln 1/δ) = {joint.loose_epsilon:.3f})"
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
