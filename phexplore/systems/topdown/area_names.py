"""Areas by the names people call them: of shipped tables, and of the user's file of blocks or shapes. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from phexplore.catalog.names import place, typed_first, unnamed_area
from phexplore.data.blocks.delimited import read_batches, read_header
from phexplore.errors import PhexploreError
from phexplore.published.shapes import Outline
from phexplore.spine.settings import BLOCK_GROUP

_ENDING = "_name"
_SUBDIVISION = 10
"""Digits of the code of a county subdivision, of which five name its county."""
_SHIPPED = frozenset({"state", "county", "tract", BLOCK_GROUP.lower()})
"""Classes and levels whose codes the shipped tables name."""
_MOST_OFFERED = 5000
"""Names that are offered while somebody types."""
_MOST_NAMED = 20_000
"""Areas of a class that are looked through by name; blocks have none."""


class Area(NamedTuple):
    """An area that was found: its class or level, its code, and its name, "" where nobody knows one."""

    kind: str
    code: str
    name: str


def names_in(path: Path) -> Mapping[str, str]:
    """Return the names that a delimited file of blocks gives beside codes: ``place`` and ``place_name``; none where it has none.

    Args:
        path: of the blocks.
    """
    try:
        header = read_header(path)
        columns = [name for name in header.names if f"{name}{_ENDING}" in header.names]
        found: dict[str, dict[str, str]] = {column: {} for column in columns}
        for batch in read_batches(header, [], [each for name in columns for each in (name, f"{name}{_ENDING}")]):
            for column in columns:
                codes, names = (batch.identifiers[each].to_pylist() for each in (column, f"{column}{_ENDING}"))
                pairs = zip(map(str, codes), map(str, names), strict=True)
                found[column] |= {code.strip(): name.strip() for code, name in pairs if code.strip() and name.strip()}
    except (PhexploreError, OSError, ValueError):
        return {}
    return {code: name for names in found.values() for code, name in _told_apart(names).items()}


def _told_apart(names: Mapping[str, str]) -> Mapping[str, str]:
    """Return names by code; where several areas of a class have one name, with the state of each, its county, or else its code."""
    alike: dict[str, list[str]] = {}
    for code, name in names.items():
        alike.setdefault(name, []).append(code)
    found = dict(names)
    for name, codes in alike.items():
        states = [place(code[:2]) for code in codes]
        counties = [place(code[:5]) if len(code) == _SUBDIVISION else "" for code in codes]
        where = next((each for each in (states, counties) if all(each) and len(set(each)) == len(codes)), None)
        ends = [f" ({code})" for code in codes] if where is None else [f", {words}" for words in where]
        if len(codes) > 1:
            found |= {code: f"{name}{end}" for code, end in zip(codes, ends, strict=True)}
    return found


def names_of_shapes(outlines: Iterable[Outline]) -> Mapping[str, str]:
    """Return the names that a file of shapes gives its areas, by code."""
    return _told_apart({outline.code: outline.name for outline in outlines if outline.name})


def area_name(kind: str, code: str, own: Mapping[str, str]) -> str:
    """Return what people call an area, its class and number where it has no name; "" where nobody knows.

    Args:
        kind: its class or level: a district may have the digits of a county.
        code: of the area.
        own: names of the user's files.
    """
    return own.get(code) or (place(code) if kind.lower() in _SHIPPED else unnamed_area(kind, code))


def known_names(offered: Mapping[str, Iterable[str]], own: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that can be typed, each once, as many as a list shows.

    Args:
        offered: codes by class or level, those preferred first.
        own: names of the user's files.
    """
    listed = ((kind, list(map(str, codes))) for kind, codes in offered.items())
    names = (area_name(kind, code, own) for kind, codes in listed if len(codes) <= _MOST_NAMED for code in codes)
    return tuple(islice(dict.fromkeys(filter(None, names)), _MOST_OFFERED))


def find_area(text: str, offered: Mapping[str, Iterable[str]], own: Mapping[str, str]) -> Area | None:
    """Return the area that somebody typed: its code, or words of its name in any order; None for none.

    Of several the one is taken that is offered first while somebody types (`typed_first`), then the class offered first.

    Args:
        text: as typed.
        offered: codes by class or level, those preferred first.
        own: names of the user's files.
    """
    typed = text.strip()
    listed = {kind: list(map(str, codes)) for kind, codes in offered.items()}
    for kind, codes in listed.items():
        if typed in codes:
            return Area(kind, typed, area_name(kind, typed, own))
    found: dict[str, Area] = {}
    for kind, codes in listed.items():
        for code in sorted(codes) if len(codes) <= _MOST_NAMED else ():
            name = area_name(kind, code, own)
            found.setdefault(name, Area(kind, code, name))
    return next((found[name] for name in typed_first(typed, found)), None)
