"""Texts of people from end to end: every place where one enters, every kind of output, exactly as it was typed."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from html.parser import HTMLParser
from itertools import cycle

import openpyxl
import pytest
from lxml import etree

from phexplore.catalog.names import Naming, called
from phexplore.decide.bundle import make_bundle, signed
from phexplore.decide.certificate import certificate_html
from phexplore.decide.scenario_export import report_bytes
from phexplore.decide.signing import Signer
from phexplore.decide.verifying import verify
from phexplore.model.approval import Decision, Status
from phexplore.model.comment import Comment
from phexplore.model.fingerprint import fingerprint
from phexplore.model.subspace import Axis, Grouping
from phexplore.report.export_formats import Occasion
from phexplore.systems.parameter_files import parameters_in
from phexplore.systems.registry import preset, systems
from phexplore.text.escapes import visible
from tests.signed_bundles import KEYS, approval, request

_AT = "2026-07-01T12:00:00+00:00"
_NOW = datetime(2026, 7, 1, tzinfo=UTC)
TEXTS = (
    "I accept 500; unbounded ρ is 0.3 at most; nothing wider. See the MOE memo of State 44.",
    "Ballot A-G",
    "MOE memo of State 44",
    "level share Prim",
    "tract 44007000101 and PH3/state_A-G",
    "sdhc-2020-us",
    "A total of 1,234,567.5 people",
    '=HYPERLINK("http://x", 1) and @SUM(A1)',
    "<b>bold</b> & 'quoted' ]]> a * b",
    "tab\tbell\x07 escape\x1b[31m end",
    "right \u202eto left\u202c and zero\u200bwidth",
    "🗳️ Emoji 👩‍👩‍👧 and é, e\u0301",
    "العربية and עברית",
    "Very long " + "word " * 60 + "end",
    "truncation bias, σ² = 1/ρ; sensitivity 2",
    "two\nlines of MOE",
    "cost $5 to $10 and x_1^2$",
)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found, self._hidden = [], 0

    def handle_starttag(self, tag, _attributes) -> None:
        self._hidden += tag in {"script", "style"}

    def handle_endtag(self, tag) -> None:
        self._hidden -= tag in {"script", "style"}

    def handle_data(self, data) -> None:
        if not self._hidden:
            self.found.append(data)


def _html(content):
    reader = _Words()
    reader.feed(content.decode())
    return "".join(reader.found)


def _xml_of(content):
    return "".join(etree.fromstring(content).itertext())


def _office(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "\n".join(_xml_of(archive.read(name)) for name in archive.namelist() if name.endswith(".xml"))


def _workbook(content):
    book = openpyxl.load_workbook(io.BytesIO(content))
    return "\n".join(str(cell.value) for sheet in book for row in sheet for cell in row if cell.value is not None)


def _pdf(content):
    pdfium = pytest.importorskip("pypdfium2")
    return "".join(page.get_textpage().get_text_range() for page in pdfium.PdfDocument(content))


def _table(content):
    return "\n".join(cell for row in csv.reader(io.StringIO(content.decode())) for cell in row)


READERS = {
    "html": _html,
    "pdf": _pdf,
    "docx": _office,
    "pptx": _office,
    "xlsx": _workbook,
    "csv": _table,
    "svg": _xml_of,
    "json": lambda content: repr(json.loads(content)),
}


def squeezed(text):
    """Return a text without the blanks and breaks that a line is laid out with."""
    return re.sub(r"[\s\xad\ufffe\x02]+", "", text)


def lost_in(shown, texts=TEXTS):
    """Return the texts that an output does not show: as they are, control characters as escapes."""
    shown = squeezed(shown)
    forms = {text: (visible(text), "".join(map(visible, text.split("\n")))) for text in texts}
    return [text for text, given in forms.items() if not any(squeezed(form) in shown for form in given)]


def scenario_of(id_, texts=TEXTS):
    """Return a scenario that everybody has said everything about, and the decisions on it."""
    who = cycle((*texts[1:], texts[0]))
    comments = tuple(Comment(text, next(who), _AT) for text in texts)
    scenario = replace(preset(id_).scenario, name=texts[0], note=texts[-1], comments=comments)
    made = [
        Decision(
            Status.RECOMMENDED,
            fingerprint(scenario),
            scenario.name,
            texts[number],
            texts[number - 1],
            _AT,
            texts[number - 2],
        )
        for number in range(len(texts))
    ]
    return scenario, tuple(made)


def releases_of(texts=TEXTS):
    """Return parameters whose releases, groups and cells are called by these texts."""
    scenario, decisions = scenario_of("counties-invariant-2010", texts)
    release = replace(scenario.method.releases["counties"], share=Fraction(1, len(texts)))
    axes = (Axis("county", len(texts), texts, (Grouping("state", texts),)),)
    method = replace(scenario.method, table="", axes=axes, releases=dict.fromkeys(texts, release))
    made = replace(scenario, method=method)
    return made, tuple(replace(each, fingerprint=fingerprint(made)) for each in decisions)


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize(
    "naming", [Naming.NAMES, *(pytest.param(each, marks=pytest.mark.slow) for each in (Naming.CODES, Naming.BOTH))]
)
@pytest.mark.parametrize("form", ["html", "docx", "svg"])
def test_that_reports_and_charts_show_every_text(form, naming) -> None:
    scenario, decisions = releases_of()
    with called(naming):
        shown = READERS[form](report_bytes(scenario, None, form, _NOW, Occasion(decisions)))
    assert lost_in(shown) == []


@pytest.mark.filterwarnings("ignore:Glyph")
def test_that_pages_of_a_pdf_show_every_text() -> None:
    scenario, decisions = scenario_of("counties-invariant-2010")
    with called(Naming.NAMES):
        shown = _pdf(report_bytes(scenario, None, "pdf", _NOW, Occasion(decisions)))
    # The letters of a page stand in the order in which they are drawn, and signs that no font has stand for nothing.
    drawn = [text for text in TEXTS if not re.search(r"[\u0590-\u06ff\U00010000-\U0010ffff]", text)]
    assert lost_in(shown, drawn) == []


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("naming", Naming)
@pytest.mark.parametrize("first", range(0, len(TEXTS) - 3, 4))
def test_that_slides_show_the_texts_they_have_room_for(first, naming) -> None:
    if list(Naming)[first // 4 % 3] is not naming:
        return  # a third of the cases is enough: slides are made as documents are
    texts = TEXTS[first : first + 5]
    scenario, decisions = scenario_of("counties-invariant-2010", texts)
    with called(naming):
        shown = _office(report_bytes(scenario, None, "pptx", _NOW, Occasion(decisions)))
    assert lost_in(shown, texts) == []


@pytest.mark.parametrize("naming", Naming)
@pytest.mark.parametrize("text", TEXTS)
def test_that_files_of_parameters_hold_what_was_typed(text, naming, tmp_path) -> None:
    made, _ = releases_of()
    with called(naming):
        table = _table(report_bytes(made, None, "csv", _NOW, Occasion()))
        assert text in table or f"'{text}" in table  # what a spreadsheet would compute stands behind a quote
        for id_ in ("sdhc-2020-us", "pl94-2020-persons-us"):
            scenario = replace(preset(id_).scenario, name=text, note=text)
            path = tmp_path / "parameters.xlsx"
            path.write_bytes(report_bytes(scenario, None, "xlsx", _NOW, Occasion()))
            back = parameters_in(systems(), path)[0]
            assert (back.name, back.note) == (text, text)
        path = tmp_path / "parameters.json"
        path.write_bytes(report_bytes(made, None, "subspace-json", _NOW, Occasion()))
        assert parameters_in(systems(), path)[0] == made


@pytest.mark.parametrize("first", [0, 8])
def test_that_a_certificate_shows_every_text_it_has_a_place_for(first) -> None:
    name, clearance, who, role, note, *people = TEXTS[first : first + 9]
    scenario = replace(preset("pl94-2020-units-us").scenario, name=name)
    decision = replace(approval(scenario), who=who, role=role, note=note)
    bundle = make_bundle(request(scenario, (decision,), clearance=clearance))
    for number, key in enumerate(KEYS[:2]):
        bundle = signed(bundle, key, Signer(*people[2 * number : 2 * number + 2]), _NOW)
    verified = verify(bundle.packed())
    assert verified.is_intact
    assert lost_in(_html(certificate_html(verified.statement, verified.signatures)), TEXTS[first : first + 9]) == []
