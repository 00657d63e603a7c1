"""Runs from Python: the same bytes and figures as the command line, resumed, cancelled, read back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import pandas as pd
import pyarrow.parquet as pq
import pytest

import phexplore as px
from phexplore.cli.app import run as command
from phexplore.decide.sweeping import sweep, with_runs
from phexplore.errors import CancelledError


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return px.synth("pl94", 300, tmp_path_factory.mktemp("blocks") / "blocks.csv", seed=1)


@pytest.fixture(scope="module")
def run(blocks, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "one"
    return px.run("pl94-2020-persons-us", blocks, out=out, trials=2, seed=1, keep_measurements=True, progress=False)


def _metrics(summary):
    return {name: summary[name] for name in ("checks", "metrics")}


def test_that_a_run_equals_the_command_lines(run, blocks, tmp_path, capsys) -> None:
    out = tmp_path / "two"
    arguments = [
        "run",
        "pl94-2020-persons-us",
        "--data",
        str(blocks),
        "--trials",
        "2",
        "--seed",
        "1",
        "--keep-measurements",
    ]
    assert command([*arguments, "--out", str(out), "--json"]) == 0
    assert _metrics(json.loads(capsys.readouterr().out)) == _metrics(json.loads(json.dumps(run.summary())))
    assert sorted(p.read_bytes() for p in out.glob("trial*.parquet")) == sorted(
        p.read_bytes() for p in run.directory.glob("trial*.parquet")
    )


@pytest.mark.parametrize("preset", ["sdhc-2020-us", "counties-invariant-2010"])
def test_that_small_systems_run_as_on_the_command_line(preset, tmp_path, capsys) -> None:
    events = []
    found = px.run(preset, "demo", out=tmp_path / "r", trials=2, seed=1, progress=events.append)
    assert found.is_complete
    assert found.trials == 2
    assert events
    for name in found.pictures:
        assert len(found.errors(by=name).columns), name
    arguments = [
        "run",
        preset,
        "--data",
        "demo",
        "--trials",
        "2",
        "--seed",
        "1",
        "--out",
        str(tmp_path / "c"),
        "--json",
    ]
    assert command(arguments) == 0
    printed, own = json.loads(capsys.readouterr().out), json.loads(json.dumps(found.summary()))
    timed = {"seconds", "peak_mb", "started", "finished"}
    assert {name: printed[name] for name in printed.keys() - timed} == {name: own[name] for name in own.keys() - timed}


def test_that_pictures_take_choices_and_refuse_others(run) -> None:
    frame = run.errors("County", "total", by="shape")
    assert len(frame)
    with pytest.raises(px.PhexploreError):
        run.errors("Moon", "total", by="shape")
    with pytest.raises(px.PhexploreError):
        run.errors(by="nothing")


def test_that_kept_answers_are_a_tidy_frame(run) -> None:
    frame = px.measurements(run.directory, "Tract")
    assert list(frame.columns) == ["geocode", "query", "answer", "value"]
    assert len(frame[frame["query"] == "total"]) == frame.geocode.nunique() > 1


def test_that_a_frame_of_blocks_runs_as_its_file(run, blocks, tmp_path) -> None:
    frame = pd.read_csv(blocks, dtype={"geoid": str})
    found = px.run(
        "pl94-2020-persons-us", frame, out=tmp_path / "r", trials=2, seed=1, keep_measurements=True, progress=False
    )
    assert found.summary()["metrics"] == run.summary()["metrics"]


def test_that_an_unfinished_run_is_resumed(blocks, tmp_path) -> None:
    stopped = []

    def stop(event) -> None:
        if type(event).__name__ == "TrialDone" and not stopped:
            stopped.append(event)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        px.run("pl94-2020-persons-us", blocks, out=tmp_path / "r", trials=4, seed=1, progress=stop)
    found = px.open_run(tmp_path / "r")
    assert (found.is_complete, found.state) == (False, "interrupted")
    found.resume(progress=False)
    assert found.is_complete
    whole = px.run("pl94-2020-persons-us", blocks, out=tmp_path / "w", trials=4, seed=1, progress=False)
    assert whole.summary()["metrics"] == found.summary()["metrics"]


def test_that_what_is_read_holds_what_was_made(blocks, tmp_path) -> None:
    found = px.read(blocks)
    frame = found.to_frame()
    assert found.kind == "blocks"
    assert len(frame) == 300
    assert (frame[[str(cell) for cell in range(16)]].sum(axis=1) == frame.total).all()
    assert found.describe()["records"] == frame.total.sum()
    people = px.read(px.synth("sdhc", 2000, tmp_path / "p", seed=1, states=["44"]))
    assert people.kind == "sdhc"
    assert len(people.to_frame()) == 2000
    assert len(people.to_frame("units"))


def test_that_a_spine_is_built_saved_and_predicted(blocks, tmp_path) -> None:
    spine = px.Spine.build(blocks, "standard")
    assert next(iter(spine.to_frame().level)) == "State"
    again = px.Spine.open(spine.save(tmp_path / "s.spine"))
    margins = spine.margins("pl94-2020-persons-us", queries=["total"])
    assert margins.equals(again.margins("pl94-2020-persons-us", queries=["total"]))
    assert set(margins.level) == set(spine.to_frame().level)


def test_that_a_sweep_runs_every_point_once_and_goes_on(blocks, tmp_path) -> None:
    grid = {"total": [1, 4]}
    first = px.sweep("pl94-2020-persons-us", grid, measure=["County/total"], data=blocks, out=tmp_path / "s")
    assert first["Block/total/mae"][0] > first["Block/total/mae"][1]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("trial*.parquet")}
    more = px.sweep("pl94-2020-persons-us", {"total": [1, 2, 4]}, data=blocks, out=tmp_path / "s")
    assert len(more) == 3
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert more["Block/total/mae"][0] == first["Block/total/mae"][0]


def test_that_the_command_sweeps_as_python_does(tmp_path) -> None:
    (tmp_path / "g.json").write_text('{"budget PH3/state_A-G": ["0.01", "0.02"], "threshold PH3": [4, 6]}')
    out = tmp_path / "s.csv"
    arguments = ["sweep", "sdhc-2020-us", "--grid", str(tmp_path / "g.json"), "--measure", "PH3/state_A-G"]
    assert command([*arguments, "--out", str(out), "--picture", str(tmp_path / "s.png")]) == 0
    written = pd.read_csv(out)
    frame = px.sweep(
        "sdhc-2020-us", {"budget PH3/state_A-G": ["0.01", "0.02"], "threshold PH3": [4, 6]}, measure=["PH3/state_A-G"]
    )
    assert list(written.columns) == list(frame.columns)[:-1]
    assert written["epsilon"].tolist() == pytest.approx(frame["epsilon"].tolist(), rel=1e-15)
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"total": 3}', '{"total": []}', '{"total": [{}]}', '{"nowhere": [1]}']
)
def test_that_a_bad_grid_is_refused(content, tmp_path, capsys) -> None:
    (tmp_path / "g.json").write_text(content)
    assert command(["sweep", "sdhc-2020-us", "--grid", str(tmp_path / "g.json"), "--out", str(tmp_path / "s.csv")]) == 2
    assert capsys.readouterr().err
    assert not (tmp_path / "s.csv").exists()


def test_that_equal_points_are_one_run_and_workers_change_nothing(blocks, tmp_path) -> None:
    grid = {"total": [1, "1", 4]}
    alone = px.sweep("pl94-2020-persons-us", grid, data=blocks, out=tmp_path / "a")
    beside = px.sweep("pl94-2020-persons-us", grid, data=blocks, out=tmp_path / "b", workers=2)
    assert alone.drop(columns="exact").equals(beside.drop(columns="exact"))
    assert len(list((tmp_path / "a").iterdir())) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_that_a_failing_point_ends_the_sweep_and_no_run_goes_on(tmp_path, workers) -> None:
    grid, nowhere = {"total": [1, 2, 4]}, tmp_path / "nowhere"
    with pytest.raises(px.PhexploreError):
        px.sweep("pl94-2020-persons-us", grid, data=nowhere, out=tmp_path / "s", workers=workers)
    assert not list((tmp_path / "s").rglob("trial*.parquet"))


def test_that_an_interrupt_ends_the_runs_beside(tmp_path) -> None:
    both, ended = threading.Barrier(2), []

    def run(scenario, _directory, look):
        both.wait(30)
        if scenario.name.endswith("(1 of 3)"):
            raise KeyboardInterrupt
        try:
            while True:
                look(None)
        except CancelledError:
            ended.append(scenario.name)
            raise

    found = sweep(px.load("pl94-2020-persons-us").value, {"total": [1, 2, 4]})
    with pytest.raises(KeyboardInterrupt):
        with_runs(found, tmp_path, run, workers=2)
    assert len(ended) == 1  # the second was ended, the third never begun


def test_that_a_frame_is_for_its_owner_and_replaces_nothing(blocks, tmp_path) -> None:
    frame = pd.read_csv(blocks, dtype={"geoid": str})
    (tmp_path / "r-data.csv").write_text("mine")
    with pytest.raises(px.PhexploreError):
        px.run("pl94-2020-persons-us", frame, out=tmp_path / "r", seed=1, progress=False)
    assert (tmp_path / "r-data.csv").read_text() == "mine"
    px.run("pl94-2020-persons-us", frame, out=tmp_path / "q", seed=1, progress=False)
    assert (tmp_path / "q-data.csv").stat().st_mode & 0o077 == 0
    with pytest.raises(px.PhexploreError):
        px.run("pl94-2020-persons-us", pd.DataFrame({"geoid": [{1}, object()]}), out=tmp_path / "p", progress=False)


@pytest.mark.parametrize("extra", [["--picture", "s.bmp"], ["--data", "demo"]])
def test_that_what_cannot_be_written_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys, extra) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.json").write_text('{"total": [1]}')
    line = ["sweep", "pl94-2020-persons-us", "--grid", "g.json"]
    assert command([*line, "--out", "s.csv", *extra]) == 2
    assert command([*line, "--out", "s.txt"]) == 2
    assert not (tmp_path / "s.csv").exists()
    assert capsys.readouterr().err


def test_that_a_real_interrupt_cancels_and_another_process_goes_on(blocks, tmp_path) -> None:
    code = """
import sys
import phexplore as px
try:
    px.run(
        "pl94-2020-persons-us", sys.argv[1], out=sys.argv[2], trials=12, seed=1,
        progress=lambda event: print(type(event).__name__, flush=True),
    )
except px.PhexploreError as error:
    sys.exit(type(error).__name__)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(blocks), str(tmp_path / "r")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    for line in process.stdout:
        if line.strip() == "TrialDone":
            process.send_signal(signal.SIGINT)
            break
    _, said = process.communicate(timeout=120)
    assert said.strip().splitlines()[-1] == "CancelledError"
    found = px.open_run(tmp_path / "r")
    assert 1 <= found.trials < 12
    assert (found.is_complete, found.state) == (False, "cancelled")
    assert found.resume(progress=False).trials == 12


def test_that_a_population_of_frames_runs_as_its_files(tmp_path) -> None:
    data = px.read("demo")
    frames = {part: data.to_frame(part) for part in ("persons", "units", "geo")}
    notes = []
    px.run("sdhc-2020-us", frames, out=tmp_path / "frames", seed=1, progress=notes.append)
    assert any("confidential" in getattr(note, "text", "") for note in notes)  # nobody marked these records
    other = px.run("sdhc-2020-us", "demo", out=tmp_path / "files", seed=1, progress=False)
    for trial in ("trial-00000.parquet", "truth.parquet"):
        tables = [pq.read_table(tmp_path / name / trial) for name in ("frames", "files")]
        assert tables[0].equals(tables[1])
    assert not other.errors().empty
    with pytest.raises(px.PhexploreError):
        px.run("sdhc-2020-us", {"people": frames["persons"]}, out=tmp_path / "no", progress=False)


def test_that_spines_and_sweeps_take_frames_and_draw(blocks, tmp_path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    frame = pd.read_csv(blocks, dtype=str)
    assert px.Spine.build(frame, "standard").to_frame().equals(px.Spine.build(blocks, "standard").to_frame())
    _, ax = pyplot.subplots()
    found = px.sweep(
        "pl94-2020-persons-us", {"total": [1, 2]}, data=pd.read_csv(blocks, dtype={"geoid": str}), out=tmp_path / "s", ax=ax,
        column="epsilon",
    )  # fmt: skip
    assert len(found) == 2
    assert "ε" in ax.get_title(loc="left")
