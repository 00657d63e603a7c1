from __future__ import annotations

import subprocess
import sys

import pytest
from report_fixtures import NOW, edited

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.report.run_report import FORMATS, write_run_report
from phexplore.systems.phsafe.run_document import run_report
from phexplore.systems.phsafe.system import PHSAFE

STARTS = {
    ".csv": b"",
    ".xlsx": b"PK",
    ".html": b"<!DOCTYPE html>",
    ".pdf": b"%PDF",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
    ".docx": b"PK",
    ".pptx": b"PK",
}

QUICK = {"csv", "xlsx"}
"""Documents and figures take seconds, and other tests write them too."""


def each(formats):
    return [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in formats]


def or_skipped(write, suffix):
    try:
        return write()
    except PhexploreError as error:
        if suffix == ".pdf":
            pytest.skip(error.sentence)
        raise


@pytest.mark.parametrize("name", each(PHSAFE.formats))
def test_that_every_scenario_format_is_written(us, name):
    form = PHSAFE.formats[name]
    content = or_skipped(lambda: form.write(edited(us), None, NOW), form.suffix)
    assert content.startswith(STARTS[form.suffix])
    assert len(content) > 1000
    named = {".docx": "Word", ".pptx": "slides", ".xlsx": "workbook"}
    assert form.title.endswith(named.get(form.suffix, form.suffix[1:].upper()))


@pytest.mark.parametrize("name", each(FORMATS))
def test_that_every_run_format_is_written(run, tmp_path, name):
    target = tmp_path / f"x{FORMATS[name]}"
    or_skipped(lambda: write_run_report(run_report, run.directory, name, target, NOW), FORMATS[name])
    assert target.read_bytes().startswith(STARTS[FORMATS[name]])
    assert target.stat().st_size > 1000


def test_that_an_unknown_format_is_refused_with_the_nearest(run, tmp_path):
    with pytest.raises(UnknownNameError) as caught:
        write_run_report(run_report, run.directory, "htm", tmp_path, NOW)
    assert caught.value.remedy == "Did you mean 'html'?"


def test_that_listing_the_formats_loads_nothing_heavy():
    code = (
        "import sys, phexplore.systems.registry;"
        "print([m for m in ('numpy', 'matplotlib', 'jinja2', 'xlsxwriter', 'openpyxl', 'weasyprint', 'pyarrow', 'numba')"
        " if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
