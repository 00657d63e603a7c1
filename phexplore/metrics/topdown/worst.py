"""The units that are farthest off, and where their errors lie."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phexplore.metrics.topdown.redistricting import ONE_IS_EMPTY, group_shares
from phexplore.metrics.topdown.shapes import Floats, Integers, as_trials
from phexplore.model.rounded import percent

SMALL_UNIT = 100
"""People; noise of the same size weighs most in units smaller than this."""

_HALF = 0.5


class WorstBy(enum.Enum):
    """What "farthest off" means."""

    TOTAL = "total"
    """Size of the error of the unit's total, people."""
    RELATIVE = "relative"
    """Error of the total in percent of the truth, 200 % where the truth is 0."""
    CELLS = "cells"
    """Sum of the errors' sizes over the cells, people."""
    LARGEST_GROUP = "largest-group"
    """Error of the largest group's share, in shares; a trial where only one of truth and estimate has people has no share to compare."""


class Reason(enum.Enum):
    """Where most of a unit's error lies: what was measured of it, never what it came from."""

    EXACT = "exact"
    FROM_NOTHING = "from-nothing"
    EMPTIED = "emptied"
    BOTH_WAYS = "both-ways"
    ONE_CELL = "one-cell"
    ALL_RAISED = "all-raised"
    ALL_LOWERED = "all-lowered"
    MOVED = "moved"
    SMALL = "small"
    SPREAD = "spread"


_OFF, _PLAIN = "{unit}: {off}", "{unit}: {truth} {what}, published {estimate}"
_SENTENCES = {
    Reason.EXACT: "{unit}: nothing is off.",
    Reason.FROM_NOTHING: "{unit} has no {what}; {estimate} were put there.",
    Reason.EMPTIED: "{unit}: none of {truth} {what} are published.",
    Reason.BOTH_WAYS: f"{_PLAIN} on average, too high in some trials, too low in others ({{cell}}).",
    Reason.ONE_CELL: f"{_OFF}; {{share}} of the error is in one group ({{cell}}).",
    Reason.ALL_RAISED: f"{_OFF}; no group lost ({{cell}}).",
    Reason.ALL_LOWERED: f"{_OFF}; no group gained ({{cell}}).",
    Reason.MOVED: f"{_PLAIN}; {{what}} moved between groups ({{cell}}).",
    Reason.SMALL: "{unit} is small: {truth} {what}, published {estimate} ({cell}).",
    Reason.SPREAD: f"{_OFF}; the error is spread over many groups ({{cell}}).",
}

_BRIEFLY = {
    Reason.EXACT: "nothing is off",
    Reason.FROM_NOTHING: "had no {what}",
    Reason.EMPTIED: "lost all its {what}",
    Reason.BOTH_WAYS: "too high in some trials, too low in others",
    Reason.ONE_CELL: "mostly {cell}",
    Reason.ALL_RAISED: "no group lost",
    Reason.ALL_LOWERED: "no group gained",
    Reason.MOVED: "{what} moved between groups",
    Reason.SMALL: "a small place",
    Reason.SPREAD: "spread over many groups",
}


@dataclass(frozen=True, slots=True)
class WorstUnit:
    """One of the units that are farthest off.

    Attributes:
        unit: its row.
        error: by the chosen measure, the mean over trials.
        truth: its true total.
        estimate: its published total, the mean over trials.
        cell: the cell with the largest error.
        cell_truth: its true count.
        cell_estimate: its published count, the mean over trials.
        cell_share: how much of the sum of the errors' sizes that cell is, in [0, 1].
        reason: where most of it lies.
    """

    unit: int
    error: float
    truth: int
    estimate: float
    cell: int
    cell_truth: int
    cell_estimate: float
    cell_share: float
    reason: Reason

    def sentence(self, unit: str, cells: Sequence[str], what: str) -> str:
        """Return the reason in words.

        Args:
            unit: name or code of the unit.
            cells: labels of the cells.
            what: is counted, plural, e.g. "people" or "housing units".
        """
        template = _SENTENCES[self.reason]
        if len(cells) == 1:  # of one number there is no more to say than that
            template = f"{_OFF}." if self.reason is Reason.ONE_CELL else template.replace(" ({cell})", "")
        return template.format(
            unit=unit,
            off=self._off(what),
            what=what,
            truth=f"{self.truth:,}",
            estimate=_count(self.estimate),
            share=percent(self.cell_share, places=0),
            cell=f"{cells[self.cell]}: {self.cell_truth:,} became {_count(self.cell_estimate)}",
        )

    def _off(self, what: str) -> str:
        """Return by how much the total is off, before it and after."""
        change, totals = self.estimate - self.truth, f"{self.truth:,} → {_count(self.estimate)} {what}"
        by = _count(abs(change))
        return (
            totals
            if float(by.replace(",", "")) == 0
            else f"published {by} too {'high' if change > 0 else 'low'} ({totals})"
        )

    def brief(self, cells: Sequence[str], what: str) -> str:
        """Return the reason and the totals in a few words, the reason first.

        Args:
            cells: labels of the cells.
            what: is counted, plural.
        """
        totals = f"{self.truth:,} → {_count(self.estimate)}"
        if len(cells) == 1 and self.reason is Reason.ONE_CELL:
            return totals
        return f"{_BRIEFLY[self.reason].format(what=what, cell=cells[self.cell])} ({totals})"


class WorstTally:
    """Finds the units that are farthest off while trials arrive; it keeps sums only."""

    def __init__(self, truth: Integers, by: WorstBy) -> None:
        """Start without a trial.

        Args:
            truth: ``int64[units, cells]``.
            by: the measure; over several trials its mean counts.
        """
        self._truth, self._by = truth, by
        self._measure = np.zeros(len(truth))
        self._measured = np.zeros(len(truth), np.int64)
        self._sums = np.zeros(truth.shape, np.int64)
        self._sizes = np.zeros(truth.shape, np.int64)
        self.trials = 0

    def add(self, estimate: Integers) -> None:
        """Add one trial, ``int64[units, cells]``.

        Raises:
            ValueError: it has another shape.
        """
        found = _measure(self._truth, as_trials(self._truth, estimate)[0], self._by)
        known = np.isfinite(found)
        self._measure += np.where(known, found, 0.0)
        self._measured += known
        self._sums += estimate
        self._sizes += np.abs(estimate - self._truth)
        self.trials += 1

    def units(self, count: int, least_people: int = 0) -> tuple[WorstUnit, ...]:
        """Return the units that are farthest off, the worst first; ties go to the first unit; none without a trial to measure.

        Args:
            count: how many at most.
            least_people: smallest true total of a unit that is looked at.
        """
        if not self.trials:
            return ()
        measure = self._measure / np.maximum(self._measured, 1)
        eligible = np.flatnonzero((self._truth.sum(axis=1) >= least_people) & (self._measured > 0))
        chosen = eligible[np.argsort(-measure[eligible], kind="stable")[:count]].tolist()
        return tuple(
            _describe(
                unit,
                float(measure[unit]),
                self._by,
                self._truth[unit],
                self._sums[unit] / self.trials,
                self._sizes[unit] / self.trials,
            )
            for unit in chosen
        )


def _measure(truth: Integers, trial: Integers, by: WorstBy) -> Floats:
    """Return the chosen error of one trial, ``float64[units]``; NaN where it has none."""
    if by is WorstBy.LARGEST_GROUP:
        error = group_shares(truth, trial).error[0]
        return np.where(error == ONE_IS_EMPTY, np.nan, error)
    if by is WorstBy.CELLS:
        return np.asarray(np.abs(trial - truth).sum(axis=1), np.float64)
    people = truth.sum(axis=1)
    size = np.abs(trial.sum(axis=1) - people)
    if by is WorstBy.RELATIVE:
        return np.asarray(np.divide(100.0 * size, people, out=np.where(size > 0, 200.0, 0.0), where=people != 0))
    return np.asarray(size, np.float64)


def _describe(unit: int, error: float, by: WorstBy, truth: Integers, estimate: Floats, sizes: Floats) -> WorstUnit:
    cell = int(sizes.argmax())
    total = float(sizes.sum())
    share = float(sizes[cell] / total) if total else 0.0
    of_total = {WorstBy.TOTAL: error, WorstBy.RELATIVE: error * float(truth.sum()) / 100}.get(by)
    return WorstUnit(
        unit=unit,
        error=error,
        truth=int(truth.sum()),
        estimate=float(estimate.sum()),
        cell=cell,
        cell_truth=int(truth[cell]),
        cell_estimate=float(estimate[cell]),
        cell_share=share,
        reason=_reason(truth, estimate, total, share, of_total),
    )


def _reason(truth: Integers, estimate: Floats, total: float, share: float, of_total: float | None) -> Reason:
    """Return the first reason that fits, the most particular first.

    Args:
        truth: ``int64[cells]``.
        estimate: ``float64[cells]``, the mean over trials.
        total: sum of the mean sizes of the cells' errors, people.
        share: of the largest cell in it.
        of_total: mean size of the error of the unit's total, people; None where the measure is of cells: only their errors
            are explained by moves that leave the total as it is.
    """
    error = estimate - truth
    change = float(abs(error.sum()))
    candidates = (
        (total == 0, Reason.EXACT),
        (truth.sum() == 0, Reason.FROM_NOTHING),
        (estimate.sum() == 0, Reason.EMPTIED),
        (of_total is not None and change < _HALF * of_total, Reason.BOTH_WAYS),
        (share >= _HALF, Reason.ONE_CELL),
        ((error >= 0).all(), Reason.ALL_RAISED),
        ((error <= 0).all(), Reason.ALL_LOWERED),
        (of_total is None and change < _HALF * np.abs(error).max(), Reason.MOVED),
        (truth.sum() < SMALL_UNIT, Reason.SMALL),
    )
    return next((reason for fits, reason in candidates if fits), Reason.SPREAD)


def _count(value: float) -> str:
    return f"{value:,.0f}" if math.isclose(value, round(value), abs_tol=1e-9) else f"{value:,.1f}"
