"""How numbers and names are written on the screen. Files, fields and copies carry codes, a decimal point and no grouping.

Texts are made with a decimal point and commas between thousands everywhere; this changes them where they meet the eye, so
that a sentence and a cell cannot differ. The style with a decimal comma groups by a narrow space (SI Brochure 5.4.4),
never by a point: what one person reads as 1.000 another reads as 1.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from PySide6.QtCore import QLocale

from phexplore.catalog.names import Naming, chosen_naming, code_name, has_synthetic_areas, worded
from phexplore.gui.theme.plain_words import in_plain_words, speaks_plainly
from phexplore.text.catalogs import Catalog, shipped_catalog
from phexplore.text.escapes import visible_lines
from phexplore.text.quoted import around
from phexplore.text.readers import Reader, with_decimal_comma


class NumberStyle(enum.Enum):
    """How numbers are written. The value is the word in the settings."""

    SYSTEM = "system"
    POINT = "point"
    """1,234.5"""
    COMMA = "comma"
    """1 234,5"""


_PERCENT = re.compile(r"(?<=\d) (?=%)")
_LONGEST_LINE = 80
_ENDLESS = re.compile(rf"\w{{{_LONGEST_LINE // 2}}}(?=\w{{{_LONGEST_LINE // 2}}})")
"""Half a line of letters before as many again: fingerprints and folders, which people copy, are shorter."""

_CHOSEN = [NumberStyle.SYSTEM]


def choose_style(style: NumberStyle) -> None:
    """Write numbers in a style from now on; whoever shows them is told by the appearance."""
    _CHOSEN[:] = [style]


def number_style() -> NumberStyle:
    """Return what the user asked for."""
    return _CHOSEN[0]


def has_decimal_comma() -> bool:
    """Return whether numbers are shown with a decimal comma now."""
    if _CHOSEN[0] is NumberStyle.SYSTEM:
        return _system_has_comma()
    return _CHOSEN[0] is NumberStyle.COMMA


@lru_cache(maxsize=1)
def _system_has_comma() -> bool:
    return QLocale.system().decimalPoint() == ","


def in_chosen_words(text: str) -> str:
    """Return a text with its codes and symbols as they are called, its numbers untouched."""
    if type(text) is not str:
        return _reader(False, speaks_plainly(), chosen_naming(), has_synthetic_areas()).text(text)
    return in_plain_words(worded(text))


def localised(text: str) -> str:
    """Return a text as it is shown: codes, symbols and numbers in the chosen style, what would turn or move a line as escapes.

    To be called once, where a text is drawn: ``2,514`` written with a decimal comma would be read as grouped. Names come from
    files of others, so no control character or mark of direction in them reaches the screen.
    """
    if type(text) is not str:
        return reader().text(text)
    text = in_chosen_words(visible_lines(text))
    return around(text, with_decimal_comma) if has_decimal_comma() else text


def reader() -> Reader:
    """Return who reads the window: in the chosen register, with names or codes and a decimal point or comma."""
    return _reader(has_decimal_comma(), speaks_plainly(), chosen_naming(), has_synthetic_areas())


@lru_cache(maxsize=16)
def _reader(has_comma: bool, is_plain: bool, _naming: Naming, _is_synthetic: bool) -> Reader:
    catalog = shipped_catalog("en@committee") if is_plain else Catalog()
    return Reader(catalog, has_comma, code_name, lambda text: in_chosen_words(visible_lines(text)))


def wrappable(text: str) -> str:
    """Return a text that is wrapped: no line begins with the % of a number, and none needs the width of a name without a space."""
    text = _PERCENT.sub("\N{NO-BREAK SPACE}", text) if " %" in text else text
    is_endless = len(text) > _LONGEST_LINE and max(map(len, text.split()), default=0) >= _LONGEST_LINE
    return _ENDLESS.sub("\\g<0>\N{ZERO WIDTH SPACE}", text) if is_endless else text
