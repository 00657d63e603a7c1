from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from report_fixtures import NOW

from phexplore.catalog.names import Naming, in_words
from phexplore.model.rounded import percent
from phexplore.report.html import document_html
from phexplore.report.run_sections import check_entries
from phexplore.runs.spec import RunMode
from phexplore.runs.store import trial_file
from phexplore.systems.phsafe.observed_figures import coverage_figure
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_document import run_document
from phexplore.systems.phsafe.run_snapshot import run_snapshot
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.run_pictures import run_charts
from tests.report.run_builder import made_run
from tests.report.test_html import Page


def test_that_the_report_tells_what_is_needed_to_judge_and_repeat_the_run(run, run_figures):
    document = run_document(run_figures, run_charts(PHSAFE, run.directory))
    assert [len(part.charts) for part in document.parts[:2]] == [1, 12]
    assert document.parts[0].paragraphs[1].startswith("What was found: The 90 % margins contained ")
    assert document.parts[1].findings == ()
    few = replace(document.parts[1], charts=())
    page = Page(document_html(replace(document, parts=(document.parts[0], few, *document.parts[2:]))))
    words = page.words()
    spec = run_figures.spec
    for text in (
        spec.identity,
        spec.data.sha256,
        "Noise drawn from the seed 7",
        "variance passed",
        "negative 3",
        "phexplore 0.1.0",
        "synthetic",
    ):
        assert text in words
    assert page.headings.count(1) == 1
    assert len(set(page.ids)) == len(page.ids)
    assert len(page.images) == 1


def test_that_a_check_names_its_tables_as_everything_else_does():
    checks = check_entries({"ph5_num_equals_ph4": True, "ph8_num_sums_ph7": 2, "missing_or_repeated_rows": 0})
    assert [name for name, _ in checks] == ["PH5_num equals PH4", "PH8_num sums PH7", "missing or repeated rows"]
    assert in_words(checks[0][0], Naming.NAMES) == "People in families, for averages equals People in families by age"


def test_that_each_query_and_level_has_its_row(run_figures):
    tables = {table.id: table for part in run_document(run_figures).parts for table in part.tables}
    assert list(tables) == ["noise", "levels", "truncation", "worst", "most-biased"]
    assert len(tables["noise"].rows) == 46
    assert len(tables["levels"].rows) == 58
    assert [cell.text for cell in tables["truncation"].rows[2]] == [
        "PH3",
        "6",
        "2,971",
        "81",
        "7,796",
        "170",
        "2.181 %",
    ]
    for table in tables.values():
        spans = 0
        for row in table.rows:
            width = len(row) + (1 if spans > 0 else 0)
            assert width == len(table.headers)
            spans = max(spans - 1, row[0].lines - 1)


def test_that_one_share_reads_alike_wherever_the_report_shows_it(run_figures):
    document = run_document(run_figures)
    tables = {table.id: table for part in document.parts for table in part.tables}
    (cut,) = (tile for tile in document.tiles if tile.label.startswith("Cut by truncation"))
    assert cut.value == next(row[-1].text for row in tables["truncation"].rows if row[0].text in cut.detail)
    for result, row in zip(run_figures.queries, tables["noise"].rows, strict=True):
        held, errors = result.coverage.held, result.coverage.errors
        assert row[-3].text == percent(Fraction(held, errors), places=2)


def test_that_the_first_page_counts_the_trials_that_are_there(tmp_path, us):
    directory = made_run(tmp_path / "r", us, trials=3, complete=False)
    (directory / trial_file(1)).unlink()
    document = run_document(run_snapshot(RunResults.open(directory), NOW))
    assert document.parts[0].paragraphs[0].startswith("What was run: 2 simulated releases, of 3 requested, of exactly")


def test_that_an_unfinished_run_and_an_unreadable_trial_are_named(tmp_path, us):
    directory = made_run(tmp_path / "r", us, trials=3, complete=False)
    (directory / trial_file(1)).write_bytes(b"no Parquet")
    document = run_document(run_snapshot(RunResults.open(directory), NOW))
    assert "not complete" in document.warning
    sections = {section.title: section.entries for part in document.parts for section in part.sections}
    assert trial_file(1) in sections["Parts that could not be read"][0][0]
    assert document.tiles[0].value == "2"


@pytest.mark.parametrize(
    ("mode", "words"), [(RunMode.PRIVATE, "drawn from the seed 7"), (RunMode.NO_NOISE, "protect nobody")]
)
def test_that_counts_unfit_for_a_release_are_named(tmp_path, us, mode, words):
    document = run_document(run_snapshot(RunResults.open(made_run(tmp_path / "r", us, trials=1, mode=mode)), NOW))
    assert words in document.parts[-1].paragraphs[0]


def test_that_trials_alike_by_chance_do_not_make_the_coverage_certain(run_figures):
    held, errors = run_figures.overall.coverage.held, run_figures.overall.coverage.errors
    alike = replace(run_figures, overall=run_figures.overall._replace(error=1e-9))
    (tile,) = (tile for tile in run_document(alike).tiles if tile.label == "Coverage of the margins")
    share = held / errors
    error = (share * (1 - share) / errors) ** 0.5
    assert tile.value == f"{100 * share:.2f} %"
    figure = coverage_figure(alike.queries, Fraction(9, 10), alike.overall)
    doubt = f"standard error {math.ceil(1e4 * error) / 100:.2f} %"  # rounded up in both
    assert doubt in tile.detail
    assert f"contained {tile.value} of the noise ({doubt})" in figure.title
    assert tile.attention is (abs(share - alike.overall.expected) > 4 * error)
