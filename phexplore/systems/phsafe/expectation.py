"""What a scenario promises for each number of a run: the scenario's margin, and production's expected one.

Args:
    spec: of the run.
    keys: of its numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from phexplore.accuracy.margins import PAPER_Z, margins_of
from phexplore.catalog.tables import sensitivity, table
from phexplore.metrics.accuracy_report import Expectation
from phexplore.metrics.numbers import NumberKeys, cell_groups
from phexplore.model.keys import PopulationGroupLevel, QueryKey, TableId
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import noise_for
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.systems.phsafe.forecast import forecast

_REPORT_CONFIDENCE = Fraction(9, 10)


def expectation_of(spec: RunSpec, keys: NumberKeys) -> Expectation:
    """Return the margins of every number of a run; 0 where nothing is added.

    Args:
        spec: what the run does.
        keys: its numbers.

    Raises:
        KeyError: a number is not published by the scenario.
    """
    margin, expected = np.zeros(len(keys)), np.zeros(len(keys))
    conventions = spec.scenario.conventions
    if spec.mode is RunMode.PRIVATE:
        margins = scenario_margins(spec.scenario)
        for group in cell_groups(keys):
            margin[group.rows] = margins[group.table, group.query.level, group.cell]
            expected[group.rows] = _expected_moe(spec.scenario, group.query, group.cell)
    return Expectation(margin, expected, float(conventions.confidence))


def scenario_margins(scenario: Scenario) -> dict[tuple[TableId, PopulationGroupLevel, int], float]:
    """Return the margin of every published cell by the scenario's convention, in people: what the forecast shows."""
    figures, convention = forecast(scenario), scenario.conventions.margin
    found = {
        (entry.query.table, entry.query.level, cell.code): entry.margins.by(convention)
        for entry in figures.queries
        if entry.margins is not None
        for cell in table(entry.query.table).basis_cells
    }
    return found | {(entry.table, entry.level, entry.cell): entry.margins.by(convention) for entry in figures.derived}


def _expected_moe(scenario: Scenario, query: QueryKey, cell: int) -> float:
    """Return EXPECTED_MOE of production's accuracy report: 1.64 σ, or the geometric quantile, × √(cells added).

    PHSafe 3.0.0, ``accuracy_report.py``: rounded to 0.1, not floored; PH8_num's owners are √2 times PH7's margin under
    both definitions of privacy.
    """
    product = table(query.table)
    source = QueryKey(product.derived_from or product.id, query.level)
    method = scenario.phsafe
    reach = sensitivity(table(source.table), method.thresholds.get(source.table))
    noise = noise_for(method.framework, sensitivity=reach, budget=method.budgets[source])
    added = max(1, len(product.cell(cell).sources))
    return round(math.sqrt(added) * margins_of(noise, 1, _REPORT_CONFIDENCE, PAPER_Z).normal, 1)
