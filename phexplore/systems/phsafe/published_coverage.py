"""How often published intervals hold the truth, by how far the truth lies from what is known: near a limit they cannot hold 90 %.

The interval of a count is the middle 90 % of a normal cut at 0 (flat prior on counts from 0 on). Averaged over counts it holds
90 %; count by count it does not. A true 0 is held only while the 5 % quantile is below 1, which is less often the larger the
noise; a count well above the noise is held as by any normal interval. How far a number is from its limits is its room, in
standard deviations of the noise: of a count, its distance from 0; of a sum, that of its smallest part, because every part is
cut by itself; of an average, the smallest slack of the conditions that its counts are known to meet (no count below 0, at
least k and at most T people per household).

Args:
    results: of the run.
    trial: zero-based.
    published: tables of one or more trials.
    truth: exact numbers.
    room: of the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.published_counts import count_tables
from phexplore.files.spreadsheet import csv_bytes
from phexplore.metrics.coverage import Coverage, coverage_of
from phexplore.systems.phsafe.published_ratios import LARGEST_AVERAGE
from phexplore.systems.phsafe.publishing import AGE_RATIOS, Group, PublishedTable, ReleaseNumbers
from phexplore.systems.phsafe.results import RunResults

Floats = NDArray[np.float64]
Place = tuple[str, Group, int]
"""Published table, group, cell."""

ROOMS = (0.0, 1.0, 3.0, 6.0, math.inf)
"""Classes of rooms, in standard deviations: below 1, 1 to 3, 3 to 6, from 6 on."""


@dataclass(frozen=True, slots=True)
class RoomCoverage:
    """Coverage of one table in one class of rooms.

    Attributes:
        table: published name.
        low: of the class, standard deviations; included.
        high: excluded; infinite for the last.
        coverage: of its intervals.
    """

    table: str
    low: float
    high: float
    coverage: Coverage

    @property
    def title(self) -> str:
        """The class in words."""
        if math.isinf(self.high):
            return f"from {self.low:g} σ on"
        return f"below {self.high:g} σ" if self.low == 0 else f"{self.low:g} to {self.high:g} σ"


def rooms_of(results: RunResults, trial: int) -> dict[Place, float]:
    """Return the room of every published number of a run, by its exact truncated counts.

    Raises:
        RunUnreadableError: the truth or the trial cannot be read.
    """
    _, variance = results.noise_columns(trial)
    return rooms(ReleaseNumbers(results.keys, results.truth().truncated, np.asarray(variance, np.float64)))


def rooms(numbers: ReleaseNumbers) -> dict[Place, float]:
    """Return the room of every published number; infinite where nothing was added."""
    found: dict[Place, float] = {}
    for table, sums in count_tables().items():
        groups, cells = numbers.groups(table), numbers.cells(table)
        if groups:
            counts, variance = numbers.arrays(table, groups, cells)
            parts = _slack(counts.astype(np.float64), variance)
            for row, group in enumerate(groups):
                values = dict(zip(cells, parts[row].tolist(), strict=True))
                values |= {cell: min(values[part] for part in added) for cell, added in sums.items()}
                found |= {(table, group, cell): value for cell, value in values.items()}
    for table, (numerator, denominator, least) in AGE_RATIOS.items():
        groups = numbers.shared(numerator, denominator)
        if groups:
            those, v_parts = numbers.arrays(numerator, groups, (2, 3))
            below, v_below = numbers.arrays(denominator, groups, (1,))
            smallest = np.minimum(
                _slack(those.astype(np.float64), v_parts).min(axis=1),
                _ratio_slack(those.sum(axis=1), v_parts.sum(axis=1), below[:, 0], v_below[:, 0], least),
            )
            found |= {(table, g, cell): value for g, value in zip(groups, smallest.tolist(), strict=True)
                      for cell in (1, 2, 3)}  # fmt: skip
    groups = numbers.shared("PH8_num", "PH8_denom")
    if groups:
        above, v_above = numbers.arrays("PH8_num", groups, (2, 3))
        below, v_below = numbers.arrays("PH8_denom", groups, (2, 3))
        for place, cell in enumerate((2, 3)):
            slack = _ratio_slack(above[:, place], v_above[:, place], below[:, place], v_below[:, place], 1)
            found |= {("PH8", g, cell): value for g, value in zip(groups, slack.tolist(), strict=True)}
        whole = _ratio_slack(above.sum(axis=1), v_above.sum(axis=1), below.sum(axis=1), v_below.sum(axis=1), 1)
        found |= {("PH8", g, 1): value for g, value in zip(groups, whole.tolist(), strict=True)}
    return found


def _slack(value: Floats, variance: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, value / np.sqrt(variance), np.inf)


def _ratio_slack(
    above: NDArray[np.int64], v_above: Floats, homes: NDArray[np.int64], v_homes: Floats, least: int
) -> Floats:
    """Return the smallest slack of: at least one household, at least k and at most T people in each."""
    most = LARGEST_AVERAGE
    found = [
        _slack((homes - 1).astype(np.float64), v_homes),
        _slack((above - least * homes).astype(np.float64), v_above + least**2 * v_homes),
        _slack((most * homes - above).astype(np.float64), v_above + most**2 * v_homes),
    ]
    return np.asarray(np.minimum.reduce(found))


def coverage_by_room(
    published: Sequence[PublishedTable], truth: Mapping[Place, float], room: Mapping[Place, float]
) -> tuple[RoomCoverage, ...]:
    """Return how often intervals hold the truth, by table and class of rooms; classes without numbers are left out.

    Args:
        published: tables of one or more trials.
        truth: exact numbers; those without one are not counted.
        room: of the same numbers.
    """
    tally: dict[tuple[str, int], list[int]] = {}
    for _, place, _, _, low, high, true in _numbers(published, truth):
        number = max(0, int(np.searchsorted(ROOMS, room.get(place, math.inf), side="right")) - 1)
        counted = tally.setdefault((place[0], min(number, len(ROOMS) - 2)), [0, 0])
        counted[0] += int(low <= true <= high)
        counted[1] += 1
    return tuple(
        RoomCoverage(table, ROOMS[number], ROOMS[number + 1], coverage_of(*tally[table, number]))
        for table, number in sorted(tally)
    )


def _numbers(
    published: Sequence[PublishedTable], truth: Mapping[Place, float]
) -> Iterator[tuple[PublishedTable, Place, float, float, float, float, float]]:
    """Yield table, place, noisy, estimate, low, high and truth of every number whose truth is known."""
    for table in published:
        for row, group in enumerate(table.groups):
            for column, cell in enumerate(table.cells):
                place = (table.table, group, cell)
                true = truth.get(place, math.nan)
                if not math.isnan(true):
                    at = row, column
                    yield (
                        table, place, float(table.noisy[at]), float(table.estimate[at]), float(table.low[at]),
                        float(table.high[at]), true,
                    )  # fmt: skip


COMPARISON_COLUMNS = ("TABLE", "REGION_TYPE", "REGION_ID", "ITERATION_CODE", "DATA_CELL", "NOISY", "PRED", "PRED_LO",
                      "PRED_HI", "TRUTH", "ROOM")  # fmt: skip


def comparison_file(
    published: Sequence[PublishedTable], truth: Mapping[Place, float], room: Mapping[Place, float]
) -> bytes:
    """Return every number noisy, published and true as one file, ``|`` between cells; of simulated data only."""
    rows = (
        [name, *group, cell, *map(repr, values), repr(room.get((name, group, cell), math.inf))]
        for _, (name, group, cell), *values in _numbers(published, truth)
    )
    return csv_bytes([COMPARISON_COLUMNS, *rows], delimiter="|", lineterminator="\n")
