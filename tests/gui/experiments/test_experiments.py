"""Experiments in the window: commands, pictures of what they find, and the page around them."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from typer.testing import CliRunner

from phexplore.cli.app import program
from phexplore.figures.figure import Figure
from phexplore.gui.experiments.page import ExperimentPage, ExperimentProcess
from phexplore.gui.widgets.labels import Text
from phexplore.systems.experiments import RESULT_FILE, ExperimentUnreadableError, pictures_of, read_pictures
from phexplore.systems.registry import systems

OFFERED = {system.id: system.experiments() for system in systems().values()}
EXPERIMENTS = {each.id: each for offered in OFFERED.values() for each in offered}
SMALL = {
    "table-7": {
        "data": "census",
        "epsilons": "0.5",
        "trials": "2",
        "mechanisms": "tree,topdown",
        "scaling": "no",
        "workers": "1",
    },
    "systems": {"state": "RI", "epsilon": "1", "trials": "2", "households": ""},
    "figure-1": {"counties": "", "trials": "2", "seed": "1"},
    "campus": {"repetitions": "3", "seed": "1"},
    "constant": {"delta": "1e-10", "epsilons": "0.5,2"},
    "bases": {"cells": "8"},
    "published-errors": {"file": str(Path(__file__).with_name("published.csv")), "run": ""},
    "confidence": {"file": "", "run": ""},
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the command of every experiment printed for a small case, with its folder; made when first asked for."""
    known = {}

    def find(name):
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            result = CliRunner().invoke(program(), list(EXPERIMENTS[name].command(folder, SMALL[name])))
            assert result.exit_code == 0, result.output
            known[name] = json.loads(result.stdout), folder
        return known[name]

    return find


def test_that_every_parameter_has_a_default_the_small_cases_cover() -> None:
    assert set(SMALL) == set(EXPERIMENTS)
    for name, experiment in EXPERIMENTS.items():
        assert {parameter.key for parameter in experiment.parameters} == set(SMALL[name])


def test_that_both_systems_offer_the_comparison_of_all() -> None:
    for system in ("group-sizes", "subspace"):
        assert "systems" in {each.id for each in OFFERED[system]}
    assert OFFERED["phsafe"] == ()


@pytest.mark.parametrize("name", [name for name in SMALL if name != "table-7"])
def test_that_what_a_command_finds_becomes_pictures(found, name) -> None:
    content, folder = found(name)
    pictures = pictures_of(EXPERIMENTS[name], content, folder)
    assert pictures
    for picture in pictures:
        assert picture.content.title
        assert picture.content.table.rows


@pytest.mark.slow
def test_that_table_7_becomes_pictures_with_the_published_figures(found) -> None:
    content, folder = found("table-7")
    pictures = pictures_of(EXPERIMENTS["table-7"], content, folder)
    first = pictures[0].content
    assert isinstance(first, Figure)
    assert [row.value for row in first.marks] == [row["l1"][0]["mean"] for row in content["rows"]]
    assert [row.tick for row in first.marks] == [2.4, 0.9]  # Table 7 at ε = 0.5, level 1
    assert "3,107" in " ".join(pictures[0].notes)


def test_that_a_scaling_and_a_row_above_its_budget_are_drawn(tmp_path) -> None:
    level = {"level": "Nation", "mean": 1.5, "sd": None}
    row = {
        "data": "census", "epsilon": "1", "variant": "chain", "label": "C, exact chain (published)", "spends": "1053",
        "keeps_budget": False, "l1": [level], "violations": {"mean": 0, "sd": None}, "seconds": {"mean": 0.1, "sd": None},
        "published": None,
    }  # fmt: skip
    data = {"id": "census", "groups": 5, "levels": [{"level": "Nation", "regions": 1}], "differences": ["Other data."]}
    scaling = [
        {"largest": 10, "groups": 0, "seconds": {"tree": 0.0}},
        {"largest": 100, "groups": 5, "seconds": {"tree": 0.1, "chain": 0.2}},
    ]
    pictures = pictures_of(
        EXPERIMENTS["table-7"], {"data": [data], "trials": 1, "rows": [row], "scaling": scaling}, tmp_path
    )
    assert pictures[0].content.marks[0].is_warned
    assert "1053" in pictures[0].content.marks[0].text
    assert pictures[-1].content.points


def test_that_three_systems_are_compared_on_the_same_counties_in_one_picture(found) -> None:
    content, folder = found("systems")
    errors, summary = pictures_of(EXPERIMENTS["systems"], content, folder)
    assert isinstance(errors.content, Figure)
    assert [series.name for series in errors.content.points] == [
        "TopDown",
        "exact tree",
        "exact total (projected Laplace)",
    ]
    assert all(len(series.x) == content["counties"] for series in errors.content.points)
    assert isinstance(summary.content, Figure)


def test_that_illinois_shows_both_systems_with_the_regression_line(found) -> None:
    content, folder = found("figure-1")
    (picture,) = pictures_of(EXPERIMENTS["figure-1"], content, folder)
    subspace, topdown = picture.content.points
    assert (len(subspace.x), len(topdown.x)) == (2 * 102, 102)
    (line,) = picture.content.over
    slope = (line.ys[1] - line.ys[0]) / math.log(line.xs[1] / line.xs[0])
    assert slope == pytest.approx(content["states"][0]["topdown"][0]["slope"], rel=1e-6)
    assert subspace.y.reshape(102, 2).sum(axis=0) == pytest.approx([0, 0], abs=1e-5)  # every run keeps the total


def test_that_slopes_of_all_states_stand_beside_the_papers(found) -> None:
    content, folder = found("figure-1")
    more = {**content, "states_regressed": 2, "states": content["states"] * 2}
    pictures = pictures_of(EXPERIMENTS["figure-1"], more, folder)
    assert "37 of 48" in pictures[-1].content.title
    assert len(pictures[1].content.marks) == 2


def test_that_damaged_figures_are_refused(tmp_path) -> None:
    with pytest.raises(ExperimentUnreadableError, match="cannot be read"):
        pictures_of(EXPERIMENTS["bases"], {}, tmp_path)
    with pytest.raises(ExperimentUnreadableError):
        pictures_of(EXPERIMENTS["systems"], {"systems": []}, tmp_path)


@pytest.fixture
def page(qtbot, tmp_path):
    made = []

    def make(system="subspace", command=None):
        found = ExperimentPage(
            OFFERED[system], tmp_path, process=ExperimentProcess(command=command) if command else None
        )
        qtbot.addWidget(found)
        found.resize(1100, 700)
        found.show()
        qtbot.waitExposed(found)
        made.append(found)
        return found

    yield make
    for each in made:
        each.shut_down()


def test_that_one_click_runs_an_experiment_and_its_figures_stay(qtbot, page) -> None:
    first = page()
    first.choose("bases")
    assert first.view.is_empty
    with qtbot.waitSignal(first.process.finished):
        first.start.click()
    assert [picture.title for picture in first.pictures] == ["Factor by basis"]
    assert not first.view.is_empty
    again = page()
    again.choose("bases")
    assert again.pictures


def test_that_the_picture_ends_where_the_card_beside_it_does(page) -> None:
    shown = page()
    card = shown.list.parentWidget()
    ends = {each.mapTo(shown, each.rect().bottomLeft()).y() for each in (card, shown.view)}
    assert len(ends) == 1, ends


def test_that_what_a_file_should_be_is_read_whole(page) -> None:
    for system, experiments in OFFERED.items():
        shown = page(system)
        for experiment in experiments:
            shown.choose(experiment.id)
            said = {text.text().lower() for text in shown.findChildren(Text) if text.isVisible()}
            assert {f"{each.hint.lower()}." for each in experiment.parameters if each.is_file} <= said


def test_that_every_kind_of_picture_is_drawn(qtbot, page, found) -> None:
    shown = page()
    for name in ("systems", "campus", "constant", "figure-1"):
        shown.choose(name)
        folder = shown._folder(shown.experiment)
        content, source = found(name)
        folder.mkdir(parents=True, exist_ok=True)
        for file in source.glob("*.csv"):
            (folder / file.name).write_bytes(file.read_bytes())
        (folder / RESULT_FILE).write_text(json.dumps(content))
        shown._reload()
        for number in range(len(shown.pictures)):
            shown.picture.setCurrentIndex(number)
            chart = shown.view
            assert not chart.is_empty
            chart.grab()


def test_that_points_are_walked_with_the_arrow_keys(qtbot, page, found) -> None:
    content, folder = found("systems")
    shown = page()
    shown.view.show_figure(pictures_of(EXPERIMENTS["systems"], content, folder)[0].content)
    shown.view.canvas.setFocus()
    with qtbot.waitSignal(shown.view.plot.chosen):
        qtbot.keyClick(shown.view.canvas, Qt.Key.Key_Right)
    assert "County" in shown.view.canvas.accessibleDescription()
    shown.view.grab()


def test_that_what_the_command_refuses_is_said(qtbot, page) -> None:
    shown = page()
    shown.choose("constant")
    shown.fields["constant"]["delta"] = lambda: "nonsense"
    with qtbot.waitSignal(shown.failed) as failed:
        shown.run()
    assert "nonsense" in failed.args[0].sentence


def test_that_an_experiment_can_be_stopped(qtbot, page) -> None:
    shown = page(
        command=[
            sys.executable,
            "-c",
            "import sys,time; print('1 of 10: x', file=sys.stderr, flush=True); time.sleep(60)",
        ]
    )
    with qtbot.waitSignal(shown.process.progressed) as said:
        shown.run()
    assert said.args[1:] == [1, 10]
    assert not shown.start.isEnabled()
    with qtbot.waitSignal(shown.process.busy_changed):
        shown.cancel.click()
    assert shown.start.isEnabled()
    assert not shown.pictures


def test_that_a_program_that_does_not_start_is_said(qtbot, page) -> None:
    shown = page(command=["/no/such/program"])
    with qtbot.waitSignal(shown.failed):
        shown.run()
    assert shown.start.isEnabled()


@pytest.mark.defect("F9")
@pytest.mark.parametrize(
    "content", ["[", "[" * 50_000, "null", "[1]", '{"data": 1}', '{"data": [1]}', '{"data": [{"levels": [[]]}]}']
)
def test_that_damaged_figures_are_a_sentence(tmp_path, content) -> None:
    assert read_pictures(EXPERIMENTS["table-7"], tmp_path) == ()
    (tmp_path / RESULT_FILE).write_text(content)
    with pytest.raises(ExperimentUnreadableError):
        read_pictures(EXPERIMENTS["table-7"], tmp_path)


@pytest.mark.defect("F13")
def test_that_a_pipe_in_place_of_figures_is_refused_without_waiting(tmp_path) -> None:
    os.mkfifo(tmp_path / RESULT_FILE)
    with pytest.raises(ExperimentUnreadableError, match="pipe"):
        read_pictures(EXPERIMENTS["table-7"], tmp_path)
