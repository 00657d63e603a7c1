"""Decisions on the command line, as outside checks call them."""

from __future__ import annotations

import json

import pytest
from ini_chains import CHAIN, write_chain

from phexplore.cli.app import BAD_INPUT, DONE, EXPECTED_FAILURE, run


def call(capsys, *arguments):
    """Return exit status, standard output and standard error."""
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("command", ["solve"])
def test_that_every_command_explains_itself_with_an_example(capsys, command):
    status, out, _ = call(capsys, command, "--help")
    assert status == DONE
    assert f"Example: phexplore {command}" in out


def test_that_solving_as_in_2020_gives_the_cells_of_the_forecast(capsys):
    _, out, _ = call(capsys, "forecast", "sdhc-2020-us", "--json")
    published = {(c["table"], c["level"]): c["rho"] for c in json.loads(out)["cells"]}
    status, out, _ = call(capsys, "solve", "sdhc-2020-us", "--rounding", "as-in-2020", "--json")
    found = json.loads(out)
    assert status == DONE
    assert {(c["table"], c["level"]): c["rho"] for c in found["cells"]} == published
    assert found["privacy"]["rho"] == "1.257281"
    assert found["rounding"]["changed"] == []


def test_that_solving_upward_lists_the_27_budgets_it_changes(capsys):
    status, out, _ = call(capsys, "solve", "sdhc-2020-us", "--json")
    found = json.loads(out)
    assert status == DONE
    assert len(found["rounding"]["changed"]) == 27
    assert found["privacy"]["rho"] == "1.257308"


def test_that_a_solved_scenario_can_be_saved_and_opened_again(capsys, tmp_path):
    out = tmp_path / "solved.phx"
    status, _, err = call(capsys, "solve", "sdhc-2020-us", "--out", out)
    assert (status, err) == (DONE, f"Wrote {out}\n")
    status, text, _ = call(capsys, "diff", "sdhc-2020-us", out, "--json")
    assert status == DONE
    assert sum(change["path"].startswith("budget") for change in json.loads(text)["parameters"]) == 27


def test_that_goals_out_of_reach_end_with_the_conflict_and_status_one(capsys):
    status, out, err = call(capsys, "solve", "sdhc-2020-us", "--cap-bounded-rho", "2", "--json")
    found = json.loads(out)
    assert status == EXPECTED_FAILURE
    assert found["feasible"] is False
    assert [part["kind"] for part in found["conflict"]] == ["target"] * 4 + ["cap"]
    assert "Cheapest ways out" in err


def test_that_a_file_of_targets_is_followed_and_its_problems_named(capsys, tmp_path):
    goals = tmp_path / "goals.json"
    goals.write_text('{"targets": {"*/state_A-G": 100}, "caps": [{"epsilon": 12}]}')
    status, out, _ = call(capsys, "solve", "sdhc-2020-us", "--targets", goals, "--json")
    assert status == DONE
    cells = {(c["table"], c["level"]): c for c in json.loads(out)["cells"]}
    assert cells["PH3", "state_A-G"]["target"] == "100"
    goals.write_text('{"targets": {"PH9": 100}}')
    status, _, err = call(capsys, "solve", "sdhc-2020-us", "--targets", goals)
    assert status == BAD_INPUT
    assert "goals.json:1:14" in err


@pytest.mark.parametrize("wrong", [("--rounding", "down"), ("--targets", "absent.json")])
def test_that_bad_arguments_of_solve_have_status_two(capsys, wrong):
    assert call(capsys, "solve", "sdhc-2020-us", *wrong)[0] == BAD_INPUT


def test_that_a_cap_that_is_no_number_is_a_sentence(capsys):
    status, _, err = call(capsys, "solve", "sdhc-2020-us", "--cap-rho", "lots")
    assert status == EXPECTED_FAILURE
    assert "cap on rho" in err


def test_that_an_ini_is_a_scenario_like_any_other(capsys, tmp_path):
    root = write_chain(tmp_path / "in")
    status, out, _ = call(capsys, "check", root, "--json")
    assert status == DONE
    assert [(issue["path"], issue["line"]) for issue in json.loads(out)] == [(["persons/persons.ini"], 10)]
    status, out, _ = call(capsys, "diff", root, "pl94-2020-persons-us", "--json")
    assert json.loads(out)["parameters"] == []
    status, out, _ = call(capsys, "forecast", root, "--json")
    assert (status, json.loads(out)["privacy"]["rho"]) == (DONE, "293764/114921")


def test_that_an_ini_chain_is_exported_whole_and_unchanged(capsys, tmp_path):
    root = write_chain(tmp_path / "in")
    status, _, err = call(capsys, "export", root, "--format", "das-ini", "--out", tmp_path / "out")
    assert (status, err.count("Wrote")) == (DONE, 4)
    for name, text in CHAIN.items():
        assert (tmp_path / "out" / name).read_text() == text
    assert (tmp_path / "out/persons/US_strategy.csv").exists()


def test_that_a_preset_is_exported_as_ini_and_read_back(capsys, tmp_path):
    out = tmp_path / "units.ini"
    assert call(capsys, "export", "pl94-2020-units-us", "--format", "das-ini", "--out", out)[0] == DONE
    assert json.loads(call(capsys, "diff", out, "pl94-2020-units-us", "--json")[1])["parameters"] == []


def test_that_formats_of_the_other_system_are_refused(capsys, tmp_path):
    out = tmp_path / "x"
    for scenario, form in (("sdhc-2020-us", "das-ini"), ("pl94-2020-units-us", "phsafe-config")):
        status, _, err = call(capsys, "export", scenario, "--format", form, "--out", out)
        assert status == EXPECTED_FAILURE
        assert "but" in err


def test_that_every_problem_of_an_ini_has_its_line(capsys, tmp_path):
    root = write_chain(tmp_path)
    root.write_text(CHAIN["persons/US.ini"].replace("16,12,11", "16,12").replace("104/4099, ", ""))
    status, _, err = call(capsys, "forecast", root)
    assert status == BAD_INPUT
    assert "persons/US.ini:9:17: 6 levels have 5 lengths" in err
    assert "persons/US.ini:17:24: 6 levels have 5 shares" in err
