"""Reports of TopDown runs: files, figures and words, from a small run."""

import csv
import io
import json
import re
from datetime import UTC, datetime

import numpy as np
import pyarrow.parquet as pq
import pytest
from topdown_runs import run as run_here
from topdown_runs import spec_of
from topdown_worlds import PERSONS, blocks

from phexplore.catalog.names import Naming, called, worded
from phexplore.data.blocks.generator import write_block_file
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.scenario import Scenario
from phexplore.report.run_report import write_run_report
from phexplore.resources import resource
from phexplore.runs.launch import WorkerProcess
from phexplore.runs.spec import RunSpec, describe_blocks
from phexplore.runs.store import SUMMARY_FILE, prepare_directory
from phexplore.runs.writing import write_json
from phexplore.systems.run_pictures import run_charts
from phexplore.systems.topdown.results import TopDownResults, _finest_that_fits
from phexplore.systems.topdown.run_document import run_document, run_report
from phexplore.systems.topdown.run_files import MOST_COLUMNS
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.systems.topdown.system import TOPDOWN
from phexplore.workload.schema import load_schema

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
PICTURES = ["errors", "shape", "bias", "worst", "place", "groups", "tables", "criterion", "plausible"]
"""What can be drawn of a run alone that kept no noisy answers."""


def report_files(run, form, out, now):
    return write_run_report(run_report, run, form, out, now)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    write_block_file(blocks(), place / "blocks.csv")
    spec = RunSpec(Scenario("A scenario", PERSONS), describe_blocks(place / "blocks.csv"), 2, 1)
    directory = prepare_directory(place / "run", spec)
    with WorkerProcess(directory) as worker:
        list(worker.events())
    return directory


def rows(content):
    return list(csv.DictReader(io.StringIO(content)))


def test_that_csv_fills_a_folder(finished, tmp_path):
    written = report_files(finished, "csv", tmp_path, NOW)
    tables, pictures = [path.name for path in written[:4]], [path.name for path in written[4:]]
    assert tables == ["figures.csv", "sizes.csv", "distributions.csv", "redistricting.csv"]
    assert pictures == [*(f"picture-{name}.csv" for name in PICTURES), "provenance.json"]


def test_that_figures_are_those_of_the_files(finished, tmp_path):
    report_files(finished, "csv", tmp_path / "figures.csv", NOW)
    table = {(row["level"], row["query"], row["figure"]): row for row in rows((tmp_path / "figures.csv").read_text())}
    truth, *trials = (
        np.stack([column.to_numpy() for column in pq.read_table(finished / name).columns[1:]], axis=1).sum(axis=1)
        for name in ("truth.parquet", "trial-00000.parquet", "trial-00001.parquet")
    )
    expected = np.mean([np.abs(trial - truth).mean() for trial in trials])
    assert float(table["Block", "total", "mae"]["value"]) == pytest.approx(expected)


def test_that_distributions_hold_every_number_of_every_trial(finished, tmp_path):
    report_files(finished, "csv", tmp_path, NOW)
    found = rows((tmp_path / "distributions.csv").read_text())
    total = sum(int(row["numbers"]) for row in found if (row["level"], row["query"]) == ("Block", "detailed"))
    assert total == 2 * 150 * 16


def test_that_html_says_what_was_checked_and_what_became_of_the_scenario(finished, tmp_path):
    (target,) = report_files(finished, "html", tmp_path, NOW)
    text = target.read_text()
    for words in (
        "all passed",
        "P.L. 94-171 persons (pl94_persons) → P.L. 94-171 persons in 16 cells (pl94_reduced16)",
        "Dropped levels",
        "redistricting criterion",
        "A scenario",
    ):
        assert words in text


def test_that_tables_call_levels_as_the_sentences_do(finished):
    document = run_document(TopDownResults.open(finished), (), NOW)
    levels = {row[0].text for part in document.parts for table in part.tables for row in table.rows}
    said = {level for level in levels if level.lower().startswith("block")}
    assert said == {"Block", "Block group"}


def test_that_queries_and_shipped_scenarios_are_called_by_names_where_those_are_chosen(finished):
    document = run_document(TopDownResults.open(finished), (), NOW)
    with called(Naming.NAMES):
        parts = {
            table.id: table
            for part in run_document(TopDownResults.open(finished), (), NOW).parts
            for table in part.tables
        }
        texts = [worded(cell.text) for row in parts["confidence"].rows for cell in row]
    assert not [text for text in texts if re.search(r"(pl94|dhc)-2020", text)]
    assert not [
        cell
        for part in document.parts
        for table in part.tables
        for row in table.rows
        for cell in row
        if " * " in cell.text
    ]


def test_that_the_same_run_gives_the_same_bytes(finished, tmp_path):
    one, other = (report_files(finished, "html", tmp_path / name, NOW)[0] for name in ("a.html", "b.html"))
    assert one.read_bytes() == other.read_bytes()


def test_that_every_chart_is_described_and_found(finished):
    charts = run_charts(TOPDOWN, finished)
    assert [chart.id for chart in charts] == PICTURES
    assert all(chart.finding and len(chart.description) > 80 for chart in charts)


def test_that_pictures_fill_a_folder(finished, tmp_path):
    written = report_files(finished, "png", tmp_path, NOW)
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in written)


@pytest.mark.parametrize("path", sorted(resource("schemas").glob("*.toml")), ids=lambda path: path.stem)
def test_that_where_units_are_off_is_told_by_answers_that_fit_memory(path):
    assert _finest_that_fits(load_schema(path.stem)).answers <= MOST_COLUMNS


def test_that_worst_units_are_named_per_level(finished):
    found = TopDownResults.open(finished).worst(2)
    assert {unit.level for unit in found} == {"County", "Tract", "Block_Group", "Block"}
    county = next(unit for unit in found if unit.level == "County")
    assert county.title == f"County {county.code}"
    assert county.sentence.startswith(county.title)
    block = next(unit for unit in found if unit.level == "Block")
    assert block.title == block.code
    assert block.code in blocks().geoids
    assert block.code in block.sentence


def test_that_a_run_without_summary_is_reported_from_its_trials(finished, tmp_path):
    import shutil

    shutil.copytree(finished, tmp_path / "run")
    for name in ("summary.json", "manifest.json"):
        (tmp_path / "run" / name).unlink()
    whole, part = TopDownResults.open(finished), TopDownResults.open(tmp_path / "run")
    assert part.metrics == whole.metrics
    document = run_document(part, (), NOW)
    assert "not complete" in document.warning


def test_that_an_unknown_format_and_a_run_without_trials_are_refused(finished, tmp_path):
    with pytest.raises(UnknownNameError):
        report_files(finished, "odt", tmp_path, NOW)
    import shutil

    shutil.copytree(finished, tmp_path / "run")
    for path in (tmp_path / "run").glob("trial-*"):
        path.unlink()
    with pytest.raises(PhexploreError, match=r"trial-00000\.parquet is missing"):
        report_files(tmp_path / "run", "html", tmp_path, NOW)


def test_that_the_report_holds_all_pictures_of_the_page_of_results(tmp_path):
    """Of a run that kept its noisy answers, beside another run, with a file of shapes."""
    write_block_file(blocks(), tmp_path / "blocks.csv")
    for name, seed in (("run", 1), ("other", 2)):
        options = TopDownOptions(keep_measurements=True)
        spec = spec_of(tmp_path / "blocks.csv", trials=1, seed=seed, options=options)
        summary = run_here(tmp_path / name, spec)
        write_json(tmp_path / name / SUMMARY_FILE, {**summary, "trials": 1, "seconds": {}})
    ring = [[-71.5, 41.5], [-71.4, 41.5], [-71.4, 41.6], [-71.5, 41.5]]
    polygon = {"type": "Polygon", "coordinates": [ring]}
    shapes = [
        {"type": "Feature", "properties": {"geoid": str(code)}, "geometry": polygon} for code in blocks().geoids[:9]
    ]
    (tmp_path / "shapes.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": shapes}))
    chosen = {"shapes": str(tmp_path / "shapes.geojson"), "others": str(tmp_path / "other")}
    charts = run_charts(TOPDOWN, tmp_path / "run", chosen)
    assert [chart.id for chart in charts] == [tab.id for tab in TOPDOWN.results.tabs]
    assert len(charts) == 12
    with pytest.raises(UnknownNameError, match="shape"):
        run_charts(TOPDOWN, tmp_path / "run", {"shape": "x"})


def test_that_a_choice_no_picture_offers_is_refused_with_those_that_are(finished):
    assert run_charts(TOPDOWN, finished, {"level": "County"})
    with pytest.raises(UnknownNameError, match="level"):
        run_charts(TOPDOWN, finished, {"level": "Parish"})
