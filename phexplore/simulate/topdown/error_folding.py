"""Error figures of a run, folded while it estimates: how often each pair of a true and an estimated answer occurs.

Every figure of a query at a level follows from these pairs and their numbers, which are whole: parts of a level (states) add up to
exactly what the level as a whole gives, in any order. Most answers of small units are 0 in truth and estimate, and counted without
being listed.

Source of the figures: topdown, section 11, and the detailed summary metrics of 2023-04-03.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.distribution import ErrorDistribution, merge
from phexplore.metrics.topdown.figures import ErrorFigures, error_figures
from phexplore.metrics.topdown.redistricting import LEAST_PEOPLE, GroupShares, group_shares
from phexplore.metrics.topdown.reliability import MeetingSizes, meeting_sizes, sizes_together
from phexplore.metrics.topdown.size_classes import SizeClasses
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.workload.queries import MarginalQuery

Integers = NDArray[np.int64]

_SMALL = 1 << 7
"""Pairs of numbers below this are counted in a table, which stays in the cache; the others are sorted."""
_PACKED = 1 << 31
"""Numbers below this are sorted two in one."""
_UNITS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class QueryErrors:
    """How one query's estimates at one level go with the truth, in one trial.

    Attributes:
        truth: ``int64[pairs]``; with `estimate` ascending, each pair once.
        estimate: the same.
        counts: how often each pair occurs, ``int64[pairs]``.
        units: of the level.
        largest: sum over the units of the largest |error| of an answer, people.
    """

    truth: Integers
    estimate: Integers
    counts: Integers
    units: int
    largest: int

    @property
    def numbers(self) -> int:
        """Answers in all."""
        return int(self.counts.sum())

    @property
    def figures(self) -> ErrorFigures:
        """All figures."""
        return error_figures(self.truth, self.estimate, self.counts)

    def figures_by_size(self, classes: SizeClasses) -> Mapping[str, ErrorFigures]:
        """Return the figures by size of the true answer, classes with numbers only, smallest first."""
        found = classes.class_of(self.truth)
        return {
            classes.labels[index]: error_figures(
                self.truth[found == index], self.estimate[found == index], self.counts[found == index]
            )
            for index in np.unique(found).tolist()
        }

    @property
    def distribution(self) -> ErrorDistribution:
        """The distribution of all errors."""
        return merge([ErrorDistribution(self.estimate - self.truth, self.counts)])

    @property
    def one_minus_tvd(self) -> float:
        """1 − Σ|error| / (2 × true total); NaN where the truth is empty."""
        total = int(self.truth @ self.counts)
        return 1.0 - int(np.abs(self.estimate - self.truth) @ self.counts) / (2.0 * total) if total else float("nan")

    @property
    def mean_largest(self) -> float:
        """The mean over units of the largest |error| of an answer, people; NaN without units."""
        return self.largest / self.units if self.units else float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class ShareErrors:
    """How the largest groups' shares go with the truth at one level, in one trial.

    Attributes:
        large: the units of at least `LEAST_PEOPLE` people, in the order of their codes.
        sizes: units and those within the tolerance, by true population.
    """

    large: GroupShares
    sizes: MeetingSizes


@dataclass(frozen=True, slots=True, eq=False)
class LevelErrors:
    """The errors of one level in one trial.

    Attributes:
        queries: in the order they were asked for.
        shares: of the groups of redistricting; None where the schema has none.
        units: how many there are.
        broken: units whose total is not the true one.
    """

    queries: tuple[QueryErrors, ...]
    shares: ShareErrors | None
    units: int
    broken: int


def level_errors(
    truth: Histograms, estimate: Histograms, queries: Sequence[MarginalQuery], groups: MarginalQuery | None
) -> LevelErrors:
    """Return the errors of one level.

    Args:
        truth: exact histograms of its units.
        estimate: published ones.
        queries: whose errors.
        groups: the query whose answers are the groups of redistricting, None for none.
    """
    found = tuple(query_errors(truth, estimate, query) for query in queries)
    shares = None if groups is None else _share_errors(truth, estimate, groups)
    broken = int(np.count_nonzero(truth.totals() != estimate.totals()))
    return LevelErrors(found, shares, truth.units, broken)


def query_errors(truth: Histograms, estimate: Histograms, query: MarginalQuery) -> QueryErrors:
    """Return the errors of one query.

    Args:
        truth: exact histograms of a level's units.
        estimate: published ones.
        query: whose errors.
    """
    from phexplore.simulate.topdown import kernels  # noqa: PLC0415 - numba takes half a second to load

    table = np.zeros((_SMALL, _SMALL), np.int64)
    rest = np.empty((2, len(truth.cells) + len(estimate.cells)), np.int64)
    end, largest = kernels.count_pairs(
        (truth.starts, truth.cells, truth.counts),
        (estimate.starts, estimate.cells, estimate.counts),
        query.cell_map(),
        query.answers,
        table,
        rest,
    )
    one, other = np.nonzero(table)
    pairs = _counted(
        np.concatenate([one, rest[0, :end]]),
        np.concatenate([other, rest[1, :end]]),
        np.concatenate([table[one, other], np.ones(end, np.int64)]),
    )
    return QueryErrors(*pairs, truth.units, largest)


def _counted(truth: Integers, estimate: Integers, counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Return each pair once, ascending, with the sum of its counts."""
    if not len(truth):
        return truth, estimate, counts
    if max(int(truth.max()), int(estimate.max())) < _PACKED:
        order = np.argsort(truth * _PACKED + estimate, kind="stable")
    else:
        order = np.lexsort((estimate, truth))
    truth, estimate, counts = truth[order], estimate[order], counts[order]
    new = np.concatenate([[True], (truth[1:] != truth[:-1]) | (estimate[1:] != estimate[:-1])])
    first = np.flatnonzero(new)
    return truth[first], estimate[first], np.add.reduceat(counts, first)


def _share_errors(truth: Histograms, estimate: Histograms, groups: MarginalQuery) -> ShareErrors:
    large, sizes = [], []
    answer_of = groups.cell_map()
    for first in range(0, max(1, truth.units), _UNITS_AT_ONCE):
        last = min(first + _UNITS_AT_ONCE, truth.units)
        exact, published = (each.part(first, last).answers(answer_of, groups.answers) for each in (truth, estimate))
        shares = group_shares(exact, published)
        large.append(shares.chosen(shares.people >= LEAST_PEOPLE))
        sizes.append(meeting_sizes(shares))
    return ShareErrors(units_together(large), sizes_together(sizes))


def units_together(parts: Sequence[GroupShares]) -> GroupShares:
    """Return the shares of several sets of units of the same trials as one."""
    return GroupShares(
        np.concatenate([part.group for part in parts], axis=1),
        np.concatenate([part.error for part in parts], axis=1),
        np.concatenate([part.comparable for part in parts], axis=1),
        np.concatenate([part.meets for part in parts], axis=1),
        np.concatenate([part.people for part in parts]),
    )


def errors_together(parts: Sequence[LevelErrors]) -> LevelErrors:
    """Return the errors of several parts of a level (states, in the order of their codes) as one."""
    shares = [part.shares for part in parts if part.shares is not None]
    return LevelErrors(
        tuple(_pairs_together(queries) for queries in zip(*(part.queries for part in parts), strict=True)),
        ShareErrors(units_together([each.large for each in shares]), sizes_together([each.sizes for each in shares]))
        if shares
        else None,
        sum(part.units for part in parts),
        sum(part.broken for part in parts),
    )


def _pairs_together(parts: Sequence[QueryErrors]) -> QueryErrors:
    joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("truth", "estimate", "counts"))
    return QueryErrors(*_counted(*joined), sum(part.units for part in parts), sum(part.largest for part in parts))
