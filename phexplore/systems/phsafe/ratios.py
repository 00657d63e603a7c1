"""Margins of the published averages: a noisy numerator over a noisy denominator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from phexplore.accuracy.margins import normal_factor
from phexplore.catalog.expected_counts import RATIO_CELLS, ExpectedCounts, expected_counts
from phexplore.errors import PhexploreError
from phexplore.model.keys import LEVELS, PopulationGroupLevel, QueryKey, TableId
from phexplore.systems.phsafe.forecast import Forecast

SAFE_SIGMAS = 3.0
"""A denominator closer than this many standard deviations to 0 makes the interval unreliable."""


@dataclass(frozen=True, slots=True)
class RatioMargin:
    """The interval of a ratio at one confidence.

    Attributes:
        ratio: expected numerator over expected denominator.
        low: lower end of Fieller's interval, -inf when it is unbounded.
        high: upper end, +inf when it is unbounded.
        margin: half the width, inf when unbounded.
        reliable: False when the denominator lies within 3 σ of 0.
    """

    ratio: float
    low: float
    high: float
    margin: float
    reliable: bool


def fieller(
    numerator: float, denominator: float, numerator_variance: float, denominator_variance: float, z: float
) -> RatioMargin:
    """Return Fieller's interval of numerator/denominator for independent normal errors (Fieller 1954).

    Args:
        numerator: expected count.
        denominator: expected count, not 0.
        numerator_variance: of the noise in the numerator, people².
        denominator_variance: of the noise in the denominator, households².
        z: normal factor of the confidence.

    Raises:
        PhexploreError: the expected denominator is 0.
    """
    if denominator == 0:
        raise PhexploreError("The expected denominator is 0; the average is undefined.", "Give a positive count.")
    ratio = numerator / denominator
    reliable = abs(denominator) > SAFE_SIGMAS * math.sqrt(denominator_variance)
    g = z * z * denominator_variance / denominator**2
    if g >= 1:
        return RatioMargin(ratio, -math.inf, math.inf, math.inf, reliable=False)
    spread = numerator_variance * (1 - g) + ratio**2 * denominator_variance
    half = z / (abs(denominator) * (1 - g)) * math.sqrt(max(0.0, spread))
    centre = ratio / (1 - g)
    return RatioMargin(ratio, centre - half, centre + half, half, reliable)


@dataclass(frozen=True, slots=True)
class RatioForecast:
    """The margin of one published average.

    Attributes:
        table: ``PH1``, ``PH5`` or ``PH8``.
        level: population-group level.
        cell: data-cell code.
        label: what it is the average of.
        numerator: expected people.
        denominator: expected households or families.
        counts_of: where the expected counts come from, in words.
        interval: Fieller's interval for them.
    """

    table: str
    level: PopulationGroupLevel
    cell: int
    label: str
    numerator: float
    denominator: float
    counts_of: str
    interval: RatioMargin


def ratio_forecasts(
    figures: Forecast,
    counts: Mapping[tuple[str, int, PopulationGroupLevel], ExpectedCounts] | None = None,
) -> tuple[RatioForecast, ...]:
    """Return the margins of all averages whose numerator and denominator are published.

    Args:
        figures: forecast of the scenario.
        counts: expected counts by (average, cell, level); the shipped typical counts when None.
    """
    known = expected_counts() if counts is None else counts
    z = float(normal_factor(figures.conventions.confidence, figures.conventions.z))
    by_query = {entry.query: entry for entry in figures.queries}
    found = []
    for cell in RATIO_CELLS:
        for level in LEVELS:
            expected = known.get((cell.table, cell.cell, level))
            above = by_query.get(QueryKey(TableId(cell.numerator[0]), level))
            below = by_query.get(QueryKey(TableId(cell.denominator[0]), level))
            if expected is None or above is None or below is None or above.noise is None or below.noise is None:
                continue
            interval = fieller(
                expected.numerator,
                expected.denominator,
                len(cell.numerator[1]) * above.noise.variance(),
                len(cell.denominator[1]) * below.noise.variance(),
                z,
            )
            found.append(
                RatioForecast(
                    cell.table,
                    level,
                    cell.cell,
                    cell.label,
                    expected.numerator,
                    expected.denominator,
                    expected.of,
                    interval,
                )
            )
    return tuple(found)
