from __future__ import annotations

import base64
import html.parser
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from report_fixtures import NOW, edited, pure_dp, unlimited

from phexplore.decide.scenario_export import report_bytes
from phexplore.model.comment import Comment
from phexplore.report.document import heading, table_of, words
from phexplore.report.html import document_html
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.scenario_document import scenario_document
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.registry import preset

VOID = {"meta", "img", "br", "link", "input", "hr", "source"}


class Page(html.parser.HTMLParser):
    """Reads a page and checks what a screen reader needs: closed elements, one order of headings, names for pictures."""

    def __init__(self, content):
        super().__init__()
        self.open, self.headings, self.images, self.ids, self.labels, self.text = [], [], [], [], [], []
        self.headers, self.addresses = [], []
        self.feed(content.decode())
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.images.append(found)
        if tag == "th":
            self.headers.append(found.get("scope"))
        self.ids += [found["id"]] if "id" in found else []
        self.labels += [found["aria-labelledby"]] if "aria-labelledby" in found else []
        self.addresses += [found[name] for name in ("href", "src", "action") if name in found]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def page_bytes():

    us = preset("sdhc-2020-us").scenario
    return document_html(scenario_document(scenario_snapshot(edited(us), NOW, us)))


def test_that_the_report_is_one_file_that_asks_for_nothing_else(page_bytes):
    page = Page(page_bytes)
    assert all(address.startswith(("data:", "#")) for address in page.addresses)
    assert b"<script" not in page_bytes
    assert b"url(" not in page_bytes
    for image in page.images:
        assert base64.b64decode(image["src"].partition(",")[2]).startswith(b"<?xml")


def test_that_the_report_is_accessible(page_bytes):
    page = Page(page_bytes)
    assert page_bytes.startswith(b'<!DOCTYPE html>\n<html lang="en">')
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
    assert len(page.images) == 3
    assert all(len(image["alt"]) > 60 for image in page.images)
    assert set(page.headers) <= {"col", "row", "rowgroup"}
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.labels) <= set(page.ids)


def test_that_pictures_come_before_tables_and_tables_before_the_method(page_bytes):
    assert page_bytes.index(b"<img") < page_bytes.index(b"<table") < page_bytes.index(b"Formulas")


def test_that_every_picture_has_one_for_a_telephone_and_none_scrolls_sideways(us):
    page = report_bytes(us, None, "html", NOW).decode()
    slim = re.findall(
        r'<source media="\(max-width: 36rem\)" srcset="data:image/svg\+xml;base64,(.*?)" width="(\d+)"', page
    )
    assert len(slim) == page.count("<img") > 2
    assert all(int(width) < 390 for _, width in slim)
    assert not re.search(r"figure \{[^}]*overflow", page)


def test_that_a_long_comment_goes_over_several_lines(us):
    """It stood on one line of two thousand pixels."""
    said = replace(us, comments=(Comment("Too wide for us. " * 30, "Ann Lee", "2026-11-22T10:00:00+00:00"),))
    cell = re.search(r"<td([^>]*)>Too wide", report_bytes(said, None, "html", NOW).decode())
    assert cell[1] == ""


def test_that_text_of_the_user_is_escaped(page_bytes):
    assert b"Proposal &lt;3&gt; &amp; more" in page_bytes
    assert b"<3>" not in page_bytes


def test_that_headline_errata_and_changes_are_told(page_bytes):
    words = Page(page_bytes).words()
    for sentence in (
        "≈ 1.850039",
        "exactly 1387529/750000",
        "44 of 45",
        "with z = 1.645",
        "margin is 496 units",
        "PH3 (State, A-G): margin 20.0 people → 28.2 people; unbounded ρ 0.662976 → 1/3",
        "PH2 (Nation, Unattributed): margin 500 people → not published; unbounded ρ 0.002619 → 0",
        "PH7: truncation threshold 10 → 5; sensitivity 22 → 12 people",
        "1/3 of PH3 (State, A-G) has no finite decimal",
        "δ of the headline ε 1e-10",
    ):
        assert sentence in words


def test_that_the_same_snapshot_gives_the_same_bytes(us, page_bytes):
    assert document_html(scenario_document(scenario_snapshot(edited(us), NOW, us))) == page_bytes


def test_that_equal_parameters_are_said_to_be_equal(us):
    document = scenario_document(scenario_snapshot(us, NOW, replace(us, name="Other name")))
    assert "The parameters are the same." in [text for part in document.parts for text in part.paragraphs]


def test_that_a_scenario_without_noise_is_marked(us):
    tiles = scenario_document(scenario_snapshot(unlimited(us), NOW)).tiles
    assert (tiles[0].value, tiles[0].attention) == ("∞", True)


def test_that_pure_dp_speaks_of_epsilon(us):
    document = scenario_document(scenario_snapshot(pure_dp(us), NOW))
    headers = [header.text for part in document.parts for table in part.tables for header in table.headers]
    assert "Unbounded\nε" in headers
    assert document.tiles[0].label == "Privacy loss"
    assert document.tiles[0].detail.startswith("ε bounded; ")


def test_that_the_time_of_a_document_needs_a_zone(us):
    with pytest.raises(ValueError, match="needs a zone"):
        scenario_snapshot(us, NOW.replace(tzinfo=None))


def test_that_a_long_group_of_a_table_says_its_name_again_where_it_may_be_on_another_page():
    columns = (heading("Level", lambda row: row[0], spans=True), words("Query", lambda row: row[1]))
    rows = [("State", "total"), *(("Block", f"query {number}") for number in range(40))]
    names = [row[0] for row in table_of("t", "T", columns, rows).rows if len(row) == 2]
    assert [name.text for name in names] == ["State", *["Block"] * 5]
    assert sum(name.lines for name in names) == len(rows)


def test_that_no_heading_stands_above_nothing(us):
    none = us
    for query in us.phsafe.budgets:
        none = set_budget(none, query, Fraction(0))
    page = report_bytes(none, None, "html", NOW).decode()
    assert "Nothing is published" in page
    assert not re.search(r"</h2>\s*</section>", page)


def test_that_a_tile_says_a_short_exact_loss_once():
    """It read *0.192000* and *exactly 0.192*."""
    page = report_bytes(preset("counties-invariant-2010").scenario, None, "html", NOW).decode()
    tile = page[page.index('class="tile"') : page.index("</div>", page.index('class="tile"'))]
    assert re.findall(r"\d[\d.]*", tile) == ["0.192"]
