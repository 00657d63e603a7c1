"""Decisions on the command line, as outside checks call them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
from fractions import Fraction

import pytest
from children import in_child
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from ini_chains import CHAIN, write_chain

from phexplore.cli.app import BAD_INPUT, DONE, EXPECTED_FAILURE, run
from phexplore.decide.signing import load_private_key
from phexplore.document.project import Project
from phexplore.systems.phsafe.edits import set_threshold


def call(capsys, *arguments):
    """Return exit status, standard output and standard error."""
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    "command",
    ["solve", "compare", "frontier", "committee", "approve", "bundle", "verify", "truncation", "publish", "tune"],
)
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
    assert "Suggested resolutions" in err


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


@pytest.fixture
def keys(tmp_path):
    """Two pairs of key files."""
    found = []
    for number in (1, 2):
        key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        private, public = tmp_path / f"{number}.key", tmp_path / f"{number}.pub"
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        found.append((private, public))
    return found


def test_that_a_scenario_is_recommended_approved_bundled_signed_twice_and_verified(capsys, tmp_path, keys):
    project, bundle = tmp_path / "p.phx", tmp_path / "b.zip"
    who = ["--who", "Ada", "--role", "Chair"]
    status, out, _ = call(capsys, "approve", "sdhc-2020-us", *who, "--status", "recommended", "--out", project)
    assert (status, "recommended by Ada (Chair)" in out) == (DONE, True)
    assert call(capsys, "approve", project, *who, "--note", "vote")[0] == DONE
    status, _, err = call(capsys, "approve", project, *who)
    assert (status, "cannot become approved" in err) == (EXPECTED_FAILURE, True)
    (first, first_public), (second, second_public) = keys
    made = call(
        capsys, "bundle", project, "--sign", first, "--signer", "Ada, Chair", "--expect", second_public, "--out", bundle
    )
    assert made[0] == DONE
    status, out, _ = call(capsys, "verify", bundle)
    assert (status, "Not signed yet" in out) == (EXPECTED_FAILURE, True)
    assert call(capsys, "bundle", bundle, "--sign", second, "--out", bundle)[0] == DONE
    status, out, _ = call(capsys, "verify", bundle, "--trust", first_public, "--trust", second_public, "--json")
    found = json.loads(out)
    assert (status, found["intact"], found["status"]) == (DONE, True, "approved")
    assert {s["name"] for s in found["signatures"]} == {"Ada", "2"}
    assert call(capsys, "verify", bundle, "--trust", first_public)[0] == DONE
    twice = ("--trust", first_public, "--trust", first_public, "--require", 2)
    assert call(capsys, "verify", bundle, *twice)[0] == EXPECTED_FAILURE


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed (openssh-client)")
def test_that_a_command_signs_a_bundle_that_somebody_else_signs_later(capsys, tmp_path, keys):
    (first, first_public), (_, second_public) = keys
    key = load_private_key(first)
    first.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    first.chmod(0o600)  # else the command refuses it
    bundle = tmp_path / "b.zip"
    signing = ("--sign-with", f"ssh-keygen -Y sign -f {first} -n phexplore-bundle", "--signer", "Ada, Chair")
    made = call(capsys, "bundle", "pl94-2020-units-us", *signing, "--expect", second_public, "--out", bundle)
    assert made[0] == DONE, made[2]
    status, out, _ = call(capsys, "verify", bundle, "--trust", first_public, "--json")
    assert (status, [each["name"] for each in json.loads(out)["signatures"]]) == (EXPECTED_FAILURE, ["Ada"])
    assert call(capsys, "verify", bundle)[1].count("Not signed yet") == 1


def test_that_verify_names_the_altered_file_and_has_status_one(capsys, tmp_path):
    bundle = tmp_path / "b.zip"
    assert call(capsys, "bundle", "pl94-2020-units-us", "--out", bundle)[0] == DONE
    assert call(capsys, "verify", bundle)[0] == DONE
    content = bytearray(bundle.read_bytes())
    content[content.index(b"geolevel_budget_prop") + 3] ^= 1
    bundle.write_bytes(content)
    status, out, _ = call(capsys, "verify", bundle, "--json")
    (only,) = json.loads(out)["findings"]
    assert (status, only["part"].partition("/")[0]) == (EXPECTED_FAILURE, "parameters")
    assert "Not intact" in call(capsys, "verify", bundle)[1]


@pytest.mark.defect("minor")
def test_that_a_decision_dated_in_the_future_is_reported_and_decided_again_with_the_clock_confirmed(capsys, tmp_path):
    project, bundle = tmp_path / "p.phx", tmp_path / "b.zip"
    who = ("--who", "Ada", "--role", "Chair")
    assert call(capsys, "approve", "sdhc-2020-us", *who, "--out", project)[0] == DONE
    decided = json.loads(project.read_text())
    decided["decisions"][0]["at"] = "2126-07-01T12:00:00+00:00"
    project.write_text(json.dumps(decided))
    assert "1 Jul 2126" in call(capsys, "check", project)[1]
    assert call(capsys, "bundle", project, "--out", bundle)[0] == DONE
    status, out, _ = call(capsys, "verify", bundle, "--json")
    found = json.loads(out)
    assert (status, found["intact"], [each["part"] for each in found["findings"]]) == (
        EXPECTED_FAILURE,
        True,
        ["decisions.json"],
    )
    status, _, err = call(capsys, "approve", project, *who)
    assert (status, "2126" in err, "--clock-is-right" in err) == (EXPECTED_FAILURE, True, True)
    assert call(capsys, "approve", project, *who, "--clock-is-right")[0] == DONE
    assert call(capsys, "bundle", project, "--out", bundle)[0] == DONE
    assert call(capsys, "verify", bundle)[0] == DONE


def test_that_an_edit_of_an_approved_project_is_a_draft_again(capsys, tmp_path):
    project, bundle = tmp_path / "p.phx", tmp_path / "b.zip"
    assert call(capsys, "approve", "sdhc-2020-us", "--who", "A", "--role", "B", "--out", project)[0] == DONE
    opened = Project.open(project)
    opened.edit("τ", lambda s: set_threshold(s, "PH2", 8))
    opened.save()
    opened.close()
    call(capsys, "bundle", project, "--out", bundle)
    assert json.loads(call(capsys, "verify", bundle, "--json")[1])["status"] == "draft"


def test_that_runs_of_other_parameters_are_not_cited(capsys, tmp_path):
    run_directory = tmp_path / "run"
    assert call(capsys, "run", "sdhc-2020-us", "--data", "demo", "--seed", "1", "--out", run_directory)[0] == DONE
    project = tmp_path / "p.phx"
    who = ["--who", "A", "--role", "B", "--out", project]
    status, _, err = call(capsys, "approve", "sdhc-2020-pr", *who, "--runs", run_directory)
    assert (status, "simulated other parameters" in err) == (EXPECTED_FAILURE, True)
    assert call(capsys, "approve", "sdhc-2020-us", *who, "--runs", run_directory)[0] == DONE
    status, _, err = call(capsys, "bundle", project, "--out", tmp_path / "b.zip")
    assert (status, "rests on the run" in err) == (EXPECTED_FAILURE, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("approve", "sdhc-2020-us", "--who", "A", "--role", "B", "--status", "signed", "--out", "x.phx"),
        ("approve", "sdhc-2020-us", "--role", "B"),
    ],
)
def test_that_bad_arguments_of_approve_have_status_two(capsys, arguments):
    assert call(capsys, *arguments)[0] == BAD_INPUT


def test_that_a_preset_is_not_approved_without_a_place_for_it(capsys):
    status, _, err = call(capsys, "approve", "sdhc-2020-us", "--who", "A", "--role", "B")
    assert (status, "--out FILE.phx" in err) == (EXPECTED_FAILURE, True)


def test_that_a_comparison_has_columns_and_only_what_differs(capsys, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(
        '[{"measure": "margin", "at_most": 20, "place": "PH3/state_A-G"},'
        ' {"measure": "margin", "at_most": 19, "place": "PH3/state_A-G"}]'
    )
    status, out, _ = call(capsys, "compare", "sdhc-2020-us", "sdhc-2020-pr", "--rules", rules, "--json")
    found = json.loads(out)
    assert status == DONE
    assert [column["total"] for column in found["columns"]] == ["2.514562", "2.453298"]
    assert len(found["effects"]) == 23
    for rule, outcome in zip(
        found["rules"], ("pass", "fail"), strict=True
    ):  # 20.0 people keep 20 to the nearest person
        assert [verdict["outcome"] for verdict in rule["verdicts"]] == [outcome, outcome]
    status, out, _ = call(capsys, "compare", "sdhc-2020-us", "sdhc-2020-pr", "--rules", rules)
    assert (status, "Rules" in out) == (DONE, True)


def test_that_points_of_the_trade_off_load_as_scenarios(capsys, tmp_path):
    out = tmp_path / "points.phx"
    status, text, _ = call(capsys, "frontier", "sdhc-2020-us", "--points", "3", "--out", out, "--json")
    found = json.loads(text)
    assert (status, len(found["points"])) == (DONE, 3)
    name = found["points"][2]["scenario"]
    forecast = json.loads(call(capsys, "forecast", f"{out}#{name}", "--json")[1])
    assert forecast["privacy"]["rho"] == found["points"][2]["total"]


def test_that_a_committee_gets_a_matrix_and_a_draft(capsys, tmp_path):
    points, draft = tmp_path / "points.phx", tmp_path / "draft.phx"
    call(capsys, "frontier", "sdhc-2020-us", "--points", "3", "--out", points)
    status, out, _ = call(capsys, "committee", "sdhc-2020-us", points, "--out", draft, "--json")
    found = json.loads(out)
    assert (status, len(found["members"]), found["baseline"]) == (DONE, 2, "S-DHC 2020, United States (production)")
    assert call(capsys, "check", f"{draft}#Consensus draft")[0] == DONE


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("compare", "sdhc-2020-us"), EXPECTED_FAILURE),
        (("compare", "sdhc-2020-us", "pl94-2020-units-us"), EXPECTED_FAILURE),
        (("frontier", "sdhc-2020-us", "--weights", "luck"), BAD_INPUT),
        (("frontier", "ddp-2019-persons-us"), EXPECTED_FAILURE),
        (("committee", "absent"), BAD_INPUT),
    ],
)
def test_that_what_cannot_be_compared_is_a_sentence(capsys, arguments, status):
    assert call(capsys, *arguments)[0] == status


def test_that_a_workbook_is_a_scenario_like_any_other(capsys, tmp_path):
    out = tmp_path / "p.xlsx"
    assert call(capsys, "export", "sdhc-2020-us", "--format", "xlsx", "--out", out)[0] == DONE
    assert json.loads(call(capsys, "diff", "sdhc-2020-us", out, "--json")[1])["parameters"] == []
    out.write_bytes(out.read_bytes()[:1000])
    assert call(capsys, "check", out)[0] == BAD_INPUT


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """A run of one trial over four thousand made-up people."""
    folder = tmp_path_factory.mktemp("runs")
    assert (
        run(["synth", "sdhc", "--persons", "4000", "--states", "44", "--seed", "3", "--out", str(folder / "p")]) == DONE
    )
    arguments = ["run", "sdhc-2020-us", "--data", str(folder / "p"), "--seed", "1", "--out", str(folder / "r")]
    assert run(arguments) == DONE
    return folder / "r"


def test_that_thresholds_are_studied_on_the_data_of_a_run(capsys, small_run):
    status, out, _ = call(capsys, "truncation", "sdhc-2020-us", "--query", "PH3/state_*", "--run", small_run, "--json")
    found = json.loads(out)
    assert status == DONE
    assert found["points"][5]["tau"] == 6
    assert found["points"][0]["bias"] < found["points"][5]["bias"] <= 0
    assert (
        call(capsys, "truncation", "sdhc-2020-us", "--query", "PH3/state_*", "--run", small_run, "--keep-margin")[0]
        == DONE
    )


@pytest.mark.defect("S4")
def test_that_thresholds_of_children_are_studied_with_children_and_the_scenario_s_is_judged(capsys):
    arguments = ("truncation", "sdhc-2020-us", "--query", "PH3/state_A-G")
    found = json.loads(call(capsys, *arguments, "--json")[1])
    assert (found["best"], found["present"]["tau"]) == (9, 6)
    assert "children under 18 per household" in found["of"]
    printed = call(capsys, *arguments, "--state", "RI")[1]
    for words in ("Rhode Island", "the average of the 49 numbers", "τ = 6 has the smallest RMSE"):
        assert words in printed
    assert "τ = 6 is the best in areas of" in call(capsys, *arguments, "--state", "CA")[1]
    island = json.loads(call(capsys, "truncation", "sdhc-2020-pr", *arguments[2:], "--json")[1])
    assert "Puerto Rico" in island["of"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--query", "PH1_denom/state_*", "--sizes", "x"), BAD_INPUT),
        (("--query", "PH3/state_*", "--sizes", "x", "--state", "44"), EXPECTED_FAILURE),
        (("--query", "PH3/state_*", "--state", "Atlantis"), BAD_INPUT),
        (("--query", "PH3/state_*", "--sizes", "absent.csv"), BAD_INPUT),
    ],
)
def test_that_a_study_without_its_parts_is_a_sentence(capsys, arguments, status):
    assert call(capsys, "truncation", "sdhc-2020-us", *arguments)[0] == status


def test_that_a_simulated_release_is_published_with_its_coverage(capsys, small_run, tmp_path):
    status, out, _ = call(capsys, "publish", small_run, "--draws", "200", "--out", tmp_path, "--json")
    assert (status, [entry["table"] for entry in json.loads(out)]) == (DONE, [f"PH{number}" for number in range(1, 9)])
    assert (tmp_path / "PH3/estimates/PH3_state_trunc_normal.csv").is_file()
    assert call(capsys, "publish", small_run, "--trial", "7", "--out", tmp_path)[0] == EXPECTED_FAILURE


def test_that_tuning_stores_its_probes_and_goes_on_from_them(capsys, tmp_path, monkeypatch):
    from phexplore.systems.topdown.tuning_runs import SimulatedCriterion

    calls = []

    def judged(self, budgets):
        calls.append(budgets)
        error = sum(0.01 / float(budget) for budget in budgets.values() if budget is not None)
        return 1 - error, error <= 0.5

    monkeypatch.setattr(SimulatedCriterion, "__call__", judged)
    blocks, probes = tmp_path / "b.csv", tmp_path / "probes.jsonl"
    assert call(capsys, "synth", "pl94", "--blocks", "40", "--seed", "1", "--out", blocks)[0] == DONE
    arguments = ("tune", "pl94-2020-persons-us", "--data", blocks, "--judge", "Tract", "--out", probes, "--json")
    status, out, _ = call(capsys, *arguments)
    first, simulated = json.loads(out), len(calls)
    assert (status, first["probes"]) == (DONE, simulated)
    probes.write_text("\n".join(probes.read_text().split("\n")[:6]) + '\n{"budg')
    status, out, _ = call(capsys, *arguments)
    assert (status, json.loads(out)) == (DONE, first)
    assert len(calls) == 2 * simulated - 5
    assert json.loads(call(capsys, *arguments)[1]) == first
    assert len(calls) == 2 * simulated - 5
    status, _, err = call(capsys, *arguments, "--seed", "2")
    assert (status, "another search" in err) == (BAD_INPUT, True)


@pytest.mark.defect("F9")
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("part", [0.0, 0.5])
def test_that_a_full_disk_ends_the_search_with_a_sentence_and_it_goes_on_once_there_is_space(
    capsys, tmp_path, monkeypatch, part
):
    from phexplore.systems.topdown.tuning_runs import SimulatedCriterion

    calls = []

    def judged(self, budgets):
        calls.append(budgets)
        error = sum(0.01 / float(budget) for budget in budgets.values() if budget is not None)
        return 1 - error, error <= 0.5

    monkeypatch.setattr(SimulatedCriterion, "__call__", judged)
    blocks, whole, cut = (tmp_path / name for name in ("b.csv", "whole.jsonl", "cut.jsonl"))
    assert call(capsys, "synth", "pl94", "--blocks", "40", "--seed", "1", "--out", blocks)[0] == DONE
    arguments = ("tune", "pl94-2020-persons-us", "--data", blocks, "--judge", "Tract", "--json", "--out")
    expected = json.loads(call(capsys, *arguments, whole)[1])
    needed = len(calls)

    def on_a_small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * whole.stat().st_size), resource.RLIM_INFINITY))
        return call(capsys, *arguments, cut)

    status, out, err = in_child(on_a_small_disk)
    assert (status, out) == (EXPECTED_FAILURE, "")
    assert f"{cut} could not be written" in err
    assert "goes on after its last probe" in err
    calls.clear()
    assert json.loads(call(capsys, *arguments, cut)[1]) == expected
    assert (len(calls) == needed) == (part == 0)


@pytest.mark.defect("F8")
def test_that_probes_of_other_data_under_the_same_path_are_not_taken_for_these(capsys, tmp_path, monkeypatch):
    from phexplore.systems.topdown.tuning_runs import SimulatedCriterion

    def judged(self, budgets):
        error = sum(0.01 / float(budget) for budget in budgets.values() if budget is not None)
        return 1 - error, error <= 0.5

    monkeypatch.setattr(SimulatedCriterion, "__call__", judged)
    blocks, probes = tmp_path / "b.csv", tmp_path / "probes.jsonl"
    assert call(capsys, "synth", "pl94", "--blocks", "40", "--seed", "1", "--out", blocks)[0] == DONE
    arguments = ("tune", "pl94-2020-persons-us", "--data", blocks, "--judge", "Tract", "--out", probes, "--json")
    first = json.loads(call(capsys, *arguments)[1])
    stored, stored_blocks, before = probes.read_text(), blocks.read_text(), blocks.stat()
    # The same path, size and time of change; one block's counts of two races are exchanged.
    header, *lines = [line.split(",") for line in stored_blocks.splitlines()]
    black, aian = ([header.index(f"{age}_{race}") for age in ("pop", "vap")] for race in ("black", "aian"))
    cells = next(cells for cells in lines if [cells[n] for n in black] != [cells[n] for n in aian])
    line = ",".join(cells)
    for here, there in zip(black, aian, strict=True):
        cells[here], cells[there] = cells[there], cells[here]
    blocks.write_text(stored_blocks.replace(line, ",".join(cells), 1))
    os.utime(blocks, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert blocks.stat().st_size == before.st_size
    status, out, err = call(capsys, *arguments)
    second = json.loads(out)
    assert status == DONE
    assert "other data" in err
    assert second["data"]["sha256"] != first["data"]["sha256"]
    assert [each.read_text() for each in tmp_path.glob("probes.jsonl.*")] == [stored]
    probes.unlink()
    assert json.loads(call(capsys, *arguments)[1]) == second


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("sdhc-2020-us", "--judge", "x"), EXPECTED_FAILURE),
        (("pl94-2020-persons-us", "--judge", "x", "--strategy", "luck"), BAD_INPUT),
    ],
)
def test_that_what_cannot_be_tuned_is_a_sentence(capsys, tmp_path, arguments, status):
    assert call(capsys, "tune", *arguments, "--data", "d", "--out", tmp_path / "p")[0] == status


def test_that_topdown_is_solved_after_least_squares_on_the_command_line(capsys, tmp_path):
    targets = tmp_path / "targets.json"
    targets.write_text('{"County/total": 3, "Block_Group/total": 2}')
    arguments = ("solve", "pl94-2020-persons-us", "--targets", targets, "--json")
    alone = json.loads(call(capsys, *arguments)[1])
    after = json.loads(call(capsys, *arguments, "--after-least-squares")[1])
    assert after["feasible"]
    spent = [
        {cell["query"]: cell["rho"] for cell in each["cells"] if cell["level"] == "County"} for each in (after, alone)
    ]
    assert Fraction(spent[0]["total"]) < Fraction(spent[1]["total"])
    assert after["margins"]["County/total"] == pytest.approx(3, rel=1e-5)
    printed = call(capsys, *arguments[:-1], "--after-least-squares")[1]
    assert "County/total: 3.000 people" in printed
    assert call(capsys, "solve", "sdhc-2020-us", "--after-least-squares")[0] != 0
