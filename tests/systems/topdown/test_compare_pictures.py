"""Runs compared on one scale: figures per run, differences trial by trial, and which runs share their random bits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from origins import SYNTHETIC
from topdown_runs import ask as ask_reader
from topdown_runs import records

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.model.edits import set_field
from phexplore.runs.spec import RunData, RunMode, RunSpec
from phexplore.runs.store import TRUTH_FILE, RunStore, trial_file
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.systems.registry import preset
from phexplore.systems.topdown.compare_pictures import NOTHING_TO_COMPARE, are_common
from phexplore.systems.topdown.run_choice import CompareBy, CompareFigure
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import TopDownOptions

SCENARIO = preset("pl94-2020-persons-us").scenario
DATA = RunData("/no/blocks", "0" * 64, 1, provenance=SYNTHETIC, blocks=True)


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
    return ask_reader(first, "compare", None, others, others=tuple(map(str, others)), **choice).picture


def test_that_figures_and_differences_are_those_of_the_counts(tmp_path):
    one, truth, noise = write(tmp_path, 1)
    other, _truth, more = write(
        tmp_path, 3, set_field(replace(SCENARIO, name="Other"), "total", Fraction(3)), trials=3, hour=2
    )
    picture = ask(one, [other], compare=CompareBy.LEVEL.name, query="total")
    table = records(picture)
    assert [row["Level"] for row in table[::2]] == ["State", "County", "Tract", "Block group", "Block"]
    sums = [np.array([each.sum() for each in noises]) for noises in (noise, more)]
    for row, values in zip(table[:2], sums, strict=True):
        assert row["Mean absolute error, people"] == pytest.approx(values.mean())
        assert row["Monte-Carlo error"] == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)))
    pairs = sums[1] - sums[0][:3]
    assert table[0]["Difference from baseline"] is None
    assert table[1]["Difference from baseline"] == pytest.approx(pairs.mean())
    assert table[1]["Its Monte-Carlo error"] == pytest.approx(pairs.std(ddof=1) / np.sqrt(3))
    assert "4 trials" in picture.summary
    assert "3 trials" in picture.summary
    squares = records(ask(one, [other], compare=CompareBy.LEVEL.name, query="total", figure=CompareFigure.SQUARE.name))
    roots = [np.sqrt((each.astype(float) ** 2).mean()) for each in (*sums, sums[0][:3])]
    assert [row["Root mean square error, people"] for row in squares[:2]] == pytest.approx(roots[:2])
    assert squares[1]["Difference from baseline"] == pytest.approx(roots[1] - roots[2])
    blocks = table[-2]
    units = np.add.reduceat(noise[0], truth.starts[:-1][np.diff(truth.starts) > 0]).sum() / 200
    assert blocks["Numbers per trial"] == 200
    assert abs(blocks["Mean absolute error, people"] - units) < units  # the first trial is one of four
    assert len(picture.marks) == 10
    assert picture.marks[0].group == picture.marks[1].group == "State"
    assert {row.series for row in picture.marks} == {0, 1}
    assert picture.title.startswith("Other: the mean absolute error is")
    # the same two runs, looked at from the proposal: the run of the baseline's parameters stays the base
    again = ask(other, [one], compare=CompareBy.LEVEL.name, query="total")
    assert (again.title, again.table.rows) == (picture.title, picture.table.rows)
    assert "different random numbers" in picture.summary


def test_that_units_are_nearer_or_farther_than_in_the_first_run(tmp_path):
    one, truth, noise = write(tmp_path, 1)
    other, _truth, more = write(tmp_path, 3, trials=3, hour=2)
    row = records(ask(other, [one], compare=CompareBy.LEVEL.name, query="detailed"))[
        -1
    ]  # of one scenario: the chosen run is the base
    filled = np.flatnonzero(np.diff(truth.starts) > 0)
    off = [
        np.mean([np.add.reduceat(each, truth.starts[:-1][filled]) for each in noises], axis=0)
        for noises in (noise, more)
    ]
    assert row["Level"] == "Block"
    assert row["Units nearer than in baseline"] == pytest.approx((off[1] < off[0]).sum() / 200)
    assert row["Units farther than in baseline"] == pytest.approx((off[1] > off[0]).sum() / 200)
    assert (
        row["Units nearer than in baseline"] + row["Units farther than in baseline"] < 1
    )  # empty blocks are as near as before


def test_that_places_are_the_units_with_most_people(tmp_path):
    one, truth, noise = write(tmp_path, 1)
    other, _truth, _more = write(tmp_path, 3, hour=2)
    picture = ask(one, [other], compare=CompareBy.PLACE.name, query="total", level="Block")
    people = np.add.reduceat(truth.counts, truth.starts[:-1][np.diff(truth.starts) > 0])
    largest = np.flatnonzero(np.diff(truth.starts) > 0)[people.argmax()]
    row = records(picture)[1]  # below the run it is compared with
    assert row["Place"] == str(synthesize_blocks(200, 5).geoids[largest])
    inside = slice(truth.starts[largest], truth.starts[largest + 1])
    assert row["Mean absolute error, people"] == pytest.approx(np.mean([each[inside].sum() for each in noise]))
    assert row["Units nearer than in baseline"] is None
    assert len({row.group for row in picture.marks}) == 12


@pytest.mark.parametrize("figure", CompareFigure)
@pytest.mark.parametrize("by", [by for by in CompareBy if by is not CompareBy.AREA])  # these runs know no towns
def test_that_every_grouping_and_figure_has_rows_for_every_run(tmp_path, by, figure):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, hour=2)
    picture = ask(one, [other], compare=by.name, figure=figure.name, level="Block")
    groups = list(dict.fromkeys(row.group for row in picture.marks))
    assert len(picture.marks) == 2 * len(groups) >= 4
    assert len(picture.table.rows) == len(picture.marks)
    assert all(row.value is not None for row in picture.marks)
    if figure is CompareFigure.SIZE:
        assert all(row.value >= 0 for row in picture.marks)


def test_that_runs_of_one_scenario_are_told_apart_by_when_they_started(tmp_path):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, hour=2)
    names = [row.name for row in ask(one, [other]).marks[:2]]
    assert len(set(names)) == 2
    assert all("4 May" in name for name in names)


def test_that_runs_of_one_minute_are_distinguished_by_their_folders(tmp_path):
    (one, _, _), (other, _, _) = write(tmp_path, 1), write(tmp_path, 2)
    picture = ask(one, [other])
    names = [row.name for row in picture.marks[:2]]
    assert {one.name in names[1], other.name in names[0]} == {True}
    assert all(name in picture.title for name in (one.name, other.name))


def test_that_a_single_run_says_how_to_compare(tmp_path):
    one, _, _ = write(tmp_path, 1)
    assert ask(one, [one]).summary == NOTHING_TO_COMPARE


def test_that_a_run_without_trials_has_no_figure(tmp_path):
    one, _, _ = write(tmp_path, 1)
    other, _, _ = write(tmp_path, 2, trials=1, hour=2)
    (other / trial_file(0)).unlink()
    assert {row.text for row in ask(one, [other]).marks[::2]} == {"no such numbers"}


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
