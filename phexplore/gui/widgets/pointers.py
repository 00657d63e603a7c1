"""Words of a message that name a page of the manual become a link that opens it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from phexplore.catalog.manual import POINTER, page_title

PAGE = "manual"
"""Property of a widget: the page of the manual about it."""


def points(text: str) -> bool:
    """Return whether a text names a page."""
    return "docs/" in text and POINTER.search(text) is not None


def with_links(text: str) -> str:
    """Return a text as markup in which every page it names is a link with the page's title."""
    from html import escape

    parts, last = [], 0
    for found in POINTER.finditer(text):
        parts += [escape(text[last : found.start()]), f'<a href="{found[0]}">{escape(page_title(found[0]))}</a>']
        last = found.end()
    return "".join([*parts, escape(text[last:])]).replace("\n", "<br>")


def open_page(origin: QWidget, name: str) -> None:
    """Open a page in the manual of the window that something belongs to.

    Args:
        origin: where it was asked for.
        name: of the page.
    """
    place: QObject | None = origin
    while place is not None:
        if (show := getattr(place, "show_manual", None)) is not None:
            show(name)
            return
        place = place.parent()


def page_of(origin: QWidget | None) -> str:
    """Return the page about what is shown somewhere, "" where only the area decides."""
    place: QObject | None = origin
    while place is not None:
        if name := place.property(PAGE):
            return str(name)
        place = place.parent()
    return ""
