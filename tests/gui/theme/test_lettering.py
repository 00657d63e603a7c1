"""Text that is shortened to its place."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyleOptionViewItem

from phexplore.gui.theme.lettering import elided, lettering
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.labels import ElidedText

_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@pytest.mark.usefixtures("qtbot")
@pytest.mark.parametrize("text", ["25.13, proven 24.21", "496 → 20.7", "1,234,567 people", "±1,000 to −12.5 people",
                                  "618,180,837 to 4,545,829,586 people", "Draft… 12345678 people", "2.5562… of 12,345,678 people…"])  # fmt: skip
@pytest.mark.parametrize(
    "mode", [Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft]
)
def test_that_no_number_is_cut_within(text, mode) -> None:
    letters, whole = lettering(), set(_NUMBER.findall(text))
    shown = {letters.elided(text, float(width), mode) for width in range(round(letters.width(text)) + 2)}
    assert len(shown) > 3
    assert text in shown
    for each in shown:
        assert set(_NUMBER.findall(each)) <= whole, each
        assert letters.width(each) <= letters.width(text)


@pytest.mark.usefixtures("qtbot")
def test_that_lines_have_all_words_and_break_where_the_room_ends() -> None:
    letters, words = (
        lettering(),
        [
            "Margins",
            "of",
            "error",
            "at",
            "90",
            "%",
            "of",
            "46",
            "published",
            "queries,",
            "from",
            "63.0",
            "people",
            "to",
            "500",
            "people",
        ],
    )
    seen = set()
    for width in range(60, 700, 3):
        lines = letters.lines(" ".join(words), float(width), 9)
        seen.add(len(lines))
        assert all(letters.width(line) <= width + 1 for line in lines)  # words beside each other may share a pixel
        if len(lines) < 9:
            assert " ".join(lines).replace("\N{NO-BREAK SPACE}", " ").split() == words
        for line, after in pairwise(lines):  # none is broken too early
            first = after.split(" ")[0]
            assert letters.width(f"{line} {first}") > width - 1 or len(lines) == 9
    assert seen >= {1, 2, 3}
    assert letters.lines(" ".join(words), 90.0, 2)[-1].endswith("…")


_HOUSEHOLDS = "Households of 2010"


def test_that_a_cell_cuts_no_number(qtbot) -> None:
    found = CompactList("Sums")
    qtbot.addWidget(found)
    found.show_lines([("P.L. 94171 production of 2020", "1")])
    option, seen = QStyleOptionViewItem(), set()
    for width in range(60, 400):
        found.initViewItemOption(option)
        option.rect = found.rect()
        option.rect.setWidth(width)
        found.itemDelegate().initStyleOption(option, found.model().index(0, 0))
        seen.add(option.text)
    assert len(seen) > 9
    assert {number for text in seen for number in _NUMBER.findall(text)} == {"94171", "2020"}


@pytest.mark.parametrize("make", [lambda: ElidedText(_HOUSEHOLDS), lambda: Chooser("Data", options=[(_HOUSEHOLDS, 1)])])
def test_that_a_line_and_a_chooser_cut_no_number(qtbot, monkeypatch, make) -> None:
    widget, seen = make(), set()
    qtbot.addWidget(widget)
    for at in ("labels", "buttons"):
        module = f"phexplore.gui.widgets.{at}.elided"
        monkeypatch.setattr(module, lambda *asked: seen.add(said := elided(*asked)) or said)
    for width in range(60, 200, 2):
        widget.resize(width, 30)
        widget.grab()
    assert len(seen) > 5
    assert {number for text in seen for number in _NUMBER.findall(text)} <= {"2010"}
