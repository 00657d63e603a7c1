"""Catalogs: the messages of a register or language, from files in the gettext format.

The program reads the ``.po`` file itself: one edit of a sentence takes effect with the next start, and no compiled copy can be
older than its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from phexplore.resources import resource

_ENTRY = re.compile(r'^(msgid_plural|msgid|msgstr(?:\[\d\])?) ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r'\\([\\trn"])')


@dataclass(frozen=True, slots=True)
class Catalog:
    """Translations by template.

    Args:
        others: template by the template of the code.
        ones: template for the number one by the template of the code, where a message has a plural.
    """

    others: Mapping[str, str] = field(default_factory=dict)
    ones: Mapping[str, str] = field(default_factory=dict)

    def template(self, template: str) -> str | None:
        """Return the translation of a template, None where the catalog has none."""
        return self.others.get(template)

    def one(self, template: str) -> str | None:
        """Return the translation of a template for the number one."""
        return self.ones.get(template)


@dataclass(frozen=True, slots=True)
class BracketCatalog(Catalog):
    """A language for tests: every template in brackets, so that a letter outside of them is in no message."""

    def template(self, template: str) -> str | None:
        """Return the template in brackets."""
        return f"⟦{template}⟧"

    def one(self, template: str) -> str | None:
        """Return no form of its own for the number one: the template in brackets serves."""
        return f"⟦{template}⟧"


@lru_cache(maxsize=4)
def shipped_catalog(name: str) -> Catalog:
    """Return a catalog of the program.

    Args:
        name: language and register, e.g. ``en@committee``.
    """
    return read_catalog(resource(f"text/{name}.po").read_text(encoding="utf-8"))


def read_catalog(text: str) -> Catalog:
    """Return the catalog of a file in the gettext format; untranslated entries are left out.

    Args:
        text: of the file.
    """
    others: dict[str, str] = {}
    ones: dict[str, str] = {}
    other = ""
    for kind, quoted in _ENTRY.findall(text):
        value = _ESCAPE.sub(_escaped, "".join(_PART.findall(quoted)))
        if kind in {"msgid", "msgid_plural"}:
            other = value
        elif value and other:
            if kind == "msgstr[0]":
                ones[other] = value
            else:
                others[other] = value
    return Catalog(others, ones)


def _escaped(match: re.Match[str]) -> str:
    return {"t": "\t", "r": "\r", "n": "\n"}.get(match[1], match[1])
