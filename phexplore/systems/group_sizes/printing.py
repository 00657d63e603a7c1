"""The forecast of group sizes for people."""

from __future__ import annotations

from pathlib import Path

from phexplore.accuracy.margins import Margins
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_table, tell
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.group_sizes.presets import group_sizes_presets


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    figures = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    preset = group_sizes_presets().get(scenario.baseline)
    errata = preset.errata if preset is not None else ()
    method = scenario.group_sizes
    symbol = figures.framework.symbol
    tell(scenario.name)
    tell(f"mechanism {method.mechanism.value}, sizes 1 to {method.largest:,}")
    tell(f"{symbol} {exact_text(figures.total)} (one individual of a group more or less)")
    for figure in figures.epsilons:
        how = figure.conversion.value if figure.conversion else "pure DP"
        tell(f"ε = {figure.value:.4f} at δ = {float(figure.delta):.0e}  ({how}, {figure.neighbours.value} neighbours)")
    if figures.published_chain_total is not None:
        shown = exact_text(figures.published_chain_total)
        tell(f"with the paper's own noise on the chain it would be {symbol} {shown}")
    for sentence in figures.protected:
        tell(f"protected: {sentence}")
    for sentence in figures.not_protected:
        tell(f"not protected: {sentence}")
    for erratum in errata:
        tell(f"erratum: {erratum}")
    rows = [
        (
            level.level,
            f"{level.regions:,}",
            f"{level.answers:,}",
            exact_text(level.share),
            f"{float(level.budget):.6g}",
            str(level.noise.sensitivity),
            f"{level.sigma:.2f}",
            *_texts(level.answer_margins),
            _texts(level.size_margins)[0],
        )
        for level in figures.levels
    ]
    header = ("level", "regions", "answers", "share", symbol, "Δ", "σ", "MOE exact", "MOE normal", "MOE of one size")
    print_table(header, rows, right=range(1, 10))


def _texts(margins: Margins) -> tuple[str, str]:
    return f"{margins.exact}", f"{margins.normal:.2f}"
