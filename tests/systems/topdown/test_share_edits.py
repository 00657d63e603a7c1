"""Shares solved from budgets and margins, and totals from ε, checked by going the other way round."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accounting.zcdp import epsilon
from phexplore.model.conventions import Conversion, MarginConvention
from phexplore.model.edits import EditRefusedError
from phexplore.model.shares import SHARE_STEP
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_query_share
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.share_edits import (
    level_share_for_budget,
    set_total_by_epsilon,
    share_for_budget,
    share_for_margin,
)

PERSONS = preset("pl94-2020-persons-us").scenario
KEY = LevelQuery("Block_Group", "total")


@pytest.mark.parametrize("convention", list(MarginConvention))
def test_that_the_solved_share_is_the_smallest_that_keeps_the_margin(convention):
    conventions = replace(PERSONS.conventions, margin=convention)
    share = share_for_margin(PERSONS.topdown, KEY, Fraction(5), conventions)

    def margin(value):
        figures = forecast_topdown(set_query_share(PERSONS, KEY, value).topdown, conventions)
        return next(entry for entry in figures.entries if entry.key == KEY).margins.by(convention)

    assert margin(share) <= 5 < margin(share - SHARE_STEP)


def test_that_a_budget_and_its_share_agree():
    method = PERSONS.topdown
    assert share_for_budget(method, KEY, method.budget(KEY)) == method.query_shares[KEY]
    assert level_share_for_budget(method, method.total * Fraction(1440, 4099)) == Fraction(1440, 4099)
    with pytest.raises(EditRefusedError, match="in all"):
        share_for_budget(method, KEY, Fraction(3))
    with pytest.raises(EditRefusedError, match="cannot keep"):
        share_for_margin(method, KEY, Fraction(1, 10), PERSONS.conventions)


@pytest.mark.parametrize("conversion", list(Conversion))
def test_that_a_total_from_epsilon_never_exceeds_it(conversion):
    found = set_total_by_epsilon(PERSONS, Fraction(10), conversion).topdown.total
    reached = epsilon(found, PERSONS.conventions.delta, conversion)
    assert 10 - 1e-6 < reached <= 10


def test_that_a_total_under_pure_dp_is_epsilon():
    scenario = preset("ddp-2019-persons-us").scenario
    assert set_total_by_epsilon(scenario, Fraction(3), Conversion.BUN_STEINKE).topdown.total == 3
    with pytest.raises(EditRefusedError, match="more than 0"):
        set_total_by_epsilon(scenario, Fraction(0), Conversion.BUN_STEINKE)
