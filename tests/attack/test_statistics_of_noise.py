"""Statistics of the drawn noise with the noisy counts of a release give exact counts: nothing that leaves a run holds any."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import shutil
import stat
import zipfile
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest

from phexplore.cli.app import DONE, run
from phexplore.errors import PhexploreError
from phexplore.interface.runs import Run
from phexplore.systems.phsafe.results import RunResults

pytestmark = pytest.mark.defect("T25")


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def population(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare") / "population"
    assert call("synth", "sdhc", "--persons", 600, "--states", 44, "--seed", 1, "--out", folder)[0] == DONE
    for name in ("provenance.json", *(f"{frame}.parquet" for frame in ("persons", "units", "geo"))):
        (folder / name).unlink()
    return folder


@pytest.fixture(scope="module")
def persons(tmp_path_factory):
    file = tmp_path_factory.mktemp("blocks") / "persons.txt.gz"
    assert call("synth", "demonstration-2010", "--blocks", 40, "--seed", 1, "--out", file)[0] == DONE
    _, header, *records = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    file.write_bytes(gzip.compress(b"".join([header, *records])))
    return file


def exact_sums(metrics, results):
    """The attack: the sum of the noisy counts of a table and level less their noise, number times mean, beside the true sum."""
    groups = {(group.query.table, group.query.level.text): group.rows for group in results.level_groups}
    for entry in metrics:
        rows = groups[entry["table"], entry["level"]]
        noisy = sum(int(results.released(trial)[rows].sum()) for trial in results.trials) / len(results.trials)
        if "noise" in entry:
            mean = entry["noise"]["me"]["value"]
            yield round(noisy - len(rows) * mean), int(results.truth().truncated[rows].sum())


def pair_from(counts, mean, rmse):
    """The attack on two cells: both true values, up to their order of noise."""
    spread = math.sqrt(max(rmse**2 - mean**2, 0))
    return {
        tuple(np.round(counts - mean + sign * np.array([spread, -spread])).astype(int).tolist()) for sign in (1, -1)
    }


def numbers_in(text):
    return {round(float(found), 4) for found in re.findall(r"-?[1-9]\d*\.\d{4,}", text)}


def statistics_of(content):
    """Every figure of a summary that is computed from errors, with digits that nothing else has by chance."""
    return numbers_in(
        json.dumps([content[name] for name in ("metrics", "coverage", "accuracy_report") if name in content])
    )


def written_by(directory, scenario, folder):
    """Everything that leaves a run, as text."""
    texts = []
    for form in ("csv", "html"):
        out = folder / form
        out.mkdir(parents=True)
        status, said, err = call("report", directory, "--format", form, "--out", out)
        assert status == DONE, err
        texts += [said, err]
        assert not [path for path in out.rglob("[!.]*") if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert call("report", directory, "--format", "png", "--out", folder / "png")[0] != DONE
    status, _, err = call("bundle", scenario, "--out", folder / "b.zip", "--runs", directory)
    assert status == DONE, err
    with zipfile.ZipFile(folder / "b.zip") as archive:
        texts += [
            archive.read(name).decode(errors="replace") for name in archive.namelist() if name.startswith("runs/")
        ]
    texts += [
        path.read_text(errors="replace")
        for path in folder.rglob("*.*")
        if path.suffix in {".csv", ".html", ".txt", ".json"}
    ]
    opened = Run(directory)
    texts.append(json.dumps(opened.summary()))
    for picture in opened.pictures:
        with pytest.raises(PhexploreError):
            opened.errors(by=picture)
    return texts


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_that_nothing_that_leaves_a_run_turns_its_published_counts_into_exact_ones(tmp_path, population, trials):
    directory, scenario = tmp_path / "run", "sdhc-2020-us"
    arguments = ("run", scenario, "--data", population, "--trials", trials, "--out", directory, "--json")
    status, printed, _ = call(*arguments)
    assert status == DONE
    whole = json.loads((directory / "summary.json").read_text())
    assert whole["releasable"]
    results = RunResults.open(directory)
    known, found = statistics_of(whole), list(exact_sums(whole["metrics"], results))
    assert len(known) > 10
    assert sum(reached == true for reached, true in found) > 10
    # It finds nothing in what leaves.
    out = tmp_path / "out"
    texts = [printed, *written_by(directory, scenario, out)]
    status, said, err = call("publish", directory, "--draws", 100, "--out", tmp_path / "published", "--json")
    assert (status, json.loads(said)) == (DONE, [])
    texts += [said, err]
    assert not known & set().union(*map(numbers_in, texts))
    assert not any(re.search(r'"(rmse|mae|me|malpe|truncation)":', text) for text in texts)


@pytest.mark.parametrize("count", [np.array([1335, 1510]), np.array([3, 40])])
def test_that_mean_and_rmse_of_two_cells_give_both_exact_counts(count):
    noise = np.array([-175, 62])
    mean, rmse = noise.mean(), math.sqrt((noise**2).mean())
    assert tuple(count.tolist()) in pair_from(count + noise, mean, rmse)


def test_that_a_run_of_topdown_lets_no_error_leave(tmp_path, persons):
    directory, scenario = tmp_path / "run", "ddp-2019-persons-us"
    status, printed, err = call("run", scenario, "--data", persons, "--out", directory, "--json")
    assert status == DONE, err
    whole = json.loads((directory / "summary.json").read_text())
    known = statistics_of(whole)
    assert known
    assert not known & set().union(*map(numbers_in, [printed, *written_by(directory, scenario, tmp_path / "out")]))


def test_that_a_run_whose_noise_can_be_drawn_again_publishes_nothing(tmp_path, population, persons):
    for scenario, data, command in (
        ("sdhc-2020-us", population, ("publish",)),
        ("ddp-2019-persons-us", persons, ("published", "tables")),
    ):
        directory, out = tmp_path / scenario, tmp_path / f"{scenario}-out"
        assert call("run", scenario, "--data", data, "--seed", 1, "--out", directory)[0] == DONE
        status, _, err = call(*command, directory, "--out", out)
        assert status != DONE
        assert "seed" in err
        assert not out.exists()


@pytest.mark.defect("T5")
def test_that_no_value_of_a_contradicting_record_is_written_and_every_file_is_for_its_owner(tmp_path, population):
    bare, directory = tmp_path / "population", tmp_path / "run"
    shutil.copytree(population, bare)
    file = bare / "units.csv"
    lines = file.read_text().splitlines()
    names = lines[0].lower().split(",")
    place, mark = names.index("hht2"), names.index("mafid")
    identifiers = []
    for number, line in enumerate(lines[1:], 1):
        fields = line.split(",")
        if fields[place] not in {"00", "0"}:
            fields[place] = "00"
            lines[number] = ",".join(fields)
            identifiers.append(fields[mark])
    file.write_text("\n".join(lines) + "\n")
    status, out, err = call("run", "sdhc-2020-us", "--data", bare, "--out", directory)
    assert status != DONE
    assert "persons.csv:" in err or "units.csv:" in err
    texts = [out, err, *(path.read_text(errors="replace") for path in directory.iterdir())]
    assert len(identifiers) > 50
    assert not any(each in text for text in texts for each in identifiers)
    assert not any(re.search(r"HHT2 (is )?\d", text) for text in texts)
    assert not [path.name for path in directory.iterdir() if stat.S_IMODE(path.stat().st_mode) & 0o077]
