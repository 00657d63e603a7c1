"""Partitions of cells: which answer of one query an answer of a finer one belongs to, evaluated where it is asked for only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from phexplore.simulate.topdown.histograms import Histograms
from phexplore.workload.queries import OMITTED, MarginalQuery, detailed_query
from phexplore.workload.schema import Schema

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """The way from the answers of a fine query to those of a coarse one.

    Attributes:
        strides: per factor of the fine query, how far its levels lie apart.
        tables: per factor, ``int64[levels]``: what a level adds to the coarse answer; far below 0 where it is left out.
    """

    strides: tuple[int, ...]
    tables: tuple[Ints, ...]

    def __call__(self, answers: NDArray[np.integer]) -> Ints:
        """Return the coarse answer of each fine one, ``int64[n]``, -1 where it is left out."""
        found = np.zeros(len(answers), np.int64)
        for stride, table in zip(self.strides, self.tables, strict=True):
            found += table[(answers // stride) % len(table)]
        return np.maximum(found, OMITTED)


_LEFT_OUT = -(1 << 40)


@lru_cache(maxsize=256)
def projection(fine: MarginalQuery, coarse: MarginalQuery) -> Projection:
    """Return the way between two queries of a schema.

    Args:
        fine: determines the other.
        coarse: a query.

    Raises:
        ValueError: the fine query does not determine the coarse one.
    """
    if not fine.determines(coarse):
        raise ValueError(f"{fine.name} does not determine {coarse.name}")
    stride_of = dict(zip(coarse.factors, _strides(coarse.shape), strict=True))
    attribute_of = {getattr(factor, "attribute", factor.name): stride_of[factor] for factor in coarse.factors}
    tables = []
    for factor in fine.factors:
        name = getattr(factor, "attribute", factor.name)
        mine, theirs = fine.axis_map(name), coarse.axis_map(name)
        table = np.zeros(len(factor.labels), np.int64)
        if mine is not None and theirs is not None:
            kept = mine != OMITTED
            answer = theirs[kept].astype(np.int64)
            table[mine[kept]] = np.where(answer == OMITTED, np.int64(_LEFT_OUT), answer * attribute_of[name])
        tables.append(table)
    return Projection(_strides(fine.shape), tuple(tables))


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes = np.cumprod([1, *shape[:0:-1]])[::-1]
    return tuple(int(size) for size in sizes[: len(shape)])


def of_cells(schema: Schema, query: MarginalQuery) -> Projection:
    """Return the way from cells to the answers of a query.

    Args:
        schema: of the cells.
        query: of that schema.
    """
    return projection(detailed_query(schema), query)


def answered(histograms: Histograms, way: Projection) -> Histograms:
    """Return the answers of a query above 0, in the shape of histograms.

    Args:
        histograms: of units.
        way: from their cells to the query.
    """
    units = np.repeat(np.arange(histograms.units, dtype=np.int64), np.diff(histograms.starts))
    return gathered(histograms.units, units, way(histograms.cells), histograms.counts)


def gathered(units: int, unit: Ints, answer: Ints, counts: Ints) -> Histograms:
    """Return histograms of entries in any order: equal ones are added, answers below 0 left out.

    Args:
        units: how many.
        unit: ``unit[n]``.
        answer: ``answer[n]``.
        counts: ``counts[n]``, 0 or more.
    """
    kept = (answer >= 0) & (counts > 0)
    width = int(answer.max(initial=0)) + 1
    keys, place = np.unique(unit[kept] * width + answer[kept], return_inverse=True)
    sums = np.zeros(len(keys), np.int64)
    np.add.at(sums, place, counts[kept])
    starts = np.searchsorted(keys, np.arange(units + 1, dtype=np.int64) * width)
    return Histograms(starts.astype(np.int64), (keys % width).astype(np.int32), sums)


@lru_cache(maxsize=32)
def possible_answers(query: MarginalQuery, zeros: tuple[str, ...]) -> Ints:
    """Return the answers of a query in which somebody can be, ascending.

    Args:
        query: of a schema.
        zeros: names of its structural zeros that are kept.
    """
    free = np.flatnonzero(~query.schema.structurally_empty(zeros))
    is_possible = np.zeros(query.answers, bool)
    answers = of_cells(query.schema, query)(free)
    is_possible[answers[answers >= 0]] = True
    return np.flatnonzero(is_possible)
