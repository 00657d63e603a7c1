from __future__ import annotations

import json

import numpy as np
import pytest
from group_size_runs import SMALL, small_file

from phexplore.cli.app import BAD_INPUT, DONE, run
from phexplore.files.scenario_json import encode_scenario


def call(capsys, *arguments):
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def small(tmp_path):
    scenario = tmp_path / "small.json"
    scenario.write_text(json.dumps(encode_scenario(SMALL)), encoding="utf-8")
    return scenario, small_file(tmp_path, np.random.default_rng(1))[1]


def test_that_a_forecast_has_the_keys_of_the_contract(capsys):
    status, out, _ = call(capsys, "forecast", "group-sizes-census-2010", "--json")
    found = json.loads(out)
    assert status == DONE
    assert {"scenario", "conventions", "privacy", "cells", "derived"} <= set(found)
    assert found["privacy"]["pure_epsilon"] == "1"
    assert 1e-10 in [figure["delta"] for figure in found["privacy"]["epsilon"]]
    for figure in found["privacy"]["epsilon"]:
        assert set(figure) == {"delta", "value", "conversion", "neighbours", "rho"}
    assert [cell["level"] for cell in found["cells"]] == ["Nation", "State", "County"]
    assert found["cells"][2]["epsilon"] == "1/3"
    assert found["cells"][2]["scale"] == "3"
    assert {"exact", "normal", "paper"} == set(found["cells"][0]["moe"])
    assert "1,053 times" in found["errata"][0]
    status, out, _ = call(capsys, "forecast", "group-sizes-census-2010")
    assert status == DONE
    assert "not protected" in out


def test_that_check_diff_and_export_work_on_the_preset(capsys, tmp_path):
    assert call(capsys, "check", "group-sizes-census-2010")[:2] == (DONE, "No issues.\n")
    out = tmp_path / "parameters.json"
    assert call(capsys, "export", "group-sizes-census-2010", "--format", "group-sizes-json", "--out", out)[0] == DONE
    changed = json.loads(out.read_text())
    changed["method"]["mechanism"], changed["method"]["total"] = "tree", "1/2"
    out.write_text(json.dumps(changed))
    status, text, _ = call(capsys, "diff", "group-sizes-census-2010", out, "--json")
    found = json.loads(text)
    assert status == DONE
    assert {entry["path"]: (entry["before"], entry["after"]) for entry in found["parameters"]} == {
        "total": ("1", "0.5"),
        "mechanism": ("cumulative-tree", "tree"),
    }
    assert found["effects"]["total"] == {"before": "1", "after": "0.5"}
    assert len(found["effects"]["margins"]) == 3
    status, _, err = call(capsys, "export", "group-sizes-census-2010", "--format", "phsafe-config", "--out", out)
    assert status == BAD_INPUT
    assert "group-sizes-json" in err


def test_that_a_run_is_made_and_reported(capsys, tmp_path, small):
    scenario, data = small
    out = tmp_path / "run"
    status, text, _ = call(capsys, "run", scenario, "--data", data, "--trials", 2, "--seed", 1, "--out", out, "--json")
    assert status == DONE
    found = json.loads(text)
    assert all(value is True for value in found["checks"].values())
    assert {"spec.json", "events.jsonl", "summary.json", "manifest.json", "trial-00001.parquet"} <= {
        path.name for path in out.iterdir()
    }
    assert call(capsys, "report", out, "--format", "html", "--out", tmp_path / "report.html")[0] == DONE
    assert (tmp_path / "report.html").exists()


def test_that_bad_data_are_listed_with_their_places(capsys, tmp_path, small):
    scenario, _ = small
    bad = tmp_path / "bad.csv"
    bad.write_text("region,size,count,provenance\nA/1,0,3,synthetic\nA,2,3,synthetic\nB/1,x,4,synthetic\n")
    status, _, err = call(capsys, "run", scenario, "--data", bad, "--out", tmp_path / "run")
    assert status == BAD_INPUT
    assert "bad.csv:3:1" in err
    assert "bad.csv:4:2" in err
    status, _, err = call(capsys, "run", scenario, "--out", tmp_path / "run")
    assert status == BAD_INPUT
    assert "--data" in err


def test_that_taxis_can_be_made_and_run(capsys, tmp_path):
    out = tmp_path / "taxis.csv"
    status, _, err = call(capsys, "group-sizes", "taxis", "--out", out, "--groups", 100, "--seed", 4)
    assert status == DONE
    assert "100 groups" in err
    assert out.read_text().startswith("region,size,count,provenance\n")


def test_that_the_experiment_is_one_command(capsys, tmp_path):
    arguments = ["--trials", 1, "--epsilons", "1", "--largest", 9, "--mechanisms", "tree, chain-as-published"]
    status, out, err = call(capsys, "group-sizes", "experiment", "--out", tmp_path / "e", *arguments)
    assert status == DONE
    assert "no: 1053" in out
    assert "2 of 2" in err
    names = {path.name for path in (tmp_path / "e").iterdir()}
    assert {"report.html", "table-7.csv", "experiment.json", "draws.jsonl", "errors-census-level-1.png"} <= names


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--epsilons", "0", "positive"),
        ("--epsilons", "one", "not a number"),
        ("--mechanisms", "magic", "No mechanism"),
        ("--data", "moon", "No data set"),
        ("--data", " ", "census, taxi"),
    ],
)
def test_that_bad_wishes_are_answered(capsys, tmp_path, option, value, words):
    status, _, err = call(capsys, "group-sizes", "experiment", "--out", tmp_path / "e", option, value)
    assert status == BAD_INPUT
    assert words in err
