"""Results of TopDown runs: what is read, what the pictures say, what the page shows while trials arrive."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from PySide6.QtCore import QObject, Signal

from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.errors import PhexploreError
from phexplore.gui.binding.frames import frame, read_frame
from phexplore.gui.run_manager.result_server import Readers
from phexplore.gui.run_manager.results_page import ResultsPage
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.metrics.topdown.worst import WorstBy
from phexplore.model.issues import InputProblemsError
from phexplore.runs.spec import RunData, RunSpec
from phexplore.runs.store import TRUTH_FILE, RunStore, trial_file
from phexplore.simulate.topdown.histograms import Histograms, histograms_of
from phexplore.systems.registry import preset
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown.content_reader import TopDownResultReader
from phexplore.systems.topdown.place_pictures import place_rows
from phexplore.systems.topdown.result_pictures import (
    bias_rows,
    criterion_rows,
    criterion_tile,
    error_rows,
    histogram,
    map_picture,
    reliable_tile,
    topdown_headline_tile,
    topdown_trials_tile,
    worst_rows,
)
from phexplore.systems.topdown.run_contents import MapValue, TopDownChoice, TopDownRequest, TopDownTab
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.shapes import read_outlines
from phexplore.systems.topdown.system import TOPDOWN

BLOCKS = 400


class WrittenRun:
    """A run of synthetic blocks whose trials move one person in every seventh block."""

    def __init__(self, root):
        self.population = synthesize_blocks(BLOCKS, 5)
        scenario = preset("pl94-2020-persons-us").scenario
        spec = RunSpec(
            scenario, RunData("/no/blocks", "0" * 64, 1, synthetic=True, blocks=True), 3, 1, options=TopDownOptions()
        )
        self.directory = RunStore(root).create(spec, datetime(2026, 5, 4, tzinfo=UTC))
        self.files = LeafFiles(self.population.schema, self.population.geoids)
        self.truth = histograms_of(self.population)
        self.files.write(self.directory / TRUTH_FILE, self.truth, {"confidential": False, "label": "synthetic"})
        self.trials = 0

    def add_trial(self, change=1):
        counts = self.truth.counts.copy()
        firsts = self.truth.starts[:-1][np.diff(self.truth.starts) > 0]
        counts[firsts[::7]] += change
        path = self.directory / trial_file(self.trials)
        self.files.write(
            path, Histograms(self.truth.starts, self.truth.cells, counts), {"failsafe": 0, "families": {"Block": 9}}
        )
        self.trials += 1
        return counts


@pytest.fixture
def run(tmp_path):
    return WrittenRun(tmp_path / "runs")


def ask(run, tab, reader=None, **choice):
    return (reader or TopDownResultReader()).answer(TopDownRequest(run.directory, tab, TopDownChoice(**choice)))


def test_that_a_run_before_its_first_trial_offers_levels_and_no_picture(run):
    answer = ask(run, TopDownTab.ERRORS)
    assert answer.content is None
    assert answer.offer.levels == ("State", "County", "Tract", "Block_Group", "Block")
    assert criterion_tile(answer.headline).change == "No trial yet."


def test_that_errors_of_every_level_are_those_of_the_counts(run):
    counts = run.add_trial()
    moved = int((counts - run.truth.counts).sum())
    answer = ask(run, TopDownTab.ERRORS)
    found = {level.level: level.errors for level in answer.content.levels}
    assert found["State"].errors.tolist() == [moved]
    assert int(found["Block"].errors @ found["Block"].counts) == moved
    assert found["Block"].total == BLOCKS
    rows = error_rows(answer.content, answer.request.choice, "people")
    assert [row.key for row in rows.marks] == list(answer.offer.levels)
    assert rows.marks[0].value == moved
    picture = histogram(replace(answer.content, chosen="Block"), answer.request.choice, "people")
    assert sum(mark.parts[0].top for mark in picture.marks) == pytest.approx(100)


def test_that_sizes_of_units_are_told_apart(run):
    run.add_trial()
    everything = ask(run, TopDownTab.ERRORS, level="Block")
    parts = [ask(run, TopDownTab.ERRORS, level="Block", size=size).content for size in everything.offer.sizes]
    assert sum(part.levels[-1].units for part in parts) == BLOCKS


def test_that_new_trials_are_read_by_the_same_reader(run):
    reader = TopDownResultReader()
    run.add_trial()
    assert ask(run, TopDownTab.ERRORS, reader).headline.trials == 1
    run.add_trial(2)
    answer = ask(run, TopDownTab.ERRORS, reader)
    assert answer.headline.trials == 2
    assert topdown_trials_tile(answer.headline).change == "18 families, none needed the failsafe"


def test_that_a_damaged_trial_is_named_and_the_rest_shown(run):
    run.add_trial()
    run.add_trial()
    path = run.directory / trial_file(1)
    path.write_bytes(path.read_bytes()[:-200])
    answer = ask(run, TopDownTab.ERRORS)
    assert answer.headline.trials == 1
    assert "cannot be read" in answer.problems[0]


def test_that_a_run_of_many_trials_is_shown_whole_and_a_slice_of_time_at_a_time(run, monkeypatch):
    monkeypatch.setattr("phexplore.systems.topdown.open_run.SLICE_SECONDS", 0.0)
    monkeypatch.setattr("phexplore.systems.topdown.open_run.MOST_CACHED", 1)
    for change in range(45):
        run.add_trial(change)
    reader = TopDownResultReader()
    answer = ask(run, TopDownTab.SHAPE, reader, level="Block", query="total")
    assert 1 <= answer.content.trials < 45
    assert answer.waiting > 0
    for _ in range(60):
        answer = ask(run, TopDownTab.SHAPE, reader, level="Block", query="total")
        if not answer.waiting:
            break
    assert (answer.waiting, answer.content.trials, answer.headline.trials) == (0, 45, 45)
    blocks = int((run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7].size)
    errors = answer.content.levels[-1].errors
    assert errors.total == 45 * BLOCKS
    assert int(errors.errors @ errors.counts) == blocks * sum(range(45))
    assert answer.headline.families == 45 * 9


def test_that_folds_of_trials_one_by_one_equal_those_of_all_at_once(run):
    for change in (1, 5, 2):
        run.add_trial(change)
    grown = TopDownResultReader()
    choices = [
        (TopDownTab.BIAS, {"level": "Block", "query": "total"}),
        (TopDownTab.CRITERION, {"level": "Block_Group"}),
        (TopDownTab.WORST, {"level": "Block", "by": WorstBy.CELLS}),
        (TopDownTab.ERRORS, {"query": "race_ethnicity"}),
    ]
    for tab, choice in choices:
        ask(run, tab, grown, **choice)
    run.add_trial(9)
    for tab, choice in choices:
        one, other = ask(run, tab, grown, **choice), ask(run, tab, **choice)
        assert picture_of(one) == picture_of(other)
        assert one.headline == other.headline
        assert one.headline.trials == 4


def picture_of(answer):
    """The rows of an answer of errors, bias, criterion or worst units."""
    match answer.request.tab:
        case TopDownTab.BIAS:
            return bias_rows(answer.content, "people")
        case TopDownTab.CRITERION:
            return criterion_rows(answer.content)
        case TopDownTab.WORST:
            return worst_rows(answer.content, "people")
        case TopDownTab.ERRORS:
            return error_rows(answer.content, answer.request.choice, "people")


def test_that_bias_is_raised_where_people_were_added(run):
    run.add_trial()
    run.add_trial()
    answer = ask(run, TopDownTab.BIAS, level="Block", query="total")
    rows = bias_rows(answer.content, "people")
    assert all(row.value >= 0 for row in rows.marks)
    assert float(np.dot(answer.content.bias.bias, answer.content.bias.numbers)) == pytest.approx(
        (run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7].size
    )


def test_that_a_bias_within_chance_is_not_a_finding(run):
    for _ in range(3):
        run.add_trial()
    content = ask(run, TopDownTab.BIAS, level="Block", query="total").content
    assert "raised" in bias_rows(content, "people").title
    doubtful = replace(content.bias, error_between_trials=np.full(len(content.bias.labels), 1e9))
    assert "two Monte-Carlo errors" in bias_rows(replace(content, bias=doubtful), "people").title


def test_that_too_many_numbers_are_refused_with_the_way_out(run, monkeypatch):
    monkeypatch.setattr("phexplore.systems.topdown.content_reader.MOST_NUMBERS", 10)
    run.add_trial()
    answer = ask(run, TopDownTab.BIAS, level="Block", query="detailed")
    assert "coarser query" in answer.content.reason
    assert bias_rows(answer.content, "people").summary == answer.content.reason
    errors = ask(run, TopDownTab.SHAPE, level="Block", query="detailed").content
    assert errors.levels[-1].errors.total == BLOCKS * run.population.schema.cells


def test_that_the_criterion_holds_every_level_with_its_interval(run):
    run.add_trial()
    answer = ask(run, TopDownTab.CRITERION, level="Block_Group")
    rows = criterion_rows(answer.content)
    assert rows.under[0].x == 95.0
    assert [row.key for row in rows.marks if row.key] == list(answer.offer.levels)
    assert all(0 <= row.low <= row.value <= row.high <= 100 for row in rows.marks if row.value is not None)
    assert reliable_tile(answer.headline).caption == "Reliable from"
    assert topdown_headline_tile(answer.headline).value.endswith("%")


def test_that_the_worst_units_come_first_with_a_reason(run):
    run.add_trial(30)
    answer = ask(run, TopDownTab.WORST, level="Block", by=WorstBy.TOTAL)
    errors = [place.unit.error for place in answer.content.places]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == 30
    rows = worst_rows(answer.content, "people")
    assert rows.marks[0].key in run.population.geoids.tolist()
    assert rows.title == answer.content.places[0].sentence


def test_that_one_place_shows_truth_and_every_trial(run):
    run.add_trial()
    run.add_trial(2)
    block = int(((run.truth.starts[1:] > run.truth.starts[:-1]).nonzero()[0][::7])[0])
    code = str(run.population.geoids[block])
    answer = ask(run, TopDownTab.PLACE, level="Block", unit=code)
    part = run.truth.part(block, block + 1)
    assert int(answer.content.truth.sum()) == part.total
    assert answer.content.published.sum(axis=1).tolist() == [part.total + 1, part.total + 2]
    rows = place_rows(answer.content, "people")
    assert f"Block {code}" in rows.title
    missing = ask(run, TopDownTab.PLACE, level="Block", unit="999")
    assert "no unit '999'" in missing.content.reason


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
    answer = ask(run, TopDownTab.MAP, level="Tract", shapes=str(path))
    picture = map_picture(answer.content, "people")
    assert len(picture.patches) == 50
    assert {len(piece.key) for piece in picture.patches} == {11}
    assert np.isfinite([piece.value for piece in picture.patches]).all()
    shares = ask(run, TopDownTab.MAP, level="Tract", shapes=str(path), value=MapValue.SHARE)
    assert not map_picture(shares.content, "people").tint.is_signed
    nothing = ask(run, TopDownTab.MAP, level="Tract")
    assert "Choose a file of shapes" in map_picture(nothing.content, "people").summary


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "no JSON"),
        (b'{"type": "FeatureCollection", "features": []}', "no features"),
        (b'{"features": [{"properties": {}, "geometry": {}}]}', "no code"),
        (
            b'{"features": [{"properties": {"geoid": "1"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}]}',
            "polygon",
        ),
        (
            b'{"features": [{"properties": {"geoid": "1"}, "geometry": {"type": "Polygon", "coordinates": [["x"]]}}]}',
            "pairs of degrees",
        ),
    ],
)
def test_that_wrong_shapes_are_refused_by_feature(tmp_path, content, reason):
    path = tmp_path / "shapes.geojson"
    path.write_bytes(content)
    with pytest.raises(InputProblemsError, match=reason):
        read_outlines(path)


def test_that_the_reader_process_answers_and_refuses(run, tmp_path):
    run.add_trial()
    reader = Readers(lambda _said: None)
    answer = reader.answer(RunRequest(run.directory))
    assert answer.trials == 1
    copied = tmp_path / "frames"
    copied.write_bytes(frame(answer))
    with copied.open("rb") as stream:
        assert read_frame(stream).trials == 1
    with pytest.raises(PhexploreError):
        reader.answer(RunRequest(tmp_path))


class Direct(QObject):
    """Answers at once, in this process."""

    answered = Signal(object)
    failed = Signal(object)

    def __init__(self):
        super().__init__()
        self._reader = TopDownRunReader()

    def request(self, request):
        try:
            self.answered.emit(self._reader.answer(request))
        except PhexploreError as error:
            self.failed.emit(error)

    def stop(self):
        """Nothing runs."""


@pytest.fixture
def page(qtbot, run):
    run.add_trial()
    desk = RunController(run.directory.parent)
    qtbot.waitUntil(lambda: bool(desk.rows))
    found = ResultsPage(desk, TOPDOWN, service=Direct())
    qtbot.addWidget(found)
    found.resize(1000, 700)
    found.show()
    qtbot.waitUntil(lambda: found.answer is not None)
    yield found
    found.stop()
    desk.shut_down()


def test_that_every_picture_is_filled(page):
    for tab in TOPDOWN.results.tabs:
        page.show_tab(tab.id)
        assert page.answer.request.tab == tab.id
        assert page.charts[tab.id].is_empty == (
            tab.id in {"map", "path", "compare"}
        )  # no shapes, nothing kept, one run


def chosen(page, name):
    return page.choosers.fields[name].currentData()


def test_that_each_picture_has_its_own_best_query_until_one_is_chosen(page):
    page.show_tab("errors")
    assert chosen(page, "query") == "total"
    page.show_tab("place")
    fields = sorted(
        (f.mapTo(page, f.rect().topLeft()).x(), name) for name, f in page.choosers.fields.items() if f.isVisible()
    )
    assert [name for _x, name in fields] == ["level", "query", "unit"]
    assert chosen(page, "query") == "race_ethnicity"
    field = page.choosers.fields["query"]
    field.setCurrentIndex(field.findData("hispanic"))
    assert chosen(page, "query") == "hispanic"
    page.show_tab("errors")
    assert chosen(page, "query") == "hispanic"


def test_that_a_worst_unit_is_looked_into(page):
    page.show_tab("worst")
    code = page.charts["worst"].marks[0].key
    page.charts["worst"].key_activated.emit(code)
    assert page.tab == "place"
    assert page.choosers.fields["unit"].text() == code


def test_that_a_level_is_looked_into_and_leaves_no_unit_of_another(page):
    page.show_tab("place")
    page.choosers.fields["unit"].setText("44001")
    page.choosers.fields["unit"].returnPressed.emit()
    assert page.choices == {"unit": "44001"}
    level = page.choosers.fields["level"]
    level.setCurrentIndex(level.findData("State"))
    assert page.choices == {"level": "State"}
    page.show_tab("errors")
    page.charts["errors"].key_activated.emit("County")
    assert page.tab == "shape"
    assert chosen(page, "level") == "County"


def test_that_a_new_trial_grows_the_picture(page, run):
    page.show_tab("shape")
    assert page.answer.trials == 1
    run.add_trial(3)
    page._on_progress(run.directory)
    assert page.answer.trials == 2
    assert page.tiles[3].accessibleName().startswith("Trials: 2")
