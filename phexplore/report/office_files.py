"""What Word files and slides have in common: texts with names where they are chosen, and the same bytes for the same report."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from typing import Any

from phexplore.catalog.names import worded
from phexplore.report.document import Document
from phexplore.text.escapes import visible_lines

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The first time that an archive can state."""
MUTED, ACCENT, ATTENTION = "56626E", "1B66A5", "855700"
"""Colours of the report as a page."""


def read(text: str) -> str:
    """Return a text as it is read in a file, control characters as escapes: XML cannot hold all of them."""
    return visible_lines(worded(text))


def describe(properties: Any, document: Document, now: datetime) -> None:
    """Say in the properties of a file what it is.

    Args:
        properties: core properties of an Office file.
        document: the report.
        now: when it was made.
    """
    properties.title, properties.subject = read(document.title), read(document.subtitle)
    properties.author = properties.last_modified_by = "phexplore"
    properties.keywords, properties.language = ", ".join(document.keywords), "en"
    properties.comments = ""
    properties.created = properties.modified = now.replace(tzinfo=None)


def describe_picture(element: Any, text: str) -> None:
    """Give a picture the words that a screen reader says.

    Args:
        element: that names the drawing.
        text: what the picture shows.
    """
    element.set("descr", read(text))


def steady(content: bytes) -> bytes:
    """Return an archive with no time of its own in it, so that the same report gives the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            copy.writestr(entry, archive.read(name))
    return made.getvalue()
