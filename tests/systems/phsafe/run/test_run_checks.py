"""Every check passes on sound numbers and finds a planted error."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from phexplore.catalog.tables import sensitivity, table
from phexplore.metrics.accuracy_report import Truth
from phexplore.metrics.numbers import NumberKeys, Rows
from phexplore.model.keys import Iteration, Region, TableId, parse_level, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.runs.simulation import outcome
from phexplore.simulate.phsafe_count import derived_counts
from phexplore.simulate.phsafe_release import PhsafeReleaser
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe import run_checks as checks
from phexplore.systems.phsafe.number_rows import keys_of, noise_columns, values_of


@pytest.fixture
def measured(tabulated: tuple[Tabulation, Tabulation]) -> Tabulation:
    """The random counts, made to add up: state counts of every race first, the rest summed from them."""
    rough = tabulated[0]
    counts = {}
    for query in rough.counts:
        if table(query.table).measured:
            by_race = rough.counts.get(query._replace(level=parse_level("state_A-G")))
            everybody = query.level.iteration is Iteration.ALL and by_race is not None
            found = rough.counts[query._replace(level=query.level._replace(region=Region.STATE))]
            states = by_race.sum(axis=1, keepdims=True) if everybody else found
            counts[query] = states if query.level.region is Region.STATE else states.sum(axis=0, keepdims=True)
    counts |= derived_counts(counts)
    return replace(rough, counts={query: counts[query] for query in rough.counts})


@pytest.fixture
def keys(measured: Tabulation) -> NumberKeys:
    return keys_of(measured)


@pytest.fixture
def counts(measured: Tabulation) -> np.ndarray:
    return values_of(measured, measured.counts)


def row_of(keys: NumberKeys, name: str, region: str, code: str, cell: int) -> int:
    chosen = (keys.table == name) & (keys.region_id == region) & (keys.iteration_code == code) & (keys.cell == cell)
    (row,) = np.flatnonzero(chosen)
    return int(row)


def test_that_exact_counts_add_up_and_a_planted_error_is_counted(keys: NumberKeys, counts: np.ndarray) -> None:
    assert checks.states_off_nation(keys, counts) == 0
    assert checks.races_off_everybody(keys, counts) == 0
    counts[row_of(keys, "PH3", "44", "C", 5)] += 1
    assert checks.states_off_nation(keys, counts) == 1
    assert checks.races_off_everybody(keys, counts) == 1
    counts[row_of(keys, "PH1_denom", "1", "*", 1)] -= 2
    assert checks.states_off_nation(keys, counts) == 2
    assert checks.races_off_everybody(keys, counts) == 2


@pytest.mark.parametrize(
    ("derived", "planted"), [("PH5_num", "PH5_num"), ("PH5_num", "PH4"), ("PH8_num", "PH8_num"), ("PH8_num", "PH7")]
)
def test_that_a_derived_count_that_is_not_the_sum_of_its_sources_is_found(
    keys: NumberKeys, counts: np.ndarray, derived: str, planted: str
) -> None:
    trials = np.stack([counts, counts + 0])

    def released(rows: Rows) -> np.ndarray:
        return trials[:, rows]

    assert checks.wrong_derived(keys, released, TableId(derived)) == 0
    trials[1, row_of(keys, planted, "44", "H", 2)] += 5
    assert checks.wrong_derived(keys, released, TableId(derived)) == 1


def test_that_rows_are_counted_and_unique(measured: Tabulation, keys: NumberKeys) -> None:
    regions = {query: len(found) for query, found in measured.counts.items()}
    assert checks.missing_or_repeated_rows(keys, regions) == 0
    names = ("table", "region_type", "region_id", "iteration_code", "cell")
    shorter = NumberKeys(**{name: getattr(keys, name)[1:] for name in names})
    assert checks.missing_or_repeated_rows(shorter, regions) == 1
    twice = NumberKeys(**{name: np.append(getattr(keys, name)[1:], getattr(keys, name)[5:6]) for name in names})
    assert checks.missing_or_repeated_rows(twice, regions) == 2


@pytest.mark.parametrize("framework", PrivacyFramework)
def test_that_variances_follow_the_formula(
    measured: Tabulation, keys: NumberKeys, us: Scenario, framework: PrivacyFramework
) -> None:
    method = replace(us.method, framework=framework)
    _, variances = noise_columns(PhsafeReleaser(measured, method).noise, keys)
    assert checks.wrong_variances(keys, variances, method) == 0
    for name, cell, factor in (("PH7", 4, 1), ("PH8_num", 2, 2), ("PH8_num", 3, 1)):
        found = variances[row_of(keys, name, "09", "*", cell)]
        reach = sensitivity(table("PH7"), method.thresholds[TableId("PH7")])
        budget = float(method.budgets[parse_query("PH7/state_*")])
        if framework is PrivacyFramework.ZCDP:
            assert found == pytest.approx(factor * reach**2 / (2 * budget))
        else:
            p = math.exp(-budget / reach)
            assert found == pytest.approx(factor * 2 * p / (1 - p) ** 2)
    variances[row_of(keys, "PH6", "1", "*", 9)] *= 1 + 1e-5
    assert checks.wrong_variances(keys, variances, method) == 1


def test_that_an_unlimited_budget_has_no_variance(keys: NumberKeys, us: Scenario) -> None:
    method = replace(us.method, budgets=dict.fromkeys(us.method.budgets, UNLIMITED))
    assert checks.wrong_variances(keys, np.zeros(len(keys)), method) == 0
    assert checks.wrong_variances(keys, np.ones(len(keys)), method) == len(keys)


def test_that_truncation_that_adds_persons_is_found() -> None:
    below, above = np.array([3, 4, 5]), np.array([3, 6, 5])
    assert checks.added_by_truncation(Truth(below, above, above)) == 0
    assert checks.added_by_truncation(Truth(above, below, below)) == 1


def test_that_a_check_is_true_or_the_number_of_failures() -> None:
    assert outcome(0) is True
    assert outcome(3) == 3
