from __future__ import annotations

import csv
import io
from dataclasses import replace

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.cli.exporting import export_scenario
from phexplore.files.spreadsheet import csv_bytes, safe_cell
from phexplore.model.edits import set_field
from phexplore.systems.registry import preset

NASTY = ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")', "\n@x"]  # fmt: skip


@given(st.text())
def test_that_no_cell_begins_like_a_formula_and_nothing_is_lost(text):
    cell = safe_cell(text)
    assert cell in {text, "'" + text}
    if cell[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"}:
        float(cell)  # a plain negative number


@pytest.mark.parametrize("number", ["-5", "-0.25", "-1.5e-07", "3", "1e10", ""])
def test_that_numbers_stay_numbers(number):
    assert safe_cell(number) == number


def test_that_the_writer_guards_texts_and_leaves_numbers():
    content = csv_bytes([["=a", -5, -0.5, "-5", None], ["plain"]], lineterminator="\n")
    assert list(csv.reader(io.StringIO(content.decode()))) == [["'=a", "-5", "-0.5", "-5", ""], ["plain"]]


def formula_like(cell: str) -> bool:
    if cell[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"}:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("id_", ["sdhc-2020-us", "group-sizes-census-2010", "counties-invariant-2010"])
@pytest.mark.parametrize("nasty", NASTY)
def test_that_no_export_of_a_scenario_with_such_names_holds_a_formula(tmp_path, id_, nasty):
    base = preset(id_).scenario
    scenario = set_field(replace(base, name=nasty.strip() or "x"), "note", nasty)
    for path in export_scenario(scenario, "csv", tmp_path / "a.csv").files:
        rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
        assert [cell for row in rows for cell in row if formula_like(cell)] == []
    if id_.startswith("sdhc"):
        (path,) = export_scenario(scenario, "xlsx", tmp_path / "a.xlsx").files
        formulas, texts = what_is_in(path)
        (plain,) = export_scenario(base, "xlsx", tmp_path / "plain.xlsx").files
        assert formulas == what_is_in(plain)[0]  # the workbook's own
        assert any(nasty.strip() in text for text in texts)


def what_is_in(path):
    book = openpyxl.load_workbook(path)
    cells = [(sheet.title, cell) for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    formulas = {(title, cell.coordinate, cell.value) for title, cell in cells if cell.data_type == "f"}
    return formulas, [str(cell.value) for _, cell in cells]
