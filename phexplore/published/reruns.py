"""The Bureau's own reruns (AMC): a summary with one count per cell and rerun, or a folder with the microdata of every rerun.

Iteration 0 (PPMF0) is what the others are compared with. Of microdata the cells of ``resources/published/confidence.toml`` are counted
that their records know, for every unit of every level.

Facts: ../shared/data/published/NOTES.md, section 6.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.aggregation import units_of
from phexplore.published.forms import Description, Part, Published, ValueTable
from phexplore.published.microdata import read_part
from phexplore.published.rows import BAD_NUMBERS, rows_of
from phexplore.resources import resource
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

SUMMARY = "amc-summary"
LARGEST = 256 << 20
_LEVELS = {
    "STATE": "State",
    "STATE-COUNTY": "County",
    "ST-CO-TR": "Tract",
    "ST-CO-TR-BG": "Block_Group",
    "ST-AIAN": "aiannh",
    "ST-ELEM": "sdelm",
}
"""Names of levels by those of the file; others keep their own."""
_REMEDY = "Fetch the file again; its columns are PRODUCT_TABLE, QUERY, GEO, ITERATION, COUNT."


_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the Bureau's tables that the program counts too.

    Attributes:
        code: of the Bureau, e.g. ``P0010001``.
        title: words for people.
        scenario: preset whose forecast and runs have it.
        schema: of the records it is counted in.
        where: levels of attributes, all of which a counted record has.
        query: measured query of the scenario one answer of which it is, "" for none.
        beside: the same of histograms that are measured beside these records, by schema.
    """

    code: str
    title: str
    scenario: str
    schema: str
    where: Mapping[str, Sequence[int]]
    query: str = ""
    beside: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)

    def mask(self) -> NDArray[np.bool_]:
        """Return which cells of the schema are counted, ``bool[cells]``."""
        return load_schema(self.schema).selection(self.where)


@lru_cache(maxsize=1)
def known_cells() -> tuple[Cell, ...]:
    """Return all cells; one code may have several, the first being the one whose error is expected without a run."""
    entries = tomllib.loads(resource("published/confidence.toml").read_text("utf-8"))["cells"]
    return tuple(Cell(**entry) for entry in entries)


def describe(found: Published) -> Description:
    """Return what the reruns hold."""
    table = values(found)
    draws = 0 if table.replicates is None else len(table.replicates)
    levels = Counter(table.levels.tolist())
    notes = (f"{len(table.codes)} cells, {draws} reruns each; iteration 0 stands for the truth.",)
    return Description(found.kind, found.title, dict(levels), notes, {"cells": len(table.codes), "reruns": draws})


def values(found: Published) -> ValueTable:
    """Return one row per cell: iteration 0 as the true value, the others as replicates; one column.

    The name of a row is the code of its query and its words, as the summary or `Cell` has them.

    Raises:
        InputProblemsError: a line or a file cannot be read, or a cell lacks a rerun that others have.
    """
    return _of_summary(found) if found.of(SUMMARY) else _of_microdata(found)


def _of_summary(found: Published) -> ValueTable:
    counts: dict[tuple[str, str, str], dict[int, float]] = {}
    for path in found.of(SUMMARY):
        for number, row in rows_of(found, path, delimiter=",", largest=LARGEST, remedy=_REMEDY):
            try:
                geography, code = (part.strip() for part in row["GEO"].split(":", 1))
                key = (
                    _LEVELS.get(geography, geography),
                    code,
                    f"{row['PRODUCT_TABLE'].strip()} {row['QUERY'].strip()}",
                )
                held, draw, count = counts.setdefault(key, {}), int(row["ITERATION"]), float(int(row["COUNT"]))
            except BAD_NUMBERS as error:
                raise found.refused(f"the line is no count of a rerun ({error}).", _REMEDY, path, number) from error
            if draw in held:
                raise found.refused(f"iteration {draw} of this cell stands twice.", _REMEDY, path, number)
            held[draw] = count
    draws = sorted(set().union(*counts.values()))
    if 0 not in draws or any(set(held) != set(draws) for held in counts.values()):
        raise found.refused("not every cell has iteration 0 and all reruns.", _REMEDY)
    numbers = np.array([[held[draw] for draw in draws] for held in counts.values()])
    keys = list(counts)
    return ValueTable(
        np.array([key[0] for key in keys], np.str_),
        np.array([key[1].replace("-", "") for key in keys], np.str_),
        np.array([key[2] for key in keys], np.str_),
        ("count",),
        ("Count",),
        np.full((len(keys), 1), np.nan),
        numbers[:, :1],
        replicates=numbers[:, 1:].T[:, :, None],
        remarks=(_RELEASE,),
    )


_RELEASE = "Iteration 0 (PPMF0) stands for the truth of the reruns; it is a release itself."


def _of_microdata(found: Published) -> ValueTable:
    """Return the cells of microdata, one file per rerun and kind of record, in the order of the numbers in their names."""
    counts: dict[tuple[str, str, str], dict[int, int]] = {}
    draws = 0
    for parts in _by_record(found):
        ordered = sorted(parts, key=lambda part: (not part.is_first, _numbers(part.path)))
        if sum(part.is_first for part in ordered) != 1 or len(ordered) < 2 or draws not in {0, len(ordered)}:
            names = ", ".join(part.path.name for part in ordered[:4])
            sentence = f"a set has one file named PPMF0 and one of each rerun, of persons, of units or of both; here are {names} …"
            raise found.refused(sentence, "Name the folder of one set.")
        draws = len(ordered)
        for draw, part in enumerate(ordered):
            for key, count in _counted(read_part(found, part)):
                counts.setdefault(key, {})[draw] = count
    numbers = np.array([[held.get(draw, 0) for draw in range(draws)] for held in counts.values()], np.float64)
    keys = np.array(list(counts), np.str_).reshape(-1, 3)
    return ValueTable(
        keys[:, 0],
        keys[:, 1],
        keys[:, 2],
        ("count",),
        ("Count",),
        np.full((len(keys), 1), np.nan),
        numbers[:, :1],
        replicates=numbers[:, 1:].T[:, :, None],
        remarks=(_RELEASE,),
    )


def _by_record(found: Published) -> list[list[Part]]:
    groups: dict[str, list[Part]] = {}
    for part in found.parts:
        groups.setdefault(part.layout, []).append(part)
    return list(groups.values())


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in _NUMBER.findall(f"{path.parent.name}/{path.name}")]


def _counted(records: BlockPopulation) -> list[tuple[tuple[str, str, str], int]]:
    """Return level, code and name of every cell above the blocks, with its count; the US has no code."""
    counted: list[tuple[tuple[str, str, str], int]] = []
    for cell in {each.code: each for each in known_cells() if each.schema == records.schema.id}.values():
        added = np.concatenate([[0], np.cumsum(records.counts * cell.mask()[records.cells])])
        for level in records.layout.names[1:-1]:
            units = units_of(records, level)
            bounds = added[records.starts[units.starts]]
            rows = zip(units.codes.tolist(), np.diff(bounds).tolist(), strict=True)
            counted += [((level, code, f"{cell.code}: {cell.title}"), count) for code, count in rows]
    return counted
