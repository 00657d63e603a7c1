from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.catalog.tables import table
from phexplore.metrics.numbers import NumberKeys
from phexplore.model.conventions import MarginConvention
from phexplore.model.keys import TableId, parse_level, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe.expectation import expectation_of, scenario_margins
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.number_rows import keys_of

Make = Callable[..., RunSpec]


@pytest.fixture
def keys(tabulated: tuple[Tabulation, Tabulation]) -> NumberKeys:
    return keys_of(tabulated[0])


def at(keys: NumberKeys, values: np.ndarray, table_id: str, region: str, code: str, cell: int) -> float:
    (row,) = np.flatnonzero(
        (keys.table == table_id) & (keys.region_id == region) & (keys.iteration_code == code) & (keys.cell == cell)
    )
    return float(values[row])


def test_that_expected_margins_are_those_of_the_accuracy_report(
    us: Scenario, make_spec: Make, keys: NumberKeys
) -> None:
    """phsafe.md §9, written out from the published budgets and thresholds."""
    found = expectation_of(make_spec(scenario=us), keys).expected_moe
    method = us.method
    for table_id, source, factor, cell, reach in (
        ("PH1_num", "PH1_num", 1.0, 2, 2 * method.thresholds[TableId("PH1_num")] + 2),
        ("PH1_denom", "PH1_denom", 1.0, 1, 2),
        ("PH5_num", "PH4", 1.0, 3, 2 * method.thresholds[TableId("PH4")] + 2),
        ("PH8_num", "PH7", math.sqrt(2), 2, 2 * method.thresholds[TableId("PH7")] + 2),
        ("PH8_num", "PH7", 1.0, 3, 2 * method.thresholds[TableId("PH7")] + 2),
    ):
        for region, code, level in (("1", "*", "usa_*"), ("44", "C", "state_A-G"), ("09", "I", "state_H,I")):
            rho = float(method.budgets[parse_query(f"{source}/{level}")])
            expected = round(1.64 * factor * reach / math.sqrt(2 * rho), 1)
            assert at(keys, found, table_id, region, code, cell) == expected


def test_that_expected_margins_of_pure_privacy_are_geometric_quantiles(
    us: Scenario, make_spec: Make, keys: NumberKeys
) -> None:
    pure = replace(us, method=replace(us.method, framework=PrivacyFramework.PURE_DP))
    found = expectation_of(make_spec(scenario=pure), keys).expected_moe
    budget = float(us.method.budgets[parse_query("PH7/state_*")])
    b = (2 * us.method.thresholds[TableId("PH7")] + 2) / budget
    one = b * math.log(20 / (1 + math.exp(1 / b)))
    assert at(keys, found, "PH7", "44", "*", 4) == round(one, 1)
    assert at(keys, found, "PH8_num", "44", "*", 3) == round(one, 1)
    assert at(keys, found, "PH8_num", "44", "*", 2) == round(math.sqrt(2) * one, 1)


@pytest.mark.parametrize("convention", MarginConvention)
def test_that_margins_are_those_the_forecast_shows(us: Scenario, convention: MarginConvention) -> None:
    scenario = replace(us, conventions=replace(us.conventions, margin=convention))
    margins, figures = scenario_margins(scenario), forecast(scenario)
    for entry in figures.queries:
        for cell in table(entry.query.table).basis_cells:
            assert margins[entry.query.table, entry.query.level, cell.code] == entry.margins.by(convention)
    level = parse_level("usa_*")
    assert margins[TableId("PH8_num"), level, 2] > margins[TableId("PH7"), level, 2]
    assert margins[TableId("PH5_num"), level, 2] == margins[TableId("PH4"), level, 2]


@pytest.mark.parametrize("mode", [RunMode.NO_NOISE, RunMode.NON_PRIVATE])
def test_that_exact_counts_have_no_margin(us: Scenario, make_spec: Make, keys: NumberKeys, mode: RunMode) -> None:
    found = expectation_of(make_spec(scenario=us, mode=mode), keys)
    assert not found.margin.any()
    assert not found.expected_moe.any()


def test_that_an_unlimited_budget_has_no_margin(us: Scenario, make_spec: Make, keys: NumberKeys) -> None:
    query = parse_query("PH2/usa_*")
    scenario = replace(us, method=replace(us.method, budgets={**us.method.budgets, query: UNLIMITED}))
    found = expectation_of(make_spec(scenario=scenario), keys)
    assert at(keys, found.margin, "PH2", "1", "*", 3) == at(keys, found.expected_moe, "PH2", "1", "*", 3) == 0


def test_that_a_number_nobody_publishes_is_an_error(us: Scenario, make_spec: Make, keys: NumberKeys) -> None:
    query = parse_query("PH2/usa_*")
    scenario = replace(us, method=replace(us.method, budgets={**us.method.budgets, query: Fraction(0)}))
    with pytest.raises(KeyError):
        expectation_of(make_spec(scenario=scenario), keys)
