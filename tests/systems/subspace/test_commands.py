"""Subspace scenarios and the paper's figures on the command line."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import pytest
from subspace_runs import COUNTIES, TWO_RELEASES, counts_file

from phexplore.cli.app import BAD_INPUT, DONE, EXPECTED_FAILURE, run
from phexplore.document.project import Project
from phexplore.files.scenario_json import encode_scenario
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset

PRESET = "counties-invariant-2010"


def call(capsys, *arguments):
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def two_file(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps(encode_scenario(TWO_RELEASES)))
    return path


def test_that_the_forecast_has_the_keys_of_the_contract(capsys):
    status, out, _ = call(capsys, "forecast", PRESET, "--json")
    found = json.loads(out)
    assert status == DONE
    assert {"scenario", "conventions", "privacy", "cells", "derived"} <= set(found)
    for figure in found["privacy"]["epsilon"]:
        assert {"delta", "value", "conversion", "neighbours", "rho"} == set(figure)
    assert 1e-10 in {figure["delta"] for figure in found["privacy"]["epsilon"]}
    assert found["privacy"]["pure_epsilon"] == "0.192"
    (cell,) = found["cells"]
    assert {"exact", "normal", "paper"} == set(cell["moe"])
    assert (cell["answers"], cell["unit_variance"], cell["moe"]["exact"]) == (102, "101/102", 24)
    (release,) = found["releases"]
    assert release["sensitivity"]["l1"] == "2"
    assert release["noise"]["scale"] == "125/12"
    assert len(found["errata"]) == 4


def test_that_the_forecast_for_people_says_what_is_not_protected(capsys, two_file):
    status, out, _ = call(capsys, "forecast", two_file)
    assert status == DONE
    assert "not protected: cells: every total per state is published exactly" in out
    assert "Proposition 2.9" in out


def test_that_gaussian_forecasts_show_the_constant_of_the_paper(capsys, two_file, tmp_path):
    content = json.loads(two_file.read_text())
    content["method"] |= {"epsilon": "16", "delta": "1e-10"}
    path = tmp_path / "wide.json"
    path.write_text(json.dumps(content))
    assert "erratum: the paper's constant would have 172 times" in call(capsys, "forecast", path)[1]
    paper = json.loads(call(capsys, "forecast", path, "--json")[1])["privacy"]["paper_constant"]
    assert paper["protects"] is False
    assert paper["factor"] == pytest.approx(172, rel=0.01)


def test_that_parameters_leave_and_come_back(capsys, tmp_path):
    path = tmp_path / "parameters.json"
    assert call(capsys, "export", PRESET, "--format", "subspace-json", "--out", tmp_path)[0] == DONE
    status, out, _ = call(capsys, "diff", PRESET, path)
    assert (status, out) == (DONE, "The parameters are equal.\n")
    assert call(capsys, "export", PRESET, "--format", "phsafe-config", "--out", tmp_path)[0] == BAD_INPUT


def test_that_a_difference_is_shown_with_its_effect(capsys, tmp_path):
    content = encode_scenario(COUNTIES)
    content["method"]["epsilon"] = "0.384"
    path = tmp_path / "half.json"
    path.write_text(json.dumps(content))
    found = json.loads(call(capsys, "diff", PRESET, path, "--json")[1])
    assert found["parameters"] == [{"path": "epsilon", "before": "0.192", "after": "0.384"}]
    assert found["effects"]["total"] == {"before": "0.192", "after": "0.384"}
    before, after = (found["effects"]["margins"][0][key] for key in ("before", "after"))
    assert before / after == pytest.approx(2, rel=0.01)


def test_that_a_scenario_lives_in_a_project(capsys, tmp_path):
    project = Project.new(Workbook((COUNTIES,), COUNTIES.name), PRESET)
    project.save(tmp_path / "p.phx")
    project.close()
    assert call(capsys, "diff", PRESET, tmp_path / "p.phx")[1] == "The parameters are equal.\n"


def test_that_a_file_that_cannot_be_read_lists_its_problems(capsys, two_file):
    content = json.loads(two_file.read_text())
    content["method"]["epsilon"] = "much"
    content["method"]["releases"]["cells"]["mechanism"] = "magic"
    two_file.write_text(json.dumps(content))
    status, _, err = call(capsys, "check", two_file)
    assert status == BAD_INPUT
    assert "two.json › method › epsilon" in err
    assert "'magic'" in err


def test_that_a_run_needs_no_data_where_they_came_along(capsys, tmp_path):
    status, out, _ = call(capsys, "run", PRESET, "--trials", 2, "--seed", 1, "--out", tmp_path / "run", "--json")
    assert status == DONE
    assert json.loads(out)["checks"]["invariants_exact"] is True
    assert call(capsys, "report", tmp_path / "run", "--format", "csv", "--out", tmp_path / "r.csv")[0] == DONE
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 103


def test_that_data_are_asked_for_where_none_came_along(capsys, two_file, tmp_path):
    status, _, err = call(capsys, "run", two_file, "--out", tmp_path / "run")
    assert status == BAD_INPUT
    assert "--data" in err
    status, _, err = call(capsys, "run", "sdhc-2020-us", "--out", tmp_path / "run")
    assert status == BAD_INPUT


def test_that_bad_data_are_listed_by_line(capsys, two_file, tmp_path):
    path = counts_file(tmp_path)
    path.write_text(path.read_text().replace("a,0,100", "a,0,many"))
    status, _, err = call(capsys, "run", two_file, "--data", path, "--out", tmp_path / "run")
    assert status == BAD_INPUT
    assert "counts.csv:2:3: count is not a whole number" in err


def test_that_figure_1_of_the_shipped_state_needs_no_file(capsys, tmp_path):
    status, out, _ = call(capsys, "subspace", "figure1", "--trials", 2, "--out", tmp_path, "--json")
    found = json.loads(out)
    assert status == DONE
    assert found["paper"] == {"states": 48, "negative": 37, "significant": 11}
    assert (found["states_regressed"], found["totals_broken"]) == (1, 0)
    assert (tmp_path / "errors-by-size.png").stat().st_size > 10_000
    rows = list(csv.DictReader((tmp_path / "slopes.csv").read_text().splitlines()))
    assert [(row["STATE"], row["RUN"]) for row in rows] == [("Illinois", "0"), ("Illinois", "1")]


@pytest.mark.real_data
@pytest.mark.slow
def test_that_figure_1_regresses_47_states(capsys, tmp_path, real_data):
    counties = real_data / "counties" / "counties_2010.csv"
    status, out, _ = call(capsys, "subspace", "figure1", "--trials", 2, "--counties", counties, "--out", tmp_path)
    assert status == DONE
    assert "the paper" in out
    assert out.count("  47  ") == 4
    assert (tmp_path / "slopes.png").stat().st_size > 10_000


def test_that_the_campus_case_prints_both_readings(capsys):
    status, out, _ = call(capsys, "subspace", "campus", "--repetitions", 5)
    assert status == DONE
    assert "exactly 299/336 = 0.890, its standard deviation 0.943" in out
    assert "6,720 cells, 740 independent totals, broken: 0" in out
    found = json.loads(call(capsys, "subspace", "campus", "--repetitions", 2, "--json")[1])
    assert (found["variance"], found["printed"]) == ("299/336", [0.86, 0.88, 0.91])


def test_that_bases_are_compared(capsys):
    status, out, _ = call(capsys, "subspace", "bases", "--cells", 102)
    assert status == DONE
    assert out.splitlines()[3].split() == ["halves", "5.1178"]
    assert json.loads(call(capsys, "subspace", "bases", "--json")[1])["factors"]["helmert"] == pytest.approx(
        7.95, abs=0.01
    )


def test_that_the_constant_is_judged_at_every_epsilon(capsys):
    status, out, _ = call(capsys, "subspace", "constant", "--epsilons", "0.5,8", "--json")
    assert status == DONE
    assert [row["protects"] for row in json.loads(out)["rows"]] == [True, False]
    assert "BREAKS" in call(capsys, "subspace", "constant")[1]
    assert call(capsys, "subspace", "constant", "--delta", "little")[0] == BAD_INPUT
    assert call(capsys, "subspace", "constant", "--delta", "0")[0] == EXPECTED_FAILURE


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.hex"
    path.write_text("f" * 64 + "\n")
    return path


def test_that_shares_of_a_common_noise_add_to_zero(capsys, secret):
    parts = Fraction(0)
    for answers in ("0,1,2", ",".join(map(str, range(3, 102)))):
        status, out, _ = call(
            capsys, "subspace", "share", PRESET, "--answers", answers, "--seed-file", secret, "--json"
        )
        assert status == DONE
        parts += sum(map(Fraction, json.loads(out)["noise"].values()))
    assert parts == 0
    assert call(capsys, "subspace", "share", PRESET, "--answers", "0", "--seed-file", secret)[0] == DONE


@pytest.mark.parametrize("answers", ["102", "-1", "x", ""])
def test_that_answers_that_do_not_exist_are_refused(capsys, secret, answers):
    assert call(capsys, "subspace", "share", PRESET, "--answers", answers, "--seed-file", secret)[0] == BAD_INPUT


@pytest.mark.parametrize("content", ["2020", "0" * 64, "g" * 64])
def test_that_a_secret_that_is_none_is_refused(capsys, secret, content):
    secret.write_text(content)
    status, _, err = call(capsys, "subspace", "share", PRESET, "--answers", "0", "--seed-file", secret)
    assert status == EXPECTED_FAILURE
    assert "token_hex(32)" in err


def test_that_a_share_of_nothing_is_refused(capsys, secret, tmp_path, two_file):
    assert (
        call(capsys, "subspace", "share", "sdhc-2020-us", "--answers", "0", "--seed-file", secret)[0]
        == EXPECTED_FAILURE
    )
    missing = tmp_path / "none"
    assert call(capsys, "subspace", "share", PRESET, "--answers", "0", "--seed-file", missing)[0] == BAD_INPUT
    arguments = ["subspace", "share", two_file, "--release", "nothing", "--answers", "0", "--seed-file", secret]
    assert call(capsys, *arguments)[0] == BAD_INPUT


def test_that_three_systems_are_compared_on_the_same_counties(capsys, tmp_path):
    """One ε: exact totals put all of it on the counties, the others half, so their state is better and their counties worse."""
    status, out, _ = call(capsys, "subspace", "compare", "--state", "RI", "--trials", 20, "--out", tmp_path, "--json")
    found = {row["system"]: row for row in json.loads(out)["systems"]}
    assert status == DONE
    exact = found["exact total (projected Laplace)"]
    for other in ("TopDown", "exact tree"):
        assert exact["county_mae"] < found[other]["county_mae"]
        assert found[other]["negative_share"] == 0
    rows = list(csv.reader((tmp_path / "systems.csv").read_text().splitlines()))
    assert len(rows) == 6
    assert (tmp_path / "systems.png").stat().st_size > 10_000
    assert (
        "Least error in counties"
        in call(capsys, "subspace", "compare", "--state", "RI", "--trials", 1, "--out", tmp_path)[1]
    )


@pytest.mark.parametrize(
    "arguments", [["--epsilon", "much"], ["--epsilon", "0"], ["--state", "RI,CT"], ["--state", "Atlantis"]]
)
def test_that_a_comparison_of_nothing_is_refused(capsys, tmp_path, arguments):
    assert call(capsys, "subspace", "compare", *arguments, "--out", tmp_path)[0] == BAD_INPUT


def test_that_a_state_without_known_sizes_is_refused(capsys, tmp_path):
    table = tmp_path / "h.csv"
    table.write_text(
        "fips,name,hh1,hh2,hh3,hh4,hh5,hh6,hh7plus,provenance\n44001,Bristol County,1,2,3,4,5,6,7,synthetic\n"
    )
    status, _, err = call(
        capsys, "subspace", "compare", "--state", "RI", "--households", table, "--out", tmp_path / "out"
    )
    assert status == EXPECTED_FAILURE
    assert "1 counties of state 44" in err


def test_that_a_budget_that_leaves_no_error_is_forecast_without_a_ratio(capsys, tmp_path):
    content = encode_scenario(preset(PRESET).scenario)
    content["method"]["epsilon"] = "4294967296"
    (path := tmp_path / "s.json").write_text(json.dumps(content))
    status, out, _ = call(capsys, "forecast", path)
    assert status == DONE
    assert "other mechanisms" in out
