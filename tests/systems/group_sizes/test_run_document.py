from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from group_size_runs import SMALL, run_here, small_file, small_table

from phexplore.decide.scenario_export import report_bytes
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.style import FigureFormat
from phexplore.figures.to_matplotlib import figure_bytes
from phexplore.files.scenario_json import decode_scenario
from phexplore.report.html import document_html
from phexplore.report.run_report import write_run_report
from phexplore.runs.spec import RunMode
from phexplore.systems.group_sizes.experiment import VARIANTS, Plan, Subject, measure_scaling, run_experiment
from phexplore.systems.group_sizes.experiment_pictures import experiment_pictures
from phexplore.systems.group_sizes.experiment_report import experiment_csv, experiment_document
from phexplore.systems.group_sizes.run_document import run_report
from phexplore.systems.registry import preset

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def report_files(run, form, out, now):
    return write_run_report(run_report, run, form, out, now)


@pytest.fixture
def finished(tmp_path):
    _, path = small_file(tmp_path, np.random.default_rng(1))
    content, _ = run_here(tmp_path / "run", path, trials=3)
    return tmp_path / "run", content


def test_that_three_dots_at_0_are_no_picture_of_the_report(finished):
    directory, content = finished
    assert not [name for name, value in content["checks"].items() if value is not True]
    report = run_report(directory, NOW)
    drawn = [chart.id for part in report.document().parts for chart in part.charts]
    assert "promises" in [chart.id for chart in report.charts()]
    assert drawn
    assert "promises" not in drawn


def test_that_the_table_holds_every_level_and_size(finished, tmp_path):
    run, content = finished
    (written,) = report_files(run, "csv", tmp_path / "errors.csv", NOW)
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    assert len(rows) == 3 * 13
    for level in content["metrics"]:
        own = [row for row in rows if row["LEVEL"] == level["level"]]
        assert float(own[0]["L1"]) == pytest.approx(level["l1"]["mean"], abs=1e-6)
        assert sum(float(row["L1"]) for row in own[1:]) == pytest.approx(level["l1"]["mean"], abs=1e-4)


def test_that_the_report_says_what_is_protected_and_what_holds(finished, tmp_path):
    run, _ = finished
    (written,) = report_files(run, "html", tmp_path, NOW)
    text = written.read_text()
    assert written.name == "report.html"
    assert "one individual more or less" in text
    assert "published exactly" in text
    assert "groups of every level" in text
    assert "County" in text
    assert "mechanism: C, approximate (Algorithm 2)" in text
    assert re.search(r"true counts of .* are released [\d.]+ groups? too (low|high) on average", text)


def test_that_pictures_fill_a_folder_or_one_file(finished, tmp_path):
    run, _ = finished
    folder = report_files(run, "png", tmp_path / "pictures", NOW)
    assert [path.name for path in folder] == [
        "by-level.png",
        *(f"{picture}-{level}.png" for picture in ("by-truth", "by-size", "shape") for level in (1, 2, 3)),
        "promises.png",
    ]
    (sheet,) = report_files(run, "svg", tmp_path / "all.svg", NOW)
    assert sheet.read_bytes().startswith(b"<?xml")


def test_that_unfinished_runs_and_unknown_formats_are_refused(finished, tmp_path):
    run, _ = finished
    with pytest.raises(UnknownNameError):
        report_files(run, "odt", tmp_path / "x", NOW)
    (run / "summary.json").unlink()
    with pytest.raises(PhexploreError, match="not complete"):
        report_files(run, "csv", tmp_path / "x.csv", NOW)


def test_that_a_run_without_noise_has_figures_and_no_picture(tmp_path):
    _, path = small_file(tmp_path, np.random.default_rng(1))
    run_here(tmp_path / "run", path, trials=1, mode=RunMode.NO_NOISE)
    assert report_files(tmp_path / "run", "html", tmp_path / "x.html", NOW)
    with pytest.raises(PhexploreError, match="nothing to draw"):
        report_files(tmp_path / "run", "png", tmp_path / "x.png", NOW)


def test_that_parameters_are_handed_over_exactly():
    scenario = preset("group-sizes-census-2010").scenario
    assert decode_scenario(json.loads(report_bytes(scenario, None, "group-sizes-json", NOW))) == scenario
    rows = list(csv.DictReader(io.StringIO(report_bytes(SMALL, None, "csv", NOW).decode())))
    assert [row["BUDGET"] for row in rows] == ["0.5"] * 3
    assert [row["SENSITIVITY"] for row in rows] == ["1"] * 3
    with pytest.raises(UnknownNameError):
        report_bytes(scenario, None, "phsafe-config", NOW)


def test_that_an_experiment_is_reported_with_the_published_figures(tmp_path):
    table = small_table(np.random.default_rng(3))
    plan = Plan((Fraction(1, 10), Fraction(1)), 2, 1)
    content = run_experiment([Subject("census", table, ("It is small.",))], plan, tmp_path, lambda *_: None)
    content["scaling"] = measure_scaling(table, (4, 8), Fraction(1), 1, lambda _: None)
    rows = list(csv.DictReader(io.StringIO(experiment_csv(content).decode())))
    assert len(rows) == 2 * len(VARIANTS)
    assert rows[1]["PUBLISHED_LEVEL_3"] == "825.4"
    assert {row["KEEPS_BUDGET"] for row in rows if row["MECHANISM"] == "chain-as-published"} == {"no"}
    figures = [picture.content for picture in experiment_pictures(content)]
    assert [figure.id for figure in figures] == [
        "errors-census-level-1", "errors-census-level-2", "errors-census-level-3", "violations-census", "time-census",
        "time-by-sizes",
    ]  # fmt: skip
    assert figures[2].marks[1].tick == 825.4
    assert figure_bytes(figures[-1], FigureFormat.SVG).startswith(b"<?xml")
    text = document_html(experiment_document(content, NOW)).decode()
    assert "825.4" in text
    assert "It is small." in text
    assert "one individual changes a place per region" in text
