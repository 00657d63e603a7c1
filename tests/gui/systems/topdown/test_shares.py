"""The cells of the table of shares: words, exact texts, what typing does, and blocks of them."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import phexplore.gui
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.group_sizes.editor import _level_table
from phexplore.gui.systems.phsafe.budget_table import Column, budget_table
from phexplore.gui.systems.phsafe.levels_page import ThresholdsEditor
from phexplore.gui.systems.topdown.session import topdown_shown
from phexplore.gui.systems.topdown.shares import share_table
from phexplore.gui.tables.blocks import PasteRefusedError, block_text, read_block
from phexplore.gui.tables.parameter_table import Kind
from phexplore.gui.targets.goal_table import goal_rows, goal_table
from phexplore.model.goals import Goals
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook, system_name
from phexplore.systems.registry import budgets_of, preset
from phexplore.systems.topdown.edits import set_query_share
from phexplore.systems.topdown.share_cells import Quantity, cell_of, query_rows, text
from phexplore.systems.topdown.share_typing import (
    edit_of,
    exact,
    forbidden,
    lock_edit,
    measured_edit,
    offered_queries,
    parse_share,
    sum_text,
)

TOTAL = LevelQuery("County", "total")


def version(scenario=None, comparison="pl94-2020-persons-us"):
    found = replace(scenario or preset("pl94-2020-persons-us").scenario, name="Proposal")
    return topdown_shown(shown(Workbook((found,), "Proposal", comparison)))


def paste(now, block, quantity, *, row, column):
    """Paste a block; return how many shares it changes, the name of the step, and the scenario after it."""
    table = share_table(now, quantity)
    entries = read_block(block, table, table.rows, table.columns, row=row, column=column)
    label, edit = table.plan(entries) if entries else ("", lambda scenario: scenario)
    return len(entries), label, edit(now.scenario)


def test_that_the_sum_of_percents_is_written_in_percent():
    for quantity, words in ((Quantity.SHARE, "100 %"), (Quantity.FRACTION, "1")):
        table = share_table(version(), quantity)
        assert table.columns[-1].cell(table.rows[-1]).text == words


def test_that_rows_follow_the_catalogue_and_the_rest_is_offered():
    now = version()
    assert query_rows(now.method)[:3] == ("total", "cenrace", "hispanic")
    assert query_rows(now.method)[-1] == "detailed"
    assert set(offered_queries(now.method)) == {"hhgq * hispanic", "hhgq * hispanic * cenrace"}


@pytest.mark.parametrize("name", ["dhc-2020-units-us", "dhc-2020-persons-us", "ddp-2019-households-us"])
def test_that_every_measured_query_group_has_a_row(name):
    method = preset(name).scenario.topdown
    assert sorted(query_rows(method)) == sorted({key.query for key in method.query_shares})
    table = share_table(version(preset(name).scenario, name), Quantity.SHARE)
    assert sum(cell.share or 0 for row in table.rows[1:-1] for cell in [row.cells[method.levels[0]]]) == 1


@pytest.mark.parametrize(
    ("quantity", "words", "carried"),
    [
        (Quantity.SHARE, "76.30 %", "3126/4097"),
        (Quantity.FRACTION, "3126/4097", "3126/4097"),
        (Quantity.OF_TOTAL, "8.32 %", "1397322/16793603"),
        (Quantity.BUDGET, "0.2127", None),
        (Quantity.MARGIN, "±3.57", None),
    ],
)
def test_that_every_quantity_is_shown_and_copied_exactly(quantity, words, carried):
    now = version()
    cell = cell_of(now, TOTAL)
    assert text(cell, quantity, now) == words
    if carried is not None:
        assert exact(cell, quantity, now) == carried
    if quantity is Quantity.BUDGET:
        assert Fraction(exact(cell, quantity, now)) == now.method.budget(TOTAL)


def test_that_what_is_not_measured_is_absent():
    now = version()
    cell = cell_of(now, LevelQuery("US", "total"))
    assert cell.share is None
    assert text(cell, Quantity.SHARE, now) == "–"
    label, edit = measured_edit(now, LevelQuery("US", "total"), measured=True)
    assert label == "Measure total at US"
    assert edit(now.scenario).topdown.query_shares[LevelQuery("US", "total")] == Fraction(1, 100)


@pytest.mark.parametrize(
    ("typed", "percentage", "share"),
    [
        ("0.25", Fraction(1, 400), Fraction(1, 4)),
        ("1", Fraction(1, 100), Fraction(1)),
        ("0.5", Fraction(1, 200), Fraction(1, 2)),
        ("0", Fraction(0), Fraction(0)),
        ("25 %", Fraction(1, 4), Fraction(1, 4)),
        ("0.5%", Fraction(1, 200), Fraction(1, 200)),
        ("3773/4097", Fraction(3773, 4097), Fraction(3773, 4097)),
        ("25", Fraction(1, 4), None),
        ("100", Fraction(1), None),
        ("1,5", Fraction(3, 200), None),
        ("101", None, None),
        ("101 %", None, None),
        ("3/2", None, None),
        ("-1", None, None),
        ("-0.5", None, None),
    ],
)
def test_that_a_bare_number_means_what_its_column_shows_whatever_its_size(typed, percentage, share):
    for quantity, expected in ((Quantity.SHARE, percentage), (Quantity.FRACTION, share)):
        if expected is None:
            with pytest.raises(ValueError, match="between 0 % and 100 %"):
                parse_share(typed, quantity)
        else:
            assert parse_share(typed, quantity) == expected


def test_that_one_typed_into_a_column_of_percentages_is_one_percent():
    now = version()
    label, edit = edit_of(cell_of(now, TOTAL), Quantity.SHARE, "1", now)
    assert label == "Set the share of total at County to 1 %"
    assert edit(now.scenario).topdown.query_shares[TOTAL] == Fraction(1, 100)


SPELLINGS = {
    "as copied": lambda text: text,
    "no blank before the sign": lambda text: text.replace(" %", "%"),
    # three decimals could be thousands: such an entry is refused, so the comma has a fourth here
    "decimal comma": lambda text: re.sub(r"\b(\d+)\.(\d{3})(?!\d)", r"\1,\g<2>0", text).replace(".", ","),
    "narrow blank": lambda text: text.replace(" %", "\u202f%"),
}


@settings(max_examples=60, deadline=None)
@given(
    share=st.one_of(
        st.fractions(0, 1, max_denominator=5000),
        st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 100), Fraction(1, 10**6), Fraction(3126, 4097)]),
    ),
    quantity=st.sampled_from([Quantity.SHARE, Quantity.FRACTION]),
    spelling=st.sampled_from(sorted(SPELLINGS)),
)
def test_that_a_copied_share_reads_back_exactly_in_every_spelling(share, quantity, spelling):
    carried = exact(replace(cell_of(version(), TOTAL), share=share), quantity, version())
    assert parse_share(SPELLINGS[spelling](carried), quantity) == share


def test_that_a_typed_margin_gives_a_share_that_keeps_it():
    now = version()
    label, edit = edit_of(cell_of(now, TOTAL), Quantity.MARGIN, "5", now)
    assert label == "Set the margin of total at County to 5 people"
    after = version(edit(now.scenario))
    assert after.entries[TOTAL].margins.normal <= 5
    assert sum_text(after, "County") == ("1", True)


def test_that_locked_cells_and_computed_quantities_refuse_typing():
    now = version()
    _, edit = lock_edit([TOTAL], locked=True)
    locked = version(edit(now.scenario))
    assert "Locked" in forbidden(cell_of(locked, TOTAL), Quantity.SHARE)
    assert "follows" in forbidden(cell_of(now, TOTAL), Quantity.SIGMA)
    assert "no margin" in forbidden(cell_of(now, "County"), Quantity.MARGIN)
    with pytest.raises(ValueError, match="Locked"):
        edit_of(cell_of(locked, TOTAL), Quantity.SHARE, "1/2", locked)


def test_that_a_budget_beyond_its_level_is_refused():
    now = version()
    with pytest.raises(PhexploreError, match="in all"):
        edit_of(cell_of(now, TOTAL), Quantity.BUDGET, "2", now)


def test_that_a_copied_block_pasted_back_changes_nothing():
    now = version()
    table = share_table(now, Quantity.SHARE)
    copied = block_text(table, table.rows, table.columns, headers=True)
    assert copied.startswith(
        "Query group\tAnswers\tUS\tState\tCounty\tTract\tBlock group\tBlock\nShare of the level\t\t"
    )
    assert paste(now, copied, Quantity.SHARE, row=0, column=2)[0] == 0


def _goals(view):
    return goal_table(goal_rows(view.scenario, _asked(view.workbook).goals[system_name(view.scenario)]))


def _asked(book):
    asked = dict.fromkeys(list(budgets_of(book.scenario).budgets)[::3], Fraction(1000, 3))
    goals = Goals(margins=asked, floors=asked, locks=frozenset(asked))
    return replace(book, goals={system_name(book.scenario): goals})


def _thresholds(view):
    return ThresholdsEditor(Session(Project.new(view.workbook))).table.table


TABLES = {
    ("sdhc-2020-us", "budgets"): budget_table,
    ("sdhc-2020-us", "goals"): _goals,
    ("sdhc-2020-us", "thresholds"): _thresholds,
    ("pl94-2020-persons-us", "goals"): _goals,
    ("group-sizes-census-2010", "levels"): _level_table,
    **{
        (system, quantity.name): lambda view, quantity=quantity: share_table(topdown_shown(view), quantity)
        for system in ("pl94-2020-persons-us", "dhc-2020-units-us")
        for quantity in Quantity
    },
}


@pytest.mark.parametrize(("system", "what"), list(TABLES))
def test_that_no_column_of_any_table_changes_when_its_copy_is_pasted(qapp, system, what):
    view = _proposal(system)
    table = TABLES[system, what](view)
    assert sum(column.step is not None for column in table.columns) or what in {"SIGMA", "OF_TOTAL"}
    for spelling, column in product(SPELLINGS, (*table.columns, None)):
        if spelling != "as copied" and (column is None or column.step is None):
            continue  # a spreadsheet respells numbers; texts and computed cells come back as they were
        columns = [column] if column is not None else table.columns
        copied = SPELLINGS[spelling](block_text(table, table.rows, columns, headers=column is None))
        at = 0 if column is None else table.columns.index(column)
        if copied.strip():  # the locks of the rows are no text
            assert read_block(copied, table, table.rows, table.columns, row=0, column=at) == []


def _proposal(system):
    scenario = replace(preset(system).scenario, name="Proposal")
    return shown(Workbook((scenario,), "Proposal", system))


def test_that_every_table_of_parameters_is_among_them():
    home = Path(phexplore.gui.__file__).parent
    making = {
        path.relative_to(home).as_posix()
        for path in home.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ParameterTable"
    }
    assert making == {
        "systems/group_sizes/editor.py",
        "systems/phsafe/budget_table.py",
        "systems/phsafe/levels_page.py",
        "systems/topdown/shares.py",
        "targets/goal_table.py",
    }


_GIVEN_BY_ANOTHER = {("budgets", Column.MARGIN), ("MARGIN", None), ("SIGMA", None), ("OF_TOTAL", None)}
"""Columns whose numbers are read from a rounded figure: their copy keeps the parameter because it says what is there."""


@pytest.mark.parametrize(("system", "what"), list(TABLES))
def test_that_what_a_copy_carries_is_read_as_the_value_it_was_copied_from(qapp, system, what):
    view = _proposal(system)
    table, book = TABLES[system, what](view), view.workbook
    for row, column in product(table.rows, table.columns):
        if column.refusal(row) or not column.carried(row):
            continue
        if {(what, None), (what, column.key)} & _GIVEN_BY_ANOTHER:
            continue
        _, edit = column.enter(row, column.carried(row))
        if what == "goals":
            after = edit(_asked(book))
            found = goal_rows(after.scenario, after.goals[system_name(after.scenario)])
            assert [replace(each, is_own=True) for each in found] == [replace(each, is_own=True) for each in table.rows]
        else:
            assert edit(view.scenario).method == view.scenario.method, (row.key, column.key)


def test_that_percentages_are_copied_as_percentages(qapp):
    for (system, what), made in TABLES.items():
        table = made(_proposal(system))
        for row, column in product(table.rows, table.columns):
            if column.kind is Kind.NUMBER and column.cell(row).text.endswith("%"):
                assert column.carried(row).endswith("%") or "/" in column.carried(row), (what, column.key)


@pytest.mark.parametrize("share", [Fraction(9028, 10**6), Fraction(1, 10**6), Fraction(123456789, 10**9)])
@pytest.mark.parametrize("sign", [".", ","])
def test_that_a_percentage_rounded_by_a_spreadsheet_changes_nothing_and_an_edited_one_does(share, sign):
    now = version()
    _, edit = edit_of(cell_of(now, TOTAL), Quantity.SHARE, f"{float(100 * share):.9f}", now)
    view = shown(Workbook((replace(edit(now.scenario), name="Proposal"),), "Proposal", "pl94-2020-persons-us"))
    table = share_table(topdown_shown(view), Quantity.SHARE)
    at = next(index for index, column in enumerate(table.columns) if column.key == TOTAL.level)
    line = next(index for index, row in enumerate(table.rows) if row.place(TOTAL.level) == TOTAL)
    assert parse_share(table.columns[at].carried(table.rows[line]), Quantity.SHARE) == share
    # The clipboard of Excel and LibreOffice carries the text shown in a cell: two decimals unless a user asks for more.
    cents = round(10_000 * share)
    for hundredths, is_changed in ((cents, False), (cents + 1, True)):
        typed = f"{hundredths // 100}{sign}{hundredths % 100:02}%"
        entries = read_block(typed, table, table.rows, table.columns, row=line, column=at)
        assert [entry.typed for entry in entries] == ([typed] if is_changed else [])


def test_that_a_copied_table_pastes_into_another_scenario():
    now = version()
    table = share_table(now, Quantity.SHARE)
    copied = block_text(table, table.rows, table.columns, headers=True)
    other = version(replace(now.scenario, method=set_query_share(now.scenario, TOTAL, Fraction(1, 2)).method))
    assert other.method != now.method
    assert paste(other, copied, Quantity.SHARE, row=0, column=0)[2].method == now.method


def test_that_a_block_goes_where_its_names_say():
    now = version()
    block = "Query group\tCounty\tTract\nShare of the level\t20 %\t\ntotal\t1/2\t1/3\n"
    count, label, after = paste(now, block, Quantity.SHARE, row=5, column=5)
    assert (count, label) == (3, "Paste 3 shares: County, total at County, total at Tract")
    assert after.topdown.level_shares["County"] == Fraction(1, 5)
    assert after.topdown.query_shares[TOTAL] == Fraction(1, 2)
    assert after.topdown.query_shares[LevelQuery("Tract", "total")] == Fraction(1, 3)
    assert sum(after.topdown.level_shares.values()) == 1


def test_that_names_are_read_in_the_spellings_of_files():
    block = "query group\tBlock_Group\nlevel\t1/4\nhispanic * cenrace\t1/8\n"
    after = paste(version(), block, Quantity.SHARE, row=0, column=0)[2].topdown
    assert after.level_shares["Block_Group"] == Fraction(1, 4)
    assert after.query_shares[LevelQuery("Block_Group", "hispanic * cenrace")] == Fraction(1, 8)


def test_that_pasted_budgets_are_meant_within_the_pasted_level():
    now = version()
    budget = now.method.total / 10
    block = f"Query group\tCounty\nShare of the level\t{now.method.total / 5}\ntotal\t{budget}\n"
    after = paste(now, block, Quantity.BUDGET, row=0, column=2)[2].topdown
    assert after.budget(TOTAL) == budget


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("", "nothing to paste"),
        ("Query group\tWard\ntotal\t1/2", "'Ward'"),
        ("Query group\tCounty\nage\t1/2", "Line 2 is for age"),
        ("90\n90", "Nothing was pasted"),
        ("abc", "'abc' for total at County"),
        ("\t".join("1" * 9), "9 columns"),
        ("1\n" * 15, "15 rows"),
    ],
)
def test_that_a_wrong_block_is_refused_as_a_whole(block, reason):
    with pytest.raises(PasteRefusedError, match=reason):
        paste(version(), block, Quantity.SHARE, row=1, column=4)


@pytest.mark.parametrize(("quantity", "row"), [(Quantity.SHARE, 13), (Quantity.SIGMA, 1)])
def test_that_sums_and_computed_quantities_refuse_a_block(quantity, row):
    now = version()
    row = min(row, len(share_table(now, quantity).rows) - 1)
    with pytest.raises(PasteRefusedError, match=r"is computed|follows from the shares"):
        paste(now, "0.77", quantity, row=row, column=4)
