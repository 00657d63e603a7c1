"""The parameter-and-MOE table in the shape of Table 10 of the PHSafe paper, with our figures beside it.

Args:
    scenario: the parameters.
    forecast: its figures.
    row: of the table.
    conventions: of the scenario.
    value: any number.
    places: decimals.
    share: of 1, exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accuracy.margins import Margins, is_met
from phexplore.catalog.tables import queries
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.conventions import Conventions
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, Rounding, exact_text, round_exact
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.forecast import Forecast

NOT_APPLICABLE = "NA"
"""What the paper prints as the threshold of a table that counts housing units."""

PAPER_HEADERS = (
    "Table",
    "Truncation Threshold",
    "Population Group Level",
    "MOE Target",
    "Unbounded Privacy Loss",
    "Bounded Privacy Loss",
)
"""The columns of Table 10, in its order and words."""

EXACT_HEADER = "Unbounded Privacy Loss, exact"
"""The workbook's column for budgets that a spreadsheet number cannot hold."""


@dataclass(frozen=True, slots=True)
class Table10Row:
    """One line: a measured table at a population-group level.

    Attributes:
        query: which one.
        threshold: τ in people per household, None for tables that count units.
        target: margin of error aimed at, in people, None when there is none.
        budget: ρ unbounded (ε under pure DP); 0 = not published.
        bounded_budget: twice the budget.
        margins: of one basis cell, None when not published.
        sigma: scale of the noise in people, None when not published.
        share: of the scenario's total loss, exact; None when that total is 0 or unlimited.
    """

    query: QueryKey
    threshold: int | None
    target: Fraction | None
    budget: Budget
    bounded_budget: Budget
    margins: Margins | None
    sigma: float | None
    share: Fraction | None

    @property
    def published(self) -> bool:
        """Whether the query has a budget."""
        return self.budget != 0

    @property
    def level_text(self) -> str:
        """The level as the paper prints it, e.g. ``(Nation, H-I)``."""
        return f"({self.query.level.title})"

    @property
    def threshold_text(self) -> str:
        """The threshold, or NA."""
        return NOT_APPLICABLE if self.threshold is None else str(self.threshold)


def table10_rows(scenario: Scenario, forecast: Forecast) -> tuple[Table10Row, ...]:
    """Return one row per measured query in the order of Table 10 (PHSafe paper §7.3.1), unpublished ones included.

    Args:
        scenario: with its budgets and targets.
        forecast: of this scenario.
    """
    order = {query: place for place, query in enumerate(queries())}
    entries = sorted(forecast.queries, key=lambda entry: order.get(entry.query, len(order)))
    return tuple(
        Table10Row(
            query=entry.query,
            threshold=entry.threshold,
            target=scenario.phsafe.targets.get(entry.query),
            budget=entry.budget,
            bounded_budget=entry.bounded_budget,
            margins=entry.margins,
            sigma=entry.sigma,
            share=forecast.share(entry.budget),
        )
        for entry in entries
    )


def is_row_met(row: Table10Row, conventions: Conventions) -> bool | None:
    """Return whether the margin meets its target; None without target or budget.

    Args:
        row: of the table.
        conventions: of the scenario.
    """
    if row.target is None or row.margins is None:
        return None
    return is_met(row.margins.by(conventions.margin), row.target)


def plain_decimal(value: float, places: int) -> str:
    """Return a decimal without exponent or grouping, whatever the locale.

    Args:
        value: to write.
        places: digits behind the point.
    """
    return f"{value:.{places}f}"


def percent_text(share: Fraction, places: int = 4) -> str:
    """Return a share in per cent, correctly rounded from the exact value.

    Args:
        share: 0 to 1.
        places: digits behind the point.
    """
    percent = round_exact(share * 100, Fraction(1, 10**places), Rounding.NEAREST)
    return plain_decimal(float(percent), places)


@dataclass(frozen=True, slots=True)
class ForecastColumn:
    """A column beside those of the paper.

    Attributes:
        header: ASCII, so that every spreadsheet shows it.
        value: the figure, None when there is none.
        places: decimals that are shown.
    """

    header: str
    value: Callable[[Table10Row], float | int | None]
    places: int


def forecast_columns(conventions: Conventions) -> tuple[ForecastColumn, ...]:
    """Return our columns: the three margins with their confidence, the noise scale and the share of the loss."""
    confidence = f"{exact_text(conventions.confidence * 100)} %"
    z = "z of the normal quantile" if confidence != "90 %" else f"z = {exact_text(conventions.z)}"
    return (
        ForecastColumn(f"MOE exact ({confidence})", lambda row: None if row.margins is None else row.margins.exact, 0),
        ForecastColumn(
            f"MOE normal ({confidence}, {z})", lambda row: None if row.margins is None else row.margins.normal, 6
        ),
        ForecastColumn(
            "MOE paper (floor of 1.64 sigma)", lambda row: None if row.margins is None else row.margins.paper, 0
        ),
        ForecastColumn("Noise scale sigma (people)", lambda row: row.sigma, 6),
        ForecastColumn("Share of privacy loss (%)", _percent, 4),
    )


def _percent(row: Table10Row) -> float | None:
    return None if row.share is None else float(percent_text(row.share))


def table10_csv(scenario: Scenario, forecast: Forecast) -> bytes:
    """Return the table as CSV: RFC 4180, UTF-8, one header line, every line complete.

    Budgets are exact: a plain decimal, or a fraction where no finite decimal exists. A spreadsheet that opens the file
    may take such a fraction for a date; `read_table10` refuses what it then saves, and the workbook has no such risk.

    Args:
        scenario: with its budgets and targets.
        forecast: of this scenario.
    """
    columns = forecast_columns(forecast.conventions)
    lines = [[*PAPER_HEADERS, *(column.header for column in columns), "Privacy definition"]]
    definition = scenario.phsafe.framework.value
    for row in table10_rows(scenario, forecast):
        figures = [_figure_text(column, row) for column in columns]
        lines.append([*paper_cells(row), *figures, definition])
    return csv_bytes(lines)


def paper_cells(row: Table10Row) -> list[str]:
    """Return the six cells of Table 10 as text."""
    return [
        row.query.table,
        row.threshold_text,
        row.level_text,
        "" if row.target is None else exact_text(row.target),
        exact_text(row.budget),
        exact_text(row.bounded_budget),
    ]


def _figure_text(column: ForecastColumn, row: Table10Row) -> str:
    value = column.value(row)
    return "" if value is None else plain_decimal(value, column.places)
