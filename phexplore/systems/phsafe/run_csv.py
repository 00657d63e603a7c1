"""Results of a run as CSV: figures per table, level and cell, and the noisy measurements in production's layout."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from phexplore.catalog.tables import table, tables
from phexplore.files.spreadsheet import csv_bytes
from phexplore.metrics.accuracy_report import AccuracyRow
from phexplore.model.keys import TableId
from phexplore.runs.spec import RunMode
from phexplore.simulate.phsafe_output import PART_FILE, header
from phexplore.systems.phsafe.results import RunResults
from phexplore.systems.phsafe.run_snapshot import LevelResult, QueryResult, RunSnapshot
from phexplore.systems.phsafe.table10 import plain_decimal

COLUMNS = (
    "SCOPE",
    "TABLE",
    "LEVEL",
    "REGION_TYPE",
    "ITERATION_CODE",
    "DATA_CELL",
    "LABEL",
    "ERRORS",
    "CONFIDENCE",
    "MARGIN",
    "COVERAGE",
    "COVERAGE_LOW",
    "COVERAGE_HIGH",
    "EXACT_COVERAGE",
    "EXACT_MARGIN",
    "OBSERVED_MARGIN",
    "OBSERVED_MARGIN_LOW",
    "OBSERVED_MARGIN_HIGH",
    "EXPERIMENTAL_MOE",
    "EXPECTED_MOE",
    "NOISE_MEAN",
    "NOISE_RMSE",
    "BIAS_MEAN",
    "BIAS_RMSE",
    "LARGEST_BIAS",
    "TOTAL_MEAN",
    "TOTAL_MAE",
    "TOTAL_RMSE",
)
"""Of `run_metrics_csv`. Noise, truncation bias and total error are named apart; _LOW and _HIGH are 95 % Monte-Carlo
intervals; EXPERIMENTAL_MOE and EXPECTED_MOE are the columns of PHSafe's accuracy report, 90 %, truncation bias included."""

_PLACES = 6


def run_metrics_csv(snapshot: RunSnapshot) -> bytes:
    """Return the figures of a run: a line per table and level, then a line per cell of PHSafe's accuracy report.

    RFC 4180, UTF-8, ASCII headers. Figures that do not exist are empty.
    """
    queries = {result.query: result for result in snapshot.queries}
    confidence = float(snapshot.forecast.conventions.confidence)
    lines = [_level_line(level, queries.get(level.query), confidence) for level in snapshot.levels]
    lines += [_cell_line(row, confidence) for row in snapshot.cells]
    return csv_bytes([list(COLUMNS), *([line.get(column, "") for column in COLUMNS] for line in lines)])


def _level_line(level: LevelResult, noise: QueryResult | None, confidence: float) -> dict[str, str]:
    line: dict[str, Any] = {
        "SCOPE": "level",
        "TABLE": level.query.table,
        "LEVEL": level.query.level.text,
        "CONFIDENCE": confidence,
        "NOISE_MEAN": level.noise_mean,
        "NOISE_RMSE": level.noise_rmse,
        "BIAS_MEAN": level.bias_mean,
        "BIAS_RMSE": level.bias_rmse,
        "TOTAL_MEAN": level.total_me,
        "TOTAL_MAE": level.total_mae,
        "TOTAL_RMSE": level.total_rmse,
    }
    if noise is not None:
        line |= {
            "ERRORS": noise.coverage.errors,
            "MARGIN": noise.margin,
            "COVERAGE": noise.coverage.share.value,
            "COVERAGE_LOW": noise.coverage.share.low,
            "COVERAGE_HIGH": noise.coverage.share.high,
            "EXACT_COVERAGE": noise.expected_coverage,
            "EXACT_MARGIN": noise.exact_margin,
            "OBSERVED_MARGIN": noise.observed.value,
            "OBSERVED_MARGIN_LOW": noise.observed.low,
            "OBSERVED_MARGIN_HIGH": noise.observed.high,
        }
    return _texts(line)


def _cell_line(row: AccuracyRow, confidence: float) -> dict[str, str]:
    return _texts(
        {
            "SCOPE": "cell",
            "TABLE": row.group.table,
            "LEVEL": row.group.query.level.text,
            "REGION_TYPE": row.group.region_type,
            "ITERATION_CODE": row.group.iteration_code,
            "DATA_CELL": row.group.cell,
            "LABEL": table(row.group.table).cell(row.group.cell).label,
            "ERRORS": row.count,
            "CONFIDENCE": confidence,
            "MARGIN": row.margin,
            "COVERAGE": row.coverage.share.value,
            "COVERAGE_LOW": row.coverage.share.low,
            "COVERAGE_HIGH": row.coverage.share.high,
            "OBSERVED_MARGIN": row.noise_moe.value,
            "OBSERVED_MARGIN_LOW": row.noise_moe.low,
            "OBSERVED_MARGIN_HIGH": row.noise_moe.high,
            "EXPERIMENTAL_MOE": row.experimental_moe.value,
            "EXPECTED_MOE": row.expected_moe,
            "NOISE_MEAN": row.measured_bias,
            "BIAS_MEAN": row.bias,
            "LARGEST_BIAS": row.largest_bias,
        }
    )


def _texts(line: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in line.items()}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return plain_decimal(value, _PLACES) if math.isfinite(value) else ""
    return str(value)


def truncation_csv(snapshot: RunSnapshot) -> bytes:
    """Return households by size and persons cut, a line per truncated table and size."""
    lines = [["TABLE", "TAU", "SIZE", "HOUSEHOLDS", "PERSONS", "CUT"]]
    for entry in snapshot.truncation:
        for row in entry["sizes"]:
            figures = [entry["tau"], row["size"], row["households"], row["persons"], row["cut"]]
            lines.append([str(entry["table"]), *map(str, figures)])
    return csv_bytes(lines)


def measurement_files(results: RunResults, trial: int) -> Iterator[tuple[str, bytes]]:
    """Yield the released counts of a trial as production's files: path below the trial's folder, and content.

    Layout of PHSafe 3.0.0: a directory per table, ``|`` between fields, a header, columns of the private mode; without
    noise (other modes) the last two columns are left out.

    Args:
        results: of the run.
        trial: zero-based.

    Raises:
        RunUnreadableError: there is no such trial, or its file cannot be read.
    """
    keys, counts = results.keys, results.released(trial)
    noisy = results.spec.mode is RunMode.PRIVATE
    distributions, variances = results.noise_columns(trial)
    present = set(keys.table.tolist())
    for name in (product.id for product in tables().values() if product.id in present):
        lines = [header(TableId(name), noisy=noisy)]
        iterated = table(name).iterated
        for row in np.flatnonzero(keys.table == name).tolist():
            fields = [str(keys.region_id[row]), str(keys.region_type[row])]
            if iterated:
                fields.append(str(keys.iteration_code[row]))
            fields += [str(keys.cell[row]), str(counts[row])]
            if noisy:
                fields += [str(distributions[row]), repr(float(variances[row]))]
            lines.append("|".join(fields))
        yield f"{name}/{PART_FILE}", ("\n".join(lines) + "\n").encode()


def run_csv_files(results: RunResults, snapshot: RunSnapshot) -> Iterator[tuple[str, bytes]]:
    """Yield all CSV files of a run, one after the other: relative path and content.

    ``metrics.csv``, ``truncation.csv``, then per trial ``trial-00000/<TABLE>/part-00000.csv``.

    Args:
        results: of the run, for the measurements.
        snapshot: its figures.

    Raises:
        RunUnreadableError: a trial cannot be read.
    """
    yield "metrics.csv", run_metrics_csv(snapshot)
    if snapshot.truncation:
        yield "truncation.csv", truncation_csv(snapshot)
    for trial in results.trials:
        for path, content in measurement_files(results, trial):
            yield f"trial-{trial:05d}/{path}", content
