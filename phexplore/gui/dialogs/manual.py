"""The manual in the program: contents, search, back and forward, and the pages themselves, without a network."""

from __future__ import annotations

import posixpath
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QAccessible,
    QBrush,
    QColor,
    QImage,
    QKeySequence,
    QShortcut,
    QShowEvent,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from phexplore.catalog import manual
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import FRAME_HEIGHT, GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row, split, stacked
from phexplore.gui.widgets.list_field import ListField
from phexplore.gui.widgets.speech import say_beside
from phexplore.resources import manual_root

_PLACE = Qt.ItemDataRole.UserRole
_WIDE, _HIGH = 132, 92
_SCREEN_PART = 0.9
"""Of a small screen: the frame of the window keeps its place."""
_CELL = 4.0


class PageView(QTextBrowser):
    """One page of the manual, in the colours and letters of the program."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setAccessibleName("Page of the manual")
        self.page = ""
        appearance().changed.connect(self._restyle)

    def show_page(self, page: str, anchor: str = "") -> None:
        """Show a page from its top, or from a heading."""
        if page != self.page:
            self.page = page
            self._draw()
        if QAccessible.isActive():  # a reader follows a cursor, which others would move before the page scrolls
            self.setTextInteractionFlags(self.textInteractionFlags() | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self._go_to(anchor)

    def loadResource(self, kind: int, address: QUrl | str) -> Any:
        """Read pictures of the manual, as wide as there is room; nothing else is read."""
        name = posixpath.normpath(posixpath.join(posixpath.dirname(self.page), QUrl(address).toString()))
        if kind != QTextDocument.ResourceType.ImageResource or not manual.has_page(name):
            return None
        image = QImage(str(manual_root() / name))
        room = max(200, self.viewport().width() - 4 * MARGIN)
        return image if image.width() <= room else image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)

    def _draw(self) -> None:
        document, colours = self.document(), appearance().colours
        document.setDefaultFont(appearance().font(relative=1.08))
        document.setDocumentMargin(2 * GRID)
        document.setMarkdown(manual.page_text(self.page))
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                form = frame.format()
                form.setBorderCollapse(True)
                form.setBorder(1)
                form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                form.setBorderBrush(QBrush(QColor(colours.border)))
                form.setCellPadding(_CELL)
                form.setCellSpacing(0)
                frame.setFormat(form)
        self.setAccessibleDescription(manual.page_title(self.page))

    def _go_to(self, anchor: str) -> None:
        block = self.document().begin()
        while anchor and block.isValid():
            if block.blockFormat().headingLevel() and manual.anchor_of(block.text()) == anchor:
                break
            block = block.next()
        if not block.isValid():
            block = self.document().begin()
        self.setTextCursor(QTextCursor(block))
        self.document().size()  # lays the page out to its end, so that the bar reaches it
        top = self.document().documentLayout().blockBoundingRect(block).top() if block.blockNumber() else 0.0
        self.verticalScrollBar().setValue(round(top) - GRID)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next link of the page, and let a screen reader say it: the toolkit tells nothing of it."""
        is_link = super().focusNextPrevChild(forward)
        if is_link and self.hasFocus() and (words := self.textCursor().selectedText()):
            say_beside(self, f"{words}, link")
        return is_link

    def _restyle(self, _colours: object = None) -> None:
        if self.page:
            at = self.verticalScrollBar().value()
            self._draw()
            self.verticalScrollBar().setValue(at)


class ManualWindow(QDialog):
    """Shows the manual beside the window it was asked from."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Manual")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize((QSize(_WIDE, _HIGH) * GRID).boundedTo(self.screen().availableSize() * _SCREEN_PART))
        self._past: list[tuple[str, str]] = []
        self._ahead: list[tuple[str, str]] = []
        self._here = ("", "")
        self.list = QListWidget()
        self.search = ListField("Search the manual", "Search the manual (Ctrl+F)", self.list)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view = PageView()
        self.back = TextButton("Back", tip="The page before (Alt+Left)", run=self.go_back)
        self.forward = TextButton("Forward", tip="The page after (Alt+Right)", run=self.go_forward)
        self.index = TextButton("Contents", tip="The first page (Alt+Home)", run=lambda: self.show_page(manual.INDEX))
        self._count = Text(look="muted")
        top = row(self.back, self.forward, self.index, 1, gap=GRID)
        side = stacked(self.search, self._count, (self.list, 1), gap=HALF)
        page = stacked(top, (self.view, 1), gap=HALF)
        parts = split(side, page, shares=(0, 1), sizes=[38 * GRID, (_WIDE - 38) * GRID])
        column((parts, 1), of=self, margins=(GRID, GRID, GRID, GRID))
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._take_chosen)
        self.list.itemActivated.connect(self._read)
        self.list.itemClicked.connect(self._take)
        self.view.anchorClicked.connect(self._follow)
        for keys, act in (
            (QKeySequence("Alt+Left"), self.go_back),
            (QKeySequence("Alt+Right"), self.go_forward),
            (QKeySequence("Alt+Home"), self.index.click),
            (QKeySequence("Ctrl+F"), self.search.setFocus),
        ):
            QShortcut(keys, self).activated.connect(act)
        self._fill()
        self._say_ways()
        QTimer.singleShot(0, self, lambda: manual.search("manual"))  # reads all pages before the first word is typed

    def showEvent(self, event: QShowEvent) -> None:
        """Leave room for the title bar: centred over a window as tall as the screen it would stand above the screen's edge."""
        super().showEvent(event)
        top = self.screen().availableGeometry().top() + FRAME_HEIGHT
        if self.y() < top:
            self.move(self.x(), top)

    @property
    def here(self) -> tuple[str, str]:
        """The page that is shown and the heading it was opened at."""
        return self._here

    def show_page(self, page: str, anchor: str = "") -> None:
        """Show a page; the one before can be gone back to."""
        if not manual.has_page(page) or (page, anchor) == self._here:
            return
        if self._here[0]:
            self._past.append(self._here)
        self._ahead.clear()
        self._show((page, anchor))

    def go_back(self) -> None:
        """Show the page before."""
        if self._past:
            self._ahead.append(self._here)
            self._show(self._past.pop())

    def go_forward(self) -> None:
        """Show the page that was gone back from."""
        if self._ahead:
            self._past.append(self._here)
            self._show(self._ahead.pop())

    def _show(self, place: tuple[str, str]) -> None:
        self._here = place
        self.view.show_page(*place)
        title = manual.page_title(place[0])
        self.setWindowTitle("Manual" if place[0] == manual.INDEX else f"{title} – Manual")
        self._say_ways()
        for number in range(self.list.count()):
            found = self.list.item(number).data(_PLACE)
            if found is not None and (found.page, found.anchor) == place:
                self.list.setCurrentRow(number)

    def _say_ways(self) -> None:
        self.back.setEnabled(bool(self._past))
        self.forward.setEnabled(bool(self._ahead))

    def _follow(self, address: QUrl) -> None:
        page, anchor = manual.target_of(self.view.page, address.toString())
        self.show_page(page, anchor)

    def _fill(self, _typed: str = "") -> None:
        typed = self.search.text()
        self.list.clear()
        if typed.strip():
            found = manual.search(typed)
            self.list.setAccessibleName("Places that were found")
            self._count.setText(f"{len(found)} places" if found else "Nothing found. Try fewer or other words.")
            for place in found:
                self._add(f"{place.title}\n{place.text}", place)
            self.list.setCurrentRow(0)  # what Enter opens
            return
        self.list.setAccessibleName("Contents of the manual")
        self._count.setText("")
        for chapter, places in manual.contents():
            if chapter:
                item = QListWidgetItem(chapter.upper())
                item.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(item)
            for place in places:
                self._add(place.title, place)

    def _add(self, text: str, place: manual.Place) -> None:
        item = QListWidgetItem(text)
        item.setData(_PLACE, place)
        self.list.addItem(item)

    def _take_chosen(self) -> None:
        """Open the place that is marked in the list."""
        if (item := self.list.currentItem()) is not None:
            self._take(item)

    def _read(self, item: QListWidgetItem) -> None:
        self._take(item)
        self.view.setFocus()

    def _take(self, item: QListWidgetItem) -> None:
        place = item.data(_PLACE)
        if place is not None:
            self.show_page(place.page, place.anchor)
