"""The command line as outside checks call it: keys, layouts, exit statuses."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys

import pytest
import typer
from population_files import with_value, write_csv

from phexplore import __version__
from phexplore.cli.app import BAD_INPUT, CANCELLED, DONE, EXPECTED_FAILURE, PARTS, program, run
from phexplore.data.source import demonstration_directory
from phexplore.document.project import Project
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import TopDown
from phexplore.model.workbook import Workbook
from phexplore.runs.store import verify_run
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.registry import preset

CONTRACT_IDS = [
    "sdhc-2020-us", "sdhc-2020-pr", "pl94-2020-persons-us", "pl94-2020-units-us", "pl94-2020-persons-pr",
    "pl94-2020-units-pr", "ppmf-2021-04-high-persons-us", "ppmf-2021-04-high-units-us", "ppmf-2021-04-low-persons-us",
    "ppmf-2021-04-low-units-us", "dhc-2020-persons-us", "dhc-2020-units-us", "dhc-2020-persons-pr", "dhc-2020-units-pr",
    "ddp-2019-persons-us", "ddp-2019-households-us", "group-sizes-census-2010", "counties-invariant-2010",
]  # fmt: skip


COMMANDS = [
    "presets", "check", "forecast", "diff", "export", "tabulate", "run", "report", "demo", "gui", "synth sdhc", "synth pl94",
    "data check", "data describe", "data convert pums", "group-sizes experiment", "group-sizes taxis",
]  # fmt: skip


def call(capsys, *arguments):
    """Return exit status, standard output and standard error."""
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_that_presets_list_ids_titles_and_sources(capsys):
    status, out, _ = call(capsys, "presets", "--json")
    entries = json.loads(out)
    assert status == DONE
    assert [entry["id"] for entry in entries] == CONTRACT_IDS
    assert all(entry["title"] and entry["source"] for entry in entries)


def test_that_a_forecast_has_the_keys_of_the_contract(capsys):
    status, out, _ = call(capsys, "forecast", "sdhc-2020-us", "--json")
    found = json.loads(out)
    assert status == DONE
    assert found["privacy"]["rho"] == "1.257281"
    assert found["privacy"]["bounded_rho"] == "2.514562"
    assert {"neighbours", "margin", "z", "confidence", "rounding", "delta"} <= set(found["conventions"])
    for figure in found["privacy"]["epsilon"]:
        proven = {"low", "high"} if figure["conversion"] == "discrete-gaussian-exact" else set()
        assert {"delta", "value", "conversion", "neighbours", "rho"} | proven == set(figure)
        assert isinstance(figure["delta"], float)
        assert isinstance(figure["value"], float)
    assert {f["conversion"] for f in found["privacy"]["epsilon"]} == {
        "bun-steinke", "zcdp-optimal-alpha", "gaussian-continuous", "discrete-gaussian-exact",
    }  # fmt: skip
    assert {f["neighbours"] for f in found["privacy"]["epsilon"]} == {"bounded", "unbounded"}
    assert 1e-10 in {f["delta"] for f in found["privacy"]["epsilon"]}
    assert len(found["cells"]) == 46
    cell = next(c for c in found["cells"] if (c["table"], c["level"]) == ("PH3", "state_A-G"))
    assert (cell["tau"], cell["rho"], cell["bounded_rho"]) == (6, "0.662976", "1.325952")
    assert cell["moe"] == {"exact": 20, "normal": pytest.approx(20.0000019, abs=1e-6), "paper": 19}
    kinds = {entry["kind"] for entry in found["derived"]}
    assert kinds == {"total", "sum", "copy", "ratio"}
    assert {"PH5_num", "PH8_num", "PH1", "PH5", "PH8"} <= {entry["table"] for entry in found["derived"]}
    assert all({"exact", "normal", "paper"} == set(entry["moe"]) for entry in found["derived"])


def test_that_an_unpublished_query_has_a_budget_of_zero(capsys):
    _, out, _ = call(capsys, "forecast", "sdhc-2020-pr", "--json")
    cells = json.loads(out)["cells"]
    nation = [cell for cell in cells if cell["level"].startswith("usa_")]
    assert {cell["rho"] for cell in nation} == {"0"}
    assert {cell["moe"]["exact"] for cell in nation} == {None}


@pytest.mark.parametrize(
    "preset_id", [name for name in CONTRACT_IDS if isinstance(preset(name).scenario.method, TopDown)]
)
def test_that_every_topdown_preset_has_a_forecast(capsys, preset_id):
    status, out, _ = call(capsys, "forecast", preset_id, "--json")
    found = json.loads(out)
    assert status == DONE
    assert found["privacy"]["block_within"]
    is_pure = preset(preset_id).scenario.method.framework is PrivacyFramework.PURE_DP
    proven = set() if is_pure else {"exact_low", "exact_high"}
    assert {"level", "rho", "epsilon"} | proven == set(found["privacy"]["block_within"][0])
    assert {"attribute", "rho", "epsilon"} | proven == set(found["privacy"]["attributes"][0])
    assert {"level", "query", "cells", "share", "rho", "sigma2", "moe"} <= set(found["cells"][0])


def test_that_a_forecast_for_people_names_conversions_and_conventions(capsys):
    status, out, _ = call(capsys, "forecast", "sdhc-2020-us")
    assert status == DONE
    for word in ("bounded 2.514562", "zcdp-optimal-alpha", "MOE exact", "PH8_denom"):
        assert word in out


def test_that_a_production_file_is_a_scenario(capsys, tmp_path, us):
    (tmp_path / "config.json").write_text(write_config(us), encoding="utf-8")
    status, out, _ = call(capsys, "forecast", tmp_path / "config.json", "--json")
    assert (status, json.loads(out)["privacy"]["rho"]) == (DONE, "1.257281")


def test_that_a_bad_file_lists_every_problem_and_exits_with_2(capsys, tmp_path, us):
    text = write_config(us).replace("0.002619", "-1", 1).replace('"PH3": 6', '"PH3": 0')
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    status, _, err = call(capsys, "check", tmp_path / "config.json")
    assert status == BAD_INPUT
    assert len(err.strip().splitlines()) == 2
    assert all(line.startswith("config.json:") for line in err.strip().splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ["forecast"],
        ["forecast", "nosuch"],
        ["forecast", "."],
        ["nosuchcommand"],
        ["run", "sdhc-2020-us"],
        ["run", "sdhc-2020-us", "--data", "demo", "--out", "r", "--seed", "9223372036854775808"],
        ["run", "sdhc-2020-us", "--data", "demo", "--out", "r", "--no-noise", "--non-private"],
        ["report", "nosuch", "--format", "html", "--out", "r"],
        ["report", ".", "--format", "html", "--out", "r"],
        ["tabulate", "demo", "--out", "r", "--states", "44,ZZ"],
        ["tabulate", "demo", "--out", "r", "--states", "44", "--truncate", "sdhc-2020-us"],
        ["data", "check", "demo", "--states", "99"],
        ["synth", "sdhc", "--persons", "0", "--seed", "1", "--out", "r"],
        ["synth", "sdhc", "--persons", "9", "--seed", "1", "--out", "r", "--states", "44", "--pr"],
        ["synth", "pl94", "--blocks", "0", "--seed", "1", "--out", "r"],
    ],
)
def test_that_bad_arguments_exit_with_2(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    status, _, err = call(capsys, *arguments)
    assert status == BAD_INPUT
    assert err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "pl94-2020-persons-us", "--format", "phsafe-config", "--out", "x"],
        ["tabulate", "demo", "--out", "x", "--truncate", "dhc-2020-units-us"],
    ],
)  # fmt: skip
def test_that_what_topdown_has_not_is_an_expected_failure(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    status, _, err = call(capsys, *arguments)
    assert status == EXPECTED_FAILURE
    assert "TopDown" in err


def test_that_a_workbook_of_topdown_is_exported_and_is_a_scenario_again(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "export", "dhc-2020-units-us", "--format", "xlsx", "--out", "x.xlsx")[0] == DONE
    status, out, _ = call(capsys, "diff", "x.xlsx", "dhc-2020-units-us")
    assert status == DONE
    assert "equal" in out
    status, _, err = call(capsys, "export", "dhc-2020-units-us", "--format", "nonsense", "--out", "x")
    assert status == BAD_INPUT
    assert "No export format" in err


@pytest.mark.parametrize("content", [b"caf\xe9", b"[" * 100_000, b'{"a":' * 100_000, b"", b"[]"])
def test_that_a_file_that_is_no_scenario_exits_with_2_and_its_place(capsys, tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    status, _, err = call(capsys, "check", tmp_path / "x.json")
    assert status == BAD_INPUT
    assert "x.json:1:" in err


def test_that_damaged_parameters_cannot_be_compared(capsys, tmp_path, us):
    path = tmp_path / "x.phx"
    project = Project.new(Workbook((us,), us.name, us.baseline))
    project.save(path)
    project.close()
    path.write_text(path.read_text(encoding="utf-8").replace("PH2/usa_*", "PH9/usa_*"), encoding="utf-8")
    assert call(capsys, "check", path)[0] == EXPECTED_FAILURE
    status, _, err = call(capsys, "diff", path, "sdhc-2020-us")
    assert status == EXPECTED_FAILURE
    assert "PH2" in err


@pytest.mark.parametrize(
    ("broken", "places"),
    [
        (with_value("persons", 2, "QAGE", "200", with_value("persons", 0, "QAGE", "x")), ["persons.csv:2:3"]),
        (with_value("persons", 2, "QAGE", "200", with_value("persons", 0, "QAGE", "116")), ["persons.csv:2:3", "persons.csv:4:3"]),
        (with_value("units", 0, "CPLT", "5", with_value("units", 1, "TEN", "0")), ["units.csv:2:10", "units.csv:3:7"]),
    ],
    ids=["type", "values", "records"],
)  # fmt: skip
def test_that_bad_data_is_listed_with_file_line_and_column(capsys, tmp_path, broken, places):
    data, out = write_csv(tmp_path / "data", broken), tmp_path / "out"
    status, _, err = call(capsys, "tabulate", data, "--out", out, "--truncate", "sdhc-2020-us")
    assert (status, [place for place in places if f"{place}: " in err]) == (BAD_INPUT, places)


def test_that_a_worker_lists_bad_data_as_well(capsys, tmp_path):
    data = write_csv(tmp_path / "data", with_value("units", 0, "CPLT", "5", with_value("units", 1, "TEN", "0")))
    status, _, err = call(capsys, "run", "sdhc-2020-us", "--data", data, "--out", tmp_path / "run")
    assert status == BAD_INPUT
    assert {line.partition(": ")[0] for line in err.splitlines()} >= {"units.csv:2:10", "units.csv:3:7"}


def test_that_an_unknown_preset_proposes_the_nearest(capsys):
    _, _, err = call(capsys, "forecast", "sdhc-2020-uz")
    assert "sdhc-2020-us" in err


def test_that_equal_scenarios_have_no_differences(capsys):
    status, out, _ = call(capsys, "diff", "sdhc-2020-us", "sdhc-2020-us")
    assert (status, out.strip()) == (DONE, "The parameters are equal.")


def test_that_differences_come_with_their_effects(capsys):
    status, out, _ = call(capsys, "diff", "sdhc-2020-us", "sdhc-2020-pr", "--json")
    found = json.loads(out)
    assert status == DONE
    assert found["effects"]["total"] == {"before": "2.514562", "after": "2.453298"}
    assert {"path": "budget PH2/usa_*", "before": "0.002619", "after": "0"} in found["parameters"]


def test_that_an_export_is_read_back(capsys, tmp_path):
    target = tmp_path / "deep" / "config.json"
    assert call(capsys, "export", "sdhc-2020-us", "--format", "phsafe-config", "--out", target)[0] == DONE
    assert call(capsys, "diff", "sdhc-2020-us", target)[1].count("budget ") == 0
    status, _, err = call(capsys, "export", "sdhc-2020-us", "--format", "odt", "--out", target)
    assert status == BAD_INPUT
    assert "phsafe-config" in err


def test_that_the_demonstration_makes_its_folder_and_can_be_repeated(capsys, tmp_path):
    out = tmp_path / "not" / "there" / "yet"
    for _ in range(2):
        status, _, err = call(capsys, "demo", "--out", out, "--trials", "2")
        assert status == DONE, err
    made = {path.name for path in out.iterdir()}
    assert made >= {"demonstration.phx", "config.json", "parameters.csv", "parameters.xlsx", "run", "run-report.html"}
    assert call(capsys, "diff", out / "demonstration.phx", out / "config.json")[1].count("budget ") == 0
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", encoding="utf-8")
    status, _, err = call(capsys, "demo", "--out", in_the_way)
    assert (status, str(in_the_way) in err) == (EXPECTED_FAILURE, True)


def rows(folder, table):
    (file,) = (folder / table).glob("*.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="|"))


def test_that_tabulate_writes_the_layout_of_production(capsys, tmp_path):
    status, _, _ = call(capsys, "tabulate", "demo", "--out", tmp_path)
    assert status == DONE
    assert len([folder for folder in tmp_path.iterdir() if folder.is_dir()]) == 11
    first = rows(tmp_path, "PH1_num")[0]
    assert list(first) == ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "PH1_NUM_DATA_CELL", "COUNT"]
    assert list(rows(tmp_path, "PH2")[0]) == ["REGION_ID", "REGION_TYPE", "PH2_DATA_CELL", "COUNT"]
    assert all(row["COUNT"] != "0" for row in rows(tmp_path, "PH6"))


def test_that_a_truncated_tabulation_has_every_measured_row(capsys, tmp_path):
    call(capsys, "tabulate", "demo", "--truncate", "sdhc-2020-us", "--out", tmp_path)
    folders = [folder.name for folder in tmp_path.iterdir() if folder.is_dir()]
    assert sum(len(rows(tmp_path, folder)) for folder in folders) == 12688
    assert any(row["COUNT"] == "0" for row in rows(tmp_path, "PH6"))


def test_that_a_run_leaves_what_the_contract_names(capsys, tmp_path):
    out = tmp_path / "run"
    status, _, _ = call(
        capsys, "run", "sdhc-2020-us", "--data", "demo", "--trials", 2, "--seed", 7, "--out", out, "--json"
    )
    assert status == DONE
    names = {path.name for path in out.iterdir()}
    assert {"spec.json", "events.jsonl", "summary.json", "manifest.json", "trial-00000.parquet"} <= names
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert {"checks", "metrics", "seconds", "failsafe"} <= set(summary)
    assert all(value is True for value in summary["checks"].values())
    report = tmp_path / "report"
    assert call(capsys, "report", out, "--format", "csv", "--out", report)[0] == DONE
    assert (report / "metrics.csv").exists()


def test_that_a_run_on_records_without_a_mark_warns_and_records_who_went_on(capsys, tmp_path):
    shutil.copytree(demonstration_directory(), tmp_path / "data")
    (tmp_path / "data" / "provenance.json").unlink()
    out = tmp_path / "run"
    asked = ("run", "sdhc-2020-us", "--data", tmp_path / "data", "--no-noise", "--out", out)
    status, _, said = call(capsys, *asked)
    assert (status, "reveals information" in said) == (DONE, True)
    assert "all the same" in (out / "events.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert verify_run(out) == ()
    assert call(capsys, *asked)[0] == DONE
    assert verify_run(out) == ()


def test_that_a_run_on_missing_data_says_so(capsys, tmp_path):
    status, _, err = call(capsys, "run", "sdhc-2020-us", "--data", tmp_path / "no", "--out", tmp_path / "run")
    assert status in {EXPECTED_FAILURE, BAD_INPUT}
    assert "no such file" in err


def test_that_data_is_checked_and_described(capsys, tmp_path):
    assert (
        call(capsys, "synth", "sdhc", "--persons", 300, "--states", "44,09", "--seed", 3, "--out", tmp_path)[0] == DONE
    )
    status, out, _ = call(capsys, "data", "check", tmp_path, "--json")
    assert (status, json.loads(out)["errors"]) == (DONE, 0)
    found = json.loads(call(capsys, "data", "describe", tmp_path, "--json")[1])
    assert sum(v for k, v in found["rows"].items() if k.startswith("persons")) == 300
    (tmp_path / "persons.csv").write_text("RTYPE|MAFID\n", encoding="utf-8")
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    status, out, _ = call(capsys, "data", "check", tmp_path)
    assert status == BAD_INPUT
    assert "persons.csv" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_that_help_shows_an_example(capsys, command):
    status, out, _ = call(capsys, *command.split(), "--help")
    assert status == DONE
    assert f"Example: phexplore {command}" in " ".join(out.split())


def test_that_the_command_line_starts_without_heavy_parts_and_results_without_the_compiler():
    code = (
        "import sys; from phexplore.cli.app import run; run(['presets']);"
        "heavy = {'PySide6', 'matplotlib', 'scipy', 'pyarrow', 'numba', 'pandas'} & set(sys.modules);"
        "import phexplore.systems.topdown.run_reader;"
        "sys.exit(len(heavy) + ('numba' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_that_statuses_are_those_of_the_contract():
    assert (DONE, EXPECTED_FAILURE, BAD_INPUT, CANCELLED) == (0, 1, 2, 130)


def test_that_a_command_loads_its_own_module_and_is_what_it_is_among_all():
    whole = typer.main.get_command(program()).commands
    for names, _ in PARTS:
        own = set(typer.main.get_command(program(names.split()[0])).commands)
        assert own == {*names.split(), "gui"}
        assert own <= set(whole)
    assert set(typer.main.get_command(program("no such command")).commands) == set(whole)


def test_that_the_short_way_to_the_help_prints_what_the_commands_print(capsys):
    assert call(capsys, "--help")[:2] == call(capsys, "-h")[:2]
    short = call(capsys, "--help")[1]
    program()(["--help"], prog_name="phexplore", standalone_mode=False)
    assert short == capsys.readouterr().out
    assert all(f"  {name} " in short for names, _ in PARTS for name in names.split())


def test_that_the_program_says_its_version(capsys):
    assert call(capsys, "--version")[:2] == (DONE, f"phexplore {__version__}\n")
