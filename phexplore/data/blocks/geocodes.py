"""Codes of geographic units: how many characters name the unit of each level, and what is public of them.

The layouts are data: ``resources/geography/*.toml``. A schema names the one its leaves have.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.resources import resource
from phexplore.workload.schema import Schema


class GeographyError(PhexploreError):
    """A geography file says something that cannot be; the sentence names the file and the entry."""


class GeographicLevel(NamedTuple):
    """A level of the standard spine.

    Attributes:
        name: as production spells it.
        length: characters of the geocode that name a unit; 0 for the one unit of the widest level.
    """

    name: str
    length: int


@dataclass(frozen=True, slots=True)
class GeocodeLayout:
    """What the characters of a leaf's code mean. Units of a level share a prefix, so ascending leaves lie side by side.

    Attributes:
        id: for files and messages.
        title: words for people.
        levels: widest first; the last one is the leaf.
        public_length: characters of a leaf's public code.
        repeated: place (from 0) of the character of the public code that the geocode writes twice; None where the two
            codes are equal.
        further: levels that parameters may name and tabulations do not show.
    """

    id: str
    title: str
    levels: tuple[GeographicLevel, ...]
    public_length: int
    repeated: int | None = None
    further: tuple[GeographicLevel, ...] = ()

    def __post_init__(self) -> None:
        """Refuse levels that do not nest."""
        lengths = [level.length for level in self.levels]
        if lengths != sorted(set(lengths)) or not lengths:
            raise ValueError(f"the codes of a lower level are longer, got {lengths}")
        if lengths[-1] != self.public_length + (self.repeated is not None):
            raise ValueError(f"a leaf has {lengths[-1]} characters, its public code {self.public_length}")
        names = [level.name for level in (*self.levels, *self.further)]
        if len(set(names)) != len(names):
            raise ValueError(f"every level has a name of its own, got {names}")
        if any(not 0 <= level.length < lengths[-1] for level in self.further):
            raise ValueError(f"a further level is wider than the leaf, got {self.further}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels, widest first."""
        return tuple(level.name for level in self.levels)

    @property
    def leaf(self) -> str:
        """The name of the lowest level."""
        return self.levels[-1].name

    def length(self, level: str) -> int:
        """Return the characters of the geocode that name a unit of a level.

        Raises:
            UnknownNameError: there is no such level.
        """
        for name, length in (*self.levels, *self.further):
            if name == level:
                return length
        raise UnknownNameError("geographic level", level, [name for name, _ in (*self.levels, *self.further)])

    def geocodes(self, codes: NDArray[np.str_]) -> NDArray[np.str_]:
        """Return the geocodes of public leaf codes, ``U[leaves]``."""
        if self.repeated is None:
            return codes
        letters = characters(codes, self.public_length)
        doubled = np.concatenate([letters[:, : self.repeated + 1], letters[:, self.repeated :]], axis=1)
        return np.ascontiguousarray(doubled).view(f"U{self.public_length + 1}").reshape(-1)

    def prefixes(self, codes: NDArray[np.str_], level: str) -> NDArray[np.str_]:
        """Return the code of the unit each leaf lies in, ``U[leaves]``: for the leaf's own level the public code.

        Args:
            codes: ``codes[leaves]``, public codes.
            level: name of the level.

        Raises:
            UnknownNameError: there is no such level.
        """
        length = self.length(level)
        if level == self.leaf:
            return codes
        if length == 0:
            return np.full(len(codes), level)
        return (
            characters(self.geocodes(codes), self.levels[-1].length)[:, :length].copy().view(f"U{length}").reshape(-1)
        )


def read_layout(path: Path) -> GeocodeLayout:
    """Read one geography file.

    Raises:
        GeographyError: the file is not TOML, misses an entry, or contradicts itself; the sentence names file and entry.
    """
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
        return GeocodeLayout(
            entries["id"],
            entries["title"],
            tuple(GeographicLevel(level["name"], level["length"]) for level in entries["levels"]),
            entries["public_length"],
            entries.get("repeated"),
            tuple(GeographicLevel(level["name"], level["length"]) for level in entries.get("further", ())),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        message = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise GeographyError(
            f"{path.name}: {message}.", "Correct the file; the shipped ones show every entry."
        ) from error


GEOCODE_LAYOUTS: Mapping[str, GeocodeLayout] = MappingProxyType(
    {layout.id: layout for layout in (read_layout(path) for path in sorted(resource("geography").glob("*.toml")))}
)
"""All layouts by id, from ``resources/geography``."""

CENSUS_BLOCKS = GEOCODE_LAYOUTS["census-blocks"]
"""Tabulation blocks of 2000 and later: the block group is the first digit of the block (formats, section 7)."""

ENUMERATION_DISTRICTS_1940 = GEOCODE_LAYOUTS["enumeration-districts-1940"]
"""Geocode of the 1940 full count in the 2010 demonstration code (formats, section 6)."""


def layout_of(schema: Schema) -> GeocodeLayout:
    """Return what the codes of a schema's leaves mean.

    Raises:
        UnknownNameError: the schema names a geography that was not shipped.
    """
    if (found := GEOCODE_LAYOUTS.get(schema.geography)) is None:
        raise UnknownNameError(f"geography of {schema.id}", schema.geography, list(GEOCODE_LAYOUTS))
    return found


def characters(texts: NDArray[np.str_], width: int) -> NDArray[np.uint32]:
    """Return the code points of equally long texts, ``uint32[texts, width]``.

    Args:
        texts: ``texts[n]``.
        width: characters of each.
    """
    return np.ascontiguousarray(texts.astype(f"U{width}", copy=False)).view(np.uint32).reshape(len(texts), width)


def texts_of_numbers(numbers: NDArray[np.int64], width: int) -> NDArray[np.str_]:
    """Return numbers as texts of `width` digits, leading zeros kept, ``U[numbers]``.

    Args:
        numbers: ``numbers[n]``, 0 or more.
        width: digits of each.

    Raises:
        ValueError: a number is negative or has more digits.
    """
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < 10**width:
        raise ValueError(f"{int(numbers.min())} to {int(numbers.max())} do not fit {width} digits")
    return digits(numbers, width).astype(np.uint32).view(f"U{width}").reshape(-1)


def digits(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Return the ASCII digits of numbers, ``uint8[numbers, width]``, zeros in front.

    Args:
        numbers: ``numbers[n]``, 0 or more.
        width: digits of each; larger numbers lose their first digits.
    """
    out = np.empty((len(numbers), width), np.uint8)
    rest = numbers.astype(np.int64)
    for place in range(width - 1, -1, -1):
        rest, digit = np.divmod(rest, 10)
        out[:, place] = digit + ord("0")
    return out


def numbers_of_texts(texts: NDArray[np.str_], width: int) -> NDArray[np.int64]:
    """Return texts of `width` digits as numbers, ``int64[texts]``.

    Args:
        texts: ``texts[n]``, digits only.
        width: digits of each.

    Raises:
        ValueError: a character is no ASCII digit.
    """
    letters = characters(texts, width).astype(np.int64) - ord("0")
    if letters.size and not 0 <= int(letters.min()) <= int(letters.max()) <= 9:
        raise ValueError("codes consist of digits")
    numbers = np.zeros(len(texts), np.int64)
    for place in range(width):
        numbers *= 10
        numbers += letters[:, place]
    return numbers
