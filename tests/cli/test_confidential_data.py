"""Records without a mark: said by every command that reads them, recorded in what comes out, exact counts kept to their owner."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import shutil
import stat

import pytest

from phexplore.cli.app import DONE, run
from phexplore.decide.archive import unpack
from phexplore.runs.confidentiality import TREATED_AS_CONFIDENTIAL


def call(capsys, *arguments):
    status = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(scope="module")
def population(tmp_path_factory):
    """A small marked population, and the same files without their mark."""
    marked = tmp_path_factory.mktemp("marked")
    assert run(["synth", "sdhc", "--persons", "600", "--states", "44", "--seed", "1", "--out", str(marked)]) == DONE
    bare = tmp_path_factory.mktemp("bare") / "population"
    shutil.copytree(marked, bare)
    (bare / "provenance.json").unlink()
    return marked, bare


@pytest.fixture(scope="module")
def block_records(tmp_path_factory):
    """One line per person with its block."""
    file = tmp_path_factory.mktemp("blocks") / "persons.txt.gz"
    assert run(["synth", "demonstration-2010", "--blocks", "40", "--seed", "1", "--out", str(file)]) == DONE
    _, header, *records = gzip.decompress(file.read_bytes()).splitlines(keepends=True)  # the first line is the mark
    file.write_bytes(gzip.compress(b"".join([header, *records])))
    return file


def _modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}


@pytest.mark.defect("F7")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "sdhc-2020-us", "--data", "RECORDS", "--seed", "1", "--out", "OUT"),
        ("tabulate", "RECORDS", "--out", "OUT"),
        ("data", "describe", "RECORDS"),
        ("data", "describe", "BLOCKS"),
        ("spine", "build", "BLOCKS", "--preset", "standard", "--out", "OUT"),
        ("forecast", "ppmf-2021-04-high-persons-us", "--data", "BLOCKS"),
        ("tune", "ppmf-2021-04-high-persons-us", "--data", "BLOCKS", "--judge", "Tract", "--out", "OUT"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_that_every_command_that_reads_records_says_they_are_treated_as_confidential(
    capsys, tmp_path, population, block_records, arguments
):
    places = {"RECORDS": population[1], "BLOCKS": block_records, "OUT": tmp_path / "out"}
    _, _, err = call(capsys, *(places.get(argument, argument) for argument in arguments))
    assert TREATED_AS_CONFIDENTIAL in err


def test_that_marked_data_and_tables_of_counts_are_read_without_a_word(capsys, tmp_path, population):
    status, _, err = call(capsys, "tabulate", population[0], "--out", tmp_path / "tables")
    assert (status, "confidential" in err) == (DONE, False)
    about = json.loads((tmp_path / "tables" / "about.json").read_text())
    assert about["confidentiality"]["treated_as_confidential"] is False
    assert _modes(tmp_path / "tables")["part-00000.csv"] & 0o044


@pytest.mark.defect("F6")
def test_that_exact_tables_of_records_without_a_mark_are_for_their_owner_and_say_what_they_are(
    capsys, tmp_path, population
):
    folder = tmp_path / "tables"
    assert call(capsys, "tabulate", population[1], "--out", folder)[0] == DONE
    assert not [name for name, mode in _modes(folder).items() if mode & 0o077]
    about = json.loads((folder / "about.json").read_text())
    assert about["confidentiality"] == {"treated_as_confidential": True, "sentence": TREATED_AS_CONFIDENTIAL}
    assert len(about["data"]["sha256"]) == 64


@pytest.mark.defect("F6")
@pytest.mark.parametrize("mode", [(), ("--no-noise",), ("--non-private",)], ids=["noise", "no noise", "exact"])
def test_that_the_exact_counts_of_a_run_are_for_their_owner_and_its_summary_records_the_answer(
    capsys, tmp_path, population, mode
):
    marked, bare = tmp_path / "marked", tmp_path / "bare"
    for out, data in ((marked, population[0]), (bare, population[1])):
        assert call(capsys, "run", "sdhc-2020-us", "--data", data, "--seed", "1", "--out", out, *mode)[0] == DONE
    open_to_others = {name for name, bits in _modes(bare).items() if bits & 0o077}
    assert not open_to_others & {
        "truth.parquet",
        "summary.json",
        "trial-00000.parquet",
        "part-00000.csv",
        "release",
        "bare",
    }
    assert _modes(marked)["truth.parquet"] & 0o044
    assert TREATED_AS_CONFIDENTIAL in (bare / "events.jsonl").read_text()
    answers = [json.loads((out / "summary.json").read_text())["confidentiality"] for out in (marked, bare)]
    assert [answer["treated_as_confidential"] for answer in answers] == [False, True]


@pytest.mark.defect("F7")
def test_that_what_tune_finds_says_on_which_data_and_that_they_are_treated_as_confidential(
    capsys, tmp_path, block_records, monkeypatch
):
    from phexplore.systems.topdown.tuning_runs import SimulatedCriterion

    monkeypatch.setattr(SimulatedCriterion, "__post_init__", lambda _: None)
    monkeypatch.setattr(SimulatedCriterion, "__call__", lambda *_: (1.0, True))
    probes = tmp_path / "probes.jsonl"
    arguments = ("tune", "ppmf-2021-04-high-persons-us", "--judge", "Tract", "--out", probes, "--json")
    status, out, err = call(capsys, *arguments, "--data", block_records)
    found, (head, *lines) = json.loads(out), map(json.loads, probes.read_text().splitlines())
    assert status == DONE
    assert found["confidentiality"]["sentence"] == TREATED_AS_CONFIDENTIAL
    assert head["confidentiality"]["treated_as_confidential"] is True
    # The digest has a salt that stays with the probes, whose shares near the truth stay with their owner.
    content = head["salt"] + head["asked"]["data"]
    assert found["data"]["sha256"] == hashlib.sha256(content.encode()).hexdigest()
    assert head["asked"]["data"] not in out + err
    assert all({"value", "meets"} <= line.keys() for line in lines)
    assert not any({"value", "meets"} & smaller.keys() for smaller in found["smaller"])
    assert "%" not in err
    assert stat.S_IMODE(probes.stat().st_mode) == 0o600


@pytest.fixture(scope="module")
def runs(population, tmp_path_factory):
    """A run on the marked population and one on the same records without their mark."""
    folder = tmp_path_factory.mktemp("runs")
    for name, data in zip(("marked", "bare"), population, strict=True):
        arguments = [
            "run",
            "sdhc-2020-us",
            "--data",
            str(data),
            "--trials",
            "2",
            "--seed",
            "1",
            "--out",
            str(folder / name),
        ]
        assert run(arguments) == DONE
    return folder / "marked", folder / "bare"


@pytest.mark.defect("F6")
def test_that_a_bundle_holds_no_exact_counts_of_records_without_a_mark(capsys, tmp_path, runs):
    for name, directory in zip(("marked", "bare"), runs, strict=True):
        out = tmp_path / f"{name}.zip"
        status, _, err = call(capsys, "bundle", "sdhc-2020-us", "--out", out, "--runs", directory)
        assert status == DONE
        files = unpack(out.read_bytes()).files
        summary = json.loads(files[f"runs/{name}/summary.json"])
        assert ("truncation" in summary) == (name == "marked")
        assert ("omitted" in err) == (name == "bare")
        assert call(capsys, "verify", out)[0] == DONE
    assert {"truncation", "accuracy_report"} <= set(summary["left_out"])
    assert summary["checks"]["budget_spent_equals_declared"] is True
    for entry in summary["metrics"]:
        assert not {"total", "truncation"} & set(entry)
    bare = b"".join(content for name, content in files.items() if name.startswith("runs/"))
    assert b"households" not in bare


@pytest.mark.defect("F6")
def test_that_a_run_of_an_earlier_version_on_such_records_cannot_be_bundled(capsys, tmp_path, runs):
    old = tmp_path / "old"
    shutil.copytree(runs[1], old)
    (old / "summary-shared.json").unlink()
    manifest = json.loads((old / "manifest.json").read_text())
    del manifest["files"]["summary-shared.json"]
    (old / "manifest.json").write_text(json.dumps(manifest))
    status, _, err = call(capsys, "bundle", "sdhc-2020-us", "--out", tmp_path / "b.zip", "--runs", old)
    assert (status, "exact counts" in err) == (1, True)
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.defect("F6")
def test_that_publish_writes_no_truth_beside_the_tables_of_records_without_a_mark(capsys, tmp_path, runs):
    for directory in runs:
        out = tmp_path / directory.name
        status, _, err = call(capsys, "publish", directory, "--draws", "100", "--out", out)
        is_marked = directory.name == "marked"
        # The seed of the other run draws its noise again.
        assert (status == DONE) == is_marked
        assert ("seed" in err) != is_marked
        assert (out / "comparison.csv").exists() == is_marked
        assert any("TRUTH" in path.read_text() for path in out.rglob("*.csv")) == is_marked


@pytest.mark.defect("F6")
def test_that_publish_refuses_the_exact_tables_of_records_without_a_mark(capsys, tmp_path, population):
    arguments = ("run", "sdhc-2020-us", "--data", population[1], "--no-noise", "--out", tmp_path / "run")
    assert call(capsys, *arguments)[0] == DONE
    status, _, err = call(capsys, "publish", tmp_path / "run", "--out", tmp_path / "tables")
    assert (status, "exact counts" in err) == (1, True)
    assert not (tmp_path / "tables").exists()
    assert call(capsys, "report", tmp_path / "run", "--format", "csv", "--out", tmp_path / "csv")[0] == DONE
    assert {path.name for path in (tmp_path / "csv").glob("[!.]*")} == {
        "checks.csv",
        "left-out.txt",
        "provenance.json",
    }


@pytest.mark.defect("F6")
@pytest.mark.parametrize("form", ["csv", "html", "png"])
def test_that_reports_leave_out_what_is_compared_with_exact_counts_and_say_so(capsys, tmp_path, runs, form):
    written = {}
    for directory in runs:
        out = tmp_path / directory.name / "report"
        out.mkdir(parents=True)
        status, _, err = call(capsys, "report", directory, "--format", form, "--out", out)
        is_bare = directory.name == "bare"
        assert (status == DONE) == (not is_bare or form != "png")
        assert ("were omitted" in err) == (is_bare and form != "png")
        written[directory.name] = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.*")}
    marked, bare = written["marked"], written["bare"]
    if form == "html":
        assert b"were omitted" in bare["report.html"]
        for table in (b'id="worst"', b'id="truncation"'):
            assert table in marked["report.html"]
            assert table not in bare["report.html"]
    elif form == "png":
        assert len(bare) < len(marked)
    else:
        assert "truncation.csv" in marked
        assert "truncation.csv" not in bare
        assert "metrics.csv" not in bare
        lines = list(csv.DictReader(bare["checks.csv"].decode().splitlines()))
        assert {line["CHECK"] for line in lines} >= {"budget spent equals declared"}
