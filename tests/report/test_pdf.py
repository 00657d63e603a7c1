from __future__ import annotations

import builtins
import os
import re
import subprocess
import sys

import pytest
from report_fixtures import NOW, unpacked

from phexplore.report.document import Cell, Document, Header, Part, TableView
from phexplore.report.html import document_html
from phexplore.report.pdf import PdfUnavailableError, pdf_from_html
from phexplore.systems.phsafe.scenario_document import scenario_document


@pytest.fixture(scope="module")
def page():
    table = TableView(
        "t",
        "A table",
        (Header("Row"), Header("People", number=True)),
        ((Cell("a", heading=True), Cell("1", number=True)),),
    )
    return document_html(
        Document("Title", "Kind", "made", (), (Part("p", "Part", ("Words.",), tables=(table,)),), "2026")
    )


@pytest.fixture(scope="module")
def _weasyprint_works():
    try:
        pdf_from_html(b"<html lang=en><title>x</title></html>", NOW)
    except PdfUnavailableError as error:
        pytest.skip(error.sentence)


@pytest.mark.usefixtures("_weasyprint_works")
def test_that_the_pdf_is_tagged_and_the_same_bytes_twice(page):
    before = dict(os.environ)
    first, second = (pdf_from_html(page, NOW) for _ in range(2))
    assert first == second
    assert first.startswith(b"%PDF-1.")
    assert dict(os.environ) == before


@pytest.mark.defect("T5")
@pytest.mark.skipif(os.name != "posix", reason="programs of a shell")
@pytest.mark.usefixtures("_weasyprint_works")
def test_that_no_program_of_the_path_is_called(tmp_path):
    calls = tmp_path / "calls"
    calls.touch()
    for name in ("gcc", "cc", "ld", "objdump", "ldconfig"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} >> "{calls}"\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    make = (
        "from datetime import UTC, datetime\n"
        "from phexplore.report.pdf import pdf_from_html\n"
        "print(pdf_from_html(b'<html lang=en><title>x</title></html>', datetime(2026, 1, 1, tzinfo=UTC))[:5])"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [sys.executable, "-c", make], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert made.stdout.strip() == "b'%PDF-'"
    assert calls.read_text() == ""


@pytest.mark.usefixtures("_weasyprint_works")
def test_that_the_title_and_number_of_a_page_are_no_part_of_what_is_read(page):
    """ISO 14289-1, 7.8."""
    mark = re.compile(rb"/Artifact\s*<<\s*/Type /Pagination\s*>>\s*BDC")
    assert len(mark.findall(unpacked(pdf_from_html(page, NOW)))) == 2


@pytest.mark.usefixtures("_weasyprint_works")
def test_that_a_long_title_leaves_the_number_of_the_page_on_one_line():
    pdfium = pytest.importorskip("pypdfium2")
    long = Document(
        "Consensus draft of the committee after the third meeting " * 2, "Kind", "", (), (Part("p", "Part"),), "2026"
    )
    (only,) = pdfium.PdfDocument(pdf_from_html(document_html(long), NOW))
    assert "1 / 1" in only.get_textpage().get_text_range()


@pytest.mark.usefixtures("_weasyprint_works")
def test_that_the_rows_of_a_long_table_stay_on_the_page_of_their_name(snapshot):
    """Else a page begins with rows of nothing, and a screen reader meets a table whose rows have different lengths."""
    pdfium = pytest.importorskip("pypdfium2")
    made = pdf_from_html(document_html(scenario_document(snapshot)), NOW)
    texts = (page.get_textpage().get_text_range() for page in pdfium.PdfDocument(made))
    (words,) = [words for words in texts if "in the shape of Table 10" in words]
    assert "PH2" in words  # not the first row alone


def test_that_lists_hold_items_alone_and_every_header_says_what_it_heads():
    """ISO 14289-1, 7.5 and 7.6: read from the file's objects, not from what made them."""
    body = "<dl><div><dt>Name</dt><dd>Words</dd></div></dl><table><tr><th>A<th>B</tr><tr><th>c<td>1</tr></table>"
    objects = unpacked(pdf_from_html(f"<html lang=en><title>x</title>{body}</html>".encode(), NOW))
    assert (objects.count(b"/S /LI"), objects.count(b"/S /Lbl"), objects.count(b"/S /LBody")) == (1, 1, 1)
    assert (objects.count(b"/Scope /Column"), objects.count(b"/Scope /Row")) == (2, 1)
    assert objects.count(b"/S /TH") == 3


@pytest.mark.usefixtures("_weasyprint_works")
def test_that_a_report_that_asks_for_a_file_is_refused(tmp_path):
    picture = tmp_path / "x.png"
    picture.write_bytes(b"")
    with pytest.raises(BaseException, match="Error fetching"):
        pdf_from_html(f'<html lang=en><title>x</title><img alt="" src="{picture.as_uri()}"></html>'.encode(), NOW)


@pytest.mark.parametrize(
    ("failure", "words", "remedy"),
    [
        (ImportError("No module named 'weasyprint'"), "weasyprint is not installed", "phexplore[pdf]"),
        (OSError("cannot load library 'libpango-1.0-0'"), "libpango-1.0-0", "apt-get install libpango"),
    ],
)
def test_that_a_missing_library_is_named_with_its_cure(monkeypatch, page, failure, words, remedy):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "weasyprint":
            raise failure
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PdfUnavailableError) as caught:
        pdf_from_html(page, NOW)
    assert words in caught.value.sentence
    assert remedy in caught.value.remedy
