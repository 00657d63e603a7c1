from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.catalog.tables import queries
from phexplore.figures.tile import Tone
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.binding.tiles import run_tile
from phexplore.gui.systems.phsafe.summary import (
    missed_targets,
    numbers_tile,
    phsafe_loss_tile,
    published_numbers,
    targets_tile,
)
from phexplore.model.edits import set_field
from phexplore.model.keys import TableId, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import check


def _shown(scenario, comparison="sdhc-2020-us"):
    return shown(Workbook((scenario,), scenario.name, comparison))


def test_that_the_production_release_counts_12688_numbers(us, puerto_rico) -> None:
    assert published_numbers(us.method) == 12_688
    assert numbers_tile(_shown(us)).value == "12,688"
    assert published_numbers(puerto_rico.method) < published_numbers(us.method)


def test_that_the_headline_of_2020_is_the_bounded_total(us, puerto_rico) -> None:
    tile = phsafe_loss_tile(_shown(us))
    assert (tile.value, tile.beside) == ("2.514562", "unbounded 1.257281")
    assert (tile.change, tile.tone) == ("as in the reference", Tone.NEUTRAL)
    assert phsafe_loss_tile(_shown(puerto_rico)).value == "2.453298"


def test_that_spending_more_is_marked_and_spending_less_is_not(us, query) -> None:
    more = phsafe_loss_tile(_shown(set_budget(us, query, Fraction("0.762976"))))
    assert more.change == "+0.200000 (+8.0 %)"
    assert more.tone is Tone.ATTENTION
    less = phsafe_loss_tile(_shown(set_budget(us, query, Fraction("0.562976"))))
    assert less.change == "−0.200000 (−8.0 %)"
    assert less.tone is Tone.GOOD


def test_that_rho_is_never_compared_with_epsilon(us) -> None:
    tile = phsafe_loss_tile(_shown(set_field(us, "framework", PrivacyFramework.PURE_DP)))
    assert "not comparable" in tile.change
    assert "ε" in tile.caption


def test_that_an_unlimited_budget_reads_infinity(us, query) -> None:
    tile = phsafe_loss_tile(_shown(set_budget(us, query, UNLIMITED)))
    assert tile.value == "∞"
    assert tile.tone is Tone.ATTENTION


def test_that_all_targets_of_2020_are_met(us) -> None:
    tile = targets_tile(_shown(us))
    assert (tile.value, tile.beside, tile.change) == ("46", "of 46", "all met")


def test_that_missed_targets_are_those_the_check_warns_of(us) -> None:
    scenario = edit_threshold(us, TableId("PH4"), 12)
    warned = {issue.path[1] for issue in check(scenario) if issue.path[0] == "targets"}
    missed = missed_targets(scenario, forecast(scenario))
    assert {query.text for query in missed} == warned
    assert len(missed) == 6
    tile = targets_tile(_shown(scenario))
    assert tile.value == "40"
    assert tile.change.startswith("6 not met, worst +91")
    assert missed[0].level.region.title == "Nation"


@pytest.mark.parametrize("query", queries(), ids=lambda query: query.text)
def test_that_the_rule_of_a_met_target_is_the_one_of_the_check(us, query) -> None:
    scenario = set_budget(us, query, us.method.budgets[query] * Fraction(98, 100))
    warned = {issue.path[1] for issue in check(scenario) if issue.path[0] == "targets"}
    assert {missed.text for missed in missed_targets(scenario, forecast(scenario))} == warned


def test_that_a_scenario_without_targets_teaches(us) -> None:
    scenario = replace(us, method=replace(us.method, targets={}))
    assert targets_tile(_shown(scenario)).value == "none"


def test_that_unpublished_queries_lower_the_count(us) -> None:
    tile = numbers_tile(_shown(set_budget(us, parse_query("PH2/usa_*"), Fraction(0))))
    assert tile.value == "12,680"
    assert tile.change == "−8"
    assert tile.beside == "45 of 46 queries"


def test_that_the_run_tile_teaches_until_there_is_a_run() -> None:
    assert run_tile(None).value == "none yet"


@pytest.mark.defect("M1")
def test_that_a_wider_margin_misses_its_target(us, query) -> None:
    tile = targets_tile(_shown(edit_margin(us, query, Fraction(25))))
    assert (tile.value, tile.tone) == ("45", Tone.ATTENTION)
    assert tile.change == "1 not met, worst +5.00: PH3 (State, A-G)"


@pytest.mark.defect("M1")
def test_that_targets_moved_against_the_reference_are_counted(us, query) -> None:
    wider = set_target(edit_margin(us, query, Fraction(25)), query, Fraction(25))
    tile = targets_tile(_shown(wider))
    assert (tile.value, tile.change, tile.tone) == ("46", "all met, 1 of 46 targets changed: 20 → 25", Tone.ATTENTION)
    both = set_target(set_target(us, query, None), parse_query("PH2/usa_*"), Fraction(1))
    assert targets_tile(_shown(both)).change.startswith("2 of 46 targets changed, largest change 20 → none; ")
    imported = replace(us, method=replace(us.method, targets={}))
    assert targets_tile(_shown(imported)).change == "Enter a target in the budget table"
