"""The forecast of an S-DHC scenario for people."""

from __future__ import annotations

from pathlib import Path

from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import margin_texts, print_epsilons, print_table, tell
from phexplore.systems.phsafe.forecast import forecast


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print the losses and every margin."""
    figures = forecast(scenario)
    privacy = figures.privacy
    symbol = privacy.framework.symbol
    tell(scenario.name)
    tell(f"{symbol} bounded {exact_text(privacy.bounded_total)}, unbounded {exact_text(privacy.total)}")
    print_epsilons(privacy.epsilons)
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
    z = exact_text(figures.conventions.z)
    header = ("table", "level", "τ", symbol, f"bounded {symbol}", "MOE exact", f"MOE z={z}", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))
