"""What would be published of a simulated release: estimates and intervals, beside the noisy numbers and the truth.

Args:
    keys: of the numbers.
    counts: noisy, ``int64[numbers]``.
    variance: of the noise, ``float64[numbers]``.
    seed: of the draws.
    draws: per average; ten times as many per sum.
    numerator: table of the people.
    denominator: table of the households.
    table: id.
    groups: region type, region id and iteration code of each row.
    cells: data-cell codes of the columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from phexplore.accuracy.published_counts import ALPHA, count_tables, publish_counts
from phexplore.metrics.coverage import Coverage, coverage_of
from phexplore.metrics.numbers import NumberKeys
from phexplore.systems.phsafe.published_ratios import DRAWS, PublishedRatios, publish_age_ratios, publish_tenure_ratios
from phexplore.systems.phsafe.results import RunResults

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MARGIN_FACTOR = float(ndtri(1 - ALPHA))
"""z of MOE_NOISY: 1.6448536 (the post-processing uses this one, not 1.645)."""

SEED = 777
"""The seed of the production run, and the default here."""

AGE_RATIOS: Mapping[str, tuple[str, str, int]] = MappingProxyType({
    "PH1": ("PH1_num", "PH1_denom", 1),
    "PH5": ("PH5_num", "PH5_denom", 2),
})  # fmt: skip
"""Numerator, denominator, and the people every household or family has."""

_COUNT_COLUMNS = ("GEOID", "REGION_TYPE", "ITERATION_CODE", "DATA_CELL", "COUNT_NOISY", "VARIANCE", "MOE_NOISY", "PRED",
                  "PRED_LO", "PRED_HI")  # fmt: skip
_AGE_COLUMNS = ("GEOID", "REGION_TYPE", "ITERATION_CODE", "DATA_CELL", "COUNT_NOISY_NUM", "VARIANCE_NUM", "MOE_NOISY_NUM",
                "COUNT_NOISY_DENOM", "VARIANCE_DENOM", "MOE_NOISY_DENOM", "RATIO_NOISY", "RATIO_PRED", "PRED_NUM",
                "PRED_DENOM", "RATIO_PRED_LO", "RATIO_PRED_HI")  # fmt: skip
_TENURE_COLUMNS = ("GEOID", "REGION_TYPE", "ITERATION_CODE", "DATA_CELL", "COUNT_NOISY_DENOM", "VARIANCE_DENOM",
                   "MOE_NOISY_DENOM", "COUNT_NOISY_NUM", "VARIANCE_NUM", "MOE_NOISY_NUM", "RATIO_NOISY", "RATIO_PRED",
                   "RATIO_PRED_LO", "RATIO_PRED_HI")  # fmt: skip

Group = tuple[str, str, str]
"""Region type, region id, iteration code."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """One table of one trial as it would be published.

    Attributes:
        table: ``PH1`` … ``PH8``.
        groups: rows.
        cells: columns.
        noisy: ``float64[groups, cells]``: counts or ratios as measured.
        estimate: published.
        low: lower end of the 90 % interval.
        high: upper end.
        numerator: noisy counts of a ratio with variance, None for counts.
        denominator: the same.
        variance: of noisy counts, None for ratios.
        means: posterior means of numerator and denominator of PH1 and PH5, None else.
    """

    table: str
    groups: tuple[Group, ...]
    cells: tuple[int, ...]
    noisy: Floats
    estimate: Floats
    low: Floats
    high: Floats
    numerator: tuple[Floats, Floats] | None = None
    denominator: tuple[Floats, Floats] | None = None
    variance: Floats | None = None
    means: tuple[Floats, Floats] | None = None


class ReleaseNumbers:
    """Counts and variances of a release by table, group and cell."""

    def __init__(self, keys: NumberKeys, counts: Integers, variance: Floats) -> None:
        self.place: dict[str, dict[tuple[Group, int], int]] = {}
        columns = (keys.table, keys.region_type, keys.region_id, keys.iteration_code, keys.cell)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for number, (table, kind, region, code, cell) in enumerate(rows):
            self.place.setdefault(table, {})[(kind, region, code), cell] = number
        self.counts = counts
        self.variance = variance

    def groups(self, table: str) -> tuple[Group, ...]:
        """Return the groups of a table, in the order of the release."""
        return tuple(dict.fromkeys(group for group, _ in self.place.get(table, {})))

    def cells(self, table: str) -> tuple[int, ...]:
        """Return the cells of a table, ascending."""
        return tuple(sorted({cell for _, cell in self.place.get(table, {})}))

    def shared(self, numerator: str, denominator: str) -> tuple[Group, ...]:
        """Return the groups that have both tables, in the order of the numerator.

        Args:
            numerator: id of the first table.
            denominator: id of the second one.
        """
        below = set(self.groups(denominator))
        return tuple(group for group in self.groups(numerator) if group in below)

    def arrays(self, table: str, groups: Sequence[Group], cells: Sequence[int]) -> tuple[Integers, Floats]:
        """Return counts ``int64[groups, cells]`` and variances ``float64[groups, cells]``.

        Args:
            table: its id.
            groups: in the order of the rows.
            cells: in the order of the columns.
        """
        places = np.array([[self.place[table][group, cell] for cell in cells] for group in groups], np.int64)
        return self.counts[places], self.variance[places]


def publish_trial(results: RunResults, trial: int, seed: int = SEED, draws: int = DRAWS) -> tuple[PublishedTable, ...]:
    """Return every table of a trial as it would be published; tables that were not measured are left out.

    Args:
        results: of a PHSafe run.
        trial: zero-based.
        seed: of the draws.
        draws: per average; ten times as many per sum.

    Raises:
        RunUnreadableError: there is no such trial.
    """
    _, variance = results.noise_columns(trial)
    return publish(results.keys, results.released(trial), np.asarray(variance, np.float64), seed, draws)


def publish(
    keys: NumberKeys, counts: Integers, variance: Floats, seed: int = SEED, draws: int = DRAWS
) -> tuple[PublishedTable, ...]:
    """Return every table that noisy numbers give.

    Args:
        keys: the numbers.
        counts: ``counts[numbers]``, noisy.
        variance: ``variance[numbers]``, people².
        seed: of the draws.
        draws: per table of ratios; tables of counts take ten times as many.
    """
    numbers = ReleaseNumbers(keys, counts, variance)
    found = [_counts(numbers, table, seed, 10 * draws) for table in count_tables() if numbers.groups(table)]
    found += [_ages(numbers, table, seed, draws) for table in AGE_RATIOS if _has(numbers, *AGE_RATIOS[table][:2])]
    if _has(numbers, "PH8_num", "PH8_denom"):
        found.append(_tenure(numbers, seed, draws))
    return tuple(sorted(found, key=lambda table: table.table))


def _has(numbers: ReleaseNumbers, numerator: str, denominator: str) -> bool:
    return bool(set(numbers.groups(numerator)) & set(numbers.groups(denominator)))


def _counts(numbers: ReleaseNumbers, table: str, seed: int, draws: int) -> PublishedTable:
    groups, cells = numbers.groups(table), numbers.cells(table)
    noisy, variance = numbers.arrays(table, groups, cells)
    found = publish_counts(table, cells, noisy, variance, seed, draws)
    order = np.argsort(found.cells)
    return PublishedTable(
        table,
        groups,
        tuple(sorted(found.cells)),
        found.noisy[:, order].astype(np.float64),
        found.estimate[:, order].astype(np.float64),
        found.low[:, order].astype(np.float64),
        found.high[:, order].astype(np.float64),
        variance=found.variance[:, order],
    )


def _ages(numbers: ReleaseNumbers, table: str, seed: int, draws: int) -> PublishedTable:
    numerator, denominator, least = AGE_RATIOS[table]
    groups = numbers.shared(numerator, denominator)
    above, v_above = numbers.arrays(numerator, groups, (2, 3))
    below, v_below = numbers.arrays(denominator, groups, (1,))
    noisy = np.concatenate([above, below], axis=1).astype(np.float64)
    variance = np.concatenate([v_above, v_below], axis=1)
    found = publish_age_ratios(noisy, variance, least=least, seed=seed, draws=draws)
    people = np.stack([above.sum(axis=1), above[:, 0], above[:, 1]], axis=1).astype(np.float64)
    v_people = np.stack([v_above.sum(axis=1), v_above[:, 0], v_above[:, 1]], axis=1)
    homes, v_homes = (np.repeat(each, 3, axis=1).astype(np.float64) for each in (below, v_below))
    return _ratio_table(
        table, groups, found, (people, v_people), (homes, v_homes), (found.numerator, found.denominator)
    )


def _tenure(numbers: ReleaseNumbers, seed: int, draws: int) -> PublishedTable:
    groups = numbers.shared("PH8_num", "PH8_denom")
    above = _with_total(*numbers.arrays("PH8_num", groups, (2, 3)))
    below = _with_total(*numbers.arrays("PH8_denom", groups, (2, 3)))
    found = publish_tenure_ratios(*above, *below, seed=seed, draws=draws)
    return _ratio_table("PH8", groups, found, above, below, None)


def _with_total(counts: Integers, variance: Floats) -> tuple[Floats, Floats]:
    whole = counts.sum(axis=1, keepdims=True), variance.sum(axis=1, keepdims=True)
    return np.concatenate([whole[0], counts], axis=1).astype(np.float64), np.concatenate([whole[1], variance], axis=1)


def _ratio_table(
    table: str,
    groups: tuple[Group, ...],
    found: PublishedRatios,
    above: tuple[Floats, Floats],
    below: tuple[Floats, Floats],
    means: tuple[Floats, Floats] | None,
) -> PublishedTable:
    return PublishedTable(
        table, groups, found.cells, found.noisy, found.ratio, found.low, found.high, above, below, means=means
    )


def coverage(published: Sequence[PublishedTable], truth: Mapping[tuple[str, Group, int], float]) -> dict[str, Coverage]:
    """Return, per table, how often the interval holds the truth.

    Args:
        published: tables of one or more trials.
        truth: by table, group and cell; numbers without a truth are not counted.
    """
    held: dict[str, list[int]] = {}
    for table in published:
        tally = held.setdefault(table.table, [0, 0])
        for row, group in enumerate(table.groups):
            for column, cell in enumerate(table.cells):
                value = truth.get((table.table, group, cell))
                if value is not None and not np.isnan(value):
                    tally[0] += int(table.low[row, column] <= value <= table.high[row, column])
                    tally[1] += 1
    return {table: coverage_of(inside, of) for table, (inside, of) in held.items()}


def truth_of(results: RunResults) -> dict[tuple[str, Group, int], float]:
    """Return the exact truncated counts and averages behind a run's published numbers.

    Raises:
        RunUnreadableError: the truth cannot be read.
    """
    counts = results.truth().truncated
    return publish_exactly(ReleaseNumbers(results.keys, counts, np.zeros(len(counts))))


def publish_exactly(numbers: ReleaseNumbers) -> dict[tuple[str, Group, int], float]:
    """Return sums and averages of exact counts."""
    found: dict[tuple[str, Group, int], float] = {}
    for table, sums in count_tables().items():
        groups, cells = numbers.groups(table), numbers.cells(table)
        if not groups:
            continue
        counts, _ = numbers.arrays(table, groups, cells)
        for row, group in enumerate(groups):
            values = dict(zip(cells, counts[row].tolist(), strict=True))
            values |= {cell: sum(values[part] for part in parts) for cell, parts in sums.items()}
            found |= {(table, group, cell): float(value) for cell, value in values.items()}
    for table, (numerator, denominator, _) in AGE_RATIOS.items():
        if _has(numbers, numerator, denominator):
            groups = numbers.shared(numerator, denominator)
            parts, homes = numbers.arrays(numerator, groups, (2, 3))[0], numbers.arrays(denominator, groups, (1,))[0]
            people = np.stack([parts.sum(axis=1), parts[:, 0], parts[:, 1]], axis=1)
            found |= _exact_ratios(table, groups, people, np.repeat(homes, 3, axis=1))
    if _has(numbers, "PH8_num", "PH8_denom"):
        groups = numbers.shared("PH8_num", "PH8_denom")
        above, below = (_with_total(*numbers.arrays(table, groups, (2, 3)))[0] for table in ("PH8_num", "PH8_denom"))
        found |= _exact_ratios("PH8", groups, above, below)
    return found


def _exact_ratios(
    table: str, groups: Sequence[Group], above: NDArray[Any], below: NDArray[Any]
) -> dict[tuple[str, Group, int], float]:
    return {
        (table, group, cell + 1): float(above[row, cell] / below[row, cell]) if below[row, cell] else float("nan")
        for row, group in enumerate(groups)
        for cell in range(above.shape[1])
    }


def published_files(published: Sequence[PublishedTable]) -> dict[str, bytes]:
    """Return the files of the reference: ``PH2/estimates/PH2_state_trunc_normal.csv``, ``|`` between cells, text quoted.

    GEOID is the region padded to two digits, so that the nation is ``01``, told apart from Alabama by REGION_TYPE.
    """
    files: dict[str, bytes] = {}
    for table in published:
        for kind, word in (("USA", "nation"), ("STATE", "state")):
            rows = [row for row, group in enumerate(table.groups) if group[0] == kind]
            if rows:
                prefix = "PR_" if all(table.groups[row][1] == "72" for row in rows) and kind == "STATE" else ""
                name = f"{table.table}/estimates/{table.table}_{prefix}{word}_trunc_normal.csv"
                files[name] = _file(table, rows)
    return files


def _file(table: PublishedTable, rows: Sequence[int]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="|", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    header: tuple[str, ...] = _COUNT_COLUMNS
    if table.variance is None:
        header = _AGE_COLUMNS if table.means is not None else _TENURE_COLUMNS
    writer.writerow(header)
    for row in rows:
        for column, cell in enumerate(table.cells):
            kind, region, code = table.groups[row]
            writer.writerow([region.zfill(2), kind, code, cell, *_values(table, row, column)])
    return buffer.getvalue().encode()


def _values(table: PublishedTable, row: int, column: int) -> Iterator[float | int | str]:
    place = row, column
    if table.variance is not None:
        yield from (int(table.noisy[place]), *_variance(table.variance[place]))
        yield from (int(each[place]) for each in (table.estimate, table.low, table.high))
        return
    if table.numerator is None or table.denominator is None:
        raise TypeError(f"{table.table} has neither variances nor parts")
    above = (int(table.numerator[0][place]), *_variance(table.numerator[1][place]))
    below = (int(table.denominator[0][place]), *_variance(table.denominator[1][place]))
    if table.means is None:
        yield from (*below, *above)
        yield from (_real(each[place]) for each in (table.noisy, table.estimate, table.low, table.high))
        return
    yield from (*above, *below)
    parts = (table.noisy, table.estimate, *table.means, table.low, table.high)
    yield from (_real(each[place]) for each in parts)


def _variance(value: float) -> tuple[float, float]:
    return float(value), MARGIN_FACTOR * float(value) ** 0.5


def _real(value: float) -> float | str:
    # R writes NA where there is no number.
    return "NA" if np.isnan(value) else float(value)
