"""Codes of areas off the spine as published files write them, brought to public codes that are unique in the nation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.resources import resource

_NONE = re.compile(r"9*|Z+|0*")


class AreaClass(NamedTuple):
    """A class of areas, as ``resources/published/areas.toml`` says."""

    name: str
    within: int
    columns: tuple[str, ...]

    def present(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the columns of a file that hold codes of the class."""
        return tuple(column for column in self.columns if column in names)

    def public(self, texts: NDArray[np.str_], geoids: NDArray[np.str_]) -> NDArray[np.str_]:
        """Return public codes, "" for no area: blank, nothing but nines, zeros or Z.

        Args:
            texts: ``texts[blocks]``, as the file has them.
            geoids: ``geoids[blocks]``, 15 digits.
        """
        codes, which = np.unique(texts, return_inverse=True)
        none = np.array([_NONE.fullmatch(code.strip()) is not None for code in codes.tolist()], bool)[which]
        if not self.within:
            return np.where(none, "", texts)
        own = geoids.astype(f"U{self.within}")
        whole = np.char.startswith(texts, own) & (np.char.str_len(texts) >= 5 + self.within)
        return np.where(none, "", np.where(whole, texts, np.char.add(own, texts)))


@lru_cache(maxsize=1)
def area_classes() -> tuple[AreaClass, ...]:
    """Return every class."""
    entries = tomllib.loads(resource("published/areas.toml").read_text("utf-8"))["areas"]
    return tuple(AreaClass(entry["class"], entry["within"], tuple(entry["columns"])) for entry in entries)


def first_filled(columns: list[NDArray[np.str_]]) -> NDArray[np.str_]:
    """Return, row by row, the first text that is not empty.

    Args:
        columns: ``columns[n][rows]``.
    """
    found = columns[0]
    for column in columns[1:]:
        found = np.where(found == "", column, found)
    return found
