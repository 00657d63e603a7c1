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
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from phexplore.cli.app import DONE, run
from phexplore.data.regions.group_size_reading import read_group_sizes
from phexplore.errors import PhexploreError
from phexplore.interface.runs import Run
from phexplore.resources import resource
from phexplore.runs.disclosure import shared_summary
from phexplore.runs.store import load_spec, trial_file
from phexplore.systems.group_sizes.run_files import read_sizes
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.registry import preset

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


SYSTEMS = {
    "sdhc": "sdhc-2020-us",
    "topdown": "ddp-2019-persons-us",
    "group sizes": "group-sizes-census-2010",
    "subspace": "counties-invariant-2010",
}
"""A scenario of every system."""
BUNDLED = {SYSTEMS["sdhc"], SYSTEMS["topdown"]}
"""The others have no parameter files of production, so no bundle."""


@pytest.fixture(scope="module")
def neighbors(tmp_path_factory, population, persons):
    """Unmarked data of every system, and the same data with one count or record changed."""
    folder = tmp_path_factory.mktemp("neighbors")
    other = folder / "population"
    shutil.copytree(population, other)
    lines = (other / "persons.csv").read_text().splitlines(keepends=True)
    (other / "persons.csv").write_text("".join([*lines[:1], *lines[2:]]))
    records = gzip.decompress(persons.read_bytes()).splitlines(keepends=True)
    fewer = folder / persons.name
    fewer.write_bytes(gzip.compress(b"".join([*records[:1], *records[2:]])))
    return {
        "sdhc": (population, other),
        "topdown": (persons, fewer),
        "group sizes": _tables(folder, "household_sizes_2010.csv", 40),
        "subspace": _tables(folder, "illinois_counties_2010.csv", None),
    }


def _tables(folder, name, most):
    """Two tables without a mark: no published one has these counts, and they differ in those of one county."""
    made = []
    header, first, *rest = resource(f"tables/{name}").read_text().splitlines()[:most]
    columns = header.split(",")
    for number in (1, 2):
        fields = [
            str(int(field) + number) if column in {"pop", "pop_white", "hh1"} else field
            for column, field in zip(columns, first.split(","), strict=True)
        ]
        made.append(folder / f"{number}-{name}")
        made[-1].write_text("\n".join([header, ",".join(fields), *rest]) + "\n")
    return tuple(made)


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
    found = {round(float(found), 4) for found in re.findall(r"-?[1-9]\d*\.\d{4,}", text)}
    return {number for number in found if round(number, 2) != number}


def statistics_of(content):
    """Every figure of a summary that is computed from errors, with digits that nothing else has by chance."""
    return numbers_in(
        json.dumps([content[name] for name in ("metrics", "coverage", "accuracy_report") if name in content])
    )


def leaving(directory, scenario, folder):
    """Everything that leaves a run but noisy counts, as text by its name."""
    texts = {}
    for form in ("csv", "html", "docx"):
        out = folder / form
        out.mkdir(parents=True)
        status, _, err = call("report", directory, "--format", form, "--out", out)
        assert status == DONE, err
        texts[f"{form} said"] = err.replace(str(folder), "")
        assert not [path for path in out.rglob("[!.]*") if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert call("report", directory, "--format", "png", "--out", folder / "png")[0] != DONE
    if scenario in BUNDLED:
        status, _, err = call("bundle", scenario, "--out", folder / "b.zip", "--runs", directory)
        assert status == DONE, err
        assert call("verify", folder / "b.zip")[0] == DONE
    status, texts["compare"], err = call("compare", directory, directory, "--json")
    for path in folder.rglob("*.*"):
        name = path.relative_to(folder).as_posix()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                texts |= {f"{name}/{part}": archive.read(part).decode(errors="replace") for part in archive.namelist()}
        else:
            texts[name] = path.read_text(errors="replace")
    opened = Run(directory)
    texts["python"] = json.dumps(opened.summary())
    for picture in opened.pictures:
        with pytest.raises(PhexploreError):
            opened.errors(by=picture)
    return texts


def same_for_all(text):
    """A text without salted digests and times."""
    for pattern in (r"\b[0-9a-f]{12,64}\b", r"\d{4}-\d\d-\d\d", r"\d\d:\d\d(:\d\d)?"):
        text = re.sub(pattern, "…", text)
    return text


def confirmations(directory):
    """The attack on digests: those that whoever guesses the data right computes."""
    spec = load_spec(directory)
    files = (path for path in directory.rglob("*") if path.is_file() and path.name != "summary-shared.json")
    return {
        spec.data.sha256,
        replace(spec, salt="").identity,
        *(sha256(path.read_bytes()).hexdigest() for path in files),
    }


def made(name, data, trials, directory, *further):
    arguments = ("run", SYSTEMS[name], "--data", data, "--trials", trials, "--out", directory, "--json", *further)
    status, printed, err = call(*arguments)
    assert status == DONE, err
    return printed


@pytest.mark.parametrize("trials", [1, 2, 3])
@pytest.mark.parametrize("name", SYSTEMS)
def test_that_what_leaves_a_run_is_the_same_for_other_records_and_other_noise(tmp_path, neighbors, name, trials):
    found = []
    for side, data in zip("ab", neighbors[name], strict=True):
        directory = tmp_path / side / "run"
        printed = made(name, data, trials, directory)
        texts = {"printed": printed, **leaving(directory, SYSTEMS[name], tmp_path / side / "out")}
        whole = json.loads((directory / "summary.json").read_text())
        known, guesses = statistics_of(whole), confirmations(directory)
        assert known or (name, trials) == ("group sizes", 1)  # of which one trial has whole figures alone
        assert not [text for text, content in texts.items() for guess in guesses if guess in content]
        about_run = (text for part, text in texts.items() if not part.startswith("b.zip/") or "/runs/" in part)
        assert not known & set().union(*map(numbers_in, about_run))
        # The same attack succeeds on what stays in the run.
        assert guesses & set(re.findall(r"[0-9a-f]{64}", (directory / "manifest.json").read_text()))
        found.append({part: same_for_all(text) for part, text in texts.items()})
    assert found[0].keys() == found[1].keys()
    assert not [
        (part, *lines)
        for part in found[0]
        for lines in zip(found[0][part].splitlines(), found[1][part].splitlines(), strict=True)
        if lines[0] != lines[1]
    ]


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_that_the_whole_summary_of_sdhc_gives_exact_sums_with_what_is_published(tmp_path, population, trials):
    directory = tmp_path / "run"
    made("sdhc", population, trials, directory)
    whole = json.loads((directory / "summary.json").read_text())
    found = list(exact_sums(whole["metrics"], RunResults.open(directory)))
    assert sum(reached == true for reached, true in found) > 10
    status, said, err = call("publish", directory, "--draws", 100, "--out", tmp_path / "published", "--json")
    assert (status, json.loads(said)) == (DONE, [])
    note = (tmp_path / "published" / "SIMULATED.txt").read_text()
    assert not [guess for guess in confirmations(directory) if guess in note + err]


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_that_the_whole_summary_of_group_sizes_gives_the_exact_groups_of_every_size(tmp_path, neighbors, trials):
    directory = tmp_path / "run"
    made("group sizes", neighbors["group sizes"][0], trials, directory)
    whole = json.loads((directory / "summary.json").read_text())
    table = read_group_sizes(neighbors["group sizes"][0], preset(SYSTEMS["group sizes"]).scenario.group_sizes)
    exact = table.by_level()[0].sum(axis=0)
    noisy = [read_sizes(directory / trial_file(n), table.tree, table.largest)[0].sum(axis=0) for n in range(trials)]
    mean = np.mean(noisy, axis=0)
    sizes = [(place, size["me"]) for place, size in enumerate(whole["metrics"][0]["sizes"]) if size["size"].isdigit()]
    reached = [round(mean[place] - error) == exact[place] for place, error in sizes]
    assert len(reached) > 3
    assert all(reached)


def test_that_no_seed_of_a_run_on_unmarked_data_leaves_it(tmp_path, neighbors):
    for name, (data, _) in neighbors.items():
        texts = {"printed": made(name, data, 1, tmp_path / name / "run", "--seed", 80317429)}
        texts |= leaving(tmp_path / name / "run", SYSTEMS[name], tmp_path / name / "out")
        assert not [part for part, text in texts.items() if "80317429" in text or "80,317,429" in text]


def test_that_a_stop_rule_leaves_how_many_trials_were_asked_for_not_how_many_it_took():
    found = shared_summary({"trials": 7, "trials_asked": 20, "seconds": {"trials": 3.5}, "failsafe": 2, "seed": 5})
    assert (found["trials"], found["seed"]) == (20, None)
    assert not {"seconds", "failsafe"} & found.keys()


def test_that_what_compares_runs_by_their_errors_refuses_unmarked_data(tmp_path, neighbors):
    grid, out = tmp_path / "grid.json", tmp_path / "sweep.csv"
    grid.write_text(json.dumps({"total": ["1", "2"]}))
    for name in ("topdown", "group sizes"):
        home, data = tmp_path / name, neighbors[name][0]
        status, _, err = call("sweep", SYSTEMS[name], "--grid", grid, "--runs", home, "--data", data, "--out", out)
        assert (status == DONE, "confidential" in err, out.exists(), home.exists()) == (False, True, False, False), err
    tables = {"figure1": ("--counties", "subspace"), "compare": ("--households", "group sizes")}
    for command, (option, name) in tables.items():
        status, _, err = call("subspace", command, option, neighbors[name][0], "--out", tmp_path / command)
        assert (status == DONE, "confidential" in err) == (False, True), err


@pytest.mark.parametrize("count", [np.array([1335, 1510]), np.array([3, 40])])
def test_that_mean_and_rmse_of_two_cells_give_both_exact_counts(count):
    noise = np.array([-175, 62])
    mean, rmse = noise.mean(), math.sqrt((noise**2).mean())
    assert tuple(count.tolist()) in pair_from(count + noise, mean, rmse)


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
