"""A fifth system, living in a test alone, goes through everything the program does with the four it knows."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("fifth_system.py")
MOST_LINES = 150


def program(*arguments, status=0):
    """Run the program with the fifth system and return what it printed."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def within(code):
    """Run some lines in a process that knows the fifth system and return what they print."""
    prelude = (
        f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); sys.argv = ['phexplore']\n"
        "import json; from pathlib import Path; from dataclasses import replace; from fractions import Fraction\n"
        "from fifth_system import Counts\nfrom phexplore.document.project import Project\n"
        "from phexplore.model.scenario import Scenario\nfrom phexplore.model.workbook import Workbook\n"
    )
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def saved(tmp_path):
    """A project with the fifth system, edited twice, undone once, saved."""
    found = within(
        f"project = Project.new(Workbook((Scenario('mine', Counts(Fraction(1, 2), 7)),), 'mine'))\n"
        "edit = lambda e: (lambda s: replace(s, method=replace(s.method, epsilon=e)))\n"
        "project.edit('ε 1', edit(Fraction(1))); project.edit('ε 2', edit(Fraction(2))); project.undo()\n"
        f"project.save(Path({str(tmp_path / 'mine.phx')!r})); project.close()\n"
        f"again = Project.open(Path({str(tmp_path / 'mine.phx')!r})); now = str(again.scenario.method.epsilon)\n"
        "again.undo(); before = str(again.scenario.method.epsilon); again.redo(); again.close()\n"
        "print(json.dumps([now, before]))"
    )
    assert found == ["1", "1/2"]
    return tmp_path / "mine.phx"


def test_that_its_file_is_short():
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_that_it_is_checked_forecast_compared_and_judged(saved, tmp_path):
    assert "No issues" in program("check", saved)
    assert json.loads(program("forecast", saved, "--json"))["privacy"]["pure_epsilon"] == "1"
    other = tmp_path / "other.phx"
    found = within(
        "from phexplore.decide.rule_evaluation import judge; from phexplore.model.rules import Bound, Measure, Rule\n"
        "project = Project.new(Workbook((Scenario('other', Counts(Fraction(3), 7)),), 'other'))\n"
        f"project.save(Path({str(other)!r}))\n"
        "rules = [Rule(m, Bound.AT_MOST, Fraction(2)) for m in (Measure.LOSS, Measure.EPSILON, Measure.MARGIN)]\n"
        "print(json.dumps([verdict.outcome.value for verdict in judge(rules, project.scenario)])); project.close()"
    )
    assert found == ["fail", "fail", "pass"]
    compared = json.loads(program("compare", saved, other, "--json"))
    assert [column["total"] for column in compared["columns"]] == ["1", "3"]
    assert [row["place"] for row in compared["effects"]] == ["count"]
    changed = json.loads(program("diff", saved, other, "--json"))
    assert Fraction(changed["effects"]["total"]["after"]) == 3
    assert "not solved, traded or drafted" in refusal("solve", saved)


def refusal(*arguments):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return done.stderr


def test_that_it_is_run_resumed_and_reported(saved, tmp_path):
    run = ("run", saved, "--data", "demo", "--seed", "5", "--out", tmp_path / "run")
    program(*run, "--trials", "2")
    first = (tmp_path / "run" / "trial-00001.parquet").read_bytes()
    program(*run, "--trials", "3")
    assert (tmp_path / "run" / "trial-00001.parquet").read_bytes() == first
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["trials"] == 3
    for form in ("html", "pdf", "csv", "svg"):
        program("report", tmp_path / "run", "--format", form, "--out", tmp_path / f"report.{form}")
    sums = [sum(json.loads((tmp_path / "run" / f"trial-{index:05d}.parquet").read_text())) for index in range(3)]
    assert (tmp_path / "report.csv").read_text().splitlines() == [
        "Trial,Noise,Provenance",
        *(f"{i},{s},published" for i, s in enumerate(sums)),
    ]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{max(sums)} at most" in page
    assert "<svg" in page or "<img" in page
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (tmp_path / "report.svg").read_text(encoding="utf-8")


def test_that_it_brings_its_presets_and_its_commands(saved):
    assert "counts-2010" in [preset["id"] for preset in json.loads(program("presets", "--json"))]
    assert json.loads(program("forecast", "counts-2010", "--json"))["privacy"]["pure_epsilon"] in {"1/4", "0.25"}
    assert program("places", saved).strip() == "7"
    assert program("places", "counts-2010").strip() == "3"


def test_that_what_a_run_can_be_asked_is_a_flag_and_stands_in_the_specification(saved, tmp_path):
    assert "--draws" in program("run", "--help")
    run = ("run", saved, "--data", "demo", "--seed", "5", "--out", tmp_path / "run")
    program(*run, "--draws", "3")
    assert json.loads((tmp_path / "run" / "spec.json").read_text())["counts"] == {"draws": 3}
    assert len(json.loads((tmp_path / "run" / "trial-00000.parquet").read_text())) == 3 * 7
    assert "--draws" in refused(*run, "--draws", "101")
    assert "--expand" in refused(*run, "--expand", "1")
    assert "--draws" in refused("run", "sdhc-2020-us", "--data", "demo", "--out", tmp_path / "other", "--draws", "2")


def refused(*arguments):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    return done.stderr


def test_that_it_is_exported_and_read_back_with_every_problem_named(saved, tmp_path):
    program("export", saved, "--format", "json", "--out", tmp_path / "mine.json")
    assert json.loads(program("diff", saved, tmp_path / "mine.json", "--json"))["parameters"] == []
    content = json.loads((tmp_path / "mine.json").read_text())
    content["method"] |= {"epsilon": "no number", "places": "none"}
    (tmp_path / "mine.json").write_text(json.dumps(content))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "check", str(tmp_path / "mine.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "epsilon" in done.stderr
    assert "places" in done.stderr


def test_that_the_program_itself_does_not_know_it(saved):
    done = subprocess.run(
        [sys.executable, "-m", "phexplore", "check", str(saved)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "counts" in done.stderr


def margin(epsilon):
    """Where the tail of two-sided geometric noise, 2 q^(m + 1) / (1 + q), is one tenth."""
    return math.log((1 + math.exp(-epsilon)) / 20) / -epsilon - 1


def test_that_the_window_opens_edits_saves_runs_compares_and_judges_it(tmp_path):
    """A room that any system gets: pages from the declared fields and the forecast alone."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM.with_name("fifth_window.py")), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "two-sided geometric noise" in seen["preset"]
    assert seen["areas"] == ["OVERVIEW", "BUDGETS", "TARGETS", "SCENARIO", "RUNS", "RESULTS", "DECISION", "HISTORY"]
    assert seen["overview"] == pytest.approx([margin(0.25)], rel=1e-9)
    assert seen["tiles"][0][1] == "0.250000"
    assert "none" in seen["refused"]
    assert [label.split()[-1] for label in seen["labels"]] == ["1", "2", "9"]
    assert seen["reopened"] == {"method": "counts", "epsilon": "2", "places": 3}
    assert any("1 over" in change for change in seen["rules"])
    assert seen["targets"] == ["Decision rules"]
    assert "Every record." in seen["inspector"]
    assert len(seen["decision"]) == 1
    assert seen["imported"] == [True, True]
    assert seen["compared"] == "1 parameter differs and 1 margin differs"
    assert seen["options"] == 3
    assert (
        seen["results"]
        == seen["table of results"]
        == [[number, drawn, "published"] for number, drawn in enumerate(seen["drawn"])]
    )
    assert seen["marks"] == seen["drawn"]
    assert seen["zoomed"]
    assert seen["headline"].startswith("Trials: 2")
    assert {"report.html", "report.pdf", "noise.svg"} <= {file.name for file in tmp_path.iterdir()}
    assert seen["lengths"] == [9, 9]
    assert seen["meeting"][1]
    assert seen["picture"] == [max(0.0, margin(3))]
