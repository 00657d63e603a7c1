"""Glossary: the terms of the program with their definitions, and the phrases to avoid for them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache

from phexplore.resources import resource


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the glossary.

    Args:
        id: stable name.
        term: as experts read it.
        definition: in a sentence or two.
        plain: as a member reads it, "" where it is the same.
        source: where it is defined, "" where it is no term of a paper.
        avoid: phrases that messages and documentation must not use for it.
    """

    id: str
    term: str
    definition: str
    plain: str = ""
    source: str = ""
    avoid: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def glossary() -> tuple[Term, ...]:
    """Return the terms in alphabetical order."""
    entries = tomllib.loads(resource("glossary.toml").read_text(encoding="utf-8"))["terms"]
    return tuple(Term(**{**entry, "avoid": tuple(entry.get("avoid", ()))}) for entry in entries)
