"""What a picture needs of all trials, folded in trial by trial: sums, counts and distributions whose size does not grow with them.

A fold takes the histograms of one trial at every level. Nothing else of the trial is kept, so that a run of any number of trials is
shown whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.bias import BiasBySize, bias_by_size, bias_together
from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.metrics.topdown.redistricting import MeetingCounts, group_shares
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.metrics.topdown.worst import WorstBy, WorstTally
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.open_run import Fold, Levels, TopDownRun
from phexplore.systems.topdown.summary import MOST_NUMBERS, answers, sparse_distribution
from phexplore.workload.queries import MarginalQuery

Integers = NDArray[np.int64]
ALL_SIZES = ""
"""The choice of units of every size."""


class TotalsFold(Fold):
    """The totals of a level's units.

    Attributes:
        published: sum over the trials, ``int64[units]``.
        sizes: sum of the errors' sizes over units and trials.
        largest: error of a total.
    """

    def __init__(self, run: TopDownRun, level: str) -> None:
        people = run.people(level)
        super().__init__(2 * people.nbytes)
        self._place, self._people = run.place(level), people
        self.published = np.zeros_like(people)
        self.sizes = self.largest = 0

    @property
    def mean_size(self) -> float:
        """Mean absolute error of a total; NaN before the first trial."""
        numbers = len(self._people) * self.trials
        return self.sizes / numbers if numbers else math.nan

    def _take(self, levels: Levels, _index: int, /) -> None:
        totals = levels[self._place].totals()
        errors = np.abs(totals - self._people)
        self.published += totals
        self.sizes += int(errors.sum())
        self.largest = max(self.largest, int(errors.max(initial=0)))


class SharesFold(Fold):
    """The largest groups' shares of a level's units.

    Attributes:
        meeting: in how many trials each unit was within the tolerance.
    """

    def __init__(self, run: TopDownRun, level: str, query: MarginalQuery) -> None:
        truth = run.exact(level, query)
        super().__init__(truth.nbytes + 4 * 8 * len(truth))
        self._place, self._truth, self._query = run.place(level), truth, query
        self.meeting = MeetingCounts(truth.sum(axis=1), np.zeros(len(truth), np.int64), 0)
        self._errors = np.zeros(len(truth))
        self._compared = np.zeros(len(truth), np.int64)

    @property
    def mean_errors(self) -> NDArray[np.float64]:
        """Mean error of each unit's largest group, ``float64[units]`` in shares; NaN where truth or estimate was empty in every trial."""
        found: NDArray[np.float64] = np.divide(
            self._errors, self._compared, out=np.full(len(self._errors), np.nan), where=self._compared > 0
        )
        return found

    def _take(self, levels: Levels, _index: int, /) -> None:
        shares = group_shares(self._truth, answers(levels[self._place], self._query))
        self.meeting = self.meeting.with_trials(shares)
        comparable = shares.comparable[0]
        self._errors += np.where(comparable, shares.error[0], 0.0)
        self._compared += comparable


@dataclass(frozen=True, slots=True)
class TrialError:
    """The errors of one trial in three figures, people.

    Attributes:
        mean: with sign.
        size: mean of the sizes.
        square: root of the mean square.
    """

    mean: float
    size: float
    square: float


class ErrorsFold(Fold):
    """The errors of a query at a level, for units of one size or for one unit.

    Attributes:
        units: how many are of that size.
        errors: of all trials; None before the first, or where there are none.
        figures: by trial.
        off: sizes of the errors added up over answers and trials, ``int64[units]``; None where there are too many numbers.
    """

    def __init__(
        self, run: TopDownRun, level: str, query: MarginalQuery, size: str = ALL_SIZES, unit: int | None = None
    ) -> None:
        """Start without a trial.

        Args:
            run: the one looked at.
            level: of its tree.
            query: whose errors.
            size: label of a class of the units' true population, `ALL_SIZES` for all.
            unit: number of the only one, None for all of the size.
        """
        self._place, self._query, self._unit = run.place(level), query, unit
        self._truth = truth = self._wanted(run.truth[self._place])
        self._chosen = chosen = (
            None if size == ALL_SIZES else TENS.class_of(run.people(level)) == TENS.labels.index(size)
        )
        self.units = truth.units if chosen is None else int(chosen.sum())
        self._is_wide = truth.units * query.answers > MOST_NUMBERS
        self._exact = None if self._is_wide else self._answers(truth)
        super().__init__(0 if self._exact is None else self._exact.nbytes + 8 * self.units)
        self.off = None if self._exact is None else np.zeros(len(self._exact), np.int64)
        self.errors: ErrorDistribution | None = None
        self.figures: dict[int, TrialError] = {}

    @property
    def is_possible(self) -> bool:
        """Whether its numbers can be told apart by size: there are not too many of them, and some at all."""
        return self.units > 0 and not (self._is_wide and self._chosen is not None)

    def _wanted(self, histograms: Histograms) -> Histograms:
        return histograms if self._unit is None else histograms.part(self._unit, self._unit + 1)

    def _answers(self, histograms: Histograms) -> Integers:
        found = answers(histograms, self._query)
        return found if self._chosen is None else found[self._chosen]

    def _take(self, levels: Levels, index: int, /) -> None:
        if not self.is_possible:
            return
        estimate = self._wanted(levels[self._place])
        if self._exact is None or self.off is None:
            found = sparse_distribution(self._truth, estimate, self._query)
        else:
            errors = self._answers(estimate) - self._exact
            self.off += np.abs(errors).sum(axis=1)
            found = distribution_of(errors)
        self.errors = found if self.errors is None else merge((self.errors, found))
        self.figures[index] = TrialError(found.mean, found.mean_absolute, found.root_mean_square)


class AreaErrorsFold(ErrorsFold):
    """The errors of a query in areas that need not follow the tree, such as towns; none where there are too many numbers of blocks."""

    def __init__(self, run: TopDownRun, area: str, query: MarginalQuery) -> None:
        """Start without a trial.

        Args:
            run: the one looked at.
            area: class of its areas.
            query: whose errors.
        """
        self._area = run.areas[area]
        super().__init__(run, run.levels[-1], query)
        self.units = 0 if self._exact is None else len(self._exact)

    def _answers(self, histograms: Histograms) -> Integers:
        return self._area.sums(super()._answers(histograms))


class BiasFold(Fold):
    """The errors of a query at a level by the true count."""

    def __init__(self, run: TopDownRun, level: str, query: MarginalQuery) -> None:
        truth = run.exact(level, query)
        super().__init__(truth.nbytes)
        self._place, self._truth, self._query = run.place(level), truth, query
        self._parts: list[BiasBySize] = []

    @property
    def bias(self) -> BiasBySize:
        """All trials together.

        Raises:
            ValueError: there is none yet.
        """
        return bias_together(self._parts)

    def _take(self, levels: Levels, _index: int, /) -> None:
        self._parts.append(bias_by_size(self._truth, answers(levels[self._place], self._query)))


class WorstFold(Fold):
    """The units of a level that are farthest off.

    Attributes:
        tally: of the trials.
    """

    def __init__(self, run: TopDownRun, level: str, query: MarginalQuery, by: WorstBy) -> None:
        truth = run.exact(level, query)
        super().__init__(4 * truth.nbytes)
        self._place, self._query = run.place(level), query
        self.tally = WorstTally(truth, by)

    def _take(self, levels: Levels, _index: int, /) -> None:
        self.tally.add(answers(levels[self._place], self._query))


class RowsFold(Fold):
    """Published numbers of one place, a row per trial."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self._rows: dict[int, Integers] = {}

    @property
    def published(self) -> Integers:
        """By trial in their order, ``int64[trials, width]``."""
        rows = [self._rows[index] for index in sorted(self._rows)]
        return np.stack(rows) if rows else np.empty((0, self._width), np.int64)


class AreaFold(RowsFold):
    """A query's published answers of one area that leaves make up."""

    def __init__(self, run: TopDownRun, kind: str, code: str, query: MarginalQuery) -> None:
        super().__init__(query.answers)
        self._leaves, self._query = run.areas[kind].leaves(code), query

    def _take(self, levels: Levels, index: int, /) -> None:
        self._rows[index] = answers(levels[-1].ordered(self._leaves), self._query).sum(axis=0)


class PlaceFold(RowsFold):
    """A query's published answers of one unit."""

    def __init__(self, run: TopDownRun, level: str, unit: int, query: MarginalQuery) -> None:
        super().__init__(query.answers)
        self._place, self._unit, self._query = run.place(level), unit, query

    def _take(self, levels: Levels, index: int, /) -> None:
        self._rows[index] = answers(levels[self._place].part(self._unit, self._unit + 1), self._query)[0]
