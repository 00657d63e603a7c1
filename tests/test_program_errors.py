"""An error of the program is called one, wherever it happens: its traceback stays, and no file or caller is blamed."""

from __future__ import annotations

import shutil
from contextlib import suppress

import pytest

import phexplore as px
from phexplore.cli.app import BAD_INPUT, EXPECTED_FAILURE, PROGRAM_ERROR, run
from phexplore.document.project import Project

ROOM, FORECAST = "phexplore.systems.subspace.forecast_output", "phexplore.systems.subspace.forecast"
PRESET = "counties-invariant-2010"
FAULTS = (
    TypeError("a bug"),
    KeyError("a bug"),
    AttributeError("a bug"),
    IndexError("a bug"),
)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A run, a project, a bundle and a file of blocks, each whole."""
    folder = tmp_path_factory.mktemp("places")
    px.run(PRESET, "demo", out=folder / "run", seed=1, progress=False)
    px.load(PRESET).save(folder / "project.phx")
    assert run(["bundle", "sdhc-2020-us", "--out", str(folder / "bundle.zip")]) == 0
    px.synth("pl94", 100, folder / "blocks.csv", seed=1)
    return folder


COMMANDS = {
    "report": ("phexplore.systems.subspace.run_document.heading", "report {}/run --format html --out {}/o.html"),
    "report csv": ("phexplore.systems.subspace.run_document.answers_csv", "report {}/run --format csv --out {}/o.csv"),
    "export": ("phexplore.report.document_files.document_bytes", "export sdhc-2020-us --format html --out {}/e.html"),
    "forecast": (f"{ROOM}.print_forecast", "forecast {}/project.phx"),
    "verify": ("phexplore.decide.verifying.stated", "verify {}/bundle.zip"),
    "describe": ("phexplore.published.door.describe_blocks", "data describe {}/blocks.csv"),
}

CALLS = {
    "forecast": (f"{FORECAST}.forecast", lambda _: px.forecast(PRESET)),
    "errors": ("phexplore.systems.run_pictures._read", lambda at: px.open_run(at / "run").errors()),
    "plot": ("phexplore.interface.frames.draw", lambda _: px.forecast(PRESET).plot()),
    "summary": ("phexplore.runs.confidentiality.load_summary", lambda at: px.open_run(at / "run").summary()),
    "open_run": ("phexplore.runs.store.sha256_of", lambda at: px.open_run(at / "run")),
    "verify": ("phexplore.decide.verifying.stated", lambda at: px.verify(at / "bundle.zip")),
    "load": ("phexplore.document.soundness.require_figures", lambda at: Project.open(at / "project.phx")),
    "read": ("phexplore.published.door.describe_blocks", lambda at: px.read(at / "blocks.csv")),
    "set": ("phexplore.model.paths.apply", lambda _: px.load(PRESET).set(px.load(PRESET).parameters)),
    "solve": ("phexplore.accuracy.solving_separable.solve", lambda _: px.solve("sdhc-2020-us")),
    "compare": ("phexplore.decide.comparing.compare", lambda _: px.compare(PRESET, PRESET)),
    "study": ("phexplore.systems.phsafe.studies.study_request", lambda _: px.load("sdhc-2020-us").study("truncation", query="PH3/state_A-G")),
}  # fmt: skip


def _broken(monkeypatch, target, fault) -> None:
    def fail(*_given, **_named):
        raise fault

    monkeypatch.setattr(target, fail)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("entry", COMMANDS)
def test_that_a_command_calls_an_error_of_the_program_one(entry, fault, places, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    target, line = COMMANDS[entry]
    _broken(monkeypatch, target, fault)
    assert run(line.format(places, places).split()) == PROGRAM_ERROR
    said = capsys.readouterr().err
    (log,) = tmp_path.rglob("phexplore.log")
    assert type(fault).__name__ in said
    assert str(log) in said.replace("\n", " ")
    assert not any(name in said for name in ("/run", "summary.json", "project.phx", "bundle.zip", "blocks.csv"))
    written = log.read_text(encoding="utf-8")
    assert "in fail" in written
    assert "a bug" not in written.replace('"a bug"', "")
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("entry", CALLS)
def test_that_python_raises_an_error_of_the_program_as_it_is(entry, fault, places, monkeypatch) -> None:
    target, call = CALLS[entry]
    _broken(monkeypatch, target, fault)
    with pytest.raises(type(fault)) as caught:
        call(places)
    assert caught.value is fault


def test_that_a_log_that_cannot_be_written_shows_the_traceback(places, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "phexplore").write_text("in the way")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    _broken(monkeypatch, f"{ROOM}.print_forecast", TypeError("a bug"))
    assert run(["forecast", PRESET]) == PROGRAM_ERROR
    said = capsys.readouterr().err
    assert "in fail" in said
    assert "phexplore.log" not in said


def _use(directory) -> None:
    run = px.open_run(directory)
    run.summary()
    run.errors()


@pytest.mark.parametrize("file", ["summary.json", "spec.json", "manifest.json", "trial-00000.parquet"])
@pytest.mark.parametrize("damage", [b"", b"{}", b"[1, 2]", b'{"version": 1}', b"\0" * 40])
def test_that_a_damaged_file_of_a_run_is_still_named(file, damage, places, tmp_path, capsys) -> None:
    broken = tmp_path / "run"
    shutil.copytree(places / "run", broken)
    (broken / file).write_bytes(damage)
    assert run(["report", str(broken), "--format", "html", "--out", str(tmp_path / "o.html")]) in {
        EXPECTED_FAILURE,
        BAD_INPUT,
    }
    assert file in capsys.readouterr().err
    with pytest.raises(px.PhexploreError, match=file.replace(".", r"\.")):
        _use(broken)


def test_that_a_log_follows_no_symbolic_link(tmp_path) -> None:
    from phexplore.files.failure_log import FailureLog

    victim = tmp_path / "victim"
    victim.write_text("as it was")
    log = FailureLog(tmp_path / "reports")
    log.path.parent.mkdir()
    log.path.symlink_to(victim)
    assert not log.write("TypeError")
    with suppress(OSError):
        log.end_badly("TypeError")
    assert victim.read_text() == "as it was"
