"""Runs compared on one scale: figures per run, differences trial by trial, and which runs share their random bits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.gui.run_manager.result_choosers import RunsField
from phexplore.model.edits import set_field
from phexplore.runs.spec import RunData, RunMode, RunSpec
from phexplore.runs.store import TRUTH_FILE, RunStore, trial_file
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.systems.registry import preset
from phexplore.systems.run_results import Asks, Chooser, Option
from phexplore.systems.topdown.compare_pictures import compare_rows
from phexplore.systems.topdown.compare_reader import MOST_RUNS, NOTHING_TO_COMPARE, are_common
from phexplore.systems.topdown.content_reader import TopDownResultReader
from phexplore.systems.topdown.run_contents import (
    CompareBy,
    CompareFigure,
    TopDownChoice,
    TopDownRequest,
    TopDownTab,
)
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import TopDownOptions

SCENARIO = preset("pl94-2020-persons-us").scenario
DATA = RunData("/no/blocks", "0" * 64, 1, synthetic=True, blocks=True)


def write(root, seed, scenario=SCENARIO, trials=4, hour=1):
    """A run whose trials add the absolute value of drawn noise to every cell; return it and the noise of each trial."""
    population = synthesize_blocks(200, 5)
    spec = RunSpec(scenario, DATA, trials, seed, options=TopDownOptions())
    directory = RunStore(root).create(spec, datetime(2026, 5, 4, hour, tzinfo=UTC))
    files, truth = LeafFiles(population.schema, population.geoids), histograms_of(population)
    files.write(directory / TRUTH_FILE, truth, {"confidential": False, "label": "synthetic"})
    rng, noises = np.random.default_rng(seed), []
    for index in range(trials):
        noise = rng.integers(0, 2 + seed, len(truth.counts))
        estimate = Histograms(truth.starts, truth.cells, truth.counts + noise)
        files.write(directory / trial_file(index), estimate, {"failsafe": 0, "families": {"Block": 9}})
        noises.append(noise)
    return directory, truth, noises


def ask(first, others, **choice):
    chosen = TopDownChoice(others=tuple(others), **choice)
    return TopDownResultReader().answer(TopDownRequest(first, TopDownTab.COMPARE, chosen)).content


def test_that_figures_and_differences_are_those_of_the_counts(tmp_path):
    one, truth, noise = write(tmp_path, 1)
    other, _truth, more = write(
        tmp_path, 3, set_field(replace(SCENARIO, name="Other"), "total", Fraction(3)), trials=3, hour=2
    )
    content = ask(one, [other], compare=CompareBy.LEVEL, query="total")
    assert [group.name for group in content.groups] == ["State", "County", "Tract", "Block_Group", "Block"]
    state = content.groups[0].figures
    sums = [np.array([each.sum() for each in noises]) for noises in (noise, more)]
    for figure, values in zip(state, sums, strict=True):
        assert figure.mean == pytest.approx(values.mean())
        assert figure.error == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)))
    pairs = sums[1] - sums[0][:3]
    assert state[0].difference is None
    assert state[1].difference == pytest.approx(pairs.mean())
    assert state[1].difference_error == pytest.approx(pairs.std(ddof=1) / np.sqrt(3))
    assert [run.trials for run in content.runs] == [4, 3]
    blocks = content.groups[-1].figures[0]
    units = np.add.reduceat(noise[0], truth.starts[:-1][np.diff(truth.starts) > 0]).sum() / 200
    assert blocks.numbers == 200
    assert abs(blocks.mean - units) < units  # the first trial is one of four
    rows = compare_rows(content, "people")
    assert len(rows.marks) == 10
    assert rows.marks[0].group == rows.marks[1].group == "State"
    assert {row.series for row in rows.marks} == {0, 1}
    assert rows.title.startswith("B against A: the mean absolute error is")
    assert "different random numbers" in rows.summary


@pytest.mark.parametrize("figure", CompareFigure)
@pytest.mark.parametrize("by", CompareBy)
def test_that_every_grouping_and_figure_has_rows_for_every_run(tmp_path, by, figure):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, hour=2)
    content = ask(one, [other], compare=by, figure=figure, level="Block")
    rows = compare_rows(content, "people")
    assert len(rows.marks) == 2 * len(content.groups) >= 4
    assert len(rows.table.rows) == len(rows.marks)
    assert all(row.value is not None for row in rows.marks)
    if figure is CompareFigure.SIZE:
        assert all(group.figures[0].mean >= 0 for group in content.groups)


def test_that_runs_of_one_scenario_are_told_apart_by_when_they_started(tmp_path):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, hour=2)
    names = [row.name for row in compare_rows(ask(one, [other]), "people").marks[:2]]
    assert names[0].startswith("A ")
    assert names[1].startswith("B ")
    assert len(set(names)) == 2
    assert all("2026-05-0" in name for name in names)


def test_that_a_single_run_says_how_to_compare(tmp_path):
    one, _, _ = write(tmp_path, 1)
    assert compare_rows(ask(one, [one]), "people").summary == NOTHING_TO_COMPARE


def test_that_a_run_without_trials_has_no_figure(tmp_path):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, trials=1, hour=2)
    (other / trial_file(0)).unlink()
    content = ask(one, [other])
    assert all(group.figures[1] is None for group in content.groups)
    assert compare_rows(content, "people").marks[1].text == "no such numbers"


def test_that_common_random_numbers_need_seed_data_and_tree_alike():
    spec = RunSpec(SCENARIO, DATA, 2, 1, options=TopDownOptions())
    other = replace(spec, scenario=set_field(SCENARIO, "total", Fraction(3)))
    assert are_common(spec, other)
    for different in (
        replace(other, seed=2),
        replace(other, seed=None),
        replace(other, mode=RunMode.NO_NOISE),
        replace(other, data=replace(DATA, sha256="1" * 64)),
        replace(other, options=TopDownOptions(expand=1)),
    ):
        assert not are_common(spec, different)
    unseeded = replace(spec, seed=None)
    assert not are_common(unseeded, replace(other, seed=None))
    again = replace(unseeded, options=TopDownOptions(measurements="/kept", measured_identity=unseeded.identity))
    assert are_common(unseeded, again)  # the very same noisy answers
    assert are_common(again, unseeded)


def test_that_the_button_keeps_its_ticks_and_says_how_many(qtbot, tmp_path):
    told = []
    runs = tuple(str(tmp_path / str(number)) for number in range(8))
    offer = Chooser("others", "", "Runs", tuple(map(Option, runs)), runs[:1], Asks.RUNS, most=MOST_RUNS - 1)
    button = RunsField(offer, told.append)
    qtbot.addWidget(button)
    button.show_offer(offer, {runs[2]: "the third"})
    assert button.chosen == runs[:1]
    assert button.runs.actions()[2].text() == "the third"
    button.runs.actions()[3].setChecked(True)
    assert told == [(runs[0], runs[3])]
    assert button.text() == "Compare with 2…"
    for action in button.runs.actions():
        if action.isEnabled():
            action.setChecked(True)
    assert len(button.chosen) == MOST_RUNS - 1
