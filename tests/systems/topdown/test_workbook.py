from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import openpyxl
import pytest

from phexplore.model.edits import set_item
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.topdown import LevelQuery, Passes, TopDown
from phexplore.systems.registry import presets
from phexplore.systems.topdown.workbook import topdown_xlsx
from phexplore.systems.topdown.workbook_read import is_workbook, read_topdown_workbook

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
TOPDOWN = [preset.id for preset in presets().values() if isinstance(preset.scenario.method, TopDown)]


@pytest.fixture
def persons():
    return presets()["pl94-2020-persons-us"].scenario


def _edited(content, sheet, cell, value):
    book = openpyxl.load_workbook(io.BytesIO(content))
    book[sheet][cell] = value
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("preset_id", TOPDOWN)
def test_that_every_preset_comes_back_exactly(preset_id) -> None:
    scenario = presets()[preset_id].scenario
    back = read_topdown_workbook(topdown_xlsx(scenario, NOW))
    assert back.method == scenario.method
    assert fingerprint(back) == fingerprint(scenario)
    assert (back.name, back.note, back.baseline) == (scenario.name, scenario.note, scenario.baseline)
    assert back.conventions == scenario.conventions


def test_that_locks_notes_and_odd_passes_come_back(persons) -> None:
    odd = {
        **persons.topdown.passes,
        "County": Passes((((), ("total",)), (("detailed",),)), ()),
        "Block": Passes((), ()),
    }
    method = replace(persons.topdown, passes=odd, constraints={**persons.topdown.constraints, "US": ()})
    scenario = replace(persons, name="=HYPERLINK(1)", note="two\nlines; and a semicolon", method=method)
    scenario = set_item(
        set_item(scenario, "locked_levels", "County", value=True),
        "locked_queries",
        LevelQuery("County", "total"),
        value=True,
    )
    back = read_topdown_workbook(topdown_xlsx(scenario, NOW))
    assert back.method == scenario.method
    assert (back.name, back.note) == (scenario.name, scenario.note)


def test_that_shares_are_text_and_exact_and_no_cell_is_a_formula(persons) -> None:
    book = openpyxl.load_workbook(io.BytesIO(topdown_xlsx(persons, NOW)))
    levels = {row[0].value: row[1].value for row in book["Levels"].iter_rows(min_row=2)}
    assert levels["US"] == "104/4099"
    assert sum(map(Fraction, levels.values())) == 1
    assert not any(cell.data_type == "f" for sheet in book for row in sheet.iter_rows() for cell in row)
    assert topdown_xlsx(persons, NOW) == topdown_xlsx(persons, NOW)


def test_that_an_edited_share_is_read_and_nothing_else_changes(persons) -> None:
    content = topdown_xlsx(persons, NOW)
    content = _edited(content, "Levels", "B2", "52/4099")
    content = _edited(content, "Levels", "B3", "1492/4099")
    back = read_topdown_workbook(content).topdown
    assert (back.level_shares["US"], back.level_shares["State"]) == (Fraction(52, 4099), Fraction(1492, 4099))
    assert back.query_shares == persons.topdown.query_shares


@pytest.mark.parametrize(
    ("sheet", "cell", "value", "place", "words"),
    [
        ("Levels", "B2", "1/2", "Levels", "add up to"),
        ("Levels", "B2", "half", "Levels!B2", "exact number"),
        ("Levels", "B2", "3/2", "Levels!B2", "between 0 and 1"),
        ("Levels", "B2", datetime(2026, 1, 4), "Levels!B2", "date"),  # noqa: DTZ001 - as a spreadsheet turns 1/4 into
        ("Levels", "A3", "US", "Levels!A3", "twice"),
        ("Levels", "B1", "Part", "Levels!A1", "no column 'Share, exact'"),
        ("Budgets", "A2", "Moon", "Budgets!A2", "not a level"),
        ("Budgets", "B2", "no such query", "Budgets!B2", ""),
        ("Passes", "B2", "middle", "Passes!B2", "no stage"),
        ("Passes", "C2", "zero", "Passes!C2", "numbered from 1"),
        ("Rules", "B2", "wish", "Rules!B2", "no kind of rule"),
        ("Settings", "B7", "-1", "Settings!B7", "positive"),
        ("Settings", "B6", "no_schema", "Settings!B6", ""),
        ("Settings", "B8", "sideways", "Settings!B8", "sideways"),
        ("Levels", "C2", "perhaps", "Levels!C2", "neither yes nor no"),
    ],
)
def test_that_a_problem_is_named_with_its_cell(persons, sheet, cell, value, place, words) -> None:
    content = _edited(topdown_xlsx(persons, NOW), sheet, cell, value)
    with pytest.raises(InputProblemsError) as caught:
        read_topdown_workbook(content, "mine.xlsx")
    found = [issue for issue in caught.value.issues if issue.path[-1] == place]
    assert found, [issue.path for issue in caught.value.issues]
    assert words in found[0].sentence


@pytest.mark.parametrize("sheet", ["Levels", "Budgets", "Passes", "Rules", "Spine", "Settings"])
def test_that_a_missing_sheet_is_named(persons, sheet) -> None:
    book = openpyxl.load_workbook(io.BytesIO(topdown_xlsx(persons, NOW)))
    del book[sheet]
    out = io.BytesIO()
    book.save(out)
    with pytest.raises(InputProblemsError, match=sheet):
        read_topdown_workbook(out.getvalue())


def test_that_workbooks_of_the_two_systems_are_told_apart(us, persons, tmp_path) -> None:
    from phexplore.systems.phsafe.snapshot import scenario_snapshot
    from phexplore.systems.phsafe.table10_xlsx import table10_xlsx
    from phexplore.systems.sources import read_parameters

    sdhc, own = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    sdhc.write_bytes(table10_xlsx(scenario_snapshot(us, NOW)))
    own.write_bytes(topdown_xlsx(persons, NOW))
    assert is_workbook(own)
    assert not is_workbook(sdhc)
    assert read_parameters(own)[0].method == persons.method
    assert read_parameters(sdhc)[0].method.budgets == us.method.budgets
