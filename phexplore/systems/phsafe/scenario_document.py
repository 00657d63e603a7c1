"""The report of a scenario: what it costs, what it gives, what changed, and how every figure comes about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from phexplore.accuracy.margins import Margins
from phexplore.accuracy.proven_loss import proven_figures
from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.to_matplotlib import chart_of
from phexplore.figures.wording import changed_targets, people_text, power_text, significant
from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours, Proof
from phexplore.model.diff import diff, parameters_only
from phexplore.model.issues import Severity, errors_first
from phexplore.model.keys import LEVELS, PopulationGroupLevel
from phexplore.model.numbers import Budget, Unlimited, decimal_text, exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import percent
from phexplore.report.document import (
    Column,
    Document,
    Part,
    TableView,
    Tile,
    colophon,
    epsilon_tile,
    figures,
    heading,
    table_of,
    words,
)
from phexplore.report.provenance import conventions_section
from phexplore.systems.phsafe.changes import change_sentences, shown_value
from phexplore.systems.phsafe.check import check_phsafe
from phexplore.systems.phsafe.epsilon_curves import epsilon_figure
from phexplore.systems.phsafe.forecast import DerivedForecast, DerivedKind, Forecast
from phexplore.systems.phsafe.margin_figure import margins_figure
from phexplore.systems.phsafe.provenance import (
    KEYWORDS,
    confidence_text,
    convention_name,
    identity,
    method_sections,
    privacy_section,
)
from phexplore.systems.phsafe.ratios import RatioForecast, ratio_forecasts
from phexplore.systems.phsafe.share_figure import shares_figure
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot
from phexplore.systems.phsafe.table10 import Table10Row, is_row_met, table10_rows

Published = TypeVar("Published", DerivedForecast, RatioForecast)

_TILE_CHARACTERS = 12
"""Longest total that fits a tile."""


def scenario_document(snapshot: ScenarioSnapshot) -> Document:
    """Return the report: pictures, tables, then conventions and method."""
    rows = table10_rows(snapshot.scenario, snapshot.forecast)
    parts = [
        Part("pictures", "What it costs and what it gives", charts=scenario_charts(snapshot)),
        _changes(snapshot),
        Part(
            "tables",
            "The figures",
            tables=(
                parameter_table(rows, snapshot.forecast, says_missed=True),
                *_derived(snapshot.forecast),
                *_ratios(ratio_forecasts(snapshot.forecast), snapshot.forecast.conventions),
            ),
        ),
        _issues(snapshot),
        Part(
            "method",
            "How to read and check the figures",
            sections=(
                identity(snapshot),
                privacy_section(snapshot.forecast),
                conventions_section(snapshot.forecast.conventions, snapshot.scenario.phsafe.framework),
                *method_sections(),
            ),
        ),
    ]
    return Document(
        title=snapshot.scenario.name,
        subtitle="Parameters and forecast of the S-DHC",
        colophon=colophon(snapshot.now, f"parameters {snapshot.fingerprint}"),
        tiles=_tiles(rows, snapshot),
        parts=tuple(part for part in parts if part is not None),
        made=snapshot.now.isoformat(timespec="seconds"),
        keywords=KEYWORDS,
    )


def scenario_charts(snapshot: ScenarioSnapshot) -> tuple[Chart, ...]:
    """Return the pictures of a scenario as its report shows them."""
    return tuple(map(chart_of, snapshot_figures(snapshot)))


def snapshot_figures(snapshot: ScenarioSnapshot) -> tuple[Figure, ...]:
    """Return the pictures of a scenario, most asked for first; those that would say nothing are left out."""
    forecast, compared = snapshot.forecast, snapshot.comparison
    before = None if compared is None else compared.forecast
    found = [margins_figure(forecast, snapshot.scenario.phsafe.targets, before), shares_figure(forecast)]
    if forecast.privacy.framework is PrivacyFramework.ZCDP:
        found.append(epsilon_figure(forecast))
    return tuple(figure for figure in found if not figure.is_empty)


def _tiles(rows: Sequence[Table10Row], snapshot: ScenarioSnapshot) -> tuple[Tile, ...]:
    forecast, conventions = snapshot.forecast, snapshot.forecast.conventions
    symbol = forecast.privacy.framework.symbol
    tiles = [
        Tile(
            "Privacy loss",
            _shown_budget(forecast.headline),
            f"{symbol} {'' if conventions.neighbours is Neighbours.BOUNDED else 'un'}bounded; {_totals(forecast)}",
            attention=isinstance(forecast.headline, Unlimited),
        )
    ]
    tiles += _epsilon_tile(forecast)
    judged = [keeps for row in rows if (keeps := is_row_met(row, conventions)) is not None]
    if judged:
        missed = len(judged) - sum(judged)
        detail = f"{missed} not met" if missed else "to the nearest person"
        compared = snapshot.comparison
        moved = (
            ""
            if compared is None
            else changed_targets(compared.scenario.phsafe.targets, snapshot.scenario.phsafe.targets)
        )
        # A target that is moved can be met without any accuracy: the decisive fact stands first.
        detail, is_marked = moved or detail, bool(missed or moved)
        tiles.append(Tile("Targets met", f"{sum(judged)} of {len(judged)}", detail, attention=is_marked))
    published = sum(row.published for row in rows)
    tiles.append(Tile("Queries published", f"{published} of {len(rows)}", "each a table at a population-group level"))
    return tuple(tiles)


def _shown_budget(budget: Budget) -> str:
    """Return a total for people: exact where it is a short decimal, else rounded; the exact one stands beside it."""
    if isinstance(budget, Unlimited):
        return "∞"
    text = decimal_text(budget)
    return text if text is not None and len(text) <= _TILE_CHARACTERS else f"≈ {float(budget):.6f}"


def _totals(forecast: Forecast) -> str:
    privacy, exact = forecast.privacy, exact_text(forecast.headline)
    if isinstance(forecast.headline, Unlimited):
        return "at least one query is published without noise; nobody is protected"
    bounded = forecast.conventions.neighbours is Neighbours.BOUNDED
    other = f"unbounded {exact_text(privacy.total)}" if bounded else f"bounded {exact_text(privacy.bounded_total)}"
    return other if exact == _shown_budget(forecast.headline) else f"exactly {exact}; {other}"


def _epsilon_tile(forecast: Forecast) -> list[Tile]:
    """Return the ε of the headline; pure DP has no other."""
    conventions = forecast.conventions
    asked = (conventions.neighbours, conventions.delta)
    found = {
        figure.conversion: figure.value
        for figure in proven_figures(forecast.privacy.epsilons, forecast.noise)
        if (figure.neighbours, figure.delta) == asked
    }
    converted = found.get(Conversion.ZCDP_OPTIMAL_ALPHA)
    if converted is None:
        return []
    how = f"δ = {power_text(conventions.delta)}, {conventions.neighbours.value}"
    return [epsilon_tile(found.get(Proof.DISCRETE_GAUSSIAN), converted, how)]


def parameter_table(
    rows: Sequence[Table10Row],
    forecast: Forecast,
    *,
    says_missed: bool = False,
) -> TableView:
    """Return the table in the shape of the paper's Table 10 with our margins beside it.

    Args:
        rows: of the table, in its order.
        forecast: of the scenario they are of.
        says_missed: whether a missed target has the word beside it.
    """
    conventions, symbol = forecast.conventions, forecast.privacy.framework.symbol

    def missed(row: Table10Row) -> bool:
        return is_row_met(row, conventions) is False

    def margin(
        header: str, convention: MarginConvention, value: Callable[[Margins], float | None], places: int = 0
    ) -> Column[Table10Row]:
        def marked(row: Table10Row) -> bool:
            return convention is conventions.margin and missed(row)

        return figures(header, lambda row: value(row.margins) if row.margins else None, places, marked)

    def target(row: Table10Row) -> str:
        text = "–" if row.target is None else exact_text(row.target)
        return f"{text}, missed" if says_missed and missed(row) else text

    columns: tuple[Column[Table10Row], ...] = (
        heading("Table", lambda row: row.query.table, spans=True),
        replace(figures("Truncation\nThreshold", lambda row: row.threshold_text), spans=True),
        words("Population Group Level", lambda row: row.query.level.title, whole=True),
        figures("MOE\nTarget", target),
        figures(f"Unbounded\n{symbol}", lambda row: exact_text(row.budget)),
        figures(f"Bounded\n{symbol}", lambda row: exact_text(row.bounded_budget)),
        figures("Share", lambda row: percent(row.share, places=2)),
        figures("σ", lambda row: row.sigma, 2),
        margin("MOE\nexact", MarginConvention.EXACT, lambda margins: margins.exact),
        margin(f"MOE\n{_normal_name(conventions)}", MarginConvention.NORMAL, lambda margins: margins.normal, 2),
        margin("MOE\n⌊1.64σ⌋", MarginConvention.PAPER, lambda margins: margins.paper),
    )
    note = (
        f"Margins of one basis cell at {confidence_text(conventions)}, in people (housing units for denominators). "
        f"The scenario's convention is {convention_name(conventions)}; marked cells exceed their target. "
        "A budget of 0 means that the level is not published."
    )
    caption = "Parameters and margins of error, in the shape of Table 10 of the PHSafe paper"
    return table_of("parameters", caption, columns, rows, note)


def _normal_name(conventions: Conventions) -> str:
    return f"{exact_text(conventions.z)}σ" if conventions.confidence == Fraction(9, 10) else "zσ"


def _derived(forecast: Forecast) -> tuple[TableView, ...]:
    """Return the table of sums, totals and copies: a row per published number, a column per level."""
    if not forecast.derived:
        return ()
    convention, conventions = forecast.conventions.margin, forecast.conventions
    columns: tuple[Column[Mapping[PopulationGroupLevel, DerivedForecast]], ...] = (
        heading("Table", lambda number: _any(number).table, spans=True),
        words("Number", lambda number: _any(number).label),
        words("Made of", lambda number: _made_of(_any(number))),
        *_level_columns(forecast.derived, lambda entry: people_text(entry.margins.by(convention))),
    )
    caption = (
        f"Margins of sums, totals and copies at {confidence_text(conventions)} ({convention_name(conventions)}), people"
    )
    note = "Noise of different basis cells is independent: variances add. Copies carry the noise of their source."
    return (table_of("derived", caption, columns, _by_number(forecast.derived), note),)


def _any(number: Mapping[PopulationGroupLevel, Published]) -> Published:
    return next(iter(number.values()))


def _by_number(entries: Sequence[Published]) -> list[dict[PopulationGroupLevel, Published]]:
    """Return the levels of every published number, in the order numbers are first named."""
    found: dict[tuple[str, int], dict[PopulationGroupLevel, Published]] = {}
    for entry in entries:
        found.setdefault((entry.table, entry.cell), {})[entry.level] = entry
    return list(found.values())


def _level_columns(
    entries: Sequence[Published],
    text: Callable[[Published], str],
    attention: Callable[[Published], bool] = lambda _: False,
) -> Iterator[Column[Mapping[PopulationGroupLevel, Published]]]:
    """Yield a column per level that has numbers."""

    def column(level: PopulationGroupLevel) -> Column[Mapping[PopulationGroupLevel, Published]]:
        return figures(
            level.title.replace(", ", ",\n"),
            lambda number: text(number[level]) if level in number else None,
            attention=lambda number: level in number and attention(number[level]),
        )

    return (column(level) for level in LEVELS if any(entry.level == level for entry in entries))


def _made_of(entry: DerivedForecast) -> str:
    codes = _ranges(entry.source_cells)
    if entry.kind is DerivedKind.COPY:
        return f"copy of cell {codes} of {entry.source}"
    return f"cells {codes}" if entry.table == entry.source else f"cells {codes} of {entry.source}"


def _ranges(codes: Sequence[int]) -> str:
    """Return codes as ranges, e.g. ``3-6, 8``."""
    groups: list[list[int]] = []
    for code in sorted(codes):
        if groups and code == groups[-1][-1] + 1:
            groups[-1].append(code)
        else:
            groups.append([code])
    return ", ".join(str(group[0]) if len(group) == 1 else f"{group[0]}–{group[-1]}" for group in groups)


def _ratios(ratios: Sequence[RatioForecast], conventions: Conventions) -> tuple[TableView, ...]:
    """Return the table of the published averages: a row per average, a column per level."""
    if not ratios:
        return ()
    columns: tuple[Column[Mapping[PopulationGroupLevel, RatioForecast]], ...] = (
        heading("Table", lambda number: _any(number).table, spans=True),
        words("Average", lambda number: _any(number).label),
        *_level_columns(ratios, _ratio_text, lambda ratio: not ratio.interval.reliable),
    )
    caption = f"Averages and their margins at {confidence_text(conventions)} for typical counts"
    of = "; ".join(dict.fromkeys(f"{ratio.level.title}: {ratio.counts_of}" for ratio in ratios))
    note = (
        f"Half the width of Fieller's interval of a noisy numerator over a noisy denominator. Typical counts: {of}. "
        "Marked averages are unreliable: the denominator lies within 3 σ of 0."
    )
    return (table_of("ratios", caption, columns, _by_number(ratios), note),)


def _ratio_text(ratio: RatioForecast) -> str:
    interval = ratio.interval
    margin = "∞" if math.isinf(interval.margin) else significant(Fraction(interval.margin), 2)
    return f"{interval.ratio:.2f} ± {margin}"


def _changes(snapshot: ScenarioSnapshot) -> Part | None:
    """Return what differs from the compared scenario, as sentences."""
    comparison = snapshot.comparison
    if comparison is None:
        return None
    changes = parameters_only(diff(comparison.scenario, snapshot.scenario))
    before, after = comparison.forecast, snapshot.forecast
    sentences = change_sentences(changes, before, after)
    if not sentences:
        return Part("changes", f"Compared with {comparison.name}", ("The parameters are the same.",))
    now, then = (
        f"bounded {each.framework.symbol} is {shown_value(each.bounded_total)}"
        for each in (after.privacy, before.privacy)
    )
    totals = f"{now.capitalize()}; in {comparison.name} {then}."
    return Part("changes", f"What changed against {comparison.name}", (totals,), findings=sentences)


def _issues(snapshot: ScenarioSnapshot) -> Part | None:
    issues = errors_first(check_phsafe(snapshot.scenario))
    if not issues:
        return None
    errors = sum(issue.severity is Severity.ERROR for issue in issues)
    summary = (
        f"{errors} of these {len(issues)} must be cured before a run or an export."
        if errors
        else "Allowed, but each is worth a decision."
    )
    findings = tuple(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in issues)
    return Part("issues", "Open issues", (summary,), findings=findings)
