"""The program's own symbols: line drawings on a 24 x 24 grid, coloured by the theme."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from phexplore.gui.theme.colours import Colours
from phexplore.resources import resource

_SHAPES = {
    "overview": '<rect x="3.5" y="3.5" width="7" height="9" rx="1.5"/><rect x="13.5" y="3.5" width="7" height="5" rx="1.5"/>'
    '<rect x="13.5" y="11.5" width="7" height="9" rx="1.5"/><rect x="3.5" y="15.5" width="7" height="5" rx="1.5"/>',
    "budgets": '<rect x="3.5" y="4.5" width="17" height="15" rx="2"/><path d="M3.5 9.5h17M3.5 14.5h17M9.5 9.5v10"/>',
    "levels": '<path d="M12 3.5l8.5 4.5-8.5 4.5L3.5 8z"/><path d="M3.5 12l8.5 4.5 8.5-4.5M3.5 16l8.5 4.5 8.5-4.5"/>',
    "spine": '<circle cx="12" cy="5" r="2"/><circle cx="5.5" cy="12.5" r="2"/><circle cx="18.5" cy="12.5" r="2"/>'
    '<circle cx="12" cy="19" r="2"/><path d="M10.5 6.4L7 11M13.5 6.4L17 11M7 14l3.6 3.7"/>',
    "targets": '<circle cx="12" cy="12" r="8.5"/><circle cx="12" cy="12" r="4.5"/><circle cx="12" cy="12" r="0.8"/>',
    "scenario": '<path d="M4 7h9M17 7h3M4 12h3M11 12h9M4 17h10M18 17h2"/><circle cx="15" cy="7" r="2"/>'
    '<circle cx="9" cy="12" r="2"/><circle cx="16" cy="17" r="2"/>',
    "experiment": '<path d="M9.5 3.5v6l-5.2 8.6a1.6 1.6 0 0 0 1.4 2.4h12.6a1.6 1.6 0 0 0 1.4-2.4L14.5 9.5v-6"/>'
    '<path d="M8 3.5h8M7.5 14.5h9"/>',
    "runs": '<circle cx="12" cy="12" r="8.5"/><path d="M10 8.5v7l5.5-3.5z"/>',
    "results": '<path d="M4 4v16h16"/><path d="M8 16.5v-4M12 16.5v-9M16 16.5v-6"/>',
    "decision": '<path d="M5.5 3.5h9l4 4v13h-13z"/><path d="M14.5 3.5v4h4"/><path d="M8.5 13.5l2.5 2.5 4.5-5"/>',
    "history": '<path d="M4 12a8 8 0 1 0 2.6-5.9"/><path d="M4 4v4h4"/><path d="M12 8v4.5l3 2"/>',
    "undo": '<path d="M8.5 5L4.5 9l4 4"/><path d="M4.5 9H14a5 5 0 0 1 0 10h-3"/>',
    "redo": '<path d="M15.5 5l4 4-4 4"/><path d="M19.5 9H10a5 5 0 0 0 0 10h3"/>',
    "run": '<path d="M7.5 4.8v14.4L19 12z"/>',
    "export": '<path d="M12 15V4M8 7.5L12 3.5l4 4"/><path d="M4.5 14v4.5a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V14"/>',
    "import": '<path d="M12 3.5v11M8 11l4 4 4-4"/><path d="M4.5 14v4.5a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V14"/>',
    "open": '<path d="M3.5 18.5v-12a1.5 1.5 0 0 1 1.5-1.5h4.5l2 2.5H19a1.5 1.5 0 0 1 1.5 1.5v9.5a1.5 1.5 0 0 1-1.5 1.5H5'
    'a1.5 1.5 0 0 1-1.5-1.5z"/>',
    "save": '<path d="M4.5 6a1.5 1.5 0 0 1 1.5-1.5h10.5l3 3V18a1.5 1.5 0 0 1-1.5 1.5H6A1.5 1.5 0 0 1 4.5 18z"/>'
    '<path d="M8 4.5V9h7V4.5M8 19.5V14h8v5.5"/>',
    "locked": '<rect x="5.5" y="10.5" width="13" height="9.5" rx="2"/><path d="M8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5"/>',
    "unlocked": '<rect x="5.5" y="10.5" width="13" height="9.5" rx="2"/><path d="M8.5 10.5V8a3.5 3.5 0 0 1 6.6-1.6"/>',
    "warning": '<path d="M12 4.2L21 19.5H3z"/><path d="M12 10v4.2M12 16.8v.2"/>',
    "error": '<path d="M8.3 3.5h7.4l4.8 4.8v7.4l-4.8 4.8H8.3l-4.8-4.8V8.3z"/><path d="M12 7.8v5M12 16v.2"/>',
    "info": '<circle cx="12" cy="12" r="8.5"/><path d="M12 11v5.2M12 7.8v.2"/>',
    "tick": '<path d="M4.5 12.5l5 5L19.5 7"/>',
    "search": '<circle cx="10.5" cy="10.5" r="6"/><path d="M15 15l5 5"/>',
    "plus": '<path d="M12 5v14M5 12h14"/>',
    "copy": '<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 8.5v-2a2 2 0 0 0-2-2h-7a2 2 0 0 0-2 2v7'
    'a2 2 0 0 0 2 2h2"/>',
    "trash": '<path d="M4.5 6.5h15M9.5 6.5v-2h5v2M6.5 6.5l1 13h9l1-13M10 10.5v5.5M14 10.5v5.5"/>',
    "pencil": '<path d="M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5z"/>',
    "close": '<path d="M6 6l12 12M18 6L6 18"/>',
    "down": '<path d="M6 9.5l6 6 6-6"/>',
    "up": '<path d="M6 14.5l6-6 6 6"/>',
    "columns": '<rect x="3.5" y="4.5" width="17" height="15" rx="2"/><path d="M9.2 4.5v15M14.8 4.5v15"/>',
    "pause": '<path d="M8.5 5v14M15.5 5v14"/>',
    "sum": '<path d="M17.5 7V4.5h-11l6 7.5-6 7.5h11V17"/>',
    "theme": '<circle cx="12" cy="12" r="8.5"/><path d="M12 3.5v17M12 6.5l6 3M12 10.5l7.8 3M12 14.5l6.5 2.8"/>',
    "settings": '<circle cx="12" cy="12" r="3"/><path d="M12 3.5v3M12 17.5v3M3.5 12h3M17.5 12h3M6 6l2.1 2.1M15.9 15.9L18 18'
    'M6 18l2.1-2.1M15.9 8.1L18 6"/>',
}
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
