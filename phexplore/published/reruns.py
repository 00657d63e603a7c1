"""The Bureau's own reruns (AMC): a summary of cells with one count per rerun, iteration 0 being what they are compared with.

Facts: ../shared/data/published/NOTES.md, section 6.
"""

from __future__ import annotations

import csv
import io
from collections import Counter

import numpy as np

from phexplore.data.archives import read_whole
from phexplore.published.forms import Description, Published, ValueTable

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


def describe(found: Published) -> Description:
    """Return what the summary holds."""
    table = values(found)
    draws = 0 if table.replicates is None else len(table.replicates)
    levels = Counter(table.levels.tolist())
    notes = (f"{len(table.codes)} cells, {draws} reruns each; iteration 0 stands for the truth.",)
    return Description(found.kind, found.title, dict(levels), notes, {"cells": len(table.codes), "reruns": draws})


def values(found: Published) -> ValueTable:
    """Return one row per cell: iteration 0 as the true value, the others as replicates; one column.

    The name of a row is the code of its query and its words, as the file has them.

    Raises:
        InputProblemsError: a line cannot be read, or a cell lacks a rerun that others have.
    """
    counts: dict[tuple[str, str, str], dict[int, float]] = {}
    for path in found.of("amc-summary"):
        text = read_whole(path, LARGEST).decode("utf-8-sig", "replace")
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), start=2):
            try:
                geography, code = (part.strip() for part in row["GEO"].split(":", 1))
                key = (
                    _LEVELS.get(geography, geography),
                    code,
                    f"{row['PRODUCT_TABLE'].strip()} {row['QUERY'].strip()}",
                )
                held, draw, count = counts.setdefault(key, {}), int(row["ITERATION"]), int(row["COUNT"])
            except (ValueError, KeyError, AttributeError, TypeError) as error:
                raise found.refused(f"the line is no count of a rerun ({error}).", _REMEDY, path, number) from error
            if draw in held:
                raise found.refused(f"iteration {draw} of this cell stands twice.", _REMEDY, path, number)
            held[draw] = float(count)
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
        remarks=("Iteration 0 (PPMF0) stands for the truth of the reruns; it is a release itself.",),
    )
