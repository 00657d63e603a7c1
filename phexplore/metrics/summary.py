"""The figures of a run that go into its summary, as JSON values. NaN and infinity become null.

Three errors are kept apart by name everywhere: ``noise`` = released − truncated count, ``truncation`` = truncated −
untruncated count, ``total`` = released − production's non-private count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.accuracy_report import AccuracyRow, Expectation, Integers, Reader, Truth
from phexplore.metrics.coverage import (
    Coverage,
    Interval,
    coverage_of,
    error_between_trials,
    observed_margin,
    over_trials,
)
from phexplore.metrics.errors import KNOWN
from phexplore.metrics.numbers import LevelGroup, Rows
from phexplore.model.conventions import Conventions
from phexplore.model.keys import TableId
from phexplore.model.numbers import exact_text

Json = dict[str, Any]

_ELEMENTS_AT_ONCE = 1 << 20
"""Trials are measured in pieces: what is made in between stays in the cache, and memory does not grow with them."""

SIGNED_PARTS = ("me", "mae", "rmse")
"""The metrics given for noise and truncation apart; percent measures are given for the total error alone."""


def level_metrics(
    groups: Sequence[LevelGroup], truth: Truth, expectation: Expectation, released: Reader
) -> Iterator[Json]:
    """Yield one entry of ``metrics`` per table, level and margin: owners and renters of PH8_num have one each.

    Every metric is computed per trial over all numbers of the group; ``value`` is the mean over trials, for a root mean
    square the root of the mean of its squares, and ``error`` its Monte-Carlo error (null with one trial).

    Args:
        groups: see `metrics.numbers.level_groups`.
        truth: exact counts.
        expectation: the scenario's margins.
        released: the counts of the trials.
    """
    for group, cells, rows in _of_one_margin(groups, expectation):
        counts = released(rows)
        noise = counts - truth.truncated[rows]
        margin = float(expectation.margin[rows[0]])
        held = int(np.count_nonzero(np.abs(noise) <= margin))
        yield {
            "table": group.query.table,
            "level": group.query.level.text,
            "cells": cells,
            "numbers": len(rows),
            "margin": margin,
            "confidence": expectation.confidence,
            "coverage": coverage_json(coverage_of(held, noise.size)),
            "observed_margin": interval_json(observed_margin(noise, expectation.confidence)),
            "total": _over_trials(truth.non_private[rows], counts, tuple(KNOWN)),
            "noise": _over_trials(truth.truncated[rows], counts, SIGNED_PARTS),
            "truncation": {
                name: number(float(KNOWN[name].function(truth.untruncated[rows], truth.truncated[rows])))
                for name in SIGNED_PARTS
            },
        }


def _of_one_margin(
    groups: Sequence[LevelGroup], expectation: Expectation
) -> Iterator[tuple[LevelGroup, list[int], Rows]]:
    """Yield each group in parts whose numbers have one margin, with their cell codes and rows, both ascending."""
    for group in groups:
        for margin in dict.fromkeys(expectation.margin[group.rows].tolist()):
            alike = [cell for cell in group.cells if expectation.margin[cell.rows[0]] == margin]
            codes = sorted({cell.cell for cell in alike})
            yield group, codes, np.sort(np.concatenate([cell.rows for cell in alike]))


def _over_trials(truth: Integers, released: Integers, names: Sequence[str]) -> Json:
    step = max(1, _ELEMENTS_AT_ONCE // max(1, len(truth)))
    parts = [released[start : start + step] for start in range(0, len(released), step)]
    found: Json = {}
    for name in names:
        measure = KNOWN[name].function
        figures = np.concatenate([np.empty(0), *(measure(np.broadcast_to(truth, part.shape), part) for part in parts)])
        value, error = over_trials(name, figures)
        found[name] = {"value": number(value), "error": number(error)}
    return found


def report_json(row: AccuracyRow) -> Json:
    """Return one line of ``accuracy_report``; keys in capitals are production's columns."""
    return {
        "TABLE": row.group.table,
        "REGION_TYPE": row.group.region_type,
        "ITERATION_CODE": row.group.iteration_code,
        "DATA_CELL": row.group.cell,
        "EXPERIMENTAL_MOE": number(row.experimental_moe.value),
        "COUNT": row.count,
        "EXPECTED_MOE": row.expected_moe,
        "experimental_moe_interval": [number(row.experimental_moe.low), number(row.experimental_moe.high)],
        "noise_moe": interval_json(row.noise_moe),
        "margin": row.margin,
        "coverage": coverage_json(row.coverage),
        "bias": row.bias,
        "largest_bias": row.largest_bias,
        "noise_mean": row.measured_bias,
    }


def overall_coverage(held: Sequence[int], numbers: int, confidence: float) -> Json:
    """Return the coverage over all directly measured numbers of all trials.

    Args:
        held: per trial, numbers within their margin.
        numbers: directly measured numbers per trial.
        confidence: that was aimed at.
    """
    shares = np.array(held, dtype=np.float64) / numbers if numbers else np.empty(0)
    return {
        "confidence": confidence,
        **coverage_json(coverage_of(sum(held), numbers * len(held))),
        "error_between_trials": number(error_between_trials(shares)),
    }


def truncation_by_size(sizes: Mapping[TableId, NDArray[np.int64]], thresholds: Mapping[TableId, int]) -> list[Json]:
    """Return, per truncated table, how many households of each size there are and how many persons are cut.

    A household of s persons in the table's universe loses max(0, s − τ) of them, whatever the record order.

    Args:
        sizes: per table ``int64[largest size + 1]``, households by the number of persons the table counts; the last
            place also holds larger households, whose loss is then at least the figure given.
        thresholds: τ per table.
    """
    found = []
    for table, households in sizes.items():
        tau = thresholds[table]
        present = np.flatnonzero(households)
        rows = [
            {
                "size": int(size),
                "households": int(households[size]),
                "persons": int(size * households[size]),
                "cut": int(max(0, size - tau) * households[size]),
            }
            for size in present
            if size > 0
        ]
        found.append({"table": table, "tau": tau, "sizes": rows, "or_larger": int(len(households) - 1)})
    return found


def conventions_json(conventions: Conventions) -> Json:
    """Return the conventions that margins of a summary follow."""
    return {
        "margin": conventions.margin.value,
        "confidence": exact_text(conventions.confidence),
        "z": exact_text(conventions.z),
    }


def interval_json(interval: Interval) -> Json:
    """Return a figure with its Monte-Carlo interval."""
    return {"value": number(interval.value), "low": number(interval.low), "high": number(interval.high)}


def coverage_json(coverage: Coverage) -> Json:
    """Return a coverage with its Wilson interval and its standard error."""
    return {
        "held": coverage.held,
        "of": coverage.errors,
        **interval_json(coverage.share),
        "standard_error": number(coverage.standard_error),
    }


def number(value: float) -> float | None:
    """Return a figure as JSON can hold it."""
    return value if math.isfinite(value) else None
