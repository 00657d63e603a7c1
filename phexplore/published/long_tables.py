"""Published tables with one line per value: replicates of the Bureau (AMC), GLS estimates, S-DHC tables; as tables of areas by column.

Facts: ../shared/data/published/NOTES.md, sections 6 and 7.
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
_MOST_DRAWN = 50_000_000
_AMC_LEVELS = {
    "NATION": "US",
    "STATE": "State",
    "STATE-COUNTY": "County",
    "ST-CO": "County",
    "ST-CO-TR": "Tract",
    "ST-CO-TR-BG": "Block_Group",
    "ST-CO-TR-BG-BL": "Block",
    "ST-AIAN": "aiannh",
    "ST-ELEM": "school_dist",
    "ST-PLACE": "place",
}
_LENGTHS = {0: "US", 2: "State", 5: "County", 11: "Tract", 12: "Block_Group", 15: "Block"}
_SUMMARY_LEVELS = {"010": "US", "040": "State", "050": "County", "140": "Tract", "150": "Block_Group"}
_MISSING = {"", "null", "(X)", "*****", "N", "-", "**"}
_SMALLEST_MEANT = -(10**8)
"""Below it numbers of the Census Bureau are codes for missing values (-555555555, -666666666 …)."""
_ORDER = ("US", "State", "County", "Tract", "Block_Group", "Block")
_REPLICATES = "Iteration 0 is the file the reruns started from: the truth of the exercise, not the census."
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
        draw: number of the rerun, −1 for the value itself.
    """

    level: str
    code: str
    name: str
    column: str
    title: str
    published: float
    deviation: float = math.nan
    draw: int = -1


def describe(found: Published) -> Description:
    """Return what the files hold."""
    table = values(found)
    levels = {str(level): int((table.levels == level).sum()) for level in dict.fromkeys(table.levels.tolist())}
    ordered = dict(sorted(levels.items(), key=lambda each: _ORDER.index(each[0]) if each[0] in _ORDER else len(_ORDER)))
    more: dict[str, Any] = {"columns": len(table.columns)}
    if table.replicates is not None:
        more |= {"cells": int(np.isfinite(table.replicates[0]).sum()), "iterations": len(table.replicates)}
    return Description(found.kind, found.title, ordered, table.remarks, more)


def values(found: Published) -> ValueTable:
    """Return the values of all files, areas in the order in which they were met.

    Replicates have the file they began with as `true` and no published values; GLS estimates and S-DHC tables of PHSafe have
    standard deviations.

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
    draws = 1 + max(each.draw for each in met)
    shape = (len(rows), len(columns))
    published, deviation = np.full(shape, np.nan), np.full(shape, np.nan)
    if draws * len(rows) * len(columns) > _MOST_DRAWN:
        raise found.refused(f"it names {draws:,} reruns of {len(met):,} values.", "Fetch the file again.")
    replicates = np.full((draws, *shape), np.nan)
    for each in met:
        at = rows[each.level, each.code], columns[each.column]
        if each.draw < 0:
            published[at], deviation[at] = each.published, each.deviation
        else:
            replicates[(each.draw, *at)] = each.published
    table = ValueTable(
        np.array([level for level, _ in rows]),
        np.array([code for _, code in rows]),
        np.array([areas[area] for area in rows]),
        tuple(columns),
        tuple(titles[column] for column in columns),
        published,
        deviation=deviation if np.isfinite(deviation).any() else None,
    )
    if found.kind == "amc-replicates":
        return replace(table, true=replicates[0], replicates=replicates[1:], remarks=(_REPLICATES,))
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


def _replicates(found: Published, path: Path) -> Iterable[_Value]:
    header = read_header(path)
    problems = Problems(path)
    for row, (table, query, place, draw, count) in _lines(
        header, ["PRODUCT_TABLE", "QUERY", "GEO", "ITERATION", "COUNT"]
    ):
        number = _number(problems, header, row, "ITERATION", draw)
        value = _number(problems, header, row, "COUNT", count)
        level, _, code = place.partition(":")
        if not 0 <= number <= 10_000 or number != int(number):
            problems.add(
                f"ITERATION {draw[:40]!r} is no number of a rerun.", "Fetch the file again.", line=header.line + 1 + row
            )
            continue
        words, _, title = query.partition(":")
        column = f"{table} {words}".strip()
        area = _AMC_LEVELS.get(level.strip(), level.strip())
        yield _Value(area, code.strip().replace("-", ""), "", column, title.strip(), value, draw=int(number))
    problems.finish()
    del found


def _estimates(found: Published, path: Path) -> Iterable[_Value]:
    header = read_header(path)
    problems = Problems(path)
    described = "query_description" in header.names
    names = ["geocode", "query", "estimate", "std_dev", *(["query_description"] if described else [])]
    for row, (code, query, estimate, deviation, *title) in _lines(header, names):
        value = _number(problems, header, row, "estimate", estimate)
        spread = _number(problems, header, row, "std_dev", deviation)
        if spread < 0:
            problems.add(
                f"std_dev {deviation[:40]!r} is negative.", "Fetch the file again.", line=header.line + 1 + row
            )
        bare = code if code.isdigit() else ""
        level = _LENGTHS.get(len(bare), f"codes of {len(bare)} digits")
        yield _Value(level, bare, "", query, title[0] if title else query, value, spread)
    problems.finish()
    del found


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
    "amc-summary": _replicates,
    "gls": _estimates,
    "phsafe-output": _production,
    "sdhc-download": _downloaded,
    "sdhc-api": _answered,
}
