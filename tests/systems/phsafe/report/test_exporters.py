from __future__ import annotations

import subprocess
import sys

import pytest
from report_fixtures import NOW, edited

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.runs.spec import RunMode
from phexplore.systems.phsafe.exporters import RUN_EXPORTERS, SCENARIO_EXPORTERS, run_exporter, scenario_exporter
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_snapshot import run_snapshot
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from tests.report.run_builder import made_run

STARTS = {
    ".csv": b"",
    ".xlsx": b"PK",
    ".html": b"<!DOCTYPE html>",
    ".pdf": b"%PDF",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
}


def written(exporter, value):
    try:
        return exporter.write(value)
    except PhexploreError as error:
        if exporter.suffix == ".pdf":
            pytest.skip(error.sentence)
        raise


QUICK = {".csv", ".xlsx"}
"""Documents and figures take seconds, and other tests write them too."""


def formats(exporters):
    return [
        pytest.param(exporter, id=name, marks=[] if exporter.suffix in QUICK else [pytest.mark.slow])
        for name, exporter in exporters.items()
    ]


@pytest.mark.parametrize("exporter", formats(SCENARIO_EXPORTERS))
def test_that_every_scenario_format_is_written(us, exporter):
    content = written(exporter, scenario_snapshot(edited(us), NOW))
    assert content.startswith(STARTS[exporter.suffix])
    assert len(content) > 1000


@pytest.mark.parametrize("exporter", formats(RUN_EXPORTERS))
def test_that_every_run_format_is_written(run_figures, exporter):
    content = written(exporter, run_figures)
    assert content.startswith(STARTS[exporter.suffix])
    assert len(content) > 1000


@pytest.mark.parametrize("exporter", [*SCENARIO_EXPORTERS.values(), *RUN_EXPORTERS.values()], ids=lambda e: e.title)
def test_that_a_format_has_a_suffix_and_a_title(exporter):
    assert exporter.suffix in STARTS
    assert exporter.title.endswith(exporter.suffix[1:].upper()) or exporter.suffix == ".xlsx"


def test_that_an_unknown_format_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        scenario_exporter("xslx")
    assert caught.value.remedy == "Did you mean 'xlsx'?"
    with pytest.raises(UnknownNameError, match="'htm'"):
        run_exporter("htm")
    assert scenario_exporter("csv").suffix == run_exporter("csv").suffix == ".csv"


def test_that_a_run_with_nothing_to_draw_says_so(tmp_path, us):
    from dataclasses import replace

    figures = run_snapshot(RunResults.open(made_run(tmp_path / "r", us, trials=1, mode=RunMode.NO_NOISE)), NOW)
    with pytest.raises(PhexploreError, match="nothing to draw"):
        run_exporter("png").write(replace(figures, truncation=()))


def test_that_listing_the_formats_loads_nothing_heavy():
    code = (
        "import sys, phexplore.systems.phsafe.exporters;"
        "print([m for m in ('numpy', 'matplotlib', 'jinja2', 'xlsxwriter', 'openpyxl', 'weasyprint', 'pyarrow', 'numba')"
        " if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
