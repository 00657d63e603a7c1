from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.margin_figure import (
    Standing,
    margin_numbers,
    margin_rows,
    margin_summary,
    margin_title,
    margins_figure,
    row_explanation,
)

PH3 = parse_query("PH3/state_A-G")


def rows_of(scenario, baseline=None, locked=frozenset()):
    return margin_rows(forecast(scenario), scenario.method.targets, baseline and forecast(baseline), locked)


def test_that_every_published_query_has_a_row_in_the_order_of_table_10(us):
    assert [row.query for row in rows_of(us)] == list(us.method.budgets)
    assert margin_title(rows_of(us)) == "All 46 targets are met"


def test_that_an_unpublished_query_has_no_row(us):
    scenario = set_budget(us, PH3, Fraction(0))
    assert PH3 not in [row.query for row in rows_of(scenario)]


def test_that_an_edit_makes_one_new_row(us):
    edited = set_target(set_budget(us, PH3, Fraction(1, 3)), PH3, Fraction(25))
    before = rows_of(us)
    after = rows_of(edited)
    assert [row.query for old, row in zip(before, after, strict=True) if old is not row] == [PH3]
    marks = [margins_figure(forecast(each), each.method.targets).marks for each in (us, edited)]
    assert [new.key for old, new in zip(*marks, strict=True) if old is not new] == [PH3]


def test_that_the_title_names_the_widest_miss(us):
    worse = set_budget(us, PH3, us.method.budgets[PH3] / 4)
    row = next(row for row in rows_of(worse) if row.query == PH3)
    assert row.standing is Standing.MISSED
    assert row.excess == pytest.approx(20, abs=0.01)  # σ doubles when ρ is a quarter
    assert margin_title(rows_of(worse)).startswith("45 of 46 targets met; widest miss PH3 (State, A-G), +20.0 people")


def test_that_without_targets_the_title_gives_the_range(us):
    bare = replace(us, method=replace(us.method, targets={}))
    rows = rows_of(bare)
    assert {row.standing for row in rows} == {Standing.NO_TARGET}
    assert margin_title(rows).startswith("Margins run from 20.0 to 500 people")


def test_that_the_band_holds_the_three_conventions(us):
    row = next(row for row in rows_of(us) if row.query == PH3)
    margins = forecast(us).query(PH3).margins
    assert row.band == (margins.paper, max(margins.exact, margins.normal))


def test_that_the_sentence_counts_what_changed_against_the_baseline(us):
    changed = set_budget(us, PH3, us.method.budgets[PH3] * 2)
    sentence = margin_summary(rows_of(changed, us), forecast(changed).conventions)
    assert "46 published queries" in sentence
    assert sentence.endswith("0 wider and 1 narrower than the reference.")


def test_that_the_table_has_the_numbers_of_the_rows_exactly(us):
    rows = rows_of(us, us, frozenset({PH3}))
    numbers = margin_numbers(rows, forecast(us).conventions, "ρ")
    assert numbers.column("Margin, 90 %") == tuple(row.margin for row in rows)
    assert numbers.column("ρ (unbounded)") == tuple(us.method.budgets.values())
    assert numbers.column("Target") == tuple(us.method.targets[query] for query in us.method.budgets)
    assert numbers.column("Locked").count("locked") == 1


def test_that_a_row_without_noise_says_so(us):
    scenario = set_budget(set_target(us, PH3, None), PH3, UNLIMITED)
    row = next(row for row in rows_of(scenario, us) if row.query == PH3)
    assert row.margin == 0
    words = row_explanation(row, "ρ")
    assert "ρ unlimited, no noise" in words
    assert "reference 20.0 (−20)" in words


def test_that_the_budget_of_a_mark_is_the_bounded_one_that_tables_and_tiles_show(us):
    row = next(row for row in rows_of(us, us) if row.query == PH3)
    assert row_explanation(row, "ρ").endswith("bounded ρ 1.325952")
