"""The program's own symbols: line drawings on a 24 x 24 grid, coloured by the theme."""

from __future__ import annotations

import json
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from phexplore.gui.theme.colours import Colours
from phexplore.resources import resource

_SHAPES: dict[str, str] = json.loads(resource("icons/symbols.json").read_text(encoding="utf-8"))
ICON_NAMES = tuple(_SHAPES)
"""Every symbol there is."""

_SIZES = (16, 20, 24, 32, 48, 64)


def svg(name: str, colour: str, *, width: float = 1.7) -> bytes:
    """Return the SVG of a symbol drawn in `colour`.

    Raises:
        KeyError: there is no such symbol.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round">{_SHAPES[name]}</svg>'
    ).encode()


@lru_cache(maxsize=512)
def pixmap(name: str, colour: str, size: int) -> QPixmap:
    """Return a symbol as a square picture of `size` pixels."""
    picture = QPixmap(QSize(size, size))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(svg(name, colour))).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return picture


@lru_cache(maxsize=1)
def program_icon() -> QIcon:
    """Return the picture of the program, for title bars and task bars."""
    found, renderer = QIcon(), QSvgRenderer(str(resource("icons/phexplore.svg")))
    for size in (*_SIZES, 128, 256):
        picture = QPixmap(QSize(size, size))
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        found.addPixmap(picture)
    return found


@lru_cache(maxsize=256)
def icon(name: str, colours: Colours, *, role: str = "text") -> QIcon:
    """Return a symbol for buttons and menus: muted when disabled.

    Args:
        name: one of `ICON_NAMES`.
        colours: the theme.
        role: field of `Colours` it is drawn in.
    """
    found = QIcon()
    for size in _SIZES:
        found.addPixmap(pixmap(name, getattr(colours, role), size), QIcon.Mode.Normal)
        found.addPixmap(pixmap(name, getattr(colours, role), size), QIcon.Mode.Selected)
        found.addPixmap(pixmap(name, colours.ghost, size), QIcon.Mode.Disabled)
    return found
