"""The part of ``summary.json`` that PHSafe runs have: checks, privacy, coverage, metrics, the accuracy report.

Args:
    run: what it is judged by.
    truncation: households by size and persons cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.accounting.composition import bounded_epsilon, confirm_spent, spent
from phexplore.accounting.zcdp import bounded
from phexplore.catalog.tables import tables
from phexplore.metrics.accuracy_report import Expectation, Integers, Truth, accuracy_rows
from phexplore.metrics.numbers import NumberKeys, Rows, cell_groups, level_groups
from phexplore.metrics.summary import conventions_json, level_metrics, overall_coverage, report_json
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Unlimited, exact_text
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.runs.simulation import TrialFigures, Watch, outcome
from phexplore.runs.spec import RunSpec
from phexplore.simulate.phsafe_release import Measurement
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe import run_checks as checks
from phexplore.systems.phsafe.number_files import NumberFiles

_DERIVED_CHECKS = {TableId("PH5_num"): "ph5_num_equals_ph4", TableId("PH8_num"): "ph8_num_sums_ph7"}
"""The name of the check of each derived table."""

_BLOCK_BYTES = 1 << 28
"""How much of all trials' counts is held at a time."""


class ReleasedCounts:
    """The counts of all trials, a window of numbers at a time, so that memory does not grow with the trials.

    Ask for numbers in the order of the keys: every move of the window reads all trials once.
    """

    def __init__(self, files: NumberFiles, paths: Sequence[Path], watch: Watch) -> None:
        self._files = files
        self._paths = paths
        self._watch = watch
        self._width = max(1, _BLOCK_BYTES // (8 * max(1, len(paths))))
        self._start = 0
        self._window: Integers = np.empty((len(paths), 0), np.int64)

    def __call__(self, rows: Rows) -> Integers:
        """Return the released counts of these numbers: ``int64[trials, rows]``.

        Raises:
            RunUnreadableError: a trial cannot be read.
            CancelledError: the run is to stop.
        """
        self._watch.checkpoint()
        if not len(rows):
            return np.empty((len(self._paths), 0), np.int64)
        first, last = int(rows.min()), int(rows.max())
        if not self._start <= first <= last < self._start + self._window.shape[1]:
            self._move(first, max(last + 1, first + self._width))
        return np.asarray(self._window[:, rows - self._start])

    def _move(self, start: int, stop: int) -> None:
        stop = min(stop, len(self._files.keys))
        window = np.empty((len(self._paths), stop - start), np.int64)
        for place, path in enumerate(self._paths):
            self._watch.progress("summary", place + 1, len(self._paths))
            window[place] = self._files.read_counts(path)[start:stop]
        self._start, self._window = start, window


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a private run is judged by.

    Attributes:
        spec: what was to be done.
        parameters: of the noise; without noise their budgets are unlimited.
        measurements: what was measured with which noise.
        regions: every published query, derived ones included, with the number of its regions.
        keys: the numbers of the run.
        truth: their exact counts.
        expectation: their margins.
        variances: ``float64[numbers]``, as released.
        figures: of every trial.
        released: the counts of every trial.
    """

    spec: RunSpec
    parameters: PhSafe
    measurements: Sequence[Measurement]
    regions: Mapping[QueryKey, int]
    keys: NumberKeys
    truth: Truth
    expectation: Expectation
    variances: NDArray[np.float64]
    figures: Sequence[TrialFigures]
    released: ReleasedCounts


def private_summary(run: Evidence, truncation: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the summary of a private run, with noise or without.

    Args:
        run: what is known of it.
        truncation: households cut, by table.

    Raises:
        BudgetMismatchError: the noise did not cost exactly what was declared.
    """
    confirm_spent(spent(run.parameters.budgets.values()), [measurement.spends for measurement in run.measurements])
    metrics: list[dict[str, Any]] = []
    report: list[dict[str, Any]] = []
    for level in level_groups(cell_groups(run.keys)):
        metrics += level_metrics([level], run.truth, run.expectation, run.released)
        lines = accuracy_rows(level.cells, run.truth, run.expectation, run.released)
        report += [report_json(line) for line in lines]
    numbers = run.figures[0].numbers if run.figures else 0
    held = [each.covered for each in run.figures]
    return {
        "checks": {
            "budget_spent_equals_declared": True,
            **{name: outcome(failures) for name, failures in _failures(run).items()},
        },
        "failsafe": 0,
        "privacy": _privacy(run.parameters),
        "conventions": conventions_json(run.spec.scenario.conventions),
        "numbers": len(run.keys),
        "coverage": overall_coverage(held, numbers, run.expectation.confidence),
        "metrics": metrics,
        "accuracy_report": report,
        "truncation": truncation,
    }


def _failures(run: Evidence) -> dict[str, int]:
    """Return the failures of every check that counts them."""
    present = set(run.keys.table.tolist())
    return {
        "variance_equals_formula": checks.wrong_variances(run.keys, run.variances, run.parameters),
        "rows": checks.missing_or_repeated_rows(run.keys, run.regions),
        **{
            check: checks.wrong_derived(run.keys, run.released, name)
            for name, check in _DERIVED_CHECKS.items()
            if name in present
        },
        "states_sum_to_nation": checks.states_off_nation(run.keys, run.truth.truncated),
        "races_sum_to_everybody": checks.races_off_everybody(run.keys, run.truth.truncated),
        "truncation_only_removes": checks.added_by_truncation(run.truth),
    }


def _privacy(parameters: PhSafe) -> dict[str, Any]:
    """Return what one released trial costs; every further one costs it again."""
    total = spent(parameters.budgets.values())
    if isinstance(total, Unlimited):
        twice = exact_text(total)
    elif parameters.framework is PrivacyFramework.ZCDP:
        twice = exact_text(bounded(total))
    else:
        twice = exact_text(bounded_epsilon(total))
    return {"framework": parameters.framework.value, "budget": exact_text(total), "bounded_budget": twice}


def exact_summary(exact: Tabulation) -> dict[str, Any]:
    """Return the summary of a non-private run. Totals can exceed their cells: records that fit none count in them."""
    failures = 0
    for query, counts in exact.counts.items():
        places = {cell.code: place for place, cell in enumerate(exact.cells(query.table))}
        for cell in tables()[query.table].totals:
            parts = counts[..., [places[code] for code in cell.sum_of]].sum(axis=-1)
            failures += int(np.count_nonzero(counts[..., places[cell.code]] != parts))
    return {
        "checks": {"totals_equal_their_cells": outcome(failures)},
        "failsafe": 0,
        "numbers": sum(counts.size for counts in exact.counts.values()),
        "metrics": [],
    }
