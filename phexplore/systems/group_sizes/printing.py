"""The forecast of group sizes for people."""

from __future__ import annotations

from pathlib import Path

from phexplore.catalog.presets import errata_of
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import margin_texts, print_epsilons, print_guarantees, print_table, tell
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.group_sizes.presets import group_sizes_presets


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    figures = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    method = scenario.group_sizes
    symbol = figures.framework.symbol
    tell(scenario.name)
    tell(f"mechanism {method.mechanism.value}, sizes 1 to {method.largest:,}")
    tell(f"{symbol} {exact_text(figures.total)} (one individual of a group more or less)")
    print_epsilons(figures.epsilons)
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
            f"{level.sigma:.2f}",
            *margin_texts(level.answer_margins)[:2],
            margin_texts(level.size_margins)[0],
        )
        for level in figures.levels
    ]
    header = ("level", "regions", "answers", "share", symbol, "Δ", "σ", "MOE exact", "MOE normal", "MOE of one size")
    print_table(header, rows, right=range(1, 10))
