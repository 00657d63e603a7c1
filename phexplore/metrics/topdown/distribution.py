"""Exact distributions of whole-number errors that grow trial by trial: small, mergeable, and independent of the order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from phexplore.metrics.topdown.shapes import Floats, Integers

_WIDEST_COUNTED = 1 << 22
"""Errors that span less are counted in a table, which is faster than sorting them."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorDistribution:
    """How often each error occurred.

    Attributes:
        errors: the distinct errors, ascending, ``int64[distinct]``.
        counts: how often each occurred, ``int64[distinct]``.
    """

    errors: Integers
    counts: Integers

    @property
    def total(self) -> int:
        """All errors counted."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean error; NaN without errors."""
        return float(self.errors @ self.counts / self.total) if self.total else float("nan")

    @property
    def mean_absolute(self) -> float:
        """The mean size of the errors; NaN without errors."""
        return float(np.abs(self.errors) @ self.counts / self.total) if self.total else float("nan")

    @property
    def root_mean_square(self) -> float:
        """The root of the mean squared error; NaN without errors."""
        squares = self.errors.astype(np.float64) ** 2
        return float(np.sqrt(squares @ self.counts / self.total)) if self.total else float("nan")

    def quantile(self, probability: float) -> int:
        """Return the smallest error that at least this share of the errors does not exceed.

        Raises:
            ValueError: no errors, or no probability.
        """
        ends = self._ends(probability)
        return int(self.errors[np.searchsorted(ends, probability * ends[-1], side="left")])

    def interpolated(self, probability: float) -> float:
        """Return the quantile interpolated linearly between the errors in order; NaN without errors.

        Raises:
            ValueError: no probability.
        """
        if not self.total:
            return float("nan")
        ends = self._ends(probability)
        place = probability * (int(ends[-1]) - 1)
        low, high = (
            int(self.errors[np.searchsorted(ends, rank, side="right")]) for rank in (floor(place), ceil(place))
        )
        return low + (high - low) * (place - floor(place))

    def sizes(self) -> ErrorDistribution:
        """Return the distribution of the errors' sizes."""
        sizes, place = np.unique(np.abs(self.errors), return_inverse=True)
        return ErrorDistribution(sizes, np.bincount(place, weights=self.counts, minlength=len(sizes)).astype(np.int64))

    def _ends(self, probability: float) -> Integers:
        if not len(self.errors) or not 0 <= probability <= 1:
            raise ValueError(
                f"a quantile needs errors and a probability in [0, 1], got {len(self.errors)} and {probability}"
            )
        return np.cumsum(self.counts)

    def within(self, margin: float) -> float:
        """Return the share of errors of at most this size; NaN without errors."""
        if not self.total:
            return float("nan")
        return float(self.counts[np.abs(self.errors) <= margin].sum() / self.total)

    def histogram(self, bins: int) -> tuple[Floats, Integers]:
        """Return ``edges[n + 1]`` and ``counts[n]`` of n ≤ `bins` bins of equal whole width that hold every error.

        Raises:
            ValueError: no errors, or no bins.
        """
        if not len(self.errors) or bins < 1:
            raise ValueError(f"a histogram needs errors and bins, got {len(self.errors)} and {bins}")
        low, high = int(self.errors[0]), int(self.errors[-1])
        width = -(-(high - low + 1) // bins)
        place = (self.errors - low) // width
        edges: Floats = low - 0.5 + width * np.arange(int(place[-1]) + 2, dtype=np.float64)
        return edges, np.bincount(place, weights=self.counts).astype(np.int64)


def distribution_of(errors: Integers) -> ErrorDistribution:
    """Return the distribution of ``errors[...]``, in people."""
    flat = errors.ravel()
    low, high = (int(flat.min()), int(flat.max())) if len(flat) else (0, 0)
    if high - low >= _WIDEST_COUNTED:
        distinct, counts = np.unique(flat, return_counts=True)
        return ErrorDistribution(distinct.astype(np.int64), counts.astype(np.int64))
    counted = np.bincount(flat - low)
    found = np.flatnonzero(counted)
    return ErrorDistribution(found + low, counted[found])


def merge(parts: Iterable[ErrorDistribution]) -> ErrorDistribution:
    """Return the distribution of all errors together."""
    listed = list(parts)
    errors = np.concatenate([np.empty(0, np.int64), *(part.errors for part in listed)])
    counts = np.concatenate([np.empty(0, np.int64), *(part.counts for part in listed)])
    distinct, place = np.unique(errors, return_inverse=True)
    return ErrorDistribution(distinct, np.bincount(place, weights=counts, minlength=len(distinct)).astype(np.int64))
