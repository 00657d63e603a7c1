"""The forecast of releases under subspace privacy for people."""

from __future__ import annotations

from pathlib import Path

from phexplore.catalog.presets import errata_of
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_guarantees, print_table, tell
from phexplore.systems.subspace.forecast import ReleaseForecast, alternatives, forecast_subspace
from phexplore.systems.subspace.forecast_json import shown_classes
from phexplore.systems.subspace.presets import subspace_presets


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    figures = forecast_subspace(scenario.subspace, scenario.conventions)
    delta = f", δ = {exact_text(figures.delta)}" if figures.delta else ""
    tell(scenario.name)
    tell(f"ε = {exact_text(figures.epsilon)}{delta} (replace one record)")
    print_guarantees(figures.protected, figures.not_protected)
    if figures.paper is not None and not figures.paper.protects:
        tell(
            f"erratum: the paper's constant would have {figures.paper.factor:.3g} times the δ asked for; it is not used."
        )
    print_guarantees((), (), errata_of(subspace_presets(), scenario))
    for release in figures.releases:
        tell()
        _print_release(scenario, release)


def _print_release(scenario: Scenario, release: ReleaseForecast) -> None:
    plan = release.plan
    tell(f"{plan.name}: {plan.release}")
    for report in plan.space.reports:
        redundant = f" ({report.why})" if report.why else ""
        tell(f"  exact: {report.name}: {report.independent:,} of {report.rows:,} sums independent{redundant}")
    for sentence in release.explanation:
        tell(f"  {sentence}")
    tell(f"  expected squared error {release.squared_error:,.2f} people² over {plan.space.size:,} answers")
    factor = release.approximation.factor
    tell(f"  {f'at most {factor:.3f} times ' if factor else ''}{release.approximation.words}")
    rows = [
        (
            str(kind.first),
            f"{kind.answers:,}",
            exact_text(kind.unit_variance),
            f"{kind.variance**0.5:,.4f}",
            "-" if kind.margins.exact is None else f"{kind.margins.exact:,}",
            f"{kind.margins.normal:,.2f}",
        )
        for kind in shown_classes(release.classes)
    ]
    header = ("first answer", "answers", "variance at unit noise", "σ", "MOE exact", "MOE normal")
    print_table(header, rows, right=range(6))
    others = [
        (
            other.mechanism.title + (f", {other.basis.value}" if other.basis else ""),
            "-" if other.squared_error is None else f"{other.squared_error:,.0f}",
            other.why_not if other.squared_error is None else f"{other.squared_error / release.squared_error:.3f}",
        )
        for other in alternatives(scenario.subspace, plan.name)
    ]
    print_table(("other mechanisms", "squared error", "ratio"), others, right=(1,))
