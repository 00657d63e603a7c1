"""Numbers on the screen follow the reader, files never do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel

from phexplore.figures.table import Table
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.settings import NUMBERS
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.lettering import lettering
from phexplore.gui.theme.number_style import NumberStyle, localised
from phexplore.gui.widgets.labels import Text, rewrite_labels
from phexplore.model.numbers import parse_exact
from phexplore.text.readers import GROUP


@pytest.fixture
def comma(qapp):
    appearance().write_numbers(NumberStyle.COMMA)
    yield
    appearance().write_numbers(NumberStyle.POINT)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("12,688", f"12{GROUP}688"),
        ("2.514562", "2,514562"),
        ("12,830,632.5 people", f"12{GROUP}830{GROUP}632,5 people"),
        ("±68.0", "±68,0"),
        ("−0.311 (+1.2 %)", "−0,311 (+1,2 %)"),
        ("δ = 2.2e-5", "δ = 2,2e-5"),
        ("1, 2, 3 and 4", "1, 2, 3 and 4"),
        ("Source: eq. 7.5, section 4.2, Theorem 3.3", "Source: eq. 7.5, section 4.2, Theorem 3.3"),
        ("phexplore 0.1.0", "phexplore 0.1.0"),
        ("budget_v1.5.csv", "budget_v1.5.csv"),
        ("P.L. 94-171", "P.L. 94-171"),
        ("1/3", "1/3"),
        ("2026-07-01 12:00", "2026-07-01 12:00"),
        ("in 99.9 % of cases, 5.5 of 10", "in 99,9 % of cases, 5,5 of 10"),
    ],
)
def test_that_numbers_get_a_comma_and_names_do_not(comma, written, shown) -> None:
    assert localised(written) == shown


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12), st.integers(0, 6))
def test_that_what_is_shown_reads_back_as_the_same_number(value, places) -> None:
    appearance().write_numbers(NumberStyle.COMMA)
    try:
        text = f"{value:,.{places}f}"
        shown = localised(text)
    finally:
        appearance().write_numbers(NumberStyle.POINT)
    assert not re.search(r"\d\.\d", shown)
    if not re.fullmatch(r"-?[1-9]\d{0,2},\d{3}", shown):  # refused as two possible readings, which is said
        assert parse_exact(shown) == parse_exact(text.replace(",", ""))


def test_that_nothing_changes_with_a_decimal_point(qapp) -> None:
    appearance().write_numbers(NumberStyle.POINT)
    assert localised("12,688.5") == "12,688.5"


def test_that_labels_follow_and_go_back(qtbot, comma) -> None:
    label = Text("ρ 2.5")
    qtbot.addWidget(label)
    assert (label.text(), QLabel.text(label)) == ("ρ 2.5", "ρ 2,5")
    appearance().write_numbers(NumberStyle.POINT)
    rewrite_labels()
    assert QLabel.text(label) == "ρ 2.5"


def test_that_a_line_too_long_is_cut_and_written_once(comma) -> None:
    letters = lettering()
    whole = "a margin of 2.514 people"
    assert letters.elided(whole, 1000.0) == whole
    cut = letters.elided(whole, letters.width("a margin of 2.514 pe…"))
    assert cut.endswith("…")
    assert "2,514" in localised(cut)


def test_that_a_table_shows_commas_and_copies_points(qtbot, comma) -> None:
    table = NumbersTable()
    qtbot.addWidget(table)
    table.set_numbers(Table(("Query", "ρ"), (("PH3", 1234.5),)))
    assert table.model().index(0, 1).data(Qt.ItemDataRole.DisplayRole) == f"1{GROUP}234,5"
    table.copy_all()
    assert QGuiApplication.clipboard().text() == "Query\tρ\nPH3\t1234.5\n"


def test_that_the_menu_changes_the_picture_and_is_remembered(qtbot, window) -> None:
    window.show()
    window.navigation.choose(Area.BUDGETS)
    before = window.grab().toImage()
    window.actions_table["view.numbers-comma"].trigger()
    try:
        assert window.settings.read(NUMBERS) is NumberStyle.COMMA
        assert window.grab().toImage() != before
    finally:
        window.actions_table["view.numbers-point"].trigger()
    assert window.settings.read(NUMBERS) is NumberStyle.POINT


def test_that_a_name_from_a_file_turns_and_moves_no_line() -> None:
    assert localised("Ann\u202etxt \x1b[31m\tred\nsecond") == "Ann\\u202etxt \\x1b[31m\\tred\nsecond"
