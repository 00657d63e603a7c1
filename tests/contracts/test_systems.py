"""What every system promises, tried alike on all of them through the command line and the files people keep.

A system joins these tests by having a preset. Nothing here names a system: what is asked of one is asked of all.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from phexplore.cli.app import run
from phexplore.decide.comparing import Compared, compare
from phexplore.decide.rule_evaluation import judge
from phexplore.document.project import Project
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.diff import diff, parameters_only
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError, has_errors
from phexplore.model.rules import Bound, Measure, Outcome, Rule
from phexplore.model.workbook import Workbook
from phexplore.runs.events import Finished, TrialDone
from phexplore.runs.launch import WorkerProcess, run_worker
from phexplore.runs.spec import RunSpec, data_of
from phexplore.runs.store import load_summary, prepare_directory, trial_file, verify_run
from phexplore.systems.registry import check, forecast, presets, system_of
from phexplore.systems.report_opening import opening

FROZEN = json.loads((Path(__file__).parents[1] / "golden" / "contracts.json").read_text(encoding="utf-8"))
EVERY = sorted(presets())
ONE_EACH = sorted({type(entry.scenario.method): name for name, entry in reversed(presets().items())}.values())
SIMULATED = ("sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010")


def scenario_of(name):
    return presets()[name].scenario


def printed(capsys, *arguments):
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def scenario_bytes(scenario):
    return json.dumps(encode_scenario(scenario), indent=1, ensure_ascii=False).encode()


def test_that_every_system_is_tried():
    assert {type(scenario_of(name).method) for name in SIMULATED} == {
        type(e.scenario.method) for e in presets().values()
    }
    assert sorted(FROZEN["fingerprints"]) == EVERY == sorted(FROZEN["scenarios"])


@pytest.mark.parametrize("name", EVERY)
class TestFiles:
    def test_that_a_scenario_comes_back_from_its_file_as_it_was(self, name):
        scenario = scenario_of(name)
        again = decode_scenario(json.loads(scenario_bytes(scenario)), "scenario")
        assert again == scenario
        assert fingerprint(again) == fingerprint(scenario)

    def test_that_fingerprints_and_bytes_stay(self, name):
        assert fingerprint(scenario_of(name)) == FROZEN["fingerprints"][name]
        assert digest(scenario_bytes(scenario_of(name))) == FROZEN["scenarios"][name]

    def test_that_a_project_comes_back_with_its_history(self, name, tmp_path):
        scenario = scenario_of(name)
        project = Project.new(Workbook((scenario,), scenario.name))
        project.edit("Rename", lambda found: replace(found, name="another", note="why"))
        project.save(tmp_path / "kept.phx")
        project.close()
        opened = Project.open(tmp_path / "kept.phx")
        try:
            assert opened.workbook.scenario == replace(scenario, name="another", note="why")
            opened.undo()
            assert opened.workbook.scenario == scenario
        finally:
            opened.close()

    def test_that_every_wrong_field_is_named(self, name):
        content = json.loads(scenario_bytes(scenario_of(name)))
        wrong = {key: [None] for key in content["method"] if key != "kind"}
        with pytest.raises(InputProblemsError) as refused:
            decode_scenario({**content, "method": {**content["method"], **wrong}, "note": 7}, "file")
        assert len(refused.value.issues) >= 3
        assert all(issue.path[0] == "file" and issue.sentence and issue.remedy for issue in refused.value.issues)

    def test_that_presets_have_no_errors_and_differ_from_themselves_in_nothing(self, name):
        scenario = scenario_of(name)
        assert not has_errors(check(scenario))
        assert parameters_only(diff(scenario, scenario)) == ()


@pytest.mark.parametrize("name", ONE_EACH)
class TestForecast:
    def test_that_what_is_spent_in_all_is_the_sum_of_its_parts(self, name, capsys):
        found = printed(capsys, "forecast", name, "--json")
        loss = "rho" if found["privacy"]["rho"] is not None else "epsilon"
        stated = found["privacy"]["rho" if loss == "rho" else "pure_epsilon"]
        assert Fraction(stated) == sum((Fraction(entry[loss]) for entry in found["cells"]), Fraction(0))

    def test_that_the_loss_is_judged_by_rules(self, name):
        high, low = (Rule(Measure.LOSS, Bound.AT_MOST, Fraction(limit)) for limit in (1000, 0))
        met, missed = judge((high, low), scenario_of(name))
        assert (met.outcome, missed.outcome) == (Outcome.PASS, Outcome.FAIL)

    def test_that_two_scenarios_are_laid_side_by_side(self, name):
        scenario = scenario_of(name)
        found = compare([Compared("a", scenario), Compared("b", replace(scenario, note="other words"))])
        assert found.parameters == ()
        first, second = (total for total, _ in found.totals)
        assert first == second != "-"


@pytest.mark.parametrize("name", SIMULATED)
class TestRuns:
    def test_that_a_run_cut_off_and_resumed_has_the_bytes_of_a_whole_one(self, name, tmp_path):
        scenario = scenario_of(name)
        spec = RunSpec(scenario, data_of(scenario, Path("demo")), 3, 7)
        whole = prepare_directory(tmp_path / "whole", spec)
        assert isinstance(run_worker(whole, lambda _: None), Finished)
        cut = prepare_directory(tmp_path / "cut", spec)
        with WorkerProcess(cut) as worker:
            for event in worker.events():
                if isinstance(event, TrialDone):
                    break
        assert not (cut / trial_file(2)).exists()
        assert isinstance(run_worker(cut, lambda _: None), Finished)
        for index in range(3):
            assert (cut / trial_file(index)).read_bytes() == (whole / trial_file(index)).read_bytes()
        assert verify_run(cut) == verify_run(whole)
        measured, again = load_summary(whole), load_summary(cut)
        assert measured["metrics"] == again["metrics"]
        assert measured["trials"] == again["trials"] == 3


EXPORTED = {
    "sdhc-2020-us": ("phsafe-config", "config.json"),
    "sdhc-2020-pr": ("phsafe-config", "config.json"),
    "pl94-2020-persons-us": ("das-ini", "das.ini"),
    "dhc-2020-units-pr": ("das-ini", "das.ini"),
    "group-sizes-census-2010": ("group-sizes-json", "parameters.json"),
    "counties-invariant-2010": ("subspace-json", "parameters.json"),
}


@pytest.mark.parametrize("name", sorted(EXPORTED))
def test_that_exported_parameters_are_the_same_bytes_and_come_back(name, tmp_path, capsys):
    form, file = EXPORTED[name]
    assert run(["export", name, "--format", form, "--out", str(tmp_path / file)]) == 0
    written = {path.name: digest(path.read_bytes()) for path in sorted(tmp_path.iterdir())}
    assert written == FROZEN["exports"][name]
    capsys.readouterr()
    found = printed(capsys, "diff", name, str(tmp_path / file), "--json")
    assert found["effects"]["margins"] == []
    assert found["effects"]["total"]["before"] == found["effects"]["total"]["after"]


@pytest.mark.parametrize("name", ONE_EACH)
def test_that_other_conventions_alone_set_no_number_apart_from_what_it_stands_beside(name):
    before = scenario_of(name)
    scenario = replace(before, name="Proposal", conventions=replace(before.conventions, confidence=Fraction(19, 20)))
    stated, system = replace(before, conventions=scenario.conventions), system_of(scenario)
    shown = [figure.table.rows for figure in system.figures(scenario, before)]
    assert shown == [figure.table.rows for figure in system.figures(scenario, stated)]
    margins = len(forecast(scenario).entries)
    (*_, changed) = opening(scenario, before, ()).paragraphs
    assert changed == f"Changes: all {margins} margins are those of {before.name}."
