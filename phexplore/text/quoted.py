"""Text that a person or a file supplied: shown as it was typed, whatever the sentence around it is rewritten to.

The model reports such a text with `quote` when it holds one. Whatever rewrites finished sentences does so through `around`,
which takes the quotations out first and puts them back. No mark is in any text, so files and data hold what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from phexplore.text.escapes import visible, visible_lines

_FIRST_WORD: dict[str, list[str]] = {}
"""Quotations by their first word."""
_KNOWN: set[str] = set()
_WORD = re.compile(r"\w+")
_PLAIN_NUMBER = re.compile(r"[+−-]?[\d.,]+")
"""Not held: the program's own numbers are the same, and a comma in them would be read as another number."""
_STAND_INS = range(0xF0000, 0xFFFFE)
"""Private-use characters that stand for quotations while a sentence is rewritten."""


def quote(*texts: str) -> None:
    """Keep texts of people and files as they are from now on, in this process.

    Args:
        texts: as they are stored. Their lines and their printable forms are kept, too.
    """
    for text in texts:
        if text in _KNOWN:
            continue
        _KNOWN.add(text)
        for form in {text, text.strip(), visible(text), visible_lines(text), *text.split("\n")}:
            word = _WORD.search(form)
            if word and not _PLAIN_NUMBER.fullmatch(form):
                held = _FIRST_WORD.setdefault(word[0], [])
                if form not in held:
                    held.append(form)


def quotations() -> int:
    """Return how many texts are kept: what was made of a text is stale when it changes."""
    return len(_KNOWN)


def around(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a text rewritten around the quotations in it.

    A quotation is held when it has several words or would itself be rewritten: a name such as "a" leaves sentences as they are.

    Args:
        text: any.
        rewrite: changes sentences of the program; it keeps characters it does not know.
    """
    found = _found(text, len(_KNOWN)) if _FIRST_WORD else ()
    held = tuple(quoted for quoted in found if " " in quoted or rewrite(quoted) != quoted)
    if not held:
        return rewrite(text)
    if text in held:
        return text
    kept: dict[str, str] = {}
    free = _free(text)

    def stand_in(match: re.Match[str]) -> str:
        sign = next(free)
        kept[sign] = match[0]
        return sign

    made = rewrite(_any_of(held).sub(stand_in, text))
    if not all(sign in made for sign in kept):
        return text  # a quotation would be lost: the program's own words are the lesser matter
    return "".join(kept.get(sign, sign) for sign in made) if kept else made


def _free(text: str) -> Iterator[str]:
    """Yield stand-ins that the text itself does not hold."""
    return (chr(code) for code in _STAND_INS if chr(code) not in text)


@lru_cache(maxsize=8192)
def _found(text: str, _known: int) -> tuple[str, ...]:
    """Return the quotations in a text, the longest first; the lines of the text may end at other spaces."""
    words, spaced = dict.fromkeys(_WORD.findall(text)), _spaced(text)
    found = {each for word in words for each in _FIRST_WORD.get(word, ()) if each in text or _spaced(each) in spaced}
    return tuple(sorted(found, key=len, reverse=True))


def _spaced(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=512)
def _any_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds quotations as whole words, with any space between their words."""
    whole = (
        (r"(?<!\w)" if _WORD.match(text) else "")
        + r"\s+".join(map(re.escape, text.split()))
        + (r"(?!\w)" if _WORD.match(text[-1]) else "")
        for text in map(str.strip, texts)
    )
    return re.compile("|".join(whole))
