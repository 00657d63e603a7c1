"""Parameters of a file that differ from a preset do not carry its name; those that equal it do."""

from __future__ import annotations

import pytest
from openpyxl import load_workbook

from phexplore.cli.app import run as command
from phexplore.systems.registry import preset
from phexplore.systems.sources import load_with_warnings, read_parameters


@pytest.fixture
def workbook(tmp_path):
    path = tmp_path / "budgets.xlsx"
    assert command(["export", "sdhc-2020-us", "--format", "xlsx", "--out", str(path)]) == 0
    return path


def test_that_an_untouched_workbook_is_the_preset(workbook):
    scenario, issues = read_parameters(workbook)
    assert (scenario.name, issues) == (preset("sdhc-2020-us").scenario.name, ())


def test_that_an_edited_workbook_has_a_name_of_its_own_and_says_how_much_differs(workbook):
    book = load_workbook(workbook)
    book["Budgets"]["D2"] = 600
    book["Budgets"]["D3"] = 700
    book.save(workbook)
    for scenario, issues in (read_parameters(workbook), load_with_warnings(str(workbook))):
        assert scenario.name == f"{preset('sdhc-2020-us').scenario.name} (edited in budgets.xlsx)"
        assert len(issues) == 1
        assert issues[0].sentence.startswith("2 parameters differ")
