"""The manual in the window: opened where one is, searched, walked by keys; a page that a message names is a link to it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from shiboken6 import isValid

from phexplore.catalog import manual
from phexplore.gui.binding.areas import Area
from phexplore.gui.dialogs.manual import ManualWindow
from phexplore.gui.dialogs.messages import show_problems
from phexplore.gui.main.manual_reader import KEY, ManualReader
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.metrics import FRAME_HEIGHT
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.pointers import PAGE
from phexplore.model.issues import Issue


@pytest.fixture
def viewer(qtbot):
    window = ManualWindow()
    qtbot.addWidget(window)
    window.show_page(manual.INDEX)
    return window


@pytest.mark.parametrize("page", sorted(manual.pages()))
def test_that_every_page_is_shown_with_its_words(viewer, page) -> None:
    if page.endswith(".png"):
        return
    viewer.show_page(page)
    assert viewer.here == (page, "")
    assert len(viewer.view.toPlainText()) > 40


def test_that_a_small_screen_has_room_for_the_frame_of_the_manual(viewer) -> None:
    assert viewer.height() <= 0.9 * viewer.screen().availableSize().height()


def test_that_the_title_bar_of_the_manual_stays_on_the_screen(qtbot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    room = owner.screen().availableGeometry()
    owner.setGeometry(room.left(), room.top() - 60, room.width(), room.height())
    owner.show()
    viewer = ManualWindow(owner)
    viewer.show()
    assert viewer.geometry().top() >= room.top() + FRAME_HEIGHT


def test_that_a_screen_reader_reads_a_page_line_by_line_and_hears_its_links(qtbot, viewer, monkeypatch) -> None:
    caret = Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert not viewer.view.textInteractionFlags() & caret  # without a reader, arrows scroll at once
    monkeypatch.setattr("phexplore.gui.dialogs.manual.QAccessible", type("Active", (), {"isActive": lambda: True}))
    viewer.show()
    with qtbot.waitActive(viewer):
        viewer.activateWindow()
    viewer.list.itemActivated.emit(viewer.list.item(2))  # behind a heading
    assert viewer.view.textInteractionFlags() & caret
    assert viewer.focusWidget() is viewer.view
    qtbot.keyClick(viewer.view, Qt.Key.Key_Tab)
    assert viewer.view.accessibleDescription() == f"{viewer.view.textCursor().selectedText()}, link"


def test_that_links_lead_on_and_keys_lead_back(qtbot, viewer) -> None:
    viewer.view.anchorClicked.emit(QUrl("decisions_of_committees.md#trade-offs"))
    assert viewer.here == ("docs/decisions_of_committees.md", "trade-offs")
    assert viewer.view.textCursor().block().text() == "Trade-offs"
    with qtbot.waitActive(viewer):
        viewer.show()
        viewer.activateWindow()
    qtbot.keyClick(viewer.view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert viewer.here == (manual.INDEX, "")
    viewer.forward.click()
    assert viewer.here[0] == "docs/decisions_of_committees.md"
    viewer.view.anchorClicked.emit(QUrl("../pyproject.toml"))
    assert viewer.here[0] == "docs/decisions_of_committees.md"


def test_that_a_place_that_was_found_is_opened_by_enter(qtbot, viewer) -> None:
    viewer.search.setText("proven curve")
    assert viewer.list.count() > 1
    second = viewer.list.item(1).text().partition("\n")[0]
    qtbot.keyClick(viewer.search, Qt.Key.Key_Return)
    assert viewer.here[0] == "docs/proven_epsilon.md"
    viewer.search.setText("proven")
    viewer.search.setText("proven curve")
    qtbot.keyClick(viewer.search, Qt.Key.Key_Down)
    qtbot.keyClick(viewer.search, Qt.Key.Key_Return)
    assert viewer.list.currentItem().text().startswith(second)
    assert viewer.go_back() is None
    assert viewer.here[0] == "docs/proven_epsilon.md"
    viewer.search.setText("xylophone")
    assert viewer.list.count() == 0
    viewer.search.clear()
    assert viewer.list.count() > 20


def test_that_the_page_follows_theme_and_text_size(viewer) -> None:
    look = appearance()
    small = viewer.view.document().defaultFont().pointSizeF()
    try:
        look.set_scale(200)
        look.choose(ThemeChoice.DARK)
        assert viewer.view.document().defaultFont().pointSizeF() == pytest.approx(2 * small)
    finally:
        look.set_scale(100)
        look.choose(ThemeChoice.LIGHT)


def test_that_a_page_that_a_message_names_is_a_link_to_it(qtbot) -> None:
    opened = []
    owner = QWidget()
    owner.show_manual = opened.append
    qtbot.addWidget(owner)
    label = Text("Known are block files: see docs/block_data.md. <b>Not</b> this.", parent=owner)
    assert label.text() == "Known are block files: see docs/block_data.md. <b>Not</b> this."
    assert manual.page_title("docs/block_data.md").partition(":")[0] in label.__class__.__bases__[0].text(label)
    assert "&lt;b&gt;" in label.__class__.__bases__[0].text(label)
    label.linkActivated.emit("docs/block_data.md")
    assert opened == ["docs/block_data.md"]
    label.setText("2 < 3")
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_that_f1_opens_the_page_about_the_area_the_system_or_what_has_the_focus(qtbot) -> None:
    owner, area = QWidget(), [Area.BUDGETS]
    qtbot.addWidget(owner)
    reader = ManualReader(owner, lambda: area[0], lambda: "docs/topdown.md")
    reader.show_here()
    viewer = owner.findChild(ManualWindow)
    assert viewer.here[0] == "docs/topdown.md"
    area[0] = Area.SPINE
    reader.show_here()
    assert viewer.here[0] == "docs/spines.md"
    owner.setProperty(PAGE, "docs/published_files.md")
    owner.show()
    owner.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    owner.activateWindow()
    owner.setFocus()
    qtbot.waitUntil(owner.hasFocus)
    reader.show_here()
    assert viewer.here[0] == "docs/published_files.md"


def test_that_a_page_opened_from_a_dialog_that_asks_can_be_read_and_outlives_it(qtbot) -> None:
    owner = QWidget()
    reader = ManualReader(owner, lambda: Area.BUDGETS, lambda: "docs/topdown.md")
    owner.show_manual = reader.show
    qtbot.addWidget(owner)
    owner.show()
    reader.show_here()
    viewer = owner.findChild(ManualWindow)
    issue = Issue(("blocks.csv",), "Nothing here is a block file.", "Name one; see docs/block_data.md.")
    message = show_problems(owner, "blocks.csv", [issue])
    title = manual.page_title("docs/block_data.md")
    (button,) = [button for button in message.findChildren(TextButton) if button.text() == title]
    qtbot.waitUntil(message.isActiveWindow)
    button.click()
    assert viewer.here[0] == "docs/block_data.md"
    assert QApplication.activeModalWidget() is message
    assert viewer.parentWidget() is message, "the dialog keeps the manual from being read"
    viewer.show_page(manual.INDEX)
    message.activateWindow()
    qtbot.waitUntil(message.isActiveWindow)
    qtbot.keyClick(message, Qt.Key.Key_F1)
    assert viewer.here[0] == "docs/block_data.md"
    message.close()
    qtbot.waitUntil(lambda: not isValid(message))
    assert viewer.isVisible()
    assert viewer.parentWidget() is owner


def test_that_the_key_of_the_menu_opens_the_page_of_a_dialog_beside_the_window(qtbot) -> None:
    owner = QWidget()
    reader = ManualReader(owner, lambda: Area.BUDGETS, lambda: "docs/topdown.md")
    key = QAction(owner)
    key.setShortcut(KEY)
    key.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
    key.triggered.connect(reader.show_here)
    owner.addAction(key)
    qtbot.addWidget(owner)
    owner.show()
    dialog = QDialog(owner)
    dialog.setProperty(PAGE, "docs/proven_epsilon.md")
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    qtbot.keyClick(dialog, Qt.Key.Key_F1)
    assert owner.findChild(ManualWindow).here[0] == "docs/proven_epsilon.md"
