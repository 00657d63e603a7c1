from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import LEAST_TARGET
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TickBox
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.layout import row
from phexplore.gui.widgets.page import Sideways, scrolling
from phexplore.gui.widgets.reading_order import put_in_order

LONG = "Every word of this sentence is to be read, however narrow the page is and however large its text"


@pytest.fixture
def both(qtbot):
    content, picture = QWidget(), QWidget()
    content.setMinimumSize(300, 500)
    picture.setMinimumSize(200, 150)
    found = Beside("Page", scrolling("Form", content), picture, shares=(0, 1), sizes=(320, 600), handle=8)
    qtbot.addWidget(found)
    found.form, found.picture = found.splitter.widget(0), picture
    found.resize(1000, 400)
    found.show()
    return found


def test_that_parts_stand_beside_each_other_while_each_has_the_width_it_needs(both):
    assert not both.is_stacked
    assert both.form.height() == both.picture.height() == both.height()
    assert both.form.viewport().width() >= 300


def test_that_a_narrow_page_has_them_below_each_other_whole_and_scrolls_down_alone(qtbot, both):
    both.resize(500, 400)
    qtbot.waitUntil(lambda: both.is_stacked)
    qtbot.waitUntil(lambda: both.form.height() >= 500)  # a form is not scrolled within the page that scrolls
    assert both.horizontalScrollBar().maximum() == 0
    assert both.picture.y() >= both.form.geometry().bottom()
    assert 150 <= both.picture.height() < both.height()
    both.resize(1000, 400)
    qtbot.waitUntil(lambda: not both.is_stacked)
    qtbot.waitUntil(lambda: both.form.height() == both.height())


def test_that_what_a_page_is_looked_at_for_is_on_top_of_a_narrow_one(qtbot):
    form, picture = QCheckBox("Form"), QCheckBox("Picture")
    for part in (form, picture):
        part.setMinimumWidth(300)
    found = Beside("Page", form, picture, shares=(0, 1), sizes=(320, 600), handle=8, is_last_on_top=True)
    qtbot.addWidget(found)
    found.resize(1000, 400)
    found.show()
    assert form.x() < picture.x()
    found.resize(500, 400)
    qtbot.waitUntil(lambda: found.is_stacked)
    qtbot.waitUntil(lambda: picture.geometry().bottom() <= form.y())
    assert [each for each in put_in_order(found) if each in (form, picture)] == [picture, form]
    found.resize(1000, 400)
    qtbot.waitUntil(lambda: not found.is_stacked)
    qtbot.waitUntil(lambda: form.geometry().right() <= picture.x())
    assert picture.width() > form.width()


def test_that_larger_text_needs_more_room(qtbot, both):
    appearance().set_scale(200)
    qtbot.waitUntil(lambda: both.is_stacked)
    both.resize(1400, 400)
    qtbot.waitUntil(lambda: not both.is_stacked)


def test_that_the_line_a_user_moved_is_where_it_was_when_there_is_room_again(qtbot, both):
    line = both.splitter.handle(1)
    qtbot.mousePress(line, Qt.MouseButton.LeftButton, pos=QPoint(2, 50))
    qtbot.mouseMove(line, QPoint(102, 50))
    qtbot.mouseRelease(line, Qt.MouseButton.LeftButton, pos=QPoint(2, 50))
    before = both.splitter.sizes()
    assert before[0] > 400
    for width in (500, 1000):
        both.resize(width, 400)
        qtbot.waitUntil(lambda width=width: both.is_stacked is (width == 500))
    qtbot.waitUntil(lambda: both.splitter.sizes() == before)


def test_that_rows_break_where_their_parts_need_more_room_than_there_is(qtbot):
    place = QWidget()
    qtbot.addWidget(place)
    labels = [QLabel("a label of some words") for _ in range(3)]
    LargeTextRows(*labels, of=place)
    place.show()
    assert place.minimumSizeHint().width() < 2 * labels[0].minimumSizeHint().width()
    for width, lines in ((900, 1), (200, 3)):
        place.resize(width, 200)
        qtbot.waitUntil(lambda lines=lines: len({label.y() for label in labels}) == lines)


def test_that_a_box_to_tick_says_all_its_words_on_a_narrow_page(qtbot):
    box, plain = TickBox(LONG), QCheckBox(LONG)
    qtbot.addWidget(box)
    qtbot.addWidget(plain)
    assert (
        plain.sizeHint().height() < box.sizeHint().height() == LEAST_TARGET
    )  # those of neighbours are not clicked for it
    assert box.minimumSizeHint().width() < plain.sizeHint().width() // 2
    assert box.heightForWidth(plain.sizeHint().width()) == LEAST_TARGET
    assert box.heightForWidth(plain.sizeHint().width() // 2) >= 2 * box.fontMetrics().height()
    box.resize(200, box.heightForWidth(200))
    box.show()
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(190, box.height() - 3))  # its last words
    assert box.isChecked()


def test_that_a_chooser_of_long_entries_fits_a_narrow_page_and_its_list_shows_all(qtbot):
    chooser = Chooser("Choice", options=[(LONG, 1), ("Short", 2)])
    qtbot.addWidget(chooser)
    assert chooser.minimumSizeHint().width() < 250 < chooser.sizeHint().width()
    chooser.resize(150, 30)
    chooser.show()
    chooser.showPopup()
    assert chooser.view().width() >= chooser.fontMetrics().horizontalAdvance(LONG)
    chooser.hidePopup()


def test_that_a_wide_table_scrolls_sideways_within_its_page_and_is_as_high_as_it_is(qtbot):
    content = QWidget()
    row(*(QLabel("12,688") for _ in range(9)), of=content)
    place = Sideways("Table", content)
    qtbot.addWidget(place)
    place.resize(QSize(1500, 300))
    place.show()
    whole = place.height()
    assert whole == content.sizeHint().height()
    place.resize(200, whole)
    qtbot.waitUntil(lambda: place.height() > whole)  # of the bar
    assert place.horizontalScrollBar().maximum() > 0
    assert place.verticalScrollBar().maximum() == 0


def test_that_a_form_that_scrolls_gets_the_width_its_entries_want_as_far_as_its_share_goes(qtbot):
    content = QWidget()
    entry = Chooser("Data", options=[("Demonstration: 4,000 blocks of two counties", None)])
    row((entry, 1), of=content)
    found = Beside("Page", scrolling("Form", content), QWidget(), shares=(0, 1), sizes=(60, 600), most=0.5)
    qtbot.addWidget(found)
    found.resize(1600, 400)
    found.show()
    assert entry.width() >= entry.sizeHint().width() > entry.minimumSizeHint().width()
