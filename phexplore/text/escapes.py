"""Text of files made visible: nothing in it moves the cursor, breaks a line or reverses it."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling of several languages; they move nothing."""


def visible(text: str) -> str:
    r"""Return text from a file so that it can be printed or shown: nothing in it moves the cursor, breaks or reverses the line.

    Control characters, line breaks, marks of writing direction, invisible signs and halves of characters become escapes
    such as ``\x1b`` and ``\u202e``.
    """
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or sign in _JOINERS or unicodedata.category(sign) == "Zs"
        else sign.encode("unicode_escape").decode()
        for sign in text
    )


def visible_lines(text: str) -> str:
    """Return text of several lines with every line as `visible` makes it."""
    return "\n".join(map(visible, text.split("\n")))
