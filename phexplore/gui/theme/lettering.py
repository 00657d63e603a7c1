"""Lines of text painted fast: measures and shaped glyphs are kept, because shaping a word costs more than painting it."""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QStaticText

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.number_style import has_decimal_comma, in_chosen_words, localised, wrappable
from phexplore.gui.theme.plain_words import speaks_plainly
from phexplore.text.quoted import quotations

_NUMBER_GOES_ON = re.compile(r"[.,]?\d")
_CUT_NUMBER = re.compile(r"[+−±-]?\d[\d.,]*$")
_KEPT = 4096


class Lettering:
    """A font with its measures, made once."""

    def __init__(self, font: QFont) -> None:
        metrics = QFontMetricsF(font)
        self.font = font
        self.height: float = metrics.height()
        self.ascent: float = metrics.ascent()
        self.width = lru_cache(maxsize=_KEPT, typed=True)(self._measure)
        """Width of a line of text, in pixels."""
        self._metrics = metrics
        self._shaped = lru_cache(maxsize=_KEPT, typed=True)(self._shape)
        self.elided = lru_cache(maxsize=_KEPT, typed=True)(self._elide)
        """The text with … at its end, or where asked in its middle, where it is wider than so many pixels."""

    def paint(self, painter: QPainter, left: float, top: float, text: str) -> None:
        """Paint a line in the painter's pen.

        Args:
            painter: its font is changed.
            left: of the text, in pixels.
            top: of the line, in pixels.
            text: one line.
        """
        painter.setFont(self.font)
        painter.drawStaticText(QPointF(left, top), self._shaped(text))

    def draw(self, painter: QPainter, at: QPointF, text: str, colour: str, align: float = 0.0) -> None:
        """Paint a line vertically centred on a pixel.

        Args:
            painter: its font and pen are changed.
            at: in pixels.
            text: one line.
            colour: ``#rrggbb``.
            align: 0 = starts there, 0.5 = centred on it, 1 = ends there.
        """
        left = at.x() - align * self.width(text) if align else at.x()
        painter.setPen(solid(colour))
        self.paint(painter, left, at.y() - self.height / 2, text)

    def _shape(self, text: str) -> QStaticText:
        found = QStaticText(localised(text))
        found.setTextFormat(Qt.TextFormat.PlainText)
        found.prepare(font=self.font)
        return found

    def _measure(self, text: str) -> float:
        return self._metrics.horizontalAdvance(localised(text))

    def _elide(self, text: str, width: float, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> str:
        if self._measure(text) <= width:
            return text
        return elided(self._metrics, in_chosen_words(text), width, mode)

    def lines(self, text: str, width: float, most: int) -> tuple[str, ...]:
        """Return a text in lines no wider than so many pixels, the last ending in … where it is too much for them.

        Args:
            text: one line.
            width: of the room, in pixels.
            most: lines there is room for.
        """
        if most == 1:
            return (self.elided(text, width),)
        found, taken, gap = [""], 0.0, self.width(" ")
        for word in wrappable(in_chosen_words(text)).split(" "):
            wide = self.width(word)  # most words were measured before, which no line was that has a new number in it
            if found[-1] and taken + gap + wide > width and len(found) < most:
                found.append(word)
                taken = wide
            else:
                found[-1] = f"{found[-1]} {word}".lstrip()
                taken += gap + wide if taken else wide
            if wide > width:
                found[-1] = self.elided(found[-1], width)
        return (*found[:-1], self.elided(found[-1], width))


def lettering(*, bold: bool = False) -> Lettering:
    """Return the program's font at its present size."""
    return _lettering(appearance().scale, bold, has_decimal_comma(), chosen_naming(), speaks_plainly(), quotations())


@lru_cache(maxsize=16)
def _lettering(_scale: int, bold: bool, _comma: bool, _naming: Naming, _plain: bool, _quoted: int) -> Lettering:
    return Lettering(appearance().font(bold=bold))


@lru_cache(maxsize=256)
def solid(colour: str) -> QColor:
    """Return a colour to paint with, not to be changed: pictures ask for the same few hundreds of times in a frame.

    Args:
        colour: ``#rrggbb``.
    """
    return QColor(colour)


def draw_text(
    painter: QPainter, position: QPointF, text: str, colour: str, *, align: float = 0.0, bold: bool = False
) -> None:
    """Paint one line of text, vertically centred on `position`.

    Args:
        painter: its font and pen are changed.
        position: in pixels.
        text: one line.
        colour: ``#rrggbb``.
        align: 0 = starts at the position, 0.5 = centred on it, 1 = ends at it.
        bold: bold face.
    """
    lettering(bold=bold).draw(painter, position, text, colour, align)


def elided(
    metrics: QFontMetrics | QFontMetricsF,
    text: str,
    width: float,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> str:
    """Return a text shortened with …, without the number it was cut within: what is left of 24.21 would read as another, e.g. 2.

    Args:
        metrics: of its font.
        text: as it is read.
        width: of the room, in pixels.
        mode: where … stands.
    """
    if isinstance(metrics, QFontMetrics):
        shown = metrics.elidedText(text, mode, int(width))
    else:
        shown = metrics.elidedText(text, mode, width)
    # The text may have … of its own: where it was cut, what stands before begins it and what stands behind ends it.
    places = (place for place, letter in enumerate(shown) if letter == "…")
    cut = next((at for at in places if text.startswith(shown[:at]) and text.endswith(shown[at + 1 :])), -1)
    if shown == text or cut < 0:
        return shown
    kept, end = shown[:cut], shown[cut + 1 :]
    if _NUMBER_GOES_ON.match(text, len(kept)):
        kept = _CUT_NUMBER.sub("", kept)
    if end and _NUMBER_GOES_ON.match(text[::-1], len(end)):
        end = _CUT_NUMBER.sub("", end[::-1])[::-1]
    return f"{kept}…{end}"
