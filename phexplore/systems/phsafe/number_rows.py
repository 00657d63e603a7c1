"""From a tabulation to the rows of a run: every count in the order of the catalogue, regions, codes, cells.

Args:
    tabulation: gives the order.
    counts: by query.
    noise: by query.
    keys: of the numbers: the results are ``[numbers]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from phexplore.data.classification import Mode
from phexplore.metrics.accuracy_report import Integers, Truth
from phexplore.metrics.numbers import REGION_TYPES, NumberKeys, cell_groups, level_groups
from phexplore.model.keys import QueryKey, Region
from phexplore.simulate.phsafe_release import CellNoise, PhsafeRelease
from phexplore.simulate.tabulation import Tabulation, tabulated_cells

Counts = Mapping[QueryKey, NDArray[np.int64]]


def keys_of(tabulation: Tabulation) -> NumberKeys:
    """Return what each count of a tabulation is, in the order of `values_of`."""
    columns: dict[str, list[str]] = {"table": [], "region_type": [], "region_id": [], "iteration_code": []}
    cells: list[int] = []
    for query in tabulation.counts:
        codes = [cell.code for cell in tabulation.cells(query.table)]
        iterations, width = query.level.iteration.codes, len(codes)
        for region in tabulation.regions(query.level.region):
            size = len(iterations) * width
            columns["table"] += [query.table] * size
            columns["region_type"] += [REGION_TYPES[query.level.region]] * size
            columns["region_id"] += [region] * size
            columns["iteration_code"] += [code for code in iterations for _ in range(width)]
            cells += codes * len(iterations)
    return NumberKeys(
        **{name: np.array(column, np.str_) for name, column in columns.items()}, cell=np.array(cells, np.int64)
    )


def values_of(tabulation: Tabulation, counts: Counts) -> Integers:
    """Return counts of the queries of a tabulation, ``int64[numbers]``, in the order of `keys_of`.

    Raises:
        KeyError: a query is missing in `counts`.
        ValueError: an array has another shape than the tabulation's.
    """
    for query, reference in tabulation.counts.items():
        if counts[query].shape != reference.shape:
            raise ValueError(f"{query.text} has the shape {reference.shape}, got {counts[query].shape}")
    return _joined([counts[query].ravel() for query in tabulation.counts])


def truth_of(measured: Tabulation, exact: Tabulation) -> Truth:
    """Return the exact counts behind each number of a run.

    Args:
        measured: private tabulation: truncated counts, and what truncation dropped.
        exact: production's non-private tabulation of the same data and states.

    Raises:
        KeyError: `exact` lacks a query of `measured`.
    """
    non_private = []
    for query, counts in measured.counts.items():
        places = {cell.code: place for place, cell in enumerate(exact.cells(query.table))}
        columns = [places[cell.code] for cell in measured.cells(query.table)]
        found = exact.counts[query][..., columns]
        if found.shape != counts.shape:
            raise ValueError(f"{query.text} has the shape {counts.shape} truncated and {found.shape} exactly")
        non_private.append(found.ravel())
    untruncated = {query: measured.untruncated(query) for query in measured.counts}
    return Truth(
        truncated=values_of(measured, measured.counts),
        untruncated=values_of(measured, untruncated),
        non_private=_joined(non_private),
    )


def _joined(parts: list[Integers]) -> Integers:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)


def query_rows(keys: NumberKeys) -> dict[QueryKey, slice]:
    """Return where the numbers of each query stand: they follow one another.

    Raises:
        ValueError: the numbers of a query are scattered.
    """
    found: dict[QueryKey, slice] = {}
    for group in level_groups(cell_groups(keys)):
        first, last = int(group.rows[0]), int(group.rows[-1])
        if last - first + 1 != len(group.rows):
            raise ValueError(f"the numbers of {group.query.text} do not follow one another")
        found[group.query] = slice(first, last + 1)
    return found


def release_of(
    keys: NumberKeys,
    counts: Integers,
    distributions: NDArray[np.str_],
    variances: NDArray[np.float64],
    *,
    is_reproducible: bool,
) -> PhsafeRelease:
    """Return the release whose rows these are: the inverse of `keys_of` and `values_of`.

    Args:
        keys: of a private run.
        counts: ``int64[numbers]``.
        distributions: ``str[numbers]``.
        variances: ``float64[numbers]``.
        is_reproducible: whether the noise was drawn from a seed.
    """
    states = sorted({int(region) for region in keys.region_id[keys.region_type == REGION_TYPES[Region.STATE]].tolist()})
    shaped: dict[QueryKey, NDArray[np.int64]] = {}
    noise: dict[QueryKey, CellNoise] = {}
    for query, rows in query_rows(keys).items():
        width = len(tabulated_cells(query.table, Mode.PRIVATE))
        shaped[query] = counts[rows].reshape(-1, len(query.level.iteration.codes), width)
        first = slice(rows.start, rows.start + width)
        noise[query] = CellNoise(str(distributions[rows.start]), tuple(variances[first].tolist()))
    return PhsafeRelease(tuple(states), MappingProxyType(shaped), MappingProxyType(noise), is_reproducible)


def noise_columns(
    noise: Mapping[QueryKey, CellNoise], keys: NumberKeys
) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """Return NOISE_DISTRIBUTION, ``str[numbers]``, and VARIANCE, ``float64[numbers]``, in the order of `keys_of`."""
    distributions = np.empty(len(keys), dtype="U32")
    variances = np.empty(len(keys), dtype=np.float64)
    for query, rows in query_rows(keys).items():
        said = noise[query]
        distributions[rows] = said.distribution
        repeats = (rows.stop - rows.start) // len(said.variances)
        variances[rows] = np.tile(np.array(said.variances), repeats)
    return distributions, variances
