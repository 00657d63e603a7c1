"""The pictures of releases under exact sums before any run: margins of the answers, the error of every mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.figures.figure import Figure, bar_figure, row_figure
from phexplore.figures.marks import Bar, Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import capital, margin_word, people
from phexplore.model.conventions import Conventions
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.systems.subspace.forecast import (
    Alternative,
    ReleaseForecast,
    SubspaceForecast,
    alternatives,
    forecast_subspace,
)

MOST_CLASSES = 60
"""Kinds of answers of a release that get a row; the table has them all."""


def scenario_figures(scenario: Scenario, _: Scenario | None) -> tuple[Figure, ...]:
    """Return the pictures of a scenario, most asked for first."""
    method, conventions = scenario.subspace, scenario.conventions
    return margins_figure(forecast_subspace(method, conventions), conventions), expected_errors(method)


def expected_errors(method: Subspace) -> Figure:
    """Return the expected error of every release by mechanism, see `alternatives_figure`."""
    return alternatives_figure(method, [(name, alternatives(method, name)) for name in method.releases])


def alternatives_figure(method: Subspace, found: Sequence[tuple[str, Sequence[Alternative]]]) -> Figure:
    """Return one bar per mechanism and release: the expected squared error on the same budget.

    Args:
        method: the parameters.
        found: per release what every mechanism would give.
    """
    bars: list[Bar] = []
    rows: list[tuple[Value, ...]] = []
    best: tuple[float, str] | None = None
    for release, choices in found:
        chosen = method.releases.get(release)
        for each in choices:
            name = capital(each.mechanism.title) + (f", basis {each.basis.value}" if each.basis is not None else "")
            is_chosen = chosen is not None and each.mechanism is chosen.mechanism and each.basis in {None, chosen.basis}
            rows.append((release, name, each.squared_error, each.why_not, "yes" if is_chosen else "no"))
            if each.squared_error is None:
                continue
            if best is None or each.squared_error < best[0]:
                best = (each.squared_error, name)
            text = people(each.squared_error) + (" (chosen)" if is_chosen else "")
            group = release if len(found) > 1 else ""
            bars.append(Bar(release, group, name, each.squared_error, None, text, f"{name}: {text} people²"))
    if best is None:
        title = "No mechanism fits these parameters; the table says why"
    else:
        title = f"Least expected error: {best[1]}"
    left_out = sum(row[2] is None for row in rows)
    more = f" {left_out} that cannot be used are in the table with the reason." if left_out else ""
    return bar_figure(
        "alternatives",
        tuple(bars),
        "expected squared error, people²",
        title,
        f"Sum over all answers of a release, analytic, same ε and δ.{more}",
        Table(("Release", "Mechanism", "Expected squared error, people²", "Why not", "Chosen"), tuple(rows)),
    )


def margins_figure(figures: SubspaceForecast, conventions: Conventions) -> Figure:
    """Return one row per kind of answer: its margin.

    Args:
        figures: the forecast.
        conventions: of the scenario.
    """
    convention = conventions.margin
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    widest = max((kind.margins.by(convention) for each in figures.releases for kind in each.classes), default=0.0)
    for release in figures.releases:
        for kind in release.classes:
            value = kind.margins.by(convention)
            name = f"{kind.answers:,} answers" if kind.answers > 1 else f"answer {kind.first:,}"
            table.append((release.plan.name, name, kind.unit_variance, kind.variance, value))
            if len(rows) < MOST_CLASSES:
                tip = f"{name} of {release.plan.name}: variance {kind.variance:,.4g}, ±{people(value)}"
                rows.append(
                    Row(
                        release.plan.name,
                        release.plan.name,
                        name,
                        value=value,
                        low=0.0,
                        high=value,
                        text=f"±{people(value)}",
                        tip=tip,
                    )
                )
    rule = f"{percent(conventions.confidence, places=None)}, {margin_word(convention)} convention"
    more = f" {len(table) - len(rows):,} more kinds are in the table." if len(table) > len(rows) else ""
    factors = " ".join(_factor(release) for release in figures.releases)
    return row_figure(
        "margins",
        tuple(rows),
        "margin of error, people",
        f"No margin of error is wider than ±{people(widest)} people",
        f"{rule}. {factors}{more}",
        Table(("Release", "Answers", "Variance at unit noise", "Variance, people²", "Margin, people"), tuple(table)),
    )


def _factor(release: ReleaseForecast) -> str:
    near = release.approximation
    name = release.plan.name
    if near.factor is None:
        return f"{name}: {near.words}."
    return f"{name}: at most {near.factor:.3f} times {near.words.removeprefix('of ')}."
