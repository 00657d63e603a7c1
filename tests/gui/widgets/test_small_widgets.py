from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.icons import icon as symbol_icon
from phexplore.gui.theme.plain_words import speak_plainly
from phexplore.gui.widgets.bubble import Bubble
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton, TickBox
from phexplore.gui.widgets.compact_list import CompactList
from phexplore.gui.widgets.empty_place import EmptyPlace
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.interval_picture import IntervalPicture
from phexplore.gui.widgets.labels import ElidedText, Figure, Paragraph, Reason, Text, rewrite_labels
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.list_field import ListField
from phexplore.gui.widgets.notice_bar import NoticeBar
from phexplore.gui.widgets.number_field import LineField, NumberField
from phexplore.gui.widgets.page import Page, Section
from phexplore.gui.widgets.speech import said, say_beside, tell_place
from phexplore.gui.widgets.tick_list import TickEntry, TickList
from phexplore.gui.widgets.tile import Saying, Tile, TileLine, fit_lines

LONG = "Proposal of the subcommittee on small areas, revised after the June meeting, second reading " * 4


@pytest.fixture
def shown(qtbot):
    def show(widget: QWidget) -> QWidget:
        qtbot.addWidget(widget)
        widget.show()
        return widget

    return show


@pytest.fixture
def heard(monkeypatch):
    """What a screen reader would be told."""
    told = []

    class Active(QAccessible):
        @staticmethod
        def isActive():
            return True

        @staticmethod
        def updateAccessibility(event):
            told.append(event)

    monkeypatch.setattr("phexplore.gui.widgets.speech.QAccessible", Active)
    return told


def test_that_a_tile_speaks_all_it_shows(shown) -> None:
    tile = shown(Tile())
    tile.show_content(TileContent("Privacy loss", "2.514562", "unbounded 1.257281", "+0.1", Tone.ATTENTION))
    assert tile.accessibleName() == "Privacy loss: 2.514562, unbounded 1.257281. +0.1"


def test_that_the_figures_of_tiles_stand_on_one_line(shown) -> None:
    short, long = Tile(wraps=True), Tile(wraps=True)
    for tile, words in ((short, "same"), (long, LONG * 3)):
        tile.show_content(TileContent("Loss", "2", "", words))
    place = shown(QWidget())
    place.resize(500, 200)
    row((short, 1), (long, 1), of=place)
    QApplication.processEvents()
    assert short.height() == long.height()
    assert (
        len({next(each for each in tile.findChildren(Figure) if each.text() == "2").y() for tile in (short, long)}) == 1
    )


@pytest.mark.parametrize("kind", [Figure, ElidedText, Paragraph, Text])
def test_that_text_is_text_to_a_screen_reader(shown, kind) -> None:
    label = shown(kind("12 people"))
    spoken = QAccessible.queryAccessibleInterface(label)
    assert (spoken.role(), spoken.text(QAccessible.Text.Name)) == (QAccessible.Role.StaticText, "12 people")


def test_that_a_notice_is_a_notification_each_time_it_is_shown(shown, monkeypatch) -> None:
    told = []
    monkeypatch.setattr("phexplore.gui.widgets.speech.tell", lambda _bar, event: told.append(event))
    notice = shown(NoticeBar())
    notice.hide()
    notice.say("The run is complete.")
    assert QAccessible.queryAccessibleInterface(notice).role() is QAccessible.Role.Notification
    assert told == []  # the toolkit tells that it is shown
    notice.say("The report was written.")
    assert told == [QAccessible.Event.ObjectShow]


def test_that_a_refusal_is_a_notification_each_time_there_is_another(shown, monkeypatch) -> None:
    told = []
    monkeypatch.setattr("phexplore.gui.widgets.speech.tell", lambda _reason, event: told.append(event))
    reason = shown(Reason())
    reason.say("")
    reason.say("The two passphrases differ.")
    spoken = QAccessible.queryAccessibleInterface(reason)
    assert (spoken.role(), spoken.text(QAccessible.Text.Name)) == (QAccessible.Role.Notification, reason.text())
    assert told == []  # the toolkit tells that it is shown
    reason.say("There is no passphrase.")
    assert told == [QAccessible.Event.ObjectShow]


@pytest.mark.parametrize("is_chosen", [True, False])
def test_that_the_line_of_a_list_is_told_after_the_list_unless_it_is_read_with_it(
    shown, qtbot, heard, is_chosen
) -> None:
    found = shown(QListWidget())
    found.addItems(["a", "b"])
    found.setCurrentRow(1)
    found.item(1).setSelected(is_chosen)
    found.setFocus()
    tell_place(None, found)
    qtbot.wait(1)
    assert {(event.type(), event.child()) for event in heard} == (
        set() if is_chosen else {(QAccessible.Event.Focus, 1)}
    )


def test_that_the_cell_of_a_table_is_told_after_the_table(shown, qtbot, heard) -> None:
    found = shown(QTableWidget(3, 2))
    found.setItem(2, 1, QTableWidgetItem("68 people"))
    found.setCurrentCell(2, 1)
    found.setFocus()
    tell_place(None, found)
    qtbot.waitUntil(lambda: bool(heard))
    cell = QAccessible.queryAccessibleInterface(found).child(heard[-1].child())
    assert cell.text(QAccessible.Text.Name) == "68 people"


def test_that_what_a_control_leads_to_is_its_description_and_announced_elsewhere(shown, heard) -> None:
    field = shown(LineField("Search"))
    say_beside(field, "8 of 46 rows")
    assert field.accessibleDescription() == "8 of 46 rows"
    assert [event.message() for event in heard if event.type() is QAccessible.Event.Announcement] == ["8 of 46 rows"]


def test_that_a_field_over_a_list_says_the_line_that_enter_takes(shown, qtbot) -> None:
    found = QListWidget()
    field = shown(ListField("What to do", "", found))
    found.addItems(["Open", "Export"])
    found.setCurrentRow(0)
    qtbot.waitUntil(lambda: field.accessibleDescription() == "Open")
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: field.accessibleDescription() == "Export")
    found.clear()
    qtbot.waitUntil(lambda: field.accessibleDescription() == "")


def test_that_the_focus_begins_with_the_first_line_to_tick(shown) -> None:
    found = shown(TickList("What is compared"))
    found.show_entries([TickEntry(None, "This project"), TickEntry("a", "A")], ["a"])
    assert found.currentRow() == -1  # nothing is marked before
    QApplication.sendEvent(found, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert found.currentItem().text() == "A"


def test_that_a_notice_keeps_the_name_of_its_action_when_texts_are_written_anew(shown) -> None:
    bar = shown(NoticeBar())
    bar.say("New here?", action="Show me around")
    rewrite_labels()
    (button,) = [each for each in bar.findChildren(TextButton) if each.text()]
    assert button.accessibleName() == "Show me around"


def test_that_the_cursor_of_an_empty_field_does_not_move_when_the_field_is_reached_first(shown) -> None:
    moved = []
    field = shown(LineField("Who"))
    field.cursorPositionChanged.connect(lambda *where: moved.append(where))
    QApplication.sendEvent(field, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert moved == []


def test_that_a_field_is_told_to_have_the_focus_before_its_cursor_moves(shown, qtbot, monkeypatch) -> None:
    told = []
    monkeypatch.setattr("phexplore.gui.widgets.number_field.tell", lambda _field, event: told.append(event))
    field = shown(LineField("Who", "Anna"))
    field.selectionChanged.connect(lambda: told.append("selection"))
    QApplication.sendEvent(field, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert "selection" in told
    assert told[0] is QAccessible.Event.Focus


@pytest.mark.parametrize("value", ["0", "∞", "123,456,789.123456", "0.333333…"])
def test_that_a_tile_keeps_its_figure_whole_in_little_room(shown, value) -> None:
    tile = shown(Tile())
    tile.show_content(TileContent(LONG, value, LONG, LONG))
    tile.resize(260, 80)
    figure = next(label for label in tile.findChildren(Figure) if label.text() == value)
    assert figure.width() >= figure.fontMetrics().horizontalAdvance(value)
    assert tile.minimumSizeHint().width() < 420


def test_that_a_long_text_is_elided_with_the_whole_in_its_tip(shown) -> None:
    label = shown(ElidedText(LONG))
    label.resize(120, 20)
    label.grab()
    assert label.toolTip() == LONG
    label.setText("short")
    label.grab()
    assert label.toolTip() == ""


def test_that_enter_presses_the_button_in_hand_and_not_the_main_one(qtbot) -> None:
    dialog, pressed = QDialog(), []
    qtbot.addWidget(dialog)
    create, cancel = (TextButton(text, run=lambda *_, said=text: pressed.append(said)) for text in ("Create", "Cancel"))
    create.setDefault(True)
    column(create, cancel, of=dialog)
    dialog.show()
    cancel.setFocus()
    qtbot.keyClick(cancel, Qt.Key.Key_Return)
    assert pressed == ["Cancel"]


def test_that_a_double_click_starts_work_once_and_presses_other_buttons_twice(qtbot, shown) -> None:
    pressed = []
    for text, symbol in (("Start run", "run"), ("Add as new rule", "plus"), ("Step", "")):
        button = shown(TextButton(text, symbol=symbol, run=lambda *_, said=text: pressed.append(said)))
        for press in (qtbot.mouseClick, qtbot.mouseDClick, qtbot.mouseRelease):
            press(button, Qt.MouseButton.LeftButton)
    assert pressed == ["Start run", "Add as new rule", "Step", "Step"]


def test_that_text_follows_size_and_theme(shown) -> None:
    label = shown(Text("Title", relative=2, bold=True, look="muted"))
    appearance().set_scale(200)
    assert label.font().pointSizeF() == pytest.approx(36)
    assert label.font().bold()
    light = label.grab().toImage()
    appearance().choose(ThemeChoice.DARK)
    assert label.grab().toImage() != light


def test_that_buttons_have_names_and_change_their_symbol(shown) -> None:
    button = shown(SymbolButton("undo", "Undo", checkable=True))
    assert button.accessibleName() == button.toolTip() == "Undo"
    plain = button.icon().pixmap(18).toImage()
    button.set_symbol("redo")
    assert button.icon().pixmap(18).toImage() != plain
    button.setChecked(True)
    button.set_symbol("redo", role="refused")
    assert shown(TextButton("Go", symbol="run")).accessibleName() == "Go"


def test_that_a_short_link_is_large_enough_to_hit(shown) -> None:
    link = shown(TextButton("<", look="link", name="Make pass 2 earlier"))
    assert link.sizeHint().width() >= 24
    assert link.sizeHint().height() >= 24


def test_that_a_chooser_and_a_number_ignore_the_wheel_and_the_chooser_selects_silently(shown) -> None:
    chooser = shown(Chooser("Level", letters=10))
    for value in ("a", "b", "c"):
        chooser.addItem(value.upper(), value)
    seen = []
    chooser.currentIndexChanged.connect(seen.append)
    chooser.select("c")
    assert (chooser.currentData(), seen) == ("c", [])
    wheel = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    number = shown(NumberField("Workers", 1, 9, 4))
    for widget in (chooser, number):
        QApplication.sendEvent(widget, wheel)
    assert (chooser.currentData(), number.value()) == ("c", 4)
    chooser.select("unknown")
    assert chooser.currentIndex() == -1


def test_that_a_notice_says_acts_and_closes(qtbot, shown) -> None:
    host = shown(QWidget())
    bar, acted = NoticeBar(host), []
    assert bar.text == ""
    bar.say("Not written.", look="refused", action="Try again", run=lambda: acted.append(1))
    assert bar.text == bar.accessibleName() == "Not written."
    qtbot.mouseClick(bar._button, Qt.MouseButton.LeftButton)
    assert acted == [1]
    assert bar.text == ""
    bar.say("Done.")
    qtbot.mouseClick(bar._close, Qt.MouseButton.LeftButton)
    assert bar.text == ""


@pytest.mark.parametrize("typed", ["150.5", "150,5", "-3", "12x", "", "1e3", "99999"])
@pytest.mark.parametrize("left_by", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_that_a_number_field_never_makes_another_number_of_what_is_typed(qtbot, shown, typed, left_by) -> None:
    number, judged = NumberField("Trials", 1, 9999, 4), []
    place = QWidget()
    column(number, QLineEdit(), of=place)
    shown(place)
    number.judged.connect(lambda: judged.append(number.reason))
    number.setFocus()
    qtbot.waitUntil(number.hasFocus)
    number.selectAll()
    qtbot.keyClick(number, Qt.Key.Key_Delete)
    qtbot.keyClicks(number, typed)
    qtbot.keyClick(number, left_by)
    assert (number.lineEdit().text(), number.value()) == (typed, 4)
    assert number.reason
    assert judged == [number.reason]
    number.hide()  # another page is looked at meanwhile
    number.show()
    assert (number.lineEdit().text(), judged) == (typed, [number.reason])
    with pytest.raises(ValueError, match="number"):
        number.read()
    number.setFocus()
    qtbot.keyClick(number, Qt.Key.Key_Escape)
    assert (number.lineEdit().text(), number.reason, number.read()) == ("4", "", 4)


@pytest.mark.parametrize("typed", ["1500", "1,500", "1 500"])
def test_that_a_number_field_reads_what_it_shows(qtbot, shown, typed) -> None:
    number = shown(NumberField("Trials", 1, 9999, 4))
    number.selectAll()
    qtbot.keyClicks(number, typed)
    qtbot.keyClick(number, Qt.Key.Key_Return)
    assert (number.read(), number.lineEdit().text(), number.reason) == (1500, "1,500", "")


def test_that_an_empty_place_teaches_and_acts(qtbot, shown) -> None:
    acted = []
    place = shown(EmptyPlace("runs", "No run yet", LONG, action="Start", run=lambda: acted.append(1)))
    place.resize(600, 500)
    qtbot.mouseClick(place.findChild(TextButton), Qt.MouseButton.LeftButton)
    assert acted == [1]
    place.set_text("Other", "Short.")
    sentence = next(label for label in place.findChildren(Text) if label.text() == "Short.")
    assert sentence.height() >= sentence.heightForWidth(sentence.width())


@pytest.mark.parametrize("beside", [QRect(10, 10, 80, 20), QRect(500, 370, 90, 20)])
def test_that_a_bubble_stays_inside_its_parent(shown, beside) -> None:
    host = shown(QWidget())
    host.resize(600, 400)
    bubble = Bubble(host)
    bubble.say("1,500 can be read as 1500 or as 1.5", beside)
    assert host.rect().contains(bubble.geometry())
    assert not bubble.geometry().intersects(beside)
    bubble.say("", beside)
    assert bubble.text == ""


def test_that_intervals_are_spoken_and_drawn(shown) -> None:
    picture = shown(IntervalPicture("Margins"))
    picture.show_intervals(
        [("exact", 20.0, "± 20", False), ("normal", 20.1, "± 20.1", True), ("paper", None, "–", False)]
    )
    assert picture.accessibleName() == "Margins: exact ± 20, normal ± 20.1, paper –"
    picture.resize(240, picture.sizeHint().height())
    drawn = picture.grab().toImage()
    picture.show_intervals([("exact", 0.0, "± 0", True)])
    assert picture.grab().toImage() != drawn
    picture.show_intervals([])
    assert picture.isHidden()


def test_that_a_compact_list_chooses_lines(qtbot, shown) -> None:
    lines = shown(CompactList("Sums"))
    lines.show_lines([("Total", "± 52.9"), (LONG, "± 1")])
    with qtbot.waitSignal(lines.chosen) as chosen:
        lines.cellActivated.emit(1, 0)
    assert chosen.args == [1]
    lines.show_lines([])
    assert lines.isHidden()


def test_that_a_long_text_of_a_wrapped_list_goes_on_in_another_line(shown) -> None:
    lines = shown(CompactList("What changes", is_wrapped=True))
    lines.resize(260, 200)
    lines.show_lines([("Total", "± 52.9"), ("Own children by family type and age (Nation, by Hispanic origin)", "± 1")])
    assert lines.rowHeight(1) > 1.5 * lines.rowHeight(0)
    assert lines.sizeHint().height() >= lines.rowHeight(0) + lines.rowHeight(1)
    lines.resize(900, 200)
    assert lines.rowHeight(1) == lines.rowHeight(0)


def test_that_a_page_holds_sections_and_scrolls(shown) -> None:
    page = shown(Page("Page", [Section(f"Part {n}", LONG, Text("x")) for n in range(9)]))
    page.resize(500, 300)
    assert page.verticalScrollBar().maximum() > 0
    assert page.horizontalScrollBar().maximum() == 0


def test_that_a_figure_of_the_same_width_asks_for_no_new_layout(qtbot, shown) -> None:
    class Host(QWidget):
        asked = 0

        def event(self, event: QEvent) -> bool:
            self.asked += event.type() == QEvent.Type.LayoutRequest
            return super().event(event)

    host = Host()
    figure = Figure("2.514562", relative=2, bold=True)
    QVBoxLayout(host).addWidget(figure)
    shown(host)
    qtbot.wait(1)
    host.asked = 0
    figure.setText("2.514563")
    qtbot.wait(1)
    assert (figure.text(), figure.accessibleName(), host.asked) == ("2.514563", "2.514563", 0)
    figure.setText("12.514563")
    qtbot.waitUntil(lambda: host.asked == 1)


HOSTILE = "<img src='file:///secret'> A \x1b[2K\u202eadA yb dengis"


@pytest.mark.defect("F10")
def test_that_a_label_shows_what_a_file_says_without_obeying_it(shown):
    label = shown(Text(HOSTILE))
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert QLabel.text(label).startswith("<img")
    assert "\x1b" not in QLabel.text(label)
    assert "\u202e" not in QLabel.text(label)
    label.setText(HOSTILE + "\nnext line")
    assert QLabel.text(label).endswith("\nnext line")
    assert "\x1b" not in QLabel.text(label)


@pytest.mark.defect("F10")
def test_that_a_tool_tip_is_plain_text(qapp, shown):
    appearance().choose(ThemeChoice.LIGHT)
    widget = shown(QWidget())
    QToolTip.showText(QPoint(10, 10), HOSTILE, widget)
    (tip,) = [
        each for each in qapp.topLevelWidgets() if each.metaObject().className() == "QTipLabel" and each.isVisible()
    ]
    assert tip.textFormat() is Qt.TextFormat.PlainText
    QToolTip.hideText()


@pytest.mark.parametrize("width", [1200, 900, 700, 400])
@pytest.mark.parametrize("breaks", [False, True])
def test_that_no_figure_of_a_line_is_cut_and_what_changed_is_left_out_as_a_whole(shown, width, breaks) -> None:
    lines = [TileLine() for _ in range(4)]
    change = "+0.012345 (+0.5 %) against the reference of the last meeting"
    for line, caption in zip(lines, ("Privacy loss, bounded ρ", "Widest change", "Runs", "Last run"), strict=True):
        line.show_content(TileContent(caption, "2.514562", "people", change, Tone.ATTENTION))
    place = FlowRow(*lines, gap=0)
    place.resize(width, 90)
    fit_lines(lines, width, breaks=breaks)
    shown(place)
    assert all(line.width() >= Figure.sizeHint(line).width() for line in lines)
    assert [line.text().endswith("2.514562 people") or line.text().endswith(f"({change})") for line in lines] == [
        True
    ] * 4
    fit_lines(lines, 4000)
    assert all(line.text().endswith(f"({change})") for line in lines)


def test_that_a_line_of_figures_leaves_out_notes_before_changes() -> None:
    lines = [TileLine() for _ in range(2)]
    lines[0].show_content(TileContent("ε, converted from ρ", "17.15", "at δ = 10⁻¹⁰, rounded up"))
    lines[1].show_content(TileContent("Margin of a total", "±3.04", "people", "+0.16 people", Tone.ATTENTION))
    whole = sum(line.width_saying(Saying.ALL) for line in lines)
    said = []
    for room in (whole, whole - 1, whole - 1 - lines[0].width_saying(Saying.ALL) // 3):
        fit_lines(lines, room)
        said.append([line.text() for line in lines])
    noted, bare = "ε, converted from ρ: 17.15, at δ = 10⁻¹⁰, rounded up", "ε, converted from ρ: 17.15, at δ = 10⁻¹⁰"
    margin = "Margin of a total: ±3.04 people"
    assert said == [[noted, f"{margin} (+0.16 people)"], [bare, f"{margin} (+0.16 people)"], [bare, margin]]


def test_that_the_tool_tip_has_a_note_that_a_line_of_figures_leaves_out() -> None:
    line = TileLine()
    line.show_content(TileContent("Expected error", "14.7", "people, root mean square"))
    fit_lines([line], line.width_saying(Saying.ALL) - 1)
    assert line.text() == "Expected error: 14.7 people"
    assert "root mean square" in line.toolTip() + line.accessibleDescription()


@pytest.mark.parametrize("width", [120, 190, 236, 250, 300])
def test_that_a_line_to_tick_is_as_high_as_its_words_need_beside_the_box(qtbot, width):
    titles = [
        "P.L. 94-171 production, US persons",
        "S-DHC 2020, Puerto Rico (production)",
        "DHC production, US households and units",
    ]
    found = TickList("Compare")
    qtbot.addWidget(found)
    found.show_entries([TickEntry(title, title) for title in titles], [])
    found.resize(width, 400)
    found.show()
    QApplication.processEvents()
    for row_number, title in enumerate(titles):
        option = QStyleOptionViewItem()
        found.initViewItemOption(option)
        option.rect = found.visualItemRect(found.item(row_number))
        found.itemDelegate().initStyleOption(option, found.model().index(row_number, 0))
        room = found.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, found)
        margin = found.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, found) + 1
        words = found.fontMetrics().boundingRect(
            QRect(0, 0, room.width() - 2 * margin, 1000), Qt.TextFlag.TextWordWrap, title
        )
        assert words.height() <= room.height()


@pytest.mark.parametrize("has_box", [True, False])
def test_that_a_line_has_as_many_lines_as_are_painted_at_any_width(qtbot, has_box):
    title = "Proposal from DHC 2020, people"
    found = TickList("Compare")
    qtbot.addWidget(found)
    found.show_entries([TickEntry(title, title)], [])
    if not has_box:
        found.clear()
        found.addItem(QListWidgetItem(symbol_icon("tick", appearance().colours, role="good"), title))
    found.show()
    for width in range(210, 270, 2):
        found.resize(width, 400)
        QApplication.processEvents()
        option = QStyleOptionViewItem()
        found.initViewItemOption(option)
        option.rect = found.visualItemRect(found.item(0))
        found.itemDelegate().initStyleOption(option, found.model().index(0, 0))
        room = found.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, found).width()
        margin = found.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, found) + 1
        fits = found.fontMetrics().horizontalAdvance(title) <= room - 2 * margin
        assert (option.rect.height() < 38) == fits, width
        assert option.rect.width() == found.viewport().width()


def test_that_a_part_with_room_to_spare_keeps_its_words_together(qtbot):
    words = Text("Protected: all of it.", wrap=True)
    part = Section("What the number means", "", words, 1)
    qtbot.addWidget(part)
    part.resize(400, 500)
    part.show()
    assert words.geometry().bottom() < 120


def test_that_a_compact_list_measures_its_figures_as_they_are_read(qtbot):
    found = CompactList("Steps")
    qtbot.addWidget(found)
    speak_plainly(True)
    try:
        found.show_lines([("New", "ρ 2.556")])
        assert found.columnWidth(1) > found.fontMetrics().horizontalAdvance("Privacy loss 2.556")
    finally:
        speak_plainly(False)


@pytest.mark.parametrize("text", ["", "Stop when precise enough"])
def test_that_a_box_to_tick_grows_with_its_text(shown, text) -> None:
    tick = shown(TickBox(text))
    tick.resize(tick.sizeHint())
    small = tick.size()
    appearance().set_scale(200)
    tick.resize(tick.sizeHint())
    assert tick.width() >= small.width() + 10
    assert tick.height() >= 28
    empty = tick.grab().toImage()
    tick.setChecked(True)
    ticked = tick.grab().toImage()
    changed = [
        (x, y) for x in range(tick.width()) for y in range(tick.height()) if empty.pixel(x, y) != ticked.pixel(x, y)
    ]
    assert max(x for x, _ in changed) - min(x for x, _ in changed) >= 24
    assert max(y for _, y in changed) - min(y for _, y in changed) >= 24


@pytest.mark.parametrize("scale", [100, 130, 200])
def test_that_a_chooser_shows_its_entry_whole_where_there_is_room(shown, scale) -> None:
    long = "Hispanic or Latino, and not Hispanic or Latino by race"
    appearance().set_scale(scale)
    for chooser in (
        shown(Chooser("Table", letters=18, grows=True, options=[("Total", 1), (long, 2)])),
        shown(Chooser("Level", options=[("US", 1), ("Block group", 2)])),
    ):
        chooser.select(2)
        chooser.resize(chooser.sizeHint())
        option = QStyleOptionComboBox()
        chooser.initStyleOption(option)
        of, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = chooser.style().subControlRect(of, option, part, chooser).width()
        assert room >= chooser.fontMetrics().horizontalAdvance(chooser.currentText())


def test_that_a_paragraph_keeps_its_line_breaks(qtbot) -> None:
    """“√2.” and “In the null space” stood in one line, without a space."""
    heights = []
    for text in ("one", "one\ntwo", "one\n\nthree"):
        found = Paragraph(text)
        qtbot.addWidget(found)
        heights.append(found.heightForWidth(600))
    assert [round(height / heights[0]) for height in heights] == [1, 2, 3]


def test_that_nobody_hears_a_fraction_of_many_digits() -> None:
    exact = "privacy loss 0.826998… = 177339451520/214437516707, 32.35 % of all; share 3773/4097 = 92.09 %"
    assert said(exact) == "privacy loss 0.826998…, 32.35 % of all; share 3773/4097 = 92.09 %"


def test_that_each_line_of_a_step_is_cut_by_itself(shown) -> None:
    """The value that a step gave was cut with the name of the step: "Consensus draft of …, target 20"."""
    steps = shown(CompactList("Steps", is_stacked=True))
    steps.resize(240, 80)
    steps.show_lines([("Consensus draft of Ada proposal, Grace config, Alan workbook", "margin 23.0, target 20")])
    option, index = QStyleOptionViewItem(), steps.model().index(0, 0)
    steps.initViewItemOption(option)
    option.rect = steps.visualRect(index)
    steps.itemDelegate().initStyleOption(option, index)
    name, value = option.text.splitlines()
    assert "…" in name
    assert value == "margin 23.0, target 20"
