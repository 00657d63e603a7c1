"""Published counts from noisy ones: estimates and intervals that respect what is known, that a count is not below 0.

Observation Z ~ Normal(Y, V) with a flat prior on Y ≥ 0: the posterior is a truncated normal per basis cell, independent. The
published estimate is its mean rounded to whole people, of a sum the sum of rounded ones, so that tables add up; the 90 % interval
goes from the floor of the 5 % to the ceiling of the 95 % quantile, of a sum of the distribution of the sum (facts:
SDHC_Model_Based_Estimates 3.0.2.2; where its formulas underflow or divide by 0, the ones here do not).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from phexplore.accuracy.truncated_normal import Floats, draws_between, mean_above_zero, quantile_above_zero
from phexplore.catalog.tables import production_tables

Integers = NDArray[np.int64]

ALPHA = 0.05
"""Probability outside the interval on either side."""

DRAWS = 100_000
"""Draws of a sum that is not nearly normal: the standard error of its 5 % quantile is below 0.007 standard deviations."""

FAR = 6.0
"""A cell that lies this many standard deviations above 0 is normal: what is cut off is below 1e-9."""


@lru_cache(maxsize=1)
def count_tables() -> Mapping[str, Mapping[int, tuple[int, ...]]]:
    """Return which basis cells the sums of the published count tables add, by table and cell; the whole comes last.

    Numerators and denominators of averages (``PH1_num``) are published as averages alone.
    """
    sums = {
        product.id: {cell.code: cell.sum_of for cell in product.cells if cell.sum_of}
        for product in production_tables().values()
    }
    return MappingProxyType(
        {
            name: dict(sorted(found.items(), key=lambda each: (each[0] == 1, each[0])))
            for name, found in sums.items()
            if found and "_" not in name
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCounts:
    """Estimates of some cells in some groups (regions and iterations).

    Attributes:
        cells: codes, basis cells and sums.
        noisy: ``int64[groups, cells]``, as measured; sums added.
        variance: ``float64[groups, cells]``.
        estimate: ``int64[groups, cells]``, at least 0; sums are exact sums.
        low: ``int64[groups, cells]``, floor of the 5 % quantile.
        high: ``int64[groups, cells]``, ceiling of the 95 % quantile.
    """

    cells: tuple[int, ...]
    noisy: Integers
    variance: Floats
    estimate: Integers
    low: Integers
    high: Integers

    def column(self, cell: int) -> int:
        """Return the place of a cell."""
        return self.cells.index(cell)


def publish_counts(
    table: str, cells: Sequence[int], noisy: Integers, variance: Floats, seed: int, draws: int = DRAWS
) -> PublishedCounts:
    """Return estimates and intervals of a count table.

    Args:
        table: ``PH2``, ``PH3``, ``PH4``, ``PH6`` or ``PH7``.
        cells: codes of the basis cells, the columns of the arrays.
        noisy: ``int64[groups, cells]``.
        variance: ``float64[groups, cells]``, 0 where nothing was added.
        seed: of the draws for sums that are not nearly normal.
        draws: how many.

    Raises:
        KeyError: no such table, or a basis cell is missing.
        ValueError: the shapes do not fit, or a variance is negative.
    """
    if noisy.shape != variance.shape or noisy.shape[1] != len(cells):
        raise ValueError(f"{len(cells)} cells need arrays of that many columns, got {noisy.shape} and {variance.shape}")
    if (variance < 0).any():
        raise ValueError(f"variances are 0 or more, smallest is {variance.min()}")
    place = {cell: number for number, cell in enumerate(cells)}
    centre = noisy.astype(np.float64)
    # Half to even, as the reference rounds.
    estimate = np.rint(mean_above_zero(centre, variance)).astype(np.int64)
    low, high = _outward(quantile_above_zero(ALPHA, centre, variance), quantile_above_zero(1 - ALPHA, centre, variance))
    columns = [(noisy, variance, estimate, low, high)]
    sums = count_tables()[table]
    random = np.random.default_rng(seed)
    for parts in sums.values():
        chosen = [place[part] for part in parts]
        ends = _sum_quantiles(centre[:, chosen], variance[:, chosen], random, draws)
        columns.append(
            (
                noisy[:, chosen].sum(axis=1, keepdims=True),
                variance[:, chosen].sum(axis=1, keepdims=True),
                estimate[:, chosen].sum(axis=1, keepdims=True),
                *_outward(*ends),
            )
        )
    joined = [np.concatenate(each, axis=1) for each in zip(*columns, strict=True)]
    return PublishedCounts((*cells, *sums), *joined)


def _outward(low: Floats, high: Floats) -> tuple[Integers, Integers]:
    return np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)


def _sum_quantiles(centre: Floats, variance: Floats, random: np.random.Generator, draws: int) -> tuple[Floats, Floats]:
    """Return the quantiles of sums of independent cells, ``float64[groups, 1]`` each."""
    total, spread = centre.sum(axis=1), np.sqrt(variance.sum(axis=1))
    z = float(ndtri(1 - ALPHA))
    low, high = total - z * spread, total + z * spread
    near = (centre < FAR * np.sqrt(variance)).any(axis=1) | ((variance == 0) & (centre < 0)).any(axis=1)
    for group in np.flatnonzero(near).tolist():
        drawn = np.zeros(draws)
        for mean, square in zip(centre[group].tolist(), variance[group].tolist(), strict=True):
            if square == 0:
                drawn += max(mean, 0.0)
                continue
            uniform = random.random(draws)
            drawn += draws_between(
                uniform, np.float64(mean), np.float64(square**0.5), np.float64(0), np.float64(np.inf)
            )
        low[group], high[group] = np.quantile(drawn, (ALPHA, 1 - ALPHA))
    return low[:, None], high[:, None]
