"""Drawn texts: what a change of one has painted and laid out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QFrame

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.labels import Paragraph, stand_on_card
from phexplore.gui.widgets.layout import column


class Paintings(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, watched):
        super().__init__()
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


@pytest.fixture
def card(qtbot):
    found = QFrame()
    found.setProperty("look", "card")
    found.text = Paragraph("ρ 2.514562")
    column(found.text, of=found)
    qtbot.addWidget(found)
    found.resize(400, 200)
    found.show()
    qtbot.waitExposed(found)
    return found


@pytest.mark.parametrize("stands", [True, False])
def test_that_a_text_that_stands_on_its_card_changes_without_the_card(card, qtbot, stands):
    if stands:
        stand_on_card(card.text)
    card.grab()
    paintings, own = Paintings(card), Paintings(card.text)
    card.text.setText("ρ 2.514563")
    qtbot.waitUntil(lambda: own.count > 0)
    assert paintings.count == (0 if stands else 1)


@pytest.mark.parametrize("scale", [100, 200])
@pytest.mark.parametrize("relative", [0.92, 1.0, 1.25])
def test_that_a_line_looks_and_measures_as_if_it_was_laid_out(qtbot, monkeypatch, scale, relative):
    appearance().set_scale(scale)
    text = Paragraph("PH3 takes 52.7 % of the privacy loss, ρ ± 1.645", relative=relative)
    qtbot.addWidget(text)
    for width in (text.advance - 1, text.advance, text.advance + 1, text.advance + 2, text.advance + 40):
        text.resize(width, 200)
        found = text.heightForWidth(width), text.grab().toImage()
        with monkeypatch.context() as patched:
            patched.setattr(Paragraph, "_is_one_line", lambda *_: False)
            assert found == (text.heightForWidth(width), text.grab().toImage()), width


def test_that_a_paragraph_of_at_most_two_lines_has_the_whole_text_in_its_tool_tip(qtbot):
    words = " · ".join(f"figure {number}: {number}.5 people" for number in range(20))
    text = Paragraph(words, most=2)
    qtbot.addWidget(text)
    text.resize(400, 60)
    text.show()
    line = Paragraph("one").heightForWidth(400)
    assert text.heightForWidth(400) <= 2 * line + 1
    text.grab()
    assert text.toolTip() == text.accessibleName() == words
    text.resize(4000, 60)
    text.grab()
    assert text.heightForWidth(4000) <= line + 1
    text.resize(1400, 60)
    text.grab()
    assert text.toolTip() == ""
    appearance().set_scale(200)
    large = text.heightForWidth(400)
    appearance().set_scale(100)
    assert large > 6 * line
