from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise

import pytest

from phexplore.catalog.names import Naming, called
from phexplore.decide.scenario_export import report_bytes
from phexplore.errors import UnknownNameError
from phexplore.figures.wording import power_text
from phexplore.model.rounded import rounded_up
from phexplore.model.topdown import TopDown
from phexplore.report.pdf import PdfUnavailableError
from phexplore.systems.registry import forecast, presets, system_of
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.scenario_document import scenario_charts, scenario_document

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
TOPDOWN = [preset.id for preset in presets().values() if isinstance(preset.scenario.method, TopDown)]


@pytest.fixture
def persons():
    return presets()["pl94-2020-persons-us"].scenario


@pytest.mark.parametrize("preset_id", TOPDOWN)
def test_that_every_preset_has_a_report_with_pictures_before_tables_before_method(preset_id) -> None:
    scenario = presets()[preset_id].scenario
    document = scenario_document(scenario, None, NOW)
    kinds = [part.id for part in document.parts if part.id in {"pictures", "tables", "method"}]
    assert kinds == ["pictures", "tables", "method"]
    assert all(chart.description and chart.finding for part in document.parts for chart in part.charts)


def test_that_the_headline_has_the_epsilon_of_the_certificate(persons) -> None:
    tiles = {tile.label: tile.value for tile in scenario_document(persons, None, NOW).tiles}
    assert tiles["Proven ε"] == "≤ 16.468"
    assert tiles["Whole ρ"] == "2.556226"


def test_that_the_schema_is_called_by_its_name_alone_where_names_are_chosen(persons) -> None:
    for naming, name in ((Naming.NAMES, "P.L. 94-171 persons"), (Naming.CODES, "P.L. 94-171 persons (pl94_persons)")):
        with called(naming):
            parts = scenario_document(persons, None, NOW).parts
        assert ("Schema", name) in [entry for part in parts for section in part.sections for entry in section.entries]


def test_that_the_published_epsilon_is_quoted_of_exactly_the_parameters_it_was_published_for(persons) -> None:
    changed = replace(persons, method=replace(persons.topdown, total=Fraction(5, 2)))
    finer = replace(persons, conventions=replace(persons.conventions, delta=Fraction(1, 10**12)))
    for scenario, in_tile, in_section in ((persons, True, True), (changed, False, False), (finer, False, True)):
        document = scenario_document(scenario, None, NOW)
        assert any("prints 17.14, to the nearest" in tile.detail for tile in document.tiles) is in_tile
        said = {name: text for part in document.parts for section in part.sections for name, text in section.entries}
        assert ("ε as published in 2020" in said) is in_section
    assert said["ε as published in 2020"].startswith("17.14 at δ = 1e-10, zCDP")


@pytest.mark.parametrize("exponent", [6, 12])
def test_that_the_headline_is_told_at_the_delta_of_the_conventions(persons, exponent) -> None:
    conventions = replace(persons.conventions, delta=Fraction(1, 10**exponent))
    scenario = replace(persons, conventions=conventions)
    (tile,) = [tile for tile in scenario_document(scenario, None, NOW).tiles if tile.label == "Proven ε"]
    proven = forecast(scenario).proven(conventions.delta)
    assert tile.value == f"≤ {rounded_up(proven, 3)}"
    assert tile.detail.startswith(f"at δ = {power_text(conventions.delta)}; ")


def test_that_pictures_say_their_finding_and_their_numbers_in_words(persons) -> None:
    levels, heat, semantics = scenario_charts(persons, None, NOW)
    assert levels.finding.startswith("State and Block group take 65.8 %")
    assert "County 10.91 %" in levels.description
    assert all(text in semantics.description for text in ("hhgq 7.25", "Block within Block group 2.93", "US 16.89"))
    entries = forecast_topdown(persons.topdown, persons.conventions).entries
    narrowest = min(float(entry.margins.by(persons.conventions.margin)) for entry in entries if entry.margins)
    assert f"±{narrowest:.2f}" in heat.finding


def test_that_the_html_has_tagged_headings_in_order_and_text_for_every_picture(persons) -> None:
    text = report_bytes(persons, None, "html", NOW).decode()
    levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    pictures = re.findall(r"<img[^>]*>", text)
    assert len(pictures) == 4
    assert all(re.search(r'alt="[^"]{20,}"', picture) for picture in pictures)
    assert 'lang="en"' in text
    assert "<script" not in text


def test_that_changes_against_another_scenario_are_listed(persons) -> None:
    edited = replace(set_level_share(persons, "County", Fraction(1, 5)), name="Edited")
    (changes,) = [part for part in scenario_document(edited, persons, NOW).parts if part.id == "changes"]
    assert any(text.startswith("level share County: 447/4099 → 0.2") for text in changes.findings)
    whole = "The whole ρ is 2.4; in P.L. 94-171 production, US persons the whole ρ is 2.556226 (exactly 293764/114921)."
    edited = replace(persons, name="Edited", method=replace(persons.topdown, total=Fraction(12, 5)))
    (changes,) = [part for part in scenario_document(edited, persons, NOW).parts if part.id == "changes"]
    assert (changes.paragraphs, changes.findings) == ((whole,), ())


@pytest.mark.parametrize("form", ["csv", "html", "svg", "xlsx"])
def test_that_the_same_scenario_gives_the_same_bytes(persons, form) -> None:
    first = report_bytes(persons, None, form, NOW)
    assert first == report_bytes(persons, None, form, NOW)
    assert len(first) > 1000


def test_that_an_unknown_format_is_refused_with_the_known_ones(persons) -> None:
    with pytest.raises(UnknownNameError, match="odt"):
        report_bytes(persons, None, "odt", NOW)
    pictures = {"svg", "png", "charts-pdf"}
    assert set(system_of(persons).formats) == {"csv", "xlsx", "html", "pdf", "docx", "pptx"} | pictures


def tagged(raw, page):
    """Kind and spoken words of every element of the structure of a page, as a reader of PDF finds them."""

    def text(read, element):
        size = read(element, None, 0)
        buffer = ctypes.create_string_buffer(size)
        read(element, buffer, size)
        return buffer.raw.decode("utf-16-le").rstrip("\0")

    def below(element):
        yield text(raw.FPDF_StructElement_GetType, element), text(raw.FPDF_StructElement_GetAltText, element)
        for number in range(raw.FPDF_StructElement_CountChildren(element)):
            if child := raw.FPDF_StructElement_GetChildAtIndex(element, number):
                yield from below(child)

    tree = raw.FPDF_StructTree_GetForPage(page.raw)
    for number in range(raw.FPDF_StructTree_CountChildren(tree)):
        yield from below(raw.FPDF_StructTree_GetChildAtIndex(tree, number))


@pytest.mark.slow
def test_that_tables_and_changes_say_levels_and_queries_in_words() -> None:
    start = presets()["dhc-2020-persons-us"].scenario
    edited = set_level_share(start, "Tract_Subset", Fraction(1, 4))
    parts = {part.id: part for part in scenario_document(edited, start, NOW).parts}
    tables = parts["tables"].tables
    texts = [*parts["changes"].findings, *(header.text for table in tables for header in table.headers)]
    texts += [cell.text for table in tables for row in table.rows for cell in row]
    assert not [text for text in texts if re.search(r"Tract_Subset|Block_Group|\bPrim\b|\w/[a-z]| \* ", text)]


def test_that_the_pdf_is_tagged(persons) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    try:
        file = pdfium.PdfDocument(report_bytes(persons, None, "pdf", NOW))
    except PdfUnavailableError as error:
        pytest.skip(error.sentence)
    assert pdfium.raw.FPDFCatalog_IsTagged(file.raw)
    found = [element for page in file for element in tagged(pdfium.raw, page)]
    kinds = {kind for kind, _ in found}
    assert {"H1", "H2", "H3", "P", "Table", "TH", "TD", "Figure"} <= kinds
    assert all(len(words) > 20 for kind, words in found if kind == "Figure")


def test_that_no_margin_of_a_tile_reads_0_that_is_not_0(persons) -> None:
    huge = replace(persons, method=replace(persons.topdown, total=Fraction(10**9)))
    assert not [tile.value for tile in scenario_document(huge, None, NOW).tiles if tile.value.endswith(" 0.00")]
