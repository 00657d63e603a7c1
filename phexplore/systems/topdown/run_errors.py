"""Error figures of a query at a level from the few numbers that are not 0, exactly as from the full table.

Most answers of small units are 0 in truth and estimate. They change no sum, so figures are computed over the others and the
means brought to all numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.distribution import ErrorDistribution, distribution_of, merge
from phexplore.metrics.topdown.figures import ErrorFigures, error_figures
from phexplore.metrics.topdown.size_classes import SizeClasses
from phexplore.simulate.topdown import kernels
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.workload.queries import MarginalQuery

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """True and estimated answers of all units, those that are 0 in both left out.

    Attributes:
        unit: of each pair, ascending.
        truth: ``int64[pairs]``.
        estimate: the same.
        units: how many there are.
        numbers: answers in all, the zeros included.
    """

    unit: Integers
    truth: Integers
    estimate: Integers
    units: int
    numbers: int

    @property
    def errors(self) -> Integers:
        """Estimate − truth, ``int64[pairs]``."""
        return self.estimate - self.truth


def answers_of(histograms: Histograms, query: MarginalQuery) -> Histograms:
    """Return the answers of a query that are above 0, in the shape of histograms.

    Args:
        histograms: of the units.
        query: which answers.
    """
    found, sums = np.empty_like(histograms.cells), np.empty_like(histograms.counts)
    starts = kernels.collect_answers(
        histograms.starts, histograms.cells, histograms.counts, query.cell_map(), query.answers, found, sums
    )
    return Histograms(starts, found[: starts[-1]], sums[: starts[-1]])


def paired(truth: Histograms, estimate: Histograms, query: MarginalQuery) -> Pairs:
    """Return true and estimated answers.

    Args:
        truth: answers, as `answers_of` returns them.
        estimate: the same.
        query: whose answers they are.
    """
    pairs = np.empty((3, len(truth.cells) + len(estimate.cells)), np.int64)
    end = kernels.pair_up(
        truth.starts, truth.cells, truth.counts, estimate.starts, estimate.cells, estimate.counts, pairs
    )
    unit, one, other = pairs[:, :end]
    return Pairs(unit, one, other, truth.units, truth.units * query.answers)


def distribution(pairs: Pairs) -> ErrorDistribution:
    """Return the distribution of all errors."""
    zeros = pairs.numbers - len(pairs.unit)
    rest = ErrorDistribution(np.zeros(1, np.int64), np.array([zeros], np.int64))
    return merge([distribution_of(pairs.errors), rest] if zeros else [distribution_of(pairs.errors)])


def figures(pairs: Pairs) -> ErrorFigures:
    """Return all figures of one trial."""
    return brought_to(error_figures(pairs.truth, pairs.estimate), pairs.numbers)


def figures_by_size(pairs: Pairs, classes: SizeClasses) -> Mapping[str, ErrorFigures]:
    """Return the figures by size of the true answer, classes with numbers only, smallest first.

    Args:
        pairs: true and estimated answers.
        classes: of true answers.
    """
    found = classes.class_of(pairs.truth)
    zeros = pairs.numbers - int(np.count_nonzero(pairs.truth))
    result = {}
    for index, label in enumerate(classes.labels):
        chosen = found == index
        numbers = int(np.count_nonzero(chosen))
        if index == 0:
            numbers += zeros - int(np.count_nonzero(pairs.truth[chosen] == 0))
        if numbers:
            result[label] = brought_to(error_figures(pairs.truth[chosen], pairs.estimate[chosen]), numbers)
    return result


def brought_to(part: ErrorFigures, numbers: int) -> ErrorFigures:
    """Return figures over more numbers, of which the further ones are 0 in truth and estimate.

    Sums stay; means are over more. CV is 100 RMSE / mean truth, so it grows by √(numbers / part): RMSE shrinks by the root of what the
    mean truth shrinks by.

    Args:
        part: figures over some numbers.
        numbers: of how many they are to be.
    """
    if part.numbers == numbers:
        return part
    if not part.numbers:
        zero = np.zeros(len(part.me))
        return replace(
            part, numbers=numbers, me=zero, mae=zero, rmse=zero, malpe=zero, mape=zero, cv=np.full(len(zero), np.nan)
        )
    share = part.numbers / numbers
    return replace(
        part,
        numbers=numbers,
        me=part.me * share,
        mae=part.mae * share,
        rmse=part.rmse * np.sqrt(share),
        malpe=part.malpe * share,
        mape=part.mape * share,
        cv=part.cv / np.sqrt(share),
    )


def one_minus_tvd(pairs: Pairs) -> float:
    """Return 1 − Σ|error| / (2 × true total); NaN where the truth is empty."""
    total = int(pairs.truth.sum())
    return 1.0 - int(np.abs(pairs.errors).sum()) / (2.0 * total) if total else float("nan")


def mean_largest(pairs: Pairs) -> float:
    """Return the mean over units of the largest |error| of an answer, people; NaN without units."""
    if not pairs.units:
        return float("nan")
    largest = np.zeros(pairs.units, np.int64)
    np.maximum.at(largest, pairs.unit, np.abs(pairs.errors))
    return float(largest.sum() / pairs.units)
