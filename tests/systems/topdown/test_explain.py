"""Explanations hold the numbers of the forecast, so that a reader can do the sum."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.model.conventions import MarginConvention
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import preset
from phexplore.systems.topdown import explain
from phexplore.systems.topdown.forecast import forecast_topdown, joint_release

PERSONS = preset("pl94-2020-persons-us").scenario
METHOD = PERSONS.topdown
FIGURES = forecast_topdown(METHOD, PERSONS.conventions)
KEY = LevelQuery("Block_Group", "total")
ENTRY = next(entry for entry in FIGURES.entries if entry.key == KEY)


def product(text):
    found = Fraction(1)
    factors, result = text.split(" = ")
    for factor in factors.split(" × "):
        found *= Fraction(factor)
    assert Fraction(result) == found
    return found


def test_that_the_filled_product_gives_the_budget():
    assert product(explain.explain_budget(METHOD, KEY).filled) == METHOD.budget(KEY)
    assert product(explain.explain_level(METHOD, "State").filled) == METHOD.total * Fraction(1440, 4099)


def test_that_the_variance_is_the_inverse_of_the_budget():
    explained = explain.explain_variance(ENTRY, METHOD.framework)
    assert f"1 / ({ENTRY.budget})" in explained.filled
    assert f"{ENTRY.sigma:,.2f}" in explained.result


@pytest.mark.parametrize("convention", list(MarginConvention))
def test_that_every_convention_says_its_margin(convention):
    explained = explain.explain_answer_margin(ENTRY, METHOD.framework, PERSONS.conventions, convention)
    assert float(explained.result.replace(",", "")) == pytest.approx(ENTRY.margins.by(convention), abs=0.006)
    assert "Of ten noisy answers, about nine" in explained.sentence


def test_that_certificate_semantics_are_explained_with_their_figures():
    attributes = {loss.name: explain.explain_attribute(loss, METHOD) for loss in FIGURES.attributes}
    assert attributes["hhgq"].result == "ε = 7.25"
    assert attributes["hhgq"].filled.startswith("18 of 65 measurements")
    within = {loss.name: explain.explain_block_within(loss, METHOD) for loss in FIGURES.block_within}
    assert within["County"].result == "ε = 11.71"
    assert within["County"].filled.startswith("Tract + Block_Group + Block")


def test_that_the_joint_release_adds_rho():
    joint = joint_release(METHOD, "pl94-2020-units-us", preset("pl94-2020-units-us").scenario.topdown)
    explained = explain.explain_joint(joint, METHOD.total, PERSONS.conventions.delta)
    assert explained.result == "ε = 17.436"
    assert "19.619" in explained.sentence


def test_that_pure_dp_is_explained_by_its_scale():
    scenario = preset("ddp-2019-persons-us").scenario
    figures = forecast_topdown(scenario.topdown, scenario.conventions)
    entry = figures.entries[0]
    assert entry.budget == Fraction(2, 25)
    assert explain.explain_variance(entry, scenario.topdown.framework).filled == "b = 2 / 0.08"
    with pytest.raises(ValueError, match="no budget"):
        explain.explain_variance(replace(entry, sigma=None, margins=None), scenario.topdown.framework)
