"""A tiny population in production's layout, to be written whole or broken in one place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.layout import FRAMES, LAYOUT, Frame
from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.data.synthetic.generator import synthesize

Rows = list[list[str]]

MARRIED, ALONE, VACANT, QUARTERS, COHABITING = (str(100_000_001 + place) for place in range(5))


def tiny_population() -> dict[str, Rows]:
    """Two states, five units: a couple with a child, a man alone, a vacant unit, group quarters, a cohabiting couple."""
    return {
        "persons": [
            ["3", MARRIED, "40", "1", "01", "20"],
            ["3", MARRIED, "38", "1", "02", "21"],
            ["3", MARRIED, "5", "2", "07", "25"],
            ["3", ALONE, "71", "2", "06", "20"],
            ["5", QUARTERS, "90", "1", "01", "37"],
            ["5", QUARTERS, "19", "1", "63", "38"],
            ["3", COHABITING, "30", "1", "04", "20"],
            ["3", COHABITING, "33", "1", "04", "24"],
        ],
        "units": [
            ["2", MARRIED, "3", "3", "1", "01", "1", "1", "01", "1"],
            ["2", ALONE, "1", "0", "2", "06", "2", "4", "09", "0"],
            ["2", VACANT, "0", "0", "0", "00", "0", "0", "00", "0"],
            ["4", QUARTERS, "2", "0", "0", "00", "0", "0", "00", "0"],
            ["2", COHABITING, "2", "0", "1", "04", "3", "7", "04", "4"],
        ],
        "geo": [
            ["2", MARRIED, "44", "001", "000100", "1001", "1", "1", "1", "99999", "9999"],
            ["2", ALONE, "44", "001", "000100", "1001", "1", "1", "1", "99999", "9999"],
            ["2", VACANT, "44", "003", "000200", "1002", "1", "1", "1", "99999", "9999"],
            ["4", QUARTERS, "09", "001", "000100", "1001", "1", "1", "1", "99999", "9999"],
            ["2", COHABITING, "09", "001", "000100", "1001", "1", "1", "1", "99999", "9999"],
        ],
    }


def column_place(frame: str, column: str) -> int:
    """Return the 0-based place of a column."""
    return [own.name for own in LAYOUT[frame]].index(column)


def with_value(frame: str, row: int, column: str, value: str, base: dict[str, Rows] | None = None) -> dict[str, Rows]:
    """Return the tiny population with one value replaced; rows count from 0."""
    population = base or tiny_population()
    population[frame][row][column_place(frame, column)] = value
    return population


def csv_text(frame: str, rows: Rows) -> str:
    """Return a file as production writes it."""
    header = ",".join(column.name for column in LAYOUT[frame])
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


def write_csv(directory: Path, population: dict[str, Rows] | None = None) -> Path:
    """Write the three CSV files; return the directory."""
    population = population or tiny_population()
    directory.mkdir(parents=True, exist_ok=True)
    for frame in FRAMES:
        (directory / f"{frame}.csv").write_text(csv_text(frame, population[frame]), encoding="utf-8")
    return directory


def write_parquet(directory: Path, population: dict[str, Rows] | None = None, *, integers: bool = False) -> Path:
    """Write the three Parquet files with text codes, or all columns as whole numbers; return the directory."""
    import pyarrow as pa
    from pyarrow import parquet

    population = population or tiny_population()
    directory.mkdir(parents=True, exist_ok=True)
    for frame in FRAMES:
        columns = {}
        for place, column in enumerate(LAYOUT[frame]):
            texts = [row[place] for row in population[frame]]
            whole = integers or column.kind.value == "int"
            columns[column.name] = pa.array([int(text) for text in texts]) if whole else pa.array(texts)
        parquet.write_table(pa.table(columns), directory / f"{frame}.parquet")
    return directory


def synthetic_population(persons: int, **chosen: Any) -> SdhcData:
    """A synthetic population in memory; arguments as `synthesize`."""
    parts = list(synthesize(persons, **chosen))

    def columns(frame: Frame, types: Mapping[str, type[np.generic]]) -> dict[str, NDArray[Any]]:
        return {
            name: np.concatenate([getattr(part, frame)[name.upper()].astype(dtype) for part in parts])
            for name, dtype in types.items()
        }

    return SdhcData(
        SdhcPersons(**columns("persons", SdhcPersons.DTYPES)),
        SdhcUnits(**columns("units", SdhcUnits.DTYPES)),
        SdhcGeo(**columns("geo", SdhcGeo.DTYPES)),
    )
