from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from phexplore.errors import PhexploreError
from phexplore.gui.main.importing import read_parameters
from phexplore.model.issues import InputProblemsError
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.phsafe.table10 import table10_csv
from phexplore.systems.phsafe.table10_xlsx import table10_xlsx
from phexplore.systems.registry import preset
from phexplore.systems.topdown.workbook import topdown_xlsx
from tests.signed_bundles import signed_bundle


def test_that_a_config_is_read_with_its_text_kept(us, tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_text(write_config(us))
    scenario, _ = read_parameters(path, us)
    assert scenario.phsafe.budgets == us.phsafe.budgets
    assert scenario.source_text == path.read_text()


def test_that_a_table_says_budgets_targets_and_thresholds_only(us, query, tmp_path) -> None:
    edited = set_budget(us, query, Fraction(1, 4))
    path = tmp_path / "proposal #2.csv"
    path.write_bytes(table10_csv(edited, forecast(edited)))
    like = replace(us, note="kept")
    scenario, issues = read_parameters(path, like)
    assert scenario.phsafe == edited.phsafe
    assert scenario.note == "kept"
    assert scenario.name == "proposal -2"
    assert issues == ()


def test_that_every_problem_is_raised_and_nothing_half_loaded(us, tmp_path) -> None:
    path = tmp_path / "config.json"
    path.write_text(write_config(us).replace("0.662976", '"much"').replace("0.141622", "-1"))
    with pytest.raises(InputProblemsError) as caught:
        read_parameters(path, us)
    assert len(caught.value.issues) >= 2


def test_that_a_file_that_is_not_there_is_an_expected_failure(us, tmp_path) -> None:
    for name in ("none.csv", "none.json"):
        with pytest.raises(PhexploreError, match=name):
            read_parameters(tmp_path / name, us)


def test_that_a_workbook_of_topdown_is_read_whatever_is_being_edited(us, tmp_path) -> None:
    persons = preset("pl94-2020-persons-us").scenario
    (tmp_path / "persons.xlsx").write_bytes(topdown_xlsx(persons, datetime(2026, 7, 1, tzinfo=UTC)))
    assert read_parameters(tmp_path / "persons.xlsx", us)[0].method == persons.method


def test_that_a_whole_workbook_of_the_sdhc_brings_its_settings_along(us, tmp_path) -> None:
    named = replace(us, name="From Excel", note="as agreed")
    (tmp_path / "sdhc.xlsx").write_bytes(table10_xlsx(scenario_snapshot(named, datetime(2026, 7, 1, tzinfo=UTC))))
    other = preset("pl94-2020-persons-us").scenario
    found = read_parameters(tmp_path / "sdhc.xlsx", other)[0]
    assert (found.name, found.note, found.method) == ("From Excel", "as agreed", us.method)


def test_that_a_bundle_brings_the_parameters_that_were_decided_about(us, tmp_path) -> None:
    path = tmp_path / "vote of July.zip"
    path.write_bytes(signed_bundle(us).packed())
    found, (note,) = read_parameters(path, us)
    assert found.method == us.method
    assert found.name == f"{us.name} (vote of July)"
    assert "approved, signed by" in note.sentence


def test_that_an_altered_bundle_is_not_imported(us, tmp_path) -> None:
    content = bytearray(signed_bundle(us).packed())
    content[content.index(b'"usa_')] ^= 4
    path = tmp_path / "vote.zip"
    path.write_bytes(content)
    with pytest.raises(PhexploreError, match="was altered"):
        read_parameters(path, us)
