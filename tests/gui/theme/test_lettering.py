"""Text that is shortened to its place."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt

from phexplore.gui.theme.lettering import lettering

_NUMBER = re.compile(r"\d[\d.,]*\d|\d")


@pytest.mark.usefixtures("qtbot")
@pytest.mark.parametrize("text", ["25.13, proven 24.21", "496 → 20.7", "1,234,567 people", "±1,000 to −12.5 people",
                                  "618,180,837 to 4,545,829,586 people"])  # fmt: skip
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
