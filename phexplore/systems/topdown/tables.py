"""The tables of a TopDown scenario that reports and certificates share: shares, noise, semantics."""

from __future__ import annotations

from fractions import Fraction

from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.report.document import Cell, Header, TableView, heading_cell, number_cell, people_text
from phexplore.systems.topdown.forecast import TopDownForecast

MARGIN_PLACES = 2


def semantics_tables(loss: TopDownForecast) -> tuple[TableView, ...]:
    """Return the loss per attribute and of the block within wider areas, as the certificates print them."""
    symbol = loss.framework.symbol
    headers = (Header("What is protected"), Header(symbol, number=True), Header("ε at δ = 1e-10", number=True))
    rows = [(heading_cell(entry.name), number_cell(exact_text(entry.rho)), number_cell(f"{entry.epsilon:.2f}"))
            for entry in loss.attributes]  # fmt: skip
    within = [
        (
            heading_cell(f"block within {entry.name}"),
            number_cell(exact_text(entry.rho)),
            number_cell(f"{entry.epsilon:.2f}"),
        )
        for entry in loss.block_within
    ]
    return (
        TableView("attributes", "Loss per attribute", headers, tuple(rows)),
        TableView("within", "Loss of the place of residence, where the wider area is known", headers, tuple(within)),
    )


def shares_table(method: TopDown) -> TableView:
    """Return the within-level shares, rows = queries, columns = levels; a dash where a query is not asked."""
    queries = tuple(dict.fromkeys(key.query for key in method.query_shares))
    headers = (Header("Query"), *(Header(level, number=True) for level in method.levels))
    first = (heading_cell("level share"), *(number_cell(_fraction(method.level_shares[lv])) for lv in method.levels))
    rows = [
        (heading_cell(query), *(number_cell(_share(method, level, query)) for level in method.levels))
        for query in queries
    ]
    return TableView("shares", "Level shares, and shares of the level's budget, exact", headers, (first, *rows))


def _share(method: TopDown, level: str, query: str) -> str:
    share = method.query_shares.get(LevelQuery(level, query))
    return "–" if share is None else _fraction(share)


def _fraction(value: Fraction) -> str:
    return str(value)


def noise_table(scenario: Scenario, figures: TopDownForecast) -> TableView:
    """Return budget, noise and margin of every measured query group."""
    symbol = figures.framework.symbol
    headers = (
        Header("Level"),
        Header("Query"),
        Header("Answers\nper area", number=True),
        Header(symbol, number=True),
        Header("σ" if figures.framework is PrivacyFramework.ZCDP else "Standard\ndeviation", number=True),
        Header("MOE", number=True),
    )
    rows = [
        (
            heading_cell(entry.key.level),
            Cell(entry.key.query),
            number_cell(f"{entry.cells:,}"),
            number_cell(exact_text(entry.budget)),
            number_cell("–" if entry.sigma is None else f"{entry.sigma:,.4f}"),
            number_cell(
                "–"
                if entry.margins is None
                else people_text(entry.margins.by(scenario.conventions.margin), MARGIN_PLACES)
            ),
        )
        for entry in figures.entries
    ]
    return TableView("noise", "Absolute budget, noise and margin of one answer", headers, tuple(rows))
