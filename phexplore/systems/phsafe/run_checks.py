"""What must hold in a finished PHSafe run, counted from its files. A check is true, or the number of failures.

Args:
    keys: of the numbers of the run.
    queries: every published query with the number of its regions.
    variances: ``float64[numbers]``, as released.
    parameters: that decide the noise.
    released: reads counts of every trial.
    derived: a derived table.
    counts: exact, ``int64[numbers]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.tables import sensitivity, table, tables
from phexplore.metrics.accuracy_report import Integers, Reader, Truth
from phexplore.metrics.numbers import NumberKeys, Rows, cell_groups
from phexplore.model.keys import Iteration, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PhSafe, PrivacyFramework

VARIANCE_TOLERANCE = 1e-6
"""Relative, as production's own output validation."""


def missing_or_repeated_rows(keys: NumberKeys, queries: Mapping[QueryKey, int]) -> int:
    """Return how many numbers are missing, repeated, or too many.

    Args:
        keys: of the run.
        queries: every published query, derived ones included, with the number of its regions.
    """
    columns = (keys.table, keys.region_type, keys.region_id, keys.iteration_code, keys.cell)
    distinct = len(set(zip(*(column.tolist() for column in columns), strict=True)))
    expected = sum(
        regions * len(query.level.iteration.codes) * len(table(query.table).basis_cells)
        for query, regions in queries.items()
    )
    return len(keys) - distinct + abs(distinct - expected)


def wrong_variances(keys: NumberKeys, variances: NDArray[np.float64], parameters: PhSafe) -> int:
    """Return how many reported variances differ from the formula (phsafe.md §5.1 and §7).

    zCDP: Δ²/(2ρ); pure DP: 2 e^(−1/b) / (1 − e^(−1/b))² with b = Δ/ε; times the number of measured cells added.

    Args:
        keys: the numbers.
        variances: ``variances[numbers]``, as reported, people².
        parameters: of the run.
    """
    failures = 0
    for group in cell_groups(keys):
        expected = _variance(group.query, group.cell, parameters)
        close = np.abs(variances[group.rows] - expected) <= VARIANCE_TOLERANCE * expected
        failures += int(np.count_nonzero(~close))
    return failures


def _variance(query: QueryKey, cell: int, parameters: PhSafe) -> float:
    product = table(query.table)
    source = table(product.derived_from or product.id)
    budget = parameters.budgets[QueryKey(source.id, query.level)]
    if isinstance(budget, Unlimited):
        return 0.0
    reach = sensitivity(source, parameters.thresholds.get(source.id))
    added = max(1, len(product.cell(cell).sources))
    if parameters.framework is PrivacyFramework.ZCDP:
        return float(added * Fraction(reach**2) / (2 * budget))
    decay = math.exp(-float(budget) / reach)
    return added * 2 * decay / (1 - decay) ** 2


def wrong_derived(keys: NumberKeys, released: Reader, derived: TableId) -> int:
    """Return how many released numbers of a derived table are not the sum of their source cells, over all trials.

    Args:
        keys: the numbers.
        released: reads the numbers of every trial.
        derived: id of the table.
    """
    product = tables()[derived]
    sources = {
        (region, code, cell): row
        for row, (name, region, code, cell) in enumerate(_columns(keys))
        if name == product.derived_from
    }
    failures = 0
    rows = [(row, key) for row, key in enumerate(_columns(keys)) if key[0] == derived]
    for code in {key[3] for _, key in rows}:
        own = np.array([row for row, key in rows if key[3] == code], dtype=np.intp)
        parts = [
            np.array([sources[key[1], key[2], part] for _, key in rows if key[3] == code], dtype=np.intp)
            for part in product.cell(code).sources
        ]
        counts = released(np.concatenate([own, *parts]))
        width = len(own)
        added = sum(counts[:, width * place : width * (place + 1)] for place in range(1, len(parts) + 1))
        failures += int(np.count_nonzero(counts[:, :width] != added))
    return failures


def _columns(keys: NumberKeys) -> list[tuple[str, str, str, int]]:
    columns = (keys.table, keys.region_id, keys.iteration_code, keys.cell)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def states_off_nation(keys: NumberKeys, counts: Integers) -> int:
    """Return how many exact counts of the nation are not the sum of the states, where both are published.

    Args:
        keys: the numbers.
        counts: ``counts[numbers]``, exact.
    """
    groups = {(g.table, g.query.level, g.iteration_code, g.cell): g.rows for g in cell_groups(keys)}
    failures = 0
    for (name, level, code, cell), rows in groups.items():
        states = groups.get((name, PopulationGroupLevel(Region.STATE, level.iteration), code, cell))
        if level.region is Region.NATION and states is not None:
            failures += int(counts[rows].sum() != counts[states].sum())
    return failures


def races_off_everybody(keys: NumberKeys, counts: Integers) -> int:
    """Return how many exact counts of everybody are not the sum over A-G, where both are published.

    Args:
        keys: the numbers.
        counts: ``counts[numbers]``, exact.
    """
    everybody: dict[tuple[TableId, Region, int], Rows] = {}
    summed: dict[tuple[TableId, Region, int], Integers] = {}
    for group in cell_groups(keys):
        place = (group.table, group.query.level.region, group.cell)
        match group.query.level.iteration:
            case Iteration.ALL:
                everybody[place] = group.rows
            case Iteration.MAJOR_RACES:
                summed[place] = summed.get(place, np.zeros(len(group.rows), np.int64)) + counts[group.rows]
    return sum(
        int(np.count_nonzero(counts[rows] != summed[place])) for place, rows in everybody.items() if place in summed
    )


def added_by_truncation(truth: Truth) -> int:
    """Return how many counts are larger with truncation than without: it can only remove persons."""
    return int(np.count_nonzero(truth.truncated > truth.untruncated))
