"""The report of a scenario: what it costs, what it gives, what changed, and how every figure comes about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from phexplore.model.conventions import Conventions, Conversion, MarginConvention, Neighbours
from phexplore.model.diff import diff, parameters_only
from phexplore.model.issues import Severity, errors_first
from phexplore.model.keys import LEVELS, PopulationGroupLevel
from phexplore.model.numbers import Budget, Unlimited, decimal_text, exact_text
from phexplore.report.document import (
    Cell,
    Document,
    Header,
    Part,
    TableView,
    Tile,
    heading_cell,
    number_cell,
    people_text,
)
from phexplore.report.provenance import conventions_section
from phexplore.systems.phsafe.changes import change_sentence
from phexplore.systems.phsafe.check import check_phsafe
from phexplore.systems.phsafe.forecast import DerivedForecast, DerivedKind, Forecast
from phexplore.systems.phsafe.forecast_charts import confidence_text, convention_name, power_text, scenario_charts
from phexplore.systems.phsafe.provenance import identity, method_sections, privacy_section
from phexplore.systems.phsafe.ratios import RatioForecast, ratio_forecasts
from phexplore.systems.phsafe.snapshot import ScenarioSnapshot
from phexplore.systems.phsafe.table10 import Table10Row, keeps_target, percent_text, table10_rows

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
                parameter_table(rows, snapshot.forecast),
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
                privacy_section(snapshot.forecast.privacy),
                conventions_section(snapshot.forecast.conventions, snapshot.scenario.phsafe.framework),
                *method_sections(),
            ),
        ),
    ]
    return Document(
        title=snapshot.scenario.name,
        subtitle="Parameters and forecast of the S-DHC",
        colophon=f"{snapshot.date} · phexplore {snapshot.version} · parameters {snapshot.fingerprint}",
        tiles=_tiles(rows, snapshot),
        parts=tuple(part for part in parts if part is not None),
        made=snapshot.now.isoformat(timespec="seconds"),
    )


def _tiles(rows: Sequence[Table10Row], snapshot: ScenarioSnapshot) -> tuple[Tile, ...]:
    forecast, conventions = snapshot.forecast, snapshot.forecast.conventions
    symbol = forecast.privacy.framework.symbol
    tiles = [
        Tile(
            f"{symbol} bounded" if conventions.neighbours is Neighbours.BOUNDED else f"{symbol} unbounded",
            _shown_budget(forecast.headline),
            _totals(forecast),
            attention=isinstance(forecast.headline, Unlimited),
        )
    ]
    tiles += _epsilon_tile(forecast)
    judged = [keeps for row in rows if (keeps := keeps_target(row, conventions)) is not None]
    if judged:
        missed = len(judged) - sum(judged)
        detail = f"{missed} missed" if missed else "to the nearest person"
        tiles.append(Tile("Targets kept", f"{sum(judged)} of {len(judged)}", detail, attention=missed > 0))
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
    """Return the ε of the headline by the tightest conversion that holds for every mechanism; pure DP has no other."""
    conventions = forecast.conventions
    for figure in forecast.privacy.epsilons:
        if (figure.conversion, figure.neighbours, figure.delta) == (
            Conversion.ZCDP_OPTIMAL_ALPHA,
            conventions.neighbours,
            conventions.delta,
        ):
            how = f"δ = {power_text(float(figure.delta))}, optimal α, {figure.neighbours.value}"
            return [Tile("ε", f"{figure.value:.2f}", how)]
    return []


def parameter_table(rows: Sequence[Table10Row], forecast: Forecast) -> TableView:
    """Return the table in the shape of the paper's Table 10 with our margins beside it."""
    conventions, symbol = forecast.conventions, forecast.privacy.framework.symbol
    headers = (
        Header("Table"),
        Header("Truncation\nThreshold", number=True),
        Header("Population Group Level"),
        Header("MOE\nTarget", number=True),
        Header(f"Unbounded\n{symbol}", number=True),
        Header(f"Bounded\n{symbol}", number=True),
        Header("Share", number=True),
        Header("σ", number=True),
        Header("MOE\nexact", number=True),
        Header(f"MOE\n{_normal_name(conventions)}", number=True),
        Header("MOE\n⌊1.64σ⌋", number=True),
    )
    lines = []
    for _, group in groupby(rows, key=lambda row: row.query.table):
        members = list(group)
        for place, row in enumerate(members):
            first = (
                (
                    heading_cell(row.query.table, len(members)),
                    Cell(row.threshold_text, number=True, lines=len(members)),
                )
                if place == 0
                else ()
            )
            lines.append((*first, *_parameter_cells(row, conventions)))
    note = (
        f"Margins of one basis cell at {confidence_text(conventions)}, in people (housing units for denominators). "
        f"The scenario's convention is {convention_name(conventions)}; marked cells exceed their target. "
        "A budget of 0 means that the level is not published."
    )
    caption = "Parameters and margins of error, in the shape of Table 10 of the PHSafe paper"
    return TableView("parameters", caption, headers, tuple(lines), note)


def _normal_name(conventions: Conventions) -> str:
    return f"{exact_text(conventions.z)}σ" if conventions.confidence == Fraction(9, 10) else "zσ"


def _parameter_cells(row: Table10Row, conventions: Conventions) -> tuple[Cell, ...]:
    missed = keeps_target(row, conventions) is False
    margins = row.margins
    shown = {
        MarginConvention.EXACT: people_text(margins.exact if margins else None),
        MarginConvention.NORMAL: people_text(margins.normal if margins else None, 2),
        MarginConvention.PAPER: people_text(margins.paper if margins else None),
    }
    return (
        Cell(row.query.level.title, whole=True),
        number_cell("–" if row.target is None else exact_text(row.target)),
        number_cell(exact_text(row.budget)),
        number_cell(exact_text(row.bounded_budget)),
        number_cell(_share_text(row)),
        number_cell(people_text(row.sigma, 2)),
        *(
            number_cell(text, attention=missed and convention is conventions.margin)
            for convention, text in shown.items()
        ),
    )


def _share_text(row: Table10Row) -> str:
    if row.share is None:
        return "–"
    rounded = percent_text(row.share, 2)
    return "< 0.01 %" if row.share > 0 and float(rounded) == 0 else f"{rounded} %"


def _derived(forecast: Forecast) -> tuple[TableView, ...]:
    """Return the table of sums, totals and copies: a row per published number, a column per level."""
    if not forecast.derived:
        return ()
    levels = [level for level in LEVELS if any(entry.level == level for entry in forecast.derived)]
    headers = (
        Header("Table"),
        Header("Number"),
        Header("Made of"),
        *(_level_header(level) for level in levels),
    )
    by_number: dict[tuple[str, int], list[DerivedForecast]] = {}
    for entry in forecast.derived:
        by_number.setdefault((entry.table, entry.cell), []).append(entry)
    convention = forecast.conventions.margin
    lines: list[tuple[Cell, ...]] = []
    for table, group in groupby(by_number.items(), key=lambda item: item[0][0]):
        numbers = [entries for _, entries in group]
        for place, entries in enumerate(numbers):
            margins = {entry.level: entry.margins.by(convention) for entry in entries}
            figures = (number_cell(people_text(margins.get(level))) for level in levels)
            head = (heading_cell(table, len(numbers)),) if place == 0 else ()
            lines.append((*head, Cell(entries[0].label), Cell(_made_of(entries[0])), *figures))
    conventions = forecast.conventions
    caption = (
        f"Margins of sums, totals and copies at {confidence_text(conventions)} ({convention_name(conventions)}), people"
    )
    note = "Noise of different basis cells is independent: variances add. Copies carry the noise of their source."
    return (TableView("derived", caption, headers, tuple(lines), note),)


def _level_header(level: PopulationGroupLevel) -> Header:
    return Header(level.title.replace(", ", ",\n"), number=True)


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
    levels = [level for level in LEVELS if any(ratio.level == level for ratio in ratios)]
    by_number: dict[tuple[str, int], dict[PopulationGroupLevel, RatioForecast]] = {}
    for ratio in ratios:
        by_number.setdefault((ratio.table, ratio.cell), {})[ratio.level] = ratio
    lines: list[tuple[Cell, ...]] = []
    for table, group in groupby(by_number.items(), key=lambda item: item[0][0]):
        averages = [entries for _, entries in group]
        for place, entries in enumerate(averages):
            head = (heading_cell(table, len(averages)),) if place == 0 else ()
            label = next(iter(entries.values())).label
            lines.append((*head, Cell(label), *(_ratio_cell(entries.get(level)) for level in levels)))
    headers = (Header("Table"), Header("Average"), *(_level_header(level) for level in levels))
    caption = f"Averages and their margins at {confidence_text(conventions)} for typical counts"
    of = "; ".join(dict.fromkeys(f"{ratio.level.title}: {ratio.counts_of}" for ratio in ratios))
    note = (
        f"Half the width of Fieller's interval of a noisy numerator over a noisy denominator. Typical counts: {of}. "
        "Marked averages are unreliable: the denominator lies within 3 σ of 0."
    )
    return (TableView("ratios", caption, headers, tuple(lines), note),)


def _ratio_cell(ratio: RatioForecast | None) -> Cell:
    if ratio is None:
        return number_cell("–")
    interval = ratio.interval
    margin = "∞" if math.isinf(interval.margin) else f"{interval.margin:.2g}"
    return number_cell(f"{interval.ratio:.2f} ± {margin}", attention=not interval.reliable)


def _changes(snapshot: ScenarioSnapshot) -> Part | None:
    """Return what differs from the compared scenario, as sentences."""
    comparison = snapshot.comparison
    if comparison is None:
        return None
    changes = parameters_only(diff(comparison.scenario, snapshot.scenario))
    before, after = comparison.forecast, snapshot.forecast
    sentences = tuple(change_sentence(change, before, after) for change in changes)
    if not sentences:
        return Part("changes", f"Compared with {comparison.name}", ("The parameters are the same.",))
    symbol = after.privacy.framework.symbol
    totals = (
        f"Bounded {symbol} is {exact_text(after.privacy.bounded_total)}; "
        f"in {comparison.name} it is {exact_text(before.privacy.bounded_total)}."
    )
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
