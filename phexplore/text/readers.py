"""Readers: for whom a text is rendered (register or language, names or codes, decimal point or comma)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from phexplore.text.catalogs import Catalog
from phexplore.text.escapes import visible_lines
from phexplore.text.messages import Argument, Code, Message, Number, Quoted, Scalar, Series, joined, pieces
from phexplore.text.quoted import around

GROUP = "\u202f"
"""A narrow space between thousands, which breaks no line."""
_NUMBER = re.compile(r"(?<![\w.,/§])(?<!\w-)([1-9]\d{0,2}(?:,\d{3})+|\d+)(\.\d+)?(?=(e[+-]?\d+)?(?![\w/]|[.,]\d))")
_NO_QUANTITY = re.compile(
    r"(?:\b(?:eq|eqs|sec|sections?|theorems?|corollary|version|WCAG|table|figure|chapter|appendix)\.?|§)\s*$",
    re.IGNORECASE,
)
"""Numbers after these words are names."""
_LONGEST_WORD = 14
_SENTENCE_END = re.compile(r"[.!?:]\s+$|\n$")


def _unchanged(text: str) -> str:
    return text


def _as_code(code: Code, *, begins: bool) -> str:  # noqa: ARG001 - a name may depend on where it stands
    return str(code)


class Part(NamedTuple):
    """A part of a template as a reader sees it: words, then a placeholder ("" for none)."""

    words: str
    name: str
    form: str
    is_quoted: bool
    begins: bool
    """Whether the placeholder begins a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Renders texts for one kind of reader.

    Args:
        catalog: register or language; the empty one is expert English.
        has_decimal_comma: whether numbers are written 1 234,5 (with a narrow space) instead of 1,234.5.
        name_of: returns a code as it is read.
        rewrite: changes a text that is no message yet, and the words of a template that the catalog lacks.
    """

    catalog: Catalog = field(default_factory=Catalog)
    has_decimal_comma: bool = False
    name_of: Callable[..., str] = _as_code
    rewrite: Callable[[str], str] = _unchanged
    _read: dict[str, tuple[Part, ...]] = field(default_factory=dict)

    def text(self, text: str, *, begins: bool = True) -> str:
        """Return a text as it is read.

        Args:
            text: a message, another text of `phexplore.text`, or a plain text.
            begins: whether it begins a sentence.
        """
        kind = type(text)
        if kind is Message:
            return self._message(text, begins=begins)  # type: ignore[arg-type]  # its type was asked for
        if isinstance(text, Series):
            return text.between.join([self.text(part) for part in text.parts])
        return self._scalar(text, "", begins=begins)

    def _message(self, message: Message, *, begins: bool) -> str:
        args = message.args
        pattern = message.template
        if message.one and args["n"] == 1:
            found = self._parts(message.one, self.catalog.one(pattern))
        else:
            found = self._parts(pattern, self.catalog.template(pattern))
        made = []
        for words, name, form, is_quoted, first in found:
            made.append(words)
            if name:
                made.append(
                    self._argument(args[name], form, is_quoted=is_quoted, begins=first and (begins or len(made) > 1))
                )
        return "".join(made)

    def _parts(self, template: str, translation: str | None) -> tuple[Part, ...]:
        """Return the parts of the translation of a template, made once."""
        found = self._read.get(template)
        if found is None:
            before, made = "", []
            for words, name, form, is_quoted in pieces(template if translation is None else translation):
                read = self.rewrite(words) if translation is None and words else words
                before += words
                begins = not before.strip("⟦") or bool(_SENTENCE_END.search(before))
                made.append(Part(self.number(read), name, form, is_quoted, begins))
                before += "x" if name else ""
            found = self._read[template] = tuple(made)
        return found

    def _argument(self, value: Argument, form: str, *, is_quoted: bool, begins: bool) -> str:
        if is_quoted:
            return repr(str(value))
        if isinstance(value, tuple):
            texts = [self._scalar(item, form, begins=begins and not at) for at, item in enumerate(value)]
            return joined(texts, lambda pattern: self.catalog.template(pattern) or pattern)
        return self._scalar(value, form, begins=begins)

    def _scalar(self, value: Scalar, form: str, *, begins: bool) -> str:
        kind = type(value)
        if kind is Message or kind is Series:
            return self.text(value, begins=begins)  # type: ignore[arg-type]  # its type was asked for
        if kind is Number:
            return self.number(str(value))
        if kind is Quoted:
            return visible_lines(str(value))
        if kind is Code:
            return self.name_of(value, begins=begins)
        if isinstance(value, str):
            read = self.rewrite(value)
            return around(read, with_decimal_comma) if self.has_decimal_comma else read
        if isinstance(value, int | float | Fraction):
            return self.number(format(value, form))
        raise TypeError(f"an argument of a message must be a text, a number or a tuple of them (got {kind.__name__})")

    def number(self, text: str) -> str:
        """Return a number, or words with numbers, in the reader's style.

        Args:
            text: written with a decimal point and commas between thousands.
        """
        return with_decimal_comma(text) if self.has_decimal_comma else text


@lru_cache(maxsize=4096)
def with_decimal_comma(text: str) -> str:
    """Return a text with its numbers written with a decimal comma and narrow spaces (SI Brochure 5.4.4).

    Args:
        text: its numbers are written with a decimal point and commas between thousands.
    """

    def rewritten(match: re.Match[str]) -> str:
        if _NO_QUANTITY.search(text[max(0, match.start() - _LONGEST_WORD) : match.start()]):
            return match[0]
        return match[1].replace(",", GROUP) + (match[2] or "").replace(".", ",")

    return _NUMBER.sub(rewritten, text)
