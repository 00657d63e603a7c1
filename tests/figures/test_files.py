"""Figures and their tables as files: exact numbers, the same bytes every time, every mark drawn."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import openpyxl
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as MatplotlibFigure

from phexplore.figures import to_matplotlib
from phexplore.figures.axis import Axis, Scale, Tick
from phexplore.figures.figure import ROWS, Figure, KeyEntry, RowLabel, bar_figure, row_figure
from phexplore.figures.histogram import error_histogram, normal_curve
from phexplore.figures.map import map_figure
from phexplore.figures.marks import Bar, Box, Cell, Dot, Fill, Mark, Patch, Path, Role, Row, Rule, Shape, Span, Words
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.style import PNG_DPI, TITLE_INCHES, FigureFormat, figure_style
from phexplore.figures.table import Table, shortened
from phexplore.figures.table_files import TableFileError, write_table
from phexplore.figures.to_matplotlib import chart_of, draw, figure_bytes, inches
from phexplore.gui.theme.colours import contrast

TABLE = Table(
    ("Level", "ρ", "People"), (("=1+1", Fraction(1, 3), 12), ("State", Fraction(1, 8), None), ("x", 0.1, 2.5))
)


def test_that_csv_and_json_carry_every_digit_and_no_formula(tmp_path):
    write_table(TABLE, tmp_path / "t.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert rows == [["Level", "ρ", "People"], ["'=1+1", "1/3", "12"], ["State", "0.125", ""], ["x", "0.1", "2.5"]]
    write_table(TABLE, tmp_path / "t.json")
    found = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert found["columns"] == ["Level", "ρ", "People"]
    assert found["rows"][0] == ["=1+1", "1/3", 12]


def test_that_a_workbook_holds_numbers_where_no_digit_is_lost(tmp_path):
    write_table(TABLE, tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [cell.value for cell in sheet[2]] == ["'=1+1", "1/3", 12]
    assert [cell.value for cell in sheet[3]] == ["State", 0.125, None]


def test_that_another_kind_of_table_file_is_refused(tmp_path):
    with pytest.raises(TableFileError):
        write_table(TABLE, tmp_path / "t.doc")
    assert list(tmp_path.iterdir()) == []


def every_kind():
    rows = (
        Row("a", "g", "First", -3.0, -20.0, 10.0, -5.0, 2.0, 1.0, (3.0,), (4.0,), "three", "tip", is_warned=True),
        Row(None, "g", "Second", 4.0),
    )
    bars = (Bar("a", "", "US", 20.0, 10.0, "20 %", "tip"), Bar(None, "", "State", 0.0, None, "0 %", ""))
    strokes = (
        Dot(1.0, 2.0, 0, Shape.DIAMOND, is_hollow=True), Span(1.0, 3.0, 1.0, 1, cap=4.0), Rule(x=2.0, text="here"),
        Box(1.0, 2.0, 0.5, 1.5, Role.MISSED, Fill.HATCHED), Box(2.0, 3.0, 0.5, 1.5, 0, Fill.FAINT), Rule(y=1.0, text="limit"),
        Path((1.0, 2.0, 3.0), (1.0, 2.0, 1.0), 2, is_stepped=True), Path((1.0, 3.0), (2.0, 2.0), lows=(1.0, 1.0)),
        Words(2.0, 2.0, "words", is_bold=True, align=0.5),
    )  # fmt: skip
    ring = np.array([[-71, 41], [-70, 41], [-70, 42], [-71, 41]], np.float32)
    edges = np.array([-1.5, -0.5, 0.5, 1.5])
    yield row_figure("rows", rows, Axis("people", Scale.SIGNED_LOG), "Title", "Summary", TABLE, guide=0.0)
    yield bar_figure("bars", bars, "share", "Title", "Summary", TABLE)
    yield Figure("plane", "Title", "Summary", Axis("x"), Axis("y"), (Mark("k", strokes, text="line", tip="t"),), TABLE,
                 key=(KeyEntry(Box(0, 1, -0.4, 0.4), "box"), KeyEntry(Dot(0.5), "dot"), KeyEntry(Path((0, 1), (0, 0)), "line")))  # fmt: skip
    yield scatter_figure("points", (Series("s", np.array([1.0, 10.0]), np.array([-1.0, 2.0]), line=(1.0, 0.0), line_name="l"),),
                         ("size", "error"), "Title", "Summary", TABLE)  # fmt: skip
    yield error_histogram(
        "shape",
        (edges, np.array([25.0, 50.0, 25.0])),
        normal_curve(1.0, "normal"),
        "people",
        ("Title", "Summary"),
        TABLE,
    )
    yield map_figure("map", (Patch("A", (ring,), 2.0, "tip"), Patch("B", (ring + 1,), float("nan"), "tip")), "people",
                     ("Title", "Summary"), TABLE, is_signed=True)  # fmt: skip
    yield Figure("heat", "Title", "Summary", Axis("share", domain=(0, 2)), ROWS, (), TABLE,
                 cells=(Cell("a", 0, 0, "1.0", 0.9), Cell("b", 0, 1, "", None)), labels=(RowLabel("", "total"),),
                 columns=("US", "State"))  # fmt: skip


@pytest.mark.parametrize("figure", tuple(every_kind()), ids=lambda figure: figure.id)
def test_that_every_kind_of_figure_is_drawn_to_a_file_with_its_finding_and_the_same_bytes(figure):
    first = figure_bytes(figure, FigureFormat.PDF)
    assert first.startswith(b"%PDF")
    assert first == figure_bytes(figure, FigureFormat.PDF)
    assert figure_bytes(figure, FigureFormat.SVG).startswith(b"<?xml")


def test_that_a_slide_is_16_by_9():
    figure = next(every_kind())
    content = figure_bytes(figure, FigureFormat.PNG, wide=True)
    width, height = (int.from_bytes(content[place : place + 4], "big") for place in (16, 20))
    assert width / height == pytest.approx(16 / 9, rel=0.01)


@pytest.mark.parametrize("dpi", [PNG_DPI, 600])  # of a picture, and close to letters that are drawn as outlines
def test_that_texts_beside_marks_end_inside_a_picture_whose_rows_have_long_names(dpi):
    rows = [
        Row(str(n), "", f"Block group {n}, tract 501.{n:02d}, Washington County, RI", 89.8 - n,
            text=f"{89.8 - n:.1f}: spread over many groups (1,340 → 1,263.{n})")
        for n in range(8)
    ]  # fmt: skip
    figure = row_figure("worst", rows, "people", "Title", "Sentence.", TABLE)
    with figure_style():
        drawn = MatplotlibFigure(figsize=inches(figure), layout="constrained")
        draw(drawn, figure)
        drawn.dpi = dpi
        drawn.draw_without_rendering()
    texts = [each for each in drawn.axes[0].texts if "→" in each.get_text()]
    assert len(texts) == len(rows)
    assert all(each.get_window_extent().x1 <= drawn.bbox.x1 for each in texts)


def test_that_a_text_is_never_cut_within_a_number():
    text = "off by 12,345.6 people (948 → 1,024.8)"
    whole = {"12,345.6", "948", "1,024.8"}
    for most in range(4, len(text)):
        found = shortened(text, most)
        assert len(found) <= most
        assert set(re.findall(r"[\d.,]*\d", found)) <= whole, found


def test_that_names_of_columns_have_lines_where_they_have_no_room_beside_each_other():
    names = ["Nation, all races", "Nation, by Hispanic origin", "State, by Hispanic origin", "State, all races"]
    axis = Axis(domain=(-0.5, 3.5), ticks=tuple(Tick(place, name) for place, name in enumerate(names)))
    marks = (Mark("a", (Dot(1.0),), name="row"),)
    with figure_style():
        target = MatplotlibFigure(figsize=inches(figure := Figure("f", "t", "s", axis, ROWS, marks, TABLE)))
        draw(target, figure)
        target.draw_without_rendering()
        labels = [label for label in target.axes[0].get_xticklabels() if label.get_text()]
        boxes = [label.get_window_extent() for label in labels]
    assert [label.get_text().replace("\n", " ") for label in labels] == names
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_that_names_over_a_heat_table_are_whole_and_apart():
    names = ("US", "State", "County", "Primitive area", "Tract subset group", "Tract subset", "Block group", "Block")
    cells = tuple(Cell(name, 0, place, "1.0", 0.5) for place, name in enumerate(names))
    figure = Figure("heat", "t", "s", Axis("share", domain=(0, 8)), ROWS, (), TABLE, cells=cells,
                    labels=(RowLabel("", "three age groups × householder, member or group quarters"),), columns=names)  # fmt: skip
    with figure_style():
        draw(target := MatplotlibFigure(figsize=inches(figure), layout="constrained"), figure)
        target.draw_without_rendering()
        labels = target.axes[0].get_xticklabels()
        boxes = [label.get_window_extent() for label in labels]
    assert [label.get_text().replace("\n", " ") for label in labels] == list(names)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_that_a_long_finding_ends_inside_a_slide_of_the_same_size(monkeypatch):
    drawn = []
    monkeypatch.setattr(to_matplotlib, "chart_bytes", lambda chart, _form: drawn.append(chart) or b"")
    for title in ("Short", "A long finding that needs more than a line of a slide " * 4):
        figure_bytes(replace(next(every_kind()), title=title), FigureFormat.PNG, wide=True)
    lines = [chart.finding.split("\n") for chart in drawn]
    assert [len(each) for each in lines] == [1, 2]
    assert {round(chart.height + TITLE_INCHES * len(each), 9) for chart, each in zip(drawn, lines, strict=True)} == {
        7.2
    }


LONG = "Household or group-quarters type × 40 age groups × Hispanic origin × race number"


def drawn_of(figure, **options):
    """The axes of a figure after its layout, and the edges of the picture."""
    target = MatplotlibFigure(figsize=inches(figure), layout="constrained")
    draw(target, figure, **options)
    target.draw_without_rendering()
    return target.axes[0], target.bbox


def test_that_a_long_name_of_a_row_stands_in_two_lines_and_not_cut():
    """Rows were told apart by what was cut off."""
    rows = tuple(Row(None, "", f"{LONG} {number}", 5.0) for number in range(3))
    with figure_style():
        axes, _ = drawn_of(row_figure("f", rows, "people", "t", "s", TABLE))
        names = [label.get_text() for label in axes.get_yticklabels()]
        boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert [name.replace("\n", " ") for name in names] == [row.name for row in rows]
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))


def test_that_the_words_of_an_axis_end_inside_the_picture():
    """*truncation bias (hatched) and mean nois* ended at the edge."""
    words = "people or households: truncation bias (hatched) and mean noise, over every trial and area"
    rows = tuple(Row(None, "", f"{LONG} {number}", 5.0) for number in range(3))
    with figure_style():
        for figure in (row_figure("f", rows, words, "t", "s", TABLE), Figure("p", "t", "s", Axis("x"), Axis(words), (Mark("a", (Dot(1.0, 2.0),)),), TABLE)):  # fmt: skip
            axes, page = drawn_of(figure)
            for axis in (each for each in (axes.xaxis, axes.yaxis) if each.get_label_text()):
                box = axis.label.get_window_extent()
                assert page.x0 <= box.x0 <= box.x1 <= page.x1
                assert page.y0 <= box.y0 <= box.y1 <= page.y1


def test_that_names_of_columns_of_cells_do_not_meet_and_every_number_can_be_read_on_its_fill():
    names = ("US", "State", "Primitive area", "TS group", "T subset", "Bl. group", "Tract subset group", "Block")
    cells = tuple(Cell(None, 0, number, "19.2", number / 7) for number in range(8))
    figure = Figure(
        "f", "t", "s", Axis(domain=(0, 8)), ROWS, (Mark("a", (), name=LONG),), TABLE, cells=cells, columns=names
    )
    with figure_style():
        axes, _ = drawn_of(figure)
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        fills = [to_rgb(patch.get_facecolor()) for patch in axes.patches]
        inks = [to_rgb(text.get_color()) for text in axes.texts]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert len(fills) == len(inks) == 8
    for fill, ink in zip(fills, inks, strict=True):
        assert contrast(to_hex(ink), to_hex(fill)) >= 4.5


def test_that_a_picture_for_a_telephone_has_the_names_of_its_rows_above_them_and_ends_at_its_width():
    rows = tuple(
        Row(None, "", f"Tract {n}", 9.0, text="9: spread over many groups (1,340 → 1,263.1)") for n in range(5)
    )
    narrow = chart_of(row_figure("f", rows, "people", "t", "s", TABLE)).narrow
    assert narrow.width < 4
    with figure_style():
        target = MatplotlibFigure(figsize=(narrow.width, narrow.height), layout="constrained")
        narrow.draw(target)
        target.draw_without_rendering()
        texts = {text.get_text(): text.get_window_extent() for text in target.axes[0].texts}
    assert {row.name for row in rows} <= set(texts)
    limit = target.axes[0].get_xlim()[1]
    assert all(box.x1 <= target.bbox.x1 for box in texts.values())
    assert limit < 20, "texts stand beside the names and leave the marks their width"
    assert all(box.y0 > texts[rows[0].text].y0 for name, box in texts.items() if name == "Tract 0")


def test_that_many_rows_are_as_high_as_a_page_and_their_letters_stay_apart():
    """Ninety rows were drawn over two feet and shrunk to letters of three points."""
    marks = tuple(Mark(number, (Dot(1.0),), name=f"row {number}") for number in range(50))
    figure = Figure("f", "t", "s", Axis(), ROWS, marks, TABLE)
    assert inches(figure)[1] < 8.4
    with figure_style():
        axes, _ = drawn_of(figure)
        boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))


def test_that_high_rows_stay_on_a_page_with_letters_that_can_be_read():
    marks = tuple(Mark(number, (Dot(1.0),), name=f"row {number}") for number in range(50))
    wide = Figure("f", "t", "s", Axis(), ROWS, marks, TABLE, stretch=1.7)
    assert inches(wide)[1] == inches(replace(wide, stretch=1.0))[1]
    few = replace(wide, marks=marks[:10])
    assert inches(few)[1] > inches(replace(few, stretch=1.0))[1]
