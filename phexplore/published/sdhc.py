"""S-DHC tables as PHSafe writes them, as data.census.gov gives them and as the Census API answers: as tables of areas by column.

Facts: ../shared/data/published/NOTES.md, section 7.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.archives import read_whole
from phexplore.data.blocks.delimited import Problems, missing_columns, read_batches, read_header
from phexplore.published.forms import Description, Published, ValueTable

if TYPE_CHECKING:
    from pathlib import Path

    from phexplore.data.blocks.delimited import Header

_LARGEST_JSON = 64 << 20
_SUMMARY_LEVELS = {"010": "US", "040": "State", "050": "County", "140": "Tract", "150": "Block_Group"}
_MISSING = {"", "null", "(X)", "*****", "N", "-", "**"}
_SMALLEST_MEANT = -(10**8)
"""Below it numbers of the Census Bureau are codes for missing values (-555555555, -666666666 …)."""
_ORDER = ("US", "State", "County", "Tract", "Block_Group")
_PRODUCTION = "Averages are a numerator over a denominator; counts may be negative."


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of one area.

    Attributes:
        level: of the area.
        code: of the area.
        name: of the area, "" where the file has none.
        column: code of the value.
        title: of the column.
        published: the value, NaN for none.
        deviation: its standard deviation, NaN for none.
    """

    level: str
    code: str
    name: str
    column: str
    title: str
    published: float
    deviation: float = math.nan


def describe(found: Published) -> Description:
    """Return what the files hold."""
    table = values(found)
    levels = {str(level): int((table.levels == level).sum()) for level in dict.fromkeys(table.levels.tolist())}
    ordered = dict(sorted(levels.items(), key=lambda each: _ORDER.index(each[0]) if each[0] in _ORDER else len(_ORDER)))
    more: dict[str, Any] = {"columns": len(table.columns)}
    return Description(found.kind, found.title, ordered, table.remarks, more)


def values(found: Published) -> ValueTable:
    """Return the values of all files, areas in the order in which they were met.

    Files of PHSafe have standard deviations.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    met = [value for part in found.parts for value in _READERS[part.layout](found, part.path)]
    if not met:
        raise found.refused("it holds no values.", "Fetch the file again.")
    areas = {(each.level, each.code): each.name for each in reversed(met)}
    rows = {area: row for row, area in enumerate(dict.fromkeys((each.level, each.code) for each in met))}
    columns = {column: place for place, column in enumerate(dict.fromkeys(each.column for each in met))}
    titles = {each.column: each.title for each in met}
    shape = (len(rows), len(columns))
    published, deviation = np.full(shape, np.nan), np.full(shape, np.nan)
    for each in met:
        at = rows[each.level, each.code], columns[each.column]
        published[at], deviation[at] = each.published, each.deviation
    table = ValueTable(
        np.array([level for level, _ in rows]),
        np.array([code for _, code in rows]),
        np.array([areas[area] for area in rows]),
        tuple(columns),
        tuple(titles[column] for column in columns),
        published,
        deviation=deviation if np.isfinite(deviation).any() else None,
    )
    return replace(table, remarks=(_PRODUCTION,)) if found.of("phsafe-output") else table


def _lines(header: Header, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the texts of every row."""
    missing_columns(header, names, "Fetch the file again.")
    for batch in read_batches(header, names):
        texts = [batch.columns[name].strings().tolist() for name in names]
        for row, values in enumerate(zip(*texts, strict=True)):
            yield batch.first + row, list(values)


def _number(problems: Problems, header: Header, row: int, name: str, text: str) -> float:
    """Return a number, NaN for a value that is missing; what is neither is reported."""
    bare = text.replace(",", "")
    if bare in _MISSING:
        return math.nan
    try:
        found = float(bare)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        problems.add(
            f"{name} {text[:40]!r} is no number.",
            "Fetch the file again.",
            line=header.line + 1 + row,
            column=header.column(name),
        )
    return math.nan if found < _SMALLEST_MEANT else found


def _production(found: Published, path: Path) -> Iterable[_Value]:
    header = read_header(path)
    cell = next((name for name in header.names if name.endswith("_DATA_CELL")), None)
    if cell is None:
        remedy = "Give the files of one run of PHSafe."
        raise found.refused("it has no column of the cells of a table (…_DATA_CELL).", remedy, path, header.line)
    table = cell.removesuffix("_DATA_CELL")
    problems = Problems(path)
    further = [name for name in ("VARIANCE", "ITERATION_CODE") if name in header.names]
    for row, texts in _lines(header, ["REGION_ID", "REGION_TYPE", cell, "COUNT", *further]):
        code, kind, number, count, *rest = texts
        known = dict(zip(further, rest, strict=True))
        value = _number(problems, header, row, "COUNT", count)
        variance = _number(problems, header, row, "VARIANCE", known["VARIANCE"]) if "VARIANCE" in known else math.nan
        if variance < 0:
            problems.add("The variance is negative.", "Fetch the file again.", line=header.line + 1 + row)
            continue
        group = known.get("ITERATION_CODE", "")
        column = " ".join(part for part in (table, group, number) if part)
        level = {"USA": "US", "STATE": "State"}.get(kind, kind)
        yield _Value(level, "" if level == "US" else code, "", column, column, value, math.sqrt(variance))
    problems.finish()


def _downloaded(found: Published, path: Path) -> Iterable[_Value]:
    header = read_header(path)
    header = replace(header, names=tuple(name or f"column {place}" for place, name in enumerate(header.names, start=1)))
    problems = Problems(path)
    wanted = [name for name in header.names if re.fullmatch(_S_DHC_VALUE, name)]
    labels: dict[str, str] = {}
    for row, (code, name, *texts) in _lines(header, ["GEO_ID", "NAME", *wanted]):
        if not row and code == "Geography":
            labels = {
                each: re.sub(r"\s*!!\s*", " ", text).strip(" :") for each, text in zip(wanted, texts, strict=True)
            }
            continue
        level, _, bare = code.partition("US")
        for each, text in zip(wanted, texts, strict=True):
            value = _number(problems, header, row, each, text)
            yield _Value(_SUMMARY_LEVELS.get(level[:3], level[:3]), bare, name, each, labels.get(each, each), value)
    problems.finish()
    del found


def _answered(found: Published, path: Path) -> Iterable[_Value]:
    remedy = "Save the answer of the Census API again: a list of rows, the first of them names."
    try:
        content = json.loads(read_whole(path, _LARGEST_JSON))
        names, *rows = content
        table: list[Mapping[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        for row in table:
            level = next((level for word, level in (("county", "County"), ("state", "State")) if word in row), "US")
            code = "".join(str(row[word]) for word in ("state", "county") if word in row)
            for name in names:
                if re.fullmatch(_S_DHC_VALUE, str(name)):
                    text = "" if row[name] is None else str(row[name])
                    value = math.nan if text in _MISSING else float(text.replace(",", ""))
                    meant = value if value >= _SMALLEST_MEANT else math.nan
                    yield _Value(level, code, str(row.get("NAME", "")), str(name), str(name), meant)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise found.refused(f"it is no table ({str(error)[:80]}).", remedy, path) from error


_S_DHC_VALUE = re.compile(r"PH[1-8][A-I]?_\d{3}[NM]?")
_READERS = {
    "phsafe-output": _production,
    "sdhc-download": _downloaded,
    "sdhc-api": _answered,
}
