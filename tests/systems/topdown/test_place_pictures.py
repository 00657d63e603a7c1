"""One place of a TopDown run: true, measured and published at its level and at every level above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from silent_watch import SilentWatch
from topdown_runs import ask as ask_reader
from topdown_runs import records

from phexplore.data.blocks.generator import synthesize_blocks, write_block_file
from phexplore.figures.wording import people
from phexplore.runs.spec import RunMode, RunSpec, describe_blocks
from phexplore.runs.store import close_run, prepare_directory, trial_file
from phexplore.spine.building import build_spine
from phexplore.spine.description import class_entities
from phexplore.spine.geography_reading import read_geography
from phexplore.spine.settings import settings_for
from phexplore.systems.registry import preset
from phexplore.systems.topdown.area_names import area_name
from phexplore.systems.topdown.measurements import measurement_file
from phexplore.systems.topdown.open_run import NOT_KEPT, TopDownRun, measured_noise, written_sigma
from phexplore.systems.topdown.reprocessing import reprocess_measurements
from phexplore.systems.topdown.run_choice import EVERY_QUERY
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.simulation import make_simulation
from phexplore.systems.topdown.spine_forecast import Fit, forecast_spine
from phexplore.workload.schema import load_schema

SCENARIO = preset("pl94-2020-persons-us").scenario


def make(directory, spec):
    prepare_directory(directory, spec)
    simulation = make_simulation(spec, directory)
    simulation.prepare(SilentWatch())
    for index in range(spec.trials):
        simulation.write_trial(index, directory / trial_file(index))
    close_run(directory, spec.identity)
    return directory


def with_towns(population):
    """The same blocks, every other one of a county in a town."""
    towns = [geoid[:5] + ("05140" if number % 2 else "") for number, geoid in enumerate(population.geoids.tolist())]
    return replace(population, places={"cousub": np.array([town if len(town) > 5 else "" for town in towns])})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of 400 synthetic blocks in 16 cells: one that kept its answers, one that did not."""
    found = tmp_path_factory.mktemp("runs")
    write_block_file(with_towns(synthesize_blocks(400, 5)), found / "blocks.csv.gz")
    data = describe_blocks(found / "blocks.csv.gz")
    make(found / "kept", RunSpec(SCENARIO, data, 2, 1, options=TopDownOptions(keep_measurements=True)))
    make(found / "plain", RunSpec(SCENARIO, data, 2, 1, options=TopDownOptions()))
    return found


def ask(directory, tab, **choice):
    answer = ask_reader(directory, tab, **choice)
    assert answer.problems == ()
    return answer


def path_of(directory, **choice):
    """The rows of the data table of all measurements on the way to a block."""
    return records(ask(directory, "path", level="Block", **choice).picture)


def numbers(row, what):
    """The numbers of a row by trial, e.g. what was measured."""
    return tuple(value for name, value in row.items() if name.startswith(f"{what}, trial"))


def busy_block(folder):
    population = synthesize_blocks(400, 5)
    return str(population.geoids[int(np.diff(population.starts).argmax())])


def test_that_the_measurements_lead_from_the_root_to_the_place(folder):
    answer = ask(folder / "kept", "path", level="Block", unit=busy_block(folder))
    query = next(each for each in answer.choosers if each.id == "query")
    assert query.options[0].value == query.chosen == EVERY_QUERY
    lines = records(answer.picture)
    levels = list(dict.fromkeys(line["Level"] for line in lines))
    assert levels[0] == "State"
    assert levels == [level for level in ("State", "County", "Tract", "Block group", "Block") if level in levels]
    assert {len(numbers(line, what)) for line in lines for what in ("Measured", "Published")} == {2}
    errors = np.array([(line["Measured, trial 1"] - line["True"]) / line["σ"] for line in lines])
    # Hundreds of noises: their mean square lies within 0.5 of 1 except once in many thousand seeds.
    assert abs((errors**2).mean() - 1) < 0.5
    total = next(line for line in lines if (line["Level"], line["Query"]) == ("State", "total"))
    assert total["True"] == synthesize_blocks(400, 5).total == total["Published, trial 1"]  # published exactly
    assert total["Blocks"] == 400


def test_that_published_counts_of_every_level_are_sums_of_the_trial(folder):
    code = busy_block(folder)
    lines = path_of(folder / "kept", unit=code, query="total")
    picture = ask(folder / "kept", "place", level="Block", unit=code, query="total").picture
    (own,), (row,) = records(picture), picture.marks
    blocks = [line for line in lines if line["Level"] == "Block"]
    assert blocks
    assert {line["Query"] for line in lines} == {"total"}
    for line in blocks:
        assert line["True"] == own["True"]
        assert numbers(line, "Published") == numbers(own, "Published")
        assert numbers(line, "Measured") == numbers(own, "Measured")
        assert row.high - line["True"] == pytest.approx(1.645 * line["σ"])


def test_that_the_picture_says_true_measured_and_published(folder):
    code = busy_block(folder)
    picture = ask(folder / "kept", "path", level="Block", unit=code).picture
    assert "were measured as" in picture.title
    assert all(len(row.crosses) == 2 for row in picture.marks)
    first, line = picture.marks[0], records(picture)[0]
    assert first.crosses == tuple(each - line["True"] for each in numbers(line, "Measured"))
    assert first.dots == tuple(each - line["True"] for each in numbers(line, "Published"))
    low, high = picture.x_range
    assert low == -high  # 0 is in the middle
    place = ask(folder / "kept", "place", level="Block", unit=code, query="total").picture
    assert "crosses measured in 2 trials" in place.summary
    assert "measured " in place.marks[0].tip


def test_that_the_most_lines_are_said_and_no_level_or_query_is_left_out(folder, monkeypatch):
    code = busy_block(folder)
    everything = path_of(folder / "kept", unit=code)
    groups = {(line["Level"], line["Query"]) for line in everything}
    monkeypatch.setattr("phexplore.systems.topdown.place_pictures.MOST_LINES", 2 * len(groups))
    picture = ask(folder / "kept", "path", level="Block", unit=code).picture
    lines = records(picture)
    assert len(lines) <= 2 * len(groups)
    assert {(line["Level"], line["Query"]) for line in lines} == groups
    left_out = len(everything) - len(lines)
    assert left_out > 0
    assert f"{left_out:,} further answers, the smallest ones, are not listed" in picture.summary


def test_that_a_run_that_kept_nothing_says_how_to_keep_them(folder):
    assert ask(folder / "plain", "path").picture.summary == NOT_KEPT
    assert not any(row.crosses for row in ask(folder / "plain", "place").picture.marks)


def test_that_a_run_that_post_processes_again_shows_the_answers_it_got(folder):
    data = describe_blocks(folder / "blocks.csv.gz")
    method = replace(SCENARIO.topdown, passes={})
    spec = reprocess_measurements(
        replace(SCENARIO, method=method), folder / "kept", data, trials=1, options=TopDownOptions()
    )
    make(folder / "again", spec)
    first, other = (
        {
            (line["Level"], line["Query"], line["Answer"]): line["Measured, trial 1"]
            for line in path_of(folder / name, unit=busy_block(folder))
        }
        for name in ("kept", "again")
    )
    assert first == other


def test_that_a_lost_file_is_named_and_unknown_places_too(folder):
    path = measurement_file(folder / "kept", 0, "State")
    hidden = path.with_suffix(".away")
    path.rename(hidden)
    picture = ask(folder / "kept", "path", level="Block").picture
    hidden.rename(path)
    assert "State.parquet cannot be read" in picture.summary
    assert "is called '999'" in ask(folder / "kept", "path", level="Block", unit="999").picture.summary


def test_that_a_town_shows_its_margin_before_and_its_error_after(folder):
    population = with_towns(synthesize_blocks(400, 5))
    code = next(str(code) for code in np.unique(population.places["cousub"]) if code)
    inside = population.places["cousub"] == code
    answer = ask(folder / "kept", "place", unit=code, query="total")
    (row,), (mark,) = records(answer.picture), answer.picture.marks
    assert row["True"] == int(population.totals()[inside].sum())
    errors = np.array([value - row["True"] for value in numbers(row, "Published")])
    held = int(
        (np.abs(errors) <= row["Margin before"]).sum()
    )  # like beside like: no root mean square beside a margin of 90 %
    assert answer.picture.title.endswith(f" in {held} of {len(errors)} trials")
    assert f" on average (error {people(row['Error after, root mean square'])}), within" in answer.picture.title
    assert mark.high > row["True"]
    whole = ask(folder / "kept", "place", unit=code, query="race_ethnicity")
    assert answer.picture.title.partition(",")[2] == whole.picture.title.partition(",")[2]  # of the total in both
    assert [each.chosen for each in whole.choosers if each.id == "unit"] == [code]


@pytest.mark.parametrize("tab", ["place", "path", "tables"])
def test_that_the_place_first_shown_is_named_in_its_field(folder, tab):
    (field,) = (each for each in ask(folder / "kept", tab).choosers if each.id == "unit")
    assert field.words == area_name("Block_Group" if tab != "tables" else "State", str(field.chosen), {})
    assert field.words
    found = ask(folder / "kept", tab, unit=field.words)  # what the field shows can be typed
    assert [each.chosen for each in found.choosers if each.id == "unit"] == [field.chosen]


def predicted(folder, kind, code, query):
    """The predicted margins of an area, for the 16 cells of the data."""
    geography = read_geography(folder / "blocks.csv.gz")
    spine = build_spine(geography, settings_for(SCENARIO.topdown))
    schema = load_schema("pl94_reduced16")
    found = forecast_spine(
        spine, SCENARIO.topdown, SCENARIO.conventions, queries=[query], onto=schema, fit=Fit.TOP_DOWN
    )
    margins = float(found.z) * np.sqrt(found.of_class(kind))
    return margins[class_entities(spine, kind).codes.tolist().index(code)]


def test_that_margins_before_are_those_of_the_schema_that_was_run(folder):
    code = np.unique([geoid[:12] for geoid in synthesize_blocks(400, 5).geoids.tolist()])[0]
    picture = ask(folder / "plain", "place", unit=code, query="total").picture
    (row,) = records(picture)
    (margin,) = predicted(folder, "block_group", code, "total")
    assert row["Margin before"] == pytest.approx(margin)
    assert row["Margin before"] == pytest.approx(picture.marks[0].high - row["True"])
    assert f"within the predicted ±{margin:.3g} in " in picture.title
    assert "predicted for the run's data, which have fewer cells" in picture.summary


def test_that_each_group_of_a_town_has_its_own_margin_before_and_its_own_error_after(folder):
    population = with_towns(synthesize_blocks(400, 5))
    code = next(str(code) for code in np.unique(population.places["cousub"]) if code)
    rows = records(ask(folder / "plain", "place", unit=code, query="race_ethnicity").picture)
    margins = {row["Answer"]: row["Margin before"] for row in rows}
    known = predicted(folder, "cousub", code, "race_ethnicity")
    assert sorted(set(np.round(list(margins.values()), 6))) == pytest.approx(sorted(set(np.round(known, 6))))
    assert margins["Hispanic or Latino"] != margins["Not Hispanic, White alone"]
    for row in rows:
        errors = np.array([value - row["True"] for value in numbers(row, "Published")])
        assert row["Error after, root mean square"] == pytest.approx(np.sqrt((errors**2).mean()))


def test_that_noise_of_the_spines_own_units_is_not_shown_of_tabulated_ones(folder):
    """A block group of the optimised spine is measured; the tabulated one is made up of several, in part."""
    run = TopDownRun(folder / "plain")
    code = str(run.codes("Block_Group")[0])
    (mark,) = ask(folder / "plain", "place", unit=code, query="total").picture.marks
    sigma = written_sigma(measured_noise(run, "Block_Group", run.query("total")))
    assert mark.high - mark.tick > 2 * 1.645 * sigma


def test_that_a_run_without_noise_has_no_margin_before(folder, tmp_path):
    spec = RunSpec(SCENARIO, describe_blocks(folder / "blocks.csv.gz"), 1, None, RunMode.NO_NOISE)
    make(tmp_path / "exact", spec)
    picture = ask(tmp_path / "exact", "place", query="total").picture
    assert "predicted" not in picture.title
    assert "Margin before" not in picture.table.headers
