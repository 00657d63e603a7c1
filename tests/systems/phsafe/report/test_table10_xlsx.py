from __future__ import annotations

import io
import zipfile
from fractions import Fraction

import openpyxl
import pytest
from report_fixtures import NOW, edited

from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.phsafe.table10 import table10_rows
from phexplore.systems.phsafe.table10_xlsx import exact_in_a_cell, table10_xlsx


def opened(content, *, values=True):
    return openpyxl.load_workbook(io.BytesIO(content), data_only=values)


def test_that_the_workbook_is_the_same_bytes_twice(scenario):
    snapshot = scenario_snapshot(scenario, NOW)
    assert table10_xlsx(snapshot) == table10_xlsx(snapshot)


def test_that_numbers_are_numbers_and_the_bounded_column_follows(us):
    snapshot = scenario_snapshot(us, NOW)
    sheet = opened(table10_xlsx(snapshot)).worksheets[0]
    formulas = opened(table10_xlsx(snapshot), values=False).worksheets[0]
    for line, row in enumerate(table10_rows(us, snapshot.forecast), start=2):
        assert sheet.cell(line, 5).value == float(row.budget)
        assert sheet.cell(line, 6).value == float(row.bounded_budget)
        assert formulas.cell(line, 6).value == f"=2*E{line}"
        assert sheet.cell(line, 7).value == row.margins.exact
        assert sheet.cell(line, 12).value is None


def test_that_a_budget_no_number_cell_can_hold_stands_beside_as_text(us):
    sheet = opened(table10_xlsx(scenario_snapshot(edited(us), NOW))).worksheets[0]
    texts = {sheet.cell(line, 12).value for line in range(2, 48)}
    assert texts == {None, "1/3"}


def test_that_the_header_stays_in_sight_and_the_second_sheet_says_what_the_numbers_mean(us):
    snapshot = scenario_snapshot(us, NOW)
    book = opened(table10_xlsx(snapshot))
    assert book.sheetnames == ["Budgets", "Levels", "Thresholds", "Settings", "About"]
    assert book.worksheets[0].freeze_panes == "D2"
    said = {row[0].value: row[1].value for row in book["About"].iter_rows() if row[0].value}
    assert said["Bounded ρ, total"] == "2.514562"
    assert said["Unbounded ρ, total"] == "1.257281"
    assert said["Fingerprint of the parameters (SHA-256)"] == snapshot.fingerprint
    assert "496" in said["500 or 496"]
    assert "1.645" in said["1.64 or 1.645"]


def test_that_no_text_of_the_user_becomes_a_formula(us):
    content = table10_xlsx(scenario_snapshot(edited(us), NOW))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet2.xml")
        assert b"=HYPERLINK(evil)" in archive.read("xl/sharedStrings.xml")


def test_that_the_creation_date_is_the_one_given(us):
    assert opened(table10_xlsx(scenario_snapshot(us, NOW))).properties.created == NOW.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Fraction("0.002619"), True),
        (Fraction("0.123456789012345"), True),
        (Fraction("0.1234567890123456"), False),
        (Fraction(1, 3), False),
        (Fraction(10**20), True),
        (Fraction(10**20 + 1), False),
        (Fraction(0), True),
    ],
)
def test_that_a_cell_holds_fifteen_digits(budget, fits):
    assert exact_in_a_cell(budget) is fits
