"""The facilities of every block beside a run: housing units and group quarters by type, which are published exactly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.model.provenance import Provenance
from phexplore.runs.run_files import MARK, integers, read_columns, reading, texts
from phexplore.runs.store import FACILITIES_FILE, RunUnreadableError


def write_facilities(
    path: Path, geoids: NDArray[np.str_], facilities: NDArray[np.int32], provenance: Provenance
) -> None:
    """Write the facilities of every block.

    Args:
        path: of the file.
        geoids: codes of the blocks.
        facilities: ``int32[blocks, types]``, housing units first.
        provenance: of the counts.

    Raises:
        OSError: the system refuses.
    """
    columns = {"geoid": pa.array(geoids.tolist(), pa.string())}
    columns |= {f"type{number}": pa.array(facilities[:, number]) for number in range(facilities.shape[1])}
    table = pa.table(columns).replace_schema_metadata({MARK: json.dumps({"provenance": provenance.json()})})
    pq.write_table(table, path, compression="zstd")


def read_facilities(directory: Path, geoids: NDArray[np.str_]) -> NDArray[np.int64] | None:
    """Return the facilities of every block of a run, ``int64[blocks, types]``; None where it has none.

    Args:
        directory: of the run.
        geoids: codes of the blocks, ``str[blocks]``.

    Raises:
        RunUnreadableError: the file cannot be read, or is of other blocks.
    """
    path = directory / FACILITIES_FILE
    if not path.exists():
        return None
    if path.is_dir():
        if not any(path.iterdir()):  # the data that were read by state say nothing of facilities
            return None
        states = geoids.astype("U2")
        parts = [_read_file(path / f"{state}.parquet", geoids[states == state]) for state in np.unique(states).tolist()]
        return np.concatenate(parts)
    return _read_file(path, geoids)


def _read_file(path: Path, geoids: NDArray[np.str_]) -> NDArray[np.int64]:
    remedy = "Resume the run to write it again."
    with reading(path, remedy):
        own, *kinds = pq.read_schema(path).names
        table = read_columns(path, {own: texts, **dict.fromkeys(kinds, integers)}, rows=len(geoids))
        columns = [table.column(name).to_numpy() for name in kinds]
        blocks = table.column("geoid").to_pylist()
    if blocks != geoids.tolist() or not columns:
        raise RunUnreadableError(f"{path} is of other blocks than the run.", remedy)
    return np.stack(columns, axis=1).astype(np.int64)
