"""Derive the table behind the preset of group sizes (resources/tables/household_sizes_2010.csv).

    python packaging/derive_household_sizes.py ../shared/data/counties/county_household_size_2010.csv

Only the columns the mechanisms need are kept; counties whose sizes are not known keep their line, with blanks.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

COLUMNS = ("fips", "name", *(f"hh{size}" for size in range(1, 7)), "hh7plus")
TARGET = Path(__file__).parents[1] / "resources" / "tables" / "household_sizes_2010.csv"


def derived(source: Path) -> str:
    """Return the content of the shipped table."""
    with source.open(encoding="utf-8", newline="") as file:
        lines = [",".join(row[name] for name in COLUMNS) for row in csv.DictReader(file)]
    return "\n".join([",".join(COLUMNS), *lines]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(derived(Path(sys.argv[1])), encoding="utf-8")
