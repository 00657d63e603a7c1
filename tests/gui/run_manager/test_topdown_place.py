"""One place of a TopDown run: true, measured and published at its level and at every level above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from silent_watch import SilentWatch

from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import close_run, prepare_directory, trial_file
from phexplore.systems.registry import preset
from phexplore.systems.topdown.content_reader import TopDownResultReader
from phexplore.systems.topdown.measurements import measurement_file
from phexplore.systems.topdown.open_run import NOT_KEPT
from phexplore.systems.topdown.place_pictures import path_rows, place_rows
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_contents import EVERY_QUERY, TopDownChoice, TopDownRequest, TopDownTab
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.simulation import make_simulation

SCENARIO = preset("pl94-2020-persons-us").scenario


def make(directory, spec):
    prepare_directory(directory, spec)
    simulation = make_simulation(spec, directory)
    simulation.prepare(SilentWatch())
    for index in range(spec.trials):
        simulation.write_trial(index, directory / trial_file(index))
    close_run(directory, spec.identity)
    return directory


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of 400 synthetic blocks in 16 cells: one that kept its answers, one that did not."""
    found = tmp_path_factory.mktemp("runs")
    write_block_file(synthesize_blocks(400, 5), found / "blocks.csv.gz")
    data = describe_blocks(found / "blocks.csv.gz")
    make(found / "kept", RunSpec(SCENARIO, data, 2, 1, options=TopDownOptions(keep_measurements=True)))
    make(found / "plain", RunSpec(SCENARIO, data, 2, 1, options=TopDownOptions()))
    return found


def ask(directory, tab, **choice):
    answer = TopDownResultReader().answer(TopDownRequest(directory, tab, TopDownChoice(**choice)))
    assert answer.problems == ()
    return answer


def busy_block(folder):
    population = synthesize_blocks(400, 5)
    return str(population.geoids[int(np.diff(population.starts).argmax())])


def test_that_the_measurements_lead_from_the_root_to_the_place(folder):
    code = busy_block(folder)
    answer = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code)
    content = answer.content
    assert answer.offer.queries[0] == answer.request.choice.query == EVERY_QUERY
    levels = list(dict.fromkeys(line.level for line in content.lines))
    assert levels[0] == "State"
    assert levels == [level for level in ("State", "County", "Tract", "Block_Group", "Block") if level in levels]
    assert {len(line.measured) for line in content.lines} == {len(line.published) for line in content.lines} == {2}
    errors = np.array([(line.measured[0] - line.truth) / line.sigma for line in content.lines])
    # Hundreds of noises: their mean square lies within 0.5 of 1 except once in many thousand seeds.
    assert abs((errors**2).mean() - 1) < 0.5
    total = next(line for line in content.lines if (line.level, line.query) == ("State", "total"))
    assert total.truth == synthesize_blocks(400, 5).total == total.published[0]  # published exactly
    assert total.blocks == 400


def test_that_published_counts_of_every_level_are_sums_of_the_trial(folder):
    code = busy_block(folder)
    content = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code, query="total").content
    own = ask(folder / "kept", TopDownTab.PLACE, level="Block", unit=code, query="total").content
    blocks = [line for line in content.lines if line.level == "Block"]
    assert {line.query for line in content.lines} == {"total"}
    for line in blocks:
        assert line.published == tuple(own.published[:, 0].tolist())
        assert line.truth == int(own.truth[0])
        assert line.measured == tuple(own.measured[:, 0].tolist())
        assert own.sigma == pytest.approx(line.sigma)


def test_that_the_picture_says_true_measured_and_published(folder):
    code = busy_block(folder)
    content = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code).content
    picture = path_rows(content, "people")
    assert "were measured as" in picture.title
    assert len(picture.table.rows) == len(content.lines)
    assert {len(row) for row in picture.table.rows} == {len(picture.table.headers)}
    assert all(len(row.crosses) == 2 for row in picture.marks)
    first, line = picture.marks[0], content.lines[0]
    assert first.crosses == tuple(each - line.truth for each in line.measured)
    assert first.dots == tuple(each - line.truth for each in line.published)
    low, high = picture.x_range
    assert low == -high  # 0 is in the middle
    place = ask(folder / "kept", TopDownTab.PLACE, level="Block", unit=code, query="total").content
    rows = place_rows(place, "people")
    assert "crosses measured in 2 trials" in rows.summary
    assert "measured " in rows.marks[0].tip


def test_that_the_most_lines_are_said_and_no_level_or_query_is_left_out(folder, monkeypatch):
    code = busy_block(folder)
    whole = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code).content
    groups = {(line.level, line.query) for line in whole.lines}
    monkeypatch.setattr("phexplore.systems.topdown.place_reader.MOST_LINES", 2 * len(groups))
    content = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code).content
    assert len(content.lines) <= 2 * len(groups)
    assert {(line.level, line.query) for line in content.lines} == groups
    assert content.left_out == len(whole.lines) - len(content.lines) > 0
    assert (
        f"{content.left_out:,} further answers, the smallest ones, are not listed"
        in path_rows(content, "people").summary
    )


def test_that_a_run_that_kept_nothing_says_how_to_keep_them(folder):
    content = ask(folder / "plain", TopDownTab.PATH).content
    assert content.reason == NOT_KEPT
    assert path_rows(content, "people").summary == NOT_KEPT
    assert ask(folder / "plain", TopDownTab.PLACE).content.measured is None


def test_that_a_run_that_post_processes_again_shows_the_answers_it_got(folder):
    data = describe_blocks(folder / "blocks.csv.gz")
    method = replace(SCENARIO.topdown, passes={})
    spec = reprocess_measurements(
        replace(SCENARIO, method=method), folder / "kept", data, trials=1, options=TopDownOptions()
    )
    make(folder / "again", spec)
    code = busy_block(folder)
    first = ask(folder / "kept", TopDownTab.PATH, level="Block", unit=code).content.lines
    other = ask(folder / "again", TopDownTab.PATH, level="Block", unit=code).content.lines
    found = {(line.level, line.query, line.answer): line.measured[0] for line in other}
    assert found == {(line.level, line.query, line.answer): line.measured[0] for line in first}


def test_that_a_lost_file_is_named_and_unknown_places_too(folder):
    path = measurement_file(folder / "kept", 0, "State")
    hidden = path.with_suffix(".away")
    path.rename(hidden)
    content = ask(folder / "kept", TopDownTab.PATH, level="Block").content
    hidden.rename(path)
    assert "State.parquet cannot be read" in content.reason
    assert "no unit '999'" in ask(folder / "kept", TopDownTab.PATH, level="Block", unit="999").content.reason
