"""TopDown runs that are estimated state by state: the same counts and figures as in one tree, in less memory."""

import gzip
import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from silent_watch import SilentWatch
from topdown_runs import SCENARIO, ask, records

from phexplore.data.blocks.generator import block_file, synthesize_states, write_block_file
from phexplore.data.blocks.nation_generator import StatePlan, plan_nation, synthesize_state
from phexplore.data.blocks.source import read_population
from phexplore.data.blocks.states import lines_and_states, populations_of
from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError
from phexplore.runs.events import INSIDE
from phexplore.runs.place import Place, memory_words, read_memory
from phexplore.runs.run_files import read_mark
from phexplore.runs.spec import RunMode, RunSpec, describe_blocks
from phexplore.runs.store import (
    FACILITIES_FILE,
    SUMMARY_FILE,
    TRUTH_FILE,
    prepare_directory,
    present_trials,
    remove_leftovers,
    remove_run_files,
    trial_file,
)
from phexplore.runs.writing import write_json, writing
from phexplore.simulate.topdown import by_state
from phexplore.spine.settings import SpineSettings, choice_of
from phexplore.systems.run_results import RunRequest
from phexplore.systems.topdown import streaming
from phexplore.systems.topdown.error_pictures import criterion_figure, error_figure
from phexplore.systems.topdown.facilities import read_facilities
from phexplore.systems.topdown.open_run import TopDownRun
from phexplore.systems.topdown.presets import topdown_presets
from phexplore.systems.topdown.release import trial_directory
from phexplore.systems.topdown.results import TopDownResults
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.run_files import open_leaf_files
from phexplore.systems.topdown.run_options import Estimator, KeptAnswers, Mechanism, PoolLeaves, TopDownOptions
from phexplore.systems.topdown.run_reader import TopDownRunReader
from phexplore.systems.topdown.simulation import TopDownSimulation, make_simulation
from phexplore.systems.topdown.state_store import BASE_BYTES, READ_BYTES, Room
from phexplore.systems.topdown.state_workers import StateWorkers
from phexplore.systems.topdown.streaming import StreamedSimulation
from phexplore.workload.schema import load_schema

SMALL = Place(memory=BASE_BYTES + 300 * READ_BYTES)
"""Enough for the largest of the states, less than all of them take."""
STATES = ("04", "25", "35", "44")
EXPANDED = TopDownOptions(expand=5)
UNITS = replace(SCENARIO, method=topdown_presets()["pl94-2020-units-us"].scenario.method)
STANDARD = replace(SCENARIO, method=replace(SCENARIO.method, spine=choice_of(SpineSettings())))
POOLED = TopDownOptions(expand=5, estimator=Estimator.POOLED, pool_leaves=PoolLeaves.YES)
POOLED_ABOVE = replace(POOLED, pool_leaves=PoolLeaves.NO)


@pytest.fixture(scope="module")
def nation():
    return synthesize_states(600, 1, STATES, tribal=0.2)


@pytest.fixture(scope="module")
def folder(nation, tmp_path_factory):
    """One block file per state."""
    place = tmp_path_factory.mktemp("states")
    states = nation.geoids.astype("U2")
    for state in STATES:
        first, last = np.searchsorted(states, state), np.searchsorted(states, state, side="right")
        write_block_file(nation.part(int(first), int(last)), place / f"{state}.csv.gz")
    return place


@pytest.fixture(scope="module")
def together(nation, tmp_path_factory):
    """All states in one file."""
    path = tmp_path_factory.mktemp("nation") / "blocks.csv"
    write_block_file(nation, path)
    return path


def spec_of(data, scenario=SCENARIO, **changes):
    return RunSpec(scenario, describe_blocks(data), 1, 1, **{"options": EXPANDED, **changes})


def begin(directory, spec, place):
    prepare_directory(directory, spec)
    simulation = make_simulation(spec, directory, place)
    simulation.prepare(SilentWatch())
    return simulation


def draw(simulation, directory, index=0):
    with writing(directory / trial_file(index)) as part:
        return simulation.write_trial(index, part)


def run(directory, spec, place=SMALL):
    simulation = begin(directory, spec, place)
    draw(simulation, directory)
    return simulation.finish((0,), SilentWatch())


def counts_of(directory, name="trial-00000.parquet"):
    """Return codes, cells and counts of a run's file, or of its folder."""
    path = directory / name
    if path.is_dir():
        table = pq.read_table(path)
        cells = np.concatenate([np.array(row, np.int64) for row in table.column("cells").to_pylist()])
        counts = np.concatenate([np.array(row, np.int64) for row in table.column("counts").to_pylist()])
        return table.column("geoid").to_pylist(), cells.tolist(), counts.tolist()
    files = open_leaf_files(path, load_schema("pl94_persons"))
    found = files.read(path)
    return files.geoids.tolist(), found.cells.tolist(), found.counts.tolist()


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """The run with everything in memory."""
    directory = tmp_path_factory.mktemp("whole")
    return directory, run(directory, spec_of(folder), Place())


@pytest.fixture(scope="module")
def parts(folder, tmp_path_factory):
    directory = tmp_path_factory.mktemp("parts")
    return directory, run(directory, spec_of(folder))


class TestSameBits:
    def test_that_the_states_one_by_one_have_the_counts_of_the_whole_tree(self, whole, parts):
        assert counts_of(parts[0]) == counts_of(whole[0])
        assert counts_of(parts[0], "truth.parquet") == counts_of(whole[0], "truth.parquet")

    def test_that_every_figure_of_the_summary_is_the_same(self, whole, parts):
        assert parts[1] == whole[1]
        assert parts[1]["checks"] == dict.fromkeys(
            ("budget_spent_equals_declared", "sums", "invariants", "structural_zeros", "non_negativity"), True
        )

    def test_that_the_marks_count_the_same_families_and_numbers(self, whole, parts):
        marks = [read_mark(each / trial_file(0)) for each in (whole[0], parts[0])]
        for name in ("covered", "numbers", "checks", "failsafe", "families"):
            assert marks[0][name] == marks[1][name]

    def test_that_workers_and_one_file_for_all_change_nothing(self, parts, together, folder, tmp_path):
        one, other = tmp_path / "one", tmp_path / "other"
        assert run(one, spec_of(together)) == parts[1]
        assert run(other, spec_of(folder, workers=2)) == parts[1]
        assert counts_of(one) == counts_of(other) == counts_of(parts[0])
        names = sorted(path.name for path in (parts[0] / trial_file(0)).glob("*.parquet"))
        for name in names:
            files = [(each / trial_file(0) / name).read_bytes() for each in (one, other, parts[0])]
            assert files[0] == files[1] == files[2]

    @pytest.mark.parametrize("options", [POOLED, POOLED_ABOVE], ids=["leaves", "above"])
    def test_that_pooled_answers_are_those_of_the_whole_tree(self, folder, tmp_path, options):
        spec = spec_of(folder, options=options)
        assert run(tmp_path / "parts", spec) == run(tmp_path / "whole", spec, Place())
        assert counts_of(tmp_path / "parts") == counts_of(tmp_path / "whole")

    def test_that_housing_units_keep_their_number_in_every_block_and_so_in_both_parts_of_a_state(
        self, folder, tmp_path
    ):
        spec = spec_of(folder, UNITS)
        found = run(tmp_path / "parts", spec)
        assert found == run(tmp_path / "whole", spec, Place())
        assert (found["checks"]["invariants"], found["failsafe"]) == (True, 0)
        assert [level["broken"] for level in found["broken_totals"].values()] == [0] * 6

    def test_that_exact_measurements_give_the_data_back(self, folder, tmp_path):
        run(tmp_path, replace(spec_of(folder), mode=RunMode.NO_NOISE, seed=0))
        assert counts_of(tmp_path) == counts_of(tmp_path, "truth.parquet")

    def test_that_the_standard_spine_is_streamed_too(self, folder, tmp_path):
        spec = spec_of(folder, scenario=STANDARD)
        assert run(tmp_path / "parts", spec) == run(tmp_path / "whole", spec, Place())
        assert counts_of(tmp_path / "parts") == counts_of(tmp_path / "whole")


class TestResuming:
    def test_that_finished_states_are_not_estimated_again(self, folder, parts, tmp_path, monkeypatch):
        simulation = begin(tmp_path, spec_of(folder), SMALL)
        seen = []

        def dies(task, on_progress=None):
            if len(seen) == 2:
                raise PhexploreError("killed")
            seen.append(task.data.code)
            return by_state.estimate_state(task, on_progress)

        monkeypatch.setattr(StateWorkers.each, "__defaults__", (dies,))
        with pytest.raises(PhexploreError):
            draw(simulation, tmp_path)
        monkeypatch.undo()
        assert present_trials(tmp_path) == ()
        remove_leftovers(tmp_path)
        again = []

        def counted(task, on_progress=None):
            again.append(task.data.code)
            return by_state.estimate_state(task, on_progress)

        monkeypatch.setattr(StateWorkers.each, "__defaults__", (counted,))
        simulation = begin(tmp_path, spec_of(folder), SMALL)
        draw(simulation, tmp_path)
        assert sorted(seen + again) == list(STATES)
        assert simulation.finish((0,), SilentWatch()) == parts[1]
        assert counts_of(tmp_path) == counts_of(parts[0])

    def test_that_states_of_an_unseeded_trial_go_on_from_the_same_counties(self, folder, tmp_path, monkeypatch):
        spec = replace(spec_of(folder), seed=None)
        simulation = begin(tmp_path, spec, SMALL)
        seen = []

        def dies(task, on_progress=None):
            if seen:
                raise PhexploreError("killed")
            seen.append(task.data.code)
            return by_state.estimate_state(task, on_progress)

        monkeypatch.setattr(StateWorkers.each, "__defaults__", (dies,))
        with pytest.raises(PhexploreError):
            draw(simulation, tmp_path)
        monkeypatch.undo()
        simulation = begin(tmp_path, spec, SMALL)
        draw(simulation, tmp_path)
        assert simulation.finish((0,), SilentWatch())["checks"]["sums"] is True

    def test_that_an_altered_state_is_estimated_again(self, folder, parts, tmp_path):
        unfinished = tmp_path / f"{trial_file(0)}.part"
        simulation = begin(tmp_path, spec_of(folder), SMALL)
        shutil.copytree(parts[0] / trial_file(0), unfinished)
        shutil.copy(parts[0] / "truth.parquet" / "44.parquet", unfinished / "44.parquet")
        draw(simulation, tmp_path)
        assert counts_of(tmp_path) == counts_of(parts[0])

    def test_that_a_finished_trial_is_read_and_summed_up_again(self, folder, parts, tmp_path):
        shutil.copytree(parts[0], tmp_path, dirs_exist_ok=True)
        simulation = begin(tmp_path, spec_of(folder), Place())
        assert isinstance(simulation, StreamedSimulation), "what began by state goes on by state"
        assert simulation.read_figures(tmp_path / trial_file(0)).numbers > 0
        assert simulation.finish((0,), SilentWatch()) == parts[1]

    def test_that_removing_a_run_removes_its_folders(self, parts, tmp_path):
        shutil.copytree(parts[0], tmp_path, dirs_exist_ok=True)
        remove_run_files(tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_that_the_bar_is_of_all_trials(self, folder, parts, tmp_path):
        spec, watch, states = replace(spec_of(folder), trials=3), SilentWatch(), len(STATES)
        simulation = make_simulation(spec, prepare_directory(tmp_path / "run", spec), SMALL)
        shutil.copytree(parts[0] / trial_file(0), tmp_path / "run" / trial_file(0))
        simulation.prepare(watch)
        watch.moved.clear()
        for index in (1, 2):
            draw(simulation, tmp_path / "run", index)
        done = [*range(states, 2 * states + 1), *range(2 * states, 3 * states + 1)]
        assert sorted({*watch.moved}) == [(INSIDE, each, 3 * states) for each in sorted({*done})]
        assert [each for _phase, each, _total in watch.moved] == sorted(each for _phase, each, _total in watch.moved)


class TestChoice:
    def test_that_data_that_fit_are_estimated_as_a_whole_unless_they_are_many(self, folder, tmp_path, monkeypatch):
        assert isinstance(make_simulation(spec_of(folder), tmp_path), TopDownSimulation)
        monkeypatch.setattr(streaming, "WORTH_STATES", 600)
        assert isinstance(make_simulation(spec_of(folder), tmp_path), StreamedSimulation)
        kept = spec_of(folder, options=replace(EXPANDED, keep_measurements=KeptAnswers.YES))
        assert isinstance(make_simulation(kept, tmp_path), TopDownSimulation)

    @pytest.mark.parametrize(
        "options",
        [replace(EXPANDED, mechanism=Mechanism.BLOCK_BY_BLOCK), replace(EXPANDED, keep_measurements=KeptAnswers.YES)],
        ids=["leaves alone", "answers kept"],
    )
    def test_that_what_needs_the_whole_tree_gets_it_or_is_refused(self, folder, tmp_path, options, monkeypatch):
        with pytest.raises(PhexploreError, match="600 blocks"):
            make_simulation(spec_of(folder, options=options), tmp_path, SMALL)
        monkeypatch.setattr(streaming, "USUAL_MEMORY", SMALL.memory)
        assert isinstance(make_simulation(spec_of(folder, options=options), tmp_path), TopDownSimulation)

    def test_that_a_state_beyond_the_memory_is_refused_before_anything_is_computed(self, folder, together, tmp_path):
        for data in (folder, together):
            with pytest.raises(PhexploreError, match="state 04"):
                make_simulation(spec_of(data), tmp_path, Place(memory=BASE_BYTES + READ_BYTES))
        assert not list(tmp_path.iterdir())

    def test_that_too_little_memory_for_any_run_is_refused(self, folder, tmp_path):
        with pytest.raises(PhexploreError, match="420 MB"):
            make_simulation(spec_of(folder), tmp_path, Place(memory=BASE_BYTES - 1))

    @pytest.mark.parametrize(
        ("text", "size"), [("4G", 4 << 30), ("800m", 800 << 20), ("1.5 GB", 3 << 29), ("512", 512)]
    )
    def test_that_amounts_of_memory_are_read(self, text, size):
        assert read_memory(text) == size
        assert read_memory(memory_words(size)) == size

    @pytest.mark.parametrize("text", ["", "0", "-1G", "4X", "G", "1e9", "٤G", "0.0001K"])
    def test_that_other_texts_are_no_memory(self, text):
        with pytest.raises(ValueError, match="memory"):
            read_memory(text)

    def test_that_states_wait_for_room(self):
        room, order = Room(10), []
        with room.of(50):
            order.append("alone, though too large")
        with room.of(4), room.of(6):
            order.append("together")
        assert len(order) == 2


class TestInput:
    def test_that_a_folder_of_states_is_the_file_of_all(self, folder, together, nation):
        one, other = read_population(folder), read_population(together)
        assert one.geoids.tolist() == other.geoids.tolist() == nation.geoids.tolist()
        assert (one.counts == other.counts).all()
        for name, codes in nation.places.items():
            assert one.places[name].tolist() == other.places[name].tolist() == codes.tolist()

    def test_that_a_file_is_read_state_by_state(self, together):
        assert [each.states for each in populations_of(together)] == [(state,) for state in STATES]

    def test_that_lines_and_states_are_counted_without_reading_them(self, folder, together):
        lines, states = lines_and_states(together)
        assert (lines, set(states), states.total()) == (601, set(STATES), 600)
        assert set(lines_and_states(folder / "25.csv.gz")[1]) == {"25"}

    def test_that_every_member_of_a_packed_file_is_counted(self, together, tmp_path):
        text = together.read_bytes()
        path = tmp_path / "members.csv.gz"
        path.write_bytes(b"".join(gzip.compress(text[start : start + 9973]) for start in range(0, len(text), 9973)))
        assert lines_and_states(path) == lines_and_states(together)

    def test_that_a_state_in_two_places_of_a_file_is_refused(self, nation, tmp_path):
        head, *lines = block_file(nation).decode().splitlines()
        path = tmp_path / "mixed.csv"
        path.write_text("\n".join([head, *lines[300:], *lines[:310]]) + "\n")
        with pytest.raises(InputProblemsError, match="not on consecutive lines"):
            list(populations_of(path))

    def test_that_a_state_in_two_files_is_refused(self, folder, tmp_path):
        for name in ("a.csv.gz", "b.csv.gz"):
            shutil.copy(folder / "44.csv.gz", tmp_path / name)
        with pytest.raises(InputProblemsError, match="one state are in several files"):
            read_population(tmp_path)
        simulation = make_simulation(spec_of(folder), tmp_path / "run", SMALL)
        assert isinstance(simulation, StreamedSimulation)

    @pytest.mark.parametrize("place", [SMALL, Place()], ids=["by state", "as a whole"])
    @pytest.mark.parametrize("method", [SCENARIO.method, STANDARD.method], ids=["optimised", "standard"])
    def test_that_puerto_rico_is_not_put_below_the_us(self, place, method, tmp_path):
        write_block_file(synthesize_states(400, 1, ("44", "72")), tmp_path / "blocks.csv")
        spec = spec_of(tmp_path / "blocks.csv", scenario=replace(SCENARIO, method=method))
        with pytest.raises(PhexploreError, match="Puerto Rico and states"):
            begin(tmp_path / "run", spec, place)

    def test_that_problems_of_a_state_are_listed_with_its_file(self, folder, tmp_path):
        for path in folder.iterdir():
            shutil.copy(path, tmp_path / path.name)
        text = gzip.decompress((tmp_path / "25.csv.gz").read_bytes()).decode().splitlines()
        text[3] = text[3].replace(",", ",-", 1)
        (tmp_path / "25.csv.gz").write_bytes(gzip.compress("\n".join(text).encode()))
        (tmp_path / "run").mkdir()
        data = tmp_path / "data"
        data.mkdir()
        for path in tmp_path.glob("*.csv.gz"):
            shutil.move(path, data / path.name)
        with pytest.raises(InputProblemsError) as caught:
            begin(tmp_path / "run", spec_of(data), SMALL)
        assert caught.value.issues[0].path[0] == "25.csv.gz"


def test_that_the_marks_of_a_folder_are_json(parts):
    assert json.loads((parts[0] / trial_file(0) / "_trial.json").read_text())["failsafe"] == 0


def test_that_nothing_is_left_of_the_states_in_work(parts):
    assert not list(parts[0].glob("*.part"))
    assert streaming.TOP_FILE not in [path.name for path in (parts[0] / trial_file(0)).iterdir()]


class TestReading:
    def test_that_the_page_of_results_reads_the_state_that_was_chosen(self, parts, nation):
        reader = TopDownRunReader()
        for state in ("04", "44"):
            answer = ask(parts[0], "errors", reader, state=state)
            assert answer.picture is not None
            (chooser,) = [each for each in answer.choosers if each.id == "state"]
            assert (chooser.chosen, [option.value for option in chooser.options]) == (state, list(STATES))
            run = reader.open(parts[0])
            inside = nation.geoids.astype("U2") == state
            assert run.files.geoids.tolist() == nation.geoids[inside].tolist()
            assert int(run.people("State")[0]) == int(nation.totals()[inside].sum())

    @pytest.mark.parametrize("tab", ["worst", "place", "bias", "criterion", "shape", "plausible"])
    def test_that_every_picture_can_be_drawn_of_a_state(self, parts, tab):
        assert ask(parts[0], tab, state="25").picture is not None

    def test_that_runs_are_compared_in_the_same_state_and_say_in_which(self, parts, tmp_path):
        other, reader = tmp_path / "other", TopDownRunReader()
        shutil.copytree(parts[0], other)
        ask(other, "errors", reader, state="04")
        picture = ask(parts[0], "compare", reader, [other], state="44", others=(str(other),)).picture
        assert reader.open(other).state == "44"
        assert all("Rhode Island alone" in line["Run"] for line in records(picture))
        assert "Attention" not in picture.summary
        assert ask(parts[0], "bias", reader, state="44").picture.summary.startswith("Rhode Island alone. ")

    def test_that_a_run_of_data_without_facilities_has_none(self, parts, tmp_path):
        run = TopDownRunReader().open(parts[0])
        assert read_facilities(parts[0], run.files.geoids) is not None
        (tmp_path / FACILITIES_FILE).mkdir()  # made before the data of the first state are read
        assert read_facilities(tmp_path, run.files.geoids) is None

    def test_that_a_state_beside_all_of_them_is_not_taken_for_the_same_data(self, parts, whole):
        picture = ask(parts[0], "compare", None, [whole[0]], state="44", others=(str(whole[0]),)).picture
        assert "not all runs have the same data" in picture.summary

    def test_that_all_states_together_are_read_from_the_summary_alone(self, folder, tmp_path):
        directory = tmp_path / "run"
        write_json(directory / SUMMARY_FILE, {"trials": 1, **run(directory, spec_of(folder))})
        whole = TopDownRun(directory)
        whole.refresh()
        for path in (directory / TRUTH_FILE).glob("*.parquet"):
            path.write_bytes(b"")
        answer = TopDownRunReader().answer(RunRequest(directory, "errors", {"query": "detailed"}))
        expected = error_figure(whole, TopDownChoice("County", "detailed"))
        assert [row[:5] for row in answer.picture.table.rows] == [pytest.approx(row[:5]) for row in expected.table.rows]
        judged = TopDownRunReader().answer(RunRequest(directory, "criterion", {}))
        levels = [
            row
            for row in criterion_figure(whole, TopDownChoice("County", "total")).table.rows
            if row[0].startswith("500")
        ]
        assert list(judged.picture.table.rows) == levels

    def test_that_a_report_has_all_states(self, parts, whole):
        found, expected = TopDownResults.open(parts[0]), TopDownResults.open(whole[0])
        assert [tally.broken_totals for tally in found.tallies] == [tally.broken_totals for tally in expected.tallies]
        assert [entry for tally in found.tallies for entry in tally.entries()] == parts[1]["metrics"]


def records_in(path):
    lines = path.read_text().splitlines()
    return [line.split("|") for line in lines if not line.startswith("#")]


def without_number(head, rows):
    """Return records without EPNUM, which counts through a file."""
    return [[value for name, value in zip(head, row, strict=True) if name != "EPNUM"] for row in rows]


@pytest.mark.parametrize(("scenario", "name"), [(SCENARIO, "persons"), (UNITS, "units")])
def test_that_microdata_in_columns_are_the_records_of_the_text(folder, tmp_path, scenario, name):
    spec = spec_of(folder, options=replace(EXPANDED, microdata=True), scenario=scenario)
    run(tmp_path / "parts", spec)
    run(tmp_path / "text", spec_of(folder, options=replace(spec.options, microdata_text=True), scenario=scenario))
    run(tmp_path / "whole", spec, Place())
    head, *text = records_in(trial_directory(tmp_path / "whole", 0) / f"{name}.txt")
    tables = [pq.read_table(trial_directory(tmp_path / "parts", 0) / state / f"{name}.parquet") for state in STATES]
    texts = [records_in(trial_directory(tmp_path / "text", 0) / state / f"{name}.txt") for state in STATES]
    assert tables[0].column_names == head
    found = [map(str, row) for each in tables for row in zip(*(one.to_pylist() for one in each.columns), strict=True)]
    assert without_number(head, found) == without_number(head, text)
    assert without_number(head, [row for each in texts for row in each[1:]]) == without_number(head, text)
    suffixes = {
        part: {file.suffix for file in trial_directory(tmp_path / part, 0).glob("??/tables/*")}
        for part in ("parts", "text")
    }
    assert suffixes == {"parts": {".parquet"}, "text": {".csv"}}


class TestNation:
    def test_that_the_totals_are_those_of_the_spine_of_2020(self):
        plans = plan_nation()
        assert len(plans) == 51
        assert sum(plan.blocks for plan in plans) == 5_892_698
        assert sum(plan.tracts for plan in plans) == 84_589
        assert sum(plan.counties + plan.tribal for plan in plans) == 3_496
        assert len(plans) + sum(plan.tribal > 0 for plan in plans) == 88

    def test_that_a_state_is_made_as_planned_and_again_the_same(self):
        plan = StatePlan("35", 3_000, 60, 7, 3)
        made, again = synthesize_state(plan, 5), synthesize_state(plan, 5)
        assert (made.geoids == again.geoids).all()
        assert (made.counts == again.counts).all()
        assert made.blocks == 3_000
        assert [len(np.unique(made.geoids.astype(f"U{width}"))) for width in (11, 5)] == [60, 7]
        tribal = made.places["aiannh"] != ""
        assert len(np.unique(made.geoids[tribal].astype("U5"))) == 3
        tracts = made.geoids.astype("U11")
        assert not set(tracts[tribal]) & set(tracts[~tribal]), "tribal parts are whole tracts"

    def test_that_too_few_blocks_are_refused(self):
        with pytest.raises(PhexploreError):
            plan_nation(10)
