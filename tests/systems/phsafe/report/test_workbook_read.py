"""The workbook of a scenario, out and in; what people do to it in between; what is refused."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import openpyxl
import pytest

from phexplore.model.conventions import AS_IN_2020
from phexplore.model.edits import rename, set_field
from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.phsafe.workbook_read import read_workbook
from phexplore.systems.registry import preset

CHILDREN = parse_query("PH3/state_A-G")
NOW = datetime(2026, 7, 1, tzinfo=UTC)


def written(scenario):
    return PHSAFE.formats["xlsx"].write(scenario, None, NOW)


def edited(scenario, change):
    book = openpyxl.load_workbook(io.BytesIO(written(scenario)))
    change(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def cell(sheet, first, second):
    """Return the cell in the line that begins with `first` under the header `second`."""
    column = next(place for place, head in enumerate(sheet[1], start=1) if head.value == second)
    line = next(line for line in range(2, sheet.max_row + 1) if sheet.cell(line, 1).value == first)
    return sheet.cell(line, column)


def problems(scenario, change):
    with pytest.raises(InputProblemsError) as caught:
        read_workbook(edited(scenario, change), "b.xlsx")
    return [(issue.place, issue.sentence) for issue in caught.value.issues]


SCENARIOS = {
    "us": lambda us: us,
    "as in 2020": lambda us: replace(us, conventions=AS_IN_2020),
    "a third": lambda us: set_budget(us, CHILDREN, Fraction(1, 3)),
    "many digits": lambda us: set_budget(us, CHILDREN, Fraction("0.12345678901234567891")),
    "no noise": lambda us: set_budget(us, CHILDREN, UNLIMITED),
    "unpublished": lambda us: set_budget(us, CHILDREN, Fraction(0)),
    "formulas for names": lambda us: set_field(rename(us, "=1+1"), "note", "@SUM(A1)\n-2+3"),
    "puerto rico": lambda _: preset("sdhc-2020-pr").scenario,
}


@pytest.mark.parametrize("kind", SCENARIOS)
def test_that_a_workbook_is_read_back_exactly(us, kind):
    scenario = SCENARIOS[kind](us)
    back, warnings = read_workbook(written(scenario))
    assert back == scenario
    assert warnings == ()


def test_that_a_workbook_has_the_three_groups_of_inputs(us):
    book = openpyxl.load_workbook(io.BytesIO(written(us)))
    assert book.sheetnames[:3] == ["Budgets", "Levels", "Thresholds"]
    assert [head.value for head in book["Budgets"][1]][:6] == [
        "Table", "Truncation Threshold", "Population Group Level", "MOE Target", "Unbounded Privacy Loss",
        "Bounded Privacy Loss",
    ]  # fmt: skip
    assert cell(book["Thresholds"], "PH3", "Truncation Threshold").value == 6


def test_that_no_cell_of_text_is_a_formula(us):
    hostile = set_field(rename(us, "=HYPERLINK(1)"), "note", "+cmd|' /C calc'!A0")
    book = openpyxl.load_workbook(io.BytesIO(written(hostile)))
    formulas = [c.coordinate for sheet in book for line in sheet for c in line if c.data_type == "f"]
    assert all(place.startswith("F") for place in formulas)  # twice the unbounded budget, nothing else
    assert len(formulas) == 46


def test_that_no_on_the_levels_sheet_leaves_a_level_out_and_keeps_its_target(us):
    def change(book):
        cell(book["Levels"], "PH3", "(State, A-G)").value = "No"

    back, _ = read_workbook(edited(us, change))
    assert back.phsafe.budgets[CHILDREN] == 0
    assert back.phsafe.targets[CHILDREN] == 20


def test_that_a_threshold_changed_in_both_places_is_read(us):
    def change(book):
        cell(book["Thresholds"], "PH2", "Truncation Threshold").value = 8
        for line in book["Budgets"].iter_rows(min_row=2):
            if line[0].value == "PH2":
                line[1].value = 8

    assert read_workbook(edited(us, change))[0].phsafe == set_threshold(us, "PH2", 8).phsafe


def put(sheet, first, second, value):
    def change(book):
        cell(book[sheet], first, second).value = value

    return change


@pytest.mark.parametrize(
    ("sheet", "first", "second", "value", "place", "sentence"),
    [
        ("Thresholds", "PH2", "Truncation Threshold", 8, "Thresholds!B3", "is 8 here and 10 in the table of budgets"),
        ("Thresholds", "PH2", "Truncation Threshold", "many", "Thresholds!B3", "whole number from 1"),
        ("Levels", "PH3", "(State, A-G)", "maybe", "Levels!F5", "neither yes nor no"),
        ("Levels", "PH2", "(State, A-G)", "yes", "Levels!F4", "not published at State, A-G"),
        ("Settings", "States", "Value", "44, ZZ", "Settings!B7", "ZZ"),
        ("Settings", "margin", "Value", "guess", "Settings!B9", "guess"),
        ("Settings", "delta", "Value", "2", "Settings!B8", "δ lies between 0 and 1"),
        ("Budgets", "PH2", "Unbounded Privacy Loss", "lots", "Budgets!E", "'lots' is not a number"),
    ],
)
def test_that_every_problem_names_its_cell(us, sheet, first, second, value, place, sentence):
    found = problems(us, put(sheet, first, second, value))
    assert any(f"b.xlsx › {place}" in where and sentence in text for where, text in found), found


def test_that_all_problems_are_listed_together(us):
    def change(book):
        put("Levels", "PH3", "(State, A-G)", "maybe")(book)
        put("Settings", "margin", "Value", "guess")(book)

    assert len(problems(us, change)) == 2


def test_that_a_table_typed_by_hand_says_what_it_assumes():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Table", "Truncation Threshold", "Population Group Level", "MOE Target", "Unbounded Privacy Loss"])
    sheet.append(["PH3", 6, "(State, A-G)", 20, 0.662976])
    buffer = io.BytesIO()
    book.save(buffer)
    scenario, warnings = read_workbook(buffer.getvalue(), "typed.xlsx")
    assert scenario.name == "typed"
    assert scenario.phsafe.published == (CHILDREN,)
    assert "There is no sheet 'Settings'" in warnings[0].sentence
