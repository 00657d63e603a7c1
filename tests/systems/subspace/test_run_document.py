"""Reports of subspace runs, in every format."""

from __future__ import annotations

import csv
import shutil
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from subspace_runs import COUNTIES, TWO_RELEASES, counts_file, run_here, specification

import phexplore as px
from phexplore.catalog.names import Naming, called
from phexplore.decide.scenario_export import report_bytes
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.report.run_report import write_run_report
from phexplore.runs.spec import RunMode, encode_spec
from phexplore.runs.store import SPEC_FILE, TRUTH_FILE, RunUnreadableError, close_run
from phexplore.runs.writing import write_json
from phexplore.systems.run_results import RunRequest
from phexplore.systems.subspace.forecast_output import MOST_CLASSES, shown_classes
from phexplore.systems.subspace.run_document import run_report
from phexplore.systems.subspace.run_reader import release_run_reader

NOW = datetime(2024, 11, 21, 12, 0, tzinfo=UTC)


def report_files(run, form, out, now):
    return write_run_report(run_report, run, form, out, now)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    run_here(directory, specification(trials=5))
    return directory


def test_that_the_page_says_what_is_protected_and_what_is_exact(run, tmp_path, monkeypatch):
    monkeypatch.setattr("phexplore.systems.subspace.run_document._WORST", 102)
    (path,) = report_files(run, "html", tmp_path / "report.html", NOW)
    text = path.read_text(encoding="utf-8")
    assert "101 of 102 dimensions, is protected within ε = 0.192" in text
    assert "the grand total is published exactly" in text
    assert "Exact totals broken" in text
    assert text.count("<img") == 4
    assert "5,194,675" in text  # Cook County, every digit
    assert "of the answers are within their margins, aimed at 90 %" in text
    assert "Published data" in text


def test_that_counties_are_called_by_name(run, tmp_path, monkeypatch):
    monkeypatch.setattr("phexplore.systems.subspace.run_document._WORST", 102)
    with called(Naming.NAMES):
        (path,) = report_files(run, "html", tmp_path / "report.html", NOW)
        shown = release_run_reader().answer(RunRequest(run, "truth"))
    assert "Cook County, Illinois" in path.read_text(encoding="utf-8")
    assert "County 17031" in shown.picture.table.column("Answer")


def test_that_the_same_run_gives_the_same_bytes(run, tmp_path):
    pages = [report_files(run, "html", tmp_path / name, NOW)[0].read_bytes() for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]


def test_that_the_table_has_a_line_per_answer(run, tmp_path):
    (path,) = report_files(run, "csv", tmp_path, NOW)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert path.name == "report.csv"
    assert sum(int(row["TRUE"]) for row in rows) == 12_830_632
    assert abs(sum(float(row["MEAN_ERROR"]) for row in rows)) < 1e-3
    assert {row["EXPECTED_VARIANCE"] for row in rows} == {"214.721345"}


@pytest.mark.parametrize("name", ["trial-00003.parquet", TRUTH_FILE])
def test_that_no_report_is_written_of_counts_altered_since(run, tmp_path, name):
    """A bit that flipped in a trial made an answer's error 94 people instead of 16."""
    shutil.copytree(run, tmp_path / "run")
    close_run(tmp_path / "run", "0" * 64)
    content = bytearray((tmp_path / "run" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(RunUnreadableError, match="was altered after the run was complete"):
        report_files(tmp_path / "run", "csv", tmp_path / "out", NOW)
    with pytest.raises(RunUnreadableError, match="was altered after the run was complete"):
        px.open_run(tmp_path / "run")
    assert not (tmp_path / "out").exists()


def test_that_pictures_fill_a_folder_or_one_file(run, tmp_path):
    folder = report_files(run, "png", tmp_path / "pictures", NOW)
    assert [path.name for path in folder] == ["by-release.png", "by-truth.png", "shape.png", "promises.png"]
    (single,) = report_files(run, "svg", tmp_path / "all.svg", NOW)
    assert single.read_bytes().startswith(b"<?xml")


def test_that_pictures_of_several_releases_have_names_of_their_own(tmp_path):
    run_here(tmp_path / "run", specification(TWO_RELEASES, counts_file(tmp_path), trials=2))
    names = [path.name for path in report_files(tmp_path / "run", "svg", tmp_path / "out", NOW)]
    assert names == [
        "by-release.svg", "by-truth-1.svg", "by-truth-2.svg", "shape-1.svg", "shape-2.svg", "promises.svg",
    ]  # fmt: skip


def test_that_a_run_without_noise_has_a_page_but_no_pictures(tmp_path):
    run_here(tmp_path / "run", specification(trials=1, mode=RunMode.NO_NOISE))
    (page,) = report_files(tmp_path / "run", "html", tmp_path / "x.html", NOW)
    assert "<img" not in page.read_text(encoding="utf-8")
    with pytest.raises(PhexploreError, match="nothing to draw"):
        report_files(tmp_path / "run", "png", tmp_path / "x.png", NOW)


def test_that_a_run_without_trials_is_refused(tmp_path):
    write_json(tmp_path / SPEC_FILE, encode_spec(specification()))
    with pytest.raises(PhexploreError, match="no finished trial"):
        report_files(tmp_path, "csv", tmp_path / "x.csv", NOW)


def test_that_an_unknown_format_names_the_known_ones(run, tmp_path):
    with pytest.raises(UnknownNameError):
        report_files(run, "odt", tmp_path / "x", NOW)


def test_that_a_scenario_is_exported_as_a_table_and_as_exact_parameters():
    rows = list(csv.DictReader(report_bytes(COUNTIES, None, "csv", NOW).decode().splitlines()))
    assert [(row["RELEASE"], row["UNIT_VARIANCE"], row["MOE_EXACT"]) for row in rows] == [("counties", "101/102", "24")]
    assert b'"epsilon": "0.192"' in report_bytes(COUNTIES, None, "subspace-json", NOW)
    with pytest.raises(UnknownNameError):
        report_bytes(COUNTIES, None, "odt", NOW)


def test_that_many_kinds_of_answers_are_shown_by_three():
    assert shown_classes(tuple(range(MOST_CLASSES))) == tuple(range(MOST_CLASSES))
    assert shown_classes(tuple(range(100))) == (0, 50, 99)
    assert Fraction(MOST_CLASSES) > 3
