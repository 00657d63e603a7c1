"""Estimates by generalised least squares from the noisy measurements, with their standard deviations.

Facts: ../shared/data/published/NOTES.md, section 7. Estimates are no whole numbers and may be negative.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from phexplore.published.forms import Description, Published, ValueTable
from phexplore.published.rows import BAD_NUMBERS, rows_of

LARGEST = 1 << 30
_LEVELS = {1: "US", 2: "State", 5: "County", 11: "Tract", 12: "Block_Group", 15: "Block"}
_REMEDY = "Fetch the file again; its columns are geocode, query, estimate, std_dev, with bars between."


def describe(found: Published) -> Description:
    """Return what the estimates are of."""
    table = values(found)
    notes = (
        "Estimates of the linear model, with standard deviations; published counts often lie closer to the truth.",
    )
    return Description(
        found.kind, found.title, dict(Counter(table.levels.tolist())), notes, {"queries": list(table.columns)}
    )


def values(found: Published) -> ValueTable:
    """Return one row per area and one column per query; estimates as published values, with their standard deviations.

    Raises:
        InputProblemsError: a line cannot be read, or stands twice.
    """
    cells: dict[str, dict[str, tuple[float, float]]] = {}
    titles: dict[str, str] = {}
    for path in found.of("gls"):
        for number, row in rows_of(found, path, delimiter="|", largest=LARGEST, remedy=_REMEDY):
            try:
                code, query = row["geocode"].strip(), row["query"].strip()
                estimate, deviation = float(row["estimate"]), float(row["std_dev"])
                held = cells.setdefault(code, {})
            except BAD_NUMBERS as error:
                raise found.refused(f"the line is no estimate ({error}).", _REMEDY, path, number) from error
            if query in held or not (np.isfinite(estimate) and np.isfinite(deviation) and deviation >= 0):
                raise found.refused(f"{query} of {code} stands twice, or is no number.", _REMEDY, path, number)
            held[query] = (estimate, deviation)
            titles.setdefault(query, (row.get("query_description") or query).strip())
    if not cells:
        raise found.refused("it holds no estimates.", _REMEDY)
    table = np.array([[held.get(query, (np.nan, np.nan)) for query in titles] for held in cells.values()])
    codes = list(cells)
    return ValueTable(
        np.array([_LEVELS.get(len(code), "US") for code in codes], np.str_),
        np.array(codes, np.str_),
        np.array([""] * len(codes), np.str_),
        tuple(titles),
        tuple(titles.values()),
        table[:, :, 0],
        deviation=table[:, :, 1],
    )
