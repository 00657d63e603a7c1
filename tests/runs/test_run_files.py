"""Run directories that somebody changed: every system refuses their files with a sentence, and its report is as it was or not at all."""

from __future__ import annotations

import json
import os
import random
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attack.mutations import change_columns
from group_size_runs import run_here as run_group_sizes
from group_size_runs import small_file
from report.run_builder import made_run
from subspace_runs import run_here as run_subspace
from subspace_runs import specification
from topdown_runs import EXPANDED, SCENARIO, spec_of
from topdown_runs import run as run_topdown
from topdown_worlds import blocks

from phexplore.cli.exporting import export_run
from phexplore.data.blocks.generator import write_block_file
from phexplore.decide.comparing import compare, comparison_json, run_compared
from phexplore.errors import PhexploreError
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PhSafe
from phexplore.model.rules import Bound, Measure, Rule
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown
from phexplore.runs.confidentiality import is_confidential
from phexplore.runs.events import Failed, Note, decode
from phexplore.runs.lock import LOCK_FILE
from phexplore.runs.store import (
    EVENTS_FILE,
    MANIFEST_FILE,
    SUMMARY_FILE,
    TRUTH_FILE,
    RunUnreadableError,
    close_run,
    confirm_counts,
    describe_run,
    load_events,
    load_spec,
    load_summary,
    sha256_of,
    trial_file,
    verify_run,
)
from phexplore.runs.writing import write_json
from phexplore.systems.group_sizes.run_files import read_sizes, read_tree
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.truncation_sources import states_in_run
from phexplore.systems.phsafe.truncation_study import StudyError, sizes_of_run
from phexplore.systems.registry import preset, system_of
from phexplore.systems.run_results import RunRequest
from phexplore.systems.subspace.run_reader import ReleaseRun
from phexplore.systems.topdown.results import TopDownResults

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SYSTEMS = ("phsafe", "topdown", "group sizes", "subspace")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of every system."""
    home = tmp_path_factory.mktemp("runs")
    made_run(home / "phsafe", preset("sdhc-2020-us").scenario, trials=2)
    write_block_file(blocks(), home / "blocks.csv")
    summary = run_topdown(home / "topdown", spec_of(home / "blocks.csv", SCENARIO, options=EXPANDED))
    write_json(home / "topdown" / SUMMARY_FILE, {**summary, "seconds": {"trials": 1.5}})
    _, groups = small_file(home, np.random.default_rng(1))
    run_group_sizes(home / "group sizes", groups, trials=2)
    run_subspace(home / "subspace", specification(trials=2))
    return home


def reported(run, out, form="csv"):
    """Return why there is no report of a run, "" where there is one."""
    try:
        export_run(run, form, out)
    except PhexploreError as error:
        return str(error)
    return ""


def looked_at(run):
    """Return why the tables of a run cannot be read, "" where they can."""
    try:
        match load_spec(run).scenario.method:
            case PhSafe():
                results = RunResults.open(run)
                results.errors()
                return " ".join(issue.sentence for issue in results.problems)
            case TopDown():
                found = TopDownResults.open(run)
                for name in (TRUTH_FILE, trial_file(0)):
                    found.run.files.read(run / name)
            case Subspace():
                releases = ReleaseRun(run)
                releases.refresh()
                return "".join(releases.problems)
            case GroupSizes():
                tree, largest = read_tree(run / TRUTH_FILE)
                read_sizes(run / TRUTH_FILE, tree, largest)
                read_sizes(run / trial_file(0), tree, largest)
    except PhexploreError as error:
        return str(error)
    return ""


def again(path, table):
    pq.write_table(table, path)


def with_type(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


def changes(table):
    """Yield the name of a change and a changed table."""
    rows = table.num_rows
    for name in dict.fromkeys((*table.column_names[:2], *table.column_names[-3:])):
        yield f"{name} null", with_type(table, name, pa.nulls(rows))
        yield f"{name} missing", table.drop_columns([name])
        yield f"{name} bool", with_type(table, name, pa.array([True] * rows))
        yield f"{name} nested", with_type(table, name, pa.array([[{"a": 1}]] * rows))
        yield (
            f"{name} gap",
            with_type(table, name, pa.array([None, *table.column(name).to_pylist()[1:]], table.column(name).type)),
        )
    yield "half", table.slice(0, rows // 2)
    yield "none", table.slice(0, 0)
    for how, mark in (
        ("deep", "[" * 100_000),
        ("list", "[]"),
        ("null", "null"),
        ("digits", "1" * 5_000),
        ("object", "{}"),
    ):
        yield f"mark {how}", table.replace_schema_metadata({"phexplore": mark})
    yield "no mark", table.replace_schema_metadata(None)


@pytest.mark.defect("F9")
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", [TRUTH_FILE, trial_file(0)])
def test_that_a_changed_table_is_refused_with_a_sentence(system, name, runs, tmp_path):
    run = shutil.copytree(runs / system, tmp_path / "run")
    assert looked_at(run) == ""
    content, table = (run / name).read_bytes(), pq.read_table(run / name)
    refused = 0
    for how, changed in changes(table):
        again(run / name, changed)
        if why := looked_at(run):
            assert name in why or (name == TRUTH_FILE and trial_file(0) in why), (how, why)
            refused += 1
    assert refused >= 12
    dice = random.Random(9)
    for _ in range(8):
        (run / name).write_bytes(change_columns(content, dice))
        looked_at(run)


def places(value, place=()):
    yield place
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*place, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))


def put(value, place, new):
    if not place:
        return new
    copied = value.copy()
    copied[place[0]] = put(value[place[0]], place[1:], new)
    return copied


@pytest.mark.defect("F9")
@pytest.mark.parametrize("system", SYSTEMS)
def test_that_a_summary_of_changed_types_gives_a_report_or_a_sentence(system, runs, tmp_path):
    run = shutil.copytree(runs / system, tmp_path / "run")
    (run / MANIFEST_FILE).unlink(missing_ok=True)
    summary = json.loads((run / SUMMARY_FILE).read_text())
    refused = 0
    form = "html" if system == "subspace" else "csv"
    for number, place in enumerate(list(places(summary))[:6]):
        new = (None, "x", [], {}, [[1]], -1)[number % 6]
        (run / SUMMARY_FILE).write_text(json.dumps(put(summary, place, new)))
        why = reported(run, tmp_path / "out", form)
        refused += bool(why)
        assert not why or SUMMARY_FILE in why, (place, new, why)
    assert refused >= 1 or system == "phsafe"  # its tables need no summary


RULES = tuple(
    Rule(measure, Bound.AT_MOST, Fraction(1, 2), "", "mae" if measure is Measure.ERROR else "") for measure in Measure
)


def used(run):
    """Use a summary as comparisons, rules, the truncation studio and result pages do; return why not, "" otherwise."""
    try:
        column = run_compared(run)
        assert comparison_json(compare([column, column], RULES))
        is_confidential(load_spec(run), column.summary)
        match column.scenario.method:
            case PhSafe():
                query = next(iter(column.scenario.phsafe.budgets))
                states_in_run(column.summary, query)
                with suppress(StudyError):
                    sizes_of_run(column.summary.get("truncation", ()), query.table)
            case TopDown():
                found = TopDownResults.open(run)
                assert isinstance([*found.metrics, *found.redistricting], list)
    except PhexploreError as error:
        return str(error)
    return ""


@pytest.mark.defect("F9")
@pytest.mark.parametrize("new", [None, "x", [], [[1]], -1, {"level": 3, "table": []}])
@pytest.mark.parametrize("system", SYSTEMS)
def test_that_a_summary_of_another_shape_surprises_nobody_who_uses_it(system, new, runs, tmp_path):
    run = shutil.copytree(runs / system, tmp_path / "run")
    (run / MANIFEST_FILE).unlink(missing_ok=True)
    summary = json.loads((run / SUMMARY_FILE).read_text())
    assert used(run) == ""
    refused = 0
    known = list(places(summary))
    for place in known[:: max(1, len(known) // 20)]:
        (run / SUMMARY_FILE).write_text(json.dumps(put(summary, place, new)))
        why = used(run)
        assert not why or SUMMARY_FILE in why, (place, why)
        refused += bool(why)
    assert refused >= 1


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"trials": 1' + "0" * 5000 + "}", '{"mode": "\\ud800"}', '{"numbers": NaN}', "{}x"]
)
def test_that_a_summary_that_is_hardly_json_is_refused(content, runs, tmp_path):
    run = shutil.copytree(runs / "subspace", tmp_path / "run")
    (run / MANIFEST_FILE).unlink(missing_ok=True)
    (run / SUMMARY_FILE).write_text(content)
    with pytest.raises(RunUnreadableError, match=SUMMARY_FILE):
        load_summary(run)


@pytest.mark.parametrize("system", ["phsafe", "topdown", "subspace"])  # group sizes: a line per size that occurs
def test_that_a_table_with_more_rows_than_the_run_has_is_refused_before_any_is_read(
    system, runs, tmp_path, monkeypatch
):
    run = shutil.copytree(runs / system, tmp_path / "run")
    table = pq.read_table(run / trial_file(0))
    again(run / trial_file(0), pa.concat_tables([table] * 500))
    read = []

    def noted(read_it):
        def reading(file, *arguments, **named):
            read.append(file.metadata.num_rows)
            return read_it(file, *arguments, **named)

        return reading

    for name in ("read", "read_row_group"):
        monkeypatch.setattr(pq.ParquetFile, name, noted(getattr(pq.ParquetFile, name)))
    assert trial_file(0) in looked_at(run)
    assert read
    assert max(read) < 500 * table.num_rows


@pytest.mark.defect("F9")
@pytest.mark.parametrize("system", SYSTEMS)
def test_that_pipes_in_a_run_make_nobody_wait(system, runs, tmp_path):
    run = shutil.copytree(runs / system, tmp_path / "run")
    names = [path.name for path in run.iterdir() if path.is_file()]
    for name in (*names, EVENTS_FILE, LOCK_FILE, MANIFEST_FILE):
        held = (run / name).read_bytes() if (run / name).exists() else None
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
        describe_run(run)
        load_events(run)
        looked_at(run)
        if (run / MANIFEST_FILE).exists():
            with suppress(RunUnreadableError):
                verify_run(run)
        (run / name).unlink()
        if held is not None:
            (run / name).write_bytes(held)


@pytest.mark.defect("F9")
def test_that_a_summary_changed_after_the_run_was_complete_is_not_reported(runs, tmp_path):
    run = shutil.copytree(runs / "phsafe", tmp_path / "run")
    summary = json.loads((run / SUMMARY_FILE).read_text())
    (run / SUMMARY_FILE).write_text(json.dumps({**summary, "checks": {"variance": True, "negative": True}}))
    with pytest.raises(RunUnreadableError, match="was altered after the run was complete"):
        export_run(run, "html", tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


def test_that_the_window_shows_no_number_of_a_run_whose_counts_were_altered(runs, tmp_path):
    for system in ("phsafe", "topdown", "group sizes", "subspace"):
        run = shutil.copytree(runs / system, tmp_path / system)
        answer = system_of(load_spec(run).scenario).results.reader().answer
        (run / MANIFEST_FILE).unlink(missing_ok=True)
        assert answer(RunRequest(run)).trials  # while it is under way there is nothing to hold it to
        close_run(run, load_spec(run).identity)
        assert answer(RunRequest(run)).trials
        stated = json.loads((run / MANIFEST_FILE).read_text())
        stated["files"][trial_file(0)]["sha256"] = "0" * 64
        (run / MANIFEST_FILE).unlink()
        (run / MANIFEST_FILE).write_text(json.dumps(stated))
        for read in (answer, system_of(load_spec(run).scenario).results.reader().answer):
            with pytest.raises(RunUnreadableError, match="was altered after the run was complete"):
                read(RunRequest(run))


@pytest.mark.parametrize("name", [f"{TRUTH_FILE}/../../secret", "..\\secret", "../secret"])
def test_that_a_manifest_leads_to_no_file_outside_the_run(runs, tmp_path, name):
    run = shutil.copytree(runs / "phsafe", tmp_path / "run")
    (tmp_path / "secret").write_text("of somebody else")
    manifest = json.loads((run / MANIFEST_FILE).read_text())
    manifest["files"][name] = {"sha256": sha256_of(tmp_path / "secret"), "bytes": 16}
    (run / MANIFEST_FILE).write_text(json.dumps(manifest))
    with pytest.raises(RunUnreadableError, match="names a file outside the run"):
        confirm_counts(run)


@pytest.mark.defect("F9")
def test_that_a_record_of_what_happened_can_always_be_printed():
    for line in (
        '{"event": "Failed", "sentence": "half \\ud800", "remedy": "\\udfff"}',
        '{"event": "Note", "text": "\\udc80"}',
        '{"event": "TrialDone", "index": 0, "seconds": 1' + "0" * 400 + "}",
        '{"event": "TrialDone", "index": ' + "9" * 5_000 + "}",
        "[" * 100_000,
    ):
        event = decode(line)
        assert isinstance(event, Failed | Note)
        str(event).encode()


@pytest.mark.defect("F9")
def test_that_a_size_or_region_there_is_not_never_moves_a_count(runs, tmp_path):
    run = shutil.copytree(runs / "group sizes", tmp_path / "run")
    from phexplore.systems.group_sizes.run_files import read_sizes, read_tree

    tree, largest = read_tree(run / TRUTH_FILE)
    table = pq.read_table(run / TRUTH_FILE)
    for values in ([0], [-1], [largest + 1], table.column("size").to_pylist()[1:2]):
        sizes = pa.array([*values, *table.column("size").to_pylist()[1:]], pa.int32())
        again(run / TRUTH_FILE, with_type(table, "size", sizes))
        with pytest.raises(RunUnreadableError, match=r"truth\.parquet cannot be read"):
            read_sizes(run / TRUTH_FILE, tree, largest)
