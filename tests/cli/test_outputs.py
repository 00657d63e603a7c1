"""Commands that write into a folder: an empty one, or one the same command wrote; never over somebody's files."""

from __future__ import annotations

import json

import pytest
import typer

from phexplore.cli.app import program, run
from phexplore.files.output_folder import MARK_FILE, OutputFolderError, output_folder

COMMANDS = {
    "synth": ["synth", "sdhc", "--persons", "100", "--seed", "1"],
    "convert": ["data", "convert", "pums", "records.csv"],
    "tabulate": ["tabulate", "demo"],
    "run": ["run", "sdhc-2020-us", "--data", "demo", "--seed", "1"],
    "report": ["report", "run", "--format", "csv"],
    "publish": ["publish", "run"],
    "export": ["export", "sdhc-2020-us", "--format", "csv"],
    "demo": ["demo"],
    "formats": ["formats"],
    "experiment": ["group-sizes", "experiment"],
    "figure1": ["subspace", "figure1"],
    "compare": ["subspace", "compare"],
}
FOREIGN = {
    "notes": {"notes.txt": "keep"},
    "a run by its names": {
        "spec.json": '{"mine": 1}', "release/PH1_num/part-00000.csv": "a|b", "log.txt": "mine", "summary.json": "{}",
        "manifest.json": "{}", "trial-00000.parquet": "mine",
    },
    "tables": {"PH1_num/thesis.csv": "a,b"},
    "a mark of another command": {"x.csv": "a,b", MARK_FILE: json.dumps(
        {"format": "phexplore output", "version": 1, "command": "other", "files": ["x.csv"]})},
    "half a mark": {"x.csv": "a,b", MARK_FILE: '{"format": "phexplore output", "version": 1, "command": "tabulate"'},
}  # fmt: skip


def fill(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.defect("F5")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", FOREIGN)
def test_that_files_of_others_are_refused_and_left_as_they_are(command, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "out", FOREIGN[kind])
    before = contents(tmp_path / "out")
    assert run([*COMMANDS[command], "--out", "out"]) == 1
    assert contents(tmp_path / "out") == before
    said = capsys.readouterr().err
    assert "out is not empty" in said
    assert "nothing in it was touched" in said


@pytest.mark.defect("F5")
def test_that_a_command_replaces_what_it_wrote_until_somebody_adds_a_file(tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    for form in ("csv", "phsafe-config", "csv"):
        assert run(["export", "sdhc-2020-us", "--format", form, "--out", str(out)]) == 0
    assert set(contents(out)) == {"parameters.csv", "config.json", MARK_FILE}
    (out / "mine.txt").write_text("keep")
    assert run(["export", "sdhc-2020-us", "--format", "csv", "--out", str(out)]) == 1
    assert "mine.txt" in capsys.readouterr().err


def test_that_a_command_that_failed_owns_what_it_left(tmp_path):
    def write(name):
        with output_folder(tmp_path, "sweep"):
            (tmp_path / name).write_text("half")
            raise ValueError(name)

    for name in ("a", "b"):
        with pytest.raises(ValueError, match=name):
            write(name)
    assert json.loads((tmp_path / MARK_FILE).read_text())["files"] == ["a", "b"]


def test_that_a_link_is_a_file_of_somebody(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputFolderError, match="link"), output_folder(out, "sweep"):
        pytest.fail("the folder was taken")


def test_that_files_a_command_goes_on_from_are_its_own(tmp_path):
    (tmp_path / "draws.jsonl").write_text("")
    with output_folder(tmp_path, "experiment", resumed={"draws.jsonl"}):
        (tmp_path / "report.html").write_text("")
    with pytest.raises(OutputFolderError), output_folder(tmp_path, "sweep"):
        pytest.fail("the folder was taken")


def test_that_a_folder_of_folders_holds_nothing_else(tmp_path):
    def write(*names):
        with output_folder(tmp_path / "out", "tabulate"):
            fill(tmp_path / "out", {f"{name}/part-00000.csv": "a|b" for name in names})

    write("PH3")
    write("PH1_num", "PH3")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"PH1_num", "PH3"}
    assert [path.parent.name for path in (tmp_path / "out").rglob(MARK_FILE)] == ["PH1_num"]
    (tmp_path / "out" / "PH3" / "thesis.csv").write_text("mine")
    with pytest.raises(OutputFolderError, match=r"PH3/thesis\.csv"):
        write("PH3")


KNOWN = {"scenario": "sdhc-2020-us", "data": "demo", "source": "sdhc-2020-us"}
NOT_COVERED = {
    **dict.fromkeys(("solve", "less-noise", "frontier", "committee", "approve"), "writes one project file"),
    "bundle": "writes one archive",
    "sweep": "writes one table",
    "run": "has a guard of its own, which the test of COMMANDS holds",
    "tune": "writes one file of probes",
    "synth pl94": "writes one file; of a nation, only into an empty folder",
    "synth demonstration-2010": "writes one file of records",
    "spine build": "writes one file of the spine",
    "group-sizes taxis": "writes one table",
}
"""Commands with --out that a folder of somebody else's files does not reach, and why."""


def commands_with_out(command, path=()):
    for name, each in getattr(command, "commands", {}).items():
        yield from commands_with_out(each, (*path, name))
    if any("--out" in parameter.opts for parameter in command.params):
        yield path, command


def asked(path, command, out):
    """Return arguments that reach a command: its required ones name a file that is not there."""
    words = [*path, "--out", out]
    for parameter in command.params:
        if parameter.required and "--out" not in parameter.opts:
            value = "1" if parameter.type.name.startswith(("int", "float")) else KNOWN.get(parameter.name, "absent")
            words += [value] if parameter.param_type_name == "argument" else [parameter.opts[0], value]
    return words


@pytest.mark.defect("T17")
@pytest.mark.parametrize(
    ("path", "command"),
    [pytest.param(*each, id=" ".join(each[0])) for each in commands_with_out(typer.main.get_command(program()))],
)
def test_that_every_command_with_out_leaves_a_folder_of_others_as_it_is(path, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "out", {"P2.csv": "keep"})
    assert run(asked(path, command, "out")) != 0
    assert contents(tmp_path / "out") == {"P2.csv": b"keep"}
    assert ("out is not empty" in capsys.readouterr().err) != (" ".join(path) in NOT_COVERED)


REACHING = [
    "solve sdhc-2020-us",
    "less-noise pl94-2020-persons-us",
    "frontier sdhc-2020-us --points 2",
    "committee sdhc-2020-us sdhc-2020-us",
    "approve sdhc-2020-us --who A --role B --status recommended",
    "bundle sdhc-2020-us",
    "synth pl94 --blocks 20 --seed 1",
    "synth pl94 --nation --blocks 60 --seed 1",
    "synth demonstration-2010 --blocks 50 --seed 1",
    "spine build blocks.csv --preset standard",
    "group-sizes taxis",
]
"""Commands that write one file, with arguments that bring them to the writing of it."""


@pytest.mark.defect("T17")
@pytest.mark.parametrize("words", REACHING)
def test_that_a_command_that_writes_one_file_does_not_write_into_a_folder(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "out", {"P2.csv": "keep"})
    assert run(["synth", "pl94", "--blocks", "20", "--seed", "1", "--out", "blocks.csv"]) == 0
    assert run([*words.split(), "--out", "out"]) == 1
    said = capsys.readouterr().err
    assert "out c" in said or "out is there already" in said, said  # the file itself was refused, not an argument
    assert contents(tmp_path / "out") == {"P2.csv": b"keep"}


@pytest.mark.defect("T17")
def test_that_published_tables_replace_their_own_folder_and_no_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["synth", "pl94", "--blocks", "20", "--seed", "1", "--out", "blocks.csv"]) == 0
    assert (
        run(["run", "pl94-2020-persons-us", "--data", "blocks.csv", "--trials", "1", "--seed", "1", "--out", "r"]) == 0
    )
    for _ in range(2):
        assert run(["published", "tables", "r", "--out", "out"]) == 0
        assert set(contents(tmp_path / "out")) == {"P2.csv", "P4.csv", "SIMULATED.txt", "provenance.json", MARK_FILE}
    fill(tmp_path / "out", {"mine.csv": "keep"})
    before = contents(tmp_path / "out")
    assert run(["published", "tables", "r", "--out", "out"]) == 1
    assert "mine.csv" in capsys.readouterr().err
    assert contents(tmp_path / "out") == before
