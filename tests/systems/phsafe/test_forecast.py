from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from phexplore.catalog.tables import queries, tables
from phexplore.model.conventions import Conversion, MarginConvention, Neighbours
from phexplore.model.edits import set_field
from phexplore.model.keys import QueryKey, TableId, parse_level, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.phsafe.forecast import (
    DerivedKind,
    SelectedNumber,
    forecast,
    measured_codes,
    selection_margin,
)

TABLE_10 = json.loads((Path(__file__).parents[2] / "golden" / "table10.json").read_text(encoding="utf-8"))["derived_us"]


@pytest.fixture(scope="module")
def figures(us):
    return forecast(us)


@pytest.mark.parametrize("text", TABLE_10)
def test_that_every_published_query_has_its_published_figures(figures, text):
    entry, published = figures.query(parse_query(text)), TABLE_10[text]
    assert entry.sensitivity == published["sensitivity"]
    assert entry.sigma == pytest.approx(published["sigma"], rel=1e-12)
    assert entry.margins.exact == published["moe_exact_discrete_gaussian"]
    assert entry.margins.normal == pytest.approx(published["moe_1_645"], rel=1e-12)
    assert entry.margins.paper == published["moe_1_64_floor"]


def test_that_the_exact_margins_are_those_published_with_496_for_national_denominators(figures):
    assert {entry.margins.exact for entry in figures.queries} == {500, 496, 200, 68, 20}
    assert {e.query.table for e in figures.queries if e.margins.exact == 496} == {"PH1_denom", "PH5_denom", "PH8_denom"}


def test_that_the_totals_are_those_of_2020(us, puerto_rico):
    national, island = forecast(us).privacy, forecast(puerto_rico).privacy
    assert (national.total, national.bounded_total) == (Fraction("1.257281"), Fraction("2.514562"))
    assert (island.total, island.bounded_total) == (Fraction("1.226649"), Fraction("2.453298"))


def test_that_shares_add_to_exactly_one(figures):
    assert sum(figures.share(entry.budget) for entry in figures.queries) == 1
    assert float(figures.share(figures.query(parse_query("PH3/state_A-G")).budget)) == pytest.approx(0.527, abs=5e-4)


def test_that_every_epsilon_says_what_it_is_of(figures):
    assert len(figures.privacy.epsilons) == 6
    for figure in figures.privacy.epsilons:
        assert figure.rho == (
            figures.privacy.bounded_total if figure.neighbours is Neighbours.BOUNDED else figures.privacy.total
        )
        if figure.conversion is Conversion.BUN_STEINKE:
            rho = float(figure.rho)
            assert figure.value == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e10)), rel=1e-9)


def test_that_derived_numbers_are_sums_of_independent_cells(us, figures):
    derived = {(e.table, e.level.text, e.cell): e for e in figures.derived}
    sigma = figures.query(parse_query("PH7/state_A-G")).sigma
    owners = derived["PH8_num", "state_A-G", 2]
    renters = derived["PH8_num", "state_A-G", 3]
    total = derived["PH7", "state_A-G", 1]
    assert owners.margins.normal == pytest.approx(1.645 * math.sqrt(2) * sigma)
    assert (renters.kind, renters.margins) == (DerivedKind.COPY, figures.query(parse_query("PH7/state_A-G")).margins)
    assert total.margins.normal == pytest.approx(1.645 * math.sqrt(3) * sigma)
    assert derived["PH5_num", "usa_*", 2].kind is DerivedKind.COPY
    assert derived["PH6", "usa_*", 1].source_cells == tuple(c.code for c in tables()[TableId("PH6")].basis_cells)
    assert len(derived["PH6", "usa_*", 1].source_cells) == 16


def test_that_the_exact_margin_of_a_sum_is_that_of_the_convolution(us):
    scenario = set_budget(us, parse_query("PH7/state_A-G"), Fraction(20))
    figures = forecast(scenario)
    sigma2 = figures.query(parse_query("PH7/state_A-G")).sigma ** 2
    x = np.arange(-400, 401)
    one = np.exp(-(x**2) / (2 * sigma2))
    one /= one.sum()
    three = np.convolve(np.convolve(one, one), one)
    centre = len(three) // 2
    inside = np.cumsum(np.concatenate([three[centre : centre + 1], 2 * three[centre + 1 :]]))
    expected = int(np.searchsorted(inside, 0.9))
    total = next(e for e in figures.derived if (e.table, e.level.text, e.cell) == ("PH7", "state_A-G", 1))
    assert total.margins.exact == expected


def test_that_margins_widen_with_confidence_and_threshold_and_shrink_with_budget(us):
    query = parse_query("PH3/state_A-G")

    def margin(scenario):
        return forecast(scenario).query(query).margins

    confidences = [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)]
    by_confidence = [
        margin(replace(us, conventions=replace(us.conventions, confidence=confidence))) for confidence in confidences
    ]
    assert [m.exact for m in by_confidence] == sorted({m.exact for m in by_confidence})
    assert [m.normal for m in by_confidence] == sorted({m.normal for m in by_confidence})
    assert [m.paper is None for m in by_confidence] == [True, False, True, True]
    assert margin(set_threshold(us, TableId("PH3"), 7)).normal > margin(us).normal
    assert margin(set_budget(us, query, Fraction(1))).normal < margin(us).normal


def test_that_an_unpublished_query_has_no_margin_and_an_unlimited_one_no_noise(us):
    query = queries()[0]
    assert forecast(set_budget(us, query, Fraction(0))).query(query).margins is None
    unlimited = forecast(set_budget(us, query, UNLIMITED))
    assert unlimited.query(query).margins.exact == 0
    assert unlimited.privacy.total is UNLIMITED
    assert unlimited.privacy.epsilons == ()


def test_that_pure_privacy_has_the_margin_of_the_accuracy_report(us):
    scenario = set_field(us, "framework", PrivacyFramework.PURE_DP)
    figures = forecast(scenario)
    entry = figures.query(parse_query("PH3/state_A-G"))
    scale = 14 / 0.662976
    assert entry.margins.normal == pytest.approx(scale * math.log(20 / (1 + math.exp(1 / scale))))
    assert entry.margins.exact == math.ceil(entry.margins.normal)
    assert entry.margins.paper is None
    assert {f.value for f in figures.privacy.epsilons} == {1.257281, 2.514562}


def test_that_an_edit_recomputes_one_query(us):
    before = forecast(us)
    after = forecast(set_budget(us, queries()[5], Fraction(1, 9)))
    same = [a is b for a, b in zip(before.derived, after.derived, strict=True)]
    assert sum(not unchanged for unchanged in same) <= 2
    assert [a.margins == b.margins for a, b in zip(before.queries, after.queries, strict=True)].count(False) == 1


def selected(table, cell, region="44", code="A", level="state_A-G"):
    return SelectedNumber(TableId(table), region, parse_level(level), code, cell)


def test_that_a_list_of_areas_has_the_margin_of_its_independent_noises(us):
    areas = [selected("PH3", 2, region=region) for region in ("44", "09", "25", "50")]
    found = selection_margin(us, areas)
    one = forecast(us).query(parse_query("PH3/state_A-G")).margins
    assert found.measurements == 4
    assert found.margins.normal == pytest.approx(2 * one.normal)
    assert found.margins.exact == pytest.approx(2 * one.exact, abs=1)


def test_that_a_measurement_picked_twice_is_not_averaged_out(us):
    twice = selection_margin(us, [selected("PH4", 2), selected("PH5_num", 2)])
    one = forecast(us).query(parse_query("PH4/state_A-G")).margins
    assert (twice.repeated, twice.measurements, twice.margins.exact) == (1, 1, None)
    assert twice.margins.normal == pytest.approx(2 * one.normal)


def test_that_a_sum_of_nothing_or_of_the_unpublished_is_refused(us):
    with pytest.raises(ValueError, match="at least one"):
        selection_margin(us, [])
    with pytest.raises(ValueError, match="not published"):
        selection_margin(set_budget(us, parse_query("PH3/state_A-G"), Fraction(0)), [selected("PH3", 2)])


def test_that_derived_cells_name_the_measured_ones():
    assert measured_codes(tables()[TableId("PH8_num")], 1) == (2, 3, 4)
    assert measured_codes(tables()[TableId("PH8_num")], 3) == (4,)
    assert measured_codes(tables()[TableId("PH5_num")], 1) == (2, 3)
    assert measured_codes(tables()[TableId("PH2")], 2) == (3, 4)


def test_that_conventions_choose_the_margin_shown(figures):
    margins = figures.query(QueryKey(TableId("PH3"), parse_level("state_A-G"))).margins
    shown = {convention: margins.by(convention) for convention in MarginConvention}
    assert shown == {
        MarginConvention.PAPER: 19,
        MarginConvention.NORMAL: pytest.approx(20.0000019),
        MarginConvention.EXACT: 20,
    }
