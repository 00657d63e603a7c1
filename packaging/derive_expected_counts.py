"""Derive the typical counts behind the published averages (resources/tables/expected_counts.csv).

Usage: python packaging/derive_expected_counts.py POPULATION

POPULATION is a directory made by ``phexplore synth sdhc --persons 3000000 --seed 20``.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from phexplore.catalog.expected_counts import RATIO_CELLS
from phexplore.catalog.tables import tables
from phexplore.data.validation import load_data
from phexplore.model.keys import LEVELS, QueryKey, Region, TableId
from phexplore.simulate.phsafe_count import CountingSpec, tabulate

NATION_2010 = 308_745_538


def main(population: Path) -> None:
    """Write the resource file."""
    data = load_data(population)
    scale = NATION_2010 / len(data.persons.mafid)
    counts = tabulate([data], CountingSpec.exact()).counts
    target = Path(__file__).parents[1] / "resources" / "tables" / "expected_counts.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "cell", "level", "numerator", "denominator", "of"])
        for cell in RATIO_CELLS:
            for level in LEVELS:
                above = _sum(counts, cell.numerator, level)
                below = _sum(counts, cell.denominator, level)
                kept = below > 0
                numerator, denominator = np.median(above[kept]) * scale, np.median(below[kept]) * scale
                place = "the nation" if level.region is Region.NATION else f"{len(above)} states"
                groups = above.shape[1]
                words = f"median over {place}" + (f" and {groups} groups" if groups > 1 else "")
                words = words.replace("median over the nation", "the nation") if groups == 1 else words
                writer.writerow([cell.table, cell.cell, level.text, round(numerator), round(denominator), words])


def _sum(counts, part, level):
    table, codes = TableId(part[0]), part[1]
    cells = [cell.code for cell in tables()[table].cells]
    columns = [cells.index(code) for code in codes]
    return counts[QueryKey(table, level)][:, :, columns].sum(axis=2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
