from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from phexplore.figures import style as look
from phexplore.figures.style import (
    LEVEL_COLOURS,
    Chart,
    FigureFormat,
    chart_bytes,
    sheet_bytes,
)
from phexplore.model.keys import LEVELS

STARTS = {FigureFormat.SVG: b"<?xml", FigureFormat.PDF: b"%PDF-", FigureFormat.PNG: b"\x89PNG"}


def chart(finding="Costs $5 and $6", identity="one"):
    def draw(figure):
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.plot([20, 500], [1, 2], "o")

    return Chart(identity, finding, "Two dots.", 4, 2, draw)


@pytest.mark.parametrize("form", FigureFormat)
def test_that_a_figure_is_the_same_bytes_twice(form):
    first, second = (sheet_bytes([chart(), chart(identity="two")], form) for _ in range(2))
    assert first == second
    assert first.startswith(STARTS[form])


def test_that_text_of_a_user_is_no_formula():
    # With mathematics on, the text between two dollar signs would be set in italics and the signs lost.
    title = re.search(rb"<dc:title>(.*?)</dc:title>", chart_bytes(chart(), FigureFormat.SVG))
    assert title[1] == b"Costs $5 and $6"
    assert chart_bytes(chart("$x$"), FigureFormat.PNG) != chart_bytes(chart("x"), FigureFormat.PNG)


def test_that_figures_carry_their_fonts_and_no_date():
    svg, pdf = chart_bytes(chart(), FigureFormat.SVG), chart_bytes(chart(), FigureFormat.PDF)
    assert b"<text" not in svg
    assert b"/FontFile2" in pdf
    assert b"CreationDate" not in pdf
    assert b"<dc:date>" not in svg


def test_that_the_title_is_left_to_the_document_where_it_prints_it():
    titled, bare = (chart_bytes(chart(), FigureFormat.SVG, titled=titled) for titled in (True, False))
    heights = [float(re.search(rb'height="([\d.]+)pt"', svg)[1]) for svg in (titled, bare)]
    assert heights[0] > heights[1] == 2 * 72


def test_that_a_sheet_needs_a_chart():
    with pytest.raises(ValueError, match="at least one chart"):
        sheet_bytes([], FigureFormat.SVG)


def test_that_drawing_leaves_no_trace_in_matplotlib():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    chart_bytes(chart(), FigureFormat.SVG)
    assert dict(mpl.rcParams) == before


def test_that_no_report_module_uses_pyplot():
    folder = Path(look.__file__).parent
    for path in folder.glob("*.py"):
        names = {
            name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for name in (
                [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", [])]
            )
        }
        assert "matplotlib.pyplot" not in names


def test_that_every_level_has_a_colour_of_its_own():
    assert set(LEVEL_COLOURS) == set(LEVELS)
    assert len(set(LEVEL_COLOURS.values())) == len(LEVELS)


def test_that_figures_have_the_colours_of_the_window():
    window = pytest.importorskip("phexplore.gui.theme.colours")
    light = window.LIGHT
    assert (light.accent, light.accent_soft, light.attention) == (look.ACCENT, look.ACCENT_SOFT, look.ATTENTION)
    assert (light.text, light.muted, light.ghost) == (look.INK, look.MUTED, look.GHOST)
