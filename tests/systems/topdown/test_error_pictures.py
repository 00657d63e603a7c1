"""What the pictures and tiles of TopDown runs say, while trials arrive and when all are there."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from topdown_runs import BLOCKS, WrittenRun, ask, records

from phexplore.metrics.coverage import coverage_of
from phexplore.metrics.topdown.bias import bias_by_size
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.model.topdown import LevelQuery
from phexplore.runs.spec import RunMode
from phexplore.runs.store import trial_file
from phexplore.systems.registry import preset
from phexplore.systems.topdown.error_pictures import _bias_title, criterion_title
from phexplore.systems.topdown.folds import BiasFold, ErrorsFold
from phexplore.systems.topdown.open_run import TopDownRun, measured_noise
from phexplore.systems.topdown.place_pictures import ERROR_WORDS
from phexplore.systems.topdown.run_options import Mechanism, TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader, _criterion_tile, _reliable_tile

LEVELS = ("State", "County", "Tract", "Block_Group", "Block")


@pytest.fixture
def run(tmp_path):
    return WrittenRun(tmp_path / "runs")


def chooser(answer, name):
    return next(each for each in answer.choosers if each.id == name)


def test_that_a_run_before_its_first_trial_offers_levels_and_no_picture(run):
    answer = ask(run.directory, "shape")
    assert answer.picture is None
    assert tuple(option.value for option in chooser(answer, "level").options) == LEVELS
    assert answer.tiles[0].change == "No trial yet."


def test_that_errors_of_every_level_are_those_of_the_counts(run):
    counts = run.add_trial()
    moved = int((counts - run.truth.counts).sum())
    picture = ask(run.directory, "errors").picture
    state, *_, block = records(picture)
    assert (state["Errors"], state["Mean"], state["Median"]) == (1, moved, moved)
    assert block["Errors"] == BLOCKS
    assert block["Errors"] * block["Mean"] == pytest.approx(moved)
    assert tuple(row.key for row in picture.marks) == LEVELS
    assert picture.marks[0].value == moved
    assert picture.marks[0].tip.startswith("State: 1 unit, 1 error")
    shape = ask(run.directory, "shape", level="Block").picture
    assert "the mean error (bias) is " in shape.title  # the line above has the mean size of an error
    assert sum(mark.parts[0].top for mark in shape.marks) == pytest.approx(100)


def test_that_sizes_of_units_are_told_apart(run):
    run.add_trial()
    sizes = [option.value for option in chooser(ask(run.directory, "shape", level="Block"), "size").options]
    assert sizes[0] == ""
    parts = [records(ask(run.directory, "errors", level="Block", size=size).picture) for size in sizes[1:]]
    assert sum(row["Units"] for rows in parts for row in rows if row["Level"] == "Block") == BLOCKS


def test_that_new_trials_are_read_by_the_same_reader(run):
    reader = TopDownRunReader()
    run.add_trial()
    assert ask(run.directory, "errors", reader).trials == 1
    run.add_trial(2)
    answer = ask(run.directory, "errors", reader)
    assert answer.trials == 2
    assert answer.tiles[3].change == "18 families, all rounded at once"


def test_that_a_damaged_trial_is_named_and_the_rest_shown(run):
    run.add_trial()
    run.add_trial()
    path = run.directory / trial_file(1)
    path.write_bytes(path.read_bytes()[:-200])
    answer = ask(run.directory, "errors")
    assert answer.trials == 1
    assert "cannot be read" in answer.problems[0]


def test_that_a_run_of_many_trials_is_shown_whole_and_a_slice_of_time_at_a_time(run, monkeypatch):
    monkeypatch.setattr("phexplore.systems.topdown.open_run.SLICE_SECONDS", 0.0)
    monkeypatch.setattr("phexplore.systems.topdown.open_run.MOST_CACHED", 1)
    for change in range(45):
        run.add_trial(change)
    reader = TopDownRunReader()
    choice = {"level": "Block", "query": "total"}
    answer = ask(run.directory, "shape", reader, **choice)
    opened = reader.open(run.directory)
    fold = opened.folded(ErrorsFold, "Block", opened.query("total"), "")
    assert 1 <= fold.trials < 45
    assert answer.waiting > 0
    for _ in range(60):
        answer = ask(run.directory, "shape", reader, **choice)
        if not answer.waiting:
            break
    assert (answer.waiting, fold.trials, answer.trials) == (0, 45, 45)
    blocks = int((run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7].size)
    assert fold.errors.total == 45 * BLOCKS
    assert int(fold.errors.errors @ fold.errors.counts) == blocks * sum(range(45))
    assert answer.tiles[3].change.startswith(f"{45 * 9} families")


def test_that_folds_of_trials_one_by_one_equal_those_of_all_at_once(run):
    for change in (1, 5, 2):
        run.add_trial(change)
    grown = TopDownRunReader()
    choices = [
        ("bias", {"level": "Block", "query": "total"}),
        ("criterion", {"level": "Block_Group"}),
        ("worst", {"level": "Block", "by": WorstBy.CELLS.name}),
        ("errors", {"query": "race_ethnicity"}),
    ]
    for tab, choice in choices:
        ask(run.directory, tab, grown, **choice)
    run.add_trial(9)
    for tab, choice in choices:
        one, other = ask(run.directory, tab, grown, **choice), ask(run.directory, tab, **choice)
        assert one.picture == other.picture
        assert one.tiles == other.tiles
        assert one.trials == 4


def test_that_bias_is_raised_where_people_were_added(run):
    run.add_trial()
    run.add_trial()
    picture = ask(run.directory, "bias", level="Block", query="total").picture
    assert all(row.value >= 0 for row in picture.marks)
    raised = sum(row["Mean error"] * row["Numbers per trial"] for row in records(picture))
    assert raised == pytest.approx((run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7].size)


def test_that_a_bias_within_chance_is_not_a_finding(run, monkeypatch):
    for _ in range(3):
        run.add_trial()
    assert "raised" in ask(run.directory, "bias", level="Block", query="total").picture.title
    known = BiasFold.bias.fget
    doubtful = property(lambda fold: replace(known(fold), error_between_trials=np.full(len(known(fold).labels), 1e9)))
    monkeypatch.setattr(BiasFold, "bias", doubtful)
    assert "two Monte Carlo standard errors" in ask(run.directory, "bias", level="Block", query="total").picture.title


@pytest.mark.parametrize(
    ("published", "said"),
    [
        ([1, 1, 4, 4, 5], "Counts of 0 are raised by 1 person on average, all others lowered by 0.67"),
        ([1, 1, 6, 4, 5], "Counts of 0 are raised by 1 person on average"),
    ],
)
def test_that_others_are_called_lower_only_where_they_are(published, said):
    assert _bias_title(bias_by_size(np.array([0, 0, 5, 5, 5]), np.array([published])), "people") == said


def test_that_a_share_is_the_one_that_was_found_and_not_the_one_asked_for():
    said = criterion_title("Block", 0, coverage_of(987, 1000), 400)
    assert said == "Block: 98.7 % of the units of all sizes together are within five points"
    said = criterion_title("Block", 26, coverage_of(987, 1000), 400)
    assert said == "Block: reliable from 26 people, all units of at least that size together"


def test_that_too_many_numbers_are_refused_with_the_way_out(run, monkeypatch):
    monkeypatch.setattr("phexplore.systems.topdown.error_pictures.MOST_NUMBERS", 10)
    run.add_trial()
    for tab in ("bias", "worst"):
        picture = ask(run.directory, tab, level="Block", query="detailed").picture
        assert picture.is_empty
        assert "coarser query" in picture.summary
    block = records(ask(run.directory, "errors", query="detailed").picture)[-1]
    assert block["Errors"] == BLOCKS * run.population.schema.cells


def test_that_the_criterion_holds_every_level_with_its_interval(run):
    run.add_trial()
    answer = ask(run.directory, "criterion", level="Block_Group")
    picture = answer.picture
    assert picture.under[0].x == 95.0
    assert tuple(row.key for row in picture.marks if row.key) == LEVELS
    assert all(0 <= row.low <= row.value <= row.high <= 100 for row in picture.marks if row.value is not None)
    assert answer.tiles[1].caption == "Reliable from"
    assert answer.headline.value.endswith("%")
    assert answer.headline.beside == "of blocks of 500+ people"


def test_that_noise_is_drawn_over_errors_of_units_that_are_measured(run):
    """The spine of 2020 forms block groups of its own: the noise of one of them is no noise of a tabulated one."""
    run.add_trial()
    drawn = {
        level: ask(run.directory, "shape", level=level, query="total").picture for level in ("Tract", "Block_Group")
    }
    assert "the curve is the noise" in drawn["Tract"].summary
    assert "the curve is the noise" not in drawn["Block_Group"].summary
    assert len(drawn["Tract"].key) > len(drawn["Block_Group"].key)


def test_that_the_noise_is_what_the_run_measures_in_the_schema_of_its_data(run):
    """In 16 cells race alone becomes the total, and its budget is added to the total's: that noise is a half as wide."""
    run.add_trial()
    method = preset("pl94-2020-persons-us").scenario.topdown
    shares = [method.query_shares[LevelQuery("Block", name)] for name in ("total", "cenrace")]
    budget = method.total * method.level_shares["Block"] * sum(shares)
    found = {row["Level"]: row["σ of a measurement"] for row in records(ask(run.directory, "errors").picture)}
    assert found["Block"] == pytest.approx(float(budget) ** -0.5, rel=1e-6)
    assert found["Block group"] is None
    (race,) = (
        row for row in records(ask(run.directory, "errors", query="race_ethnicity").picture) if row["Level"] == "Block"
    )
    budget = (
        method.total * method.level_shares["Block"] * method.query_shares[LevelQuery("Block", "hispanic * cenrace")]
    )
    assert race["σ of a measurement"] == pytest.approx(float(budget) ** -0.5, rel=1e-6)


def test_that_the_noise_of_exact_and_of_block_by_block_runs_is_theirs(run):
    opened = TopDownRun(run.directory)
    total, spec = opened.query("total"), opened.spec
    usual = measured_noise(opened, "Block", total).reported_variance()
    opened.spec = replace(spec, mode=RunMode.NO_NOISE, seed=None)
    assert measured_noise(opened, "Block", total) is None
    opened.spec = replace(spec, options=TopDownOptions(mechanism=Mechanism.BLOCK_BY_BLOCK))
    assert measured_noise(opened, "Tract", total) is None
    share = spec.scenario.topdown.level_shares["Block"]
    assert measured_noise(opened, "Block", total).reported_variance() == pytest.approx(usual * float(share), rel=1e-3)


def test_that_a_figure_that_cannot_be_says_why():
    nobody, none = _criterion_tile(coverage_of(0, 0), "block"), _reliable_tile(None, "block", has_groups=True)
    assert nobody.change == "No block has 500 people."
    assert f"{none.caption}: {none.value} {none.beside}" == "Reliable from: no size at block"
    assert "no groups" in _criterion_tile(None, "block").change
    assert _reliable_tile(1, "block", has_groups=True).beside == "person, block"


def test_that_a_level_of_few_units_is_not_called_unreliable(run):
    run.add_trial()
    picture = ask(run.directory, "criterion", level="State").picture
    assert picture.title == "State: too few units (1) to say from how many people on 95 % are within five points"
    (state,) = (row for row in picture.marks if row.key == "State")
    assert picture.title in state.tip


def test_that_a_place_is_asked_for_first_in_a_list_and_on_a_map(run):
    run.add_trial()
    for shown in ("list", "map"):
        choosers = ask(run.directory, "worst", **{"as": shown}).choosers
        assert [each.id for each in choosers][:3] == ["find", "as", "level"]


def test_that_the_worst_units_come_first_with_a_reason(run):
    run.add_trial(30)
    picture = ask(run.directory, "worst", level="Block", by=WorstBy.TOTAL.name).picture
    errors = [row["Error, people"] for row in records(picture)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == 30
    assert picture.marks[0].key in run.population.geoids.tolist()
    first = records(picture)[0]
    assert picture.title.endswith(f": {first['Reason']}")
    assert first["Unit"] in picture.title
    assert first["Unit"] not in first["Reason"]  # it stands in its own column
    said = picture.marks[0].text.partition(": ")[2]
    assert said[0].isalpha(), "the reason is said before its numbers"
    assert len(said) < 60 < len(picture.marks[0].tip)
    low, high = picture.x_range_in(500.0, lambda text: 7.0 * len(text))
    assert high > 60
    assert max(picture.x.values_between(low, high)) <= 30, "no tick beyond the longest bar"


def test_that_one_place_shows_truth_and_every_trial(run):
    run.add_trial()
    run.add_trial(2)
    block = int(((run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7])[0])
    code = str(run.population.geoids[block])
    picture = ask(run.directory, "place", level="Block", unit=code).picture
    people = run.truth.part(block, block + 1).total
    sums = {name: sum(row[name] for row in records(picture)) for name in picture.table.headers[1:]}
    assert (sums["True"], sums["Published, trial 1"], sums["Published, trial 2"]) == (people, people + 1, people + 2)
    assert f"Block {code}" in picture.title
    empty = 8 - len(picture.marks)
    assert f"Of the answers, {empty} are 0 in truth and in every trial." in picture.summary, (
        "no row is lost without a word"
    )
    missing = ask(run.directory, "place", level="Block", unit="999")
    assert "is called '999'" in missing.picture.summary
    assert chooser(missing, "unit").chosen == "999"


def test_that_a_map_joins_shapes_by_code_and_colours_wider_units(run, tmp_path):
    run.add_trial()
    features = [
        {
            "type": "Feature",
            "properties": {"geoid": str(code)},
            "geometry": {"type": "Polygon", "coordinates": [[[n, 0], [n + 1, 0], [n + 1, 1], [n, 0]]]},
        }
        for n, code in enumerate(run.population.geoids[:50].tolist())
    ]
    path = tmp_path / "shapes.geojson.gz"
    path.write_bytes(gzip.compress(json.dumps({"type": "FeatureCollection", "features": features}).encode()))
    picture = ask(run.directory, "map", level="Tract", shapes=str(path)).picture
    assert len(picture.patches) == 50
    assert {len(piece.key) for piece in picture.patches} == {11}
    assert np.isfinite([piece.value for piece in picture.patches]).all()
    code = picture.patches[0].key
    assert "are published as" in ask(run.directory, "map", level="Tract", shapes=str(path), unit=code).picture.title
    assert picture.patches[0].tip.startswith(f"Tract {code}: ")
    tracts = len({piece.key for piece in picture.patches})
    assert picture.summary.startswith(f"{tracts} tract{'s' if tracts > 1 else ''} with shapes")
    assert "too low cancel" not in picture.summary
    nowhere = ask(run.directory, "worst", level="Tract", shapes=str(path), find="xyzzy", **{"as": "map"}).picture
    assert (nowhere.title, "is called 'xyzzy'" in nowhere.summary) == ("", True)
    assert "the file of blocks has no codes of them, or was moved" in nowhere.summary
    run.add_trial(2)
    assert (
        "in which too high and too low cancel"
        in ask(run.directory, "map", level="Tract", shapes=str(path)).picture.summary
    )
    assert ask(run.directory, "map", level="Tract", shapes=str(path), unit=code).picture.summary.endswith(ERROR_WORDS)
    assert not ask(run.directory, "map", level="Tract", shapes=str(path), value="SHARE").picture.tint.is_signed
    assert "Choose shapes of the areas" in ask(run.directory, "map", level="Tract").picture.summary
