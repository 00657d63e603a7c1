"""Word files and slides hold the numbers of the page; they are read back from the XML, not by what wrote them."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from fractions import Fraction

import pytest
from lxml import etree
from matplotlib.figure import Figure as MatplotlibFigure
from report_fixtures import NOW

from phexplore.decide.scenario_export import report_bytes
from phexplore.figures.axis import Axis
from phexplore.figures.figure import ROWS, Figure, row_figure
from phexplore.figures.marks import Dot, Mark, Role, Row
from phexplore.figures.style import FigureFormat, chart_bytes
from phexplore.figures.table import Table
from phexplore.figures.to_matplotlib import chart_of
from phexplore.model.approval import Decision, Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.keys import parse_query
from phexplore.report.document import Cell, Document, Header, Part, TableView
from phexplore.report.document_files import packed
from phexplore.report.export_formats import Occasion
from phexplore.report.slides import MOST_SLIDES, NUMBER_SIGN, document_pptx, picture_pptx, wide_charts
from phexplore.report.word import document_docx
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.margin_figure import margins_figure
from phexplore.systems.registry import preset

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
WORD, DRAWING = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://schemas.openxmlformats.org/drawingml/2006/main}",
)


HELVETICA_BOLD = {
    " .,/:;ijlI": 278, "()-ft": 333, "r": 389, "±<≤⌊⌋": 584, "bdghnopquTLFZρσ": 611, "EPSVXY": 667, "ABCDHKNRU": 722, "wGOQ": 778, "M": 833,
    "m%": 889, "W": 944,
}  # fmt: skip
"""Widths in thousandths of the size; every other letter and digit is 556 wide."""


@pytest.fixture(scope="module")
def reports():
    us = preset("sdhc-2020-us").scenario
    first, *_ = us.phsafe.budgets
    draft = replace(set_budget(us, first, us.phsafe.budgets[first] * Fraction(3, 2)), name="Draft")
    made = Decision(
        Status.APPROVED, fingerprint(draft), "Draft", "Ann Lee", "Chair", "2026-11-22T10:00:00+00:00", "Why not."
    )
    return {form: report_bytes(draft, us, form, NOW, Occasion((made,))) for form in ("html", "docx", "pptx")}


def parts(content, prefix):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return [etree.fromstring(archive.read(name)) for name in archive.namelist() if re.match(prefix, name)]


def cells_of_page(html):
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [re.sub(r"<[^>]+>", "", cell) for row in rows for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]


def plain(text):
    return " ".join(text.replace("&lt;", "<").replace("&#39;", "'").replace("&amp;", "&").split())


def test_that_every_cell_of_the_page_stands_in_the_word_file_in_its_order(reports):
    (document,) = parts(reports["docx"], r"word/document\.xml")
    cells = ["".join(text.text or "" for text in cell.iter(f"{WORD}t")) for cell in document.iter(f"{WORD}tc")]
    on_page = [plain(cell).replace(" ", "") for cell in cells_of_page(reports["html"].decode())]
    assert len(on_page) > 600
    assert [plain(cell).replace(" ", "") for cell in cells if cell] == [cell for cell in on_page if cell]


def test_that_no_word_or_figure_of_a_table_is_broken_in_two(reports):
    """*Unbounded* stood as *Unbounde d*, *11.26 %* on two lines. Letters of Helvetica are as wide as those of Arial."""
    wide = {letter: width for letters, width in HELVETICA_BOLD.items() for letter in letters}
    (document,) = parts(reports["docx"], r"word/document\.xml")
    cells = [cell for cell in document.iter(f"{WORD}tc") if cell.find(f"{WORD}tcPr/{WORD}tcW") is not None]
    assert len(cells) > 600
    for cell in cells:
        inches = int(cell.find(f"{WORD}tcPr/{WORD}tcW").get(f"{WORD}w")) / 1440 - 0.08
        for word in re.split(r"[ \n]", "\n".join(t.text or "" for t in cell.iter(f"{WORD}t"))):
            if word:
                assert sum(wide.get(letter, 556) for letter in word) * 7 / 72_000 < inches, word


def test_that_the_word_file_says_every_number_of_the_page(reports):
    (document,) = parts(reports["docx"], r"word/document\.xml")
    text = " ".join("".join(t.text or "" for t in p.iter(f"{WORD}t")) for p in document.iter(f"{WORD}p"))
    page = re.sub(r"<style>.*?</style>|<[^>]+>", " ", reports["html"].decode(), flags=re.DOTALL)
    assert set(NUMBER.findall(plain(page))) == set(NUMBER.findall(text))


def test_that_the_slides_are_few_and_say_no_number_that_the_page_does_not(reports):
    slides = parts(reports["pptx"], r"ppt/slides/slide\d+\.xml")
    assert 4 <= len(slides) <= MOST_SLIDES
    page = re.sub(r"<style>.*?</style>|<[^>]+>", " ", reports["html"].decode(), flags=re.DOTALL)
    said = {number for slide in slides for t in slide.iter(f"{DRAWING}t") for number in NUMBER.findall(t.text or "")}
    assert len(said) > 20
    assert said <= set(NUMBER.findall(plain(page)))


OTHERS = (
    ("group-sizes-census-2010", {"total": Fraction(3, 2)}),
    ("counties-invariant-2010", {"epsilon": Fraction(1, 4)}),
    pytest.param("dhc-2020-persons-us", {"total": Fraction(5)}, marks=pytest.mark.slow),
)


@pytest.mark.parametrize(("name", "change"), OTHERS)
def test_that_all_forms_of_every_system_say_the_same_numbers(name, change):
    start = preset(name).scenario
    edited = replace(start, name="Draft", method=replace(start.method, **change))
    made = {form: report_bytes(edited, start, form, NOW) for form in ("html", "docx", "pptx")}
    page = re.sub(r"<style>.*?</style>|<[^>]+>", " ", made["html"].decode(), flags=re.DOTALL)
    (document,) = parts(made["docx"], r"word/document\.xml")
    text = " ".join("".join(t.text or "" for t in p.iter(f"{WORD}t")) for p in document.iter(f"{WORD}p"))
    slides = parts(made["pptx"], r"ppt/slides/slide\d+\.xml")
    said = {number for slide in slides for t in slide.iter(f"{DRAWING}t") for number in NUMBER.findall(t.text or "")}
    numbers = set(NUMBER.findall(plain(page)))
    assert numbers == set(NUMBER.findall(text))
    assert len(said) > 5
    assert said <= numbers
    captions = re.findall(r"<caption[^>]*>(.*?)</caption>", made["html"].decode())
    assert len(set(captions)) == len(captions)


@pytest.mark.slow
def test_that_the_pdf_says_every_number_of_the_page():
    pdfium = pytest.importorskip("pypdfium2")
    start = preset("counties-invariant-2010").scenario
    page, pdf = (report_bytes(start, None, form, NOW) for form in ("html", "pdf"))
    text = " ".join(each.get_textpage().get_text_range() for each in pdfium.PdfDocument(pdf))
    body = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page.decode(), flags=re.DOTALL)
    numbers = {number for number in NUMBER.findall(plain(body)) if len(number) < 12}
    assert len(numbers) > 30
    assert numbers <= set(NUMBER.findall(text))


@pytest.mark.parametrize("form", ["html", "docx", "pptx"])
def test_that_the_first_page_says_who_decided_and_what_changed(reports, form):
    pattern = {"docx": r"word/document\.xml", "pptx": r"ppt/slides/slide2\.xml"}
    text = (
        reports[form].decode()
        if form == "html"
        else "".join(t for part in parts(reports[form], pattern[form]) for t in part.itertext())
    )
    assert "Ann Lee, Chair: Why not." in text
    assert "1 of 46 margins differ from S-DHC 2020" in text
    assert "46 of 46 targets are met" in text


def test_that_every_page_and_slide_has_its_number_and_no_row_of_a_table_is_broken_between_pages(reports):
    (foot,) = parts(reports["docx"], r"word/footer\d+\.xml")
    assert [field.get(f"{WORD}instr") for field in foot.iter(f"{WORD}fldSimple")] == ["PAGE", "NUMPAGES"]
    for slide in parts(reports["pptx"], r"ppt/slides/slide\d+\.xml"):
        assert [field.get("type") for field in slide.iter(f"{DRAWING}fld")] == ["slidenum"]
    (document,) = parts(reports["docx"], r"word/document\.xml")
    lines = list(document.iter(f"{WORD}tr"))
    assert len(lines) > 50
    assert all(line.find(f"{WORD}trPr/{WORD}cantSplit") is not None for line in lines)


def test_that_columns_of_a_word_table_are_as_wide_as_their_texts_want():
    """Three short columns took the room of a long one, whose text went over nine lines."""
    row = (Cell("State"), Cell("estimating"), Cell("1"), Cell("voting age × Hispanic origin, " * 12))
    table = TableView("order", "Order", tuple(map(Header, ("Level", "Stage", "Pass", "Queries"))), (row,))
    document = Document("A", "", "", (), (Part("tables", "Tables", tables=(table,)),), "")
    (made,) = parts(document_docx(document, {}, NOW), r"word/document\.xml")
    widths = [int(column.get(f"{WORD}w")) / 1440 for column in made.iter(f"{WORD}gridCol")]
    assert widths[3] > 4.5
    assert sum(widths) == pytest.approx(6.9, abs=0.01)


def test_that_a_picture_that_fits_on_the_page_goes_before_a_near_one_that_does_not():
    marks = tuple(Mark(number, (Dot(1.0),), name=f"row {number}") for number in range(46))
    high = chart_of(Figure("high", "t", "s", Axis(), ROWS, marks, Table(("Row",), ())))
    low = replace(high, id="low", height=3.2)
    assert [chart.id for chart in packed([low, high, low, high])] == ["low", "low", "high", "high"]


def test_that_pictures_have_words_for_those_who_do_not_see_them(reports):
    for form, pattern in (("docx", r"word/document\.xml"), ("pptx", r"ppt/slides/slide\d+\.xml")):
        named = [
            e.get("descr")
            for part in parts(reports[form], pattern)
            for e in part.iter()
            if str(e.tag).endswith(("}docPr", "}cNvPr"))
        ]
        assert sum(len(words or "") > 20 for words in named) == 4


def test_that_a_slide_has_as_many_rows_as_can_be_read_and_says_that_there_are_more():
    rows = tuple(Row(None, "", f"Tract {number}", value=60.0 - number) for number in range(60))
    figure = row_figure("worst", rows, "error, people", "Tract 0 is farthest off", "Sixty.", Table(("Tract",), ()))
    chart = chart_of(figure)
    (wide,) = wide_charts([chart])
    drawn = MatplotlibFigure()
    wide.draw(drawn)
    named = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert len(named) < 30, "the letters are too small for a slide"
    assert [name.split()[-1] for name in named] == [str(number) for number in range(len(named))]
    boxes = {}
    for count, each in (("few", figure.brief(5)), ("many", figure)):
        (slide,) = parts(picture_pptx(chart_of(each)), r"ppt/slides/slide\d+\.xml")
        boxes[count] = len(list(slide.iter(f"{DRAWING}t")))
    assert boxes["many"] == boxes["few"] + 1


def test_that_slides_show_one_picture_of_each_finding_and_count_what_is_left_out():
    rows = tuple(Row(None, "", f"Tract {number}", value=60.0 - number) for number in range(3))
    figure = row_figure("worst", rows, "error, people", "Tract 0 is farthest off", "Three.", Table(("Tract",), ()))
    charts = [chart_of(replace(figure, id=name)) for name in ("histogram", "shares", "boxes")]
    charts.append(chart_of(replace(figure, id="other", title="Tract 1 is near")))
    document = Document("A run", "", "", (), (Part("pictures", "Pictures", charts=tuple(charts)),), "")
    pictures = {chart.id: chart_bytes(chart, FigureFormat.PNG) for chart in charts}
    slides = parts(document_pptx(document, pictures, NOW), r"ppt/slides/slide\d+\.xml")
    titles = ["".join(t.text or "" for t in slide.iter(f"{DRAWING}t")).removesuffix(NUMBER_SIGN) for slide in slides]
    assert [titles.count(title) for title in ("Tract 0 is farthest off", "Tract 1 is near")] == [1, 1]
    assert "2 more pictures, in the report" in titles[-1]


def test_that_a_slide_shows_the_row_its_title_names():
    rows = tuple(Row(None, "PH3", f"Tract {number}", value=60.0 - number) for number in range(60))
    figure = row_figure("worst", rows, "error, people", "PH3 (Tract 41) is far off", "Sixty.", Table(("Tract",), ()))
    brief = figure.brief(16)
    assert [label.name for label in brief.rows] == [*(f"Tract {number}" for number in range(15)), "Tract 41"]
    assert [mark.value for mark in brief.marks] == [*(60.0 - number for number in range(15)), 19.0]
    assert brief.row_numbers == tuple(range(16))


def test_that_every_missed_target_is_on_the_slide_and_said_by_a_word_in_the_table():
    """The slide of a report with two missed targets showed one of them, and the Word file told them by colour alone."""
    start = preset("sdhc-2020-us").scenario
    late = [parse_query("PH3/state_A-G"), parse_query("PH8_denom/state_H,I")]
    missing = start
    for query in late:
        missing = set_budget(missing, query, start.phsafe.budgets[query] / 4)
    figure = margins_figure(forecast(missing), missing.phsafe.targets).brief(16)
    assert [mark.key for mark in figure.marks if mark.ink is Role.MISSED] == late
    made = {form: report_bytes(missing, None, form, NOW) for form in ("html", "docx")}
    (document,) = parts(made["docx"], r"word/document\.xml")
    cells = ["".join(text.text or "" for text in cell.iter(f"{WORD}t")) for cell in document.iter(f"{WORD}tc")]
    for said in (map(plain, cells), [plain(cell) for cell in cells_of_page(made["html"].decode())]):
        assert [cell for cell in said if "missed" in cell] == ["20, missed", "200, missed"]
    inside = [e.get(f"{WORD}val") for e in document.iter(f"{WORD}insideV")]
    assert set(inside) == {"nil"}, "tables have lines between rows alone"


def test_that_the_same_report_gives_the_same_bytes():
    scenario = preset("counties-invariant-2010").scenario
    for form in ("docx", "pptx"):
        assert report_bytes(scenario, None, form, NOW) == report_bytes(scenario, None, form, NOW)


@pytest.mark.parametrize(
    "name", ["sdhc-2020-us", "group-sizes-census-2010", "counties-invariant-2010", "pl94-2020-persons-us"]
)
def test_that_every_system_has_a_report_whose_first_page_is_three_sentences(name):
    page = report_bytes(preset(name).scenario, None, "html", NOW).decode()
    summary = page[page.index('id="summary"') : page.index("</section>", page.index('id="summary"'))]
    assert len(re.findall(r"<p>(?:Privacy|Accuracy|Changes): ", summary)) == 3
    assert "Nobody yet" in summary
    assert "are shown" not in summary, "every table or level has its row where nothing is compared"
    assert summary.count("<img") == 1
