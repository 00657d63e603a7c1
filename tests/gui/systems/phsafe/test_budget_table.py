from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.systems.phsafe.budget_table import (
    COLUMNS,
    Column,
    budget_columns,
    column_of,
    forbidden,
    parse_threshold,
    parse_yes,
    row_of,
)
from phexplore.model.conventions import Conventions
from phexplore.model.edits import set_item
from phexplore.model.keys import parse_query
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.edits import set_budget


def _row(scenario, query, comparison="sdhc-2020-us"):
    return row_of(shown(Workbook((scenario,), scenario.name, comparison)), query)


def text(column, row):
    return column_of(row, column).cell(row).text


def exact(column, row):
    return column_of(row, column).started(row)


def copied(column, row):
    return column_of(row, column).carried(row)


def edit_of(column, row, typed):
    return column_of(row, column).enter(row, typed)


def test_that_a_row_of_2020_reads_as_table_10(us, query) -> None:
    row = _row(us, query)
    read = {column: text(column, row) for column in COLUMNS}
    assert read[Column.TABLE] == "PH3"
    assert read[Column.LEVEL] == "State, A-G"
    assert read[Column.THRESHOLD] == "6"
    assert read[Column.TARGET] == "20"
    assert read[Column.BUDGET] == "0.662976"
    assert read[Column.BOUNDED] == "1.325952"
    assert read[Column.SHARE] == "52.7 %"
    assert read[Column.MARGIN_EXACT] == "20"
    assert read[Column.MARGIN_CHANGE] == read[Column.BUDGET_CHANGE] == ""


@pytest.mark.parametrize("typed", ["0.662976", "0,662976", "662976/1000000", "66.2976 %", "6.62976e-1"])
def test_that_every_spelling_of_a_budget_gives_the_same_scenario(us, query, typed) -> None:
    lower = set_budget(us, query, Fraction(1, 10))
    label, edit = edit_of(Column.BUDGET, _row(lower, query), typed)
    assert edit(lower) == us
    assert "0.662976" in label


@pytest.mark.defect("M1")
def test_that_bounded_and_margin_move_the_budget_and_a_target_moves_nothing_else(us, query) -> None:
    lower = set_budget(us, query, Fraction(1, 10))
    row = _row(lower, query)
    found = {}
    for column, typed in ((Column.BOUNDED, "1.325952"), (Column.MARGIN, "20"), (Column.TARGET, "20")):
        _, edit = edit_of(column, row, typed)
        found[column] = edit(lower).method.budgets[query]
    assert found[Column.BOUNDED] == Fraction("0.662976")  # production rounded to the nearest millionth
    assert found[Column.MARGIN] == Fraction("0.662977")  # upward keeps the margin
    label, edit = edit_of(Column.TARGET, row, "30")
    after = edit(lower)
    assert (found[Column.TARGET], after.method.budgets) == (Fraction(1, 10), lower.method.budgets)
    assert (label, after.method.targets[query]) == ("Set the target of PH3 (State, A-G) to 30 people", 30)


def test_that_an_empty_target_removes_it(us, query) -> None:
    label, edit = edit_of(Column.TARGET, _row(us, query), " ")
    after = edit(us)
    assert query not in after.method.targets
    assert after.method.budgets == us.method.budgets
    assert "Remove" in label


@pytest.mark.defect("minor 4")
def test_that_a_copied_margin_is_the_one_shown_and_an_editor_has_it_exactly(us) -> None:
    row = _row(us, parse_query("PH1_num/usa_*"))
    unattributed = _row(us, next(query for query, target in us.phsafe.targets.items() if target == 500))
    assert (copied(Column.MARGIN, unattributed), exact(Column.MARGIN, unattributed)) == ("500", "500.041")
    assert copied(Column.BUDGET, row) == exact(Column.BUDGET, row)
    wide = _row(set_budget(us, row.key, row.entry.budget / 1000), row.key)
    assert copied(Column.MARGIN, wide) == text(Column.MARGIN, wide).replace(",", "")
    assert "," in text(Column.MARGIN, wide)


@pytest.mark.parametrize(
    ("column", "typed", "reason"),
    [
        (Column.BUDGET, "abc", "'abc' is not a number"),
        (Column.BUDGET, "-1", "0 .not published. or more"),
        (Column.MARGIN, "0", "more than 0"),
        (Column.THRESHOLD, "2.5", "whole number"),
        (Column.THRESHOLD, "0", "whole number of people from 1"),
        (Column.SHARE, "10 %", "computed"),
    ],
)
def test_that_what_cannot_be_taken_is_refused_with_the_reason(us, query, column, typed, reason) -> None:
    def enter() -> None:
        _, edit = edit_of(column, _row(us, query), typed)
        edit(us)

    with pytest.raises((ValueError, PhexploreError), match=reason):
        enter()


def test_that_a_locked_row_takes_only_its_key(us, query) -> None:
    locked = set_item(us, "locks", query, value=True)
    row = _row(locked, query)
    assert "locked" in forbidden(Column.BUDGET, row)
    assert forbidden(Column.LOCK, row) == ""
    assert forbidden(Column.THRESHOLD, row) == ""
    with pytest.raises(PhexploreError, match="locked"):
        edit_of(Column.PUBLISHED, row, "no")
    _, edit = edit_of(Column.LOCK, row, "no")
    assert edit(locked) == us


def test_that_leaving_out_and_publishing_again_solves_the_budget_from_the_target(us, query) -> None:
    _, leave = edit_of(Column.PUBLISHED, _row(us, query), "no")
    without = leave(us)
    assert without.method.budgets[query] == 0
    row = _row(without, query)
    assert text(Column.MARGIN, row) == text(Column.BUDGET, row) == "–"
    _, publish = edit_of(Column.PUBLISHED, row, "yes")
    assert publish(without).method.budgets[query] == Fraction("0.662977")


def test_that_changes_against_the_reference_are_signed(us, query) -> None:
    row = _row(set_budget(us, query, Fraction("0.424305")), query)
    assert text(Column.MARGIN_CHANGE, row) == "+5"
    assert text(Column.BUDGET_CHANGE, row) == "−0.477342"
    assert "20.0 → 25.0" in column_of(row, Column.BUDGET_CHANGE).tip(row)


def test_that_copies_carry_exact_values(us, query) -> None:
    row = _row(set_budget(us, query, Fraction(1, 3)), query)
    assert exact(Column.BUDGET, row) == "1/3"
    assert exact(Column.BOUNDED, row) == "2/3"
    assert text(Column.BUDGET, row) == "0.333333…"
    assert "1/3" in column_of(row, Column.BUDGET).tip(row)
    assert exact(Column.LEVEL, row) == "State, A-G"
    assert exact(Column.LOCK, row) == "no"


def test_that_tables_of_units_have_no_threshold(us) -> None:
    row = _row(us, parse_query("PH1_denom/usa_*"))
    assert text(Column.THRESHOLD, row) == "–"
    assert "not truncated" in forbidden(Column.THRESHOLD, row)


def test_that_every_column_has_a_name_and_a_tip_in_both_frameworks() -> None:
    for framework in PrivacyFramework:
        columns = budget_columns(framework, Conventions())
        assert tuple(column.key for column in columns) == COLUMNS
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.about for column in columns)
    assert budget_columns(PrivacyFramework.PURE_DP, Conventions())[COLUMNS.index(Column.BUDGET)].name == "ε"


def test_that_the_paper_margin_is_absent_where_it_is_not_defined(us, query) -> None:
    confident = replace(us, conventions=replace(us.conventions, confidence=Fraction(95, 100)))
    assert text(Column.MARGIN_PAPER, _row(confident, query)) == "–"


def test_that_yes_no_and_thresholds_are_read_or_refused() -> None:
    assert parse_yes("Yes")
    assert not parse_yes("0")
    assert parse_threshold("10") == 10
    with pytest.raises(ValueError, match="'maybe'"):
        parse_yes("maybe")
