"""Labels that keep their relative size and look when theme or text size changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
    QStaticText,
)
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.lettering import elided, lettering
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.theme.number_style import localised, wrappable
from phexplore.gui.widgets.menus import offer
from phexplore.gui.widgets.pointers import open_page, points, with_links
from phexplore.gui.widgets.speech import Spoken, announce_notice, speak_as

_INKS = {
    "muted": "muted",
    "good": "good",
    "attention": "attention",
    "refused": "refused",
    "accent": "accent_ink",
}
_LEAST_WIDTH = 24
_LETTERS_IN_LINE, _WIDEST_HINT = 60, 480
_NARROW = 4
"""Pixels that few letters are narrower than."""
_SAID = "said in chosen words"
"""Property of a control: its name, tool tip and description with production's codes."""


class Text(QLabel):
    """A label with a size relative to normal text and one of the looks of the style sheet."""

    def __init__(
        self,
        text: str = "",
        *,
        relative: float = 1.0,
        bold: bool = False,
        look: str = "",
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Make the label.

        Args:
            text: plain text.
            relative: size as a multiple of normal text.
            bold: bold face.
            look: "muted", "heading", "refused", "attention" or "" of the style sheet.
            wrap: break long text into lines.
            parent: owner.
        """
        super().__init__(parent)
        self._relative, self._bold = relative, bold
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.linkActivated.connect(lambda page: open_page(self, page))
        self.setText(text)
        if wrap:  # a wrapped label takes the width it can get, in forms, too
            policy = self.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
            self.setSizePolicy(policy)
        if look:
            self.setProperty("look", look)
        if relative != 1.0 or bold:
            appearance().changed.connect(self._restyle)
            self._restyle()

    def text(self) -> str:
        """Return the text as it was set."""
        return self._plain

    def setText(self, text: str) -> None:
        """Show another text, its numbers in the chosen style; a page of the manual that it names becomes a link."""
        self._plain = text
        if points(text):
            self.setTextFormat(Qt.TextFormat.RichText)
            self.setTextInteractionFlags(self.textInteractionFlags() | Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
            super().setText(with_links(wrappable(localised(text))))
            return
        self.setTextFormat(Qt.TextFormat.PlainText)
        super().setText(wrappable(localised(text)))

    def clear(self) -> None:
        """Show nothing."""
        self.setText("")

    def rewrite(self) -> None:
        """Show the same text again, after another style of numbers or names was chosen."""
        self.setText(self._plain)

    def set_look(self, look: str) -> None:
        """Change the look."""
        if self.property("look") != look:
            self.setProperty("look", look)
            self.style().unpolish(self)
            self.style().polish(self)

    def _restyle(self) -> None:
        self.setFont(appearance().font(relative=self._relative, bold=self._bold))


class News(Text):
    """What came of something, beside what it is about; hidden while there is nothing to say, and said wherever the focus is."""

    def __init__(self, *, relative: float = 1.0, bold: bool = False, look: str = "") -> None:
        super().__init__(look=look, wrap=True, relative=relative, bold=bold)
        speak_as(News, lambda news: Spoken(news, QAccessible.Role.Notification))
        self.hide()

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setAccessibleName(localised(text))

    def say(self, news: str) -> bool:
        """Show news, "" for none; return whether there is some."""
        is_new, was_hidden = news != self.text(), self.isHidden()
        self.setText(news)
        self.setVisible(bool(news))
        if is_new and news:
            announce_notice(self, news, is_shown=was_hidden, is_urgent=self.property("look") == "refused")
        return bool(news)


class Reason(News):
    """Why something was refused."""

    def __init__(self, *, relative: float = 1.0) -> None:
        super().__init__(look="refused", relative=relative)


class Figure(QWidget):
    """One line of text that draws itself: a new text of the same width moves nothing around it.

    A label asks the whole window for a new layout with every text, which is too much for figures that change with every
    move of a slider.
    """

    def __init__(
        self, text: str = "", *, relative: float = 1.0, bold: bool = False, look: str = "", least: int = 0
    ) -> None:
        """Make the line.

        Args:
            text: plain text.
            relative: size as a multiple of normal text.
            bold: bold face.
            look: colour: "muted", "good", "attention", "refused", "accent" or "" for normal.
            least: width in pixels at 100 % text size that it has with a shorter text, too.
        """
        super().__init__()
        speak_as(Figure, _Spoken)
        self._least = least
        self._text, self._look = text, look
        self._relative, self._bold = relative, bold
        self._laid: dict[int, QStaticText] = {}
        self._advance = -1
        self._worded = ""
        """The text as it is shown."""
        self._instead = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        appearance().changed.connect(self._restyle)
        self._restyle()

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    @property
    def advance(self) -> int:
        """Width of the text in one line, in pixels."""
        if self._advance < 0:
            self._advance = self.fontMetrics().horizontalAdvance(self._worded)
        return self._advance

    def setText(self, text: str) -> None:
        """Show another text."""
        if text == self._text:
            return
        room = self._room()
        self._text = text
        self._forget()
        self._name()
        if self._room() != room:
            self.updateGeometry()
        self.update()

    def speak_instead(self, words: str) -> None:
        """Let screen readers have these words while the text changes faster than anybody listens; "" for the text again."""
        self._instead = words
        self._name()

    def say(self, text: str) -> bool:
        """Show a text, nothing where it is ""; return whether there is one."""
        self.setText(text)
        self.setVisible(bool(text))
        return bool(text)

    def set_look(self, look: str) -> None:
        """Change the colour."""
        if look != self._look:
            self._look = look
            self.update()

    def sizeHint(self) -> QSize:
        least = self._least * appearance().scale // 100
        return QSize(max(least, self.advance + 2), self.fontMetrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        room = self.contentsRect()
        shown = whole = self._worded
        if self.advance > room.width():
            shown = elided(self.fontMetrics(), whole, room.width())
        tip = whole if shown != whole else ""
        if self.toolTip() != tip:
            self.setToolTip(tip)
        self._painter().drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), shown)

    def _painter(self) -> QPainter:
        painter = QPainter(self)
        painter.setPen(QColor(getattr(appearance().colours, _INKS.get(self._look, "text"))))
        return painter

    def _offer_copy(self) -> None:
        offer(self, {"Copy": lambda: QGuiApplication.clipboard().setText(self._text)})

    def _room(self) -> int:
        """Return what the text needs: another need asks for a new layout."""
        return self.sizeHint().width()

    def _forget(self) -> None:
        """Take the words of the text anew; measure and lay them out when it is asked for."""
        self._worded = localised(self._text)
        self._laid.clear()
        self._advance = -1

    def _name(self) -> None:
        name = localised(self._instead) if self._instead else self._worded
        if name != self.accessibleName():
            self.setAccessibleName(name)

    def _restyle(self) -> None:
        self.setFont(appearance().font(relative=self._relative, bold=self._bold))
        self._forget()
        self._name()
        self.updateGeometry()
        self.update()


class _Spoken(Spoken):
    """Drawn text to a screen reader: text. The toolkit would call it a filler, which is skipped when reading on."""

    def __init__(self, text: Figure) -> None:
        super().__init__(text, QAccessible.Role.StaticText)


class ElidedText(Figure):
    """One line that takes the room it gets and ends in … when that is too little; the whole text is in the tool tip."""

    def __init__(self, text: str = "", *, relative: float = 1.0, bold: bool = False, look: str = "") -> None:
        super().__init__(text, relative=relative, bold=bold, look=look)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._offer_copy()

    def sizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.fontMetrics().height() + 2)


class Paragraph(Figure):
    """Wrapped text with its line breaks. It asks for a new layout only when it needs another height, and can be copied."""

    def __init__(
        self, text: str = "", *, relative: float = 1.0, bold: bool = False, look: str = "", most: int = 0
    ) -> None:
        """Show a text.

        Args:
            text: may have several lines.
            relative: size, in that of the program's font.
            bold: whether it is.
            look: names its colour.
            most: lines of the program's font it has at most, 0 for any: the whole text is in the tool tip. Large text is not cut.
        """
        super().__init__(text, relative=relative, bold=bold, look=look)
        self._most = most
        self._tips: dict[int, str] = {}
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._offer_copy()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if self._is_one_line(width):
            return math.ceil(QFontMetricsF(self.font()).height())
        return math.ceil(self._in_lines(width).size().height()) if self._text else 0

    def sizeHint(self) -> QSize:
        width = min(self.fontMetrics().averageCharWidth() * _LETTERS_IN_LINE, _WIDEST_HINT)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.fontMetrics().height() if self._text else 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._is_one_line(self.width()):
            self._painter().drawText(0, self.fontMetrics().ascent(), self._worded)
        else:
            self._painter().drawStaticText(0, 0, self._in_lines(self.width()))
            if self.toolTip() != (tip := self._tips.get(self.width(), self.toolTip())):
                self.setToolTip(tip)

    def _is_one_line(self, width: int) -> bool:
        """Return whether nothing is to be wrapped: to lay a line out takes four times as long as to measure and paint it."""
        is_long = len(self._worded) * _NARROW > width  # more letters than a line has are not measured in vain
        return not is_long and 0 < self.advance < width - 1 and "\n" not in self._text

    def _in_lines(self, width: int) -> QStaticText:
        """Return the text wrapped at a width, once for its height and all its paintings: that costs ten times a painting."""
        if (found := self._laid.get(width)) is None:
            words = self._worded
            if self._most and appearance().scale <= 100:  # larger, the page scrolls
                cut = "\n".join(lettering().lines(words, width - 2, self._most))
                self._tips[width] = words if cut.endswith("…") else ""
                words = cut
            # Plain static text breaks at separators of lines, and leaves out what ends them elsewhere.
            lines = wrappable(words).replace("\n", "\N{LINE SEPARATOR}")
            found = self._laid[width] = QStaticText(lines)
            found.setTextFormat(Qt.TextFormat.PlainText)
            found.setTextWidth(width)
            found.prepare(font=self.font())
        return found

    def _room(self) -> int:
        return self.heightForWidth(self.width())


def stand_on_card(*texts: Figure) -> None:
    """Let texts fill the card's colour behind themselves: else all of the card is painted with every one that changes."""
    _fill(texts, QPalette.ColorRole.Base)


def stand_on_page(*parts: QWidget) -> None:
    """Let texts and pictures fill the page's colour behind themselves, as `stand_on_card` does with a card's."""
    _fill(parts, QPalette.ColorRole.Window)


def _fill(parts: Sequence[QWidget], role: QPalette.ColorRole) -> None:
    for part in parts:
        part.setBackgroundRole(role)
        part.setAutoFillBackground(True)


class FieldLabel(QLabel):
    """A label as wide as its words: Qt rounds their advance down, and the last letter loses a column of pixels."""

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(2, 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


def field_label(words: str, field: QWidget) -> QLabel:
    """Return a label whose mnemonic leads to a field.

    Args:
        words: with & before the letter of the mnemonic.
        field: what the label names.
    """
    label = FieldLabel(words)
    label.setBuddy(field)
    return label


def labelled(words: str, field: QWidget) -> QWidget:
    """Return a short muted label and what it names, kept together where a row breaks."""
    found = QWidget()
    row = QHBoxLayout(found)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(GRID)
    row.addWidget(Text(words, look="muted"))
    row.addWidget(field)
    return found


def describe(widget: QWidget, *, name: str | None = None, tip: str | None = None, more: str | None = None) -> None:
    """Say what a control is, in the words that are chosen now and later.

    Args:
        widget: what is said of.
        name: for people who do not see it, None to leave the one it has.
        tip: shown when the pointer rests on it; so with it,
        more: and with its description.
    """
    before: _Said | None = widget.property(_SAID)
    known = before or _Said()
    said = _Said(
        known.name if name is None else name, known.tip if tip is None else tip, known.more if more is None else more
    )
    if before is None or before != said:
        widget.setProperty(_SAID, said)
        _describe(widget, said, known)


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of a control, None where it has words of its own. Qt keeps it as it is; a list would be turned into its own."""

    name: str | None = None
    tip: str | None = None
    more: str | None = None


def _describe(widget: QWidget, said: _Said, before: _Said) -> None:
    """Say what is said now and was not before."""
    if said.name is not None and said.name != before.name:
        widget.setAccessibleName(localised(said.name))
    if said.tip is not None and said.tip != before.tip:
        widget.setToolTip(localised(said.tip))
    if said.more is not None and said.more != before.more:
        widget.setAccessibleDescription(localised(said.more))


def rewrite_labels() -> None:
    """Show every written text again, after another style of numbers or names was chosen."""
    for widget in QApplication.allWidgets():
        if (said := widget.property(_SAID)) is not None:
            _describe(widget, said, _Said())
        if (rewrite := getattr(widget, "rewrite", None)) is not None:
            rewrite()


def line(*, vertical: bool = False) -> QFrame:
    """Return a thin separating line."""
    frame = QFrame()
    frame.setProperty("look", "line")
    (frame.setFixedWidth if vertical else frame.setFixedHeight)(1)
    return frame
