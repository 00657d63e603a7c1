"""The Parquet files of a PHSafe run: one row per published number, in the same order in every file of a run.

Key columns are TABLE, REGION_TYPE, REGION_ID, ITERATION_CODE, DATA_CELL, in the spelling of production's output. A
trial adds COUNT, NOISE_DISTRIBUTION and VARIANCE; the truth adds TRUNCATED, UNTRUNCATED and NON_PRIVATE. Counts are
64-bit integers. Digests of the keys and of every other column are in the metadata of each file, so that a reader may
take the counts alone and a changed bit never gives another number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.metrics.accuracy_report import Integers, Truth
from phexplore.metrics.numbers import NumberKeys
from phexplore.model.provenance import Provenance
from phexplore.runs.run_files import Kind, decimals, integers, read_columns, read_mark, reading, texts
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.store import RunUnreadableError

KEY_COLUMNS: Mapping[str, str] = {
    "table": "TABLE",
    "region_type": "REGION_TYPE",
    "region_id": "REGION_ID",
    "iteration_code": "ITERATION_CODE",
    "cell": "DATA_CELL",
}
"""Names of the key columns in the files, by field of `NumberKeys`."""

_TRUTH_COLUMNS: Mapping[str, str] = {
    "truncated": "TRUNCATED",
    "untruncated": "UNTRUNCATED",
    "non_private": "NON_PRIVATE",
}
_REMEDY = "Resume the run to draw it again, or take the directory from a backup."


class NumberFiles:
    """Writes and reads the files of one run, which all have the same keys."""

    def __init__(self, keys: NumberKeys) -> None:
        self.keys = keys
        self.digest = keys_digest(keys)
        self._columns = {
            "TABLE": _dictionary(keys.table),
            "REGION_TYPE": _dictionary(keys.region_type),
            "REGION_ID": _dictionary(keys.region_id),
            "ITERATION_CODE": _dictionary(keys.iteration_code),
            "DATA_CELL": pa.array(keys.cell.astype(np.int16)),
        }

    def write_truth(self, path: Path, truth: Truth, extra: Mapping[str, Any], *, provenance: Provenance) -> None:
        """Write the exact counts, marked as confidential where the data are real.

        Args:
            path: of the file.
            truth: exact counts.
            extra: JSON values kept in the metadata.
            provenance: of the records behind the counts.
        """
        columns = {name: pa.array(getattr(truth, field)) for field, name in _TRUTH_COLUMNS.items()}
        self._write(path, columns, {**provenance.mark_of_counts(), **extra})

    def _write(self, path: Path, columns: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        _write_table(
            path, {**self._columns, **columns}, {"keys": self.digest, "digests": _digests(columns), **metadata}
        )

    def trial_writer(
        self, distributions: NDArray[np.str_], variances: NDArray[np.float64], mark: Mapping[str, Any]
    ) -> TrialWriter:
        """Return what writes the trials of this run.

        Args:
            distributions: ``str[numbers]``, as production writes them; "" for exact counts.
            variances: ``float64[numbers]``, as production writes them.
            mark: what the counts are not fit for, and their provenance; goes into the metadata.
        """
        noise = {"NOISE_DISTRIBUTION": _texts_column(distributions), "VARIANCE": pa.array(variances)}
        return TrialWriter(self._columns, noise, {"keys": self.digest, **mark})

    def read_counts(self, path: Path) -> Integers:
        """Return the counts of a trial of this run: ``int64[numbers]``.

        Raises:
            RunUnreadableError: the file cannot be read, or its numbers are others.
        """
        return _integers(self._columns_of(path, {"COUNT": integers}), "COUNT")

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial of this run.

        Raises:
            RunUnreadableError: the file cannot be read, or its numbers are others.
        """
        metadata = read_mark(path, _REMEDY)
        self._check(path, metadata)
        with reading(path, _REMEDY):
            return TrialFigures(int(metadata["covered"]), int(metadata["numbers"]))

    def read_noise(self, path: Path) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
        """Return the columns NOISE_DISTRIBUTION and VARIANCE of a trial: ``str[numbers]`` and ``float64[numbers]``.

        Raises:
            RunUnreadableError: the file cannot be read, or its numbers are others.
        """
        table = self._columns_of(path, {"NOISE_DISTRIBUTION": texts, "VARIANCE": decimals})
        return _texts(table, "NOISE_DISTRIBUTION"), np.asarray(table.column("VARIANCE").to_numpy(), dtype=np.float64)

    def _columns_of(self, path: Path, kinds: Mapping[str, Kind]) -> Any:
        metadata = read_mark(path, _REMEDY)
        self._check(path, metadata)
        return _read(path, kinds, metadata, len(self.keys))

    def _check(self, path: Path, metadata: Mapping[str, Any]) -> None:
        if metadata.get("keys") != self.digest:
            raise RunUnreadableError(f"{path} holds other numbers than the rest of its run.", _REMEDY)


class TrialWriter:
    """Writes the trials of one run; several threads may use it at once. Everything but the counts is made once."""

    def __init__(self, keys: Mapping[str, Any], noise: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        """Use `NumberFiles.trial_writer`."""
        self._keys, self._noise, self._metadata = dict(keys), dict(noise), dict(metadata)
        self._digests = _digests(noise)

    def write(self, path: Path, counts: Integers, figures: TrialFigures) -> None:
        """Write one trial.

        Args:
            path: of the file.
            counts: ``int64[numbers]``, released.
            figures: go into the metadata.
        """
        column = {"COUNT": pa.array(counts)}
        metadata = {
            **self._metadata,
            "digests": {**_digests(column), **self._digests},
            "covered": figures.covered,
            "numbers": figures.numbers,
        }
        _write_table(path, {**self._keys, **column, **self._noise}, metadata)


def _write_table(path: Path, columns: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    content = json.dumps(metadata, ensure_ascii=True)
    table = pa.table(dict(columns)).replace_schema_metadata({"phexplore": content})
    # Keys repeat, counts do not: a dictionary of counts would only be thrown away again.
    repeating = [name for name in columns if name != "COUNT"]
    pq.write_table(table, path, compression="zstd", use_dictionary=repeating)


def _digests(columns: Mapping[str, Any]) -> dict[str, str]:
    return {name: _digest(column.to_numpy(zero_copy_only=False)) for name, column in columns.items()}


@dataclass(frozen=True, slots=True, eq=False)
class TruthFile:
    """What ``truth.parquet`` holds.

    Attributes:
        keys: the numbers of the run.
        truth: their exact counts.
        metadata: what else was written, e.g. ``confidential`` and ``truncation``.
    """

    keys: NumberKeys
    truth: Truth
    metadata: Mapping[str, Any]


def read_truth(path: Path) -> TruthFile:
    """Return the exact counts of a run.

    Raises:
        RunUnreadableError: the file is missing or cannot be read.
    """
    metadata = read_mark(path, _REMEDY)
    kinds = {name: integers if field == "cell" else texts for field, name in KEY_COLUMNS.items()}
    table = _read(path, {**kinds, **dict.fromkeys(_TRUTH_COLUMNS.values(), integers)}, metadata)
    with reading(path, _REMEDY):
        words = {field: _texts(table, name) for field, name in KEY_COLUMNS.items() if field != "cell"}
        keys = NumberKeys(**words, cell=_integers(table, KEY_COLUMNS["cell"]))
        counts = Truth(**{f: _integers(table, name) for f, name in _TRUTH_COLUMNS.items()})
        if metadata.get("keys") != keys_digest(keys):
            raise RunUnreadableError(f"{path} was altered.", _REMEDY)
    return TruthFile(keys, counts, metadata)


def keys_digest(keys: NumberKeys) -> str:
    """Return 64 hexadecimal digits that are equal exactly for equal keys."""
    digest = hashlib.sha256()
    for field in fields(keys):
        column = getattr(keys, field.name)
        digest.update(("\n".join(map(str, column.tolist())) + "\n\n").encode())
    return digest.hexdigest()


def _texts_column(values: NDArray[np.str_]) -> Any:
    return pa.array(values.tolist(), pa.string())


def _dictionary(column: NDArray[np.str_]) -> Any:
    return _texts_column(column).dictionary_encode()


def _read(path: Path, kinds: Mapping[str, Kind], metadata: Mapping[str, Any], rows: int | None = None) -> Any:
    """Return columns that are as they were written; those of the keys are checked by their own digest."""
    with reading(path, _REMEDY):
        table, stated = read_columns(path, kinds, rows=rows), metadata["digests"]
        own = [name for name in kinds if name not in KEY_COLUMNS.values()]
        altered = [name for name in own if _digest(table.column(name).to_numpy()) != stated[name]]
        if altered:
            raise RunUnreadableError(f"{path} was altered: {', '.join(altered)} is not as it was written.", _REMEDY)
    return table


def _digest(values: NDArray[Any]) -> str:
    if values.dtype == object:
        return hashlib.sha256("\n".join(map(str, values.tolist())).encode()).hexdigest()
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def _integers(table: Any, name: str) -> Integers:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)


def _texts(table: Any, name: str) -> NDArray[np.str_]:
    column = table.column(name).combine_chunks()
    if not isinstance(column, pa.DictionaryArray):
        column = column.dictionary_encode()
    words = np.array(column.dictionary.to_pylist(), dtype=np.str_)
    return np.asarray(words[column.indices.to_numpy()] if len(column) else words, dtype=np.str_)
