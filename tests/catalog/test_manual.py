"""The manual holds every page, no link in it is dead, and what is searched is found."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import phexplore
from phexplore.catalog import manual
from phexplore.systems.registry import systems

ROOT = Path(phexplore.__file__).parents[1]
PAGES = sorted(page for page in manual.pages() if page.endswith(".md"))


def test_that_every_document_is_a_page_and_listed():
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= manual.pages()
    listed = {place.page for _, places in manual.contents() for place in places}
    assert {page for page in manual.pages() if page.endswith((".md", ".ipynb"))} == listed


@pytest.mark.parametrize("page", PAGES)
def test_that_no_link_is_dead(page):
    for target, anchor in manual.links(page):
        assert manual.has_page(target), target
        assert not anchor or anchor in manual.anchors(target), f"{target}#{anchor}"


def test_that_every_page_that_the_program_names_is_there():
    sources = [*(ROOT / "phexplore").rglob("*.py"), *(ROOT / "resources").rglob("*.toml")]
    named = {
        name
        for path in sources
        for name in re.findall(r"docs/[a-z_]+\.md(?:#[\w-]+)?", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 6
    for name in named:
        page, _, anchor = name.partition("#")
        assert manual.has_page(page), name
        assert not anchor or anchor in manual.anchors(page), name
    assert all(manual.has_page(system.manual) for system in systems().values())


def test_that_packages_hold_what_the_pages_link_to():
    path = ROOT / "packaging" / "machine_code_wheel.py"
    spec = spec_from_file_location("machine_code_wheel", path)
    module = module_from_spec(spec)
    pytest.importorskip("hatchling")
    spec.loader.exec_module(module)
    assert {str(file.resolve().relative_to(ROOT)) for file in module.manual_files(ROOT)} == manual.pages()


@pytest.mark.parametrize(
    "name", ["docs/../pyproject.toml", "/etc/passwd", "docs/none.md", "docs", "../../etc/passwd", ""]
)
def test_that_nothing_outside_of_the_manual_is_a_page(name):
    assert not manual.has_page(name)


def test_that_words_are_found_under_their_heading_whatever_their_case():
    first = manual.search("PROVEN curve")[0]
    assert first.page == "docs/proven_epsilon.md"
    assert {"docs/block_data.md"} <= {place.page for place in manual.search("block data")[:3]}
    assert manual.search("xylophone") == []
    texts = [place.text for place in manual.search("truncation threshold")]
    assert texts
    assert not any("|" in text for text in texts)  # cells of tables read as words
    inside = manual.search("seed")
    assert all(
        f" {place.text.removeprefix('…').split()[0]}"
        in f" {' '.join(manual.page_text(place.page).split())}".replace("*", "").replace("`", "").replace("|", " ")
        for place in inside
        if place.text.startswith("…")
    )
    assert manual.search("  ") == []
    assert all("noise" in f"{place.title} {manual.page_text(place.page)}".lower() for place in manual.search("noise"))


def test_that_notebooks_are_read_as_words_and_code():
    text = manual.page_text("docs/notebooks/tune_the_sdhc.ipynb")
    assert text.startswith("#")
    assert "```" in text
    assert "image/png" not in text


def test_that_headings_in_code_are_none():
    assert (
        manual.anchor_of("Solving from targets: `phexplore solve`".replace("`", ""))
        == "solving-from-targets-phexplore-solve"
    )
    assert not any(anchor.startswith("phexplore-") for anchor in manual.anchors("docs/start.md"))
