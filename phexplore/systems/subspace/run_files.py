"""The files of a subspace run: one Parquet table per trial, the exact answers, and the first trial as CSV.

A released number is a fraction, numerator over denominator, so that whoever reads the file can add up the totals exactly; beside
it stands the nearest double. Numerators that leave 64 bits are stored as text.

Args:
    path: of the file.
    directory: of the release, made if missing.
    names: of the answers.
    values: per release, in its order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import csv_bytes
from phexplore.runs.run_files import MARK, Kind, decimals, read_columns, reading, whole_numbers
from phexplore.workload.subspace.exact import Exact, Rationals

MOST_NAMED = 200_000
"""Answers that are named one by one; larger releases are read by number."""


@dataclass(frozen=True, slots=True)
class AnswerNames:
    """The answers of a run, release after release.

    Attributes:
        releases: name and number of answers of each, in order.
        texts: name of each answer; empty when there are more than `MOST_NAMED`.
    """

    releases: Mapping[str, int]
    texts: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of answers of all releases."""
        return sum(self.releases.values())


def write_answers(
    path: Path, names: AnswerNames, values: Mapping[str, Rationals], meta: Mapping[str, Any] | None = None
) -> None:
    """Write released or exact answers.

    Args:
        path: the unfinished file.
        names: of the answers.
        values: per release, in its order.
        meta: kept in the file's metadata.
    """
    parts = [values[name] for name in names.releases]
    columns: dict[str, Any] = {
        "release": pa.DictionaryArray.from_arrays(
            np.repeat(np.arange(len(parts), dtype=np.int32), list(names.releases.values())), list(names.releases)
        ),
        "number": np.concatenate([np.arange(count, dtype=np.int64) for count in names.releases.values()]),
    }
    if names.texts:
        columns["answer"] = pa.array(names.texts, pa.string())
    columns["numerator"] = _column([part.numerators for part in parts])
    columns["denominator"] = _column([np.broadcast_to(part.denominators, part.numerators.shape) for part in parts])
    columns["released"] = np.concatenate([part.values for part in parts])
    table = pa.table(columns).replace_schema_metadata({MARK: json.dumps(dict(meta or {})).encode()})
    pq.write_table(table, path, compression="zstd", version="2.6")


def _column(parts: Sequence[Exact]) -> Any:
    joined = np.concatenate(parts)
    if joined.dtype != object:
        return joined
    if all(-(2**63) <= value < 2**63 for value in joined.tolist()):
        return joined.astype(np.int64)
    return pa.array([str(value) for value in joined.tolist()], pa.string())


def read_answers(path: Path, names: AnswerNames) -> dict[str, Rationals]:
    """Return the answers of each release exactly.

    Raises:
        RunUnreadableError: the file is damaged or holds other answers.
    """
    table = _read(path, {"numerator": whole_numbers, "denominator": whole_numbers}, names)
    with reading(path):
        numerators, denominators = (_values(table, name) for name in ("numerator", "denominator"))
        if not (denominators > 0).all():
            raise ValueError("a denominator is not above 0")
    found, start = {}, 0
    for name, count in names.releases.items():
        part = slice(start, start + count)
        own = denominators[part]
        # One denominator for all is kept as one number.
        alike = bool((own == own[0]).all())
        found[name] = Rationals(numerators[part], np.asarray(own[0]) if alike else own)
        start += count
    return found


def read_released(path: Path, names: AnswerNames) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the nearest doubles of all answers: ``float64[answers]``.

    Raises:
        RunUnreadableError: the file is damaged.
    """
    table = _read(path, {"released": decimals}, names)
    return np.asarray(table.column("released").to_numpy(), dtype=np.float64)


def _read(path: Path, kinds: Mapping[str, Kind], names: AnswerNames) -> Any:
    with reading(path):
        return read_columns(path, kinds, rows=names.size)


def _values(table: Any, name: str) -> Exact:
    column = table.column(name).combine_chunks()
    if pa.types.is_string(column.type):
        return np.array([int(text) for text in column.to_pylist()], dtype=object)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)


def write_release(directory: Path, names: AnswerNames, values: Mapping[str, Rationals]) -> None:
    """Write one CSV per release: number and name of each answer, the released number as a decimal and as a fraction.

    Raises:
        WriteError: the file system refuses.
    """
    directory.mkdir(parents=True, exist_ok=True)
    start = 0
    for place, (name, count) in enumerate(names.releases.items()):
        rows: list[list[object]] = [["number", "answer", "released", "numerator", "denominator"]]
        own = values[name]
        denominators = np.broadcast_to(own.denominators, own.numerators.shape)
        for number in range(count):
            answer = names.texts[start + number] if names.texts else ""
            decimal = f"{float(own.numerators[number] / denominators[number]):.6f}"
            rows.append([number, answer, decimal, int(own.numerators[number]), int(denominators[number])])
        write_atomically(directory / f"release-{place + 1:02d}.csv", csv_bytes(rows, lineterminator="\n"))
        start += count
