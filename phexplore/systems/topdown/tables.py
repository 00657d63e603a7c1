"""The tables of a TopDown scenario that reports and certificates share: shares, noise, semantics."""

from __future__ import annotations

from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.report.document import Column, TableView, figures, heading, table_of, words
from phexplore.systems.topdown.forecast import LevelQueryForecast, SemanticLoss, TopDownForecast
from phexplore.systems.topdown.proven_loss import proven_parts


def semantics_tables(method: TopDown, loss: TopDownForecast) -> tuple[TableView, ...]:
    """Return the loss per attribute and of the block within wider areas, as reports and certificates print them.

    Args:
        method: the parameters.
        loss: their forecast.
    """
    proven = proven_parts(method, loss)

    def bound(entry: SemanticLoss) -> str:
        return f"≤ {rounded_up(proven[entry.name][1], 4)}" if entry.name in proven else "–"

    columns: tuple[Column[SemanticLoss], ...] = (
        heading("What is protected", lambda entry: entry.name),
        figures(loss.framework.symbol, lambda entry: exact_text(entry.rho)),
        figures("ε at δ = 1e-10", lambda entry: epsilon_bound(entry.epsilon)),
        figures("Proven ε", bound),
    )
    within = (heading("What is protected", lambda entry: f"block within {entry.name}"), *columns[1:])
    return (
        table_of("attributes", "Loss per attribute", columns, loss.attributes),
        table_of("within", "Loss of the place of residence, where the wider area is known", within, loss.block_within),
    )


def shares_table(method: TopDown) -> TableView:
    """Return the within-level shares, rows = queries, columns = levels; a dash where a query is not asked."""

    def column(level: str) -> Column[str]:
        shares = {key.query: share for key, share in method.query_shares.items() if key.level == level}
        return figures(level, lambda query: str(shares.get(query, "–") if query else method.level_shares[level]))

    columns: tuple[Column[str], ...] = (
        heading("Query", lambda query: query or "level share"),
        *map(column, method.levels),
    )
    queries = dict.fromkeys(key.query for key in method.query_shares)
    return table_of("shares", "Level shares, and shares of the level's budget, exact", columns, ["", *queries])


def noise_table(scenario: Scenario, forecast: TopDownForecast) -> TableView:
    """Return budget, noise and margin of every measured query group.

    Args:
        scenario: says by which convention a margin is shown.
        forecast: of its parameters.
    """
    convention, is_zcdp = scenario.conventions.margin, forecast.framework is PrivacyFramework.ZCDP
    columns: tuple[Column[LevelQueryForecast], ...] = (
        heading("Level", lambda entry: entry.key.level),
        words("Query", lambda entry: entry.key.query),
        figures("Answers\nper area", lambda entry: entry.cells),
        figures(forecast.framework.symbol, lambda entry: exact_text(entry.budget)),
        figures("σ" if is_zcdp else "Standard\ndeviation", lambda entry: entry.sigma, 4),
        figures("MOE", lambda entry: entry.margins.by(convention) if entry.margins else None, 2),
    )
    return table_of("noise", "Absolute budget, noise and margin of one answer", columns, forecast.entries)
